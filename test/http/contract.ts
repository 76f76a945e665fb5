import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import pg from "pg";
import { hashSecret, newSecret } from "../../src/base/tokens.ts";
import { createDatabase } from "../support/database.ts";
import {
  type Agent,
  type Answer,
  type Body,
  type CallOptions,
  call,
  connectAgent,
  connectedAgent,
} from "../support/market.ts";
import { startService } from "../support/service.ts";
import { sharedService } from "../support/shared.ts";
import { takingTurns } from "../support/turns.ts";

/**
 * A service. Every response is checked against the OpenAPI document that the service
 * returns.
 *
 *   closed     a document whose objects allow only the listed members. Clients ignore members that they do not know,
 *              but the service must not return any that it has not described
 *   settled    a response in which values that differ from run to run are replaced by placeholders
 *   operation  an endpoint as the document describes it
 */

type Operation = { operationId: string; method: string; path: string; pattern: RegExp };

/** An OpenAPI document, prepared to check responses. */
export type Contract = {
  document: Body;
  /** Each operation with each status that a response has had. */
  seen: Set<string>;
  /** Differences between a response and the document, in words. Empty if there are none. */
  faults: (method: string, path: string, answer: Answer, by?: "agent" | "person") => string[];
};

export type Person = {
  /** The session cookie: the secret of the session. */
  cookie: string;
  call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
};

export type Market = {
  url: string;
  databaseUrl: string;
  contract: Contract;
  /** Sends one request with the given headers. @throws when the response differs from the document */
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  /** An agent without approval. */
  stranger: (name?: string) => Promise<Agent>;
  /** An agent that a person has approved. */
  agent: (name?: string) => Promise<Agent>;
  /** The person of an agent, in a browser on a page of the service. */
  person: (agent: Agent) => Promise<Person>;
  /** Runs SQL as the database's superuser, for states that no caller can cause. */
  sql: (query: string, values?: unknown[]) => Promise<Body[]>;
  logs: () => string | Promise<string>;
  stop: () => Promise<void>;
};

/** Documented headers that depend on the request. Every response of an operation must have all others. */
const SOMETIMES = new Set(["Idempotency-Replayed"]);
/** Headers about a cap. Responses to a person do not have them, because a person has no cap. */
const OF_A_CAP = /^RateLimit-/;

const pointer = (...parts: (string | number)[]): string =>
  parts.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** A copy in which every object schema with a list of members allows no others. */
const close = (value: Body): Body => {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member)]));
  return copy["type"] === "object" && copy["properties"] !== undefined && copy["additionalProperties"] === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
};

/** A function that compiles a validator for any place in an OpenAPI document, once per place. */
export const validatorOf = (document: Body): ((...place: (string | number)[]) => ValidateFunction) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
  formats.default(ajv);
  ajv.addSchema(document, "contract");
  const made = new Map<string, ValidateFunction>();
  return (...place) => {
    const reference = `contract#${encodeURI(pointer(...place))}`;
    const validate = made.get(reference) ?? ajv.compile({ $ref: reference });
    made.set(reference, validate);
    return validate;
  };
};

/** A response of an operation, and its place in the document: that of the shared response, if it is one. */
export const responseOf = (
  document: Body,
  path: string,
  method: string,
  status: string,
): { place: string[]; response: Body } => {
  const response = document.paths[path][method].responses[status];
  const shared = response?.$ref?.split("/").at(-1);
  return shared === undefined
    ? { place: ["paths", path, method, "responses", status], response }
    : { place: ["components", "responses", shared], response: document.components.responses[shared] };
};

