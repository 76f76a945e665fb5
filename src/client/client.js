import { createClient, defaultRetryOn, OPERATIONS, } from "./api.js";
/** A refusal by the market. `problem.code` is stable; `message` says what to do, fit to be read aloud. */
export class ProblemError extends Error {
    problem;
    constructor(problem) {
        super(problem.detail);
        this.name = "ProblemError";
        this.problem = problem;
    }
}
const isProblem = (body) => typeof body === "object" && body !== null && "code" in body && "detail" in body && "retryable" in body;
const problemError = (error) => (isProblem(error.body) ? new ProblemError(error.body) : error);
/** Whether to send a request again: the market says so (`retryable`), and does not ask for more patience than there is. */
const isWorthwhile = (patience) => async (context) => {
    const { response } = context;
    if (!response?.headers.get("content-type")?.includes("json"))
        return defaultRetryOn(context);
    const problem = await response
        .clone()
        .json()
        .catch(() => null);
    return isProblem(problem) && problem.retryable && Number(response.headers.get("retry-after") ?? 0) <= patience;
};
/** Returns a client of a market. It sends nothing until one of its functions is called. */
export const openMarket = ({ url, token, retries = 3, patience = 30, timeout = 40_000, ...rest }) => createClient(OPERATIONS, {
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
export async function* allResults(market, request) {
    let cursor = request.cursor;
    do {
        const found = await market.searchOffers({ body: cursor ? { ...request, cursor } : request });
        yield* found.results;
        cursor = found.page.next_cursor;
    } while (cursor);
}
