import type { ContactType } from "../../base/enums.ts";
import { type ContactCandidate, type ContactHints, findContacts } from "../find/contacts.ts";
import { overlaps, quoteOf, type Span } from "../text/span.ts";
import { type Discourse, discourseOf } from "./contact_discourse.ts";
import { addPreferenceFeatures } from "./contact_preferred.ts";
import { addContactFeatures } from "./contact_role.ts";
import { type Reachable, speechOf } from "./contact_speech.ts";
import { addTypeFeatures, isPossible, NUMBER_TYPES, type NumberType, WAY_OF_TYPE } from "./contact_type.ts";
import type { Scene } from "./context.ts";
import { createFeatures } from "./features.ts";
import type { Judged, Ranked, Training } from "./learn.ts";
import type { Mark } from "./marks.ts";
import { chances, type Model } from "./model.ts";

/**
 * Judges the contacts of a text: which of the numbers, addresses and links that were found reach the author, how a number
 * may be used, and which contact the text prefers.
 */

/** The names of the models. */
export const CONTACT_MODELS = ["contact_role", "contact_type", "contact_preferred"] as const;
export type ContactModels = Readonly<Record<(typeof CONTACT_MODELS)[number], Model>>;

/** How the models are trained, by the results on held-out texts. */
export const CONTACT_TRAINING: Readonly<Record<(typeof CONTACT_MODELS)[number], Training>> = {
  contact_role: { passes: 12, rate: 0.05, leastExamples: 3, leastUnits: 1 },
  contact_type: { passes: 12, rate: 0.05 },
  contact_preferred: { passes: 12, rate: 0.04, leastExamples: 4, leastUnits: 1 },
};

/** Longer values are no contacts: the longest link has so many characters. */
const LONGEST_VALUE = 2048;

/** A text with more possible contacts is a list of something. They are compared with each other, which takes time. */
const MOST_CANDIDATES = 40;

/** The candidates of a text without those inside orders to the reading software. */
const contactCandidates = (scene: Scene, hints: ContactHints, orders: readonly Span[] = []): ContactCandidate[] => {
  const all = findContacts(scene.text, scene.tokens, hints)
    .filter(({ value }) => value.length <= LONGEST_VALUE)
    .slice(0, MOST_CANDIDATES);
  return orders.length === 0 ? all : all.filter((one) => !orders.some((order) => overlaps(order, one)));
};

const ROLES: ReadonlySet<string> = new Set(["contact", "refused", "other"]);

/** What a labelled text teaches about contacts. */
export type ContactLesson = { contact_role: Judged[]; contact_type: Judged[]; contact_preferred: Ranked[] };

/** What a labelled text teaches about contacts. */
export const learnContacts = (scene: Scene, marks: readonly Mark[], hints: ContactHints): ContactLesson => {
  const orders = marks.filter(({ role }) => role === "order");
  const candidates = contactCandidates(scene, hints, orders);
  const discourse = discourseOf(scene, candidates);
  const lesson: ContactLesson = { contact_role: [], contact_type: [], contact_preferred: [] };
  const reachable: Reachable[] = [];
  let right = -1;
  candidates.forEach((candidate, index) => {
    const mark = marks.find((one) => ROLES.has(one.role) && overlaps(one, candidate));
    const features = createFeatures(true);
    addContactFeatures(features, scene, discourse, candidates, index);
    lesson.contact_role.push({ features, name: mark?.role ?? "none" });
    if (mark?.role !== "contact") return;
    const types = (mark.args[0] ?? "").split(",") as ContactType[];
    if (mark.args.includes("preferred")) right = reachable.length;
    if (candidate.kind !== "number") {
      reachable.push({ candidate, type: types[0] ?? "email" });
      return;
    }
    // A label that says more than its text teaches nothing.
    const isTold = types.every(
      (type) => (NUMBER_TYPES as readonly string[]).includes(type) && isPossible(type as NumberType, discourse),
    );
    for (const type of NUMBER_TYPES) {
      if (!isTold || !isPossible(type, discourse)) continue;
      const told = createFeatures(true);
      addTypeFeatures(told, scene, discourse, candidates, index, type);
      lesson.contact_type.push({ features: told, name: types.includes(type) ? "yes" : "no" });
    }
    for (const type of types) reachable.push({ candidate, type });
    // "WhatsApp rather than calls: 0171 ..." also teaches which of two ways of one number is meant.
    if (right >= 0 && mark.args.includes("preferred"))
      for (const type of NUMBER_TYPES)
        if (!types.includes(type) && discourse.ways.includes(WAY_OF_TYPE[type]) && types.length === 1)
          reachable.push({ candidate, type });
  });
  if (reachable.length > 0) {
    const speech = speechOf(scene, discourse, reachable);
    const compared = reachable.map((_, index) => {
      const features = createFeatures(true);
      addPreferenceFeatures(features, scene, discourse, speech, index);
      return features;
    });
    lesson.contact_preferred.push({ candidates: compared, right });
  }
  return lesson;
};

