import test from "ava";
import { createDatabase, type Database } from "../support/database.ts";
import { connectedAgent, eventually } from "../support/market.ts";
import { type Service, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/** The words of the market are the operator's to edit: an edit holds within a minute, in workers that run. */

/** The promise is a minute; workers look every ten seconds. */
const MINUTE_MS = 60_000;

let database: Database;
let service: Service;

test.before(async () => {
  database = await createDatabase();
  service = await startService({ database: database.url });
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});

test.serial("each change of words or of the taxonomy is noted, and reading alone is none", async (t) => {
  const changedAt = () => sqlValue(database.url, "select jobs.vocabulary_changed_at()");
  const seen = [await changedAt()];
  for (const change of [
    "insert into market.vocabulary (term, sense, weight) values ('zorbelkrug', 'category:home_garden/kitchen', 1)",
    "update market.vocabulary set weight = 2 where term = 'zorbelkrug'",
    "delete from market.vocabulary where term = 'zorbelkrug'",
    "insert into market.category (domain, category, position) values ('hobbies', 'zorbing', 99)",
    "delete from market.category where category = 'zorbing'",
  ]) {
    await sql(database.url, change);
    const now = await changedAt();
    t.false(seen.includes(now), change);
    seen.push(now);
  }
  await sqlValue(database.url, "select count(*) from market.vocabulary");
  t.is(await changedAt(), seen.at(-1));
});

test.serial("a word that the operator adds is understood within a minute", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  const preview = async () => {
    const answer = await agent.call("POST", "/v1/offers/preview", { text: "Zorbelkrug, 40 EUR. zk@example.org" });
    return answer.body.category as string | null;
  };
  t.is(await preview(), null);
  await sql(
    database.url,
    "insert into market.vocabulary (term, sense, weight) values ('zorbelkrug', 'category:home_garden/kitchen', 3)",
  );
  const category = await eventually(
    async () => {
      // Not every moment: previews are counted.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return preview();
    },
    (read) => read !== null,
    MINUTE_MS,
  );
  t.is(category, "kitchen");
});