/** How a value violates a schema, in words. */
export const wrongBy = (validate: ValidateFunction, value: unknown): string[] =>
  validate(value)
    ? []
    : (validate.errors ?? []).map(
        (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params).slice(0, 120)}`,
      );

/** Prepares an OpenAPI document to check responses. */
export const openContract = (document: Body): Contract => {
  const closed = close(document);
  const validator = validatorOf(closed);
  const seen = new Set<string>();
  const operations: Operation[] = Object.entries<Body>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).map(([method, operation]) => ({
      operationId: operation.operationId,
      method: method.toUpperCase(),
      path,
      pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    })),
  );
  // A path without parameters comes before a pattern that it also matches: /v1/offers/search and /v1/offers/{id}.
  operations.sort((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")));

  const faults: Contract["faults"] = (method, path, answer, by = "agent") => {
    if (method === "HEAD") return [];
    const { status, headers, body } = answer;
    if (!headers["request-id"]) return ["no Request-Id"];
    const fitting = operations.filter(({ pattern }) => pattern.test(path.replace(/[?#].*$/, "")));
    const operation = fitting.find((one) => one.method === method && one.path === fitting[0]?.path);
    const media = (headers["content-type"] ?? "").replace(/;.*$/, "");
    if (!operation) {
      // The document does not describe this path and method, so only a Problem is right.
      if (media !== "application/problem+json") return [`${status} ${media}, which is no Problem`];
      return wrongBy(validator("components", "schemas", "Problem"), body);
    }
    seen.add(`${operation.operationId} ${status}`);
    const { place, response } = responseOf(document, operation.path, method.toLowerCase(), String(status));
    if (!response) return [`${operation.operationId} does not describe the status ${status}: ${answer.text}`];
    const missing = Object.keys(response.headers).filter(
      (name) =>
        !SOMETIMES.has(name) && !(by === "person" && OF_A_CAP.test(name)) && headers[name.toLowerCase()] === undefined,
    );
    const content = response.content?.[media];
    if (response.content === undefined) return answer.text === "" ? missing : ["a body where none is described"];
    if (!content) return [`${operation.operationId} ${status} does not describe ${media}`];
    return [...missing.map((name) => `no ${name}`), ...wrongBy(validator(...place, "content", media, "schema"), body)];
  };
  return { document, seen, faults };
};

/** Opens the service that other test files use, too. Call `stop` in `test.after.always`. */
export const openMarket = async (...configuration: Parameters<typeof sharedService>): Promise<Market> => {
  const { url, database, logs } = await sharedService(...configuration);
  return marketOf(url, database, logs, async () => {});
};

/** Starts a service with a database of its own. Call `stop` in `test.after.always`. */
export const openOwnMarket = async (env: Record<string, string> = {}): Promise<Market> => {
  const database = await createDatabase();
  const service = await startService({
    database: database.url,
    env: { CONNECTIONS_PER_HOUR: "1000000", ...env },
  }).catch(async (error: unknown) => {
    await database.drop();
    throw error;
  });
  return marketOf(service.url, database.url, service.logs, async () => {
    await service.stop();
    await database.drop();
  });
};

const marketOf = async (
  url: string,
  databaseUrl: string,
  logs: Market["logs"],
  stop: () => Promise<void>,
): Promise<Market> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  // Without a listener, the loss of the server would end the test process.
  client.on("error", () => {});
  await client.connect();
  const { body: document } = await call(url, "GET", "/v1/openapi.json");
  const contract = openContract(document);

  const held = (method: string, path: string, answer: Answer, by?: "agent" | "person"): Answer => {
    const faults = contract.faults(method, path, answer, by);
    if (faults.length > 0)
      throw new Error(`${method} ${path} → ${answer.status}: ${faults.join("; ")}\n${answer.text}`);
    return answer;
  };
  const turn = takingTurns();
  const holding = (agent: Agent): Agent => ({
    ...agent,
    call: async (method, path, body, headers) =>
      held(method, path, await turn(() => agent.call(method, path, body, headers))),
  });
  return {
    url,
    databaseUrl,
    contract,
    call: async (method, path, options = {}) => held(method, path, await turn(() => call(url, method, path, options))),
    person: async (agent) => {
      const cookie = newSecret();
      await client.query(
        "insert into market.session (account_id, secret_hash) select account_id, $2 from market.agent where id = $1",
        [agent.id, hashSecret(cookie)],
      );
      return {
        cookie,
        call: async (method, path, body, headers = {}) => {
          const sent = { cookie: `souk_session=${cookie}`, origin: url, ...headers };
          const options = { ...(body === undefined ? {} : { body }), headers: sent };
          return held(method, path, await turn(() => call(url, method, path, options)), "person");
        },
      };
    },
    stranger: async (name) => holding(await turn(() => connectAgent(url, name))),
    agent: async (name) => holding(await turn(() => connectedAgent(url, databaseUrl, name))),
    sql: async (query, values) => (await client.query(query, values)).rows,
    logs,
    stop: async () => {
      await client.end();
      await stop();
    },
  };
};

const PLACEHOLDERS: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>"],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, "<time>"],
  [/^\d{4}-\d\d-\d\d$/, "<day>"],
  [/^\d{4}-\d\d$/, "<month>"],
  [/^agt_[0-9A-Za-z]{49}$/, "<token>"],
  [/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/, "<code>"],
  [/\/(connect|verify)\/[0-9A-Za-z_-]{27,}$/, "/$1/<secret>"],
];

/** Members whose values differ from run to run and cannot be recognised by their form. */
const UNSETTLED: Record<string, string> = {
  next_cursor: "<cursor>",
  since: "<cursor>",
  cursor: "<cursor>",
  resets_in: "<seconds>",
  score: "<score>",
  extraction: "<extraction>",
};

/** A value in which ids, times, tokens, secrets and cursors are replaced by placeholders. */
export const settled = (value: Body, url = ""): Body => {
  if (Array.isArray(value)) return value.map((member) => settled(member, url));
  if (typeof value === "string") {
    const placed = PLACEHOLDERS.reduce((text, [form, name]) => text.replace(form, name), value);
    return url === "" ? placed : placed.replaceAll(url, "<base>");
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const placeholder = UNSETTLED[name];
      if (name === "expires_in" && Number(member) >= 1790 && Number(member) <= 1800) return [name, "<30 minutes>"];
      return [name, placeholder && member !== null && member !== 0 ? placeholder : settled(member, url)];
    }),
  );
};

/** The headers of a response that the contract describes. */
export const telling = (answer: Answer): Record<string, string> =>
  Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) =>
      /^(content-type|cache-control|etag|allow|retry-after|www-authenticate|idempotency-replayed|ratelimit-(limit|remaining))$/.test(
        name,
      ),
    ),
  );

/** An offer that states each part once, so that it can be read in only one way. */
export const OFFER =
  "Grey three-seat sofa for sale. Good condition. 180 EUR, pick up in Berlin. Write to lena@example.com";

/** A UUIDv7 that identifies nothing. */
export const NOTHING = "01979e5c-0000-7000-8000-000000000000";
