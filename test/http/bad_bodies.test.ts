import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import test from "ava";
import { z } from "zod";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { allowed } from "../support/busy.ts";
import type { Agent, Body } from "../support/market.ts";
import { type Market, NOTHING, OFFER, openMarket } from "./contract.ts";
import { messageOf, modern, post } from "./mcp.ts";

/** Every body is answered with a success or the right Problem, within bounded time, and never with a 500. */

let market: Market;
let agent: Agent;
test.before(async () => {
  market = await openMarket();
  agent = await market.agent();
});
test.after.always(() => market?.stop());

const authorized = (): Record<string, string> => ({ authorization: `Bearer ${agent.token}` });

const send = (path: string, raw: string | Buffer, headers: Record<string, string> = {}) =>
  market.call("POST", path, { raw, headers: { ...authorized(), ...headers } });

const SEARCH = "/v1/offers/search";
const NOT_JSON: [what: string, raw: string | Buffer][] = [
  ["half an object", '{"query": "sofa"'],
  ["an object with a trailing comma", '{"query": "sofa",}'],
  ["an object with NaN", '{"limit": NaN}'],
  ["an object with an unescaped NUL", '{"query": "a\0b"}'],
  ["nested arrays without an end", "[".repeat(100_000)],
  ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  [
    "a surrogate encoded in UTF-8",
    Buffer.concat([Buffer.from('{"query":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
  ],
  ["a NUL in overlong UTF-8", Buffer.concat([Buffer.from('{"query":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')])],
  ["UTF-16", Buffer.from('\ufeff{"query": "sofa"}', "utf16le")],
  ["Latin-1", Buffer.from('{"query": "Möbel"}', "latin1")],
  ["an array", '[{"query": "sofa"}]'],
  ["null", "null"],
];
for (const [what, raw] of NOT_JSON) {
  test(`a body of ${what} is refused`, async (t) => {
    const { status, body } = await send(SEARCH, raw);
    t.deepEqual([status, body.code, body.errors], [400, "bad_request", undefined]);
  });
}

test("a body that is no JSON, or none, is refused by every endpoint that takes one", async (t) => {
  for (const { method, path, body } of ENDPOINTS) {
    if (!body) continue;
    for (const options of [{ raw: "{" }, ...(body.required ? [{}, { raw: "" }, { raw: "", chunked: true }] : [])]) {
      const answer = await market.call(method.toUpperCase(), path.replace("{id}", NOTHING), {
        ...options,
        headers: authorized(),
      });
      t.deepEqual([answer.status, answer.body.code], [400, "bad_request"], path);
    }
  }
});

test("a body is ignored where none is needed", async (t) => {
  const ask = await agent.call("POST", "/v1/asks", { text: "Looking for a sofa" });
  for (const raw of ["{}", "[", "a".repeat(100_000)]) {
    t.is((await send(`/v1/asks/${ask.body.id}/archive`, raw)).status, 200);
    t.is((await market.call("GET", "/v1/me", { raw, headers: authorized() })).status, 200);
  }
});

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const members = (count: number): Body => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, n]));

const HANDLED: [what: string, raw: string | Buffer][] = [
  ["a byte order mark", Buffer.from('\ufeff{"query": "sofa"}')],
  ["the same member twice, of which the last counts,", '{"query": 7, "query": "sofa"}'],
  [
    "members named like those of Object.prototype",
    '{"query": "sofa", "__proto__": {"limit": -1}, "constructor": null}',
  ],
  // The body itself is the first of at most 200 levels.
  ["unknown members that are nested deeply", `{"query": "sofa", "x": ${nested(199)}}`],
  ["many lists beside each other", `{"query": "sofa", "x": [${"[],".repeat(1_000)}[]]}`],
  ["an unknown string that looks deep", JSON.stringify({ query: "sofa", x: '[{"\\"'.repeat(1_000) })],
  ["many unknown members", JSON.stringify({ query: "sofa", ...members(4_900) })],
  ["an unknown string that looks like many values", JSON.stringify({ query: "sofa", x: '[{"\\",'.repeat(100_000) })],
  ["escapes", '{"\\u0071uery": "\\u0073ofa"}'],
  ["spaces around it", ' \r\n\t{"query": "sofa"}\r\n '],
];
for (const [what, raw] of HANDLED) {
  test(`a body with ${what} is understood`, async (t) => {
    const { status, body } = await send(SEARCH, raw);
    t.deepEqual([status, body.query], [200, "sofa"]);
  });
}

