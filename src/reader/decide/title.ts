import type { PlaceText } from "../propose/place_spans.ts";
import { wordsOfList } from "../rows.ts";
import { firstCueFrom } from "../text/cues.ts";
import { compilePhrases, phraseAt } from "../text/phrases.ts";
import { type Span, spanOf } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";
import type { Ranked, Training } from "../training/linear.ts";
import type { Mark } from "../training/marks.ts";
import { type Range, sentenceEnd, sentenceStart, termOf } from "./context.ts";
import { bucket, createFeatures, type Features, type Term, term } from "./features.ts";
import { chances, type Model } from "./model.ts";
import { rangeOf } from "./place.ts";

/**
 * Judges which words of a text are its title: what is offered or wanted, without price, contact and place. A title lies
 * between two seams, a seam being the gap before a token. One ranker scores the seams at which it can begin; a second one
 * scores, for the best of these, the seams at which it can end. Both see the same of a seam: what stands on its two sides,
 * and where it is.
 */

/** What is known of a text before its title is judged. */
export type TitleText = PlaceText & {
  /** The terms of the lexicon that name things of the category of the text, by position. */
  named: readonly Range[];
  /** The words that state a kind of offer or ask ("for sale", "suche"), by position. */
  kinds: readonly Range[];
  /** The passage that states the price, and the one that names the place; null if there is none. */
  price: Range | null;
  place: Range | null;
  isAsk: boolean;
};

/** The names of the models. */
export const TITLE_MODELS = ["title_begin", "title_end"] as const;
export type TitleModels = Readonly<Record<(typeof TITLE_MODELS)[number], Model>>;

/** How the models are trained. */
export const TITLE_TRAINING: Training = { passes: 7, rate: 0.05, leastExamples: 3 };

const B = bucket;
const START = B("<start>");
const END = B("<end>");
const LINE = B("<line>");
const SENTENCE = B("<sentence>");
/** What a token stands for, other than for its word. */
const ROLE = { none: 0, otherPlace: 1, sum: 2, price: 3, contact: 4, place: 5 } as const;
const ROLES = Object.keys(ROLE).map((name) => B(`<${name}>`));

/**
 * Where ranges of one sort are, for each token: `part` is 1 for the first token of a range and 2 for a further one,
 * `before` how many begin before it, `next` where the next one begins.
 */
type Sights = { part: Uint8Array; before: Int32Array; next: Int32Array };

const sightsOf = (ranges: readonly Range[], size: number): Sights => {
  const part = new Uint8Array(size);
  for (const { from, to } of ranges) {
    part.fill(2, from, to);
    part[from] = 1;
  }
  const before = new Int32Array(size);
  for (let at = 1; at < size; at++) before[at] = (before[at - 1] ?? 0) + (part[at - 1] === 1 ? 1 : 0);
  const next = new Int32Array(size).fill(size);
  for (let at = size - 2; at >= 0; at--) next[at] = part[at] === 1 ? at : (next[at + 1] ?? size);
  return { part, before, next };
};

/** What is computed once for a text, by token. */
type Prepared = {
  scene: TitleText;
  role: Uint8Array;
  things: Sights;
  named: Sights;
  kinds: Sights;
  sentence: Int32Array;
  line: Int32Array;
  /** The next mark, line, sum, contact or place. */
  clauseEnd: Int32Array;
  /** What the words lead to (LEAD). */
  leads: Uint8Array;
  /** 1 if the word stands in the text before, 2 if it does after, 3 for both. */
  again: Uint8Array;
};

/** The concepts of words that lead to a place. */
const LEADING = /^place_(?:in|label|area|about|origin|towards)$/;
/** Words that introduce a price or a date: "from", "now", "à partir de". */
const INTRODUCING = compilePhrases(wordsOfList("price_introduction").map((form) => ({ form, sense: true })));
/** Those of them after which no number belongs to a title: "from 3 March", but not "for 4 people". */
const ENDING = compilePhrases(wordsOfList("title_end").map((form) => ({ form, sense: true })));
/** What words lead to: a place ("near"), a number that may be a price ("for"), a price or a date that ends the title ("now"). */
const LEAD = { place: 1, number: 2, price: 3 } as const;
/** Shorter words say nothing when they are said again. */
const MIN_AGAIN = 4;

