import type { Hit } from "./lexicon.ts";
import type { Token } from "./tokens.ts";

/** What the terms of a text say: how much for each category and domain, how much for each kind. */

/**
 * Words before a thing that make it an aside: "case for an iPhone", "with a desk", "no phone".
 * Between a word of the kind and the thing they mean nothing ("looking for a plumber").
 */
const ASIDE = new Set(
  `for with w incl includes included including plus without from near fits like mit inkl inklusive fur ohne samt neben
  avec pour sans pres inclus con para sin per senza com sem incluye inclui met voor zonder inclusief z ze dla bez od oraz
  on to at zum zur beim au aux contre tegen into off and und et y e en i`.split(/\s+/),
);
const NEGATION = new Set(
  "no not kein keine keinen nicht pas ni non nao geen niet nie never don isn without ohne".split(" "),
);

const ASIDE_FACTOR = 0.55;
const NEGATED_FACTOR = 0.2;

/** How far a thing is heard: the first words name it, later ones describe it. Counted in words. */
const FADING = 16;
const NEAREST = 2;
const FARTHEST = 0.3;

/** A thing named right after a word of the kind ("selling my", "suche") counts as if it stood at the start. */
const AFTER_KIND = 6;
const AFTER_KIND_BONUS = 0.8;
const LEAST_CUE = 2;

/** A term that comes again says little new. */
const REPEATED = 0.15;

/** A score per name, with the hit that gave most to it. */
export type Tally = Map<string, { score: number; best: Hit; most: number; gifts: number[] }>;

/** Each further word for the same thing counts this much of the one before, strongest first: a list is not an argument. */
const NEXT = 0.6;

const give = (tally: Tally, name: string, score: number, hit: Hit): void => {
  const entry = tally.get(name) ?? { score: 0, best: hit, most: 0, gifts: [] };
  tally.set(name, entry);
  entry.gifts.push(score);
  if (score > entry.most) {
    entry.most = score;
    entry.best = hit;
  }
};

const sum = (tally: Tally): Tally => {
  for (const entry of tally.values()) {
    entry.score = entry.gifts.toSorted((a, b) => b - a).reduce((total, gift, order) => total + gift * NEXT ** order, 0);
  }
  return tally;
};

/** Whether and how a hit is an aside, by the words before it. */
const contextOf = (tokens: readonly Token[], hit: Hit, isCue: (at: number) => boolean): number => {
  for (let back = 1; back <= 2; back++) {
    const at = hit.from - back;
    const token = tokens[at];
    if (token === undefined || tokens[at + 1]?.opens) return 1;
    if (isCue(at)) return 1;
    if (NEGATION.has(token.folded)) return NEGATED_FACTOR;
    if (ASIDE.has(token.folded)) return ASIDE_FACTOR;
  }
  return 1;
};

/** Between a thing and its complement in the languages that put it after: "cours de piano", "repair of bikes". */
const OF = new Set("of de du des d di del della dello dei degli delle do da dos das van von".split(" "));

/** What says what another thing is for or of counts this much: a "camera bag" is a bag, a "house move" no house. */
const MODIFIER_FACTOR = 0.4;

/** A word of less weight is no head: "sofa set". */
const LEAST_HEAD = 1.5;

/** Languages in which the last of several nouns is the thing. */
const HEAD_LAST: ReadonlySet<string | null> = new Set(["en", "de", "nl", null]);

/** The terms that only say more of the thing that the next or the last one names. */
const findModifiers = (tokens: readonly Token[], things: readonly Hit[], language: string | null): Set<Hit> => {
  const modifiers = new Set<Hit>();
  const starting = Map.groupBy(things, (hit) => hit.from);
  for (const hit of things) {
    const joined = tokens[hit.to];
    if (joined === undefined || joined.opens || !/^[\s'’-]+$/u.test(joined.before)) continue;
    const heads = HEAD_LAST.has(language) ? (starting.get(hit.to) ?? []) : [];
    if (heads.some((head) => head.weight >= LEAST_HEAD) && heads.every((head) => head.value !== hit.value))
      modifiers.add(hit);
    if (!OF.has(joined.folded) || hit.weight < LEAST_HEAD) continue;
    for (const over of [1, 2]) {
      const complements = starting.get(hit.to + over) ?? [];
      if (complements.every((one) => one.value !== hit.value)) for (const one of complements) modifiers.add(one);
    }
  }
  return modifiers;
};

/** Evidence for categories ("domain/category") and domains. */
export const weighThings = (
  tokens: readonly Token[],
  hits: readonly Hit[],
  cueFamily: "kind" | "ask_kind",
  language: string | null,
): Tally => {
  const tally: Tally = new Map();
  const cues = hits.filter((hit) => hit.family === cueFamily && hit.weight >= LEAST_CUE);
  const cueAt = new Set<number>();
  for (const cue of cues) for (let at = cue.from; at < cue.to; at++) cueAt.add(at);
  const afterCue = (at: number): boolean => {
    for (let back = at - 1; back >= 0 && back >= at - AFTER_KIND; back--) {
      if (cueAt.has(back)) return !/[,(;]/.test(tokens[back + 1]?.before ?? "");
      if (tokens[back + 1]?.opens || /[,(;]/.test(tokens[back + 1]?.before ?? "")) return false;
    }
    return false;
  };
  const seen = new Set<string>();
  const things = hits.filter((hit) => hit.family === "category" || hit.family === "domain");
  const modifiers = findModifiers(tokens, things, language);
  for (const hit of things) {
    const key = `${hit.value} ${hit.term}`;
    const nearness = FARTHEST + (NEAREST - FARTHEST) * Math.exp(-hit.from / FADING);
    const factor =
      (nearness + (afterCue(hit.from) ? AFTER_KIND_BONUS : 0)) *
      contextOf(tokens, hit, (at) => cueAt.has(at)) *
      (modifiers.has(hit) ? MODIFIER_FACTOR : 1);
    give(tally, hit.value, hit.weight * factor * (seen.has(key) ? REPEATED : 1), hit);
    seen.add(key);
  }
  return sum(tally);
};

/** What before a word of the kind says that it is another: "not selling", "rent rather than buy". */
const OTHERWISE = new Set(
  `not no never kein keine nicht pas non nao niet geen nie than instead statt anstatt lieu vez inves invece anziche
  zamiast plaats isn don`.split(/\s+/),
);
const OTHERWISE_REACH = 2;

/** Whether the words before a word of the kind turn it round. */
const isDenied = (tokens: readonly Token[], hit: Hit): boolean => {
  for (let at = hit.from - 1; at >= Math.max(0, hit.from - OTHERWISE_REACH); at--) {
    if (tokens[at + 1]?.opens || /[,(]/.test(tokens[at + 1]?.before ?? "")) return false;
    if (OTHERWISE.has(tokens[at]?.folded ?? "")) return true;
  }
  return false;
};

/** Evidence for kinds. */
export const weighKinds = (tokens: readonly Token[], hits: readonly Hit[], family: "kind" | "ask_kind"): Tally => {
  const tally: Tally = new Map();
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== family || isDenied(tokens, hit)) continue;
    const key = `${hit.value} ${hit.term}`;
    const factor = 0.5 + 0.7 * Math.exp(-hit.from / FADING);
    give(tally, hit.value, hit.weight * factor * (seen.has(key) ? REPEATED : 1), hit);
    seen.add(key);
  }
  return sum(tally);
};