// Parsing them takes up to a quarter of a second, in which nobody else is answered.
for (const [what, value] of [
  ["that are nested 100,000 levels deep", nested(100_000)],
  ["of 20,000 members", JSON.stringify(members(20_000))],
  ["of 100,000 numbers", `[${"0,".repeat(100_000)}0]`],
  ["of 100,000 empty lists", `[${"[],".repeat(100_000)}[]]`],
] as const) {
  test(`unknown members ${what} are refused before they are parsed`, async (t) => {
    const { status, body } = await send(SEARCH, `{"query": "a \\" sofa", "x": ${value}}`);
    t.deepEqual([status, body.code], [400, "bad_request"]);
    t.regex(body.detail, /more than 5,000 members and entries/);
  });
}

for (const [what, value] of [
  ["lists", nested(200)],
  ["thousands of lists", nested(4_900)],
  ["objects", `${'{"x":'.repeat(200)}1${"}".repeat(200)}`],
  ["lists and objects", `${'[{"x":'.repeat(100)}1${"}]".repeat(100)}`],
] as const) {
  test(`unknown members that are nested too deeply are refused: ${what}`, async (t) => {
    for (const path of [SEARCH, "/v1/offers", "/v1/connect"]) {
      const { status, body } = await send(path, `{"query": "a \\" sofa", "x": ${value}}`);
      t.deepEqual([status, body.code], [400, "bad_request"], path);
      t.is(body.detail, "The body has more than 200 levels of objects and lists. Send only what the call needs.");
    }
  });
}

test("more than 30 combining marks in a row are refused, because to normalize them takes long", async (t) => {
  const marks = `a${"\u0f73".repeat(31)}`;
  for (const [path, body, pointer] of [
    ["/v1/offers", { text: marks }, "/text"],
    ["/v1/offers/preview", { text: marks }, "/text"],
    ["/v1/asks", { text: marks }, "/text"],
    [SEARCH, { query: marks }, "/query"],
    [`/v1/offers/${NOTHING}/report`, { reason: "spam", comment: marks }, "/comment"],
  ] as const) {
    const answer = await agent.call("POST", path, body);
    t.deepEqual([answer.status, answer.body.errors?.[0]?.pointer], [400, pointer], path);
    t.regex(answer.body.detail, /30 combining marks/);
  }
});

test("a member that is null counts as absent, but an entry of a list does not", async (t) => {
  const nulls = (...names: string[]) => Object.fromEntries(names.map((name) => [name, null]));
  const sent = { text: OFFER, ...nulls("images", "origin_ask_id", "unknown", "__proto__") };
  const first = await agent.call("POST", "/v1/offers", sent, { "idempotency-key": "null" });
  t.is(first.status, 201, first.text);
  const again = await agent.call("POST", "/v1/offers", { text: OFFER }, { "idempotency-key": "null" });
  t.deepEqual([again.status, again.headers["idempotency-replayed"]], [201, "true"]);
  t.is((await send("/v1/connect", JSON.stringify(nulls("name", "sandbox", "sandbox_id")))).status, 201);
  const { body } = await agent.call("PATCH", `/v1/offers/${first.body.offer_id}`, nulls("text", "images"));
  t.is(body.detail, "Send a new text, new images, or who sees the contact.");
  for (const [path, list, pointer] of [
    ["/v1/offers", { text: OFFER, images: [null] }, "/images/0"],
    [SEARCH, { filters: { category: ["furniture", null] } }, "/filters/category"],
  ] as const) {
    const answer = await agent.call("POST", path, list);
    t.deepEqual([answer.status, answer.body.errors?.[0]?.pointer], [400, pointer], answer.text);
  }
});

type Shape = Record<string, z.ZodType>;

/** The members of an object, also of one that may be left out; null if the schema is of something else. */
const shapeOf = (schema: z.ZodType): Shape | null => {
  const { innerType, in: input } = schema.def as { innerType?: z.ZodType; in?: z.ZodType };
  if (schema instanceof z.ZodObject) return schema.shape as Shape;
  const inner = innerType ?? input;
  return inner ? shapeOf(inner) : null;
};

/** Each object in a body, with and without all its members, which are null. */
const pairsIn = (shape: Shape, around = (inside: object): object => inside): [bare: object, nulls: object][] => [
  [around({}), around(Object.fromEntries(Object.keys(shape).map((name) => [name, null])))],
  ...Object.entries(shape).flatMap(([name, schema]) => {
    const inner = shapeOf(schema);
    return inner ? pairsIn(inner, (inside) => around({ [name]: inside })) : [];
  }),
];

