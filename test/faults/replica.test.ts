import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import { hashSecret, newSecret } from "../../src/base/tokens.ts";
import { followReplicas } from "../../src/database/replicas.ts";
import { grant, refresh, statusOf } from "../oauth/client.ts";
import { urlOf } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, call, connectAgent, connectedAgent, eventually, SOFA } from "../support/market.ts";
import { type Cluster, freePort, startCluster } from "../support/postgres.ts";
import { startMarketCluster } from "../support/prepared.ts";
import { type Service, startPart } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * Reads on streaming replicas. There are two processes: one writes, and reads on the primary; the other one reads on a
 * standby. While the standby's replay is paused, it is behind by everything that the test writes.
 */

/** Settings that a standby needs on its primary. All other tests run without them. */
const STREAMING = { wal_level: "replica", max_wal_senders: "5", synchronous_commit: "on", hot_standby: "on" };
const TOKEN = "a-token-of-the-tests";

let primary: Cluster;
let standby: Cluster;
/** The URLs of the market's database for a superuser. */
let url: string;
let replica: string;
let writer: Service;
let reader: Service;

test.before(async () => {
  primary = await startMarketCluster(STREAMING);
  standby = await startCluster(STREAMING, primary);
  url = primary.url;
  replica = urlOf(standby.url, "souk");
  const env = { CONNECTIONS_PER_HOUR: "1000", METRICS_TOKEN: TOKEN };
  // Nobody listens at the second replica.
  const nowhere = `postgres://souk_api@127.0.0.1:${await freePort()}/souk`;
  writer = await startPart("start", { database: url, env });
  reader = await startPart("api", { database: url, env: { ...env, DATABASE_READ_URL: `${replica}, ${nowhere}` } });
});

test.after.always(async () => {
  await Promise.all([reader?.stop(), writer?.stop()]);
  await standby?.destroy();
  await primary?.destroy();
});

/** Returns what the metrics of the reading process say about the standby, or about the replica that does not exist. */
const inUse = async (replica: 1 | 2 = 1): Promise<string | undefined> => {
  const { text } = await call(reader.url, "GET", "/metrics", { headers: { authorization: `Bearer ${TOKEN}` } });
  return new RegExp(`^souk_replica_in_use{replica="replica ${replica}"} (\\d)$`, "m").exec(text)?.[1];
};

const untilInUse = () =>
  eventually(
    () => inUse(),
    (value) => value === "1",
  );

/** Waits until the standby has replayed everything. */
const untilReplayed = async (): Promise<void> => {
  const lsn = await sqlValue<string>(url, "select pg_current_wal_flush_lsn()::text");
  await eventually(
    () => sqlValue<boolean>(replica)`select pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn`,
    (replayed) => replayed,
  );
};

/** Stops the standby's replay while `work` runs. */
const behind = async (work: () => Promise<void>): Promise<void> => {
  await untilInUse();
  await untilReplayed();
  await sql(replica, "select pg_wal_replay_pause()");
  await eventually(
    () => sqlValue<string>(replica, "select pg_get_wal_replay_pause_state()"),
    (state) => state === "paused",
  );
  try {
    await work();
  } finally {
    await sql(replica, "select pg_wal_replay_resume()");
  }
};

const statusAt = (service: Service, agent: Agent, path: string) =>
  agent
    .at(service.url)("GET", path)
    .then(({ body }) => body.status);

const publish = async (agent: Agent): Promise<string> => {
  const { status, body } = await agent.call("POST", "/v1/offers", { text: SOFA });
  if (status !== 201) throw new Error(`publishing gave ${status}: ${JSON.stringify(body)}`);
  return body.offer_id;
};

