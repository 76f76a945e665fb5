import { fileURLToPath } from "node:url";
import test from "ava";
import { LANGUAGES } from "../../src/reader/languages.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { type Service, startService } from "../support/service.ts";
import { type Labels, readLabels } from "./labels.ts";
import { judgeAsk, judgeOffer, type Scores, score } from "./metrics.ts";
import { readAsks, readOffers } from "./predict.ts";

/**
 * The quality of the built-in extractor on our own labelled texts must not fall. Each floor is a little below the
 * reached score (`npm run eval` prints the scores), so that one text more or less does not fail a test.
 */

const TEXTS = fileURLToPath(new URL("texts", import.meta.url));

const OFFER_FLOORS = {
  "contacts F1": 0.98,
  preferred: 0.9,
  "reject F1": 0.97,
  price: 0.96,
  offer_kind: 0.94,
  domain: 0.93,
  category: 0.9,
  location: 0.96,
  title: 0.97,
};
const ASK_FLOORS = { ask_kind: 0.93, domain: 0.93, category: 0.88, price_max: 0.95, location: 0.96 };

let database: Database;
let service: Service;
let labels: Labels;

test.before(async () => {
  database = await createDatabase();
  service = await startService({ database: database.url, env: { CONNECTIONS_PER_HOUR: "1000000" } });
  labels = await readLabels(TEXTS);
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});

const target = () => ({ url: service.url, database: database.url });

/** The measures that are below their floor, as sentences. */
const under = (scores: Scores, floors: Record<string, number>): string[] =>
  Object.entries(floors)
    .filter(([measure, floor]) => !((scores.get(measure) ?? 0) >= floor))
    .map(([measure, floor]) => `${measure} is ${scores.get(measure)?.toFixed(3)}, under ${floor}`);

test.serial("the built-in extractor reaches the floors on our own offers", async (t) => {
  const lines = labels.offers.flatMap((file) => file.lines);
  const read = await readOffers(target(), lines, () => {});
  const judged = read.map((prediction, n) => judgeOffer(lines[n] ?? t.fail(), prediction));
  t.deepEqual(under(score(judged), OFFER_FLOORS), []);
});

test.serial("the built-in extractor reaches the floors on our own asks", async (t) => {
  const lines = labels.asks.flatMap((file) => file.lines);
  const read = await readAsks(target(), lines, () => {});
  const judged = read.map((prediction, n) => judgeAsk(lines[n] ?? t.fail(), prediction));
  t.deepEqual(under(score(judged), ASK_FLOORS), []);
});

test.serial("there are labelled offers in every language of the built-in extractor", (t) => {
  const languages = new Set(labels.offers.flatMap((file) => file.lines.map((line) => line.lang)));
  t.deepEqual([...languages].sort(), Object.keys(LANGUAGES).sort());
});