test("null means absent in every member of every body, also inside, and in every argument of every tool", async (t) => {
  const said = ({ status, body }: { status: number; body: Body }) => [
    status,
    body?.detail,
    body?.errors,
    body?.notices,
  ];
  const caller = await market.agent();
  for (const { method, path, body } of ENDPOINTS) {
    const shape = body && shapeOf(body.schema);
    if (!shape) continue;
    for (const [bare, nulls] of pairsIn(shape)) {
      const sent = async (what: object) =>
        said(await caller.call(method.toUpperCase(), path.replace("{id}", NOTHING), what));
      t.deepEqual(await sent(nulls), await sent(bare), `${method} ${path} ${JSON.stringify(nulls)}`);
    }
  }
  const call = async (name: string, args: object) => {
    const { result } = messageOf(await post(market.url, caller.token, modern("tools/call", { name, arguments: args })));
    const text: string = result.content[0].text;
    return [
      result.isError ?? false,
      result.isError ? text.replace(/request [\w-]+/, "") : Object.keys(JSON.parse(text)),
    ];
  };
  const { tools } = messageOf(await post(market.url, caller.token, modern("tools/list"))).result;
  for (const { name, inputSchema } of tools) {
    const nulls = Object.fromEntries(Object.keys(inputSchema.properties).map((argument) => [argument, null]));
    t.deepEqual(await call(name, nulls), await call(name, {}), name);
  }
});

test("a number is refused that is too large for any type, and accepted however it is written", async (t) => {
  for (const number of ["1e999", "-1e999", "123456789012345678901234567890"])
    for (const [raw, pointer] of [
      [`{"query": "sofa", "limit": ${number}}`, "/limit"],
      [`{"filters": {"price": {"min": ${number}}}}`, "/filters/price/min"],
    ] as const) {
      const { status, body } = await send(SEARCH, raw);
      t.deepEqual([status, body.errors?.[0]?.pointer], [400, pointer], raw);
    }
  for (const number of ["0", "-0", "0.001", "1e-320", "1e12", "999999999999.99"]) {
    const { status } = await send(SEARCH, `{"filters": {"price": {"min": ${number}, "max": ${number}}}}`);
    t.is(status, 200, number);
  }
});

// ── Encodings ────────────────────────────────────────────────────────────────────────────────────────────────────────

test("a body may be compressed", async (t) => {
  const raw = Buffer.from(JSON.stringify({ query: "sofa" }));
  for (const [encoding, bytes] of [
    ["gzip", gzipSync(raw)],
    ["GZIP", gzipSync(raw)],
    ["x-gzip", gzipSync(raw)],
    ["deflate", deflateSync(raw)],
    ["br", brotliCompressSync(raw)],
    ["identity", raw],
  ] as const) {
    t.is((await send(SEARCH, bytes, { "content-encoding": encoding })).status, 200, encoding);
  }
});

test("an unknown encoding, or several, get 415", async (t) => {
  const raw = gzipSync(gzipSync('{"query": "sofa"}'));
  for (const encoding of ["gzip, gzip", "zstd", "__proto__"]) {
    const { status, body } = await send(SEARCH, raw, { "content-encoding": encoding });
    t.deepEqual([status, body.code], [415, "unsupported_media_type"], encoding);
  }
});

test("a body that does not fit its Content-Encoding gets 400", async (t) => {
  const whole = gzipSync(JSON.stringify({ query: "sofa" }));
  const broken = Buffer.from(whole);
  broken.fill(0xff, 12, 20);
  for (const [what, bytes] of [
    ["no gzip", Buffer.from('{"query": "sofa"}')],
    ["half of the gzip data", whole.subarray(0, 15)],
    ["broken", broken],
    ["deflate instead of gzip", deflateSync('{"query": "sofa"}')],
  ] as const) {
    const { status, body } = await send(SEARCH, bytes, { "content-encoding": "gzip" });
    t.deepEqual([status, body.code], [400, "bad_request"], what);
  }
});

test.serial("a body that exceeds the cap when decompressed gets 413, and is not decompressed further", async (t) => {
  for (const [encoding, pack] of [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const) {
    const bomb = pack(Buffer.alloc(64 * 1024 * 1024, 0x20));
    t.true(bomb.length < 200_000);
    for (const path of [SEARCH, "/v1/offers", "/v1/connect"]) {
      const started = Date.now();
      const { status, body } = await send(path, bomb, { "content-encoding": encoding });
      t.deepEqual([status, body.code], [413, "payload_too_large"], `${encoding} ${path}`);
      t.true(Date.now() - started < allowed(5_000), `${encoding} ${path}`);
    }
  }
});
