import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { cookieName, SESSION_COOKIE } from "../base/cookies.ts";
import { PROBLEMS, type ProblemCode } from "../base/problem.ts";
import { DISCOVERY, SERVICE } from "./discovery.ts";
import { type Endpoint, problemCodesOf } from "./endpoint.ts";
import { forbidden, problem } from "./schemas/problems.ts";
import { count, seconds } from "./schemas/values.ts";
import { challengeAnswer, webhookRequest } from "./schemas/webhooks.ts";

type Json = Record<string, unknown>;

const componentUri = (id: string) => `#/components/schemas/${id}`;

/** Keywords of zod that the document leaves out: names that stand elsewhere, and patterns that repeat a format. */
const leftOut = (name: string, schema: Json): boolean =>
  ["$schema", "$id", "$defs"].includes(name) ||
  // A member may be called id.
  (name === "id" && typeof schema["id"] === "string") ||
  (name === "pattern" && "format" in schema);

const typesOf = ({ type }: Json): string[] => (Array.isArray(type) ? type : typeof type === "string" ? [type] : []);

/** Joins schemas of different plain types, such as a text that may be null, into one: a union is harder to read. */
const mergeTypes = (parts: Json[]): Json | undefined => {
  const types = parts.flatMap(typesOf);
  const rich = parts.filter((part) => Object.keys(part).some((keyword) => keyword !== "type"));
  const isJoinable = types.length === parts.length && new Set(types).size === types.length && rich.length <= 1;
  if (!isJoinable) return undefined;
  const members = rich[0]?.["enum"];
  return { ...rich[0], type: types, ...(Array.isArray(members) ? { enum: [...members, null] } : {}) };
};

/** Turns zod's output into a schema of the document, with each type of a union in one place. */
const tidy = (value: unknown, named: Json): unknown => {
  if (Array.isArray(value)) return value.map((member) => tidy(member, named));
  if (typeof value !== "object" || value === null) return value;
  const schema = value as Json;
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => !leftOut(name, schema))
      .map(([name, member]) => [
        name,
        name === "$ref" && typeof member === "string"
          ? member.replace("#/$defs/", componentUri(""))
          : tidy(member, named),
      ]),
  ) as Json & { anyOf?: Json[] };
  if (!anyOf) return rest;
  const resolved = anyOf.map((part) => {
    const target = typeof part["$ref"] === "string" ? named[part["$ref"].replace(componentUri(""), "")] : part;
    return tidy(target, named) as Json;
  });
  // A named object keeps its name: its readers know it by that.
  const union = anyOf.some((part, i) => "$ref" in part && "properties" in (resolved[i] ?? {}))
    ? undefined
    : mergeTypes(resolved);
  return union ? { ...union, ...rest } : { ...rest, oneOf: anyOf };
};

/** Returns all schemas that have a name, as the components of the document. */
const components = (): Json => {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { uri: componentUri, io: "input", unrepresentable: "any" });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, tidy(schema, schemas as Json)]));
};

const schemaOf = (schema: z.ZodType): Json => {
  const id = z.globalRegistry.get(schema)?.id;
  return id ? { $ref: componentUri(id) } : (tidy(z.toJSONSchema(schema, { io: "input" }), {}) as Json);
};

const parametersOf = (schema: z.ZodObject | undefined, where: "path" | "query"): Json[] => {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: where,
    required: where === "path" || required.includes(name),
    ...(description ? { description } : {}),
    schema: property,
  }));
};

const words = (maxLength: number, more: Json = {}): Json => ({ type: "string", maxLength, ...more });
const header = (description: string, schema: Json) => ({ description, schema });

const HEADERS = {
  "Request-Id": header("Names this request in our logs.", words(36, { format: "uuid" })),
  "RateLimit-Limit": header(
    "Calls allowed an hour for this action; it changes with the account's record. Like the other two, absent for a person in the browser, unless a moderator has set a cap for the account.",
    schemaOf(count),
  ),
  "RateLimit-Remaining": header("Calls left in the current rolling hour.", schemaOf(count)),
  "RateLimit-Reset": header(
    "Seconds until the oldest counted call leaves the window, 0 when none is counted.",
    schemaOf(seconds),
  ),
  "Idempotency-Replayed": header("true when this is the first answer again.", { type: "string", const: "true" }),
  "Retry-After": header("Seconds to wait.", schemaOf(seconds)),
  ETag: header("Send it as If-None-Match to get 304 while nothing changed.", words(100)),
  "WWW-Authenticate": header("Bearer, and where to get a token.", words(1000)),
} as const;

/**
 * Whether a response with this status always has rate limit headers: never on 401 and 5xx, not always on 404, and on
 * searches only until a person has approved the agent.
 */
