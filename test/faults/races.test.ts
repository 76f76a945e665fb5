import test from "ava";
import pg from "pg";
import { hashSecret } from "../../src/base/tokens.ts";
import { clockOff } from "../support/clock.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import {
  type Agent,
  type Answer,
  call,
  connectAgent,
  connectedAgent,
  eventually,
  SOFA,
  sessionOf,
} from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/** Concurrent calls that exclude each other, on several processes and with clocks that differ. */

let database: Database;
let services: [Service, Service];
let pool: pg.Pool;

test.before(async () => {
  database = await createDatabase();
  const options = { database: database.url, env: { CONNECTIONS_PER_HOUR: "100000" } };
  // The first runs migrations and the worker, too. The second is a replica of the API.
  services = [await startService(options), await startPart("api", options)];
  pool = new pg.Pool({ connectionString: database.url, max: 8 });
});
test.after.always(async () => {
  await pool?.end();
  await Promise.all((services ?? []).map((service) => service.stop()));
  await database?.drop();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));

/** Which call comes first is chance. With this many rounds each order occurs. */
const ROUNDS = 25;

const secretOf = (agent: Agent): Buffer => hashSecret(agent.link.split("/").at(-1) ?? "");

/** The outcome of a call: "done", or the code of its refusal. Any other message is a bug, and fails the test. */
const outcomeOf = (text: string, values: unknown[]): Promise<string> =>
  pool.query(text, values).then(
    () => "done",
    (error: Error) => error.message,
  );

const statusOf = async (agent: Agent, url: string, path = "/v1/me"): Promise<number> =>
  (await call(url, "GET", path, { headers: { authorization: `Bearer ${agent.token}` } })).status;

test.serial(
  "if two people approve one link at the same instant, one succeeds, and the agent acts for that person",
  async (t) => {
    const approve = "select api.approve_connection($1, $2, $3)";
    for (let round = 0; round < ROUNDS; round++) {
      const agent = await connectAgent(services[0].url);
      const people = ["one", "other"].map((who) => hashSecret(`session of ${who} in round ${round} of ${agent.id}`));
      const outcomes = await Promise.all(people.map((session) => outcomeOf(approve, [secretOf(agent), null, session])));
      t.deepEqual(outcomes.toSorted(), ["connection_already_used", "done"]);
      const sessions = await sql(
        database.url,
        `select s.secret_hash = $2 as is_winners from market.session s join market.agent a on a.account_id = s.account_id
       where a.id = $1 and a.connected_at is not null`,
        [agent.id, people[outcomes.indexOf("done")]],
      );
      t.deepEqual(sessions, [{ is_winners: true }]);
    }
  },
);

test.serial("if two people with accounts approve one link at the same instant, one gets the agent", async (t) => {
  const owners = await Promise.all([1, 2].map(() => connectedAgent(services[0].url, database.url)));
  const sessions = owners.map(({ link }) => sessionOf(link));
  const accounts = await Promise.all(
    owners.map(async (agent) => (await agent.call("GET", "/v1/me")).body.id as string),
  );
  for (let round = 0; round < 10; round++) {
    const agent = await connectAgent(services[0].url);
    const outcomes = await Promise.all(
      sessions.map((session) =>
        outcomeOf("select api.approve_connection($1, $2, $3)", [secretOf(agent), session, hashSecret(agent.token)]),
      ),
    );
    t.deepEqual(outcomes.toSorted(), ["connection_already_used", "done"]);
    t.is((await agent.call("GET", "/v1/me")).body.id, accounts[outcomes.indexOf("done")]);
  }
});

test.serial(
  "if two people press Approve at the same time, one gets the agent, and the other reads that the link was used",
  async (t) => {
    for (let round = 0; round < 5; round++) {
      const agent = await connectAgent(services[0].url);
      const people = [newPerson(), newPerson()];
      const elsewhere = agent.link.replace(services[0].url, services[1].url);
      await Promise.all([people[0]?.open(agent.link), people[1]?.open(elsewhere)]);
      const answers = await Promise.all(people.map((person) => person.press("approve")));
      t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
      t.is((await agent.call("GET", "/v1/me")).body.account.connected, true);
      t.is((await newPerson().open(agent.link)).status, 409);
    }
  },
);

