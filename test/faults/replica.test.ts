import test from "ava";
import pg from "pg";
import { migrate } from "../../src/database/migrate.ts";
import { withClient } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { connectedAgent, eventually } from "../support/market.ts";
import { type Cluster, startCluster } from "../support/postgres.ts";
import { startService } from "../support/service.ts";

/** Settings that a standby needs on its primary. All other tests run without them. */
const STREAMING = { wal_level: "replica", max_wal_senders: "5", synchronous_commit: "local", hot_standby: "on" };

/** How long the standby delays what it receives: far longer than a request, so that the test cannot pass by luck. */
const APPLY_DELAY = "700ms";

const clusters: Cluster[] = [];
test.after.always(async () => {
  for (const cluster of clusters.reverse()) await cluster.destroy();
});

test.serial("a removed agent's next call is refused on a replica that lags", async (t) => {
  const primary = await startCluster(STREAMING);
  clusters.push(primary);
  await migrate(primary.url);
  const standby = await startCluster({ ...STREAMING, recovery_min_apply_delay: APPLY_DELAY }, primary);
  clusters.push(standby);
  await withClient(primary.url, async (client) => {
    await client.query("alter system set synchronous_standby_names = '*'");
    await client.query("select pg_reload_conf()");
  });

  const service = await startService(
    { database: primary.url, env: { DATABASE_READ_URL: standby.url, CONNECTIONS_PER_HOUR: "1000" } },
    t,
  );
  const agent = await connectedAgent(service.url, primary.url);
  // The agent is not removed yet, so the replica answers once it has received the agent's row.
  await eventually(
    () => agent.call("GET", "/v1/me"),
    ({ status }) => status === 200,
  );
  const replica = new pg.Client({ connectionString: standby.url });
  await replica.connect();
  t.teardown(() => replica.end());
  t.true((await replica.query("select pg_is_in_recovery() as standby")).rows[0].standby);

  t.is((await agent.call("DELETE", "/v1/me/agent")).status, 204);
  t.is((await agent.call("GET", "/v1/me")).status, 401, "on the replica");
  t.is((await agent.call("POST", "/v1/offers", { text: "x" })).status, 401, "on the primary");
  await assertInvariants(t, primary.url);
});