/** A contact that reaches the author. */
export type ContactRead = {
  type: ContactType;
  value: string;
  preferred: boolean;
  quote: string;
  span: Span;
  confidence: number;
};

/** How many contacts an extraction may hold. */
const MAX_CONTACTS = 10;

/**
 * A candidate of lower probability is no contact. Chosen on held-out texts such that texts without a contact are refused
 * and few others are.
 */
const LEAST_CONTACT = 0.5;

/** A contact of lower probability is not preferred. Chosen on held-out texts, as above. */
const LEAST_PREFERRED = 0.27;

/** A number is of a type from this probability on. */
const LEAST_TYPE = 0.5;

const typesOf = (
  scene: Scene,
  discourse: Discourse,
  candidates: readonly ContactCandidate[],
  index: number,
  model: Model,
): ContactType[] => {
  const kind = candidates[index]?.kind ?? "number";
  if (kind !== "number") return [kind];
  const yes = model.classes.indexOf("yes");
  const features = createFeatures(false);
  let likeliest: NumberType = "phone";
  let most = 0;
  const types = NUMBER_TYPES.filter((type) => {
    if (!isPossible(type, discourse)) return false;
    features.clear();
    addTypeFeatures(features, scene, discourse, candidates, index, type);
    const probability = model.probabilities(features)[yes] ?? 0;
    if (probability > most) {
      most = probability;
      likeliest = type;
    }
    return probability >= LEAST_TYPE;
  });
  return types.length > 0 ? types : [likeliest];
};

/** The index of the contact that a text prefers; -1 if it prefers none. */
const preferredAmong = (scene: Scene, discourse: Discourse, reachable: readonly Reachable[], model: Model): number => {
  const speech = speechOf(scene, discourse, reachable);
  const features = createFeatures(false);
  const probabilities = chances(
    reachable.map((_, index) => {
      features.clear();
      addPreferenceFeatures(features, scene, discourse, speech, index);
      return model.score(features);
    }),
  );
  let best = 0;
  reachable.forEach((_, index) => {
    if ((probabilities[index] ?? 0) > (probabilities[best] ?? 0)) best = index;
  });
  return (probabilities[best] ?? 0) < LEAST_PREFERRED ? -1 : best;
};

/** The contacts of a text that reach the author, in order, at most ten. At most one is preferred. */
export const readContacts = (
  scene: Scene,
  models: ContactModels,
  hints: ContactHints,
  orders: readonly Span[] = [],
): ContactRead[] => {
  const candidates = contactCandidates(scene, hints, orders);
  if (candidates.length === 0) return [];
  const discourse = discourseOf(scene, candidates);
  const features = createFeatures(false);
  const contact = models.contact_role.classes.indexOf("contact");
  const found: (Reachable & { confidence: number })[] = [];
  candidates.forEach((candidate, index) => {
    if (found.length >= MAX_CONTACTS) return;
    features.clear();
    addContactFeatures(features, scene, discourse, candidates, index);
    const confidence = models.contact_role.probabilities(features)[contact] ?? 0;
    if (confidence < LEAST_CONTACT) return;
    for (const type of typesOf(scene, discourse, candidates, index, models.contact_type)) {
      const isSaid = found.some((one) => one.type === type && one.candidate.value === candidate.value);
      if (!isSaid && found.length < MAX_CONTACTS) found.push({ candidate, type, confidence });
    }
  });
  if (found.length === 0) return [];
  // One contact is not preferred to any other.
  const preferred = found.length < 2 ? -1 : preferredAmong(scene, discourse, found, models.contact_preferred);
  return found.map(({ candidate, type, confidence }, index) => ({
    type,
    value: candidate.value,
    preferred: index === preferred,
    quote: quoteOf(scene.text, candidate),
    span: { start: candidate.start, end: candidate.end },
    confidence,
  }));
};
