import type { Weights } from "../extraction.ts";
import { CONTACT_MODELS } from "./contacts.ts";
import { type Model, UNTRAINED, useWeights } from "./model.ts";
import { ORDER_MODELS } from "./orders.ts";
import { PLACE_MODELS } from "./place.ts";
import { PRICE_MODELS } from "./price.ts";
import { TITLE_MODELS } from "./title.ts";

/** The models of all judges. */

/** The names of the models. */
const JUDGES = [...ORDER_MODELS, ...PLACE_MODELS, ...PRICE_MODELS, ...CONTACT_MODELS, ...TITLE_MODELS] as const;
/** The name of a model. */
export type JudgeName = (typeof JUDGES)[number];
/** The models, ready for use. */
export type Judges = Readonly<Record<JudgeName, Model>>;

/** Makes trained models ready for use. A model that was not trained yet finds nothing. */
export const useJudges = (learned: Readonly<Partial<Record<string, Weights>>>): Judges =>
  Object.fromEntries(JUDGES.map((name) => [name, useWeights(learned[name] ?? UNTRAINED)])) as Record<JudgeName, Model>;
