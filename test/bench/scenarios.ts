import pgvector from "pgvector";
import type { Arguments } from "../../src/database/database.ts";
import { statementOf } from "../../src/database/database.ts";
import { hashSecret, linkKey } from "../../src/http/tokens.ts";
import type { Embedder, QueryExtraction } from "../../src/reader/extraction.ts";
import type { Caller } from "./market.ts";
import type { Statement } from "./pgbench.ts";
import { modelOf } from "./texts.ts";

/**
 * The measured requests by kind, each as HTTP and as the SQL statement that it becomes.
 */

/** A kind of request: variants as raw HTTP requests, and the same variants as statements. */
export type Scenario = { name: string; requests: string[]; statements: Statement[] };

/** The parts of the market that the requests refer to. */
export type Targets = {
  baseUrl: string;
  callers: Caller[];
  offers: number;
  offerIds: string[];
  asks: { id: string; accountId: string }[];
  embedder: Embedder;
  extractQuery: (query: string) => QueryExtraction;
};

/** Different requests of a scenario: too many for a processor's cache, few enough for pgbench's limit of 128 files. */
const VARIANTS = 48;
/** Searches have fewer, because each statement has a vector of 5,000 characters on pgbench's command line. */
const SEARCHES = 24;

const requestOf = (token: string, method: string, path: string, body?: unknown): string => {
  const payload = body === undefined ? "" : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${token}`];
  if (payload) head.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(payload)}`);
  return `${head.join("\r\n")}\r\n\r\n${payload}`;
};

const toText = (value: Arguments[string]): string | null => {
  if (value === null) return null;
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

const statementFor = (token: string, name: string, args: Arguments): Statement => ({
  text: statementOf("agent", name, Object.keys(args)),
  values: [hashSecret(token), ...Object.values(args)].map(toText),
});

/** Calls each function as src/http/handle.ts does, with the same arguments in the same order. */
export const makeScenarios = async (targets: Targets): Promise<Scenario[]> => {
  const { baseUrl, callers, embedder, extractQuery } = targets;
  const tokenOf = (n: number): string => callers[n % callers.length]?.token ?? "";

  const onRow = (
    name: string,
    variant: (n: number) => { token: string; path: string; call: string; args: Arguments },
  ) => {
    const variants = Array.from({ length: VARIANTS }, (_, n) => variant(n));
    return {
      name,
      requests: variants.map(({ token, path }) => requestOf(token, "GET", path)),
      statements: variants.map(({ token, call, args }) => statementFor(token, call, args)),
    };
  };

  const searching = async (name: string, bodies: Record<string, unknown>[]): Promise<Scenario> => {
    const variants = Array.from({ length: SEARCHES }, (_, n) => ({
      token: tokenOf(n),
      body: bodies[n % bodies.length] ?? {},
    }));
    const statements = variants.map(async ({ token, body }) => {
      const query = body["query"];
      const [vector] = typeof query === "string" ? await embedder.embed([query], AbortSignal.timeout(1_000)) : [];
      const embedding = vector ? pgvector.toSql(vector) : null;
      const extraction = typeof query === "string" ? extractQuery(query) : null;
      return statementFor(token, "search_offers", {
        request: body,
        extraction,
        embedding,
        model: embedder.model,
        notices: "[]",
      });
    });
    return {
      name,
      requests: variants.map(({ token, body }) => requestOf(token, "POST", "/v1/offers/search", body)),
      statements: await Promise.all(statements),
    };
  };

  return [
    onRow("GET /v1/offers/{id}", (n) => {
      const id = targets.offerIds[n % targets.offerIds.length] ?? "";
      return { token: tokenOf(n), path: `/v1/offers/${id}`, call: "get_offer", args: { id } };
    }),
    onRow("GET /v1/me", (n) => {
      const token = tokenOf(n);
      return { token, path: "/v1/me", call: "get_me", args: { base_url: baseUrl, link_key: linkKey(token) } };
    }),
    onRow("GET /v1/asks/{id}/matches", (n) => {
      const { id, accountId } = targets.asks[n % targets.asks.length] ?? { id: "", accountId: "" };
      const token = callers.find((caller) => caller.accountId === accountId)?.token ?? "";
      const args = { id, since: null, page_size: 10, cursor: null };
      return { token, path: `/v1/asks/${id}/matches`, call: "list_matches", args };
    }),
    await searching("search: words that many share", [
      { query: "good condition sofa" },
      { query: "blue sofa in good condition" },
      { query: "Fahrrad in gutem Zustand" },
    ]),
    await searching(
      "search: a word that few share",
      Array.from({ length: SEARCHES }, (_, n) => ({ query: modelOf(Math.floor((n * targets.offers) / SEARCHES)) })),
    ),
    await searching("search: words and filters", [
      {
        query: "good condition sofa",
        filters: { location: "Bristol", price: { max: 300, currency: "GBP" }, offer_kind: "sale" },
      },
      { query: "laptop", filters: { domain: "electronics", price: { max: 500, currency: "EUR" } } },
    ]),
    await searching("search: filters alone", [
      { filters: { domain: "vehicles", price: { max: 400, currency: "EUR" } } },
      { filters: { location: "Berlin" } },
      { filters: { category: "apartments", offer_kind: "rental" }, sort: "price_asc" },
    ]),
  ];
};
