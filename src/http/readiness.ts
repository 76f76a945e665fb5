import type { Database } from "../database/database.ts";
import type { Log } from "../log.ts";
import type { createQueryExtractor } from "../reader/builtin/query.ts";
import type { QueryExtraction, Vocabulary } from "../reader/extraction.ts";
import { followVocabulary, VOCABULARY_POLL_MS } from "../reader/vocabulary.ts";

/** Whether an API process should get traffic, and what it has to do first: tell the database what it offers, and learn its words. */
export type Readiness = {
  /** "ready", or why not. */
  state(database: Database, stopping: AbortSignal, log: Log): Promise<string>;
  /** The database has the schema that this code needs. */
  migrated(): void;
  /** Makes the process ready. @throws what the database throws; call it again then */
  prepare(database: Database, signInMethods: readonly string[]): Promise<void>;
  /** Loads the vocabulary again whenever it was edited. @returns how to stop that */
  follow(database: Database, log: Log): () => void;
  /** What a query says beside the thing it looks for; null before the vocabulary has been loaded. */
  extractQuery(query: string): QueryExtraction | null;
};

/** @param options.migrated whether the database is some other process's to migrate */
export const createReadiness = (options: { migrated: boolean }): Readiness => {
  let { migrated } = options;
  let offered = false;
  let extractQuery: ReturnType<typeof createQueryExtractor> | null = null;
  let nextVocabulary: (() => Promise<Vocabulary | null>) | null = null;

  const refreshVocabulary = async ({ call }: Database): Promise<void> => {
    const ask = async (name: string) => JSON.parse(await call("visitor", name, {}, "read"));
    nextVocabulary ??= followVocabulary({
      changedAt: () => ask("vocabulary_changed_at"),
      load: () => ask("get_vocabulary"),
    });
    const vocabulary = await nextVocabulary();
    if (vocabulary === null) return;
    // Loaded late, since it weighs much and a worker does without.
    const { createQueryExtractor } = await import("../reader/builtin/query.ts");
    extractQuery = createQueryExtractor(vocabulary);
  };

  return {
    async state(database, stopping, log) {
      if (stopping.aborted) return "stopping";
      if (!migrated) return "the database is not migrated yet";
      if (!offered) return "the database does not know yet which sign-in methods are offered";
      return database.check().then(
        () => "ready",
        (error: unknown) => {
          log.warn({ err: error }, "not ready");
          return "the database cannot be used";
        },
      );
    },
    migrated() {
      migrated = true;
    },
    async prepare(database, signInMethods) {
      await database.check();
      await database.call("visitor", "offer_methods", { methods: signInMethods });
      await refreshVocabulary(database);
      offered = true;
    },
    follow(database, log) {
      const timer = setInterval(() => {
        refreshVocabulary(database).catch((error: unknown) =>
          log.warn({ err: error }, "the vocabulary could not be followed"),
        );
      }, VOCABULARY_POLL_MS);
      return () => clearInterval(timer);
    },
    extractQuery: (query) => extractQuery?.(query) ?? null,
  };
};