const prepare = (scene: TitleText): Prepared => {
  const { tokens, known, place, sums, price, isHidden, cues } = scene;
  const size = tokens.length + 1;
  const role = new Uint8Array(size);
  const fill = (what: number, ranges: readonly Range[]): void => {
    for (const { from, to } of ranges) role.fill(what, from, to);
  };
  fill(ROLE.otherPlace, known);
  fill(ROLE.place, place === null ? [] : [place]);
  fill(ROLE.sum, sums);
  fill(ROLE.price, price === null ? [] : [price]);
  const leads = new Uint8Array(size);
  for (const { concept, from, to } of cues) {
    if (LEADING.test(concept.text)) leads.fill(LEAD.place, from, to);
    // "36 instalments of 20 EUR"
    if (concept.text === "price_instalment")
      leads.fill(LEAD.price, tokens[from - 1]?.kind === "digits" ? from - 1 : from, to);
  }
  for (let at = 0; at < tokens.length; at++) {
    const word = phraseAt(tokens, at, INTRODUCING);
    const ends = word !== null && isNumber({ scene, role }, word.to) && phraseAt(tokens, at, ENDING)?.to === word.to;
    if (word !== null && (ends || leads[at] === 0)) leads.fill(ends ? LEAD.price : LEAD.number, at, word.to);
    // "12x de R$ 99", "3 x 20 €"
    const isTimes = tokens[at]?.kind === "digits" && tokens[at + 1]?.text === "x";
    const sum = [at + 2, at + 3].find((one) => role[one] === ROLE.sum || role[one] === ROLE.price);
    if (isTimes && sum !== undefined) leads.fill(LEAD.price, at, sum);
  }
  const sentence = new Int32Array(size);
  const line = new Int32Array(size);
  const again = new Uint8Array(size);
  const seen = new Map<string, number>();
  tokens.forEach(({ kind, text, opens, gap }, at) => {
    if (isHidden(at)) role[at] = ROLE.contact;
    sentence[at] = at === 0 ? 0 : (sentence[at - 1] ?? 0) + (opens ? 1 : 0);
    line[at] = at === 0 ? 0 : (line[at - 1] ?? 0) + (gap === "line" ? 1 : 0);
    if (kind !== "word" || text.length < MIN_AGAIN) return;
    const before = seen.get(text);
    if (before !== undefined) {
      again[at] = 1;
      again[before] = (again[before] ?? 0) | 2;
    }
    seen.set(text, at);
  });
  const clauseEnd = new Int32Array(size).fill(tokens.length);
  for (let at = tokens.length - 2; at >= 0; at--) {
    const next = tokens[at + 1];
    const ends = next?.gap === "line" || next?.kind === "mark" || role[at + 1] !== ROLE.none;
    clauseEnd[at] = ends ? at + 1 : (clauseEnd[at + 1] ?? 0);
  }
  const [things, named, kinds] = [scene.things, scene.named, scene.kinds].map((ranges) => sightsOf(ranges, size)) as [
    Sights,
    Sights,
    Sights,
  ];
  return { scene, role, things, named, kinds, sentence, line, clauseEnd, leads, again };
};

/** Marks that join two words to one. */
const JOINTS: ReadonlySet<string> = new Set(["-", "'", ".", "/", "&", "+", "_", ","]);
/** Marks with which a title can end. */
const CLOSING: ReadonlySet<string> = new Set([")", '"', "”", "“", "'", "%", "+", "!", "?", "″", "»", "]"]);
/** Words of at most this many letters are abbreviations before a full stop inside a sentence: "120 Stk.", "8 pers.". */
const ABBREVIATED = 5;
/** The longest title, in UTF-16 units. */
const LONGEST = 120;

/**
 * All words of the beginning of a text can begin a title; then only those that open a clause or name a thing, and at
 * last those that open a sentence or name a thing of the category. In tokens.
 */
const ALL_BEGINS = 60;
const CLAUSE_BEGINS = 120;

/** True if a word or number begins at `at`. */
const isFree = (tokens: readonly Token[], at: number): boolean => {
  const token = tokens[at];
  const before = tokens[at - 1];
  if (token === undefined || token.kind === "mark") return false;
  if (before === undefined || token.gap !== "none") return true;
  return before.kind === "mark" && !(JOINTS.has(before.text) && before.gap === "none");
};

