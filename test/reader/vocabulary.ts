import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { type Learned, learnClassifiers } from "../../src/reader/builtin/learn.ts";
import type { Example, Vocabulary } from "../../src/reader/extraction.ts";

/** The vocabulary as the database would return it, read from the shipped data, so that tests use what is installed. */

const DATA = new URL("../../db/schema/market/vocabulary_data.sql", import.meta.url);

const EXAMPLES = {
  ask: new URL("../../db/schema/market/ask_example_data.sql", import.meta.url),
  offer: new URL("../../db/schema/market/offer_example_data.sql", import.meta.url),
};

const READER = new URL("../../src/reader/builtin/", import.meta.url);

/** Training takes seconds. Its result is cached for all test files, until one of its sources changes. */
const CACHE = new URL("../../node_modules/.cache/souk/", import.meta.url);

/** One row of the shipped vocabulary. */
const ROW = /^ {2}\('((?:[^']|'')*)', (?:null|'([a-z]{2})'), '([^']+)', ([\d.]+)\),?$/gmu;

const EXAMPLE = /^ {2}\('([a-z_]+)', (?:null|'([a-z_/]+)'), '((?:[^']|'')*)'\)[,;]$/gmu;

const TAXONOMY: readonly (readonly [string, string, string])[] = [
  [
    "electronics",
    "sale, rental",
    "phones, computers, audio, photo_video, gaming, tv, wearables, components, other_electronics",
  ],
  ["vehicles", "sale, rental", "cars, motorcycles, bicycles, boats, trucks_vans, caravans, parts, other_vehicles"],
  ["real_estate", "sale, rental", "apartments, houses, rooms, land, commercial, vacation, parking_storage"],
  ["home_garden", "sale, rental", "furniture, appliances, decor, garden, tools, kitchen, other_home"],
  ["fashion", "sale, rental", "clothing, shoes, bags, jewelry_watches, accessories"],
  [
    "hobbies",
    "sale, rental",
    "books, music_instruments, sports, collectibles, art, toys_games, tickets, other_hobbies",
  ],
  ["family_pets", "sale, rental, service_offer", "baby_kids, pets, pet_supplies"],
  [
    "services",
    "service_offer",
    "repair, cleaning, moving, tutoring, beauty_wellness, events, legal_finance, it_design, care, construction, transport, other_services",
  ],
  [
    "jobs_projects",
    "project_hire",
    "software, design, writing, marketing, construction_work, hospitality, office, education, logistics, other_work",
  ],
  ["community", "dating, friendship", "dating, friendship, activities"],
];

/** The taxonomy and the words of the shipped data. Contains no weights. */
export const seedWords = (): Pick<Vocabulary, "taxonomy" | "terms"> => ({
  taxonomy: TAXONOMY.map(([domain, kinds, categories]) => ({
    domain,
    kinds: kinds.split(", "),
    categories: categories.split(", "),
  })),
  terms: Array.from(readFileSync(DATA, "utf8").matchAll(ROW), ([, term = "", language, sense = "", weight]) => ({
    term: term.replaceAll("''", "'"),
    language: language ?? null,
    sense,
    weight: Number(weight),
  })),
});

/** The shipped examples, in the order in which the database returns them. */
export const seedExamples = (): Example[] =>
  (["ask", "offer"] as const).flatMap((document) =>
    Array.from(
      readFileSync(EXAMPLES[document], "utf8").matchAll(EXAMPLE),
      ([, kind = "", category, text = ""]): Example => ({
        document,
        kind,
        category: category ?? null,
        text: text.replaceAll("''", "'"),
      }),
    ).sort((a, b) => Buffer.compare(Buffer.from(a.text), Buffer.from(b.text))),
  );

const learnSeed = (words: Pick<Vocabulary, "taxonomy" | "terms">): Learned => {
  const hash = createHash("sha256");
  const sources = readdirSync(READER).map((name) => new URL(name, READER));
  for (const file of [DATA, EXAMPLES.ask, EXAMPLES.offer, ...sources]) hash.update(readFileSync(file));
  const kept = new URL(`learned-${hash.digest("hex").slice(0, 16)}.json`, CACHE);
  try {
    return JSON.parse(readFileSync(kept, "utf8"));
  } catch {
    const learned = learnClassifiers({ vocabulary: words, examples: seedExamples() });
    mkdirSync(CACHE, { recursive: true });
    // The file is renamed into place, because other processes may be reading it.
    const aside = new URL(`${kept.href}.${process.pid}.${performance.now()}`);
    writeFileSync(aside, JSON.stringify(learned));
    renameSync(aside, kept);
    return learned;
  }
};

/** The shipped vocabulary with the weights trained from the shipped examples. */
export const seedVocabulary = (): Vocabulary => {
  const words = seedWords();
  return { ...words, classifiers: learnSeed(words) };
};