test.serial('if Approve and "Not mine" come at the same instant, only one takes effect', async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const agent = await connectAgent(services[0].url);
    const [approved, declined] = await Promise.all([
      outcomeOf("select api.approve_connection($1, null, $2)", [secretOf(agent), hashSecret(agent.id)]),
      outcomeOf("select api.decline_connection($1)", [secretOf(agent)]),
    ]);
    const status = await statusOf(agent, services[0].url);
    if (approved === "done") t.deepEqual([declined, status], ["connection_already_used", 200]);
    else t.deepEqual([approved, declined, status], ["connection_expired", "done", 401]);
  }
});

/** A call's status, and the time at which the call began. */
type Call = { begun: number; status: number };

const keepCalling = async (agent: Agent, url: string, calls: Call[], over: () => boolean): Promise<void> => {
  while (!over()) {
    const begun = performance.now();
    calls.push({ begun, status: await statusOf(agent, url) });
  }
};

const REMOVALS: Record<string, (agent: Agent) => Promise<unknown>> = {
  "removes itself": (agent) => agent.call("DELETE", "/v1/me/agent"),
  "its person removes": async (agent) => {
    // Like the settings page, this is one statement: it enters as the person by the session, then removes the agent.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("set role souk_api");
    await client.query(
      `with actor as materialized (select internal.enter_person($1) as entered)
       select api.remove_agent(agent_id => $2) from actor where entered`,
      [sessionOf(agent.link), agent.id],
    );
    await client.end();
  },
};

for (const [how, remove] of Object.entries(REMOVALS)) {
  test.serial(`an agent that ${how} while it calls is refused from then on, by every process`, async (t) => {
    const agent = await connectedAgent(services[0].url, database.url);
    let over = false;
    const calls: Call[] = [];
    const calling = services.flatMap(({ url }) => [1, 2].map(() => keepCalling(agent, url, calls, () => over)));
    // Enough calls before and after the removal to prove something, however long a busy machine takes.
    await eventually(
      async () => calls.length,
      (made) => made > 20,
    );
    await remove(agent);
    const removed = performance.now();
    const begunAfter = () => calls.filter(({ begun }) => begun > removed);
    await eventually(
      async () => begunAfter().length,
      (made) => made > 20,
    );
    over = true;
    await Promise.all(calling);
    const after = begunAfter().map(({ status }) => status);
    t.deepEqual([...new Set(after)], [401]);
    t.true(calls.every(({ status }) => status === 200 || status === 401));
    for (const { url } of services) {
      const publishing = await call(url, "POST", "/v1/offers", {
        body: { text: SOFA },
        headers: { authorization: `Bearer ${agent.token}` },
      });
      t.is(publishing.status, 401);
    }
  });
}

test.serial("an agent that is removed after its text was admitted publishes nothing", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  // The call has entered as the agent, and waits to insert its submission.
  const holder = await pool.connect();
  await holder.query("begin; lock table market.submission in share row exclusive mode");
  const publishing = agent.call("POST", "/v1/offers", { text: SOFA });
  await eventually(
    () =>
      sqlValue<number>(
        database.url,
        "select count(*)::int from pg_stat_activity where wait_event_type = 'Lock' and query like '%publish_offer%' and datname = current_database()",
      ),
    (waiting) => waiting === 1,
  );
  t.is((await agent.call("DELETE", "/v1/me/agent")).status, 204);
  await holder.query("commit");
  holder.release();
  t.is((await publishing).status, 401);
  await eventually(
    () => sqlValue<number>(database.url, "select count(*)::int from market.submission where completed_at is null"),
    (open) => open === 0,
  );
  t.is(await sqlValue(database.url, "select count(*)::int from market.offer where agent_id = $1", [agent.id]), 0);
});

