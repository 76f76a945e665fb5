import type { LabelledAsk, LabelledMatch, LabelledOffer, LabelledQuery } from "./labels.ts";

/**
 * Measures of extractions, searches and matches. Each `judge` function judges one line and returns, for each measure,
 * whether the line is right. `score` sums up the judgements of many lines, as numbers between 0 and 1.
 */

type Amount = { amount: number; currency: string | null; period?: string | null | undefined };
type Contact = { type: string; value: string; preferred?: boolean | undefined };

/** What the service extracted from the text of an offer. `rejected`: it found no contact. */
export type OfferPrediction = {
  id: string;
  rejected: boolean;
  title: string | null;
  domain: string | null;
  category: string | null;
  offer_kind: string | null;
  price: Amount | null;
  location: string | null;
  contacts: Contact[];
};
/** What the service extracted from the text of an ask. */
export type AskPrediction = {
  id: string;
  domain: string | null;
  category: string | null;
  ask_kind: string | null;
  price_max: Amount | null;
  location: string | null;
};
/** The ids of offers of the corpus, best first. */
export type FoundPrediction = { id: string; results: string[] };

/** The numbers of true positives, false positives and false negatives. */
type Counts = { hit: number; wrong: number; missed: number };

/** The judgement of one line. A measure that does not apply to the line is absent. */
export type Judgement = { right: Map<string, number>; counts: Map<string, Counts> };

/** The value of each measure by its name: between 0 and 1, or a number of cases. */
export type Scores = Map<string, number>;

const words = (text: string): string =>
  (
    text
      .normalize("NFKD")
      .replace(/\p{M}/gu, "")
      .toLowerCase()
      .replaceAll("ß", "ss")
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  ).join(" ");

/** Words in the name of a place that do not tell where it is. */
const HOLLOW = new Set(
  "near nr in the of area and region raum secteur vicino regio de la da do zona bei w at around from to".split(" "),
);

/**
 * Two places agree if the words of one are a subset of the other's, or if they share at least half of all their words.
 */
const isSamePlace = (wanted: string | null, read: string | null): boolean => {
  if (wanted === null || read === null) return wanted === read;
  const [a, b] = [wanted, read].map(
    (place) =>
      new Set(
        words(place)
          .split(" ")
          .filter((word) => word !== "" && !HOLLOW.has(word)),
      ),
  ) as [Set<string>, Set<string>];
  const shared = a.intersection(b).size;
  return shared > 0 && (a.isSubsetOf(b) || b.isSubsetOf(a) || shared / a.union(b).size >= 0.5);
};

const isTitled = (wanted: string[], title: string | null): boolean => {
  const read = words(title ?? "");
  return read !== "" && wanted.every((either) => either.split("|").some((part) => read.includes(words(part))));
};

/** Half a cent. Amounts are decimal fractions, which floating-point numbers only approximate. */
const TOLERANCE = 0.005;

/** A price for a whole project counts as a price without a period. */
const periodOf = (price: Amount): string | null =>
  price.period === undefined || price.period === "project" ? null : price.period;

const isSamePrice = (wanted: Amount | null, read: Amount | null, amountOnly = false): boolean => {
  if (wanted === null || read === null) return wanted === read;
  if (Math.abs(wanted.amount - (read.amount ?? -1)) > TOLERANCE) return false;
  if (wanted.amount === 0 || amountOnly) return true;
  return wanted.currency === (read.currency ?? null) && periodOf(wanted) === periodOf(read);
};

const isSameCeiling = (wanted: Amount | null, read: Amount | null): boolean =>
  wanted === null || read === null
    ? wanted === read
    : wanted.amount === read.amount && wanted.currency === read.currency;

/** A contact's value in the form in which it is compared: punctuation, case and "www." make no difference. */
const comparable = ({ type, value }: Contact): string => {
  const stated = value.trim();
  if (type === "email") return stated.toLowerCase();
  if (type !== "url") return stated.replace(/[^\d+]/g, "");
  return stated
    .toLowerCase()
    .replace(/^https?:\/\/(www\.)?/, "")
    .replace(/\/+$/, "");
};

const countsOf = (wanted: Set<string>, read: Set<string>): Counts => ({
  hit: wanted.intersection(read).size,
  wrong: read.difference(wanted).size,
  missed: wanted.difference(read).size,
});

const judgement = (right: Record<string, boolean | number>, counts: Record<string, Counts> = {}): Judgement => ({
  right: new Map(Object.entries(right).map(([name, value]) => [name, Number(value)])),
  counts: new Map(Object.entries(counts)),
});

const isFiled = (
  expect: { domain: string | null; category: string | null; also_ok: { category: string[] } },
  read: { domain: string | null; category: string | null },
) => {
  // Both the labels and this path write "null/null" for an unclassified text.
  const wanted = [`${expect.domain}/${expect.category}`, ...expect.also_ok.category];
  return {
    domain: wanted.some((path) => path.split("/")[0] === String(read.domain)),
    category: wanted.includes(`${read.domain}/${read.category}`),
  };
};

