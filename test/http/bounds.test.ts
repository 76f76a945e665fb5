import test from "ava";
import type { Agent, Answer, Body } from "../support/market.ts";
import { EVERYTHING } from "../support/shared.ts";
import { type Market, NOTHING, OFFER, openMarket } from "./contract.ts";

/**
 * Whatever the OpenAPI document says of a member or a parameter holds: its type, its bounds, its values, and whether it is
 * required. A request that violates one of these is refused, and the errors point to the member.
 */

let market: Market;
let agent: Agent;
/** What the agent has, by the paths at which it is. */
const own: Record<string, string> = {};
test.before(async () => {
  market = await openMarket(EVERYTHING);
  agent = await market.agent();
  own["offers"] = (await agent.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
  const other = await market.agent();
  const { body: offer } = await other.call("POST", "/v1/offers", { text: OFFER });
  const opened = await agent.call("POST", `/v1/offers/${offer.offer_id}/conversations`, { contact: "me" });
  own["conversations"] = opened.body.id;
  own["proposal_id"] = (
    await other.call("POST", `/v1/conversations/${opened.body.id}/proposals`, { handover: { method: "pickup" } })
  ).body.id;
  own["asks"] = (await agent.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body.id;
});
test.after.always(() => market?.stop());

/** One code point of two UTF-16 units and four bytes, because lengths are counted in code points. */
const LONG = "🦊";

const resolved = (schema: Body): Body => {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : resolved(market.contract.document.components.schemas[name]);
};

/** Values that a schema does not allow. */
const wrongFor = ({ type, anyOf, enum: values, ...bounds }: Body): unknown[] => {
  if (anyOf !== undefined) return [7, { a: 1 }, ["sofa", null], []];
  const wrong: Record<string, () => unknown[]> = {
    string: () => [
      ...[7, true, ["a"], { a: 1 }, "a\0b", "\ud83e", "\udd8a\ud83e"],
      ...(values === undefined ? [] : ["no such value", "constructor"]),
      ...(bounds.maxLength === undefined ? [] : [LONG.repeat(bounds.maxLength + 1)]),
      ...(bounds.minLength > 0 ? [""] : []),
    ],
    boolean: () => ["yes", 1],
    array: () => ["a", { a: 1 }, ...(bounds.minItems > 0 ? [[]] : [])],
    object: () => ["a", 7, [1]],
  };
  const numbers = () => [
    ...["many", true, [1], 1e308, -1e308],
    ...(bounds.maximum === undefined ? [] : [bounds.maximum + 1]),
    ...(bounds.minimum === undefined ? [] : [bounds.minimum - 1]),
    ...(type === "integer" ? [1.5] : []),
  ];
  return (wrong[type] ?? numbers)();
};

/** The largest and smallest values that a schema allows. */
const extremesOf = ({ type, maxLength, maximum, minimum, enum: values }: Body): unknown[] =>
  (type === "string"
    ? [values === undefined && maxLength !== undefined && LONG.repeat(maxLength)]
    : [maximum, minimum]
  ).filter((value) => value !== undefined && value !== false);

type Member = { path: (string | number)[]; schema: Body };

/** The members of a schema, with those of its objects, and the entries of its lists. */
const membersOf = (schema: Body, path: Member["path"] = []): Member[] =>
  Object.entries<Body>(schema.properties ?? {}).flatMap(([name, given]) => {
    const at = [...path, name];
    const member = resolved(given);
    const entry = member.type === "array" ? [{ path: [...at, 0], schema: resolved(member.items) }] : [];
    return [{ path: at, schema: member }, ...membersOf(member, at), ...entry];
  });

/** A body in which one member has a value, in objects and lists that hold only it. */
const bodyWith = ([first, ...rest]: Member["path"], value: unknown, body: Body = {}): Body => {
  if (first === undefined) return value;
  return typeof first === "number" ? [bodyWith(rest, value)] : { ...body, [first]: bodyWith(rest, value, {}) };
};

/** What a body also needs, so that the member is looked at. */
const BESIDE: Record<string, Body> = {
  sandbox_id: { sandbox: true },
  images: { text: OFFER },
  origin_ask_id: { text: OFFER },
};

const pointersOf = ({ body }: Answer): string[] => [
  ...new Set<string>(body.errors?.map(({ pointer }: Body) => pointer) ?? []),
];
const isAboutBounds = ({ detail }: Body): boolean => /at (most|least)/.test(detail);

/** The operations of the document. */
const operations = () =>
  Object.entries<Body>(market.contract.document.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path
        .replace("{id}", own[path.split("/")[2] ?? ""] ?? NOTHING)
        .replace("{proposal_id}", own["proposal_id"] ?? NOTHING),
      schema: resolved(operation.requestBody?.content["application/json"].schema ?? {}),
      operation,
    })),
  );

