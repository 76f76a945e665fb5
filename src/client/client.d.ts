import type { Calls, PowerRequired, Problem, VerificationRequired } from "./api.d.ts";

/**
 * The typed client of a market: `import { openMarket } from "souk/client"`.
 *
 *   const market = openMarket({ url: "https://souk.example.com", token });
 *   const { results } = await market.call("POST /v1/offers/search", { body: { query: "sofa in Berlin" } });
 *   for await (const ask of market.items("GET /v1/asks")) titles.push(ask.title);
 *
 * A call is named by its method and path, as in the OpenAPI document. A request that failed for a moment is sent again,
 * after the time that the market asks for; a request that makes something carries an idempotency key, so that it is done
 * once even if it is sent twice. A refusal is thrown as a ProblemError.
 */

export type * from "./api.d.ts";

/** A call: "POST /v1/offers". */
export type CallName = keyof Calls;

/** What a call takes: the values of the path and of the query, and the body. */
export type Arguments<Name extends CallName> = Pick<
  Calls[Name]["args"],
  keyof Calls[Name]["args"] & ("path" | "query" | "body")
> & {
  /** Sent as Idempotency-Key. By default, each call that makes something gets a key of its own. */
  idempotencyKey?: string;
};

/** What a call returns. */
export type Result<Name extends CallName> = Calls[Name]["result"];

/** Calls without a required argument may leave the arguments out. */
type Given<Name extends CallName> =
  Record<never, never> extends Arguments<Name> ? [args?: Arguments<Name>] : [args: Arguments<Name>];

/** Calls that return a page of a list. */
export type ListName = {
  [Name in CallName]: Result<Name> extends { results: unknown[] } | { events: unknown[]; has_more: boolean }
    ? Name
    : never;
}[CallName];

type Item<Page> = Page extends { results: (infer Entry)[] } | { events: (infer Entry)[] } ? Entry : never;

/** A client of one market. Each function throws a ProblemError, or what fetch throws if there is no answer. */
export type Market = {
  /** Makes a call and returns its body. */
  call<Name extends CallName>(name: Name, ...given: Given<Name>): Promise<Result<Name>>;
  /** Makes a call and returns its status, headers and body. */
  exchange<Name extends CallName>(
    name: Name,
    ...given: Given<Name>
  ): Promise<{ status: number; headers: Headers; body: Result<Name> }>;
  /** Yields one page of a list after another. */
  pages<Name extends ListName>(name: Name, ...given: Given<Name>): AsyncGenerator<Result<Name>>;
  /** Yields the entries of a list, page after page. */
  items<Name extends ListName>(name: Name, ...given: Given<Name>): AsyncGenerator<Item<Result<Name>>>;
};

/** How to reach a market. */
export type MarketOptions = {
  /** The address of the market, without /v1. */
  url: string;
  /** The agent_token of POST /v1/connect. Without one, only what needs none can be called. */
  token?: string | undefined;
  /** How often a request that failed for a moment is sent again. Default 3. */
  retries?: number;
  /** The longest Retry-After to wait for, in seconds. If the market asks for more, the Problem is thrown. Default 30. */
  patience?: number;
  /** Milliseconds until a try is given up. Default 40,000: the market answers within 25 seconds. */
  timeout?: number;
  /** Replaces the global fetch. */
  fetch?: typeof fetch;
};

/** Returns a client of a market. It sends nothing until one of its functions is called. */
export declare const openMarket: (options: MarketOptions) => Market;

/** A refusal by the market. `problem.code` is stable; `message` says what to do, fit to be read aloud. */
export declare class ProblemError extends Error {
  readonly problem: Problem | VerificationRequired | PowerRequired;
  constructor(problem: Problem | VerificationRequired | PowerRequired);
}
