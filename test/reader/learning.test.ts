import test from "ava";
import type { Meaning } from "../../src/reader/embed/learn.ts";
import type { Weights } from "../../src/reader/extraction.ts";
import { NO_PLACES } from "../../src/reader/propose/gazetteer.ts";
import { LEARNING } from "../../src/reader/training/classifiers.ts";
import { learnWhenDue, type TrainingSource } from "../../src/reader/training/learning.ts";
import { followVocabulary } from "../../src/reader/vocabulary.ts";
import { seedExamples, seedWords } from "./vocabulary.ts";

/**
 * Tests training beside the service: it runs only when due, stores the weights, and stops with the service. And tests
 * how the parts of a process follow what was edited and learned.
 */

const never = new AbortController().signal;

const school = (lesson: Awaited<ReturnType<TrainingSource["get"]>>) => {
  const stored: { changedAt: string; learning: number; learned: Record<string, Weights> & { meaning?: Meaning } }[] =
    [];
  const source: TrainingSource = {
    get: async () => lesson,
    store: async (changedAt, learning, learned) => {
      stored.push({ changedAt, learning, learned: JSON.parse(learned) });
    },
  };
  return { source, stored };
};

const WORDS = { ...seedWords(), labels: [], places: NO_PLACES };
const ASK = { language: null, offer_kind: null, domain: null, category: null };
const LESSON = {
  changed_at: "2026-01-02T03:04:05.678901+00:00",
  vocabulary: WORDS,
  things: { labels: [["van", "van"] as const], broader: [] },
  examples: [
    { ...ASK, ask_kind: "sell", text: "my van has to go" },
    { ...ASK, ask_kind: "buy", text: "a van would help me" },
  ],
};

test("training that is due stores the weights under the date of their training set", async (t) => {
  const { source, stored } = school(LESSON);
  t.true(await learnWhenDue(source, never));
  t.is(stored.length, 1);
  t.is(stored[0]?.changedAt, LESSON.changed_at);
  t.is(stored[0]?.learning, LEARNING);
  t.true(stored[0]?.learned["ask_kind"]?.classes.includes("sell"));
  t.true(stored[0]?.learned.meaning?.words.includes("van"));
});

test("nothing is stored when no training is due", async (t) => {
  const { source, stored } = school(null);
  t.false(await learnWhenDue(source, never));
  t.deepEqual(stored, []);
});

test("stopping does not wait for training to end", async (t) => {
  const { source, stored } = school({ ...LESSON, vocabulary: seedWords(), examples: seedExamples() });
  const stopping = new AbortController();
  const learning = learnWhenDue(source, stopping.signal);
  setTimeout(() => stopping.abort(), 200);
  await t.throwsAsync(learning, { name: "AbortError" });
  t.deepEqual(stored, []);
});

test("an invalid training set is an error, and nothing is stored", async (t) => {
  const { source, stored } = school({ ...LESSON, vocabulary: { ...WORDS, labels: null as never } });
  await t.throwsAsync(learnWhenDue(source, never), { message: /ended with 1/ });
  t.deepEqual(stored, []);
});

// One after the other, because a process has one vocabulary.
test.serial("an API and a worker in one process load a version of the vocabulary once", async (t) => {
  let version = "1";
  let loads = 0;
  const source = {
    changedAt: async () => version,
    load: async () => {
      loads += 1;
      return { ...WORDS, classifiers: {}, version };
    },
  };
  const [worker, api] = [followVocabulary(source), followVocabulary(source)];
  const [first, second] = await Promise.all([worker(), api()]);
  t.is(first?.version, "1");
  t.is(second, first);
  t.is(await worker(), null);
  version = "2";
  const edited = await api();
  t.is(edited?.version, "2");
  t.is(await worker(), edited);
  t.is(loads, 2);
});

test.serial("a vocabulary that could not be loaded is loaded by the next", async (t) => {
  const failing = followVocabulary({
    changedAt: async () => "3",
    load: async () => {
      throw new Error("the database is away");
    },
  });
  await t.throwsAsync(failing(), { message: "the database is away" });
  const next = followVocabulary({
    changedAt: async () => "3",
    load: async () => ({ ...WORDS, classifiers: {}, version: "3" }),
  });
  t.is((await next())?.version, "3");
});
