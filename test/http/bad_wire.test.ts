import { connect } from "node:net";
import test from "ava";
import express from "express";
import { newToken } from "../../src/base/tokens.ts";
import { serve } from "../../src/web/server.ts";
import { allowed } from "../support/busy.ts";
import { type Agent, type Body, call } from "../support/market.ts";
import { type Market, openMarket } from "./contract.ts";

/** Invalid or slow traffic gets the right Problem or is cut off, and other clients are served. */

let market: Market;
let agent: Agent;
test.before(async () => {
  market = await openMarket();
  agent = await market.agent();
});
test.after.always(() => market?.stop());

const authorized = (): Record<string, string> => ({ authorization: `Bearer ${agent.token}` });

const SEARCH = "/v1/offers/search";
type Exchange = {
  /** Every status line received, including interim responses. */
  statuses: number[];
  head: string;
  body: Body;
  ms: number;
  /** Whether the server closed the connection. */
  closed: boolean;
};

/**
 * Opens a connection, sends `first`, and listens until a response is complete or the connection is closed. `next`
 * returns what to send after each pause, or undefined for nothing.
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

test.serial("a body whose stated length is too large is refused before any of it is sent", async (t) => {
  for (const [path, size] of [
    [SEARCH, MB + 1],
    ["/v1/offers", MB / 4 + 1],
    ["/v1/connect", 2 ** 53],
    ["/v1/asks", 99999999999],
  ] as const) {
    const answer = await speak(market.url, head("POST", path, { ...JSON_HEADERS, "Content-Length": size }));
    t.deepEqual([answer.statuses, answer.body.code], [[413], "payload_too_large"], path);
    t.true(answer.ms < allowed(5_000), `${answer.ms} ms`);
  }
});

test.serial("a large body of a caller whom nobody knows is refused before any of it is sent", async (t) => {
  for (const [headers, status] of [
    [{ Authorization: `Bearer ${newToken()}`, "Content-Length": 20_000 }, 401],
    [{ Authorization: `Bearer ${newToken()}`, "Transfer-Encoding": "chunked" }, 401],
    [{ Authorization: `Bearer ${newToken()}`, "Content-Length": 200, "Content-Encoding": "gzip" }, 401],
  ] as const) {
    const answer = await speak(market.url, head("POST", SEARCH, { ...JSON_HEADERS, ...headers }));
    t.deepEqual(answer.statuses, [status]);
  }
  const connecting = await speak(
    market.url,
    head("POST", "/v1/connect", { ...JSON_HEADERS, "Content-Length": 20_000 }),
  );
  t.deepEqual([connecting.statuses, connecting.body.code], [[413], "payload_too_large"]);
  // A process does not know a token before its first call.
  const newcomer = await market.stranger();
  const padded = { query: "sofa", padding: "a".repeat(100_000) };
  t.is((await newcomer.call("POST", SEARCH, padded)).status, 200);
});

test.serial("a request with Expect: 100-continue is refused before its body is sent, or it gets 100", async (t) => {
  const expecting = { ...JSON_HEADERS, Expect: "100-continue" };
  for (const [headers, status] of [
    [{ ...expecting, "Content-Length": MB + 1 }, 413],
    [{ ...expecting, "Content-Length": 20, Authorization: "Bearer x" }, 401],
    [{ ...expecting, "Content-Length": 20, "Content-Type": "text/plain" }, 415],
  ] as const) {
    const answer = await speak(market.url, head("POST", SEARCH, headers));
    t.deepEqual(answer.statuses, [status], "the server does not send 100 Continue");
    t.true(answer.ms < allowed(5_000), `${answer.ms} ms`);
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

test.serial("a body without a stated length is cut off when it exceeds the cap", async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  const chunked = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]);
  let chunks = 0;
  const answer = await speak(
    market.url,
    head("POST", SEARCH, { ...JSON_HEADERS, "Transfer-Encoding": "chunked" }),
    (heard) => {
      // This request never sends its last chunk, so only a response can end it.
      if (heard !== "" || chunks > 400) return undefined;
      chunks += 1;
      return chunked;
    },
  );
  t.deepEqual([answer.statuses, answer.body.code], [[413], "payload_too_large"]);
  t.true(chunks >= 16 && chunks < allowed(100), `${chunks} chunks of 64 KB`);
  t.true(answer.closed || /connection: close/i.test(answer.head));
});

const FORM_HEADERS = { "Content-Type": "application/x-www-form-urlencoded" };
for (const [method, path, headers, status] of [
  ["POST", "/oauth/register", JSON_HEADERS, 413],
  ["POST", "/oauth/token", FORM_HEADERS, 413],
  ["POST", "/oauth/revoke", JSON_HEADERS, 415],
  ["PUT", "/oauth/register", JSON_HEADERS, 405],
  ["OPTIONS", "/oauth/token", { ...JSON_HEADERS, Origin: "https://agent.example" }, 204],
  ["GET", "/.well-known/oauth-authorization-server", JSON_HEADERS, 200],
] as const) {
  test(`${method} ${path} answers ${status} without reading the rest of the body, and closes the connection`, async (t) => {
    const piece = "x".repeat(40_000);
    for (const [stated, body] of [
      [{ "Content-Length": 64 * MB }, piece],
      [{ "Transfer-Encoding": "chunked" }, `${piece.length.toString(16)}\r\n${piece}\r\n`],
    ] as const) {
      // The rest of the body never comes, so only the answer can end the connection.
      const answer = await speak(market.url, head(method, path, { Authorization: "", ...headers, ...stated }) + body);
      t.deepEqual(answer.statuses, [status]);
      t.deepEqual(answer.head.match(/^connection: .*$/gim), ["Connection: close"]);
    }
  });
}

test("a refusal reaches a client that first sends its whole body", async (t) => {
  const { hostname, port } = new URL(market.url);
  const body = Buffer.alloc(900 * 1024, 0x20);
  const send = (path: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname);
      let text = "";
      const fail = (error: Error) => resolve(`${error.message} after ${JSON.stringify(text.slice(0, 20))}`);
      socket.setEncoding("utf8").pause();
      socket.on("data", (data: string) => {
        text += data;
      });
      socket.on("error", fail);
      socket.on("end", () => {
        socket.destroy();
        resolve(text.slice(0, 12));
      });
      const headers = { ...JSON_HEADERS, Authorization: "", "Content-Length": body.length };
      socket.write(head("POST", path, headers));
      // Like a program that sends the body in pieces, and reads when all of them are sent.
      const piece = body.length / 30;
      const sendFrom = (start: number): void => {
        if (start >= body.length) return void socket.resume();
        socket.write(body.subarray(start, start + piece), (error) =>
          error ? fail(error) : setTimeout(sendFrom, 2, start + piece),
        );
      };
      setTimeout(sendFrom, 2, 0);
    });
  for (const [path, status] of [
    [SEARCH, 401],
    ["/v1/nothing", 404],
    ["/v1/connect", 413],
    ["/mcp", 401],
    ["/oauth/token", 415],
  ] as const)
    for (let n = 0; n < 3; ) {
      const start = performance.now();
      const answer = await send(path);
      // The service waits for two seconds, which is too short for a client that the other tests keep waiting.
      if (performance.now() - start > 1_500) continue;
      t.is(answer, `HTTP/1.1 ${status}`, path);
      n += 1;
    }
});

const NOT_HTTP: [what: string, bytes: string | Buffer, status: number][] = [
  ["no request line", "FOO\r\n\r\n", 400],
  ["bytes", Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]), 400],
  ["another version", "GET /v1 HTTP/9.9\r\nHost: x\r\n\r\n", 400],
  ["no host", "GET /v1 HTTP/1.1\r\n\r\n", 400],
  ["two hosts", "GET /v1 HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", 400],
  ["an invalid method", "G@T /v1 HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["a space in the path", "GET /v1 /me HTTP/1.1\r\nHost: x\r\n\r\n", 400],
  ["a header with a NUL", "GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n", 400],
  ["a header without a name", "GET /v1 HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n", 400],
  ["a header with a space in its name", "GET /v1 HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n", 400],
  ["an invalid length", "POST /v1/connect HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400],
  ["two lengths", "POST /v1/connect HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400],
  [
    "both a length and chunks",
    "POST /v1/connect HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
  ],
  ["headers too large", `GET /v1 HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`, 431],
  ["too many headers", `GET /v1 HTTP/1.1\r\nHost: x\r\n${"X-A: a\r\n".repeat(4000)}\r\n`, 431],
  ["a path too long", `GET /v1/${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
];
for (const [what, bytes, status] of NOT_HTTP) {
  test(`a request with ${what} gets ${status} and a Problem`, async (t) => {
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
    // The connection may close a moment after the response, which announces it.
    t.true(answer.closed || /^connection: close\r?$/im.test(answer.head) || / hosts?$/.test(what));
  });
}

test("what cannot be read after a whole request ends the connection without an answer, so that the outcome is unknown", async (t) => {
  const body = JSON.stringify({ text: "A sofa that nobody was told of. 20 euros" });
  const request = head("POST", "/v1/offers", { ...JSON_HEADERS, "Content-Length": body.length }) + body;
  const publishing = await speak(market.url, `${request}}`);
  t.deepEqual([publishing.statuses, publishing.closed], [[], true]);
  // Of a request that is answered the outcome is known.
  const answered = await new Promise<string>((resolve) => {
    const { hostname, port } = new URL(market.url);
    const socket = connect(Number(port), hostname);
    let text = "";
    socket.once("data", () => socket.write("}"));
    socket.on("data", (data) => {
      text += data;
    });
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(text));
    socket.write(head("GET", "/v1"));
  });
  t.deepEqual(answered.match(/HTTP\/1\.1 \d{3}/g), ["HTTP/1.1 200", "HTTP/1.1 400"]);
  // Without its rest a request cannot be carried out.
  const chunks = { ...JSON_HEADERS, "Transfer-Encoding": "chunked" };
  const partial = await speak(market.url, `${head("POST", "/v1/offers", chunks)}2\r\n{"\r\n}`);
  t.deepEqual([partial.statuses, partial.body.code], [[400], "bad_request"]);
});

test("a query or a form has at most 50 parameters", async (t) => {
  const parameters = Array.from({ length: 51 }, (_, n) => `p${n}=`).join("&");
  const headers = { accept: "application/json", "content-type": "application/x-www-form-urlencoded" };
  const answers = [
    ...["/oauth/authorize", "/v1/offers", "/offers/x", "/admin", "/"].map((path) =>
      market.call("GET", `${path}?${parameters}`, { headers: { ...authorized(), accept: "application/json" } }),
    ),
    ...["/oauth/token", "/oauth/revoke"].map((path) => call(market.url, "POST", path, { raw: parameters, headers })),
  ];
  for (const { status, body } of await Promise.all(answers))
    t.deepEqual(
      [status, body.detail],
      [400, "A request has at most 50 parameters. Send only those that the call needs."],
    );
});

test("a path with invalid percent-encoding gets 400", async (t) => {
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

test("a path cannot add headers to the response", async (t) => {
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
  t.false(JSON.stringify(absolute.body).includes("evil.example"), "the response does not contain the client's host");
});

test.serial(
  "on a loopback address, no path answers to a name that is not this machine's (DNS rebinding)",
  async (t) => {
    const paths = [
      "/",
      "/v1",
      "/mcp",
      "/connect/x",
      "/settings",
      "/oauth/token",
      "/healthz",
      "/admin",
      "/docs",
      "/mailbox/x",
    ];
    const { port } = new URL(market.url);
    for (const method of ["GET", "POST", "OPTIONS"])
      for (const path of paths)
        for (const host of ["evil.example", `localhost.evil.example:${port}`, "[::2]", "a b", "192.168.1.5"]) {
          const { status, body } = await call(market.url, method, path, { headers: { ...authorized(), host } });
          t.deepEqual([status, body?.code], [400, "bad_request"], `${method} ${path} ${host}`);
          t.regex(body.detail, /its own machine\. Use its address as it is: http:/);
        }
    for (const host of ["localhost", "127.0.0.1:1", "[::1]"])
      t.is((await call(market.url, "GET", "/v1", { headers: { host } })).status, 200, host);
  },
);

// ── Slow clients ─────────────────────────────────────────────────────────────────────────────────────────────────────

test.serial("a client that sends or reads too slowly is cut off, and others are served meanwhile", async (t) => {
  const app = express();
  const cutOff = new Promise((resolve) =>
    app.get("/large", (_request, response) => {
      response.once("close", resolve).send(Buffer.alloc(64 * 1024 * 1024));
    }),
  );
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
  await cutOff;
  let bytes = 0;
  reader.on("data", (data: Buffer) => {
    bytes += data.length;
  });
  reader.resume();
  await closed;
  t.true(bytes < 64 * 1024 * 1024, "the client did not receive the whole response");
  t.true(Date.now() - started < allowed(6_000));
});

test.serial("a request that got 408 is not carried out, even if the rest of it arrives then", async (t) => {
  const carriedOut: string[] = [];
  const app = express();
  app.use((request, response) => {
    request.resume().on("end", () => {
      carriedOut.push(request.path);
      response.send("served");
    });
  });
  const server = await serve(app, 0, "127.0.0.1", {
    baseUrl: () => "https://souk.test",
    limits: { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 },
  });
  t.teardown(() => server.close(0));
  const { hostname, port } = new URL(server.url);
  /** Sends the rest at the moment of the 408. A client that was busy does not know yet that it is too late. */
  const late = (first: string, rest: string): Promise<string> =>
    new Promise((resolve) => {
      // The client's side stays open when the server closes its own.
      const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
      let text = "";
      socket.on("error", () => {});
      socket.on("data", (data) => {
        if (text === "") socket.write(rest);
        text += data;
      });
      socket.once("close", () => resolve(text));
      socket.write(first);
      setTimeout(() => socket.destroy(), 1_500);
    });
  const answers = await Promise.all([
    late("POST /headers HTTP/1.1\r\nHost: x\r\n", "Content-Length: 0\r\n\r\n"),
    late("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n", "all"),
  ]);
  for (const answer of answers) t.regex(answer, /^HTTP\/1\.1 408 /);
  t.deepEqual(carriedOut, []);
  t.is(await (await fetch(`${server.url}/next`)).text(), "served");
});
