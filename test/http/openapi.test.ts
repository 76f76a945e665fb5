import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import test from "ava";
import { document } from "../../src/api/handlers/plain.ts";
import type { Agent, Body } from "../support/market.ts";
import { EVERYTHING } from "../support/shared.ts";
import { type Market, NOTHING, openContract, openMarket, responseOf, validatorOf, wrongBy } from "./contract.ts";

/**
 * The OpenAPI document is correct. Every response in the HTTP tests is checked against it (contract.ts). The tests here
 * check its examples and what it must state for every operation, and call every operation once.
 */

let market: Market;
let agent: Agent;
test.before(async () => {
  market = await openMarket(EVERYTHING);
  agent = await market.agent();
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
    const { status, text } = await agent.call(method, path.replace("{id}", NOTHING), example);
    t.true(status < 300 || (path.includes("{id}") && status === 404), `${method} ${path}: ${text}`);
  }
});

test("a request without a required member is refused, and the error points to it", async (t) => {
  const { schemas } = market.contract.document.components;
  for (const { method, path, operation } of operations()) {
    const content = operation.requestBody?.content["application/json"];
    const schema = schemas[content?.schema.$ref?.split("/").at(-1)];
    for (const name of schema?.required ?? []) {
      const { [name]: _left, ...rest } = examplesOf(content)[0];
      const { status, body } = await agent.call(method, path.replace("{id}", NOTHING), rest);
      t.deepEqual([status, body.errors?.map(({ pointer }: Body) => pointer)], [400, [`/${name}`]], path);
    }
  }
});

test("every success that the document describes occurs as described", async (t) => {
  const { contract, call } = market;
  const traveller = await market.agent("Traveller");
  const get = (path: string) => traveller.call("GET", path);
  const post = (path: string, body?: Body) => traveller.call("POST", path, body);

  for (const path of ["/v1", "/v1/openapi.json", "/v1/taxonomy"]) {
    const { headers } = await call("GET", path);
    await call("GET", path, { headers: { "if-none-match": headers["etag"] ?? "" } });
  }
  await call("POST", "/v1/connect");
  await get("/v1/me");
  const verification = await post("/v1/me/verifications", { method: "apple" });
  await post("/v1/me/verifications", { method: "apple" });
  await get(`/v1/me/verifications/${verification.body.id}`);
  const sofa = "Grey sofa for sale. 180 EUR, in Berlin. Write to lena@example.com";
  await post("/v1/offers/preview", { text: sofa });
  const offer = `/v1/offers/${(await post("/v1/offers", { text: sofa })).body.offer_id}`;
  await post("/v1/offers/search", { query: "sofa" });
  await get("/v1/offers");
  await get(offer);
  await traveller.call("PATCH", offer, { text: sofa });
  await agent.call("POST", `${offer}/report`, { reason: "other" });
  await post(`${offer}/archive`);
  await get(offer);
  await post(`${offer}/republish`);
  await post(`${offer}/confirm`);
  await market.sql("update market.offer set status = 'removed' where id = $1", [offer.split("/").at(-1)]);
  await post(`${offer}/appeal`);
  const ask = `/v1/asks/${(await post("/v1/asks", { text: "Looking for a sofa" })).body.id}`;
  await get("/v1/asks");
  await get(ask);
  await traveller.call("PATCH", ask, { watch_enabled: false });
  for (const move of ["archive", "reopen", "fulfill"]) await post(`${ask}/${move}`);
  await get(`${ask}/matches`);
  await get("/v1/events");
  // Nobody has this name, so nothing is sent there.
  const webhook = `/v1/webhooks/${(await post("/v1/webhooks", { url: "https://nobody.invalid/" })).body.id}`;
  await post(`${webhook}/test`);
  await get("/v1/webhooks");
  await traveller.call("DELETE", webhook);
  await traveller.call("DELETE", "/v1/me/agent");

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
