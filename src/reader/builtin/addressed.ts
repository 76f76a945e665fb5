import { type Scene, sceneOf } from "../decide/context.ts";
import { findOrders, withFurther } from "../decide/orders.ts";
import { undisguised } from "../text/disguise.ts";
import { overlaps, type Span, spanOf, united } from "../text/span.ts";
import { type Annotations, annotate } from "./annotate.ts";
import type { Knowledge } from "./knowledge.ts";

/** Annotates a text, and finds what in it is addressed to software: as it is written, in disguise, and in its links. */

/** Words that marks part, as in the path and query of a link. */
const wordsOf = (address: string): string => {
  const encoded = address.replace(/^[a-z]+:\/\/[^/?#]*/iu, "").replaceAll("+", " ");
  let plain = encoded;
  try {
    plain = decodeURIComponent(encoded);
  } catch {
    // A sign of percent that encodes nothing.
  }
  return plain
    .replace(/@.*/su, "")
    .replace(/[^\p{L}\p{N}:]+/gu, " ")
    .trim();
};

/** Fewer words than these give no order. */
const MIN_WORDS = 3;

/** The passages of a text that are orders by themselves. */
const ordersIn = ({ cues, judges }: Knowledge, scene: Scene, certain: boolean): Span[] => {
  const plain = undisguised(scene.text);
  const hidden = plain === null ? [] : findOrders(sceneOf(plain.text, cues), judges.order, certain).map(plain.originOf);
  return united([...findOrders(scene, judges.order, certain), ...hidden]);
};

/** True if words are an order to software by themselves, wherever they stand. */
export const isOrder = (knowledge: Knowledge, words: string): boolean =>
  ordersIn(knowledge, sceneOf(words, knowledge.cues), false).length > 0;

/** Makes a function that leaves out of words what can hardly be anything but an order to software: […] stands there. */
export const orderRemover = (knowledge: Knowledge): ((words: string) => string) => {
  return (words) => {
    let at = 0;
    const kept: string[] = [];
    for (const { start, end } of ordersIn(knowledge, sceneOf(words, knowledge.cues), true)) {
      kept.push(words.slice(at, start));
      at = end;
    }
    return [...kept, words.slice(at)].join("[…]");
  };
};

/** The families of terms that describe a thing. */
const STATING: ReadonlySet<string> = new Set(["category", "condition", "feature"]);

/** Whether a passage states a thing, its condition, a place, a number or a contact. */
const statesOf = ({ words, hits, placeHits, tokens, addresses }: Annotations): ((passage: Span) => boolean) => {
  const stated: readonly Span[] = [
    ...hits.filter(({ family }) => STATING.has(family)).map((hit) => spanOf(words, hit)),
    ...placeHits.map((hit) => spanOf(tokens, hit)),
    ...tokens.filter(({ kind }) => kind === "digits"),
    ...addresses,
  ];
  return (passage) => stated.some((one) => overlaps(one, passage));
};

/**
 * What is left out of a text. `certain`: only passages that can hardly be anything but orders. `known`: these passages,
 * too.
 */
export type Leaving = { certain?: boolean; known?: readonly Span[] };

/** Annotates a text without the passages that are addressed to software. */
export const annotateText = (
  knowledge: Knowledge,
  text: string,
  { certain = false, known = [] }: Leaving = {},
): Annotations => {
  const scene = sceneOf(text, knowledge.cues);
  const orders = united([...ordersIn(knowledge, scene, certain), ...known]);
  const annotations = annotate(knowledge, scene, orders);
  const links = annotations.addresses.filter(({ start, end }) => {
    const words = wordsOf(text.slice(start, end));
    return words.split(" ").length >= MIN_WORDS && isOrder(knowledge, words);
  });
  if (orders.length + links.length === 0) return annotations;
  return annotate(knowledge, scene, united([...withFurther(scene, orders, statesOf(annotations)), ...links]));
};
