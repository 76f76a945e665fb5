import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LANGUAGES } from "../../src/reader/languages.ts";
import { withClient } from "../support/client.ts";
import { createDatabase } from "../support/database.ts";
import { findServer } from "../support/postgres.ts";
import { preparedData } from "../support/prepared.ts";
import { startService } from "../support/service.ts";
import { haggleAll } from "./deals.ts";
import { type Labelled, type Labels, readLabels } from "./labels.ts";
import { type Judgement, judgeAsk, judgeMatch, judgeOffer, judgeQuery } from "./metrics.ts";
import { match, type Progress, publishCorpus, readAsks, readOffers, search, type Target } from "./predict.ts";
import { readAnswers, recordedOnly, startRecorder, startReplay } from "./recorded.ts";
import * as report from "./report.ts";

/**
 * `npm run eval -- --data DIR`: measures extraction, search and matching on labelled texts (labels.ts describes them).
 *
 * Each text goes to a real service on a throwaway database: offers are previewed, asks created, and the corpus
 * published, searched and matched. The predictions are written to OUT/<file>.predictions.jsonl. The scores are printed
 * as a table with slices, followed by the lines with errors.
 *
 *   --data DIR     the folder of labelled files (default: test/eval/texts)
 *   --out OUT      the folder for predictions (default: .data/eval)
 *   --maker NAME   what reads the texts (default: builtin)
 *     builtin      the built-in extractor
 *     openai       a model beside it, with the same variables as the service
 *     record       as openai, and the model's answers are written to a file
 *     recorded     the answers of that file instead of a model's, for the texts that the file has: what the model adds is
 *                  the difference to the built-in extractor alone, whose tables are printed before
 *   --languages    writes the table of languages into test/eval/README.md
 *   --deals        lets scripted agents haggle instead (deals.ts), and ends with code 1 if one agreed beyond its power
 *   --answers FILE the file of recorded answers (default: test/eval/recorded/answers.jsonl)
 */

const HELP =
  "Usage: npm run eval -- [--data DIR] [--out DIR] [--maker builtin|openai|record|recorded] [--languages] [--deals] [--answers FILE]\n";

/**
 * The variables that configure a provider. With the built-in extractor they are withheld, as a developer's shell may
 * set them.
 */
const PROVIDER = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "EXTRACTION_MODEL", "EMBEDDING_MODEL"];

/** Embeddings are made after publishing. This is the longest wait for a provider that has stopped responding. */
const VECTORS_TIMEOUT_MS = 60_000;

