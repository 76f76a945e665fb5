import { z } from "zod";
import { cookieName, SESSION_COOKIE } from "./cookies.ts";
import { type Endpoint, problemCodesOf } from "./endpoint.ts";
import { PROBLEMS, type ProblemCode } from "./problem.ts";
import { problem, verificationRequired } from "./schemas/problems.ts";

/** The version of the API contract. Within /v1, changes only add to it. */
const VERSION = "1.0.0";

type Json = Record<string, unknown>;

const componentUri = (id: string) => `#/components/schemas/${id}`;

const withoutIds = ({ $schema: _dialect, $id: _id, id: _name, ...schema }: Json): Json => schema;

/** Returns all schemas that have a name, as the components of the document. */
const components = (): Json => {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { uri: componentUri, io: "input", unrepresentable: "any" });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutIds(schema as Json)]));
};

const schemaOf = (schema: z.ZodType): Json => {
  const id = z.globalRegistry.get(schema)?.id;
  return id ? { $ref: componentUri(id) } : withoutIds(z.toJSONSchema(schema, { io: "input" }) as Json);
};

const parametersOf = (schema: z.ZodObject | undefined, where: "path" | "query"): Json[] => {
  if (!schema) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input" }) as {
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

const header = (description: string, schema: Json = { type: "integer" }) => ({ description, schema });

const HEADERS = {
  "Request-Id": header("Names this request in our logs.", { type: "string" }),
  "RateLimit-Limit": header(
    "Calls allowed an hour for this action; it changes with the account's record. Like the other two, absent for the person in the browser, whose calls are not counted.",
  ),
  "RateLimit-Remaining": header("Calls left in the current rolling hour."),
  "RateLimit-Reset": header("Seconds until the oldest counted call leaves the window, 0 when none is counted."),
  "Idempotency-Replayed": header("true when this is the first answer again.", { type: "string" }),
  "Retry-After": header("Seconds to wait."),
  ETag: header("Send it as If-None-Match to get 304 while nothing changed.", { type: "string" }),
  "WWW-Authenticate": header("Bearer.", { type: "string" }),
} as const;

/** Whether a response with this status always has rate limit headers: never on 401 and 5xx, not always on 404. */
const hasFigures = ({ rateLimit, pathParameters }: Endpoint, status: number): boolean =>
  rateLimit !== undefined &&
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
    ...(code === "unknown_method" ? { options: [] } : {}),
    ...(status === 429 || status === 503 ? { retry_after: 5 } : {}),
  };
};

const problemResponses = (endpoint: Endpoint, baseUrl: string): Json => {
  const byStatus = Map.groupBy(problemCodesOf(endpoint), (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `${PROBLEMS[code].title} (\`${code}\`).`).join(" "),
        headers: headersOf(endpoint, status),
        content: {
          "application/problem+json": {
            schema: schemaOf(status === 403 ? verificationRequired : problem),
            examples: Object.fromEntries(codes.map((code) => [code, { value: problemExample(code, baseUrl) }])),
          },
        },
      },
    ]),
  );
};

const operationOf = (endpoint: Endpoint, baseUrl: string): Json => ({
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
          content: { "application/json": { schema: schemaOf(endpoint.body.schema), example: endpoint.body.example } },
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
          ...(answer.schema
            ? {
                content: {
                  "application/json": {
                    schema: schemaOf(answer.schema),
                    ...(answer.example === undefined ? {} : { example: answer.example }),
                  },
                },
              }
            : {}),
        },
      ]),
    ),
    ...(endpoint.cache === "public"
      ? { 304: { description: "Not changed since the ETag that was sent.", headers: headersOf(endpoint, 304) } }
      : {}),
    ...problemResponses(endpoint, baseUrl),
  },
});

/** Makes the OpenAPI 3.1 document from the table of endpoints. */
export const openApiDocument = (endpoints: readonly Endpoint[], baseUrl: string): Json => ({
  openapi: "3.1.0",
  info: {
    title: "Souk",
    version: VERSION,
    summary: "A marketplace in which a software agent acts on behalf of a person.",
    description:
      "An agent connects with one call, its person approves it on a page, and from then on it publishes offers from plain text, searches, states what its person wants and reads what matches. Errors are RFC 9457 problem documents: branch on `code`. Clients ignore members they do not know.",
    contact: { name: "Souk", url: baseUrl },
    license: { name: "All rights reserved", url: `${baseUrl}/` },
  },
  servers: [{ url: baseUrl }],
  security: [{ token: [] }, { session: [] }],
  tags: [
    { name: "About", description: "The API about itself." },
    { name: "Connection", description: "Connecting an agent, its situation, its person's verifications." },
    { name: "Search", description: "Finding offers." },
    { name: "Offers", description: "Publishing and keeping offers." },
    { name: "Asks", description: "Stating what is wanted and reading what matches." },
  ],
  paths: Object.fromEntries(
    [...Map.groupBy(endpoints, (endpoint) => endpoint.path)].map(([path, ofPath]) => [
      path,
      Object.fromEntries(ofPath.map((endpoint) => [endpoint.method, operationOf(endpoint, baseUrl)])),
    ]),
  ),
  components: {
    schemas: components(),
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
          "The session of a person in the browser, for the pages of this service: it counts when there is no Authorization header, and changes something only with the Origin of this service. Not subject to the hourly caps. Agents do not have one.",
      },
    },
  },
});

/** Makes the document of GET /v1, a short form of the table of endpoints. */
export const indexDocument = (endpoints: readonly Endpoint[], baseUrl: string): Json => ({
  name: "Souk",
  summary:
    "A marketplace in which a software agent acts on behalf of a person. Connect once, give your person the link and the code, and search meanwhile.",
  openapi: `${baseUrl}/v1/openapi.json`,
  errors: `${baseUrl}/errors`,
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
