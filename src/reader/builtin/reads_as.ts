import { sentenceEnd } from "../decide/context.ts";
import { bucket, createFeatures, type Features } from "../decide/features.ts";
import type { Model } from "../decide/model.ts";
import { type Span, spanOf } from "../text/span.ts";
import type { Annotations } from "./annotate.ts";
import type { AskKind, OfferKind } from "./classify.ts";
import { addEvidence, addWords, HALF_SCORE, T } from "./features.ts";
import { weighKinds } from "./weigh.ts";

/**
 * Decides whether a text asks for something or offers something, whatever it was sent as. Two things have to agree: the
 * text says it ("Gesucht", "for sale"), and a classifier of the whole text takes it so. The database decides what
 * happens then (`reading.reads_as`).
 */

/** What the author of a text does, as far as words can tell it from the others. */
const ROLES = ["acquires", "orders", "offers", "parts_with", "employs", "meets"] as const;
type Role = (typeof ROLES)[number];

/**
 * The role of the author of a labelled text; null if the text may be either. Who meets people does so in an ask as in an
 * offer. Who "would like to sell" (`parts_with`) asks in other words than an advertisement.
 */
export const roleOf = (kind: AskKind | OfferKind | (string & {}), isAsk: boolean): Role | null => {
  switch (kind) {
    case "buy":
    case "rent":
      return "acquires";
    case "hire":
      return "orders";
    case "sell":
    case "lease_out":
    case "offer_service":
      return "parts_with";
    case "project_hire":
      return "employs";
    case "dating":
    case "friendship":
      return "meets";
    default:
      return isAsk ? null : "offers";
  }
};

/** The cues by which a text says that it asks or offers. */
const SAYS = { ask: "says_wanted", offer: "says_offered" } as const;

/** The cue by which a text says that it seeks somebody who takes what it offers: a flatmate, a new owner. */
const TAKER = "says_taker";

/** A cue among so many first tokens is the first thing that the text says. */
const OPENING = 3;

/** The features by which the roles are told apart. */
export const roleFeatures = (annotations: Annotations, named: boolean): Features => {
  const { tokens, words, hits, is, cues, isHidden } = annotations;
  const features = createFeatures(named);
  addWords(features, annotations);
  addEvidence(features, weighKinds(words, hits, "kind", is), T.kind, HALF_SCORE.kinds);
  addEvidence(features, weighKinds(words, hits, "ask_kind", is), T.askKind, HALF_SCORE.kinds);
  for (const name of [...Object.values(SAYS), TAKER]) {
    const first = cues.find(({ concept, from }) => concept.text === name && !isHidden(from));
    if (first === undefined) continue;
    features.add(T.says, bucket(name), bucket(first.from < OPENING ? "first" : "later"));
    // "Looking for a bike? We have some": it is the reader who looks.
    const end = sentenceEnd(annotations, first.to);
    if (tokens[end - 1]?.text === "?") features.add(T.says, bucket(name), bucket("asked"));
  }
  return features;
};

/** What a text reads as, and the words that say so. */
export type ReadsAs = { value: "ask" | "offer"; confidence: number; span: Span };

/**
 * Who orders a service says it in the same words as who employs somebody, and an employer offers. So such a text counts a
 * little less as one that asks, and not at all if it is filed under work or under people.
 */
const ORDERING = 0.9;
const SEEKING_PEOPLE: ReadonlySet<string> = new Set(["project_hire", "dating", "friendship"]);

/** Who offers to work may say it in an ask: it finds those who hire. */
const WORKING: ReadonlySet<string> = new Set(["offer_service"]);

/** A less probable reading is none. */
const LEAST = 0.5;

/**
 * Returns what a text reads as; null if it does not say so.
 * @param kind the kind that the text has as what it was sent as
 */
export const readsAs = (annotations: Annotations, model: Model, kind: string | null): ReadsAs | null => {
  const { tokens, cues, isHidden } = annotations;
  const probabilities = model.probabilities(roleFeatures(annotations, false));
  const chance = (role: Role): number => probabilities[model.classes.indexOf(role)] ?? 0;
  const chances = {
    ask: chance("acquires") + (SEEKING_PEOPLE.has(kind ?? "") ? 0 : ORDERING * chance("orders")),
    offer: WORKING.has(kind ?? "") ? 0 : chance("offers"),
  };
  const value = chances.ask > chances.offer ? "ask" : "offer";
  const cue = cues.find(({ concept, from }) => concept.text === SAYS[value] && !isHidden(from));
  const confidence = Math.round(chances[value] * 100) / 100;
  return cue === undefined || confidence < LEAST ? null : { value, confidence, span: spanOf(tokens, cue) };
};
