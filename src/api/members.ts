import { z } from "zod";

/**
 * Members that a caller sent and a schema does not know: what was meant, and the sentence that says so. A language model
 * often knows a member by the name that other services give it.
 */

/** An error in one member of a request. */
export type FieldError = { pointer: string; detail: string };

/** A member's place in a body: its name, and the names of the objects around it. */
type Path = readonly string[];

/** What a member is called elsewhere: the normal forms of names (`normal`), and the members that these mean. */
const SYNONYMS: readonly [names: string, members: string][] = [
  ["q search term search_term search_query keyword search_text phrase text", "query"],
  ["body description content message detail prompt input offer_text ask_text request wish need query q", "text"],
  ["filter", "filters"],
  ["place city town where address region country area postal_code zip state", "filters.location location near.place"],
  ["radius distance distance_km max_distance within within_km km", "near.radius_km"],
  ["latitude", "near.lat"],
  ["longitude lng long", "near.lon"],
  ["cost budget amount price_range", "price"],
  ["free", "price.max"],
  ["type kind listing_type offer_type", "offer_kind types method what"],
  ["since after posted_after date_from from_date published_since created_after newer_than", "posted_since after since"],
  ["verified verified_seller verified_only", "verified_publisher"],
  ["with_image only_with_image has_photo has_picture", "has_images"],
  ["photo picture photo_url image_url picture_url image_link media attachment", "images"],
  ["own exclude_mine", "exclude_own"],
  ["order order_by sort_by sorting", "sort"],
  ["page_size per_page size count max_result top_k top n num_result", "limit"],
  ["page offset page_token next_cursor next", "cursor"],
  ["aggregation agg", "facets"],
  ["watch notify alert subscribe keep_watching", "watch_enabled"],
  ["address endpoint callback callback_url target target_url webhook_url uri link", "url"],
  ["event event_type", "types"],
  ["provider sign_in_method", "method"],
  ["category why", "reason"],
  ["note description message explanation text", "comment"],
  ["agent agent_name display_name client_name title", "name"],
  ["test sandboxed", "sandbox"],
  ["id offer", "offer_id"],
  ["id ask", "ask_id"],
  ["ask_id ask", "origin_ask_id"],
  ["object list collection", "what"],
  ["cursor since", "after since"],
];

/** Parts of names that mean the same. */
const SAME_WORDS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["max", "maximum upper to upto until most lte le lt ceiling high"],
    ["min", "minimum lower from least gte ge gt floor low"],
    ["price", "cost budget pricing"],
    ["km", "kilometer kilometre"],
  ].flatMap(([word = "", others = ""]) => others.split(" ").map((other) => [other, word])),
);

/** Returns the words of a name in lower case and in the singular: maxPrices has max and price. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, "_")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean)
    .map((word) => (word.length > 3 && /[^isu]s$/.test(word) ? word.slice(0, -1) : word));

const normal = (name: string): string => wordsOf(name).join("_");

/** The words of a name in alphabetical order, each as SAME_WORDS has it: price_max is max_price is "maximum price". */
const unordered = (name: string): string =>
  wordsOf(name)
    .map((word) => SAME_WORDS[word] ?? word)
    .toSorted()
    .join(" ");

const MEANT = new Map<string, string[]>();
for (const [names, members] of SYNONYMS)
  for (const name of names.split(" ").map(normal)) MEANT.set(name, [...(MEANT.get(name) ?? []), ...members.split(" ")]);

/** How many letters have to be inserted, left out, replaced or swapped to make one name of the other. */
const distance = (one: string, other: string): number => {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        row[j] = Math.min(row[j] ?? 0, (before[j - 2] ?? 0) + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length] ?? 0;
};

/** The longest name that is compared and shown. Those of members are shorter. */
const LONGEST = 40;

/** Returns the object that a schema describes, without what says that it may be absent; undefined if it is none. */
const objectOf = (schema: unknown): z.ZodObject | undefined => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return objectOf(schema.unwrap());
  return schema instanceof z.ZodObject ? schema : undefined;
};

const pathsIn = (schema: z.ZodType, above: Path = []): Path[] =>
  Object.entries(objectOf(schema)?.shape ?? {}).flatMap(([name, member]) => [
    [...above, name],
    ...pathsIn(member as z.ZodType, [...above, name]),
  ]);

const paths = new WeakMap<z.ZodType, Path[]>();

/** Returns the paths of all members of a body, those of the outermost object first. */
export const pathsOf = (schema: z.ZodType): Path[] => {
  const known = paths.get(schema) ?? pathsIn(schema).toSorted((one, other) => one.length - other.length);
  paths.set(schema, known);
  return known;
};

