import { readFileSync } from "node:fs";
import type { Vocabulary } from "../../src/language/reading.ts";

/** The vocabulary as the database would hand it out, from the seed itself: what tests read with is what is installed. */

const DATA = new URL("../../db/schema/market/vocabulary_data.sql", import.meta.url);

const EXAMPLES = new URL("../../db/schema/market/ask_example_data.sql", import.meta.url);

/** One row of the seed. */
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

/** The vocabulary of the seed. */
export const seedVocabulary = (): Vocabulary => ({
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
  asks: Array.from(readFileSync(EXAMPLES, "utf8").matchAll(EXAMPLE), ([, kind = "", category, text = ""]) => ({
    kind,
    category: category ?? null,
    text: text.replaceAll("''", "'"),
  })),
});
