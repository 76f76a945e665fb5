/**
 * The typed client of a market. Its types are in client.d.ts, which documents each function. It is JavaScript, because
 * Node runs no TypeScript below node_modules; it needs nothing but fetch.
 */

/** The pause before the first repetition, in milliseconds, if the market names none. It doubles from try to try. */
const FIRST_PAUSE_MS = 500;
/** Methods that may be sent again although nobody knows whether the first request arrived. */
const SAFE_METHODS = ["GET", "DELETE"];
/** What a proxy before the market answers while the market is away. */
const AWAY = [502, 503, 504];

/** A refusal by the market. */
export class ProblemError extends Error {
  constructor(problem) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

const isProblem = (body) =>
  typeof body === "object" && body !== null && "code" in body && "detail" in body && "retryable" in body;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The address of a call: its path with the values of `{name}`, and the query. */
const addressOf = (base, path, { path: values = {}, query = {} }) => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]));
  const url = new URL(base.replace(/\/+$/, "") + filled);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  return url;
};

/** The body of a response: JSON, or undefined if there is none. Text that is no JSON is no answer of a market. */
const bodyOf = async (response) => {
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
};

export const openMarket = ({ url, token, retries = 3, patience = 30, timeout = 40_000, fetch: send = fetch }) => {
  const exchange = async (call, args = {}) => {
    const [method, path] = call.split(" ");
    const address = addressOf(url, path, args);
    // The same key in each try, so that what is sent twice is done once.
    const key = args.idempotencyKey ?? (method === "POST" ? crypto.randomUUID() : undefined);
    const request = {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...(args.body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(args.body === undefined ? {} : { body: JSON.stringify(args.body) }),
    };
    for (let tries = 0; ; tries++) {
      const pause = FIRST_PAUSE_MS * 2 ** tries;
      let response;
      let body;
      try {
        response = await send(address, { ...request, signal: AbortSignal.timeout(timeout) });
        body = await bodyOf(response);
      } catch (error) {
        // No answer, or one that was cut off or is not the market's.
        const isRepeatable = key !== undefined || SAFE_METHODS.includes(method);
        if (tries === retries || !isRepeatable || (response && !AWAY.includes(response.status))) throw error;
        await sleep(pause);
        continue;
      }
      if (response.ok) return { status: response.status, headers: response.headers, body };
      const wait = Number(response.headers.get("retry-after") ?? 0);
      if (!isProblem(body)) throw new Error(`${call} was answered with ${response.status} and no Problem.`);
      if (tries === retries || !body.retryable || wait > patience) throw new ProblemError(body);
      await sleep(wait > 0 ? wait * 1000 : pause);
    }
  };

  /** Yields the pages of a list. The cursor goes where the call takes it: `after` for events, the body of a search. */
  async function* pages(call, args = {}) {
    for (let next = args; ; ) {
      const { body } = await exchange(call, next);
      yield body;
      if ("has_more" in body && "cursor" in body) {
        if (!body.has_more) return;
        next = { ...args, query: { ...args.query, after: body.cursor } };
      } else {
        const cursor = body.page?.next_cursor;
        if (!cursor) return;
        next = args.body ? { ...args, body: { ...args.body, cursor } } : { ...args, query: { ...args.query, cursor } };
      }
    }
  }

  return {
    call: async (call, args) => (await exchange(call, args)).body,
    exchange,
    pages,
    async *items(call, args) {
      for await (const page of pages(call, args)) yield* page.results ?? page.events;
    },
  };
};
