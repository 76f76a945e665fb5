import test from "ava";
import { learnKinds, turnsOf } from "../../src/language/builtin/learned.ts";
import { compileLexicon, findTerms } from "../../src/language/builtin/lexicon.ts";
import { createBuiltinReader } from "../../src/language/builtin/reader.ts";
import { tokenize } from "../../src/language/builtin/tokens.ts";
import { seedVocabulary } from "./vocabulary.ts";

const vocabulary = seedVocabulary();
const lexicon = compileLexicon(vocabulary);
const turns = (text: string): string[] => {
  const tokens = tokenize(text);
  return turnsOf(tokens, findTerms(lexicon, tokens, "en"), "en");
};
const kindOf = async (text: string, asks = vocabulary.asks): Promise<string | undefined> =>
  (await createBuiltinReader({ ...vocabulary, asks }).readAsk(text, new AbortController().signal)).ask_kind?.value;

const LETTING = [
  "My van stands idle, who would have it by the day",
  "Our boat stands idle, who would have it by the week",
];
const SELLING = [
  "My van takes up room, who would have it for good",
  "Our boat takes up room, who would have it for good",
];
const EXAMPLES = [
  ...LETTING.map((text) => ({ turns: turns(text), kind: "lease_out" })),
  ...SELLING.map((text) => ({ turns: turns(text), kind: "sell" })),
];

test("a turn that was learned of one thing holds for another", (t) => {
  const learned = learnKinds(EXAMPLES);
  const said = learned(turns("The caravan stands idle, who would have it by the month"));
  t.true((said.lease_out ?? 0) > 0);
  t.true((said.sell ?? 0) < 0);
});

test("the same examples teach the same, in figures", (t) => {
  const text = turns("Our camera takes up room");
  t.deepEqual(learnKinds(EXAMPLES)(text), learnKinds(EXAMPLES)(text));
});

test("without examples, or about words that none has, there is nothing to say", (t) => {
  t.deepEqual(learnKinds([])(turns("My van stands idle")), {});
  t.deepEqual(learnKinds(EXAMPLES)(["zzz"]), {});
});

test("things and places are named by what they are, numbers by a sign", (t) => {
  const said = turns("a sofa in Berlin for 90");
  t.true(said.includes("a <home_garden>"));
  t.true(said.includes("in <place>"));
  t.true(said.includes("for #"));
});

test("what an operator adds changes the reading", async (t) => {
  const text = "Blorping my flurb until somebody quibbles";
  t.not(await kindOf(text), "sell");
  const asks = ["Blorping my gork until somebody quibbles", "Blorping two zogs until somebody quibbles"].map(
    (example) => ({
      text: example,
      kind: "sell",
      category: null,
    }),
  );
  t.is(await kindOf(text, [...vocabulary.asks, ...asks]), "sell");
});

test("a kind that there is none of is not learned", async (t) => {
  const text = "Blorping my flurb until somebody quibbles";
  const asks = [{ text: "Blorping my gork until somebody quibbles", kind: "blorp", category: null }];
  t.is(await kindOf(text, [...vocabulary.asks, ...asks]), await kindOf(text));
});
