import { languagesOf } from "../languages.ts";
import type { Token } from "../text/tokens.ts";
import { isCurrencyOf, type Marker } from "./currencies.ts";
import type { Gazetteer, Point } from "./gazetteer.ts";
import { areNeighbours, type PlaceHit } from "./places.ts";

/**
 * Says which places the names of a location mean: Perth in Australia or in Scotland, Ehrenfeld in Köln. Size decides,
 * unless the text says more: another place in the location or the text, the currency, a phone number, the language.
 */

/** What the rest of a text says about the country. */
export type PlaceHints = {
  /** The other names of places in the text. */
  others?: readonly PlaceHit[];
  /** As it is written: "$" suggests all countries with dollars or pesos. */
  currency?: Marker | null;
  /** The countries of its phone numbers, ISO 3166-1 alpha-2. */
  phoneCountries?: readonly string[];
  /** ISO 639-1. */
  language?: string | null;
};

/** The place that a location means. Null where the location does not say it. */
export type ResolvedPlace = {
  /** The id of the most exact place, as in the gazetteer. */
  id: number;
  /** ISO 3166-1 alpha-2. */
  country: string | null;
  region: string | null;
  city: string | null;
  district: string | null;
  /** Where the place is; null for a region or a country, which no point describes. */
  point: Point | null;
  /** The probability that no other place of this name is meant. */
  confidence: number;
  /** The towns that may be meant as well, this one first: "Newport, Wales". Empty if it is far the most likely one. */
  rivals: string[];
};

/**
 * How much a statement outweighs size, in powers of ten of the population: "Perth, £40" is the town of 47,000 people in
 * Scotland and not the city of 2 million.
 */
const WORTH = {
  /** The city of a district. */
  city: 4,
  /** The region or the country. */
  region: 3.5,
  country: 3,
  /** A town at most NEAR_KM away, another place in the same region, in the same country. */
  near: 1.5,
  sameRegion: 0.6,
  sameCountry: 0.4,
  currency: 2,
  phone: 2.2,
  language: 0.8,
  /** A country from which most texts are: "Valencia" is rather in Spain than in Venezuela. */
  market: 0.4,
};

/** Of the other places of a text, at most so many different ones count, among the first so many. */
const MAX_OTHERS = 8;
const OTHERS_READ = 40;

/** The share of its worth that a place elsewhere in the text has. */
const ELSEWHERE = 0.5;

const NEAR_KM = 60;
const KM_PER_DEGREE = 111.32;

/** A town is not far the most likely one if another has more than this share of its likelihood. */
const RIVALLING = 1 / 3;
const MAX_RIVALS = 4;

/** How much less sure a name is that is also a word. */
const WORD_CONFIDENCE = 0.7;

const distance = (one: Point, other: Point): number =>
  Math.hypot((one.lon - other.lon) * Math.cos((((one.lat + other.lat) / 2) * Math.PI) / 180), one.lat - other.lat) *
  KM_PER_DEGREE;

/** What `other` says about `id`, if both are meant. */
const support = (gazetteer: Gazetteer, id: number, other: number): number => {
  if (id === other) return 0;
  const kind = gazetteer.kind(other);
  if (gazetteer.city(id) === other || gazetteer.city(other) === id) return WORTH.city;
  if (kind === "region" && gazetteer.region(id) === other) return WORTH.region;
  if (gazetteer.kind(id) === "region" && gazetteer.region(other) === id) return WORTH.region;
  const country = gazetteer.country(id);
  if (kind === "world") return gazetteer.members(other).includes(country) ? WORTH.sameCountry : 0;
  if (country < 0 || country !== gazetteer.country(other)) return 0;
  if (kind === "country" || gazetteer.kind(id) === "country") return WORTH.country;
  const here = gazetteer.point(id);
  const there = gazetteer.point(other);
  if (here !== null && there !== null && distance(here, there) <= NEAR_KM) return WORTH.near;
  const region = gazetteer.region(id);
  return region >= 0 && region === gazetteer.region(other) ? WORTH.sameRegion : WORTH.sameCountry;
};

/** The most that a name says about `id`, and how little its meanings outweigh each other. */
const supportOf = (gazetteer: Gazetteer, id: number, { ids }: PlaceHit): number => {
  let most = 0;
  const first = ids[0];
  for (const other of ids) {
    const worth = support(gazetteer, id, other);
    // A hamlet of the same name as a city says little: "Berlin" is not in New Hampshire.
    const doubt = first === undefined ? 0 : Math.max(0, gazetteer.weight(first) - gazetteer.weight(other) - 1) * 0.5;
    most = Math.max(most, worth - doubt);
  }
  return most;
};

type Choice = { hit: PlaceHit; id: number; score: number; confidence: number; rivals: readonly number[] };

/** A few different names, so that a text of many places is read in linear time. */
const fewOf = (hits: readonly PlaceHit[]): PlaceHit[] => {
  const few = new Map<number | undefined, PlaceHit>();
  for (const hit of hits.slice(0, OTHERS_READ)) {
    if (few.size < MAX_OTHERS && !few.has(hit.ids[0])) few.set(hit.ids[0], hit);
  }
  return [...few.values()];
};

