import { connect } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import test from "ava";
import express from "express";
import { ENDPOINTS } from "../../src/endpoints.ts";
import { serve } from "../../src/server.ts";
import { allowed } from "../support/busy.ts";
import type { Agent, Answer, Body } from "../support/market.ts";
import { type Market, NOTHING, OFFER, openMarket } from "./contract.ts";

/** Whatever is sent, it is answered: with a success or with the right Problem, in time, and never with a 500. */

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

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const NOT_JSON: [what: string, raw: string | Buffer][] = [
  ["nothing but a space", " "],
  ["half a string", '{"query": "sof'],
  ["half an object", '{"query": "sofa"'],
  ["an object and more", '{"query": "sofa"}x'],
  ["single quotes", "{'query': 'sofa'}"],
  ["a comma too many", '{"query": "sofa",}'],
  ["a comment", '{"query": "sofa"} // please'],
  ["no number", '{"limit": NaN}'],
  ["no number either", '{"limit": 0x10}'],
  ["a NUL as it is", '{"query": "a\0b"}'],
  ["a NUL behind the object", '{"query": "sofa"}\0'],
  ["a line break in a string", '{"query": "a\nb"}'],
  ["an escape that is none", '{"query": "\\x41"}'],
  ["brackets without end", "[".repeat(100_000)],
  ["objects without end", '{"a":'.repeat(50_000)],
  ["a form", "query=sofa"],
  ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ["half a character", Buffer.concat([Buffer.from('{"query": "'), Buffer.from([0xf0, 0x9f]), Buffer.from('"}')])],
  [
    "half a surrogate pair as it is",
    Buffer.concat([Buffer.from('{"query":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
  ],
  ["an overlong NUL", Buffer.concat([Buffer.from('{"query":"'), Buffer.from([0xc0, 0x80]), Buffer.from('"}')])],
  ["UTF-16", Buffer.from('\ufeff{"query": "sofa"}', "utf16le")],
  ["UTF-16 without a mark", Buffer.from('{"query": "sofa"}', "utf16le")],
  ["UTF-16, big end first", Buffer.from('\ufeff{"query": "sofa"}', "utf16le").swap16()],
  ["Latin-1", Buffer.from('{"query": "Möbel"}', "latin1")],
  ["an array", '[{"query": "sofa"}]'],
  ["a string", '"sofa"'],
  ["a number", "7"],
  ["null", "null"],
  ["true", "true"],
];
for (const [what, raw] of NOT_JSON) {
  test(`a body of ${what} is refused wherever a body goes`, async (t) => {
    for (const { method, path, body } of ENDPOINTS) {
      if (!body) continue;
      const answer = await market.call(method.toUpperCase(), path.replace("{id}", NOTHING), {
        raw,
        headers: authorized(),
      });
      t.deepEqual([answer.status, answer.body.code, answer.body.errors], [400, "bad_request", undefined], path);
    }
  });
}

test("no body at all is refused where one is needed", async (t) => {
  for (const { method, path, body } of ENDPOINTS) {
    if (!body?.required) continue;
    for (const options of [{}, { raw: "" }, { raw: "", chunked: true }]) {
      const answer = await market.call(method.toUpperCase(), path.replace("{id}", NOTHING), {
        ...options,
        headers: authorized(),
      });
      t.deepEqual([answer.status, answer.body.code], [400, "bad_request"], path);
    }
  }
});

test("a body where none is needed is passed over", async (t) => {
  const ask = await agent.call("POST", "/v1/asks", { text: "Looking for a sofa" });
  for (const raw of ["{}", "[", "a".repeat(100_000)]) {
    t.is((await send(`/v1/asks/${ask.body.id}/archive`, raw)).status, 200);
    t.is((await market.call("GET", "/v1/me", { raw, headers: authorized() })).status, 200);
  }
});

const HANDLED: [what: string, raw: string | Buffer][] = [
  ["a byte order mark", Buffer.from('\ufeff{"query": "sofa"}')],
  ["the same member twice, of which the last counts", '{"query": 7, "query": "sofa"}'],
  ["members named like those of every object", '{"query": "sofa", "__proto__": {"limit": -1}, "constructor": null}'],
  ["unknown members, deep as they may be", `{"query": "sofa", "x": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
  [
    "many unknown members",
    JSON.stringify({ query: "sofa", ...Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`m${n}`, n])) }),
  ],
  ["escapes", '{"\\u0071uery": "\\u0073ofa"}'],
  ["spaces around", ' \r\n\t{"query": "sofa"}\r\n '],
];
for (const [what, raw] of HANDLED) {
  test(`a body with ${what} is understood`, async (t) => {
    const { status, body } = await send(SEARCH, raw);
    t.deepEqual([status, body.query], [200, "sofa"]);
  });
}

test("a member that only a prototype has is missing", async (t) => {
  const { status, body } = await send("/v1/offers", `{"__proto__": {"text": ${JSON.stringify(OFFER)}}}`);
  t.deepEqual([status, body.errors], [400, [{ pointer: "/text", detail: "The member text is missing." }]]);
});

/** Where text goes in: each as a body with the text in its place, and how the place is called. */
const TEXT_MEMBERS: [path: string, pointer: string, of: (text: string) => Body][] = [
  ["/v1/connect", "/name", (name) => ({ name })],
  ["/v1/offers", "/text", (text) => ({ text })],
  ["/v1/offers", "/images/0", (image) => ({ text: OFFER, images: [image] })],
  ["/v1/offers", "/origin_ask_id", (origin_ask_id) => ({ text: OFFER, origin_ask_id })],
  ["/v1/offers/preview", "/text", (text) => ({ text })],
  ["/v1/asks", "/text", (text) => ({ text })],
  ["/v1/me/verifications", "/method", (method) => ({ method })],
  [SEARCH, "/query", (query) => ({ query })],
  [SEARCH, "/cursor", (cursor) => ({ query: "sofa", cursor })],
  [SEARCH, "/filters/location", (location) => ({ filters: { location } })],
  [SEARCH, "/filters/domain", (domain) => ({ filters: { domain } })],
  [SEARCH, "/filters/category", (category) => ({ filters: { category: [category] } })],
  [`/v1/offers/${NOTHING}/report`, "/comment", (comment) => ({ reason: "spam", comment })],
];
for (const [path, pointer, of] of TEXT_MEMBERS) {
  test(`a NUL or half a surrogate pair in ${pointer} of POST ${path} is refused by name`, async (t) => {
    for (const bad of ["\0", "a\0b", "\ud83e", "\udd8a", "a\ud83eb", "\udd8a\ud83e"]) {
      const { status, body } = await send(path, JSON.stringify(of(bad)));
      t.deepEqual([status, body.code], [400, "bad_request"], body.detail);
      t.true(
        body.errors.some((error: Body) => error.pointer.startsWith(pointer)),
        JSON.stringify(body.errors),
      );
    }
  });
}

test("values of another type are refused by name", async (t) => {
  const values = [null, 7, true, [], {}, ["a"], { a: 1 }];
  for (const [path, pointer, of] of TEXT_MEMBERS) {
    for (const value of values) {
      // Names may come as a list, and what may be left out may be null.
      if (/domain|category/.test(pointer) || (value === null && /origin|comment/.test(pointer))) continue;
      const { status, body } = await send(path, JSON.stringify(of(value as unknown as string)));
      t.deepEqual(
        [status, ...new Set(body.errors?.map((error: Body) => error.pointer))],
        [400, pointer],
        `${path} ${JSON.stringify(value)}`,
      );
    }
  }
});

test("numbers out of range are refused by name", async (t) => {
  for (const number of ["1e999", "-1e999", "1e308", "-1", "1e21", "123456789012345678901234567890"]) {
    for (const [raw, pointer] of [
      [`{"query": "sofa", "limit": ${number}}`, "/limit"],
      [`{"filters": {"price": {"min": ${number}}}}`, "/filters/price/min"],
      [`{"filters": {"price": {"max": ${number}}}}`, "/filters/price/max"],
    ] as const) {
      const { status, body } = await send(SEARCH, raw);
      const pointers = new Set(body.errors?.map((error: Body) => error.pointer));
      t.deepEqual([status, [...pointers]], [400, [pointer]], raw);
    }
  }
  for (const number of ["0", "-0", "0.001", "1e-320", "1e12", "999999999999.99"]) {
    const { status } = await send(SEARCH, `{"filters": {"price": {"min": ${number}, "max": ${number}}}}`);
    t.is(status, 200, number);
  }
});

test.serial("a query of operators, quotes or stop words is only words", async (t) => {
  const queries = [
    "'; drop table market.offer; --",
    "!!! & | <-> :* ()",
    "sofa:* & !table",
    "a' | b' <2> c",
    "\\",
    "\\' \\\\",
    '"',
    "%_%",
    "$1 $$ {{x}}",
    "the of and or is ".repeat(29),
    "<script>alert(1)</script>",
    "\u202esofa\u202c",
    "\ufffd\ufffe\uffff",
    "🛋️".repeat(200),
    Array.from({ length: 125 }, (_, n) => `w${n}`)
      .join(" ")
      .slice(0, 500),
    "a".repeat(500),
    "-".repeat(500),
    "\u0301".repeat(500),
    " \t\r\n sofa",
  ];
  for (const query of queries) {
    const started = Date.now();
    const { status } = await agent.call("POST", SEARCH, { query, filters: { location: query.slice(0, 200) || "x" } });
    t.true([200, 400].includes(status), query);
    t.true(Date.now() - started < allowed(5_000), query);
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

test("an encoding that nobody knows, or several, are a 415", async (t) => {
  const raw = gzipSync(gzipSync('{"query": "sofa"}'));
  for (const encoding of ["gzip, gzip", "zstd", "compress", "constructor", "__proto__", "x"]) {
    const { status, body } = await send(SEARCH, raw, { "content-encoding": encoding });
    t.deepEqual([status, body.code], [415, "unsupported_media_type"], encoding);
  }
});

test("a body that is not what its encoding says is a 400", async (t) => {
  const whole = gzipSync(JSON.stringify({ query: "sofa" }));
  const broken = Buffer.from(whole);
  broken.fill(0xff, 12, 20);
  for (const [what, bytes] of [
    ["no gzip", Buffer.from('{"query": "sofa"}')],
    ["half of it", whole.subarray(0, 15)],
    ["broken", broken],
    ["another one", deflateSync('{"query": "sofa"}')],
  ] as const) {
    const { status, body } = await send(SEARCH, bytes, { "content-encoding": "gzip" });
    t.deepEqual([status, body.code], [400, "bad_request"], what);
  }
});

test.serial("a body that grows past the cap when it is unpacked is a 413, and not unpacked to its end", async (t) => {
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

// ── On the wire ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Exchange = {
  /** Every status line that came, interim ones too. */
  statuses: number[];
  head: string;
  body: Body;
  ms: number;
  /** Whether the server closed the connection. */
  closed: boolean;
};

/**
 * Speaks to a port as told and listens until an answer is whole or the connection is closed. `next` gives what to send
 * after each pause, until it gives nothing.
 */
const speak = (
  url: string,
  first: string | Buffer,
  next: (answer: string) => string | Buffer | undefined = () => undefined,
  pauseMs = 5,
): Promise<Exchange> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const started = Date.now();
    const socket = connect(Number(port), hostname);
    let text = "";
    let closed = false;
    const finish = () => {
      clearInterval(timer);
      clearTimeout(patience);
      socket.destroy();
      const [head = "", ...rest] = text.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, "").split("\r\n\r\n");
      const body = rest.join("\r\n\r\n");
      resolve({
        statuses: [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status)),
        head,
        body: /content-type: application\/(problem\+)?json/i.test(head) ? JSON.parse(body) : body,
        ms: Date.now() - started,
        closed,
      });
    };
    const whole = (): boolean => {
      const rest = text.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, "");
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return false;
      const length = /^content-length: (\d+)/im.exec(rest.slice(0, end))?.[1];
      return length !== undefined && Buffer.byteLength(rest.slice(end + 4)) >= Number(length);
    };
    const patience = setTimeout(() => {
      socket.destroy();
      clearInterval(timer);
      reject(new Error(`no whole answer, but: ${text.slice(0, 500)}`));
    }, allowed(8_000));
    const timer = setInterval(() => {
      const more = socket.writable ? next(text) : undefined;
      if (more !== undefined) socket.write(more);
    }, pauseMs);
    socket.setEncoding("utf8");
    socket.on("data", (data: string) => {
      text += data;
      if (whole()) setTimeout(finish, 50);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      closed = true;
      finish();
    });
    socket.write(first);
  });

const head = (method: string, path: string, headers: Record<string, string | number> = {}): string =>
  [
    `${method} ${path} HTTP/1.1`,
    "Host: localhost",
    ...Object.entries({ Authorization: `Bearer ${agent.token}`, ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    "",
    "",
  ].join("\r\n");

const JSON_HEADERS = { "Content-Type": "application/json" };
const MB = 1024 * 1024;

test.serial("a body that says it is too large is refused before a byte of it is sent", async (t) => {
  for (const [path, size] of [
    [SEARCH, MB + 1],
    ["/v1/offers", MB / 4 + 1],
    ["/v1/connect", 2 ** 53],
    ["/v1/asks", 99999999999],
  ] as const) {
    const answer = await speak(market.url, head("POST", path, { ...JSON_HEADERS, "Content-Length": size }));
    t.deepEqual([answer.statuses, answer.body.code], [[413], "payload_too_large"], path);
    t.true(answer.ms < 5_000, `${answer.ms} ms`);
  }
});

test.serial("who asks whether to go on is answered at once when there is no point in it", async (t) => {
  const expecting = { ...JSON_HEADERS, Expect: "100-continue" };
  for (const [headers, status] of [
    [{ ...expecting, "Content-Length": MB + 1 }, 413],
    [{ ...expecting, "Content-Length": 20, Authorization: "Bearer x" }, 401],
    [{ ...expecting, "Content-Length": 20, "Content-Type": "text/plain" }, 415],
  ] as const) {
    const answer = await speak(market.url, head("POST", SEARCH, headers));
    t.deepEqual(answer.statuses, [status], "and not told to go on");
    t.true(answer.ms < 5_000, `${answer.ms} ms`);
  }
  const body = '{"query": "sofa"}';
  let sent = false;
  const answer = await speak(
    market.url,
    head("POST", SEARCH, { ...expecting, "Content-Length": body.length }),
    (heard) => {
      if (sent || !heard.includes("100 Continue")) return undefined;
      sent = true;
      return body;
    },
  );
  t.deepEqual(answer.statuses, [100, 200]);
});

test("an expectation that nobody knows does not keep a request from being answered", async (t) => {
  const answer = await speak(market.url, head("GET", "/v1/me", { Expect: "the-unexpected" }));
  t.deepEqual(answer.statuses, [200]);
});

test.serial("a body without a length is cut off once it is too large, however much more is to come", async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  const chunked = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]);
  let chunks = 0;
  const answer = await speak(
    market.url,
    head("POST", SEARCH, { ...JSON_HEADERS, "Transfer-Encoding": "chunked" }),
    (heard) => {
      // Never the last chunk: only an answer ends this.
      if (heard !== "" || chunks > 400) return undefined;
      chunks += 1;
      return chunked;
    },
  );
  t.deepEqual([answer.statuses, answer.body.code], [[413], "payload_too_large"]);
  t.true(chunks >= 16 && chunks < allowed(100), `${chunks} chunks of 64 KB`);
  t.true(answer.closed || /connection: close/i.test(answer.head));
});

test("a body that ends too early leaves the service as it was", async (t) => {
  const { hostname, port } = new URL(market.url);
  for (let n = 0; n < 10; n += 1) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write(`${head("POST", "/v1/offers", { ...JSON_HEADERS, "Content-Length": 1000 })}{"text": "A so`);
    await new Promise((resolve) => setTimeout(resolve, 10));
    socket.destroy();
  }
  t.is((await agent.call("GET", "/v1/me")).status, 200);
});

const NOT_HTTP: [what: string, bytes: string | Buffer, status: number][] = [
  ["no request line", "FOO\r\n\r\n", 400],
  ["bytes", Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]), 400],
  ["another version", "GET /v1 HTTP/9.9\r\nHost: x\r\n\r\n", 400],
  ["no host", "GET /v1 HTTP/1.1\r\n\r\n", 400],
  ["a method that is none", "G@T /v1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["a space in the path", "GET /v1 /me HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["a header with a NUL", "GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n", 400],
  ["a header without a name", "GET /v1 HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n", 400],
  ["a header folded", "GET /v1 HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n", 400],
  ["a length that is none", "POST /v1/connect HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400],
  ["two lengths", "POST /v1/connect HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
  [
    "a length and chunks",
    "POST /v1/connect HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
  ],
  ["headers too large", `GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
  ["too many headers", `GET /v1 HTTP/1.1\r\nHost: x\r\n${"X-A: a\r\n".repeat(4000)}\r\n`, 431],
  ["a path too long", `GET /v1/${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
];
for (const [what, bytes, status] of NOT_HTTP) {
  test(`a request with ${what} is a ${status}, as a Problem`, async (t) => {
    const answer = await speak(market.url, bytes);
    const { request_id, detail, ...body } = answer.body;
    t.deepEqual(
      { statuses: answer.statuses, body },
      {
        statuses: [status],
        body: {
          type: `${market.url}/errors#bad_request`,
          title: "The request cannot be used",
          status,
          code: "bad_request",
          retryable: false,
        },
      },
    );
    t.regex(answer.head, new RegExp(`^request-id: ${request_id}\r?$`, "im"));
    t.is(typeof detail, "string");
    // The end may arrive a moment after the answer, which announces it.
    t.true(answer.closed || /^connection: close\r?$/im.test(answer.head) || what === "no host");
  });
}

test("an address that cannot be decoded is a 400", async (t) => {
  for (const path of [
    "/v1/offers/%zz",
    "/v1/offers/%",
    "/v1/offers/%E0%A4%A",
    "/v1/asks/%ff/matches",
    "/connect/%c0",
  ]) {
    const answer = await market.call("GET", path, { headers: { ...authorized(), accept: "application/json" } });
    t.deepEqual([answer.status, answer.body.code], [400, "bad_request"], path);
  }
});

test("an address brings nothing into the headers of the answer", async (t) => {
  for (const path of [
    "/v1/offers/a%0d%0aSet-Cookie:%20a=b",
    "/v1/%0d%0aX-Injected:%201",
    "/v1/offers?status=%0d%0aX-Injected:%201",
    "/connect/%0d%0aX-Injected:%201",
  ]) {
    const answer = await market.call("GET", path, { headers: { ...authorized(), accept: "application/json" } });
    t.true([400, 404].includes(answer.status), path);
    t.deepEqual(
      Object.keys(answer.headers).filter((name) => /injected|cookie/.test(name)),
      [],
      path,
    );
  }
  const absolute = await speak(market.url, "GET http://evil.example/v1 HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  t.false(JSON.stringify(absolute.body).includes("evil.example"), "nor does a host that the client chose");
});

// ── Addresses ────────────────────────────────────────────────────────────────────────────────────────────────────────

for (const [query, status] of [
  ["limit=1&limit=2", 400],
  ["limit=", 400],
  ["limit=0", 400],
  ["limit=-1", 400],
  ["limit=51", 400],
  ["limit=1.5", 400],
  ["limit=abc", 400],
  ["limit=1e999", 400],
  ["limit=NaN", 400],
  ["limit=%00", 400],
  ["limit=99999999999999999999", 400],
  ["status=published&status=archived", 400],
  ["status=gone", 400],
  ["status=", 400],
  ["status=%00", 400],
  ["cursor=", 400],
  ["cursor=a&cursor=b", 400],
  ["cursor=%00", 400],
  ["cursor=%ff", 400],
  [`cursor=${"a".repeat(1001)}`, 400],
  ["cursor=eyJsaXN0Ijoib2ZmZXJzICIsImlkIjoieCJ9", 400],
  ["limit[]=5", 200],
  ["limit[a][b]=5", 200],
  ["__proto__[limit]=0", 200],
  ["constructor=1&toString=2", 200],
  ["unknown=1", 200],
  ["&&&=&=", 200],
  [Array.from({ length: 900 }, (_, n) => `a${n}=${n}`).join("&"), 200],
] as const) {
  test(`GET /v1/offers?${query.slice(0, 60)} is a ${status}`, async (t) => {
    const answer = await agent.call("GET", `/v1/offers?${query}`);
    t.is(answer.status, status, answer.text);
    if (status === 400) t.true(answer.body.errors.length > 0);
  });
}

// ── Slow ones ────────────────────────────────────────────────────────────────────────────────────────────────────────

test.serial("who sends or reads too slowly is cut off, and others are served meanwhile", async (t) => {
  const app = express();
  app.get("/large", (_request, response) => void response.send(Buffer.alloc(64 * 1024 * 1024)));
  app.use((request, response) => {
    request.resume().on("end", () => response.send("served"));
  });
  const server = await serve(app, 0, "127.0.0.1", {
    baseUrl: () => "https://souk.test",
    limits: {
      headersTimeout: 300,
      requestTimeout: 600,
      keepAliveTimeout: 300,
      connectionsCheckingInterval: 50,
      socketTimeout: 800,
    },
  });
  t.teardown(() => server.close(0));
  const dribble = () => "x";
  const slow = [
    speak(server.url, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", dribble, 50),
    speak(server.url, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", dribble, 50),
  ];
  const served = await fetch(server.url);
  t.is(await served.text(), "served");
  for (const answer of await Promise.all(slow)) {
    t.deepEqual([answer.statuses, answer.body.code, answer.closed], [[408], "bad_request", true]);
    t.true(answer.ms < allowed(4_000), `${answer.ms} ms`);
  }
  const { hostname, port } = new URL(server.url);
  const reader = connect(Number(port), hostname);
  reader.on("error", () => undefined);
  const closed = new Promise((resolve) => reader.once("close", resolve));
  reader.pause();
  reader.write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  const started = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  let bytes = 0;
  reader.on("data", (data: Buffer) => {
    bytes += data.length;
  });
  reader.resume();
  await closed;
  t.true(bytes < 64 * 1024 * 1024, "not all of it");
  t.true(Date.now() - started < allowed(6_000));
});

// ── Anything ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Numbers from 0 to 1, always the same ones from the same seed (mulberry32). */
const randomFrom = (seed: number) => (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};

const STRANGE: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e12,
  1e308,
  Number.MAX_SAFE_INTEGER,
  "",
  " ",
  "0",
  "sofa",
  OFFER,
  "🦊",
  "\u202e",
  "\ud800",
  "\0",
  "null",
  "'; --",
  "%s%n",
  "../../etc/passwd",
  "a".repeat(70),
  "a".repeat(4001),
  "\u0301".repeat(500),
  "2026-02-30",
  "2026-01-01",
  "-infinity",
  "EUR",
  "published",
  "home_garden",
  NOTHING,
  "{}",
  "[]",
  "https://a.example/b",
  "data:,x",
  "javascript:alert(1)",
  [],
  [[]],
  {},
  { a: 1 },
  [null],
  [1, "a"],
  { length: 3 },
  { toString: 1 },
];

test.serial(
  "strange requests to every endpoint are answered by success or a Problem, and never by a 500",
  async (t) => {
    const random = randomFrom(20_260_601);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const strange = (depth = 0): unknown => {
      if (depth < 3 && random() < 0.2)
        return Array.from({ length: Math.floor(random() * 4) }, () => strange(depth + 1));
      if (depth < 3 && random() < 0.2)
        return { [pick(["a", "min", "__proto__x", "text", "query"])]: strange(depth + 1) };
      return pick(STRANGE);
    };
    /** An example in which some members have become strange, are gone, or are new. */
    const bent = (example: Body): Body => {
      if (typeof example !== "object" || example === null || random() < 0.15) return strange();
      if (Array.isArray(example)) return example.map((member) => (random() < 0.5 ? member : bent(member)));
      const members = Object.entries(example)
        .filter(() => random() < 0.9)
        .map(([name, member]) => [name, random() < 0.5 ? member : bent(member)]);
      if (random() < 0.3)
        members.push([pick(["filters", "cursor", "limit", "sort", "images", "watch_enabled", "x"]), strange()]);
      return Object.fromEntries(members);
    };
    const fuzzer = await market.agent("Fuzzer");
    const offer = (await fuzzer.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
    const ask = (await fuzzer.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body.id;
    const calls = Array.from({ length: 700 }, () => {
      // Removing itself would end the game.
      const endpoint = pick(ENDPOINTS.filter(({ operationId }) => operationId !== "removeOwnAgent"));
      const id = pick([offer, ask, NOTHING, "x", "%00", "%F0%9F%A6%8A", "a".repeat(300)]);
      const query =
        random() < 0.3
          ? `?${pick(["limit", "cursor", "status", "since", "x[]"])}=${encodeURIComponent(String(pick(STRANGE.filter((value) => typeof value !== "object" && String(value).isWellFormed()))))}`
          : "";
      const headers: Record<string, string> = { authorization: `Bearer ${fuzzer.token}` };
      if (random() < 0.3) headers["idempotency-key"] = pick(["k", "k2", "é", "a".repeat(300), " "]);
      if (random() < 0.1) headers["content-type"] = pick(["text/plain", "application/json; charset=x", ""]);
      if (random() < 0.1) headers["content-encoding"] = pick(["gzip", "identity", "x"]);
      if (random() < 0.1) headers["if-none-match"] = pick(["*", '"x"', "W/", ","]);
      const raw = endpoint.body ? JSON.stringify(random() < 0.8 ? bent(endpoint.body.example) : strange()) : undefined;
      return { method: endpoint.method.toUpperCase(), path: endpoint.path.replace("{id}", id) + query, headers, raw };
    });
    const statuses = new Map<number, number>();
    const worker = async (): Promise<void> => {
      for (let one = calls.pop(); one; one = calls.pop()) {
        const { method, path, headers, raw } = one;
        // Holds every answer against the OpenAPI document.
        const answer: Answer = await market.call(method, path, { headers, ...(raw === undefined ? {} : { raw }) });
        if (answer.status >= 500) t.fail(`${method} ${path} ${raw} → ${answer.text}`);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    for (const status of [200, 201, 400, 404, 415])
      t.true((statuses.get(status) ?? 0) > 5, `${status} was not among them`);
  },
);
