import pgvector from "pgvector";
import { hashSecret, linkKey } from "../../src/base/tokens.ts";
import type { Arguments } from "../../src/database/database.ts";
import { statementOf } from "../../src/database/database.ts";
import { createQueryExtractor } from "../../src/reader/builtin/query.ts";
import { createBuiltinEmbedder } from "../../src/reader/embed/embedder.ts";
import type { Embedder, QueryExtraction, Vocabulary } from "../../src/reader/extraction.ts";
import { NO_PLACES } from "../../src/reader/propose/gazetteer.ts";
import { seedMeaning } from "../reader/vocabulary.ts";
import { withClient } from "../support/client.ts";
import { rawRequest } from "./load.ts";
import type { Caller, Market } from "./market.ts";
import type { Statement } from "./pgbench.ts";
import { modelOf } from "./texts.ts";
import { type ToolCall, toolRequests } from "./tools.ts";

/**
 * The measured requests by kind, each as HTTP and as the SQL statement that it becomes.
 */

/** A kind of request: variants as raw HTTP requests, and the same variants as statements and, of some, as tool calls. */
export type Scenario = {
  name: string;
  requests: string[];
  statements: Statement[];
  tools?: ReturnType<typeof toolRequests>[];
};

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

/** The offers and asks that requests refer to: one for each variant of a scenario. */
const TARGETS = 48;

/** Finds what the requests refer to in a market, and what reads their queries. */
export const targetsOf = (market: Market, baseUrl: string, offers: number): Promise<Targets> =>
  withClient(market.url, async (client) => {
    const { rows: found } = await client.query<{ id: string }>(
      "select id from market.offer where status = 'published' order by md5(id::text) limit $1",
      [TARGETS],
    );
    const { rows: asks } = await client.query<{ id: string; accountId: string }>(
      'select id, account_id as "accountId" from market.ask order by md5(id::text) limit $1',
      [TARGETS],
    );
    const { rows: read } = await client.query<{ vocabulary: Vocabulary }>("select jobs.get_vocabulary() as vocabulary");
    const empty = { taxonomy: [], concepts: [], labels: [], places: NO_PLACES, classifiers: {} };
    return {
      baseUrl,
      callers: market.callers,
      offers,
      offerIds: found.map(({ id }) => id),
      asks,
      embedder: createBuiltinEmbedder(seedMeaning),
      extractQuery: createQueryExtractor(read[0]?.vocabulary ?? empty),
    };
  });

/** Different requests of a scenario: too many for a processor's cache, few enough for pgbench's limit of 128 files. */
const VARIANTS = 48;
/** Searches have fewer, because each statement has a vector of 5,000 characters on pgbench's command line. */
const SEARCHES = 24;

const requestOf = (token: string, method: string, path: string, body?: unknown): string =>
  rawRequest(method, path, { Authorization: `Bearer ${token}` }, body);