/**
 * The names in a range of tokens, and the abbreviation of a state directly after it: "BC" says which Nelson is meant in
 * "Nelson, BC", also if only "Nelson" was taken for the location.
 */
export const namesIn = (
  tokens: readonly Token[],
  hits: readonly PlaceHit[],
  range: Pick<PlaceHit, "from" | "to">,
): PlaceHit[] =>
  hits.filter(
    (hit) =>
      (hit.from >= range.from && hit.to <= range.to) ||
      (hit.form === "beside" && hit.from >= range.to && areNeighbours(tokens, range, hit)),
  );

/** How exactly a kind of place says where something is. */
const EXACTNESS = { world: 0, country: 1, region: 2, city: 3, district: 4 };

/**
 * Decides which places the names of a location mean.
 * @param hits the names in the location; the most exact of them is the place
 * @returns null if there is no name
 */
export const resolvePlace = (
  gazetteer: Gazetteer,
  hits: readonly PlaceHit[],
  hints: PlaceHints = {},
): ResolvedPlace | null => {
  const inside = fewOf(hits);
  const others = fewOf(hints.others ?? []).filter(
    (other) => !inside.some((hit) => hit.from < other.to && other.from < hit.to),
  );
  const countryCode = (id: number): string | null => {
    const country = gazetteer.country(id);
    return country < 0 ? null : gazetteer.place(country).country;
  };
  const told = (id: number): number => {
    const country = countryCode(id);
    if (country === null) return 0;
    const languages = languagesOf(country);
    return (
      (languages.length === 0 ? 0 : WORTH.market) +
      (hints.currency != null && isCurrencyOf(hints.currency, country) ? WORTH.currency : 0) +
      (hints.phoneCountries?.includes(country) ? WORTH.phone : 0) +
      (hints.language != null && languages.includes(hints.language) ? WORTH.language : 0)
    );
  };
  const choose = (hit: PlaceHit): Choice | null => {
    const scored = hit.ids.map((id) => {
      let score = gazetteer.weight(id) + told(id);
      for (const other of inside) if (other !== hit) score += supportOf(gazetteer, id, other);
      for (const other of others) score += supportOf(gazetteer, id, other) * ELSEWHERE;
      return { id, score };
    });
    // The ids have the city before the region around it of the same name.
    const best = scored.toSorted((a, b) => b.score - a.score)[0];
    if (best === undefined) return null;
    const top = scored.find(({ id }) => isSamePlace(gazetteer, id, best.id)) ?? best;
    const rivals = scored.filter(({ id }) => !isSamePlace(gazetteer, id, top.id));
    const doubt = rivals.reduce((sum, rival) => sum + 10 ** (rival.score - best.score), 0);
    const near = rivals
      .filter(({ id, score }) => gazetteer.kind(id) === "city" && 10 ** (score - best.score) > RIVALLING)
      .toSorted((a, b) => b.score - a.score)
      .map(({ id }) => id);
    return { hit, id: top.id, score: best.score, confidence: 1 / (1 + doubt), rivals: near };
  };
  const choices = inside.map(choose).filter((choice) => choice !== null);
  const [main] = choices.toSorted(
    (a, b) =>
      EXACTNESS[gazetteer.kind(b.id)] - EXACTNESS[gazetteer.kind(a.id)] ||
      Number(b.hit.form === "name") - Number(a.hit.form === "name") ||
      a.hit.from - b.hit.from,
  );
  if (main === undefined) return null;
  const place = gazetteer.place(main.id);
  const cityOf = place.city === null ? null : gazetteer.place(place.city);
  const regionOf = place.kind === "region" ? place : place.region === null ? null : gazetteer.place(place.region);
  const labelOf = (id: number): string => {
    const { name, region, country } = gazetteer.place(id);
    return `${name}, ${region === null ? country : gazetteer.place(region).name}`;
  };
  const isTown = place.kind === "city" && main.rivals.length > 0;
  const alone = inside.length === 1 && main.hit.form === "word";
  return {
    id: main.id,
    country: place.country,
    region: regionOf?.name ?? null,
    city: place.kind === "city" ? place.name : (cityOf?.name ?? null),
    district: place.kind === "district" && cityOf !== null ? place.name : null,
    point: place.point ?? (place.kind === "district" ? (cityOf?.point ?? null) : null),
    confidence: main.confidence * (alone ? WORD_CONFIDENCE : 1),
    rivals: isTown ? [main.id, ...main.rivals].slice(0, MAX_RIVALS).map(labelOf) : [],
  };
};

/** True for a city and the region around it of the same name: which of the two is meant makes no difference. */
const isSamePlace = (gazetteer: Gazetteer, one: number, other: number): boolean =>
  one === other || isAround(gazetteer, one, other) || isAround(gazetteer, other, one);

const isAround = (gazetteer: Gazetteer, region: number, city: number): boolean =>
  gazetteer.kind(region) === "region" && gazetteer.kind(city) === "city" && gazetteer.region(city) === region;