/** Returns the member that was probably meant by the last name of `sent`, the nearest place first; undefined if none. */
const meantBy = (sent: Path, known: readonly Path[]): Path | undefined => {
  const above = sent.slice(0, -1);
  const name = sent.at(-1) ?? "";
  if (name.length > LONGEST) return undefined;
  const isBelow = (path: Path) => above.every((part, n) => path[n] === part);
  // Members of the same object, then of those in it, then of others.
  const candidates = [
    ...known.filter((path) => isBelow(path) && path.length === sent.length),
    ...known.filter((path) => isBelow(path) && path.length > sent.length),
    ...known.filter((path) => !isBelow(path)),
  ];
  const short = normal(name);
  const words = unordered(name);
  const meant = MEANT.get(short) ?? [];
  const near = candidates
    .map((path) => ({ path, far: distance(short, normal(path.at(-1) ?? "")) }))
    .filter(({ far }) => far <= short.length / 3)
    .toSorted((one, other) => one.far - other.far);
  return (
    candidates.find((path) => normal(path.at(-1) ?? "") === short) ??
    // "price_max", and inside price also "max_price".
    candidates.find((path) => path.some((_, n) => unordered(path.slice(n).join(".")) === words)) ??
    candidates.find((path) => meant.some((dotted) => `.${path.join(".")}`.endsWith(`.${dotted}`))) ??
    near[0]?.path
  );
};

/** A name as a sentence may show it: quoted and cut if it is no usual name. */
const shown = (path: Path): string =>
  path.map((name) => (/^\w{1,40}$/.test(name) ? name : JSON.stringify(name.slice(0, LONGEST)))).join(".");

/** What callers often send as members of an endpoint that has no such members, and what to do instead. */
export type Elsewhere = {
  /** Words, one of which is in the name. */
  names: string;
  /** Goes on after "There is no member NAME: ", of one or of several. */
  instead: string;
  /** The calls that do it, as METHOD and path. */
  calls?: readonly string[];
};

/** A member that was sent and is not known. */
export type Unknown = {
  name: string;
  /** What to do instead; null if nothing is near. */
  instead: string | null;
  /** The calls that do what was meant. */
  calls: readonly string[];
};

/** Shows where a member belongs: filters.price.max, which is {"filters":{"price":{"max":…}}}. */
const placeOf = (path: Path): string =>
  path.length === 1
    ? String(path[0])
    : `${path.join(".")}, as ${path.reduceRight((inner, name) => `{"${name}": ${inner}}`, "…")}`;

/**
 * Returns the members that are not known, of those that were sent on the outermost level.
 * @param known the paths of all known members
 * @param elsewhere what is done in another way
 */
export const unknownMembers = (
  sent: Readonly<Record<string, unknown>>,
  known: readonly Path[],
  elsewhere: readonly Elsewhere[] = [],
): Unknown[] => {
  const outermost = new Set(known.map(([first]) => first));
  return Object.entries(sent)
    .filter(([name]) => !outermost.has(name))
    .map(([name, value]) => {
      // {"offer": {"text": "…"}}
      const within = typeof value === "object" && value !== null ? Object.keys(value) : [];
      const inner = within.filter((one) => outermost.has(one));
      if (inner.length > 0) return { name, instead: `send ${inner.join(" and ")} without an object around`, calls: [] };
      const meant = meantBy([name], known);
      const other = elsewhere.find(({ names }) => wordsOf(name).some((word) => names.split(" ").includes(word)));
      const isSame = meant !== undefined && normal(meant.at(-1) ?? "") === normal(name);
      if (other !== undefined && !isSame) return { name, instead: other.instead, calls: other.calls ?? [] };
      return { name, instead: meant === undefined ? null : `send it as ${placeOf(meant)}`, calls: [] };
    });
};

/** Says which members were unknown, and what to do instead. Those for which that is the same are named together. */
export const saidOf = (unknown: readonly Unknown[]): string =>
  [...Map.groupBy(unknown, ({ instead }) => instead)]
    .map(([instead, members]) => {
      const names = members.map(({ name }) => shown([name])).join(", ");
      return `There is no member ${names}${instead === null ? "" : `: ${instead}`}.`;
    })
    .join(" ");

/** Returns the JSON Pointer (RFC 6901) of a path. */
export const pointerOf = (path: Path): string =>
  path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Returns the error for a member that an object does not have which takes only known ones. */
export const unknownMember = (sent: Path, schema: z.ZodType): FieldError => {
  const known = pathsOf(schema);
  const meant = meantBy(sent, known);
  const above = sent.slice(0, -1);
  const siblings = known
    .filter((path) => path.length === sent.length && above.every((part, n) => path[n] === part))
    .map((path) => path.at(-1));
  const other = known.some(([first]) => first === "query") ? " Write other wishes into query." : "";
  return {
    pointer: pointerOf(sent),
    detail:
      meant === undefined
        ? `There is no member ${shown(sent)}. Known are ${siblings.join(", ")}.${other}`
        : `There is no member ${shown(sent)}. Send ${placeOf(meant)}.`,
  };
};