/** The seams at which a title can begin: the tokens after them. */
const beginsOf = ({ scene: { tokens }, role, things, named }: Prepared): number[] =>
  [...tokens.keys()].filter((at) => {
    if (role[at] === ROLE.price || role[at] === ROLE.contact || !isFree(tokens, at)) return false;
    if (at < ALL_BEGINS || tokens[at]?.opens === true) return true;
    if (at >= CLAUSE_BEGINS) return named.part[at] === 1;
    return things.part[at] === 1 || tokens[at - 1]?.kind === "mark";
  });

/** True if a number or a sum begins at a token. */
const isNumber = ({ scene: { tokens }, role }: Pick<Prepared, "scene" | "role">, at: number): boolean =>
  tokens[at]?.kind === "digits" || role[at] === ROLE.sum || role[at] === ROLE.price;

const endsAbbreviation = (tokens: readonly Token[], at: number): boolean => {
  const word = tokens[at - 1];
  if (tokens[at]?.text !== "." || tokens[at]?.gap !== "none" || word?.kind !== "word") return false;
  return word.text.length <= ABBREVIATED && tokens[at + 1]?.opens !== true;
};

/** The seams at which a title that begins at `from` can end. */
const endsOf = (prepared: Prepared, from: number): number[] => {
  const { scene, role, leads } = prepared;
  const { tokens } = scene;
  const start = tokens[from]?.start ?? 0;
  const ends: number[] = [];
  for (let to = from + 1; to <= tokens.length; to++) {
    const last = tokens[to - 1];
    if (last === undefined || last.end - start > LONGEST) break;
    // No title goes on beyond the price, the place or a contact.
    if ((role[to - 1] ?? 0) >= ROLE.price || (to > from + 1 && last.gap === "line")) break;
    // "Garden tools near" is the stump of "Garden tools near Leeds".
    if (leads[to - 1] === LEAD.place && (role[to] === ROLE.place || role[to] === ROLE.otherPlace)) continue;
    if (leads[to - 1] === LEAD.price) break;
    // And "Haircuts for" that of "Haircuts for £20".
    if ((leads[to - 1] ?? 0) > 0 && isNumber(prepared, to)) continue;
    if (last.kind === "mark" && !CLOSING.has(last.text) && !endsAbbreviation(tokens, to - 1)) continue;
    // A word is not cut: "128gb", "T-Shirt", "1.6".
    const next = tokens[to];
    if (next?.gap === "none" && next.kind !== "mark") continue;
    if (next?.gap === "none" && JOINTS.has(next.text) && isJoined(tokens[to + 1])) continue;
    ends.push(to);
  }
  return ends;
};

const isJoined = (token: Token | undefined): boolean => token?.gap === "none" && token.kind !== "mark";

const T = {
  words: [term("before2"), term("before1"), term("after1"), term("after2"), term("after3")],
  pairs: [term("pair-before"), term("pair-around"), term("pair-after")],
  seam: term("seam"),
  letters: term("letters"),
  cue: term("cue"),
  pair: term("thing+"),
  pairNamed: term("naming+"),
  pairWidth: term("width+"),
} as const;

/** The longest cue, in tokens. */
const CUE_REACH = 4;

const lettersOf = (token: Token | undefined): Term =>
  B(token === undefined ? "none" : token.kind === "word" ? (token.capital ? "capital" : "small") : token.kind);

/** A word, or what stands for it. */
const wordAt = ({ scene: { tokens }, role }: Prepared, at: number): Term => {
  const token = tokens[at];
  if (token === undefined) return at < 0 ? START : END;
  return (role[at] ?? 0) > ROLE.otherPlace ? (ROLES[role[at] ?? 0] as Term) : termOf(token);
};

/** A side of a seam: what stands there, in a few classes. */
const sideOf = ({ scene: { tokens }, role }: Prepared, at: number): Term => {
  const token = tokens[at];
  if (token === undefined) return at < 0 ? START : END;
  if (role[at] !== ROLE.none) return ROLES[role[at] ?? 0] as Term;
  return token.kind === "mark" ? termOf(token) : lettersOf(token);
};

const GROWING = [0, 1, 2, 3, 4, 5, 6, 6, 8, 8, 10, 10, 12, 12, 12, 15, 15, 15, 15, 15];
/** A number in buckets that grow. */
const grown = (count: number): Term =>
  B(GROWING[count] ?? (count < 30 ? 20 : count < 60 ? 30 : count < 120 ? 60 : 120));

/** How far the next range is, up to a limit. */
const aheadOf = ({ part, next }: Sights, at: number, end: number): Term =>
  B(part[at] === 2 ? "within" : (next[at] ?? end) < end ? Math.min((next[at] ?? at) - at, 6) : "later");

