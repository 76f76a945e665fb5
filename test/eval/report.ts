import type { LabelledAsk, LabelledMatch, LabelledOffer, LabelledQuery } from "./labels.ts";
import {
  type AskPrediction,
  type FoundPrediction,
  type Judgement,
  type OfferPrediction,
  type Scores,
  score,
} from "./metrics.ts";

/** Results as text: a table of all lines and of slices, and the errors line by line. */

/** The measures that a table shows, with the heads of their columns. */
export type Columns = readonly (readonly [measure: string, column: string])[];

/** The table of offers. */
export const OFFER_COLUMNS: Columns = [
  ["contacts F1", "contacts"],
  ["preferred", "prefer."],
  ["reject F1", "refused"],
  ["price", "price"],
  ["offer_kind", "kind"],
  ["domain", "domain"],
  ["category", "category"],
  ["location", "location"],
  ["title", "title"],
];
/** The table of asks. */
export const ASK_COLUMNS: Columns = [
  ["ask_kind", "kind"],
  ["domain", "domain"],
  ["category", "category"],
  ["price_max", "price_max"],
  ["location", "location"],
];
/** The table of searches. */
export const QUERY_COLUMNS: Columns = [
  ["nDCG@10", "nDCG@10"],
  ["recall@10 of grade 3", "recall@10"],
  ["success@1", "success@1"],
  ["MRR", "MRR"],
];
/** The table of matches. */
export const MATCH_COLUMNS: Columns = [
  ["matches F1", "F1"],
  ["matches precision", "precision"],
  ["matches recall", "recall"],
  ["forbidden matches", "forbidden"],
  ["asks without a violation", "clean asks"],
];

/** The properties by which lines are sliced. */
export type Sliced = { lang?: string | undefined; tags?: string[]; ask_kind?: string | undefined };

/** A line with its judgement. */
export type Judged<L> = { line: L; judged: Judgement };

/** Slices of fewer lines say nothing by themselves. Their lines are in the whole. */
const MIN_SLICE = 2;

const slicesOf = ({ lang, tags = [], ask_kind: kind }: Sliced): string[] => [
  ...(lang === undefined ? [] : [`lang ${lang}`, ...(lang === "en" ? [] : ["lang not en"])]),
  ...tags.map((tag) => `tag ${tag}`),
  ...(kind === undefined ? [] : [`kind ${kind}`]),
];

const WIDTH = { name: 26, lines: 6, cell: 11 };

const cellOf = (scores: Scores, measure: string): string => {
  const value = scores.get(measure);
  if (value === undefined) return "";
  return measure === "forbidden matches" ? String(value) : value.toFixed(3);
};

/** Returns the lines of a table: all lines first, then each slice. */
export const tableOf = <L extends Sliced>(name: string, all: readonly Judged<L>[], columns: Columns): string[] => {
  const slices = new Map<string, Judgement[]>();
  for (const { line, judged } of all) {
    for (const slice of slicesOf(line)) slices.set(slice, [...(slices.get(slice) ?? []), judged]);
  }
  const row = (label: string, judgements: Judgement[]): string => {
    const scores = score(judgements);
    const cells = columns.map(([measure]) => cellOf(scores, measure).padStart(WIDTH.cell));
    return `${label.padEnd(WIDTH.name)}${String(judgements.length).padStart(WIDTH.lines)}${cells.join("")}`;
  };
  const head = columns.map(([, column]) => column.padStart(WIDTH.cell)).join("");
  return [
    `${name.padEnd(WIDTH.name)}${"lines".padStart(WIDTH.lines)}${head}`,
    row(
      "all",
      all.map(({ judged }) => judged),
    ),
    ...[...slices]
      .filter(([, judgements]) => judgements.length >= MIN_SLICE)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([slice, judgements]) => row(`  ${slice}`, judgements)),
  ];
};

/** The columns of the table of languages, which need not repeat what few lines of a language say. */
const OF_OFFERS: Columns = OFFER_COLUMNS.filter(([measure]) => !["preferred", "reject F1", "domain"].includes(measure));
const OF_ASKS: Columns = ASK_COLUMNS.filter(([measure]) => ["ask_kind", "category", "price_max"].includes(measure));

