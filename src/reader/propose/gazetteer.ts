import { endsStep, type Steps } from "../../base/steps.ts";
import { fold } from "../text/fold.ts";
import { hashOf } from "../text/hash.ts";

/**
 * The places of the world, compiled for look-ups by name. There are about 50,000. Their rows stay text in two buffers,
 * beside arrays of numbers and a hash table of folded names: a few megabytes instead of an object for each row.
 */

/** The rows as texts with tabs, as in db/data: the first line names the columns. */
export type PlaceRows = {
  place: string;
  place_name: string;
  place_member: string;
};

/** No places, for tests of other things. */
export const NO_PLACES: PlaceRows = { place: "", place_name: "", place_member: "" };

/** A part of the world, a country, a part of a country, a town, a part of a town. */
export type PlaceKind = "world" | "country" | "region" | "city" | "district";

/**
 * How surely a name means a place. `name`: it is one. `word`: it is also an ordinary word or a person's name. `beside`:
 * it counts only beside its city, region or country ("WA" in "Perth, WA"). From the surest to the least sure.
 */
const NAME_FORMS = ["name", "word", "beside"] as const;

export type NameForm = (typeof NAME_FORMS)[number];

/** A position in degrees. */
export type Point = { lat: number; lon: number };

/** One place. `region` and `city` are ids of `Gazetteer.place`. */
type Place = {
  kind: PlaceKind;
  name: string;
  /** ISO 3166-1 alpha-2; null for a part of the world. */
  country: string | null;
  region: number | null;
  /** The city that a district lies in, or that a metropolitan area surrounds. */
  city: number | null;
  point: Point | null;
};

/** A meaning of a name: the id of a place, and the form of the name. */
export type Meaning = { id: number; form: NameForm };

/** The compiled places. An id is the number of a place's row, and changes with the rows. */
export type Gazetteer = {
  place: (id: number) => Place;
  kind: (id: number) => PlaceKind;
  /** The ids of the country, the region and the city that a place lies in, or -1. */
  country: (id: number) => number;
  region: (id: number) => number;
  city: (id: number) => number;
  /** The countries of a part of the world, as ids. */
  members: (id: number) => readonly number[];
  /** How likely a text means this place and no other of its name: about the logarithm of the population. */
  weight: (id: number) => number;
  point: (id: number) => Point | null;
  /** The most words that a name has which begins with this word; 0 if no name does. */
  longest: (firstWord: string) => number;
  /** The places with this name, the most likely one first. `words`: the folded words of the name, with single spaces. */
  named: (words: string) => readonly Meaning[];
  /** The folded names of the places with at least so many inhabitants, regions and countries included. */
  largest: (population: number) => string[];
};

const KINDS: readonly PlaceKind[] = ["world", "country", "region", "city", "district"];

/** More places than this have the same name only if the name says nothing. */
const MAX_MEANINGS = 24;

/** The size of the tables: powers of two, about twice as many as there are names. */
const FIRST_WORDS = 1 << 17;
const BUCKETS = 1 << 17;

/** The low bits choose a bucket, so all bits of the hash have to reach them. */
const keyOf = (text: string): number => {
  const hash = hashOf(text);
  return (hash ^ (hash >>> 15)) >>> 0;
};

/** The words of a folded text, as the tokeniser splits them: letters and digits apart, marks left out. */
const WORDS = /\p{Nd}+|[\p{L}\p{M}\p{Nl}\p{No}]+/gu;
const PLAIN = /^[a-z]+(?: [a-z]+)*$/;

/** The folded words of a name, with single spaces. */
const wordsOfName = (name: string): string => {
  const folded = fold(name);
  return PLAIN.test(folded) ? folded : (folded.match(WORDS) ?? []).join(" ");
};

/** Rows that are split only when they are read. */
type Table = { count: number; row: (at: number) => string[] };

const NEWLINE = 10;

/**
 * Keeps the rows as bytes, because one letter outside Latin-1 doubles the size of a string.
 * @param names the columns, in the order in which `row` gives them
 */