test("a member with a value that the document does not allow is refused, and the errors point to it", async (t) => {
  let tried = 0;
  for (const { method, path, schema } of operations())
    for (const member of membersOf(schema)) {
      const pointer = `/${member.path.join("/")}`;
      for (const value of wrongFor(member.schema)) {
        const answer = await agent.call(method, path, bodyWith(member.path, value, BESIDE[String(member.path[0])]));
        const about = `${method} ${path} ${pointer} ${JSON.stringify(value).slice(0, 60)}`;
        t.is(answer.status, 400, about);
        // This refusal lists the methods that there are.
        if (answer.body.code === "unknown_method") continue;
        t.true(
          pointersOf(answer).some((one) => one.startsWith(pointer)),
          `${about}: ${pointersOf(answer).join()}`,
        );
        tried += 1;
      }
      for (const value of extremesOf(member.schema)) {
        const { body } = await agent.call(method, path, bodyWith(member.path, value, BESIDE[String(member.path[0])]));
        const errors = (body?.errors ?? []).filter((error: Body) => error.pointer === pointer && isAboutBounds(error));
        t.deepEqual(errors, [], `${method} ${path} ${pointer} at its bound`);
      }
    }
  t.true(tried > 250, `${tried} values`);
});

test("a member that is required and missing is named, and null counts as missing", async (t) => {
  for (const { method, path, schema } of operations())
    for (const name of schema.required ?? [])
      for (const body of [{}, { [name]: null }, JSON.parse(`{"__proto__": {"${name}": "x"}}`)]) {
        const answer = await agent.call(method, path, body);
        t.is(answer.status, 400, path);
        t.true(pointersOf(answer).includes(`/${name}`), answer.text);
      }
});

test("a parameter with a value that the document does not allow is refused, and the errors point to it", async (t) => {
  for (const { method, path, operation } of operations())
    for (const { name, in: where, schema } of operation.parameters) {
      if (where !== "query") continue;
      const { type, maximum, minimum, maxLength, enum: values } = schema;
      const wrong = [
        ...["", "%00", "%ff"],
        // JavaScript takes these for 0.
        ...(type === "integer" ? ["+", "%09"] : []),
        ...(type === "integer" ? ["many", "1.5", maximum + 1, minimum - 1, "9".repeat(20)] : []),
        ...(values === undefined ? [] : ["gone", "constructor"]),
        ...(maxLength === undefined ? [] : ["a".repeat(maxLength + 1)]),
        `1&${name}=1`,
      ];
      for (const value of wrong) {
        const answer = await agent.call(method, `${path}?${name}=${value}`);
        const about = `${path}?${name}=${String(value).slice(0, 40)}`;
        t.deepEqual([answer.status, pointersOf(answer)], [400, [`/${name}`]], about);
      }
      for (const value of [maximum, minimum, ...(values ?? [])])
        if (value !== undefined)
          t.not((await agent.call(method, `${path}?${name}=${value}`)).status, 400, `${name}=${value}`);
    }
});