const hasFigures = ({ rateLimit, pathParameters }: Endpoint, status: number): boolean =>
  rateLimit !== undefined &&
  rateLimit !== "search_offers" &&
  (pathParameters ? status < 300 || status === 403 || status === 429 : status < 500 && status !== 401);

const headersOf = (endpoint: Endpoint, status: number): Json => {
  const names: (keyof typeof HEADERS)[] = ["Request-Id"];
  if (hasFigures(endpoint, status)) names.push("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");
  if (endpoint.idempotent && status < 300) names.push("Idempotency-Replayed");
  if (endpoint.cache === "public" && status < 400) names.push("ETag");
  if (status === 401) names.push("WWW-Authenticate");
  if (status === 429 || status === 503) names.push("Retry-After");
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
};

const problemExample = (code: ProblemCode, baseUrl: string): Json => {
  const { status, title, retryable, help } = PROBLEMS[code];
  return {
    type: `${baseUrl}/errors#${code}`,
    title,
    status,
    code,
    detail: help,
    request_id: "6f9f2b1e-6d5f-4f0a-9d1e-2f3a4b5c6d7e",
    retryable,
    ...(code === "verification_required"
      ? { permission: "publish_offer", connected: false, verified: [], accepted_methods: [], options: [] }
      : {}),
    ...(code === "power_required" ? { power: "converse", settings_url: `${baseUrl}/settings/agents` } : {}),
    ...(code === "unknown_method" ? { options: [] } : {}),
    ...(status === 429 || status === 503 ? { retry_after: 5 } : {}),
  };
};

/** The parts that several operations share, by name. They stand in the document once. */
type Shared = { responses: Json; examples: Json };

const pascalCase = (code: string): string =>
  code.replaceAll(/(?:^|_)(.)/g, (_match, letter: string) => letter.toUpperCase());

const shareResponse = (shared: Shared, name: string, response: Json): Json => {
  shared.responses[name] ??= response;
  return { $ref: `#/components/responses/${name}` };
};

const problemResponses = (endpoint: Endpoint, baseUrl: string, shared: Shared): Json => {
  const byStatus = Map.groupBy(problemCodesOf(endpoint), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      for (const code of codes) shared.examples[code] ??= { value: problemExample(code, baseUrl) };
      const name = codes.map(pascalCase).join("Or") + (hasFigures(endpoint, status) ? "Counted" : "");
      const response = {
        description: codes.map((code) => `${PROBLEMS[code].title} (\`${code}\`).`).join(" "),
        headers: headersOf(endpoint, status),
        content: {
          "application/problem+json": {
            schema: schemaOf(status === 403 ? forbidden : problem),
            examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
          },
        },
      };
      return [String(status), shareResponse(shared, name, response)];
    }),
  );
};

/** Returns the content of a body. Examples of a schema that several bodies have stand in the document once. */
const contentOf = (schema: z.ZodType, example: unknown, shared: Shared): Json => {
  if (example === undefined) return { "application/json": { schema: schemaOf(schema) } };
  const id = z.globalRegistry.get(schema)?.id ?? "body";
  const existing = shared.examples[id] as { value: unknown } | undefined;
  if (existing && !isDeepStrictEqual(existing.value, example))
    return { "application/json": { schema: schemaOf(schema), example } };
  shared.examples[id] = { value: example };
  return {
    "application/json": { schema: schemaOf(schema), examples: { [id]: { $ref: `#/components/examples/${id}` } } },
  };
};