const print = (line = ""): void => void process.stdout.write(`${line}\n`);
/** Shows progress: on a terminal, in a line that the next one overwrites; elsewhere, one line at the end. */
const telling =
  (what: string): Progress =>
  (done, of) => {
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${what}: ${done} of ${of}${done === of ? "\r\x1b[K" : ""}`);
    else if (done === of) process.stderr.write(`${what}: ${of}\n`);
  };

/** The variables of the provider that the developer has set. */
const providerOf = (maker: string): Record<string, string> => {
  const provider = Object.fromEntries(
    PROVIDER.flatMap((name) => (process.env[name] ? [[name, process.env[name]] as const] : [])),
  );
  if (!provider["OPENAI_API_KEY"] && !provider["OPENAI_BASE_URL"]) {
    throw new Error(`Set OPENAI_API_KEY or OPENAI_BASE_URL for --maker ${maker}; .env.example says what they are.`);
  }
  return provider;
};

const untilEmbedded = async ({ database }: Target, offers: number): Promise<void> => {
  const end = Date.now() + VECTORS_TIMEOUT_MS;
  await withClient(database, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ made: number }>(
        "select count(*)::integer as made from market.offer_embedding",
      );
      if (rows[0]?.made === offers) return;
      if (Date.now() > end) throw new Error(`Only ${rows[0]?.made} of ${offers} offers have a vector.`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
};

type Kind<L, P> = {
  columns: report.Columns;
  judge: (line: L, prediction: P) => Judgement;
  faults: (line: L, prediction: P, judged: Judgement) => string[];
};

/** Writes the predictions of one file and prints their scores. */
const conclude = async <L extends report.Sliced & { id: string }, P>(
  out: string,
  { file, lines }: Labelled<L>,
  predictions: P[],
  { columns, judge, faults }: Kind<L, P>,
): Promise<report.Judged<L>[]> => {
  const path = join(out, `${file}.predictions.jsonl`);
  await writeFile(path, predictions.map((prediction) => `${JSON.stringify(prediction)}\n`).join(""));
  const judged = lines.map((line, n) => ({ line, judged: judge(line, predictions[n] as P) }));
  for (const line of report.tableOf(file, judged, columns)) print(line);
  print();
  const told = judged.flatMap(({ line, judged: judgement }, n) => faults(line, predictions[n] as P, judgement));
  for (const line of told) print(line);
  print();
  return judged;
};

const README = new URL("README.md", import.meta.url);
const LANGUAGE_TABLE = /(?<=<!-- languages -->\n\n).*?(?=\n\n<!-- \/languages -->)/su;

/** Writes the table of languages into the description of the evaluation. */
const writeLanguages = async (
  offers: readonly report.Judged<report.Sliced>[],
  asks: readonly report.Judged<report.Sliced>[],
): Promise<void> => {
  const table = report.languagesOf(Object.keys(LANGUAGES), offers, asks).join("\n");
  await writeFile(
    README,
    (await readFile(README, "utf8")).replace(LANGUAGE_TABLE, () => table),
  );
};

const evaluate = async (target: Target, labels: Labels, out: string, languages: boolean): Promise<void> => {
  const judged: { offers: report.Judged<report.Sliced>[]; asks: report.Judged<report.Sliced>[] } = {
    offers: [],
    asks: [],
  };
  const { offers, asks, corpus, queries, matches } = labels;
  await mkdir(out, { recursive: true });
  for (const labelled of offers) {
    const predictions = await readOffers(target, labelled.lines, telling(labelled.file));
    const found = await conclude(out, labelled, predictions, {
      columns: report.OFFER_COLUMNS,
      judge: judgeOffer,
      faults: report.faultsOfOffer,
    });
    judged.offers.push(...found);
  }
  for (const labelled of asks) {
    const predictions = await readAsks(target, labelled.lines, telling(labelled.file));
    const found = await conclude(out, labelled, predictions, {
      columns: report.ASK_COLUMNS,
      judge: judgeAsk,
      faults: report.faultsOfAsk,
    });
    judged.asks.push(...found);
  }
  if (languages) await writeLanguages(judged.offers, judged.asks);
  if (queries.length + matches.length === 0) return;
  const published = await publishCorpus(target, corpus, telling("search_corpus"));
  if (published.refused.length > 0) print(`refused, so never found: ${published.refused.join(" ")}\n`);
  await untilEmbedded(target, published.nameOf.size);
  for (const labelled of queries) {
    const predictions = await search(target, labelled.lines, published, telling(labelled.file));
    await conclude(out, labelled, predictions, {
      columns: report.QUERY_COLUMNS,
      judge: judgeQuery,
      faults: report.faultsOfQuery,
    });
  }
  for (const labelled of matches) {
    const predictions = await match(target, labelled.lines, published, telling(labelled.file));
    await conclude(out, labelled, predictions, {
      columns: report.MATCH_COLUMNS,
      judge: judgeMatch,
      faults: report.faultsOfMatch,
    });
  }
};

/** Does something with a service on a throwaway database. */
const withService = async (env: Record<string, string>, act: (target: Target) => Promise<void>): Promise<void> => {
  const database = await createDatabase();
  const service = await startService({ database: database.url, env: { CONNECTIONS_PER_HOUR: "1000000", ...env } });
  try {
    await act({ url: service.url, database: database.url });
  } finally {
    await service.stop();
    await database.drop();
  }
};

/** Evaluates a service on a throwaway database. */
const evaluateService = (env: Record<string, string>, labels: Labels, out: string, languages = false): Promise<void> =>
  withService(env, async (target) => {
    const start = performance.now();
    await evaluate(target, labels, out, languages);
    print(`${((performance.now() - start) / 1000).toFixed(1)} s; predictions are in ${out}`);
  });

const evaluateDeals = (): Promise<void> =>
  withService({}, async (target) => {
    const { lines, beyond } = await haggleAll(target);
    for (const line of lines) print(line);
    if (beyond > 0) throw new Error("An agent agreed beyond its power.");
  });

/** Where OpenAI's own API is, as in src/config.ts. */
const OPENAI = "https://api.openai.com/v1";

const MAKERS: Record<string, (labels: Labels, out: string, file: string, languages: boolean) => Promise<void>> = {
  builtin: (labels, out, _file, languages) => evaluateService({}, labels, out, languages),
  openai: (labels, out) => evaluateService(providerOf("openai"), labels, out),
  record: async (labels, out, file) => {
    const env = providerOf("record");
    const recorder = await startRecorder({
      baseURL: env["OPENAI_BASE_URL"] ?? OPENAI,
      apiKey: env["OPENAI_API_KEY"] ?? "",
    });
    try {
      await evaluateService({ OPENAI_API_KEY: "recorder", ...env, OPENAI_BASE_URL: recorder.baseURL }, labels, out);
      print(`${await recorder.save(file)} answers are in ${file}`);
    } finally {
      await recorder.close();
    }
  },
  recorded: async (labels, out, file) => {
    const answers = await readAnswers(file);
    const known = recordedOnly(labels, answers);
    print(`The built-in extractor alone, on the texts of ${file}:\n`);
    await evaluateService({}, known, join(out, "builtin"));
    const replay = await startReplay(answers);
    try {
      print(`\nThe recorded answers, and the built-in extractor beside them:\n`);
      const env = { OPENAI_API_KEY: "replay", OPENAI_BASE_URL: replay.baseURL, EXTRACTION_MODEL: "recorded" };
      await evaluateService(env, known, join(out, "recorded"));
    } finally {
      await replay.close();
    }
  },
};

const main = async (): Promise<void> => {
  const { values: options } = parseArgs({
    options: {
      data: { type: "string", default: "test/eval/texts" },
      out: { type: "string", default: ".data/eval" },
      maker: { type: "string", default: "builtin" },
      answers: { type: "string", default: "test/eval/recorded/answers.jsonl" },
      languages: { type: "boolean", default: false },
      deals: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (options.help) return print(HELP);
  const make = MAKERS[options.maker];
  if (make === undefined) throw new Error(`There is no maker "${options.maker}".\n${HELP}`);
  const run = randomBytes(4).toString("hex");
  const server = await findServer(run, preparedData);
  try {
    Object.assign(process.env, { TEST_DATABASE_URL: server.url, TEST_RUN: run });
    if (options.deals) await evaluateDeals();
    else await make(await readLabels(options.data), options.out, options.answers, options.languages);
  } finally {
    await server.release();
  }
};

main().then(
  () => process.exit(),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
