import {
  type ApiErrorLike,
  type Client,
  createClient,
  defaultRetryOn,
  OPERATIONS,
  type OperationContext,
  type OperationId,
  type OperationPath,
  type OperationTag,
  type Ops,
  type Problem,
  type RetryConfig,
  type RetryContext,
  type SearchRequest,
  type SearchResponse,
  type SearchResult,
  type VerificationRequired,
} from "./api.js";

/**
 * The typed client of a market: `import { openMarket } from "souk/client"`.
 *
 *   const market = openMarket({ url: "https://souk.example.com", token });
 *   const { results } = await market.searchOffers({ body: { query: "sofa in Berlin" } });
 *   for await (const ask of market.listAsks.items()) console.log(ask.title);
 *
 * It has one function for each operation of the OpenAPI document. A request that failed for a moment is sent again, after
 * the time that the market asks for; a request that changes something carries an idempotency key, so that it is done once
 * even if it is sent twice. A refusal is thrown as a ProblemError.
 */

export type * from "./api.js";

/** A client of one market. */
export type Market = Client<Ops, OperationContext<OperationId, OperationPath, OperationTag>>;

/** A refusal by the market. `problem.code` is stable; `message` says what to do, fit to be read aloud. */
export class ProblemError extends Error {
  readonly problem: Problem | VerificationRequired;
  constructor(problem: Problem | VerificationRequired) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

/** How to reach a market. */
export type MarketOptions = {
  /** The address of the market, without /v1. */
  url: string;
  /** The agent_token of connectAgent. Without one, only what needs none can be called. */
  token?: string | undefined;
  /** How often a request that failed for a moment is sent again. Default 3. */
  retries?: number;
  /** The longest Retry-After to wait for, in seconds. If the market asks for more, the Problem is thrown. Default 30. */
  patience?: number;
  /** Milliseconds until an attempt is given up. Default 40,000: the market answers within 25 seconds. */
  timeout?: number;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
};

const isProblem = (body: unknown): body is Problem =>
  typeof body === "object" && body !== null && "code" in body && "detail" in body && "retryable" in body;

const problemError = (error: ApiErrorLike): Error => (isProblem(error.body) ? new ProblemError(error.body) : error);

/** Whether to send a request again: the market says so (`retryable`), and does not ask for more patience than there is. */
const isWorthwhile =
  (patience: number): NonNullable<RetryConfig["retryOn"]> =>
  async (context: RetryContext) => {
    const { response } = context;
    if (!response?.headers.get("content-type")?.includes("json")) return defaultRetryOn(context);
    const problem: unknown = await response
      .clone()
      .json()
      .catch(() => null);
    return isProblem(problem) && problem.retryable && Number(response.headers.get("retry-after") ?? 0) <= patience;
  };

/** Returns a client of a market. It sends nothing until one of its functions is called. */
export const openMarket = ({
  url,
  token,
  retries = 3,
  patience = 30,
  timeout = 40_000,
  ...rest
}: MarketOptions): Market =>
  createClient<Ops, OperationId, OperationPath, OperationTag>(OPERATIONS, {
    ...rest,
    serverUrl: url,
    timeout,
    idempotencyKey: true,
    // The market has no use for the name of the generator.
    clientHeader: false,
    retry: { retries, retryDelay: 500, retryOn: isWorthwhile(patience) },
    onError: problemError,
    ...(token === undefined ? {} : { auth: { bearer: token } }),
  });

/** Finds offers, page after page: `for await (const offer of allResults(market, { query: "sofa" }))`. */
export async function* allResults(market: Market, request: SearchRequest): AsyncGenerator<SearchResult> {
  let cursor: string | null | undefined = request.cursor;
  do {
    const found: SearchResponse = await market.searchOffers({ body: cursor ? { ...request, cursor } : request });
    yield* found.results;
    cursor = found.page.next_cursor;
  } while (cursor);
}
