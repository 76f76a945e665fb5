import pgvector from "pgvector";
import type { Actor } from "../../database/database.ts";
import { successOf } from "../answer.ts";
import { callFunction } from "../arguments.ts";
import type { Context, Handler } from "../endpoint.ts";
import { hashSecret } from "../tokens.ts";

/** A search waits this long for the vector of its query. After that it searches by words only. */
const QUERY_EMBEDDING_MS = 1_500;

type QueryVector = { embedding: string | null; notices: { code: string; summary: string }[] };

const byWords = (summary: string): QueryVector => ({ embedding: null, notices: [{ code: "lexical_only", summary }] });

/**
 * Returns the vector of a query, or a notice that says why the search compares words only. A provider's vector costs
 * money, so it is cached in the database, and the database decides for which callers the provider may be called. The
 * built-in embedder costs nothing, so it is called each time.
 */
const embedQuery = async (context: Context, actor: Actor, query: unknown): Promise<QueryVector> => {
  if (typeof query !== "string" || query.trim() === "") return { embedding: null, notices: [] };
  const { embedder, database } = context;
  const words = query.normalize("NFC").trim();
  const kept = { query_hash: hashSecret(words), model: embedder.model };
  if (embedder.paid) {
    const found = JSON.parse(await database.call(actor, "find_query_embedding", kept, "read")) as {
      embedding: string | null;
      may_embed: boolean;
    };
    if (found.embedding !== null) return { embedding: found.embedding, notices: [] };
    if (!found.may_embed)
      return byWords("Searched by words only: meaning is compared once a person has approved this agent.");
  }
  try {
    const [vector] = await embedder.embed([words], AbortSignal.timeout(QUERY_EMBEDDING_MS));
    const embedding = vector ? pgvector.toSql(vector) : null;
    if (embedder.paid && embedding !== null) {
      // Not awaited, because the response does not depend on it.
      database.call(actor, "keep_query_embedding", { ...kept, embedding }).catch((error: unknown) => {
        context.log.warn({ err: error }, "a query's vector was not kept");
      });
    }
    return { embedding, notices: [] };
  } catch (error) {
    context.log.warn({ err: error }, "a query was not embedded");
    return byWords("Searched by words only: meaning could not be compared at the moment.");
  }
};

/** Embeds the query, extracts its kind, place, price and other values, and searches. */
export const search: Handler = async (context, call) => {
  const query = call.body["query"];
  const { embedding, notices } = await embedQuery(context, call.actor, query);
  const extraction = typeof query === "string" && query.trim() !== "" ? context.extractQuery(query) : null;
  const made = { extraction, embedding, model: context.embedder.model, notices: JSON.stringify(notices) };
  return successOf(call.endpoint, await callFunction(context, call, "read", made));
};
