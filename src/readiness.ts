import type { Log } from "./base/log.ts";
import type { Database } from "./database/database.ts";
import type { Meaning } from "./reader/embed/learn.ts";
import type { QueryExtraction, Vocabulary } from "./reader/extraction.ts";
import { followVocabulary, VOCABULARY_POLL_MS } from "./reader/vocabulary.ts";

/**
 * Says whether an API process should get traffic. Before that, it stores its sign-in methods and loads the vocabulary.
 * @param options.migrated true if another process migrates the database
 */
export const createReadiness = (options: { migrated: boolean }) => {
  let { migrated } = options;
  let prepared = false;
  let extractQuery: ((query: string) => QueryExtraction | null) | null = null;
  let withoutOrders: ((words: string) => string) | null = null;
  let meaning: Meaning | null = null;
  let nextVocabulary: (() => Promise<Vocabulary | null>) | null = null;
  /** The check that runs. Probes at the same time share it, so that many of them hold no more connections than one. */
  let checking: Promise<void> | null = null;

  const refreshVocabulary = async ({ call }: Database): Promise<void> => {
    // The vocabulary takes longer than a read may take.
    const ask = async (name: string) => JSON.parse(await call("visitor", name, {}, "search"));
    nextVocabulary ??= followVocabulary({
      changedAt: () => ask("vocabulary_changed_at"),
      load: () => ask("get_vocabulary"),
    });
    const vocabulary = await nextVocabulary();
    if (vocabulary === null) return;
    // Imported only here, because the modules are large and a worker does not need the second one.
    const { knowledgeOf, prepareKnowledge } = await import("./reader/builtin/knowledge.ts");
    const { queryExtractorOf } = await import("./reader/builtin/query.ts");
    const { orderRemover } = await import("./reader/builtin/addressed.ts");
    const { besideOthers } = await import("./base/steps.ts");
    await prepareKnowledge(vocabulary);
    extractQuery = await besideOthers(queryExtractorOf(vocabulary));
    withoutOrders = orderRemover(knowledgeOf(vocabulary));
    meaning = vocabulary.meaning ?? null;
  };
  let refreshing: Promise<void> | null = null;
  /** One at a time, so that an older vocabulary never replaces a newer one. */
  const refresh = (database: Database): Promise<void> => {
    refreshing ??= refreshVocabulary(database).finally(() => {
      refreshing = null;
    });
    return refreshing;
  };

  return {
    /** Returns "ready", or the reason why the process is not ready. */
    async state(database: Database, stopping: AbortSignal, log: Log): Promise<string> {
      if (stopping.aborted) return "stopping";
      if (!migrated) return "the database is not migrated yet";
      if (!prepared) return "the process does not know the database yet";
      checking ??= database.check().finally(() => {
        checking = null;
      });
      return checking.then(
        () => "ready",
        (error: unknown) => {
          log.warn({ err: error }, "not ready");
          return "the database cannot be used";
        },
      );
    },
    /** Notes that the database has been migrated. */
    migrated() {
      migrated = true;
    },
    /** Makes the process ready. @throws the error of the database; the caller then tries again */
    async prepare(database: Database, signInMethods: readonly string[]) {
      await database.check();
      await database.call("visitor", "offer_methods", { methods: signInMethods });
      await refresh(database);
      prepared = true;
    },
    /** Whether `prepare` has succeeded. It stays true if the database becomes unavailable later. */
    isPrepared: () => prepared,
    /** Loads the vocabulary again whenever it has changed. @returns a function that stops this */
    follow(database: Database, log: Log) {
      const timer = setInterval(() => {
        refresh(database).catch((error: unknown) => log.warn({ err: error }, "the vocabulary could not be followed"));
      }, VOCABULARY_POLL_MS);
      return () => clearInterval(timer);
    },
    /** Extracts kind, place, price and so on from a query; null until the vocabulary is loaded. */
    extractQuery: (query: string) => extractQuery?.(query) ?? null,
    /** Returns words without orders to software; null until the vocabulary is loaded. */
    withoutOrders: (words: string) => withoutOrders?.(words) ?? null,
    /** Returns the latest meanings of words, for the built-in embedder; null until the vocabulary is loaded. */
    meaning: () => meaning,
  };
};

/** Whether an API process should get traffic. */
export type Readiness = ReturnType<typeof createReadiness>;