/**
 * Adds what the seam before token `at` is like, alone and together with what stands on each side.
 * @param title the title that ends there; null if one begins there
 */
const addSeam = (features: Features, prepared: Prepared, at: number, title: Range | null): void => {
  const { scene, things, named, kinds, sentence, line, clauseEnd, again, role } = prepared;
  const { tokens, cues, isAsk, price } = scene;
  const token = tokens[at];
  const gap = token?.gap === "line" ? LINE : at === 0 || token === undefined || token.opens ? SENTENCE : null;
  // What stands beyond the end of a sentence says nothing about it.
  const before = title === null ? (gap ?? sideOf(prepared, at - 1)) : sideOf(prepared, at - 1);
  const after = title === null ? sideOf(prepared, at) : (gap ?? sideOf(prepared, at));
  const around = [-2, -1, 0, 1, 2].map((away) => wordAt(prepared, at + away));
  T.words.forEach((template, one) => {
    features.add(template, around[one]);
  });
  T.pairs.forEach((template, one) => {
    features.add(template, around[one], around[one + 1]);
  });
  features.add(T.seam, before, after);
  features.add(T.words[1], around[1], after);
  features.add(T.words[2], around[2], before);
  features.add(T.letters, lettersOf(tokens[at - 1]), lettersOf(token));
  features.add(T.letters, lettersOf(token), lettersOf(tokens[at + 1]));
  for (let index = firstCueFrom(cues, at - CUE_REACH); index < cues.length; index++) {
    const cue = cues[index];
    if (cue === undefined || cue.from > at + 1) break;
    if (cue.from >= at) features.add(T.cue, cue.concept, B(cue.from - at));
    else if (cue.to === at) features.add(T.cue, cue.concept, B("before"));
  }
  const facts = (values: Record<string, Term>): void => {
    for (const [name, value] of Object.entries(values)) {
      const template = B(name);
      features.add(template, value);
      features.add(template, value, before);
      features.add(template, value, after);
    }
  };
  const closes = sentenceEnd(scene, title === null ? at : at - 1);
  const ends = clauseEnd[at] ?? at;
  const of = B(Math.min(sentence[at] ?? 0, 3));
  const thing = aheadOf(things, at, closes);
  const naming = aheadOf(named, at, closes);
  const order = B(Math.min(things.before[at] ?? 0, 5));
  const namedOrder = B(Math.min(named.before[at] ?? 0, 4));
  facts({
    thing,
    naming,
    order,
    namedOrder,
    clause: grown(ends - at),
    clauseEnd: sideOf(prepared, ends),
    kind: B(10 * (kinds.part[at - 1] ?? 0) + (kinds.part[at] ?? 0)),
    role: B(role[at] ?? 0),
    position: grown(at),
    sentence: of,
    opened: grown(at - sentenceStart(scene, at)),
    rest: grown(closes - at),
    line: B(Math.min(line[at] ?? 0, 3)),
    again: B(again[at] ?? 0),
    ask: B(isAsk ? "ask" : "offer"),
    price: B(price === null ? "none" : price.from > at ? "later" : "before"),
  });
  features.add(T.pair, thing, order);
  features.add(T.pair, thing, of);
  features.add(T.pairNamed, naming, namedOrder);
  features.add(T.pairNamed, naming, of);
  features.add(T.pairNamed, grown(at), scene.named.length === 0 ? B("none") : naming);
  if (title === null) return;
  const { from } = title;
  const inside = tokens.slice(from, at);
  const count = (is: (token: Token) => boolean): number => inside.filter(is).length;
  const within = ({ part, before }: Sights): Term =>
    B(`${Math.min((before[at] ?? 0) - (before[from] ?? 0), 3)}${part[at] === 2 ? "cut" : ""}`);
  const words = count(({ kind }) => kind === "word");
  const digits = count(({ kind }) => kind === "digits");
  const commas = count(({ text }) => text === ",");
  const capitals = count(({ kind, capital }) => kind === "word" && capital);
  const width = grown(words + digits);
  const opens = sideOf(prepared, from - 1);
  facts({
    width,
    inside: within(things),
    insideNamed: within(named),
    commas: B(Math.min(commas, 3)),
    sentences: B(Math.min((sentence[at - 1] ?? 0) - (sentence[from] ?? 0), 2)),
    bracket: B(Math.sign(count(({ text }) => text === "(") - count(({ text }) => text === ")"))),
    digits: B(Math.min(digits, 1)),
    capitals: B(capitals === 0 ? "none" : capitals === words ? "all" : "some"),
    opens,
  });
  features.add(T.pairWidth, width, within(things));
  features.add(T.pairWidth, width, opens);
};

