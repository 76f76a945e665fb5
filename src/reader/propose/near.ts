import type { IsWord } from "../builtin/lexicon.ts";
import { type Span, spanOf } from "../text/span.ts";
import type { Token } from "../text/tokens.ts";
import type { Gazetteer } from "./gazetteer.ts";
import { numberBefore } from "./numbers.ts";
import { type PlaceHints, resolvePlace } from "./place_choice.ts";
import { areNeighbours, type PlaceHit } from "./places.ts";

/**
 * Finds the circle in which a query or an ask looks: "within 20 km of Berlin", "Lyon, rayon de 20 km", "cerca de Madrid".
 * The words are classes of the lexicon: `near_radius` says that a distance is a radius, `near_word` that a place is only
 * near, `near_link` stands between a distance and a place; `near_opener` stands before such a phrase and says nothing;
 * `near_surroundings` says so behind a place ("Lyon et alentours");
 * `near_km` and `near_mile` are units.
 */

/** A circle. `radius_km` is null where only "near" is said. */
type Circle = { place: string; lat: number; lon: number; radius_km: number | null };

/** The passage that states a distance; `circle` is null if no known town is meant, `hit` the town. */
export type Near = { circle: Circle | null; hit: PlaceHit | null; span: Span };

/** The text and what was found in it. */
type NearText = {
  text: string;
  tokens: readonly Token[];
  placeHits: readonly PlaceHit[];
  is: IsWord;
  isHidden: (at: number) => boolean;
  hints?: PlaceHints;
};

/** A distance: tokens `from` (inclusive) to `to` (exclusive). */
type Distance = { from: number; to: number; km: number };

/** As far as a search reaches (filters.near). A longer distance is no radius but the mileage of a car. */
const MAX_KM = 500;
const MIN_KM = 1;
const KM_PER_MILE = 1.609344;

/** "im maximalen Umkreis von bis zu": so many words belong to a distance. */
const MAX_WORDS = 6;

