import { type ContactType, NUMBER_TYPES } from "../../base/enums.ts";
import { type ContactCandidate, type ContactHints, findContacts } from "../propose/contacts.ts";
import { isApp, isProfile } from "../propose/profiles.ts";
import { overlaps, quoteOf, type Span } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";
import type { Judged, Training } from "../training/linear.ts";
import type { Mark } from "../training/marks.ts";
import { type Discourse, discourseOf } from "./contact_discourse.ts";
import { preferredAmong, type Reachable } from "./contact_preferred.ts";
import { addContactFeatures } from "./contact_role.ts";
import { addTypeFeatures, isPossible, type NumberType } from "./contact_type.ts";
import type { Scene } from "./context.ts";
import { createFeatures } from "./features.ts";
import type { Model } from "./model.ts";

/**
 * Judges the contacts of a text: which of the numbers, addresses and links that were found reach the author, how a number
 * may be used, and which contact the text prefers.
 */

/** The names of the models. */
export const CONTACT_MODELS = ["contact_role", "contact_type"] as const;
export type ContactModels = Readonly<Record<(typeof CONTACT_MODELS)[number], Model>>;

/** How the models are trained, by the results on held-out texts. */
export const CONTACT_TRAINING: Readonly<Record<(typeof CONTACT_MODELS)[number], Training>> = {
  contact_role: { passes: 12, rate: 0.05, leastExamples: 3, leastUnits: 1 },
  contact_type: { passes: 12, rate: 0.05 },
};

/** Longer values are no contacts: the longest link has so many characters. */
const LONGEST_VALUE = 2048;

/** A text with more possible contacts is a list of something. They are compared with each other, which takes time. */
const MAX_CANDIDATES = 40;

/** The candidates of a text without those inside orders to the reading software. */
const contactCandidates = (scene: Scene, hints: ContactHints, orders: readonly Span[] = []): ContactCandidate[] => {
  const all = findContacts(scene.text, scene.tokens, hints)
    .filter(({ value }) => value.length <= LONGEST_VALUE)
    .slice(0, MAX_CANDIDATES);
  return orders.length === 0 ? all : all.filter((one) => !orders.some((order) => overlaps(order, one)));
};

const ROLES: ReadonlySet<string> = new Set(["contact", "refused", "other"]);

/** What a labelled text teaches about contacts. */
export type ContactLesson = { contact_role: Judged[]; contact_type: Judged[] };

/** What a labelled text teaches about contacts. */
export const learnContacts = (scene: Scene, marks: readonly Mark[], hints: ContactHints): ContactLesson => {
  const orders = marks.filter(({ role }) => role === "order");
  const candidates = contactCandidates(scene, hints, orders);
  const discourse = discourseOf(scene, candidates);
  const lesson: ContactLesson = { contact_role: [], contact_type: [] };
  candidates.forEach((candidate, index) => {
    const mark = marks.find((one) => ROLES.has(one.role) && overlaps(one, candidate));
    const features = createFeatures(true);
    addContactFeatures(features, scene, discourse, candidates, index);
    lesson.contact_role.push({ features, name: mark?.role ?? "none" });
    if (mark?.role !== "contact" || candidate.kind !== "number") return;
    const types = (mark.args[0] ?? "").split(",") as ContactType[];
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
  });
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
const MIN_CONTACT = 0.5;

/** A number is of a type from this probability on. */
const MIN_TYPE = 0.5;

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
    return probability >= MIN_TYPE;
  });
  return types.length > 0 ? types : [likeliest];
};

/** "Photos at instagram.com/jo": words in its clause, other than names of apps, say that a link shows work or is another's. */
const isAboutElse = (
  tokens: readonly Token[],
  { cues, clauses: { clause } }: Discourse,
  { from }: ContactCandidate,
): boolean =>
  cues.some(
    ({ concept: { text }, from: at }) =>
      (text === "contact_showcase" || text === "contact_third") &&
      clause[at] === clause[from] &&
      !isApp(tokens[at]?.text ?? ""),
  );

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
  const found: (Reachable & { confidence: number })[] = [];
  candidates.forEach((candidate, index) => {
    if (found.length >= MAX_CONTACTS) return;
    features.clear();
    addContactFeatures(features, scene, discourse, candidates, index);
    const chances = models.contact_role.probabilities(features);
    const chance = (role: string): number => chances[models.contact_role.classes.indexOf(role)] ?? 0;
    // A link to somebody at an app is a contact, unless it shows something, is another's, or is not to be used.
    const isOwn = isProfile(candidate.value) && !isAboutElse(scene.tokens, discourse, candidate);
    const confidence = isOwn ? 1 - chance("refused") : chance("contact");
    if (confidence < MIN_CONTACT) return;
    for (const type of typesOf(scene, discourse, candidates, index, models.contact_type)) {
      const isSaid = found.some((one) => one.type === type && one.candidate.value === candidate.value);
      if (!isSaid && found.length < MAX_CONTACTS) found.push({ candidate, type, confidence });
    }
  });
  if (found.length === 0) return [];
  // One contact is not preferred to any other.
  const preferred = found.length < 2 ? -1 : preferredAmong(scene.tokens, discourse, found);
  return found.map(({ candidate, type, confidence }, index) => ({
    type,
    value: candidate.value,
    preferred: index === preferred,
    quote: quoteOf(scene.text, candidate),
    span: { start: candidate.start, end: candidate.end },
    confidence,
  }));
};
