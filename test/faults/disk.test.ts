import { rm } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { allowed } from "../support/busy.ts";
import { withClient } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, call, connectAgent, connectedAgent, eventually, SOFA } from "../support/market.ts";
import type { Cluster } from "../support/postgres.ts";
import { startMarketCluster } from "../support/prepared.ts";
import { type Service, startService } from "../support/service.ts";
import { sqlValue } from "../support/sql.ts";
import { giveOwnVolume, type Volume } from "../support/volume.ts";

/** The disk of the database's tables is full: writes get 503, reads go on, and the service recovers by itself. */

/** The service must work again within this time after there is space. */
const RECOVERY_MS = 5_000;
/** Free room in existing pages is used up first. A text takes several kilobytes, so this many are far more than enough. */
const ENOUGH_TEXTS = 400;

let cluster: Cluster;
let service: Service;
let volume: Volume | string;

test.before(async () => {
  cluster = await startMarketCluster({ synchronous_commit: "on" });
  volume = await giveOwnVolume(cluster);
  service = await startService({ database: cluster.url, env: { CONNECTIONS_PER_HOUR: "100000" } });
});
test.after.always(async () => {
  await service?.stop();
  if (typeof volume === "object") {
    await cluster.halt("immediate");
    await volume.remove();
  }
  await cluster?.destroy();
});

const publish = (agent: Agent, key: string): Promise<Answer> =>
  agent.call("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": key });

test.serial("on a full disk writes get 503 and leave nothing, reads are answered, and it recovers", async (t) => {
  if (typeof volume === "string") {
    t.log(`A full disk cannot be caused here: ${volume}. CI can.`);
    t.falsy(process.env["CI"]);
    return;
  }
  const agent = await connectedAgent(service.url, cluster.url);
  const first = await publish(agent, "before");
  t.is(first.status, 201, first.text);
  const offer = `/v1/offers/${first.body.offer_id}`;
  const waiting = await connectAgent(service.url);

  await volume.fill();
  // New agents are the smallest write: pages with free room take a few more of them.
  const connects: Answer[] = [];
  await eventually(
    async () => {
      connects.push(await call(service.url, "POST", "/v1/connect", { body: {} }));
      return connects;
    },
    (made) => made.at(-1)?.status === 503 || made.length === ENOUGH_TEXTS,
  );
  const writes = await Promise.all([
    publish(agent, "while full"),
    agent.call("POST", "/v1/asks", { text: "A sofa" }),
    call(service.url, "POST", "/v1/connect", { body: {} }),
  ]);
  for (const { status, headers, text } of [...writes, ...connects.slice(-1)]) {
    t.is(status, 503, text);
    t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
  }
  const reads = await Promise.all([
    agent.call("GET", "/v1/me"),
    agent.call("GET", "/v1/offers"),
    agent.call("GET", offer),
    agent.call("POST", "/v1/offers/search", { query: "sofa" }),
    call(waiting.link, "GET", ""),
    call(service.url, "GET", "/readyz"),
  ]);
  t.deepEqual(
    reads.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200],
  );
  t.is(await sqlValue(cluster.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`, 1);

  // A crash deletes this file, and each new connection writes it as long as it is missing.
  const oid = await sqlValue<number>(cluster.url)`select oid::int from pg_database
      where datname = current_database()`;
  await withClient(cluster.url, async (client) => {
    await rm(join(cluster.directory, "data", "base", String(oid), "pg_internal.init"));
    await (volume as Volume).fill();
    await client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'souk%'");
  });
  await t.throwsAsync(
    withClient(cluster.url, (client) => client.query("select 1")),
    { message: /could not write init file/ },
  );
  for (const { status, headers, text } of [
    await publish(agent, "without connections"),
    await agent.call("GET", "/v1/me"),
    await call(service.url, "POST", "/v1/connect", { body: {} }),
  ]) {
    t.is(status, 503, text);
    t.regex(headers["retry-after"] ?? "", /^[1-9]\d*$/);
  }

  await volume.empty();
  const after = await eventually(
    () => publish(agent, "while full"),
    ({ status }) => status === 201,
    allowed(RECOVERY_MS),
  );
  t.is((await publish(agent, "while full")).headers["idempotency-replayed"], "true");
  t.not(after.body.offer_id, first.body.offer_id);
  t.is(await sqlValue(cluster.url)`select count(*)::int from market.offer where agent_id = ${agent.id}`, 2);
  t.is(service.process.exitCode, null);
  await assertInvariants(t, cluster.url);
});
