import { readFile } from "node:fs/promises";
import test from "ava";
import { LEARNING } from "../../src/reader/training/classifiers.ts";
import { allowed } from "../support/busy.ts";
import { withClient } from "../support/client.ts";
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
let service: Service | undefined;

/** The service starts when a text is read first: it would load the words again for each of the edits before that. */
const running = async (): Promise<Service> => {
  service ??= await startService({ database: database.url });
  return service;
};

test.before(async () => {
  database = await createDatabase();
  // The tests train three times. Training on a twentieth of the examples takes a second.
  await sql(database.url, "delete from reading.example where md5(text) > '0d'");
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});

test.serial("each change of words, examples or taxonomy changes vocabulary_changed_at; reading does not", async (t) => {
  const changedAt = () => sqlValue(database.url, "select jobs.vocabulary_changed_at()");
  const seen = [await changedAt()];
  for (const change of [
    "insert into reading.label (concept, form, weight) values ('home_garden/kitchen', 'zorbelkrug', 1)",
    "update reading.label set weight = 2 where form = 'zorbelkrug'",
    "delete from reading.label where form = 'zorbelkrug'",
    "insert into reading.place (place, kind, name, country) values ('DE/zorbelkrug', 'city', 'Zorbelkrug', 'DE')",
    "insert into reading.place_name (place, name, form) values ('DE/zorbelkrug', 'Zorbel', 'word')",
    "delete from reading.place where place = 'DE/zorbelkrug'",
    "insert into reading.concept (concept, type) values ('zorbel_cue', 'cue')",
    "delete from reading.concept where concept = 'zorbel_cue'",
    "insert into market.category (domain, category, position) values ('hobbies', 'zorbing', 99)",
    "delete from market.category where category = 'zorbing'",
    "insert into reading.example (ask_kind, text) values ('sell', 'my zorbelkrug has to go')",
    "delete from reading.example where text like '%zorbelkrug%'",
  ]) {
    await sql(database.url, change);
    const now = await changedAt();
    t.false(seen.includes(now), change);
    seen.push(now);
  }
  await sqlValue(database.url, "select count(*) from reading.label");
  t.is(await changedAt(), seen.at(-1));
});

test.serial("the statements of db/data/README.md that teach words make rows of an operator", async (t) => {
  const readme = await readFile(new URL("../../db/data/README.md", import.meta.url), "utf8");
  const taught = [...readme.matchAll(/```sql\n(insert [\s\S]*?)```/g)].map(([, statements]) => statements).join("");
  const count = "select count(*)::integer as rows from reading.TABLE where origin = 'operator'";
  const counts = ["label", "concept", "example"].map((table) => `${count.replace("TABLE", table)};`).join("");
  const results = await withClient(database.url, (client) => client.query(`begin; ${taught} ${counts} rollback`));
  t.deepEqual(
    [results].flat().flatMap(({ command, rows }) => (command === "SELECT" ? rows : [])),
    [{ rows: 2 }, { rows: 1 }, { rows: 1 }],
  );
});

/** A constraint, and a row that it refuses. */
const REFUSED = [
  ["label_concept_fkey", "label (concept, form) values ('hobbies/zorbing', 'zorb')"],
  ["label_form_folded", "label (concept, form) values ('vehicles/cars', 'Zörb')"],
  ["label_thing_has_language", "label (concept, form) values ('sofa', 'zorb')"],
  ["label_language_known", "label (concept, language, form) values ('sofa', 'xx', 'zorb')"],
  ["label_prefix_is_cue", "label (concept, form, is_prefix) values ('vehicles/cars', 'zorb', true)"],
  [
    "concept_category_fkey",
    "concept (concept, type, domain, category) values ('hobbies/zorbing', 'category', 'hobbies', 'zorbing')",
  ],
  ["concept_offer_kind_fkey", "concept (concept, type, offer_kind) values ('offer_kind/zorb', 'offer_kind', 'zorb')"],
  ["concept_condition_known", "concept (concept, type, condition) values ('condition/zorbed', 'condition', 'zorbed')"],
  ["concept_columns_fit_type", "concept (concept, type) values ('sofas', 'category')"],
  ["concept_columns_fit_type", "concept (concept, type, domain) values ('sofas', 'thing', 'hobbies')"],
  ["broader_broader_fkey", "broader (concept, broader) values ('sofa', 'zorb')"],
  ["example_offer_kind_fkey", "example (offer_kind, text) values ('zorb', 'a zorb')"],
  [
    "example_category_fkey",
    "example (offer_kind, domain, category, text) values ('sale', 'hobbies', 'zorbing', 'a zorb')",
  ],
  ["example_is_offer_or_ask", "example (offer_kind, ask_kind, text) values ('sale', 'buy', 'a zorb')"],
  ["example_marks_well_formed", "example (offer_kind, text) values ('sale', 'a [[title|zorb]')"],
  ["example_marks_well_formed", "example (offer_kind, text) values ('sale', 'a [[thing|zorb]]')"],
  ["example_marks_well_formed", "example (offer_kind, text) values ('sale', '[[price cheap|5 €]]')"],
] as const;

