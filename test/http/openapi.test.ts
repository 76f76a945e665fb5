import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { document } from "../../src/api/handlers/plain.ts";
import type { Agent, Answer, Body } from "../support/market.ts";
import { EVERYTHING } from "../support/shared.ts";
import { type Market, NOTHING, OFFER, openContract, openMarket, responseOf, validatorOf, wrongBy } from "./contract.ts";

/**
 * The OpenAPI document is correct. Every response in the HTTP tests is checked against it (contract.ts). The tests here
 * check its examples and what it must state for every operation, and call every operation once.
 */

let market: Market;
let agent: Agent;
/** An offer of the agent. */
let foreign: string;
test.before(async () => {
  market = await openMarket(EVERYTHING);
  agent = await market.agent();
  foreign = (await agent.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
});
test.after.always(() => market?.stop());

type Operation = { method: string; path: string; operation: Body };

const operations = (): Operation[] =>
  Object.entries<Body>(market.contract.document.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

test("a document is made once for an address, however often anybody asks for it", async (t) => {
  let made = 0;
  const answer = document((_endpoints, url) => ({ url, made: ++made }));
  const endpoints: never[] = [];
  const ask = async (url: string) =>
    JSON.parse(String((await answer({ endpoints, baseUrl: () => url } as never, {} as never)).body));
  t.deepEqual(await ask("https://one.example"), { url: "https://one.example", made: 1 });
  t.deepEqual(await ask("https://one.example"), { url: "https://one.example", made: 1 });
  t.deepEqual(await ask("https://other.example"), { url: "https://other.example", made: 2 });
});

test("every operation states its name, what it does, and its responses", (t) => {
  const tags = market.contract.document.tags.map(({ name }: Body) => name);
  const ids = operations().map(({ operation }) => operation.operationId);
  t.is(new Set(ids).size, ids.length);
  for (const { operation, path, method } of operations()) {
    t.regex(operation.operationId, /^[a-z][A-Za-z]+$/);
    t.regex(operation.summary, /^[A-Z].*[^.]$/, path);
    t.regex(operation.description, /^[A-Z].*\.$/s, path);
    t.true(operation.tags.every((tag: string) => tags.includes(tag)));
    const statuses = Object.keys(operation.responses);
    t.true(statuses.some((status) => /^2/.test(status)));
    t.true(statuses.includes("400"));
    t.is(statuses.includes("401"), operation.security === undefined, `${path}: 401 where a token is needed`);
    for (const status of statuses) {
      const { response } = responseOf(market.contract.document, path, method.toLowerCase(), status);
      t.regex(response.description, /\.$/, `${operation.operationId} ${status}`);
      t.truthy(response.headers["Request-Id"]);
      const media = Object.keys(response.content ?? {});
      const empty = status === "204" || status === "304";
      t.deepEqual(
        media,
        empty ? [] : [Number(status) < 400 ? "application/json" : "application/problem+json"],
        `${operation.operationId} ${status}`,
      );
    }
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = operation.parameters.filter((parameter: Body) => parameter.in === "path");
    t.deepEqual(
      declared.map(({ name }: Body) => name),
      named,
    );
  }
});

test("every schema is valid by JSON Schema 2020-12", (t) => {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  for (const [name, schema] of Object.entries<Body>(market.contract.document.components.schemas)) {
    t.true(ajv.validateSchema(schema), `${name}: ${JSON.stringify(ajv.errors)}`);
  }
});

/** Every body that the document describes: its place, and its media type with schema and examples. */
const bodies = (): { place: string[]; media: Body }[] =>
  operations().flatMap(({ method, path, operation }) =>
    [
      ...(operation.requestBody
        ? [{ place: ["paths", path, method.toLowerCase(), "requestBody"], response: operation.requestBody }]
        : []),
      ...Object.keys(operation.responses).map((status) =>
        responseOf(market.contract.document, path, method.toLowerCase(), status),
      ),
    ].flatMap(({ place, response }) =>
      Object.entries<Body>(response.content ?? {}).map(([type, media]) => ({
        place: [...place, "content", type, "schema"],
        media,
      })),
    ),
  );

/** The examples of a body. Those that several bodies have stand in the document once. */
const examplesOf = ({ example, examples = {} }: Body): Body[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values<Body>(examples).map(
    ({ $ref }) => market.contract.document.components.examples[$ref.split("/").at(-1)].value,
  ),
];

test("each value of a discriminator belongs to one branch, as strict generators demand", (t) => {
  const { schemas } = market.contract.document.components;
  const unions = Object.values<Body>(schemas).filter(({ discriminator }) => discriminator);
  t.true(unions.length > 0);
  for (const { oneOf, discriminator } of unions) {
    const values = oneOf.flatMap(({ $ref }: { $ref: string }) => {
      const { enum: several, const: one } =
        schemas[$ref.split("/").at(-1) ?? ""].properties[discriminator.propertyName];
      return several ?? [one];
    });
    t.deepEqual(values.toSorted(), Object.keys(discriminator.mapping).toSorted());
  }
});

test("every body has an example, and every example matches its schema", (t) => {
  const validator = validatorOf(market.contract.document);
  for (const { place, media } of bodies()) {
    const examples = examplesOf(media);
    t.true(examples.length > 0, place.join(" "));
    for (const value of examples) t.deepEqual(wrongBy(validator(...place), value), [], place.join(" "));
  }
  for (const [name, schema] of Object.entries<Body>(market.contract.document.components.schemas)) {
    for (const value of schema.examples ?? [])
      t.deepEqual(wrongBy(validator("components", "schemas", name), value), [], name);
  }
});

test("every request in the examples of the document is accepted", async (t) => {
  for (const { method, path, operation } of operations()) {
    if (!operation.requestBody) continue;
    const [example] = examplesOf(operation.requestBody.content["application/json"]);
    const { status, text } = await agent.call(method, path.replace(/\{\w+\}/g, NOTHING), example);
    t.true(status < 300 || (path.includes("{id}") && status === 404), `${method} ${path}: ${text}`);
  }
});

/** Calls every endpoint that needs a caller, in an order in which each can succeed. Returns the answers by endpoint. */
const walk = async ({ call }: Pick<Agent, "call">): Promise<Map<string, Answer[]>> => {
  const answers = new Map<string, Answer[]>();
  const go = async (request: string, body?: Body): Promise<Body> => {
    const [method = "", path = ""] = request.split(" ");
    const answer = await call(method, path, body);
    const endpoint = `${method} ${path.replace(/[0-9a-f-]{36}/, "{id}").replace(/[0-9a-f-]{36}/, "{proposal_id}")}`;
    answers.set(endpoint, [...(answers.get(endpoint) ?? []), answer]);
    return answer.body;
  };
  await go("GET /v1/me");
  const { id: verification } = await go("POST /v1/me/verifications", { method: "apple" });
  await go("POST /v1/me/verifications", { method: "apple" });
  await go(`GET /v1/me/verifications/${verification ?? NOTHING}`);
  const text = "Grey sofa for sale. 180 EUR, in Berlin. Write to lena@example.com";
  await go("POST /v1/offers/preview", { text });
  const { offer_id } = await go("POST /v1/offers", { text });
  const offer = `/v1/offers/${offer_id}`;
  await go("POST /v1/offers/search", { query: "sofa" });
  await go("GET /v1/offers");
  await go(`GET ${offer}`);
  await go(`PATCH ${offer}`, { text });
  for (const move of ["archive", "republish", "confirm"]) await go(`POST ${offer}/${move}`);
  await go(`POST /v1/offers/${foreign}/report`, { reason: "other" });
  await market.sql("update market.offer set status = 'removed' where id = $1", [offer_id]);
  await go(`GET ${offer}`);
  await go(`POST ${offer}/appeal`);
  const ask = `/v1/asks/${(await go("POST /v1/asks", { text: "Looking for a sofa" })).id}`;
  await go("GET /v1/asks");
  await go(`GET ${ask}`);
  await go(`PATCH ${ask}`, { watch_enabled: false });
  for (const move of ["archive", "reopen", "fulfill"]) await go(`POST ${ask}/${move}`);
  await go(`GET ${ask}/matches`);
  await go("GET /v1/events");
  await go(`GET ${offer}/proposals`);
  const talk = `POST /v1/offers/${foreign}/conversations`;
  const conversation = `/v1/conversations/${(await go(talk, { text: "Is it clean?" })).id}`;
  await go(talk, { text: "Hello?" });
  await go("GET /v1/conversations");
  await go(`GET ${conversation}`);
  const { id: message } = await go(`POST ${conversation}/messages`, { text: "Could I see it?" });
  await go(`GET ${conversation}/messages`);
  await go(`POST ${conversation}/read`, { up_to: message });
  const terms = { handover: { method: "pickup" } };
  const own = await go(`POST ${conversation}/proposals`, { ...terms, contact: "Tom" });
  await go(`POST ${conversation}/proposals/${own.id}/withdraw`);
  await go(`POST ${conversation}`, { text: "Better so?", proposal: terms });
  for (const move of ["decline", "accept"]) {
    const { body: theirs } = await agent.call("POST", `${conversation}/proposals`, terms);
    await go(`POST ${conversation}/proposals/${theirs.id}/${move}`);
  }
  const [asked] = (await agent.call("GET", "/v1/me")).body.pending_confirmations;
  // A person who accepts in the browser has consented, and is not asked.
  const { pending_confirmations: pending } = await go("GET /v1/me");
  answers.set("GET /v1/me/confirmations/{id}", [
    pending.length > 0
      ? await call("GET", `/v1/me/confirmations/${pending[0].id}`)
      : await agent.call("GET", `/v1/me/confirmations/${asked.id}`),
  ]);
  await go(`POST ${conversation}/report`, { reason: "other" });
  for (const move of ["close", "block"]) await go(`POST ${conversation}/${move}`);
  // Nobody has this name, so nothing is sent there.
  const { id: hook } = await go("POST /v1/webhooks", { url: "https://nobody.invalid/" });
  const webhook = `/v1/webhooks/${hook}`;
  await go(`POST ${webhook}/challenge`);
  await market.sql("update market.webhook set verified_at = now() where id = $1", [hook]);
  await go(`POST ${webhook}/test`);
  await go("GET /v1/webhooks");
  await go(`DELETE ${webhook}`);
  await go("DELETE /v1/me/agent");
  return answers;
};

test("every success that the document describes occurs as described", async (t) => {
  const { contract, call } = market;
  for (const path of ["/v1", "/v1/openapi.json", "/v1/taxonomy"]) {
    const { headers } = await call("GET", path);
    await call("GET", path, { headers: { "if-none-match": headers["etag"] ?? "" } });
  }
  await call("POST", "/v1/connect");
  const answers = await walk(await market.agent("Traveller"));
  t.deepEqual(
    [...answers.keys()].toSorted(),
    ENDPOINTS.filter(({ auth }) => auth === "token")
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
      .toSorted(),
  );
  const described = operations().flatMap(({ operation }) =>
    Object.keys(operation.responses)
      .filter((status) => Number(status) < 400)
      .map((status) => `${operation.operationId} ${status}`),
  );
  t.deepEqual(
    described.filter((one) => !contract.seen.has(one)),
    [],
  );
});

test("a person calls every endpoint with a session, without a limit, and what they write is no agent's", async (t) => {
  const own = await market.agent();
  await market.sql(
    `insert into market.proved_method (account_id, method, subject_hash)
     select account_id, 'google', sha256(uuid_send(account_id)) from market.agent where id = $1`,
    [own.id],
  );
  const answers = await walk(await market.person(own));
  // Only an agent asks its person to prove something, and removes itself.
  const refused = {
    "POST /v1/me/verifications": 409,
    "GET /v1/me/verifications/{id}": 404,
    "DELETE /v1/me/agent": 409,
  };
  // What others have to read is counted, whoever writes it.
  const counted = ENDPOINTS.filter(({ rateLimit }) => rateLimit === "converse").map(
    ({ method, path }) => `${method.toUpperCase()} ${path}`,
  );
  for (const [endpoint, list] of answers)
    for (const { status, headers, text } of list) {
      const expected = Object.entries(refused).find(([name]) => name === endpoint)?.[1];
      t.true(expected === undefined ? status < 300 : status === expected, `${endpoint}: ${text}`);
      t.is(
        Object.keys(headers).some((name) => name.startsWith("ratelimit-")),
        counted.includes(endpoint),
        endpoint,
      );
    }
  const [kept] = await market.sql(
    `with own as (select account_id from market.agent where id = $1)
     select (select count(*)::int from market.rate_limit_hit, own where scope like '%' || account_id || '%'
         -- What is sent to webhooks is counted whoever adds them.
         and action not in ('converse', 'challenge', 'deliver', 'test_webhook')) as counted,
       (select count(*)::int from market.submission join own using (account_id) where agent_id is not null)
         + (select count(*)::int from market.offer join own using (account_id) where agent_id is not null)
         + (select count(*)::int from market.ask join own using (account_id) where agent_id is not null) as of_agents`,
    [own.id],
  );
  t.deepEqual(kept, { counted: 0, of_agents: 0 });
});

test("a response that differs from the document is detected", (t) => {
  const { faults } = openContract(market.contract.document);
  const headers = { "request-id": "x", "content-type": "application/json; charset=utf-8" };
  const body = { id: 7, status: "gone" };
  const answer = { status: 200, headers, body, text: JSON.stringify(body) };
  t.true(faults("GET", `/v1/asks/${NOTHING}`, answer).length > 3);
  t.deepEqual(faults("GET", `/v1/asks/${NOTHING}`, { ...answer, headers: {} }), ["no Request-Id"]);
  t.regex(faults("GET", `/v1/asks/${NOTHING}`, { ...answer, status: 299 }).join(), /does not describe the status 299/);
  t.deepEqual(faults("GET", "/v2", answer), ["200 application/json, which is no Problem"]);
  const list = { results: [], page: { next_cursor: null, has_more: false } };
  t.deepEqual(faults("GET", "/v1/asks", { ...answer, body: list }), []);
  t.is(faults("GET", "/v1/asks", { ...answer, body: { ...list, secret: 1 } }).length, 1, "an unknown member");
});
