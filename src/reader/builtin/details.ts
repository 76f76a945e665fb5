import type { CONDITIONS } from "../../database/enums.ts";
import { fold } from "../text/fold.ts";
import type { Span } from "../text/span.ts";
import type { Word } from "../text/tokens.ts";
import type { Hit } from "./lexicon.ts";

/** Reads the details of the thing itself: condition, space, features. */

type Condition = (typeof CONDITIONS)[number];
/** Details of a home or another space. */
export type Space = {
  area_m2: number | null;
  rooms: number | null;
  bedrooms: number | null;
  bathrooms: number | null;
  floor: number | null;
  furnished: boolean | null;
  available_from: string | null;
  pets_allowed: boolean | null;
};

const CONDITION_NAMES: ReadonlySet<string> = new Set([
  "new",
  "like_new",
  "used_good",
  "used_fair",
  "refurbished",
  "for_parts",
]);
const isCondition = (name: string): name is Condition => CONDITION_NAMES.has(name);

const NEGATIONS = new Set(
  "no not never without kein keine nicht ohne pas sans sin ni non senza nao sem geen niet zonder nie bez isn aren".split(
    " ",
  ),
);

/** Terms of another language than that of the text have a lower weight. Here they are mostly chance matches. */
const LEAST_WEIGHT = 1.5;

/** True if one of the two words before is a negation. */
const isNegated = (tokens: readonly Word[], hit: Hit): boolean => {
  for (let back = 1; back <= 2; back++) {
    if (tokens[hit.from - back + 1]?.opens) return false;
    if (NEGATIONS.has(tokens[hit.from - back]?.folded ?? "")) return true;
  }
  return false;
};

/** The condition of the thing: the term with the most weight, or the first of several with the same weight. */
export const findCondition = (tokens: readonly Word[], hits: readonly Hit[]): { value: Condition; hit: Hit } | null => {
  let best: { value: Condition; hit: Hit; score: number } | null = null;
  for (const hit of hits) {
    if (hit.family !== "condition" || hit.weight < LEAST_WEIGHT || !isCondition(hit.value) || isNegated(tokens, hit))
      continue;
    const score = hit.weight * (1 + 0.3 * (hit.to - hit.from));
    if (best === null || score > best.score) best = { value: hit.value, hit, score };
  }
  return best;
};

/** The longest list that an extraction may hold. */
const MOST_FEATURES = 20;

/** Features in the words of the text, each once. */
export const findFeatures = (
  text: string,
  tokens: readonly Word[],
  hits: readonly Hit[],
): { value: string; span: Span }[] => {
  const features: { value: string; span: Span }[] = [];
  const seen = new Set<string>();
  for (const hit of hits) {
    if (hit.family !== "feature" || hit.weight < LEAST_WEIGHT || seen.has(hit.term) || isNegated(tokens, hit)) continue;
    seen.add(hit.term);
    const span = { start: tokens[hit.from]?.start ?? 0, end: tokens[hit.to - 1]?.end ?? 0 };
    features.push({ value: text.slice(span.start, span.end).replace(/\s+/gu, " ").slice(0, 80), span });
    if (features.length === MOST_FEATURES) break;
  }
  return features;
};

const SQUARE_FEET = 0.09290304;
const SQUARE_METRES_AN_ACRE = 4046.86;

const NUMBER = String.raw`(\d{1,3}(?:[.,  ]\d{3}){1,2}|\d{1,6}(?:[.,]\d{1,2})?)`;

/**
 * Patterns for numbers with their unit, in folded text. All repetitions are bounded, so that none can backtrack far.
 */
const AREA = new RegExp(
  String.raw`(?<![\d.,])${NUMBER}\s?(?:(m2|m²|qm|mq|sqm|sq m|m\^2|metres carres|metros cuadrados|metri quadri|metros quadrados|mkw)|(sq\.? ?ft|sqft|square feet|sf|ft2|ft²)|(ha|hectares?|hektar)|(acres?))(?![a-z\d])`,
  "u",
);
const ROOMS =
  /(?<![\d.,])(\d{1,2}(?:[.,]5)?)\s?-?\s?(?:zimmer|zi\b|zkb|raum|pieces|rooms?\b|ambientes|locali|assoalhadas|kamers?\b|pokoje|pokoi|pokojowe|kamer)/u;
const TYPOLOGY = /(?<![a-z\d])([tf])([0-6])(?![a-z\d])/u;
const BEDROOMS =
  /(?<![\d.,])(\d{1,2})\s?-?\s?(?:br|bd|beds?|bedrooms?|bdrm|schlafzimmer|chambres|habitaciones|dormitorios|camere da letto|quartos|slaapkamers?|sypialnie|sypialni)(?![a-z])/u;
const BATHROOMS =
  /(?<![\d.,])(\d{1,2})\s?-?\s?(?:ba|baths?|bathrooms?|bader|badezimmer|banos?|bagni|salles de bain|banheiros?|casas de banho|badkamers?|lazienki)(?![a-z])/u;