test.serial("a person cannot remove another person's agent", async (t) => {
  const [mine, other] = await Promise.all([1, 2].map(() => connectedAgent(services[0].url, database.url)));
  const outcome = await outcomeOf(
    `with actor as materialized (select internal.enter_person($1) as entered)
     select api.remove_agent(agent_id => $2) from actor where entered`,
    [sessionOf(mine?.link ?? ""), other?.id],
  );
  t.is(outcome, "not_found");
  t.is((await other?.call("GET", "/v1/me"))?.status, 200);
});

test.serial("if a person approves while the agent removes itself, the agent is removed", async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const agent = await connectAgent(services[0].url);
    const [approved, removed] = await Promise.all([
      outcomeOf("select api.approve_connection($1, null, $2)", [secretOf(agent), hashSecret(agent.id)]),
      agent.call("DELETE", "/v1/me/agent"),
    ]);
    t.true(approved === "done" || approved === "connection_expired", approved);
    t.is(removed.status, 204, removed.text);
    t.is(await statusOf(agent, services[1].url), 401);
    t.is((await newPerson().decide(agent.link, "approve")).status, approved === "done" ? 409 : 410);
  }
});

for (const hours of [2, -2]) {
  test.serial(`on a host whose clock is ${hours} hours off, limits, windows and expiry are correct`, async (t) => {
    const service = await startService(
      {
        database: database.url,
        env: { CONNECTIONS_PER_HOUR: "100000", NODE_OPTIONS: clockOff(hours) },
      },
      t,
    );
    const [, logged] = /"time":"([^"]+)"/.exec(service.logs()) ?? [];
    const difference = (Date.parse(logged ?? "") - Date.now()) / 3_600_000;
    t.true(Math.abs(difference - hours) < 0.1, `its clock is really off: ${difference}`);

    const connected = await call(service.url, "POST", "/v1/connect", { body: { name: "Late" } });
    t.is(connected.body.connection.expires_in, 1800);
    const agent = await connectAgent(service.url);
    const person = newPerson();
    const page = await person.open(agent.link);
    t.is(page.status, 200);
    t.true(page.text.includes("less than a minute ago"), page.text);
    t.is((await person.press("approve")).status, 200);
    const published = await agent.call("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": "a key" });
    t.is(published.status, 201, published.text);
    t.is(published.headers["ratelimit-remaining"], "59");
    t.true(Number(published.headers["ratelimit-reset"]) > 3_590, published.headers["ratelimit-reset"]);
    t.true(Number(published.headers["ratelimit-reset"]) <= 3_600);

    // The same window, read through a host whose clock is right.
    const elsewhere = async (): Promise<Answer> =>
      call(services[1].url, "GET", "/v1/me", { headers: { authorization: `Bearer ${agent.token}` } });
    const { used, remaining, resets_in } = (await elsewhere()).body.limits.publish_offer;
    t.deepEqual([used, remaining], [1, 59]);
    t.true(resets_in > 3_580 && resets_in <= 3_600);
    const replayed = await agent.call("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": "a key" });
    t.is(replayed.headers["idempotency-replayed"], "true");
    const today = await sqlValue<string>(database.url, "select to_char(now() at time zone 'utc', 'YYYY-MM-DD')");
    t.is((await agent.call("GET", `/v1/offers/${published.body.offer_id}`)).body.posted, today);

    const late = await connectAgent(service.url);
    const expire = (left: string) =>
      sql(database.url, "update market.connection set expires_at = now() + $2::interval where agent_id = $1", [
        late.id,
        left,
      ]);
    await expire("1 minute");
    t.is((await newPerson().open(late.link)).status, 200);
    await expire("-1 second");
    t.is((await newPerson().open(late.link)).status, 410);
    await sql(
      database.url,
      "update market.rate_limit_hit set called_at = called_at - interval '1 hour' where scope = $1",
      [`agent:${agent.id}`],
    );
    t.is((await agent.call("GET", "/v1/me")).body.limits.publish_offer.used, 0);
  });
}