/** Marks between a town and a distance: "Berlin + 20 km", "Berlin, Umkreis 20 km", "Berlin (20 km Umkreis)". */
const BESIDE = /^[+,(:-]$/;

/** Marks inside words and between them: "d'Annecy", "20-km-Umkreis". */
const INNER = /^['-]$/;

const distancesIn = ({ tokens, is, isHidden }: NearText): Distance[] => {
  const found: Distance[] = [];
  tokens.forEach((token, at) => {
    if (token.kind !== "word" || isHidden(at)) return;
    const factor = is("near_km", token.text) ? 1 : is("near_mile", token.text) ? KM_PER_MILE : null;
    if (factor === null) return;
    const number = numberBefore(tokens, at);
    if (number === null || number.value === 0) return;
    const km = Math.round(number.value * factor * 1000) / 1000;
    if (km <= MAX_KM) found.push({ from: number.from, to: at + 1, km: Math.max(MIN_KM, km) });
  });
  return found;
};

/** What the words beside a distance or a town say. */
type Words = { at: number; isRadius: boolean; isNear: boolean; isLinked: boolean; isLimited: boolean };

/** Walks over the words that belong to a distance, from `start` in a direction, and says what they are. */
const walk = ({ tokens, is, isHidden }: NearText, start: number, step: 1 | -1): Words => {
  const words: Words = { at: start, isRadius: false, isNear: false, isLinked: false, isLimited: false };
  for (let at = start, n = 0; n < MAX_WORDS; at += step, n++) {
    const token = tokens[step === 1 ? at : at - 1];
    const beyond = step === 1 ? token : tokens[at];
    if (token === undefined || isHidden(step === 1 ? at : at - 1)) break;
    if (n > 0 && (beyond?.gap === "line" || beyond?.opens === true)) break;
    const radius = is("near_radius", token.text);
    const near = is("near_word", token.text);
    const link = is("near_link", token.text);
    const limit = is("limit_word", token.text);
    const opener = is("near_opener", token.text);
    if (token.kind === "mark" ? !INNER.test(token.text) : !(radius || near || link || limit || opener)) break;
    words.isRadius ||= radius;
    words.isNear ||= near;
    words.isLinked ||= link;
    words.isLimited ||= limit;
    words.at = at + step;
  }
  return words;
};

type Found = { from: number; to: number; km: number | null };

/** "und der näheren" of "Mainz und der näheren Umgebung": so many words stand before the last one. */
const MAX_WORDS_BEFORE_SURROUNDINGS = 3;

/** The token after "area" of "Austin area", or after "et alentours" of "Lyon et alentours". Null if neither follows. */
const surroundingsAfter = ({ tokens, is, isHidden }: NearText, town: number): number | null => {
  for (let at = town; at <= town + MAX_WORDS_BEFORE_SURROUNDINGS; at++) {
    const token = tokens[at];
    if (token?.kind !== "word" || token.gap !== "space" || isHidden(at)) return null;
    if (is("near_surroundings", token.text)) return at + 1;
    const isJoined = at > town || is("conjunction", token.text);
    if (!isJoined) return null;
  }
  return null;
};

/** The distance that stands before or after a town, or that only "near" states. */
const around = (scene: NearText, distances: readonly Distance[], hit: Pick<PlaceHit, "from" | "to">): Found | null => {
  const { tokens } = scene;
  const before = walk(scene, hit.from, -1);
  const left = distances.find(({ to }) => to === before.at || (to > before.at && to <= hit.from));
  if (left !== undefined) {
    const cue = walk(scene, left.from, -1);
    if (before.isLinked || before.isRadius || before.isNear || cue.isRadius || cue.isLimited)
      return { from: cue.at, to: hit.to, km: left.km };
  }
  const mark = tokens[hit.to];
  const isBeside = mark !== undefined && mark.gap !== "line" && BESIDE.test(mark.text);
  const after = walk(scene, isBeside ? hit.to + 1 : hit.to, 1);
  const right = distances.find(({ from }) => from === after.at || (from < after.at && from >= hit.to));
  if (right !== undefined) {
    const cue = walk(scene, right.to, 1);
    if (after.isRadius || after.isNear || cue.isRadius || cue.isNear || (isBeside && mark.text === "+"))
      return { from: hit.from, to: cue.at, km: right.km };
  }
  if (before.isNear) return { from: before.at, to: hit.to, km: null };
  const surroundings = surroundingsAfter(scene, hit.to);
  return surroundings === null ? null : { from: hit.from, to: surroundings, km: null };
};

/** The town that a name means, with the region or the country after it: "Paris, Texas". */
const circleOf = (
  gazetteer: Gazetteer,
  { text, tokens, placeHits, hints }: NearText,
  hit: PlaceHit,
  km: number | null,
): Circle | null => {
  const next = placeHits.find((other) => other.from >= hit.to && areNeighbours(tokens, hit, other));
  const isWider = next !== undefined && /^(?:region|country)$/.test(gazetteer.kind(next.ids[0] ?? 0));
  const place = resolvePlace(gazetteer, isWider ? [hit, next] : [hit], { ...hints, others: placeHits });
  if (place?.point == null) return null;
  const span = spanOf(tokens, hit);
  return { place: text.slice(span.start, span.end), lat: place.point.lat, lon: place.point.lon, radius_km: km };
};

/**
 * Finds the circle in which a text looks; null if it states no distance from anything. The first one counts.
 */
export const findNear = (gazetteer: Gazetteer, scene: NearText): Near | null => {
  const { tokens, placeHits } = scene;
  const distances = distancesIn(scene);
  const towns = placeHits.filter(({ ids }) => /^(?:city|district)$/.test(gazetteer.kind(ids[0] ?? 0)));
  for (const hit of towns) {
    const found = around(scene, distances, hit);
    const circle = found === null ? null : circleOf(gazetteer, scene, hit, found.km);
    if (found !== null && circle !== null) return { circle, hit, span: spanOf(tokens, found) };
  }
  // A radius that stands elsewhere is around the only town of the text.
  for (const distance of distances) {
    const before = walk(scene, distance.from, -1);
    const after = walk(scene, distance.to, 1);
    if (!before.isRadius && !after.isRadius) continue;
    const [hit] = towns;
    const circle = hit !== undefined && towns.length === 1 ? circleOf(gazetteer, scene, hit, distance.km) : null;
    return {
      circle,
      hit: circle === null ? null : (hit ?? null),
      span: spanOf(tokens, { from: before.at, to: after.at }),
    };
  }
  return null;
};