test.serial("a caller reads its own writes, whichever process took them, and others read on the replica", async (t) => {
  const [owner, other] = [await connectedAgent(writer.url, url), await connectedAgent(writer.url, url)];
  const [offer, shown] = [await publish(owner), await publish(owner)];
  await behind(async () => {
    // The other agent wrote something before the replay stopped, so its reads come back to the replica.
    t.is((await owner.call("POST", `/v1/offers/${offer}/archive`)).status, 200);
    t.is(await statusAt(reader, owner, `/v1/offers/${offer}`), "archived", "what it wrote in another process");
    t.is((await owner.at(reader.url)("POST", `/v1/offers/${offer}/republish`)).status, 200);
    t.is(await statusAt(reader, owner, `/v1/offers/${offer}`), "published", "what it wrote in this process");
    t.is((await owner.call("POST", `/v1/offers/${offer}/archive`)).status, 200);
    t.is((await other.call("GET", `/v1/offers/${offer}`)).status, 404, "on the primary");
    t.is((await other.at(reader.url)("GET", `/v1/offers/${offer}`)).status, 404, "also where the replica still has it");
    // What others changed otherwise may appear later.
    await sql(url)`update market.account_stats set lifetime = lifetime + 1000
      where account_id = (select account_id from market.offer where id = ${shown})`;
    const { body } = await eventually(
      () => other.at(reader.url)("GET", `/v1/offers/${shown}`),
      (answer) => answer.body.publisher.offers.lifetime < 1000,
    );
    t.true(body.publisher.offers.lifetime < 1000, "on the replica");
    await sql(url)`update market.account_stats set lifetime = lifetime - 1000 where lifetime > 1000`;
    // A new offer is not on the replica: what is not found there is looked up on the primary.
    const fresh = await publish(owner);
    t.is((await other.at(reader.url)("GET", `/v1/offers/${fresh}`)).status, 200);
    const me = (agent: Agent) => agent.at(reader.url)("GET", "/v1/me");
    t.deepEqual((await me(owner)).body.activity, (await owner.call("GET", "/v1/me")).body.activity);
  });
  await assertInvariants(t, url);
});

test.serial("a caller that alternates between processes never reads what is older than its last write", async (t) => {
  const agent = await connectedAgent(writer.url, url);
  const offer = await publish(agent);
  await sql(replica, "alter system set recovery_min_apply_delay = '300ms'");
  await sql(replica, "select pg_reload_conf()");
  t.teardown(async () => {
    await sql(replica, "alter system reset recovery_min_apply_delay");
    await sql(replica, "select pg_reload_conf()");
  });
  const expected = ["archive", "republish"];
  for (let i = 0; i < 12; i++) {
    const act = expected[i % 2] ?? "";
    t.is((await agent.call("POST", `/v1/offers/${offer}/${act}`)).status, 200);
    // Before, when and after the replica has the write.
    await sleep(i * 60);
    const seen = await Promise.all(Array.from({ length: 5 }, () => statusAt(reader, agent, `/v1/offers/${offer}`)));
    t.deepEqual(seen, Array(5).fill(act === "archive" ? "archived" : "published"), `round ${i}`);
  }
});

test.serial("while the replica is behind, a refreshed access token works, and former ones do not", async (t) => {
  const { client_id, access, refresh: first } = await grant(writer.url);
  const { access: stays } = await grant(writer.url);
  await behind(async () => {
    const { body } = await refresh(writer.url, client_id, first);
    t.is(await statusOf(reader.url, body.access_token), 200);
    t.is(await statusOf(reader.url, access), 401);
    t.is((await refresh(reader.url, client_id, first)).body.error, "invalid_grant", "it was used, so the grant ends");
    t.is(await statusOf(reader.url, body.access_token), 401);
    t.is(await statusOf(reader.url, stays), 200);
  });
});

