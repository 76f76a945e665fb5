import test from "ava";
import { LEARNING } from "../../src/reader/builtin/learn.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { connectedAgent, eventually } from "../support/market.ts";
import { type Service, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/** Operators may edit words and examples. Running workers use an edit within a minute. */

/** An edit must take effect within a minute. Workers check every ten seconds, and then load the words in seconds. */
const MINUTE_MS = 60_000;

/** The time of two trainings on a busy machine, because one may just have begun when the example is added. */
const TWO_LESSONS_MS = 180_000;

let database: Database;
let service: Service;

test.before(async () => {
  database = await createDatabase();
  // The tests train three times. Training on a tenth of the examples takes a second.
  for (const table of ["ask_example", "offer_example"])
    await sql(database.url, `delete from reading.${table} where md5(text) > '1a'`);
  service = await startService({ database: database.url });
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});

test.serial("each change of words, examples or taxonomy changes vocabulary_changed_at; reading does not", async (t) => {
  const changedAt = () => sqlValue(database.url, "select jobs.vocabulary_changed_at()");
  const seen = [await changedAt()];
  for (const change of [
    "insert into reading.vocabulary (term, sense, weight) values ('zorbelkrug', 'category:home_garden/kitchen', 1)",
    "update reading.vocabulary set weight = 2 where term = 'zorbelkrug'",
    "delete from reading.vocabulary where term = 'zorbelkrug'",
    "insert into market.category (domain, category, position) values ('hobbies', 'zorbing', 99)",
    "delete from market.category where category = 'zorbing'",
    "insert into reading.ask_example (ask_kind, text) values ('sell', 'my zorbelkrug has to go')",
    "delete from reading.ask_example where text like '%zorbelkrug%'",
    "insert into reading.offer_example (offer_kind, text) values ('sale', 'a zorbelkrug for you')",
    "delete from reading.offer_example where text like '%zorbelkrug%'",
  ]) {
    await sql(database.url, change);
    const now = await changedAt();
    t.false(seen.includes(now), change);
    seen.push(now);
  }
  await sqlValue(database.url, "select count(*) from reading.vocabulary");
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
    "insert into reading.vocabulary (term, sense, weight) values ('zorbelkrug', 'category:home_garden/kitchen', 3)",
  );
  const category = await eventually(
    async () => {
      // Waits between previews, because they count against a cap.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return preview();
    },
    (read) => read !== null,
    MINUTE_MS,
  );
  t.is(category, "kitchen");
});

test.serial("an example that the operator adds is used for training, without a restart", async (t) => {
  t.timeout(2 * TWO_LESSONS_MS);
  const agent = await connectedAgent(service.url, database.url);
  const preview = async () => {
    const answer = await agent.call("POST", "/v1/offers/preview", {
      text: "Zibbelnd quorft der Blorf am Tümpel, 40 EUR. zk@example.org",
    });
    return answer.body.offer_kind as string | null;
  };
  t.not(await preview(), "friendship");
  await sql(
    database.url,
    `insert into reading.offer_example (offer_kind, category, text)
     select 'friendship', 'community/activities', 'Zibbelnd quorft der Blorf ' || n from unnest(array['heute', 'morgen', 'bald', 'nie']) as n`,
  );
  const kind = await eventually(
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return preview();
    },
    (read) => read === "friendship",
    TWO_LESSONS_MS,
  );
  t.is(kind, "friendship");
  t.is(await sqlValue(database.url, `select jobs.get_training_set(${LEARNING})::text`), null);
});

test.serial("classifiers of another training method are trained again, and stored completely", async (t) => {
  const lesson = (learning: number) =>
    sqlValue<string | null>(database.url, `select jobs.get_training_set(${learning}) ->> 'changed_at'`);
  t.is(await lesson(LEARNING), null);
  const changedAt = await lesson(LEARNING + 1);
  t.truthy(changedAt);
  const learned = { ask_kind: { classes: ["buy", "rent"], bias: [0.5, -1], features: ["sofa"], weights: "Cuk=" } };
  await sql(
    database.url,
    `select jobs.store_classifiers('${changedAt}', ${LEARNING + 1}, '${JSON.stringify(learned)}')`,
  );
  t.is(await lesson(LEARNING + 1), null);
  const other = JSON.stringify({ ask_kind: { ...learned.ask_kind, bias: [0, 0] } });
  await sql(database.url, `select jobs.store_classifiers('${changedAt}', ${LEARNING}, '${other}')`);
  t.is(await lesson(LEARNING), null, "a worker of an older release does not train again");
  t.truthy(await lesson(LEARNING + 2));
  t.deepEqual(await sqlValue<unknown>(database.url, "select jobs.get_vocabulary() -> 'classifiers'"), learned);
  t.is(
    await sqlValue(
      database.url,
      "select string_agg(concat_ws(' ', feature, class, weight), ', ' order by class) from inspect.classifier_weights",
    ),
    "sofa buy 1.0, sofa rent -2.3",
  );
});
