import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import { seedMeaning } from "../reader/vocabulary.ts";
import { offerNumber } from "./texts.ts";

/**
 * A worker thread that inserts a share of the offers: every `step`th one, starting with `first`. Threads are used
 * because embedding a hundred thousand texts takes half a minute of processor time.
 */

/**
 * Rows of one statement. They make a few megabytes of JSON, so that client and server do not wait long for each other.
 */
const BATCH = 500;

/** Decimal digits of a vector's numbers. halfvec keeps no more, so more would only be sent in vain. */
const DIGITS = 4;

/** The offers that one thread inserts. `now` is in milliseconds. */
export type Share = { url: string; offers: number; first: number; step: number; now: number };

const { url, offers, first, step, now } = workerData as Share;

/** The text that is embedded for an offer, composed as in jobs.get_embedding_input. */
const wordsOf = (offer: ReturnType<typeof offerNumber>): string =>
  `${offer.title}\n${offer.title}\n${offer.category} ${offer.domain}\n${offer.text}`;

/**
 * Concepts by language and phrase. Most phrases are shared by many offers, and finding their concepts takes
 * milliseconds.
 */
const known = new Map<string, string[]>();

/** Returns the concepts of a phrase in a title or a text, as lexemes. */
const conceptsIn = async (phrase: string, language: string, part: "title" | "text"): Promise<string[]> => {
  const key = `${part} ${language} ${phrase}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const { rows } = await client.query<{ concepts: string[] }>(
    "select tsvector_to_array(reading.concept_vector($1, $2, $3)) as concepts",
    part === "title" ? [phrase, "", language] : ["", phrase, language],
  );
  const concepts = rows[0]?.concepts ?? [];
  known.set(key, concepts);
  return concepts;
};

/**
 * Composes what reading.concept_vector returns for the whole offer from its phrases. Otherwise a trigger would store
 * it.
 */
const conceptsOf = async ({ heading, phrases, language }: ReturnType<typeof offerNumber>): Promise<string> => {
  const weights = new Map<string, string>();
  for (const phrase of phrases) for (const name of await conceptsIn(phrase, language, "text")) weights.set(name, "C");
  for (const name of await conceptsIn(heading, language, "title")) weights.set(name, "A");
  return [...weights].map(([name, weight]) => `'${name}':1${weight}`).join(" ");
};

/** Points by the place. The offers are in a few dozen towns. */
const points = new Map<string, unknown>();

/** Returns metadata with the point of its town, as the reader of a text finds it. */
const withPoint = async (metadata: ReturnType<typeof offerNumber>["metadata"]): Promise<typeof metadata> => {
  const { location } = metadata;
  const key = JSON.stringify(location);
  if (!points.has(key)) {
    const { rows } = await client.query<{ point: unknown }>("select reading.town_point($1) as point", [location]);
    points.set(key, rows[0]?.point);
  }
  return { ...metadata, location: Object.assign({ point: points.get(key) }, location) };
};

const embedder = createBuiltinEmbedder(seedMeaning);
const client = new pg.Client({ connectionString: url });
await client.connect();
// No triggers, as each would add a job, and no checks of foreign keys, as the inserted rows are known to be complete.
await client.query("set session_replication_role = replica");

for (let start = first; start < offers; start += step * BATCH) {
  const numbers = Array.from({ length: BATCH }, (_, i) => start + i * step).filter((n) => n < offers);
  const rows = [];
  for (const n of numbers) {
    const offer = offerNumber(n, offers, now);
    rows.push({ ...offer, concepts: await conceptsOf(offer), metadata: await withPoint(offer.metadata) });
  }
  const vectors = await embedder.embed(rows.map(wordsOf), AbortSignal.timeout(60_000));
  // The vectors come first, so that the document of an offer is written once.
  await client.query(
    `insert into market.offer_embedding (offer_id, model, embedding)
     select v.id, $1, v.embedding::halfvec from unnest($2::uuid[], $3::text[]) as v (id, embedding)`,
    [
      embedder.model,
      rows.map((row) => row.id),
      vectors.map((vector) => `[${vector.map((value) => value.toFixed(DIGITS)).join()}]`),
    ],
  );
  await client.query(
    `insert into market.offer (id, account_id, agent_id, status, text, images, language, title, domain, category,
       offer_kind, price_thousandths, price_currency, price_period, location_text, metadata, contact, extraction,
       created_at, updated_at, published_at, concepts)
     select o.id, a.account_id, a.id, 'published', o.text, o.images, o.language, o.title, o.domain, o.category,
       o.offer_kind, o.price_thousandths, o.price_currency, o.price_period, o.location_text, o.metadata, o.contact,
       o.extraction, o.published_at, o.published_at, o.published_at, o.concepts
     from jsonb_populate_recordset(null::market.offer, $1) with ordinality as o
       join (select a.*, row_number() over (order by a.id) - 1 as n, count(*) over () as agents from market.agent a) as a
         on a.n = ($2::integer[])[o.ordinality] % a.agents`,
    [JSON.stringify(rows), numbers],
  );
  parentPort?.postMessage(numbers.length);
}
await client.end();
