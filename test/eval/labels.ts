import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";

/**
 * Labelled texts: what people write, and what a perfect extractor would return for it.
 *
 *   offers_*.jsonl          texts of offers, with all values to extract, or with the reason for which to refuse them
 *   asks_*.jsonl            texts of asks, with all values to extract
 *   search_corpus.jsonl     the offers that searches and matches find
 *   search_queries_*.jsonl  queries with filters, and grades of relevance for offers of the corpus
 *   matches_*.jsonl         asks, with the offers of the corpus that must match them and those that must not
 *
 * A line is one JSON object; empty lines are skipped. test/eval/texts has samples of offers and asks.
 */

const amount = z.object({ amount: z.number(), currency: z.string().nullable() });
const price = amount.extend({ period: z.string().nullish() }).nullable();
const place = z.string().nullable();
const contact = z.object({ type: z.string(), value: z.string(), preferred: z.boolean().optional() });
const alternatives = <T extends z.ZodType>(value: T) => z.array(value).default([]);

const sliced = { id: z.string(), lang: z.string().optional(), tags: z.array(z.string()).default([]) };

const offer = z.object({
  ...sliced,
  text: z.string().min(1),
  expect: z.object({
    /** Each entry must occur in the title. "a|b" means that either may occur. */
    title_contains: z.array(z.string()),
    domain: z.string().nullable(),
    category: z.string().nullable(),
    offer_kind: z.string().nullable(),
    price,
    location: place,
    contacts: z.array(contact),
    /** "missing_contact" if the text has no contact, otherwise null. */
    must_reject: z.string().nullable(),
    also_ok: z
      .object({
        category: alternatives(z.string()),
        offer_kind: alternatives(z.string()),
        price: alternatives(price),
        location: alternatives(place),
      })
      .prefault({}),
  }),
});
/** A line of offers_*.jsonl. */
export type LabelledOffer = z.infer<typeof offer>;

const ask = z.object({
  ...sliced,
  text: z.string().min(1),
  expect: z.object({
    domain: z.string().nullable(),
    category: z.string().nullable(),
    ask_kind: z.string().nullable(),
    price_max: amount.nullable(),
    location: place,
    also_ok: z
      .object({
        category: alternatives(z.string()),
        ask_kind: alternatives(z.string()),
        price_max: alternatives(amount.nullable()),
        location: alternatives(place),
      })
      .prefault({}),
  }),
});
/** A line of asks_*.jsonl. */
export type LabelledAsk = z.infer<typeof ask>;

const text = z.object({ id: z.string(), text: z.string().min(1) });
/** A line of search_corpus.jsonl. */
export type CorpusText = z.infer<typeof text>;

const query = z.object({
  ...sliced,
  query: z.string().min(1),
  filters: z
    .object({
      domain: z.string().optional(),
      category: z.string().optional(),
      kind: z.string().optional(),
      price_max: z.number().optional(),
      currency: z.string().optional(),
      location: z.string().optional(),
    })
    .prefault({}),
  /** Grade 3: exactly what was asked for. 2: misses a soft criterion. 1: related. Unlisted offers have grade 0. */
  relevant: z.record(z.string(), z.number()),
});
/** A line of search_queries_*.jsonl. */
export type LabelledQuery = z.infer<typeof query>;

const match = z.object({
  id: z.string(),
  ask_text: z.string().min(1),
  ask_kind: z.string().optional(),
  relevant_offers: z.array(z.string()),
  /** Offers that look alike but have the wrong kind or exceed the price, and must not match. */
  wrong_kind_offers: z.array(z.string()),
  acceptable_offers: z.array(z.string()),
});
/** A line of matches_*.jsonl. */
export type LabelledMatch = z.infer<typeof match>;

/** A file's name without its extension, and its lines. */
export type Labelled<T> = { file: string; lines: T[] };

/** All labelled files of a directory. */
export type Labels = {
  offers: Labelled<LabelledOffer>[];
  asks: Labelled<LabelledAsk>[];
  corpus: CorpusText[];
  queries: Labelled<LabelledQuery>[];
  matches: Labelled<LabelledMatch>[];
};

const parse = <T>(file: string, content: string, line: z.ZodType<T>): T[] =>
  content.split("\n").flatMap((json, index) => {
    if (json.trim() === "") return [];
    const where = `${file}, line ${index + 1}`;
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      throw new Error(`${where} is not JSON: ${error instanceof Error ? error.message : error}`);
    }
    const { success, data, error } = line.safeParse(value);
    if (!success) throw new Error(`${where} is not as expected:\n${z.prettifyError(error)}`);
    return [data];
  });

/**
 * Reads every labelled file of a directory.
 * @throws an Error with the file and the line if a line has the wrong shape, or if the directory has no labelled file
 */
export const readLabels = async (directory: string): Promise<Labels> => {
  const names = (await readdir(directory)).sort();
  const filesOf = <T>(pattern: RegExp, line: z.ZodType<T>): Promise<Labelled<T>[]> =>
    Promise.all(
      names
        .filter((name) => pattern.test(name))
        .map(async (name) => ({
          file: basename(name, ".jsonl"),
          lines: parse(name, await readFile(join(directory, name), "utf8"), line),
        })),
    );
  const corpus = await filesOf(/^search_corpus\.jsonl$/, text);
  const labels = {
    offers: await filesOf(/^offers_.*(?<!\.predictions)\.jsonl$/, offer),
    asks: await filesOf(/^asks_.*(?<!\.predictions)\.jsonl$/, ask),
    corpus: corpus[0]?.lines ?? [],
    queries: await filesOf(/^search_queries_.*(?<!\.predictions)\.jsonl$/, query),
    matches: await filesOf(/^matches_.*(?<!\.predictions)\.jsonl$/, match),
  };
  const { offers, asks, queries, matches } = labels;
  if (offers.length + asks.length + queries.length + matches.length === 0) {
    throw new Error(
      `${directory} holds no labelled file: offers_*.jsonl, asks_*.jsonl, search_queries_*.jsonl or matches_*.jsonl.`,
    );
  }
  if (queries.length + matches.length > 0 && labels.corpus.length === 0) {
    throw new Error(
      `${directory} holds queries or matches, but no search_corpus.jsonl with the offers they are about.`,
    );
  }
  return labels;
};
