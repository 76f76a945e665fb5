import { type RequestOptions, request } from "node:http";
import { hashSecret } from "../../src/http/tokens.ts";
import { withClient } from "./client.ts";

/**
 * The market as its callers meet it: plain HTTP against a running service.
 *
 *   answer     status, headers (lower case) and body, parsed when it is JSON
 *   agent      a token with its calls; connected when a person has approved it
 */

// biome-ignore lint/suspicious/noExplicitAny: bodies are what tests look into, and they compare whole ones.
export type Body = any;
export type Answer = { status: number; headers: Record<string, string>; body: Body; text: string };

/** Longer than the service takes in any case, so that a stall is told apart from a busy machine. */
const ANSWER_MS = 120_000;

export type CallOptions = {
  body?: unknown;
  raw?: string | Buffer;
  headers?: Record<string, string>;
  /** Sends the body without saying how long it is. */
  chunked?: boolean;
  timeoutMs?: number;
};

/** One HTTP request. `body` is sent as JSON; `raw` as it is. */
export const call = (url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const settings: RequestOptions = {
      method,
      agent: false,
      timeout: options.timeoutMs ?? ANSWER_MS,
      headers: {
        ...(payload === undefined
          ? {}
          : {
              "content-type": "application/json",
              ...(options.chunked
                ? { "transfer-encoding": "chunked" }
                : { "content-length": String(Buffer.byteLength(payload)) }),
            }),
        ...options.headers,
      },
    };
    const sent = request(url + path, settings, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const headers = Object.fromEntries(
          Object.entries(response.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(", ") : (value ?? ""),
          ]),
        );
        const isJson = /json/.test(headers["content-type"] ?? "");
        resolve({
          status: response.statusCode ?? 0,
          headers,
          body: isJson && text !== "" ? JSON.parse(text) : text,
          text,
        });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`${method} ${path} took too long`)));
    sent.on("error", reject);
    sent.end(payload);
  });

export type Agent = {
  id: string;
  token: string;
  /** Where its person approves it. */
  link: string;
  code: string;
  /** The Request-Id of its connection. */
  request: string;
  call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
};

/** Connects an agent, which no person has approved yet. */
export const connectAgent = async (url: string, name = "Test agent"): Promise<Agent> => {
  const { status, body, headers } = await call(url, "POST", "/v1/connect", { body: { name } });
  if (status !== 201) throw new Error(`connect gave ${status}: ${JSON.stringify(body)}`);
  const token: string = body.agent_token;
  return {
    id: body.agent_id,
    token,
    link: body.connection.url,
    code: body.connection.code,
    request: headers["request-id"] ?? "none",
    call: (method, path, sent, headers = {}) =>
      call(url, method, path, {
        ...(sent === undefined ? {} : { body: sent }),
        headers: { authorization: `Bearer ${token}`, ...headers },
      }),
  };
};

/** Connects an agent and approves it as a new person, past the page: the page has tests of its own. */
export const connectedAgent = async (url: string, database: string, name = "Test agent"): Promise<Agent> => {
  const agent = await connectAgent(url, name);
  const secret = agent.link.split("/").at(-1) ?? "";
  await withClient(database, (client) =>
    client.query("select api.approve_connection($1, null, $2)", [
      hashSecret(secret),
      hashSecret(`session of ${agent.id}`),
    ]),
  );
  return agent;
};

/** A text that the built-in reader understands whole. */
export const SOFA =
  "Grey three-seat sofa for sale, good condition, smoke-free home. 180 EUR, pick up in Berlin. Write to lena@example.com";

/**
 * Repeats a call as a client does while the service says that it is briefly unavailable, or had no time to read it: on a
 * machine with more to do than it can, some of many calls at once wait in vain, and nothing was done for them.
 */
export const patiently = async (attempt: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await attempt();
    if (answer.status !== 503 && answer.status !== 408) return answer;
    await new Promise((resolve) => setTimeout(resolve, Number(answer.headers["retry-after"] ?? 1) * 1000));
  }
};

/** As long as a cold start takes on a machine that does twenty other things; a test that passes never waits this long. */
const PATIENCE_MS = 180_000;

/** Asks again until the answer is as wanted; for what the worker does a moment later. @throws when it never is */
export const eventually = async <T>(
  attempt: () => Promise<T>,
  wanted: (value: T) => boolean,
  timeoutMs = PATIENCE_MS,
): Promise<T> => {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await attempt();
    if (wanted(value)) return value;
    if (Date.now() > end) throw new Error(`never as wanted; last: ${JSON.stringify(value)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