const toText = (value: Arguments[string]): string | null => {
  if (value === null) return null;
  if (Buffer.isBuffer(value)) return `\\x${value.toString("hex")}`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

const statementFor = (token: string, name: string, args: Arguments): Statement => ({
  text: statementOf("agent", name, Object.keys(args), "read"),
  values: [hashSecret(token), ...Object.values(args)].map(toText),
});

/** Returns searches as statements, as src/api/handlers/search.ts makes them. They take turns, each as another agent. */
export const searchStatements = (
  { callers, embedder, extractQuery }: Targets,
  bodies: Record<string, unknown>[],
): Promise<Statement[]> =>
  Promise.all(
    Array.from({ length: SEARCHES }, async (_, n) => {
      const body = bodies[n % bodies.length] ?? {};
      const query = body["query"];
      const [vector] = typeof query === "string" ? await embedder.embed([query], AbortSignal.timeout(1_000)) : [];
      return statementFor(callers[n % callers.length]?.token ?? "", "search_offers", {
        request: body,
        extraction: typeof query === "string" ? extractQuery(query) : null,
        embedding: vector ? pgvector.toSql(vector) : null,
        model: embedder.model,
        notices: "[]",
      });
    }),
  );

/** Calls each function as src/api/handle.ts does, with the same arguments in the same order. */
export const makeScenarios = async (targets: Targets): Promise<Scenario[]> => {
  const { baseUrl, callers } = targets;
  const tokenOf = (n: number): string => callers[n % callers.length]?.token ?? "";

  const onRow = (
    name: string,
    variant: (n: number) => { token: string; path: string; call: string; args: Arguments; tool: ToolCall },
  ) => {
    const variants = Array.from({ length: VARIANTS }, (_, n) => variant(n));
    return {
      name,
      requests: variants.map(({ token, path }) => requestOf(token, "GET", path)),
      statements: variants.map(({ token, call, args }) => statementFor(token, call, args)),
      tools: variants.map(({ token, tool }) => toolRequests(token, tool)),
    };
  };

  const searching = async (name: string, bodies: Record<string, unknown>[]): Promise<Scenario> => ({
    name,
    requests: Array.from({ length: SEARCHES }, (_, n) =>
      requestOf(tokenOf(n), "POST", "/v1/offers/search", bodies[n % bodies.length] ?? {}),
    ),
    statements: await searchStatements(targets, bodies),
  });

  const wordsAndFilters = [
    {
      query: "good condition sofa",
      filters: { location: "Bristol", price: { max: 300, currency: "GBP" }, offer_kind: "sale" },
    },
    { query: "laptop", filters: { domain: "electronics", price: { max: 500, currency: "EUR" } } },
  ];
  return [
    onRow("GET /v1/offers/{id}", (n) => {
      const id = targets.offerIds[n % targets.offerIds.length] ?? "";
      return {
        token: tokenOf(n),
        path: `/v1/offers/${id}`,
        call: "get_offer",
        args: { id },
        tool: { name: "get_offer", args: { offer_id: id } },
      };
    }),
    onRow("GET /v1/me", (n) => {
      const token = tokenOf(n);
      const args = { base_url: baseUrl, link_key: linkKey(token) };
      return { token, path: "/v1/me", call: "get_me", args, tool: { name: "get_me", args: {} } };
    }),
    onRow("GET /v1/asks/{id}/matches", (n) => {
      const { id, accountId } = targets.asks[n % targets.asks.length] ?? { id: "", accountId: "" };
      const token = callers.find((caller) => caller.accountId === accountId)?.token ?? "";
      const args = { id, since: null, page_size: 10, cursor: null };
      const tool = { name: "list_matches", args: { ask_id: id } };
      return { token, path: `/v1/asks/${id}/matches`, call: "list_matches", args, tool };
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
    {
      ...(await searching("search: words and filters", wordsAndFilters)),
      tools: wordsAndFilters.map((args, n) => toolRequests(tokenOf(n), { name: "search_offers", args })),
    },
    // The same searches in a circle, and with facets.
    await searching(
      "search: words in a radius",
      [
        { query: "good condition sofa", place: "Bristol" },
        { query: "blue sofa in good condition", place: "Leeds" },
        { query: "Fahrrad in gutem Zustand", place: "Berlin" },
      ].map(({ query, place }) => ({ query, filters: { near: { place, radius_km: 50 } } })),
    ),
    await searching(
      "search: words with facets",
      ["good condition sofa", "blue sofa in good condition", "Fahrrad in gutem Zustand"].map((query) => ({
        query,
        facets: ["category", "offer_kind", "price", "condition", "location"],
      })),
    ),
    await searching("search: filters alone", [
      { filters: { domain: "vehicles", price: { max: 400, currency: "EUR" } } },
      { filters: { location: "Berlin" } },
      { filters: { category: "apartments", offer_kind: "rental" }, sort: "price_asc" },
    ]),
  ];
};