test.serial("who was removed, suspended, disconnected, signed out or approved is so at once everywhere", async (t) => {
  const [removed, suspended, disconnected, quiet] = await Promise.all(
    Array.from({ length: 4 }, () => connectedAgent(writer.url, url)),
  );
  if (!removed || !suspended || !disconnected || !quiet) throw new Error("There are four agents.");
  const waiting = await connectAgent(writer.url);
  const accountOf = (agent: Agent) => sqlValue<string>(url)`select account_id from market.agent where id = ${agent.id}`;
  const [secret, other] = [newSecret(), newSecret()];
  for (const one of [secret, other])
    await sql(url)`insert into market.session (account_id, secret_hash)
      values (${await accountOf(quiet)}, ${hashSecret(one)})`;
  const me = (cookie: string, service = reader) =>
    call(service.url, "GET", "/v1/me", { headers: { cookie: `souk_session=${cookie}` } });
  const agents = [removed, suspended, disconnected, quiet, waiting];
  for (const agent of agents) t.is((await agent.at(reader.url)("GET", "/v1/me")).status, 200);
  t.is((await me(secret)).status, 200);

  await behind(async () => {
    t.is((await removed.call("DELETE", "/v1/me/agent")).status, 204);
    t.is((await removed.at(reader.url)("GET", "/v1/me")).status, 401);
    t.is((await removed.at(reader.url)("POST", "/v1/offers/search", { query: "sofa" })).status, 401);

    await sql(url)`update market.account set suspended_at = now(), suspension_reason = 'spam'
      where id = ${await accountOf(suspended)}`;
    const found = await suspended.at(reader.url)("GET", "/v1/me");
    t.regex(found.body.next[0].summary, /suspended by moderation/);

    await sql(url)`select internal.recover_account(${await accountOf(disconnected)})`;
    t.false((await disconnected.at(reader.url)("GET", "/v1/me")).body.account.connected);

    await sql(url)`delete from market.session where secret_hash = ${hashSecret(secret)}`;
    t.is((await me(secret)).status, 401, "the session that ended");
    t.is((await me(other)).status, 200, "the other one");

    await sql(url)`select api.approve_connection(${hashSecret(waiting.link.split("/").at(-1) ?? "")}, null,
      ${hashSecret(newSecret())}, picked => ${waiting.code})`;
    t.true((await waiting.at(reader.url)("GET", "/v1/me")).body.account.connected);

    const newcomer = await connectAgent(writer.url);
    t.is((await newcomer.at(reader.url)("GET", "/v1/me")).status, 200, "an agent that the replica does not have");
  });
});

test.serial("a match that the feed tells of is there in the next read, although the replica lacks it", async (t) => {
  const [seller, buyer] = [await connectedAgent(writer.url, url), await connectedAgent(writer.url, url)];
  const { body: ask } = await buyer.call("POST", "/v1/asks", {
    text: "Looking for a grey sofa in Berlin, up to 500 EUR",
  });
  await behind(async () => {
    let { cursor } = (await buyer.call("GET", "/v1/events?after=now")).body;
    const offer = await publish(seller);
    const told: string[] = [];
    while (!told.includes(offer)) {
      const { body } = await buyer.at(reader.url)("GET", `/v1/events?wait=10&after=${cursor}`);
      told.push(...body.events.map(({ data }: { data: { offer_id: string } }) => data.offer_id));
      ({ cursor } = body);
    }
    const { body } = await buyer.at(reader.url)("GET", `/v1/asks/${ask.id}/matches`);
    t.true(body.results.some(({ id }: { id: string }) => id === offer));
    t.is((await buyer.at(reader.url)("GET", `/v1/offers/${offer}`)).status, 200);
  });
});

test.serial("what was taken down is shown nowhere at once, although the replica still has it", async (t) => {
  const text = (n: number) => `Purple rocking unicorn ${n}, good condition. 90 EUR. Pick up in Fulda. lena@example.com`;
  const [owner, suspended, other] = await Promise.all(Array.from({ length: 3 }, () => connectedAgent(writer.url, url)));
  if (!owner || !suspended || !other) throw new Error("There are three agents.");
  const made = await Promise.all(
    [owner, owner, owner, suspended].map(async (agent, n) => {
      const { body } = await agent.call("POST", "/v1/offers", { text: text(n) });
      return body.offer_id as string;
    }),
  );
  const [stays, removed, archived, hidden] = made;
  const search = async (): Promise<string[]> => {
    const { body } = await other.at(reader.url)("POST", "/v1/offers/search", { query: "purple rocking unicorn" });
    return body.results.map(({ id }: { id: string }) => id).sort();
  };
  await untilInUse();
  await untilReplayed();
  t.deepEqual(await search(), made.toSorted());
  await behind(async () => {
    await sql(url)`update market.offer set status = 'removed', removed_at = now(), review_reason = 'scam'
      where id = ${removed}`;
    t.is((await owner.call("POST", `/v1/offers/${archived}/archive`)).status, 200);
    await sql(url)`update market.account set suspended_at = now(), suspension_reason = 'spam', hiding = true
      where id = (select account_id from market.offer where id = ${hidden})`;
    t.deepEqual(await search(), [stays]);
    for (const offer of [removed, archived, hidden])
      t.is((await other.at(reader.url)("GET", `/v1/offers/${offer}`)).status, 404);
    t.is((await other.at(reader.url)("GET", `/v1/offers/${stays}`)).status, 200);
  });
});