const operationOf = (endpoint: Endpoint, baseUrl: string, shared: Shared): Json => ({
  operationId: endpoint.operationId,
  summary: endpoint.summary,
  description: endpoint.description,
  tags: [endpoint.tag],
  ...(endpoint.auth === "none" ? { security: [] } : {}),
  parameters: [
    ...parametersOf(endpoint.pathParameters, "path"),
    ...parametersOf(endpoint.query, "query"),
    ...(endpoint.idempotent ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ],
  ...(endpoint.body
    ? {
        requestBody: {
          required: endpoint.body.required,
          content: contentOf(endpoint.body.schema, endpoint.body.example, shared),
        },
      }
    : {}),
  responses: {
    ...Object.fromEntries(
      Object.entries(endpoint.answers).map(([status, answer]) => [
        status,
        {
          description: answer.description,
          headers: headersOf(endpoint, Number(status)),
          ...(answer.schema ? { content: contentOf(answer.schema, answer.example, shared) } : {}),
        },
      ]),
    ),
    ...(endpoint.cache === "public"
      ? {
          304: shareResponse(shared, "NotModified", {
            description: "Not changed since the ETag that was sent.",
            headers: headersOf(endpoint, 304),
          }),
        }
      : {}),
    ...problemResponses(endpoint, baseUrl, shared),
  },
});

/** What the market sends to a webhook, and what the receiver answers. */
const webhookOperation = (shared: Shared): Json => ({
  operationId: "receiveEvents",
  summary: "Events of the account",
  description:
    "Signed as Standard Webhooks says: verify `webhook-id`, `webhook-timestamp` and `webhook-signature` with the secret of the webhook. `webhook-id` and the body are the same in every attempt. Answer `webhook.challenge` with its value; any status from 200 to 299 accepts other events.",
  tags: ["Events"],
  security: [],
  requestBody: {
    required: true,
    content: contentOf(
      webhookRequest,
      {
        events: [
          {
            id: "01981d0e-7a00-7000-8000-000000000023",
            type: "webhook.challenge",
            occurred_at: "2026-06-01T10:00:00.000Z",
            data: { webhook_id: "01981d0e-7a00-7000-8000-000000000021", challenge: "c0ffee" },
          },
        ],
      },
      shared,
    ),
  },
  responses: {
    200: { description: "Accepted.", content: contentOf(challengeAnswer, { challenge: "c0ffee" }, shared) },
  },
});

/** Makes the OpenAPI 3.1 document from the table of endpoints. */
export const openApiDocument = (endpoints: readonly Endpoint[], baseUrl: string): Json => {
  const shared: Shared = { responses: {}, examples: {} };
  const paths = Object.fromEntries(
    [...Map.groupBy(endpoints, (endpoint) => endpoint.path)].map(([path, ofPath]) => [
      path,
      Object.fromEntries(ofPath.map((endpoint) => [endpoint.method, operationOf(endpoint, baseUrl, shared)])),
    ]),
  );
  return {
    openapi: "3.1.0",
    info: {
      title: "Souk",
      version: SERVICE.version,
      summary: "A marketplace in which a software agent acts on behalf of a person.",
      description:
        "An agent connects with one call, its person approves it on a page by picking its code, and from then on it publishes offers from plain text, searches, states what its person wants, reads what matches, and agrees on deals. Errors are RFC 9457 problem documents: branch on `code`. Clients ignore members they do not know.",
      contact: { name: "Souk", url: baseUrl },
      license: { name: "Apache License 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: baseUrl }],
    security: [{ token: [] }, { session: [] }],
    tags: [
      { name: "About", description: "The API about itself." },
      { name: "Connection", description: "Connecting an agent, its situation, its person's verifications." },
      { name: "Search", description: "Finding offers." },
      { name: "Offers", description: "Publishing and keeping offers." },
      { name: "Asks", description: "Stating what is wanted and reading what matches." },
      { name: "Conversations", description: "Asking about an offer, proposing, and agreeing on a deal." },
      { name: "Events", description: "What happens to the account, as it happens." },
    ],
    paths,
    webhooks: { events: { post: webhookOperation(shared) } },
    components: {
      schemas: components(),
      responses: shared.responses,
      examples: shared.examples,
      headers: HEADERS,
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          required: false,
          description:
            "1 to 255 printable ASCII characters, kept 24 hours. The same key with the same body replays the first answer.",
          schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[ -~]+$" },
        },
      },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The agent_token that POST /v1/connect returned." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: cookieName(baseUrl, SESSION_COOKIE),
          description:
            "The session of a person in the browser, for the pages of this service: it counts when there is no Authorization header, never from a page of another origin, and changes something only with the Origin of this service. Not subject to the hourly caps. Agents do not have one.",
        },
      },
    },
  };
};

/** Makes the document of GET /v1, a short form of the table of endpoints. */
export const indexDocument = (
  endpoints: readonly Pick<Endpoint, "operationId" | "method" | "path" | "auth" | "summary">[],
  baseUrl: string,
): Json => ({
  name: "Souk",
  summary:
    "A marketplace in which a software agent acts on behalf of a person. Connect once, show your person the link and the code together, and search meanwhile.",
  openapi: `${baseUrl}/v1/openapi.json`,
  errors: `${baseUrl}/errors`,
  ...Object.fromEntries(Object.entries(DISCOVERY).map(([member, path]) => [member, `${baseUrl}${path}`])),
  authentication: "Authorization: Bearer <agent_token>, from POST /v1/connect. Never show the token to anyone.",
  endpoints: endpoints.map((endpoint) => ({
    operation_id: endpoint.operationId,
    method: endpoint.method.toUpperCase(),
    path: endpoint.path,
    auth: endpoint.auth,
    summary: endpoint.summary,
  })),
  next: [
    { summary: "If you hold no token yet, connect.", method: "POST", path: "/v1/connect" },
    { summary: "If you hold one, read your situation.", method: "GET", path: "/v1/me" },
  ],
});