const tableOf = (text: string, names: readonly string[]): Table => {
  const bytes = Buffer.from(text, "utf8");
  const starts: number[] = [];
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, end + 1)) starts.push(end + 1);
  const offsets = Uint32Array.from(starts);
  const header = text.slice(0, Math.max(0, text.indexOf("\n"))).split("\t");
  const order = names.map((name) => header.indexOf(name));
  return {
    count: Math.max(0, offsets.length - 1),
    row: (at) => {
      const fields = bytes.toString("utf8", offsets[at], (offsets[at + 1] ?? 1) - 1).split("\t");
      return order.map((place) => fields[place] ?? "");
    },
  };
};

/** Calls `use` for each row of a table. */
function* eachRow({ count, row }: Table, use: (at: number, fields: string[]) => void): Steps<void> {
  for (let at = 0; at < count; at++) {
    if (endsStep(at)) yield;
    use(at, row(at));
  }
}

/** The weight of a place without a population: that of a village. */
const UNKNOWN_POPULATION = 1000;
/** A town that is so much larger, as a weight, may be meant by its name in another language: "Vienna" is Wien. */
const MUCH_LARGER = 0.3;
/** A country is meant more often than a town of the same size; a region, which is named with its towns, less often. */
const OF_KIND: Readonly<Record<PlaceKind, number>> = { world: 1, country: 1, region: -0.7, city: 0, district: -0.5 };

