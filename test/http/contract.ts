import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import pg from "pg";
import { hashSecret, newSecret } from "../../src/http/tokens.ts";
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
import { takingTurns } from "../support/turns.ts";

/**
 * A market of one's own whose every answer is held against the OpenAPI document that it serves.
 *
 *   closed     a document in which objects may have no members but the named ones: clients ignore what they do not know,
 *              but the service says nothing that it has not described
 *   settled    an answer in which what differs from run to run has given way to a placeholder
 *   operation  an endpoint as the document knows it
 */

type Operation = { operationId: string; method: string; path: string; pattern: RegExp; responses: Body };

/** An OpenAPI document, ready to judge answers. */
export type Contract = {
  document: Body;
  /** Every operation with a status that an answer has had. */
  seen: Set<string>;
  /** What an answer has that the document does not say, in words; none when it is as described. */
  faults: (method: string, path: string, answer: Answer, by?: "agent" | "person") => string[];
};

export type Person = {
  /** What the browser keeps: the secret of the session. */
  cookie: string;
  call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
};

export type Market = {
  url: string;
  databaseUrl: string;
  contract: Contract;
  /** One request, by whoever the headers say. @throws when the answer is not as the document says */
  call: (method: string, path: string, options?: CallOptions) => Promise<Answer>;
  /** An agent that nobody has approved. */
  stranger: (name?: string) => Promise<Agent>;
  /** An agent with a person. */
  agent: (name?: string) => Promise<Agent>;
  /** The person behind an agent, in a browser on a page of the service. */
  person: (agent: Agent) => Promise<Person>;
  /** SQL as the database's superuser, for what no caller can bring about. */
  sql: (query: string, values?: unknown[]) => Promise<Body[]>;
  logs: () => string;
  stop: () => Promise<void>;
};

/** Headers that are promised for every answer of an operation; the rest depend on what was asked. */
const SOMETIMES = new Set(["Idempotency-Replayed"]);
/** Headers that say what is left of a cap, which a person does not have. */
const OF_A_CAP = /^RateLimit-/;

const pointer = (...parts: (string | number)[]): string =>
  parts.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** A copy in which every object schema that lists its members allows no others. */
const close = (value: Body): Body => {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member)]));
  return copy["type"] === "object" && copy["properties"] !== undefined && copy["additionalProperties"] === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
};

/** A validator of any place in an OpenAPI document, made when it is first asked for. */
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

/** What a value does wrong by a schema, in words. */
export const wrongBy = (validate: ValidateFunction, value: unknown): string[] =>
  validate(value)
    ? []
    : (validate.errors ?? []).map(
        (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params).slice(0, 120)}`,
      );

/** Makes a document ready to judge answers. */
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
      responses: operation.responses,
    })),
  );
  // A path without parameters comes before one that it also fits: /v1/offers/search and /v1/offers/{id}.
  operations.sort((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")));

  const faults: Contract["faults"] = (method, path, answer, by = "agent") => {
    if (method === "HEAD") return [];
    const { status, headers, body } = answer;
    if (!headers["request-id"]) return ["no Request-Id"];
    const fitting = operations.filter(({ pattern }) => pattern.test(path.replace(/[?#].*$/, "")));
    const operation = fitting.find((one) => one.method === method && one.path === fitting[0]?.path);
    const media = (headers["content-type"] ?? "").replace(/;.*$/, "");
    if (!operation) {
      // Nothing that the document describes, so a refusal in the common shape.
      if (media !== "application/problem+json") return [`${status} ${media}, which is no Problem`];
      return wrongBy(validator("components", "schemas", "Problem"), body);
    }
    seen.add(`${operation.operationId} ${status}`);
    const response = operation.responses[String(status)];
    if (!response) return [`${operation.operationId} does not describe the status ${status}: ${answer.text}`];
    const missing = Object.keys(response.headers).filter(
      (name) =>
        !SOMETIMES.has(name) && !(by === "person" && OF_A_CAP.test(name)) && headers[name.toLowerCase()] === undefined,
    );
    const content = response.content?.[media];
    if (response.content === undefined) return answer.text === "" ? missing : ["a body where none is described"];
    if (!content) return [`${operation.operationId} ${status} does not describe ${media}`];
    const place = ["paths", operation.path, method.toLowerCase(), "responses", status, "content", media, "schema"];
    return [...missing.map((name) => `no ${name}`), ...wrongBy(validator(...place), body)];
  };
  return { document, seen, faults };
};

/** Starts a service with a database of its own. Call `stop` in `test.after.always`. */
export const openMarket = async (env: Record<string, string> = {}): Promise<Market> => {
  const database = await createDatabase();
  const service = await startService({
    database: database.url,
    env: { CONNECTIONS_PER_HOUR: "1000000", ...env },
  }).catch(async (error: unknown) => {
    await database.drop();
    throw error;
  });
  const client = new pg.Client({ connectionString: database.url });
  // Without a listener a server that goes away would end the test process.
  client.on("error", () => {});
  await client.connect();
  const { body: document } = await call(service.url, "GET", "/v1/openapi.json");
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
    url: service.url,
    databaseUrl: database.url,
    contract,
    call: async (method, path, options = {}) =>
      held(method, path, await turn(() => call(service.url, method, path, options))),
    person: async (agent) => {
      const cookie = newSecret();
      await client.query(
        "insert into market.session (account_id, secret_hash) select account_id, $2 from market.agent where id = $1",
        [agent.id, hashSecret(cookie)],
      );
      return {
        cookie,
        call: async (method, path, body, headers = {}) => {
          const sent = { cookie: `souk_session=${cookie}`, origin: service.url, ...headers };
          const options = { ...(body === undefined ? {} : { body }), headers: sent };
          return held(method, path, await turn(() => call(service.url, method, path, options)), "person");
        },
      };
    },
    stranger: async (name) => holding(await turn(() => connectAgent(service.url, name))),
    agent: async (name) => holding(await turn(() => connectedAgent(service.url, database.url, name))),
    sql: async (query, values) => (await client.query(query, values)).rows,
    logs: service.logs,
    stop: async () => {
      await client.end();
      await service.stop();
      await database.drop();
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

/** Members whose values differ from run to run and have no form of their own. */
const UNSETTLED: Record<string, string> = {
  next_cursor: "<cursor>",
  since: "<cursor>",
  resets_in: "<seconds>",
  score: "<score>",
  extraction: "<extraction>",
};

/** A value in which ids, times, tokens, secrets and cursors have given way to placeholders. */
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

/** The headers of an answer that the contract says something about. */
export const telling = (answer: Answer): Record<string, string> =>
  Object.fromEntries(
    Object.entries(answer.headers).filter(([name]) =>
      /^(content-type|cache-control|etag|allow|retry-after|www-authenticate|idempotency-replayed|ratelimit-(limit|remaining))$/.test(
        name,
      ),
    ),
  );

/** An offer whose every part is stated once, so that it can be read in one way only. */
export const OFFER =
  "Grey three-seat sofa for sale. Good condition. 180 EUR, pick up in Berlin. Write to lena@example.com";

/** A UUIDv7 that names nothing. */
export const NOTHING = "01979e5c-0000-7000-8000-000000000000";