/** Judges the extraction of one offer. Of a text that must be refused, only the refusal counts. */
export const judgeOffer = ({ expect }: LabelledOffer, read: OfferPrediction): Judgement => {
  const refuse = expect.must_reject !== null;
  const counts: Record<string, Counts> = {
    reject: {
      hit: +(refuse && read.rejected),
      wrong: +(!refuse && read.rejected),
      missed: +(refuse && !read.rejected),
    },
  };
  if (refuse) return judgement({ reject_accuracy: read.rejected }, counts);
  const prices = [expect.price, ...expect.also_ok.price];
  const typed = (contact: Contact) => `${contact.type} ${comparable(contact)}`;
  const [wanted, found] = [expect.contacts, read.contacts];
  const contacts = countsOf(new Set(wanted.map(typed)), new Set(found.map(typed)));
  const preferred = (contacts: Contact[]) => contacts.filter((contact) => contact.preferred).map(comparable);
  counts["contacts"] = contacts;
  counts["contact values"] = countsOf(new Set(wanted.map(comparable)), new Set(found.map(comparable)));
  return judgement(
    {
      reject_accuracy: !read.rejected,
      title: isTitled(expect.title_contains, read.title),
      ...isFiled(expect, read),
      offer_kind: read.offer_kind === expect.offer_kind,
      price: prices.some((price) => isSamePrice(price, read.price)),
      "price amount": prices.some((price) => isSamePrice(price, read.price, true)),
      location: [expect.location, ...expect.also_ok.location].some((place) => isSamePlace(place, read.location)),
      "contacts exact": contacts.wrong + contacts.missed === 0,
      ...(preferred(wanted).length === 0
        ? {}
        : { preferred: preferred(wanted).join(" ") === preferred(found).join(" ") }),
    },
    counts,
  );
};

/** Judges the extraction of one ask. */
export const judgeAsk = ({ expect }: LabelledAsk, read: AskPrediction): Judgement =>
  judgement({
    ...isFiled(expect, read),
    ask_kind: [expect.ask_kind, ...expect.also_ok.ask_kind].includes(read.ask_kind),
    price_max: [expect.price_max, ...expect.also_ok.price_max].some((ceiling) =>
      isSameCeiling(ceiling, read.price_max),
    ),
    location: [expect.location, ...expect.also_ok.location].some((place) => isSamePlace(place, read.location)),
  });

/** The number of results of a search that count. */
const SHOWN = 10;

const gainOf = (grades: number[]): number =>
  grades.reduce((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0);

/** Judges the results of one search. */
export const judgeQuery = ({ relevant }: LabelledQuery, { results }: FoundPrediction): Judgement => {
  const shown = [...new Set(results)].slice(0, SHOWN);
  const grades = shown.map((id) => relevant[id] ?? 0);
  const best = Object.values(relevant)
    .sort((a, b) => b - a)
    .slice(0, SHOWN);
  const wanted = Object.keys(relevant).filter((id) => relevant[id] === 3);
  const first = grades.findIndex((grade) => grade >= 2);
  return judgement({
    "nDCG@10": gainOf(grades) / gainOf(best),
    "recall@10 of grade 3": wanted.filter((id) => shown.includes(id)).length / wanted.length,
    "success@1": (grades[0] ?? 0) >= 2,
    MRR: first < 0 ? 0 : 1 / (first + 1),
  });
};

/** Judges the matches of one ask. */
export const judgeMatch = (label: LabelledMatch, { results }: FoundPrediction): Judgement => {
  const found = new Set(results);
  const counts = countsOf(new Set(label.relevant_offers), found);
  const forbidden = found.intersection(new Set(label.wrong_kind_offers)).size;
  // Acceptable matches are neither rewarded nor punished.
  const tolerated = found
    .difference(new Set(label.relevant_offers))
    .intersection(new Set(label.acceptable_offers)).size;
  return judgement(
    { "asks without a violation": forbidden === 0 },
    {
      matches: { ...counts, wrong: counts.wrong - tolerated },
      forbidden: { hit: forbidden, wrong: 0, missed: 0 },
    },
  );
};

const share = (part: number, of: number): number => (of === 0 ? 1 : part / of);

/** Sums up judgements: the mean of each measure, and precision, recall and F1 of counted values. */
export const score = (judgements: Judgement[]): Scores => {
  const scores: Scores = new Map();
  const right = new Map<string, number[]>();
  const counts = new Map<string, Counts>();
  for (const judged of judgements) {
    for (const [name, value] of judged.right) right.set(name, [...(right.get(name) ?? []), value]);
    for (const [name, { hit, wrong, missed }] of judged.counts) {
      const sum = counts.get(name) ?? { hit: 0, wrong: 0, missed: 0 };
      counts.set(name, { hit: sum.hit + hit, wrong: sum.wrong + wrong, missed: sum.missed + missed });
    }
  }
  for (const [name, values] of right) scores.set(name, values.reduce((sum, value) => sum + value, 0) / values.length);
  for (const [name, { hit, wrong, missed }] of counts) {
    if (name === "forbidden") {
      scores.set("forbidden matches", hit);
      continue;
    }
    const [precision, recall] = [share(hit, hit + wrong), share(hit, hit + missed)];
    scores.set(`${name} precision`, precision);
    scores.set(`${name} recall`, recall);
    scores.set(`${name} F1`, precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall));
  }
  return scores;
};
