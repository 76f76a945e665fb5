import { type RequestOptions, request } from "node:http";
import { hashSecret } from "../../src/base/tokens.ts";
import { keptSessions } from "./client.ts";

/**
 * Callers of the market: plain HTTP requests to a running service.
 *
 *   answer     a response: its status, headers (names in lower case) and body, parsed if it is JSON
 *   agent      a token with a function to make calls. It is connected once a person has approved it
 */

// biome-ignore lint/suspicious/noExplicitAny: tests read single members of bodies, and compare whole ones.
export type Body = any;
/** A response. `text` is the body as it was received. */
export type Answer = { status: number; headers: Record<string, string>; body: Body; text: string };

/**
 * The body of an answer without the address of the offer's page. Processes of tests have no BASE_URL, so each gives its own
 * address.
 */
export const withoutPage = ({ web_url: _page, ...rest }: Body): Body => rest;

/** Longer than the service ever takes, so that only a real hang fails a test on a busy machine. */
const ANSWER_MS = 120_000;

/**
 * The address from which this process sends: callers without a token share in fair use by their addresses, and test files
 * that run at the same time must not. Linux owns all addresses that begin with 127.
 */
const OWN_ADDRESS = `127.${64 + ((process.pid >> 14) & 127)}.${(process.pid >> 7) & 127}.${1 + (process.pid & 127)}`;

/** Options of a request. */
export type CallOptions = {
  body?: unknown;
  raw?: string | Buffer;
  headers?: Record<string, string>;
  /** Sends the body in chunks, without Content-Length. */
  chunked?: boolean;
  /** Another address of this machine to send from, on Linux. */
  from?: string;
  timeoutMs?: number;
};

/** Makes one HTTP request. `body` is sent as JSON, `raw` unchanged. Rejects after `timeoutMs` without a response. */
export const call = (url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const settings: RequestOptions = {
      method,
      agent: false,
      ...(process.platform === "linux" && url.includes("//127.0.0.1:")
        ? { localAddress: options.from ?? OWN_ADDRESS }
        : {}),
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

/** An agent with its token. */
export type Agent = {
  id: string;
  token: string;
  /** The link at which a person approves the agent. */
  link: string;
  code: string;
  /** The Request-Id of the connect response. */
  request: string;
  call: AgentCall;
  /** Makes calls to another process of the same service. */
  at: (url: string) => AgentCall;
};

type AgentCall = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** Connects an agent, which is not approved yet. @throws an Error if the status is not 201 */
export const connectAgent = async (url: string, name = "Test agent", more: object = {}): Promise<Agent> => {
  const { status, body, headers } = await call(url, "POST", "/v1/connect", { body: { name, ...more } });
  if (status !== 201) throw new Error(`connect gave ${status}: ${JSON.stringify(body)}`);
  const token: string = body.agent_token;
  const at =
    (process: string): AgentCall =>
    (method, path, sent, headers = {}) =>
      call(process, method, path, {
        ...(sent === undefined ? {} : { body: sent }),
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
  return {
    id: body.agent_id,
    token,
    link: body.connection.url,
    code: body.connection.code,
    request: headers["request-id"] ?? "none",
    call: at(url),
    at,
  };
};

/** Connects an agent and approves it as a new person by SQL, not on the page: the page has tests of its own. */
export const connectedAgent = async (url: string, database: string, name = "Test agent"): Promise<Agent> => {
  const agent = await connectAgent(url, name);
  await approveLink(database, agent.link);
  return agent;
};

/** The hash of the secret of the session in which `approveLink` approves. */
export const sessionOf = (link: string): Buffer => hashSecret(`session of ${link}`);

/** Approves the agent of a link as a new person, by SQL. */
export const approveLink = async (database: string, link: string): Promise<void> => {
  const secrets = [hashSecret(link.split("/").at(-1) ?? ""), sessionOf(link)];
  await keptSessions(database).query(
    `select api.approve_connection($1, null, $2, picked => (select code from market.connection where secret_hash = $1))`,
    secrets,
  );
};

/** A text that the built-in extractor understands completely. */
export const SOFA =
  "Grey three-seat sofa for sale, good condition, smoke-free home. 180 EUR, pick up in Berlin. Write to lena@example.com";

/**
 * Repeats a call while the service answers 503 or 408, as a client would, and waits for Retry-After (seconds) each
 * time. If many calls run at once on a busy machine, some time out, and those have had no effect.
 */
export const patiently = async (attempt: () => Promise<Answer>): Promise<Answer> => {
  for (;;) {
    const answer = await attempt();
    if (answer.status !== 503 && answer.status !== 408) return answer;
    await new Promise((resolve) => setTimeout(resolve, Number(answer.headers["retry-after"] ?? 1) * 1000));
  }
};

/** The longest wait: a cold start on a machine that does twenty other things. A passing test never waits this long. */
const PATIENCE_MS = 180_000;

/**
 * The pauses between attempts grow: most attempts open a connection, and what has not come within a second may take a
 * minute, in which other tests need the processors.
 */
const FIRST_PAUSE_MS = 30;
const LAST_PAUSE_MS = 300;

/**
 * Repeats an attempt until its result is as wanted, for work that the worker does later. @throws an Error after
 * `timeoutMs`
 */
export const eventually = async <T>(
  attempt: () => Promise<T>,
  wanted: (value: T) => boolean,
  timeoutMs = PATIENCE_MS,
): Promise<T> => {
  const end = Date.now() + timeoutMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(LAST_PAUSE_MS, pause * 1.2)) {
    const value = await attempt();
    if (wanted(value)) return value;
    if (Date.now() > end) throw new Error(`never as wanted; last: ${JSON.stringify(value)?.slice(0, 2000)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
};

/** Waits until something is so. @throws an Error after `timeoutMs` */
export const until = async (isSo: () => unknown, timeoutMs?: number): Promise<void> =>
  void (await eventually(async () => isSo(), Boolean, timeoutMs));

/**
 * Returns everything that a service has logged about the requests until now. A service writes its lines a moment after its
 * answers, in their order, so this makes one more request and waits for its line.
 */
export const wholeLog = async (service: { url: string; logs: () => string | Promise<string> }): Promise<string> => {
  const { headers } = await call(service.url, "GET", "/v1");
  return eventually(
    async () => service.logs(),
    (logs) => logs.includes(headers["request-id"] ?? "no id"),
  );
};

/** Waits until no job of a database is running or due. A job that failed waits for its next attempt. */
export const idleQueue = (database: string, timeoutMs?: number): Promise<unknown> =>
  eventually(
    async () => {
      const { rows } = await keptSessions(database).query(
        "select from graphile_worker.jobs where locked_at is not null or run_at <= now() and attempts < max_attempts",
      );
      return rows.length;
    },
    (busy) => busy === 0,
    timeoutMs,
  );
