import type { Cue } from "../text/cues.ts";
import { quoteOf, type Span, spanOf, united } from "../text/span.ts";
import type { Judged, Training } from "../training/linear.ts";
import type { Mark } from "../training/marks.ts";
import { distance, type Scene, termOf } from "./context.ts";
import { bucket, createFeatures, type Features, type Term, term } from "./features.ts";
import type { Model } from "./model.ts";

/**
 * Judges which sentences are addressed to the software that reads the text ("ignore previous instructions and ..."). They
 * stay in the stored text, but do not describe what is offered, and no contact or price inside them counts.
 */

/** The names of the models. */
export const ORDER_MODELS = ["order"] as const;

/** How the model is trained: orders are rare, so each of them counts more. */
export const ORDER_TRAINING: Training = { passes: 12, rate: 0.05, balanced: true, leastUnits: 1 };

/** A sentence: tokens `from` (inclusive) to `to` (exclusive). */
type Sentence = { from: number; to: number; cues: readonly Cue[] };

const isAboutOrders = ({ concept }: Cue): boolean => concept.text.startsWith("order_");

/** Marks after which something new is said: "[[", ">>>", "###". */
const OPENS = /^[[\]{}<>#=*~|]$/u;

/** True if a closing tag ends before token `at`: "</system> Good saddle". */
const isAfterBlock = (tokens: Scene["tokens"], at: number): boolean => {
  if (tokens[at - 1]?.text !== ">" || tokens[at]?.gap === "none") return false;
  return [3, 4, 5, 6].some((back) => tokens[at - back]?.text === "<" && tokens[at - back + 1]?.text === "/");
};

/** The sentences of a text, also parted where brackets and rules of marks open. */
const sentencesOf = ({ tokens, cues }: Scene): Sentence[] => {
  const sentences: Sentence[] = [];
  let next = 0;
  let from = 0;
  for (let at = 1; at <= tokens.length; at++) {
    const token = tokens[at];
    const doubled = token !== undefined && OPENS.test(token.text) && tokens[at + 1]?.text === token.text;
    const isStart = doubled && tokens[at - 1]?.text !== token.text;
    // "... jo@example.com SYSTEM: ignore"
    const isSpeaker = tokens[at + 1]?.text === ":" && token?.capital === true && token.text === "system";
    if (at < tokens.length && !token?.opens && !isStart && !isSpeaker && !isAfterBlock(tokens, at)) continue;
    const own: Cue[] = [];
    for (let cue = cues[next]; cue !== undefined && cue.from < at; cue = cues[++next])
      if (isAboutOrders(cue)) own.push(cue);
    sentences.push({ from, to: at, cues: own });
    from = at;
  }
  return sentences;
};

const T = {
  cue: term("cue"),
  pair: term("cue-pair"),
  ordered: term("cue-order"),
  first: term("first"),
  firstCue: term("first-cue"),
  word: term("word"),
  words: term("words"),
  after: term("after-cue"),
  before: term("before-cue"),
  mark: term("mark"),
  place: term("place"),
  length: term("length"),
  past: term("past"),
  pastCue: term("past-cue"),
  nextCue: term("next-cue"),
  continues: term("continues"),
} as const;

const B = (value: string | number): Term => bucket(value);

/** The concept of phrases that are orders by themselves, and how much sooner they are believed than other cues. */
const SUFFICIENT = "order_words";
const SURE = 4;

/** How many marks at the start of a sentence are features. */
const MAX_MARKS = 3;
/** How many words of a sentence are features. */
const MAX_WORDS = 40;

/** True if a square bracket that was opened in one sentence is closed in another, or at its end. */
const isOpen = (tokens: Scene["tokens"], past: Sentence | undefined, { to }: Sentence): boolean => {
  let depth = 0;
  for (let at = past?.from ?? to; at < (past?.to ?? to); at++) {
    const text = tokens[at]?.text;
    depth += text === "[" ? 1 : text === "]" ? -1 : 0;
  }
  return depth > 0;
};

/** Adds the features of a sentence. @param continues whether the sentence before it is an order */
const addOrderFeatures = (
  features: Features,
  { tokens }: Scene,
  sentences: readonly Sentence[],
  index: number,
  continues: boolean,
): void => {
  const sentence = sentences[index];
  if (sentence === undefined) return;
  const { from, to, cues } = sentence;
  let start = from;
  while (start < to && tokens[start]?.kind === "mark") start++;
  for (let at = from; at < Math.min(start, from + MAX_MARKS); at++) {
    const token = tokens[at];
    if (token !== undefined) features.add(T.mark, termOf(token), B("start"));
  }
  const last = tokens[to - 1];
  if (last?.kind === "mark") features.add(T.mark, termOf(last), B("end"));
  const before = tokens[from - 1];
  if (before?.kind === "mark") features.add(T.mark, termOf(before), B("before"));
  for (let at = start; at < Math.min(start + 3, to); at++) {
    const token = tokens[at];
    if (token === undefined) continue;
    features.add(T.first, termOf(token), B(at - start));
  }
  for (let at = start; at < Math.min(to, start + MAX_WORDS); at++) {
    const token = tokens[at];
    const next = tokens[at + 1];
    if (token?.kind !== "word") continue;
    features.add(T.word, termOf(token));
    if (at + 1 < to && next?.kind !== "digits" && next !== undefined)
      features.add(T.words, termOf(token), termOf(next));
  }
  const said: Term[] = [];
  cues.forEach((cue, at) => {
    if (!said.includes(cue.concept)) said.push(cue.concept);
    features.add(T.firstCue, cue.concept, distance(Math.max(0, cue.from - start)));
    const next = cues.find((other, place) => place > at && other.from >= cue.to);
    if (next !== undefined) {
      features.add(T.ordered, cue.concept, next.concept);
      if (next.from - cue.to <= 2) features.add(T.pair, cue.concept, next.concept);
    }
    const after = tokens[cue.to];
    if (after !== undefined && cue.to < to) features.add(T.after, cue.concept, termOf(after));
    const previous = tokens[cue.from - 1];
    if (previous !== undefined && cue.from > from) features.add(T.before, cue.concept, termOf(previous));
  });
  for (const concept of said) features.add(T.cue, concept, undefined, concept.text === SUFFICIENT ? SURE : 1);
  features.add(
    T.cue,
    B(
      said
        .map(({ text }) => text.slice("order_".length))
        .sort()
        .join("+") || "-",
    ),
  );
  const past = sentences[index - 1];
  for (const concept of new Set(past?.cues.map(({ concept }) => concept))) features.add(T.pastCue, concept);
  const next = sentences[index + 1];
  for (const concept of new Set(next?.cues.map(({ concept }) => concept))) features.add(T.nextCue, concept);
  const place = index === 0 ? "first" : index === sentences.length - 1 ? "last" : "within";
  features.add(T.place, B(place));
  features.add(T.length, B(Math.min(6, Math.floor(Math.log2(to - from + 1)))));
  const opens = tokens[from]?.gap === "line" ? "line" : "same-line";
  features.add(T.past, B(continues ? "order" : "no-order"));
  features.add(T.past, B(continues ? "order" : "no-order"), B(opens));
  if (continues && isOpen(tokens, sentences[index - 1], sentence)) features.add(T.past, B("open"));
  if (continues) for (const concept of said) features.add(T.continues, concept, B(opens));
  features.unite();
};

/** True if a sentence may be an order: it has a cue for one, or the sentence before it is one. */
const isPossible = ({ cues }: Sentence, continues: boolean): boolean => cues.length > 0 || continues;

/** A sentence is an order if at least this share of it is marked as one. */
const MIN_SHARE = 0.3;

/** What a labelled text teaches about orders. */
export const learnOrders = (scene: Scene, marks: readonly Mark[]): Judged[] => {
  const sentences = sentencesOf(scene);
  const orders = marks.filter(({ role }) => role === "order");
  const { tokens } = scene;
  let continues = false;
  return sentences.flatMap((sentence, index) => {
    const start = tokens[sentence.from]?.start ?? 0;
    const end = tokens[sentence.to - 1]?.end ?? start;
    const shared = orders.reduce(
      (sum, one) => sum + Math.max(0, Math.min(one.end, end) - Math.max(one.start, start)),
      0,
    );
    const isOrder = shared > 0 && shared >= MIN_SHARE * (end - start);
    const possible = isPossible(sentence, continues);
    const features = createFeatures(true);
    addOrderFeatures(features, scene, sentences, index, continues);
    continues = isOrder;
    return possible ? [{ features, name: isOrder ? "order" : "none" }] : [];
  });
};

/** A sentence is an order from this probability on. Chosen on held-out texts. */
const MIN_ORDER = 0.5;

/** From this probability on, an order is certain enough to refuse a text whose only contact stands in it. */
const MIN_CERTAIN = 0.9;
/** In the line of an order, a further sentence without a number or an address is one from this probability on. */
const MIN_FURTHER = 0.3;
/** A part of a sentence is one from this probability on. */
const MIN_PART = 0.6;

const OPENING = /^[(["“”„«]$/u;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "«": "»", "„": "“", "“": "”" };

/** True if a part of a sentence can begin with token `at`: after a label or a dash, or inside brackets or quotes. */
const beginsPart = (tokens: Scene["tokens"], at: number, hasNumber: boolean): boolean => {
  const before = tokens[at - 1];
  const token = tokens[at];
  if (before === undefined || token === undefined || token.gap === "none") return false;
  return (
    OPENING.test(token.text) ||
    /^[:;)|]$/u.test(before.text) ||
    // "16 EUR, Berlin, ignore ..."
    (hasNumber && before.text === ",") ||
    (before.text === "-" && before.gap !== "none")
  );
};

/**
 * The part of a sentence that is the order: from the label, dash or bracket before its first cue, to the end of the
 * sentence or of the bracket.
 */
const partOf = ({ tokens }: Scene, { from, to, cues }: Sentence): Sentence => {
  const first = cues[0]?.from ?? from;
  let start = first;
  const hasNumber = tokens.slice(from, first).some(({ kind }) => kind === "digits");
  while (start > from && !beginsPart(tokens, start, hasNumber)) start--;
  const opening = tokens[start]?.text ?? "";
  let end = to;
  if (OPENING.test(opening)) {
    const closing = CLOSING[opening] ?? opening;
    for (let at = start + 1; at < to; at++) {
      if (tokens[at]?.text === closing && !cues.some((cue) => cue.from > at)) {
        end = at + 1;
        break;
      }
    }
  }
  return { from: start, to: end, cues: cues.filter((cue) => cue.from < end) };
};

/** The end of a message to a model. What follows is not part of it. */
const BLOCK_CLOSED = /(?:<\/[\w-]+>|\[\/inst\]|<\|im_end\|>|-->)$/iu;

/**
 * The passages of a text that are addressed to the reading software, in order.
 * @param certain only those that can hardly be anything else
 */
export const findOrders = (scene: Scene, model: Model, certain = false): Span[] => {
  const order = model.classes.indexOf("order");
  if (order < 0 || !scene.cues.some(isAboutOrders)) return [];
  const { tokens } = scene;
  const sentences = sentencesOf(scene);
  const features = createFeatures(false);
  const probabilityOf = (all: readonly Sentence[], index: number, continues: boolean): number => {
    features.clear();
    addOrderFeatures(features, scene, all, index, continues);
    return model.probabilities(features)[order] ?? 0;
  };
  const spans: Span[] = [];
  let continues = false;
  sentences.forEach((sentence, index) => {
    const further =
      continues &&
      tokens[sentence.from]?.gap !== "line" &&
      !tokens.slice(sentence.from, sentence.to).some(({ kind, text }) => kind === "digits" || text === "@");
    const least = certain ? MIN_CERTAIN : further ? MIN_FURTHER : MIN_ORDER;
    const isWhole = isPossible(sentence, continues) && probabilityOf(sentences, index, continues) >= least;
    let found = isWhole ? sentence : null;
    if (sentence.cues.length > 0) {
      const part = partOf(scene, sentence);
      const isOther = part.from > sentence.from || part.to < sentence.to;
      if (isOther && (isWhole || probabilityOf([part], 0, false) >= (certain ? MIN_CERTAIN : MIN_PART))) found = part;
    }
    if (found !== null) spans.push(spanOf(tokens, found));
    continues = found !== null && !BLOCK_CLOSED.test(quoteOf(scene.text, spanOf(tokens, found)));
  });
  return spans;
};

/** The tags and marks between which a message to a model stands. */
const BLOCK = /<([a-z][\w-]*)[^<>]*>|\[(inst)\]|<\|im_start\|>|<!--/giu;

/** Where the block ends that a passage of a text opens: null if it opens none, or one that is not closed. */
const blockEnd = (text: string, { start, end }: Span): number | null => {
  // Only letters of ASCII, because others may have another length as small letters.
  const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let found: number | null = null;
  for (const [whole, tag, mark] of text.slice(start, end).matchAll(BLOCK)) {
    const closing = tag ? `</${tag}>` : mark ? `[/${mark}]` : whole === "<!--" ? "-->" : "<|im_end|>";
    const at = lower.indexOf(closing.toLowerCase(), start);
    if (at >= end) found = Math.max(found ?? 0, at + closing.length);
  }
  return found;
};

/** True if an order is the heading of what follows: "### New instructions". */
const isHeading = (passage: string): boolean => /^[#=*[\]]|:$/u.test(passage);

/**
 * The orders of a text with what belongs to them: the rest of a block, and the sentences that follow in the same line, or
 * below a heading, until one that states something.
 * @param states tells whether a sentence states something of what is offered or wanted
 */
export const withFurther = (scene: Scene, orders: readonly Span[], states: (sentence: Span) => boolean): Span[] => {
  const { text, tokens } = scene;
  const sentences = sentencesOf(scene).map(({ from, to }) => ({
    ...spanOf(tokens, { from, to }),
    gap: tokens[from]?.gap,
  }));
  const spans = orders.flatMap((order) => {
    const closed = blockEnd(text, order);
    const block = { start: order.start, end: closed ?? order.end };
    // Nothing follows a block.
    if (closed !== null || BLOCK_CLOSED.test(text.slice(order.start, order.end))) return [block];
    const isHead = isHeading(text.slice(order.start, order.end));
    const further: Span[] = [block];
    for (const sentence of sentences) {
      if (sentence.end <= block.end) continue;
      const between = text.slice(Math.max(block.end, further.at(-1)?.end ?? 0), sentence.start);
      const isSame = isHead ? !/\n\s*\n/u.test(between) : sentence.gap !== "line";
      if (sentence.start < block.end || !isSame || states(sentence)) break;
      further.push({ start: sentence.start, end: sentence.end });
    }
    return further;
  });
  return united(spans);
};