test.serial("a replica that is down is out of use, comes back by itself, and the metrics say so", async (t) => {
  const agent = await connectedAgent(writer.url, url);
  await untilInUse();
  await standby.halt("immediate");
  t.is((await agent.at(reader.url)("GET", "/v1/me")).status, 200, "at once, on the primary");
  await eventually(
    () => inUse(),
    (value) => value === "0",
  );
  t.is(await inUse(2), "0", "nobody ever listened there");
  t.is((await agent.at(reader.url)("GET", "/v1/me")).status, 200);
  await standby.start();
  t.is(await untilInUse(), "1");
  t.regex(reader.logs(), /a replica is out of use/);
});

test.serial("a replica that is too far behind is out of use until it has caught up", async (t) => {
  const primaryPool = new pg.Pool({ connectionString: url, max: 1 });
  const pool = new pg.Pool({ connectionString: replica, max: 2 });
  const changes: boolean[] = [];
  const replicas = followReplicas({
    primary: primaryPool,
    replicas: [{ name: "standby", pool, size: 1 }],
    onChange: (_name, used) => changes.push(used),
    mostBehindMs: 1_000,
  });
  t.teardown(replicas.close);
  const agent = await connectedAgent(writer.url, url);
  const read = () => replicas.read(hashSecret(agent.token), async () => "on the replica");
  const until = (expected: boolean) =>
    eventually(
      async () => changes.at(-1),
      (used) => used === expected,
    );
  await until(true);
  await eventually(read, (where) => where !== null);
  await behind(async () => {
    // The position stays where it is while nothing is written, and then the replica is not behind.
    const beating = setInterval(() => void sql(url, "select pg_logical_emit_message(true, 'test', '')"), 200);
    t.teardown(() => clearInterval(beating));
    await until(false);
    clearInterval(beating);
    t.is(await read(), null);
  });
  await until(true);
  t.deepEqual(changes, [true, false, true]);
  t.is(await eventually(read, (where) => where !== null), "on the replica");
  // Unknown callers are the primary's to refuse.
  t.is(await replicas.read(hashSecret(newSecret()), async () => "on the replica"), null);
});

test.serial("while the primary cannot be asked, no replica answers", async (t) => {
  const agent = await connectedAgent(writer.url, url);
  await untilInUse();
  await primary.halt("immediate");
  const { status, headers } = await agent.at(reader.url)("GET", "/v1/me");
  t.is(status, 503);
  t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
  await primary.start();
  await eventually(
    () => agent.at(reader.url)("GET", "/v1/me"),
    (answer) => answer.status === 200,
  );
  t.is(await untilInUse(), "1");
});

test.serial("if the connection is lost after a commit, the caller is not told that nothing was done", async (t) => {
  const agent = await connectedAgent(writer.url, url);
  // No replica of this name confirms anything, so a removal is committed and then waits.
  await sql(primary.url, "alter system set synchronous_standby_names = 'nobody'");
  await sql(primary.url, "select pg_reload_conf()");
  await eventually(
    () => sqlValue<string>(primary.url, "show synchronous_standby_names"),
    (names) => names === "nobody",
  );
  const removal = agent.call("DELETE", "/v1/me/agent");
  const cut = () =>
    sql(primary.url)`select pg_terminate_backend(pid) from pg_stat_activity
      where wait_event = 'SyncRep' and application_name = 'souk_api'`;
  await eventually(cut, (rows) => rows.length === 1);
  const { status, headers, body } = await removal;
  await sql(primary.url, "alter system reset synchronous_standby_names");
  await sql(primary.url, "select pg_reload_conf()");
  t.is(status, 503);
  t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
  t.regex(body.detail, /not known whether it was done/);
  t.notRegex(body.detail, /nothing was done/i);
  t.is((await agent.call("GET", "/v1/me")).status, 401, "it was done");
});