/** The examples that a labelled text gives for the two models: there is none if its title is not among the candidates. */
export const titleExamples = (
  scene: TitleText,
  marks: readonly Mark[],
): Record<(typeof TITLE_MODELS)[number], Ranked[]> => {
  const mark = marks.find(({ role }) => role === "title");
  const title = mark === undefined ? null : rangeOf(scene.tokens, mark);
  if (title === null) return { title_begin: [], title_end: [] };
  const prepared = prepare(scene);
  const example = (seams: readonly number[], right: number, from: number | null): Ranked[] => {
    const candidates = seams.map((at) => {
      const features = createFeatures(true);
      addSeam(features, prepared, at, from === null ? null : { from, to: at });
      return features;
    });
    return seams.includes(right) ? [{ candidates, right: seams.indexOf(right) }] : [];
  };
  return {
    title_begin: example(beginsOf(prepared), title.from, null),
    title_end: example(endsOf(prepared, title.from), title.to, title.from),
  };
};

/** The title of a text: the words, with single spaces, and where they stand. */
export type FoundTitle = Range & { title: string; span: Span; confidence: number };

/** This many beginnings are tried. */
const BEGINS_TRIED = 6;

/**
 * What the probabilities do not say, as logarithms. The labels mark the most precise words of a text as its title, also
 * where a shorter clause before them names the thing as well; a headline that does not name the thing is worse than one
 * that leaves out a detail.
 */
const TUNING = {
  /** Of two ends, and of two beginnings in one clause, the one that says more may be so much less probable. */
  longer: 0.5,
  /** The title is in the first sentence. */
  opening: 0.5,
  /** The title is at the beginning of the text. */
  first: 1.25,
  /** The title contains the first term of the lexicon that names a thing of the category. */
  naming: 1,
};
/** The share of the highest probability that is nearly as probable. */
const NEARLY = Math.exp(-TUNING.longer);

const features = createFeatures(false);

/** The probability of each seam. */
const rank = (model: Model, prepared: Prepared, seams: readonly number[], from: number | null): Float64Array =>
  chances(
    seams.map((at) => {
      features.clear();
      addSeam(features, prepared, at, from === null ? null : { from, to: at });
      return model.score(features);
    }),
  );

/** Finds the title of a text with trained models, null for a text in which no word can be one. */
export const findTitle = (scene: TitleText, models: TitleModels): FoundTitle | null => {
  const prepared = prepare(scene);
  const { clauseEnd, sentence } = prepared;
  const begins = beginsOf(prepared);
  const likely = rank(models.title_begin, prepared, begins, null);
  const chanceOf = (one: number): number => likely[one] ?? 0;
  const tried = [...begins.keys()]
    .sort((one, other) => chanceOf(other) - chanceOf(one))
    .slice(0, BEGINS_TRIED)
    .map((index) => {
      const isAsGood = (one: number): boolean => chanceOf(one) >= chanceOf(index) * NEARLY;
      const clause = clauseEnd[begins[index] ?? 0];
      return begins.findIndex((at, one) => one === index || (clauseEnd[at] === clause && isAsGood(one)));
    });
  const naming = scene.named[0];
  let best: FoundTitle | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const index of new Set(tried)) {
    const from = begins[index] ?? 0;
    const ends = endsOf(prepared, from);
    const probable = rank(models.title_end, prepared, ends, from);
    const top = Math.max(0, ...probable.subarray(0, ends.length));
    const to = ends.findLast((_, at) => (probable[at] ?? 0) >= top * NEARLY);
    if (to === undefined) continue;
    const confidence = chanceOf(index) * top;
    const score =
      Math.log(confidence) +
      (sentence[from] === 0 ? TUNING.opening : 0) +
      (from === 0 ? TUNING.first : 0) +
      (naming !== undefined && naming.from >= from && naming.to <= to ? TUNING.naming : 0);
    if (score <= most) continue;
    most = score;
    const span = spanOf(scene.tokens, { from, to });
    best = { from, to, span, title: scene.text.slice(span.start, span.end).replace(/\s+/gu, " "), confidence };
  }
  return best;
};
