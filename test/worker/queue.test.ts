import test from "ava";
import { allowed } from "../support/busy.ts";
import { createDatabase } from "../support/database.ts";
import { connectedAgent, eventually, SOFA } from "../support/market.ts";
import { startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/** So many jobs of one queue would take most of a minute if each waited for the worker's poll. */
const JOBS = 50;
/** They take about a second. */
const LIMIT_MS = 10_000;

test("the next job of a queue begins when the one before has ended, and waits for no poll", async (t) => {
  const database = await createDatabase(t);
  const service = await startService({ database: database.url }, t);
  const agent = await connectedAgent(service.url, database.url);
  const { body: offer } = await agent.call("POST", "/v1/offers", { text: SOFA });
  const jobs = () => sqlValue<number>(database.url, "select count(*)::int from graphile_worker.jobs where key is null");
  await sql(
    database.url,
    `select graphile_worker.add_job('embed_offer', json_build_object('id', $1::text), queue_name => 'embed 0')
     from generate_series(1, ${JOBS})`,
    [offer.offer_id],
  );
  t.is(await eventually(jobs, (left) => left === 0, allowed(LIMIT_MS)), 0);
});