test.serial("a label, a concept or an example that cannot be right is refused", async (t) => {
  for (const [constraint, row] of REFUSED)
    await t.throwsAsync(sql(database.url, `insert into reading.${row}`), { message: new RegExp(constraint) }, row);
});

test.serial("kinds of offer that do not exist are refused in arrays, and kinds in arrays stay", async (t) => {
  for (const [change, message] of [
    ["update market.domain set kinds = '{sale,zorb}' where domain = 'hobbies'", /market\.offer_kind has no zorb/],
    ["update market.ask_kind set answered_by = '{zorb}' where ask_kind = 'buy'", /market\.offer_kind has no zorb/],
    ["delete from market.offer_kind where offer_kind = 'dating'", /refers to the kind of offer dating/],
  ] as const)
    await t.throwsAsync(sql(database.url, change), { message });
});

test.serial("a word that the operator adds is understood within a minute", async (t) => {
  const agent = await connectedAgent((await running()).url, database.url);
  const preview = async () => {
    const answer = await agent.call("POST", "/v1/offers/preview", { text: "Zorbelkrug, 40 EUR. zk@example.org" });
    t.is(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.category as string | null;
  };
  t.is(await preview(), null);
  await sql(database.url)`insert into reading.label (concept, form, weight)
    values ('home_garden/kitchen', 'zorbelkrug', 3)`;
  const category = await eventually(
    async () => {
      // Waits between previews, because they count against a cap.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return preview();
    },
    (read) => read !== null,
    allowed(MINUTE_MS),
  );
  t.is(category, "kitchen");
});

test.serial("an example that the operator adds is used for training, without a restart", async (t) => {
  t.timeout(2 * TWO_LESSONS_MS);
  const agent = await connectedAgent((await running()).url, database.url);
  const preview = async () => {
    const answer = await agent.call("POST", "/v1/offers/preview", {
      text: "Zibbelnd quorft der Blorf am Tümpel, 40 EUR. zk@example.org",
    });
    return answer.body.offer_kind as string | null;
  };
  t.not(await preview(), "friendship");
  await sql(database.url)`insert into reading.example (offer_kind, domain, category, text)
    select 'friendship', 'community', 'activities', 'Zibbelnd quorft der Blorf ' || n
      from unnest(array['heute', 'morgen', 'bald', 'nie']) as n`;
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

test.serial("a text is read while a worker that has just started trains on all examples", async (t) => {
  const fresh = await createDatabase(t);
  await sql(fresh.url, "insert into reading.example (ask_kind, text) values ('sell', 'my zorbelkrug has to go')");
  // Training on all examples takes longer than a caller waits.
  const { url } = await startService({ database: fresh.url, env: { EXTRACTION_DEADLINE_MS: "30000" } }, t);
  t.truthy(await sqlValue(fresh.url, `select jobs.get_training_set(${LEARNING})::text`));
  const agent = await connectedAgent(url, fresh.url);
  const answer = await agent.call("POST", "/v1/offers/preview", { text: "Oak table, 40 EUR. ot@example.org" });
  t.is(answer.status, 200, JSON.stringify(answer.body));
  t.is(answer.body.extraction.price.value.amount, 40);
  t.truthy(await sqlValue(fresh.url, `select jobs.get_training_set(${LEARNING})::text`), "it is still training");
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
  t.is(await lesson(LEARNING), null, "a worker with an older training method does not train again");
  t.truthy(await lesson(LEARNING + 2));
  t.deepEqual(await sqlValue<unknown>(database.url, "select jobs.get_vocabulary() -> 'classifiers'"), learned);
  t.is(
    await sqlValue(database.url)`select string_agg(concat_ws(' ', feature, class, weight), ', ' order by class)
      from inspect.classifier_weights`,
    "sofa buy 1.0, sofa rent -2.3",
  );
});
