import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { detectLanguage } from "../../src/reader/builtin/language.ts";
import { wordKnowledge } from "../../src/reader/builtin/words.ts";
import type { Weights } from "../../src/reader/extraction.ts";
import {
  CONTACT_TRAINING,
  type ContactModels,
  type ContactRead,
  learnContacts,
  readContacts,
} from "../../src/reader/judge/contacts.ts";
import type { Scene } from "../../src/reader/judge/context.ts";
import { learn, learnRanker } from "../../src/reader/judge/learn.ts";
import { isMarked, parseMarks } from "../../src/reader/judge/marks.ts";
import { type Model, useWeights } from "../../src/reader/judge/model.ts";
import { findOrders, learnOrders, ORDER_TRAINING } from "../../src/reader/judge/orders.ts";
import { findCues } from "../../src/reader/text/cues.ts";
import { tokensIn, wordsIn } from "../../src/reader/text/tokens.ts";
import { seedExamples, seedWords } from "./vocabulary.ts";

/**
 * Reads contacts and orders with models that are trained here from the marked examples, until `npm run train` makes
 * them. The result is cached for all test files, until one of its sources changes.
 */

const CACHE = new URL("../../node_modules/.cache/souk/", import.meta.url);
const SOURCES = ["judge", "find", "text"].map((name) => new URL(`../../src/reader/${name}/`, import.meta.url));

const words = seedWords();
const { cues, lexicon } = wordKnowledge(words);

const sceneOf = (text: string): Scene => {
  const tokens = tokensIn(text);
  return { text, tokens, cues: findCues(tokens, cues), topics: [] };
};

const languageOf = (text: string): string | null =>
  detectLanguage(text, wordsIn(text), lexicon.functionWords, new Map());

type Learned = Record<keyof ContactModels | "order", Weights>;

const learnAnew = (): Learned => {
  const hash = createHash("sha256").update(JSON.stringify(words.labels));
  const examples = seedExamples().filter(({ text }) => isMarked(text));
  for (const { text } of examples) hash.update(text);
  for (const folder of SOURCES) {
    for (const name of readdirSync(folder).toSorted())
      if (name.endsWith(".ts")) hash.update(readFileSync(new URL(name, folder)));
  }
  const kept = new URL(`judged-contacts-${hash.digest("hex").slice(0, 16)}.json`, CACHE);
  try {
    return JSON.parse(readFileSync(kept, "utf8"));
  } catch {
    const lessons = examples.map((example) => {
      const { text, marks } = parseMarks(example.text);
      const scene = sceneOf(text);
      const contacts = learnContacts(scene, marks, { country: null, language: example.language });
      return { ...contacts, order: learnOrders(scene, marks) };
    });
    const learned: Learned = {
      contact_role: learn(
        lessons.flatMap((lesson) => lesson.contact_role),
        CONTACT_TRAINING.contact_role,
      ),
      contact_type: learn(
        lessons.flatMap((lesson) => lesson.contact_type),
        CONTACT_TRAINING.contact_type,
      ),
      contact_preferred: learnRanker(
        lessons.flatMap((lesson) => lesson.contact_preferred),
        CONTACT_TRAINING.contact_preferred,
      ),
      order: learn(
        lessons.flatMap((lesson) => lesson.order),
        ORDER_TRAINING,
      ),
    };
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(kept, JSON.stringify(learned));
    return learned;
  }
};

const learned = learnAnew();
const models: ContactModels & { order: Model } = {
  contact_role: useWeights(learned.contact_role),
  contact_type: useWeights(learned.contact_type),
  contact_preferred: useWeights(learned.contact_preferred),
  order: useWeights(learned.order),
};

/** The contacts of a text of a country. */
export const contactsIn = (text: string, country: string | null): ContactRead[] => {
  const scene = sceneOf(text);
  return readContacts(scene, models, { country, language: languageOf(text) }, findOrders(scene, models.order));
};

/** The contacts in the order of the text, each as "type value", with a star if preferred. */
export const reached = (text: string, country: string | null): string[] =>
  contactsIn(text, country).map(({ type, value, preferred }) => `${type} ${value}${preferred ? "*" : ""}`);

/** The passages of a text that are addressed to the reading software. */
export const ordersIn = (text: string): string[] =>
  findOrders(sceneOf(text), models.order).map(({ start, end }) => text.slice(start, end));