const FLOOR =
  /(?<![\d.,])(\d{1,2})(?:st|nd|rd|th|\.|e|er|eme|o|a|º|ª)?\s?(?:og\b|stock\b|obergeschoss|floor|etage|andar|planta|piso\b|piano\b|verdieping|pietro|pietrze)/u;
const GROUND_FLOOR =
  /(?<![a-z])(?:ground floor|erdgeschoss|eg|rez de chaussee|planta baja|piano terra|res do chao|begane grond|parter)(?![a-z])/u;
const UNFURNISHED =
  /(?<![a-z])(?:unfurnished|unmobliert|non meuble|sin muebles|sin amueblar|non arredato|sem mobilia|ongemeubileerd|nieumeblowane)(?![a-z])/u;
const FURNISHED =
  /(?<![a-z])(?:(?:fully |part |partly )?furnished|mobliert\w{0,2}|vollmobliert|meublee?s?|amueblad[oa]s?|arredat[oa]|mobilad[oa]s?|gemeubileerd|umeblowan\w)(?![a-z])/u;
const PETS =
  /(?<![a-z])(?:(no pets?|no dogs?|keine haustiere|pas d.animaux|no mascotas|sin mascotas|no animali|sem animais|geen huisdieren|bez zwierzat)|((?:pets?|cats?|dogs?) (?:ok|okay|welcome|allowed|friendly|considered)|pet.friendly|haustiere (?:erlaubt|willkommen|ok)|animaux acceptes|chiens? acceptes?|mascotas permitidas|se admiten mascotas|animali ammessi|aceita animais|huisdieren toegestaan|zwierzeta mile widziane))(?![a-z])/u;
const ISO_DAY = /(?<!\d)(20\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?!\d)/u;

/**
 * Folds a text without changing its length, so that matches have the same offsets in the text. A character that folds
 * to several letters keeps only the first.
 */
const foldInPlace = (text: string): string => {
  let folded = "";
  for (const unit of text) {
    const one = fold(unit);
    folded += one.length === unit.length ? one : unit.length === 1 ? one.charAt(0) || " " : "  ".slice(0, unit.length);
  }
  return folded;
};

const numeric = (written: string): number => {
  const compact = written.replace(/[ {2}]/g, "");
  const thousands = /^\d{1,3}(?:[.,]\d{3})+$/.test(compact);
  return Number(thousands ? compact.replace(/[.,]/g, "") : compact.replace(",", "."));
};

/**
 * Reads rooms, areas and the like. Null if the text states none. `span` reaches from the first statement to the end of
 * the last.
 */
export const findSpace = (text: string): { value: Space; span: Span } | null => {
  const folded = foldInPlace(text);
  const value: Space = {
    area_m2: null,
    rooms: null,
    bedrooms: null,
    bathrooms: null,
    floor: null,
    furnished: null,
    available_from: null,
    pets_allowed: null,
  };
  const spans: Span[] = [];
  const find = (pattern: RegExp): RegExpExecArray | null => {
    const match = pattern.exec(folded);
    if (match !== null) spans.push({ start: match.index, end: match.index + match[0].length });
    return match;
  };
  const area = find(AREA);
  if (area?.[1] !== undefined) {
    const factor = area[3] ? SQUARE_FEET : area[4] ? 10_000 : area[5] ? SQUARE_METRES_AN_ACRE : 1;
    value.area_m2 = Math.round(numeric(area[1]) * factor * 10) / 10;
  }
  const rooms = find(ROOMS);
  if (rooms?.[1] !== undefined) value.rooms = numeric(rooms[1]);
  const bedrooms = find(BEDROOMS);
  if (bedrooms?.[1] !== undefined) value.bedrooms = Number(bedrooms[1]);
  const typology = value.rooms === null && value.bedrooms === null ? find(TYPOLOGY) : null;
  // "T2" and "F2" are read as the number of rooms, as in France. In Portugal "T2" counts bedrooms; this is not
  // distinguished here.
  if (typology?.[2] !== undefined) value.rooms = Number(typology[2]);
  const bathrooms = find(BATHROOMS);
  if (bathrooms?.[1] !== undefined) value.bathrooms = Number(bathrooms[1]);
  const floor = find(FLOOR);
  if (floor?.[1] !== undefined) value.floor = Number(floor[1]);
  else if (find(GROUND_FLOOR)) value.floor = 0;
  if (find(UNFURNISHED)) value.furnished = false;
  else if (find(FURNISHED)) value.furnished = true;
  const pets = find(PETS);
  if (pets !== null) value.pets_allowed = pets[1] === undefined;
  const day = find(ISO_DAY);
  if (day !== null) value.available_from = day[0];
  const first = spans.toSorted((a, b) => a.start - b.start);
  const start = first[0]?.start;
  if (start === undefined) return null;
  return { value, span: { start, end: Math.max(...first.map((one) => one.end)) } };
};