/** Compiles the places. Rows that refer to unknown places lose the reference: an operator's mistake must not stop it. */
export function* compileGazetteer(rows: PlaceRows): Steps<Gazetteer> {
  const places = tableOf(rows.place, [
    "place",
    "kind",
    "name",
    "country",
    "region",
    "city",
    "population",
    "latitude",
    "longitude",
  ]);
  yield;
  const others = tableOf(rows.place_name, ["place", "name", "form"]);
  const { count } = places;
  const total = count + others.count;
  const ids = new Map<string, number>();
  const kinds = new Uint8Array(count);
  const populations = new Uint32Array(count);
  const links = { country: new Int32Array(count), region: new Int32Array(count), city: new Int32Array(count) };
  const latitudes = new Float32Array(count);
  const longitudes = new Float32Array(count);

  const hashes = new Uint32Array(total);
  const forms = new Uint8Array(total);
  const owners = new Uint32Array(total);
  const heads = new Int32Array(BUCKETS).fill(-1);
  const nexts = new Int32Array(total);
  const firsts = new Uint8Array(FIRST_WORDS);
  const insert = (at: number, owner: number, hash: number, words: string): void => {
    owners[at] = owner;
    hashes[at] = hash;
    const bucket = hash & (BUCKETS - 1);
    nexts[at] = heads[bucket] ?? -1;
    heads[bucket] = at;
    let length = 1;
    for (let space = words.indexOf(" "); space >= 0; space = words.indexOf(" ", space + 1)) length += 1;
    const end = words.indexOf(" ");
    const first = keyOf(end < 0 ? words : words.slice(0, end)) & (FIRST_WORDS - 1);
    firsts[first] = Math.max(firsts[first] ?? 0, length);
  };

  yield* eachRow(places, (id, [key = "", kind, name = "", , , , population, latitude = "", longitude = ""]) => {
    ids.set(key, id);
    kinds[id] = Math.max(0, KINDS.indexOf(kind as PlaceKind));
    populations[id] = Number(population);
    latitudes[id] = latitude === "" ? Number.NaN : Number(latitude);
    longitudes[id] = longitude === "" ? Number.NaN : Number(longitude);
    const words = wordsOfName(name);
    insert(id, id, keyOf(words), words);
  });
  yield* eachRow(places, (id, [, , , country = "", region = "", city = ""]) => {
    links.country[id] = ids.get(country) ?? -1;
    links.region[id] = ids.get(region) ?? -1;
    links.city[id] = ids.get(city) ?? -1;
  });
  yield* eachRow(others, (at, [place = "", name = "", form]) => {
    const owner = ids.get(place);
    if (owner === undefined) return;
    const words = wordsOfName(name);
    const hash = keyOf(words);
    const sort = Math.max(0, (NAME_FORMS as readonly string[]).indexOf(form ?? ""));
    // A row with the place's own name only says its form.
    if (hashes[owner] === hash) {
      forms[owner] = sort;
      return;
    }
    forms[count + at] = sort;
    insert(count + at, owner, hash, words);
  });
  const members = new Map<number, number[]>();
  const membership = tableOf(rows.place_member, ["place", "country"]);
  for (let at = 0; at < membership.count; at++) {
    const [place, country] = membership.row(at).map((key) => ids.get(key));
    if (place === undefined || country === undefined) continue;
    const known = members.get(place) ?? [];
    known.push(country);
    members.set(place, known);
  }

  // The functions below would keep it.
  ids.clear();

  const kindOf = (id: number): PlaceKind => KINDS[kinds[id] ?? 0] ?? "world";
  const point = (id: number): Point | null => {
    const lat = latitudes[id] ?? Number.NaN;
    const lon = longitudes[id] ?? Number.NaN;
    // Three decimals are what the file has; single precision adds digits that mean nothing.
    return Number.isNaN(lat) || Number.isNaN(lon)
      ? null
      : { lat: Math.round(lat * 1000) / 1000, lon: Math.round(lon * 1000) / 1000 };
  };
  const weight = (id: number): number => Math.log10((populations[id] ?? 0) + UNKNOWN_POPULATION) + OF_KIND[kindOf(id)];
  const linked = (of: Int32Array, id: number): number | null => {
    const to = of[id] ?? -1;
    return to < 0 ? null : to;
  };
  return {
    kind: kindOf,
    country: (id) => (kindOf(id) === "country" ? id : (links.country[id] ?? -1)),
    region: (id) => (kindOf(id) === "region" ? id : (links.region[id] ?? -1)),
    city: (id) => links.city[id] ?? -1,
    members: (id) => members.get(id) ?? [],
    weight,
    point,
    place: (id) => {
      const [, , name = "", country = ""] = places.row(id);
      return {
        kind: kindOf(id),
        name,
        country: country === "" ? null : country,
        region: linked(links.region, id),
        city: linked(links.city, id),
        point: point(id),
      };
    },
    longest: (firstWord) => firsts[keyOf(firstWord) & (FIRST_WORDS - 1)] ?? 0,
    named: (words) => {
      const hash = keyOf(words);
      const found: Meaning[] = [];
      const own = new Set<number>();
      for (let at = heads[hash & (BUCKETS - 1)] ?? -1; at >= 0; at = nexts[at] ?? -1) {
        if (hashes[at] !== hash) continue;
        const id = owners[at] ?? 0;
        const name = at < count ? places.row(at)[2] : others.row(at - count)[1];
        if (wordsOfName(name ?? "") !== words) continue;
        if (at < count) own.add(id);
        if (found.some((other) => other.id === id)) continue;
        found.push({ id, form: NAME_FORMS[forms[at] ?? 0] ?? "name" });
      }
      if (found.length < 2) return found;
      // "Bergen" is in Norway, where it is the town's own name, and means Mons only beside Belgium.
      for (const meaning of found) {
        if (own.has(meaning.id) || kindOf(meaning.id) !== "city") continue;
        const least = weight(meaning.id) - MUCH_LARGER;
        if (found.some(({ id }) => own.has(id) && kindOf(id) === "city" && weight(id) >= least))
          meaning.form = "beside";
      }
      // "Berlin" is the city before the region around it that has its name.
      const within = new Set(found.filter(({ id }) => kindOf(id) === "city").map(({ id }) => links.region[id]));
      const rank = ({ id, form }: Meaning): number =>
        weight(id) - (within.has(id) ? 3 : 0) - (form === "beside" ? 10 : 0);
      return found.sort((a, b) => rank(b) - rank(a)).slice(0, MAX_MEANINGS);
    },
    largest: (population) => {
      const isLarge = (id: number): boolean => (populations[id] ?? 0) >= population;
      const names: string[] = [];
      for (let at = 0; at < total; at++)
        if (isLarge(owners[at] ?? 0) && forms[at] === 0)
          names.push(wordsOfName((at < count ? places.row(at)[2] : others.row(at - count)[1]) ?? ""));
      return names;
    },
  };
}