/** The rows of a table in Markdown, one for each language: what is read right in its offers and asks. */
export const languagesOf = (
  codes: readonly string[],
  offers: readonly Judged<Sliced>[],
  asks: readonly Judged<Sliced>[],
): string[] => {
  const names = new Intl.DisplayNames("en", { type: "language" });
  const cells = (code: string, all: readonly Judged<Sliced>[], columns: Columns): string[] => {
    const judged = all.flatMap((one) => (one.line.lang === code ? [one.judged] : []));
    const scores = score(judged);
    return [String(judged.length), ...columns.map(([measure]) => scores.get(measure)?.toFixed(2) ?? "")];
  };
  const row = (fields: readonly string[]): string => `| ${fields.join(" | ")} |`;
  const head = ["language", "offers", ...OF_OFFERS.map(([, one]) => one), "asks", ...OF_ASKS.map(([, one]) => one)];
  return [
    row(head),
    row(head.map(() => "---")),
    ...codes.map((code) =>
      row([names.of(code) ?? code, ...cells(code, offers, OF_OFFERS), ...cells(code, asks, OF_ASKS)]),
    ),
  ];
};

const show = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));

/** The number of characters of a text that are shown beside its errors. */
const SHOWN = 160;

const excerpt = (text: string): string => {
  const line = text.replace(/\s+/g, " ");
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line;
};

/** Measures that repeat what another one says. Their errors are not listed. */
const TOLD_ELSEWHERE = new Set(["reject_accuracy", "price amount", "domain"]);

const wrongMeasures = ({ right }: Judgement): string[] =>
  [...right].filter(([name, value]) => value < 1 && !TOLD_ELSEWHERE.has(name)).map(([name]) => name);

const block = (id: string, text: string, faults: string[]): string[] =>
  faults.length === 0 ? [] : [`${id}  ${excerpt(text)}`, ...faults.map((fault) => `    ${fault}`)];

/** Returns the errors in the extraction of an offer. */
export const faultsOfOffer = (
  { id, text, expect }: LabelledOffer,
  read: OfferPrediction,
  judged: Judgement,
): string[] => {
  if (expect.must_reject !== null) {
    return block(id, text, read.rejected ? [] : [`should be refused, but has contacts ${show(read.contacts)}`]);
  }
  const wanted: Record<string, unknown> = {
    title: expect.title_contains,
    category: `${expect.domain}/${expect.category}`,
    offer_kind: expect.offer_kind,
    price: expect.price,
    location: expect.location,
    "contacts exact": expect.contacts,
    preferred: expect.contacts.filter((contact) => contact.preferred),
  };
  const found: Record<string, unknown> = {
    ...read,
    category: `${read.domain}/${read.category}`,
    "contacts exact": read.contacts,
    preferred: read.contacts.filter((contact) => contact.preferred),
  };
  return block(
    id,
    text,
    wrongMeasures(judged).map((name) => `${name}: wanted ${show(wanted[name])}, read ${show(found[name])}`),
  );
};

/** Returns the errors in the extraction of an ask. */
export const faultsOfAsk = ({ id, text, expect }: LabelledAsk, read: AskPrediction, judged: Judgement): string[] => {
  const wanted: Record<string, unknown> = { ...expect, category: `${expect.domain}/${expect.category}` };
  const found: Record<string, unknown> = { ...read, category: `${read.domain}/${read.category}` };
  return block(
    id,
    text,
    wrongMeasures(judged).map((name) => `${name}: wanted ${show(wanted[name])}, read ${show(found[name])}`),
  );
};

/** Returns the relevant offers that a search missed or ranked too low. */
export const faultsOfQuery = (line: LabelledQuery, { results }: FoundPrediction, judged: Judgement): string[] => {
  const graded = results.map((id) => `${id}:${line.relevant[id] ?? 0}`);
  const missed = Object.keys(line.relevant).filter((id) => !results.includes(id));
  const wrong = (judged.right.get("nDCG@10") ?? 1) < 1;
  const faults = [
    `nDCG ${judged.right.get("nDCG@10")?.toFixed(3)}, found ${graded.join(" ") || "nothing"}`,
    `missed ${missed.map((id) => `${id}:${line.relevant[id]}`).join(" ") || "none"}`,
  ];
  return block(line.id, line.query, wrong ? faults : []);
};

/** Returns the offers that match an ask and should not, and those that should and do not. */
export const faultsOfMatch = (line: LabelledMatch, { results }: FoundPrediction): string[] => {
  const missed = line.relevant_offers.filter((id) => !results.includes(id));
  const forbidden = results.filter((id) => line.wrong_kind_offers.includes(id));
  const wrong = results.filter((id) => ![line.relevant_offers, line.acceptable_offers, forbidden].flat().includes(id));
  const faults = [
    ["missed", missed],
    ["forbidden", forbidden],
    ["not relevant", wrong],
  ] as const;
  return block(
    line.id,
    line.ask_text,
    faults.filter(([, ids]) => ids.length > 0).map(([name, ids]) => `${name}: ${ids.join(" ")}`),
  );
};
