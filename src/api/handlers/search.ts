import pgvector from "pgvector";
import { hashSecret } from "../../base/tokens.ts";
import { measured } from "../../base/tracing/tracing.ts";
import { readableText } from "../../base/visible_text.ts";
import type { Actor } from "../../database/database.ts";
import { ownTurn } from "../../database/own_turn.ts";
import type { Embedder, QueryExtraction } from "../../reader/extraction.ts";
import { callFunction } from "../arguments.ts";
import type { Context, Handler } from "../endpoint.ts";
import { saidOf } from "../members.ts";
import { successOf } from "../response.ts";

/** A search waits this long for the vector of its query. After that it searches by words only. */
const QUERY_EMBEDDING_MS = 1_500;

type QueryVector = { embedding: string | null; notices: { code: string; summary: string }[] };

const byWords = (summary: string): QueryVector => ({ embedding: null, notices: [{ code: "lexical_only", summary }] });

const compared = (embedding: string | null): QueryVector =>
  embedding === null
    ? byWords("Searched by words only: meaning could not be compared at the moment.")
    : { embedding, notices: [] };

const vectorOf = async (embedder: Embedder, words: string): Promise<string | null> => {
  const [vector] = await measured("read", { name: "embed the query" }, () =>
    embedder.embed([words], AbortSignal.timeout(QUERY_EMBEDDING_MS)),
  );
  return vector ? pgvector.toSql(vector) : null;
};

/** The purchase of one query's vector: the vector, null if the provider gave none, or why nothing was bought. */
type Purchase = { embedding: string | null } | { refusal: string };

/**
 * The purchases under way in this process, by query and embedder. Searches that wait for the same query share one,
 * which counts once: for the account that caused it.
 */
const underWay = new WeakMap<Embedder, Map<string, Promise<Purchase>>>();

type VectorKey = { query_hash: Buffer; model: string };

/** Counts a vector, buys it and keeps it for later searches. */
const buy = async (context: Context, actor: Actor, words: string, key: VectorKey): Promise<Purchase> => {
  const { embedder, database, log } = context;
  const mine = underWay.get(embedder) ?? new Map<string, Promise<Purchase>>();
  underWay.set(embedder, mine);
  const purchase = (async (): Promise<Purchase> => {
    const counted = JSON.parse(await database.call(actor, "count_query_embedding", {})) as { refusal: string | null };
    if (counted.refusal !== null) return { refusal: counted.refusal };
    const embedding = await vectorOf(embedder, words).catch((error: unknown) => {
      log.warn({ err: error }, "a query was not embedded");
      return null;
    });
    return { embedding };
  })();
  mine.set(words, purchase);
  // No response depends on it, but until it is kept, a search that does not find it takes it from here.
  purchase
    .then(async (bought) => {
      if ("refusal" in bought || bought.embedding === null) return;
      await database
        .call(actor, "keep_query_embedding", { ...key, embedding: bought.embedding })
        .catch((error: unknown) => {
          log.warn({ err: error }, "a query's vector was not kept");
        });
    })
    // The searches that wait for the purchase learn why it failed.
    .catch(() => undefined)
    .finally(() => mine.delete(words));
  return purchase;
};

/**
 * Returns the vector of a query, or a notice that says why the search compares words only. A provider's vector costs
 * money, so it is cached in the database, and the database decides for which callers the provider may be called, and
 * counts the calls. The built-in embedder costs nothing, so it is called each time.
 */
const embedQuery = async (context: Context, actor: Actor, query: unknown): Promise<QueryVector> => {
  if (typeof query !== "string" || query.trim() === "") return { embedding: null, notices: [] };
  const { embedder, database, log } = context;
  const words = query.trim();
  const key = { query_hash: hashSecret(words), model: embedder.model };
  const underWayHere = () => underWay.get(embedder)?.get(words);
  // Looked up before the cache, because the vector may be kept in between.
  let shared = underWayHere();
  if (embedder.paid) {
    const found = JSON.parse(await database.call(actor, "find_query_embedding", key, "read")) as {
      embedding: string | null;
      may_embed: boolean;
    };
    if (found.embedding !== null) return { embedding: found.embedding, notices: [] };
    if (!found.may_embed)
      return byWords(
        "Searched by words only: meaning is compared once a person has approved this agent, or proved a sign-in method in the browser.",
      );
  }
  try {
    if (!embedder.paid) return compared(await vectorOf(embedder, words));
    // If another caller could not buy, because it had used up its vectors or hung up, this one may.
    for (shared ??= underWayHere(); shared !== undefined; shared = underWayHere()) {
      const bought = await shared.catch(() => null);
      if (bought !== null && "embedding" in bought) return compared(bought.embedding);
    }
    const bought = await buy(context, actor, words, key);
    return "refusal" in bought ? byWords(bought.refusal) : compared(bought.embedding);
  } catch (error) {
    log.warn({ err: error }, "a query was not embedded");
    return compared(null);
  }
};

/** Embeds the query, extracts its kind, place, price and other values, and searches. */
export const search: Handler = async (context, call) => {
  const sent = call.body["query"];
  const query = typeof sent === "string" ? readableText(sent) : sent;
  let extraction: QueryExtraction | null | undefined;
  const read = (): QueryExtraction | null => {
    extraction ??=
      typeof query === "string" && query.trim() !== ""
        ? measured("read", { name: "read the query" }, () => context.extractQuery(query))
        : null;
    return extraction;
  };
  // A vector of "not leather" would be near what is made of leather.
  const embed = () => embedQuery(context, call.actor, read()?.asked ?? query);
  const ignored =
    call.unknown.length === 0
      ? []
      : [{ code: "unknown_member", summary: `Ignored: ${saidOf(call.unknown.slice(0, 10))}` }];
  // No connection is held while a provider makes the vector. The built-in embedder takes only processor time.
  const bought = context.embedder.paid ? await embed() : null;
  const make = async () => {
    await ownTurn();
    const { embedding, notices } = bought ?? (await embed());
    await ownTurn();
    return {
      extraction: read(),
      embedding,
      model: context.embedder.model,
      notices: JSON.stringify([...ignored, ...notices]),
    };
  };
  let headers: Record<string, number> = {};
  const body = await callFunction(context, call, "search", make, (noted) => {
    headers = noted;
  });
  return successOf(call.endpoint, body, headers);
};
