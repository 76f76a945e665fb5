import test from "ava";
import { startProvider } from "../reader/provider.ts";
import { createDatabase } from "../support/database.ts";
import { connectedAgent, eventually, SOFA } from "../support/market.ts";
import { startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * An operator configures a provider. The provider's model then embeds everything that the built-in embedder embedded.
 */

test("a service that starts with another embedding model embeds everything again, and searches go on", async (t) => {
  const database = await createDatabase(t);
  const provider = await startProvider();
  t.teardown(() => provider.close());
  const env = { CONNECTIONS_PER_HOUR: "1000" };
  const before = await startService({ database: database.url, env });
  const agent = await connectedAgent(before.url, database.url);
  for (let n = 0; n < 3; n++)
    t.is((await agent.call("POST", "/v1/offers", { text: SOFA.replace("Grey", `Grey ${n}`) })).status, 201);
  t.is((await agent.call("POST", "/v1/asks", { text: "Looking for a sofa in Berlin, up to 250 EUR" })).status, 201);
  const embedded = (model: string) =>
    sqlValue<number>(
      database.url,
      `select count(*)::integer from (select model from market.offer_embedding union all select model from market.ask_embedding) as e
       where model like '${model}'`,
    );
  await eventually(
    () => embedded("builtin-%"),
    (count) => count === 4,
  );
  await before.stop();

  const after = await startService({
    database: database.url,
    env: { ...env, OPENAI_BASE_URL: provider.baseURL, OPENAI_API_KEY: "scripted" },
  });
  t.teardown(() => after.stop());
  const answer = await fetch(`${after.url}/v1/offers/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${agent.token}`, "content-type": "application/json" },
    body: JSON.stringify({ query: "couch" }),
  });
  t.is(((await answer.json()) as { results: unknown[] }).results.length, 3);
  await eventually(
    () => embedded("text-embedding-3-small"),
    (count) => count === 4,
    30_000,
  );
  await eventually(
    () =>
      sql<{ done: number; total: number; finished: boolean }>(
        database.url,
        "select done, total, finished_at is not null as finished from market.reembedding order by started_at desc limit 1",
      ),
    ([progress]) => progress?.finished === true && progress.done === 4 && progress.total === 4,
    30_000,
  );
});
