import { type Client, type OperationContext, type OperationId, type OperationPath, type OperationTag, type Ops, type Problem, type SearchRequest, type SearchResult, type VerificationRequired } from "./api.js";
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
export declare class ProblemError extends Error {
    readonly problem: Problem | VerificationRequired;
    constructor(problem: Problem | VerificationRequired);
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
/** Returns a client of a market. It sends nothing until one of its functions is called. */
export declare const openMarket: ({ url, token, retries, patience, timeout, ...rest }: MarketOptions) => Market;
/** Finds offers, page after page: `for await (const offer of allResults(market, { query: "sofa" }))`. */
export declare function allResults(market: Market, request: SearchRequest): AsyncGenerator<SearchResult>;
