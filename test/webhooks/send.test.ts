import { lookup as systemLookup } from "node:dns";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type LookupFunction } from "node:net";
import test from "ava";
import { decryptSecret, encryptSecret, newWebhookSecret, readKeys } from "../../src/webhooks/secrets.ts";
import { createSend, secondsOf } from "../../src/webhooks/send.ts";
import { until } from "../support/market.ts";
import { listenOn, SWITCHING, serveRaw } from "../support/raw_server.ts";

/** Attempts to send to receivers and through resolvers that lie, and the encryption of secrets. */

type Teardown = { teardown: (clean: () => Promise<void>) => void };

const listen = (t: Teardown, answer: RequestListener): Promise<number> => listenOn(t, createServer(answer));

const SECRET = newWebhookSecret();
const sendable = (url: string) => ({
  id: "01981d0e-7a00-7000-8000-000000000022",
  url,
  secret: SECRET,
  body: "{}",
  isChallenge: false,
  admit: async () => true,
});
const never = new AbortController().signal;
/** No time limit ends what is not about time, so that a busy machine fails no test. */
const PATIENT_MS = 2 ** 31 - 1;
const anywhere = createSend({ anyAddress: true, mostMs: PATIENT_MS });
const UNREACHABLE = "The receiver cannot be reached from the internet.";

test("no connection is made to an address that is not public, in any notation", async (t) => {
  let asked = 0;
  const server = createTcpServer(() => {
    asked += 1;
  });
  const port = await listenOn(t, server);
  // The system knows the name localhost without a nameserver.
  const send = createSend({ anyAddress: false, lookup: systemLookup as LookupFunction });
  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "localhost",
    "localhost.",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "0.0.0.0",
    "[::]",
    "10.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[fd00::1]",
    "[fe80::1]",
    "[fec0::1]",
  ];
  for (const host of hosts) {
    const { status, error } = (await send(sendable(`https://${host}:${port}/`), never)) ?? {};
    t.deepEqual([status, error], [null, UNREACHABLE], host);
  }
  t.is(asked, 0);
});

test("a name is judged by the address connected to, each time, also if only one of several is private", async (t) => {
  let asked = 0;
  const port = await listen(t, (_request, response) => {
    asked += 1;
    response.end();
  });
  let lookups = 0;
  // The name leads to a public address when it is looked at first, and then to ours.
  const rebinding: LookupFunction = (_host, options, callback) => {
    lookups += 1;
    const found = lookups === 1 ? [] : [{ address: "93.184.215.14", family: 4 }];
    const all = [...found, { address: "127.0.0.1", family: 4 }];
    if (options.all) callback(null, all);
    else callback(null, all.at(-1)?.address ?? "", 4);
  };
  const send = createSend({ anyAddress: false, lookup: rebinding, mostMs: PATIENT_MS });
  for (let time = 0; time < 2; time += 1)
    t.is((await send(sendable(`https://public.example:${port}/`), never))?.error, UNREACHABLE);
  t.is(lookups, 2, "nothing is remembered of a name");
  t.is(asked, 0);
});

test("http is refused unless the operator allows it", async (t) => {
  const { status, error } = (await createSend({ anyAddress: false })(sendable("http://example.com/"), never)) ?? {};
  t.deepEqual([status, error], [null, "The address does not begin with https://."]);
});

test("a redirect is not followed", async (t) => {
  let followed = false;
  const target = await listen(t, (_request, response) => {
    followed = true;
    response.end();
  });
  const port = await listen(t, (_request, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${target}/` }).end(),
  );
  const { status, error } = (await anywhere(sendable(`http://127.0.0.1:${port}/`), never)) ?? {};
  t.deepEqual([status, error], [307, "The receiver answered 307, and redirects are not followed."]);
  t.false(followed);
});

test("an endless body is cut off at its beginning", async (t) => {
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const port = await listen(t, (_request, response) => {
    response.once("close", closed.resolve);
    response.writeHead(200);
    const write = (): void => {
      sent += 1024;
      if (!response.destroyed) response.write("x".repeat(1024), () => setImmediate(write));
    };
    write();
  });
  t.is((await anywhere(sendable(`http://127.0.0.1:${port}/`), never))?.status, 200);
  await closed.promise;
  t.true(sent < 16 * 1024 * 1024);
});

test("nothing is sent to an address that is not admitted, and that is no attempt", async (t) => {
  let asked = 0;
  const port = await listen(t, (_request, response) => {
    asked += 1;
    response.end();
  });
  const lookup = ((_host, _options, callback) =>
    callback(null, [{ address: "127.0.0.1", family: 4 }])) as LookupFunction;
  const send = createSend({ anyAddress: true, lookup, mostMs: PATIENT_MS });
  for (const host of ["wild.example", "127.0.0.1"]) {
    const url = `http://${host}:${port}/`;
    const named: string[] = [];
    const refusing = async (address: string) => named.push(address) > 1;
    t.is(await send({ ...sendable(url), admit: refusing }, never), null);
    t.deepEqual(named, ["127.0.0.1"]);
    await t.throwsAsync(send({ ...sendable(url), admit: () => Promise.reject(new Error("no database")) }, never));
    t.is(asked, 0);
  }
  t.is((await send(sendable(`http://wild.example:${port}/`), never))?.status, 200);
});

test("a challenge is answered by a short JSON document with its value, and by nothing else", async (t) => {
  const answers: [string, string | null][] = [
    ['{"challenge": "x"}', "x"],
    ['{"events": [{"data": {"challenge": "x"}}]}', null],
    ["x", null],
    ['{"challenge": 7}', null],
    ['{"challenge": "\\u0000"}', null],
    ["null", null],
    ["", null],
    [`{"challenge": "x"}${" ".repeat(5000)}`, null],
  ];
  for (const [answer, value] of answers) {
    const port = await listen(t, (_request, response) => response.end(answer));
    const outcome = await anywhere({ ...sendable(`http://127.0.0.1:${port}/`), isChallenge: true }, never);
    t.deepEqual([outcome?.status, outcome?.answer], [200, value], answer.slice(0, 60));
  }
});

test("silence, dripping headers and endless interim answers are given up when the time is over", async (t) => {
  const silent = await listen(t, () => undefined);
  const drip = (first: string, more: string) =>
    serveRaw(t, (socket) => {
      socket.write(first);
      const timer = setInterval(() => socket.write(more), 50);
      socket.once("close", () => clearInterval(timer));
    });
  const ports = [silent, await drip("HTTP/1.1 200 OK\r\nx: ", "y"), await drip("", "HTTP/1.1 102 Processing\r\n\r\n")];
  const hasty = createSend({ anyAddress: true, mostMs: 1_000 });
  const outcomes = await Promise.all(ports.map((port) => hasty(sendable(`http://127.0.0.1:${port}/`), never)));
  for (const outcome of outcomes)
    t.deepEqual([outcome?.status, outcome?.error], [null, "No response came within 1 seconds."]);
});

test("an attempt ends however the receiver ends it, and also if it wants to speak another protocol", async (t) => {
  let open = 0;
  const switching = await serveRaw(t, (socket) => {
    open += 1;
    socket.once("close", () => {
      open -= 1;
    });
    socket.write(SWITCHING);
  });
  const { status, error } = (await anywhere(sendable(`http://127.0.0.1:${switching}/`), never)) ?? {};
  t.deepEqual([status, error], [101, null], "the database words it, as any other status");
  await until(() => open === 0);
  for (const answer of ["", "HTTP/1.1 200 OK\r\nx: ", "HTTP/1.1 102 Processing\r\n\r\n", "no HTTP\r\n\r\n"]) {
    const port = await serveRaw(t, (socket) => socket.end(answer));
    t.is((await anywhere(sendable(`http://127.0.0.1:${port}/`), never))?.error, UNREACHABLE, answer);
  }
});

test("the error tells nothing of our network", async (t) => {
  const port = await listen(t, (request) => request.socket.destroy());
  for (const url of [`http://127.0.0.1:${port}/`, "http://127.0.0.1:1/", "http://nowhere.invalid/"])
    t.is((await anywhere(sendable(url), never))?.error, UNREACHABLE);
});

test("Retry-After is understood as seconds and as a date", (t) => {
  const now = Date.parse("2026-06-01T10:00:00Z");
  t.is(secondsOf("120", now), 120);
  t.is(secondsOf("Mon, 01 Jun 2026 10:02:00 GMT", now), 120);
  t.is(secondsOf("Mon, 01 Jun 2026 09:00:00 GMT", now), 0);
  for (const unusable of [undefined, "", "soon"]) t.is(secondsOf(unusable, now), null);
});

test("a secret is read with any key, after a change too, and belongs to its address", (t) => {
  const [older, newer] = ["o".repeat(32), "n".repeat(32)];
  const url = "https://agent.example/souk";
  const stored = encryptSecret(readKeys(older), SECRET, url) ?? "";
  t.is(decryptSecret(readKeys(`${newer},${older}`), stored, url), SECRET);
  t.not(encryptSecret(readKeys(older), SECRET, url), stored);
  t.throws(() => decryptSecret(readKeys(newer), stored, url), { message: /lacks the key/ });
  t.throws(() => decryptSecret(readKeys(older), stored, "https://other.example/"));
  const again = encryptSecret(readKeys(`${newer},${older}`), SECRET, url) ?? "";
  t.is(decryptSecret(readKeys(newer), again, url), SECRET, "the first key encrypts");
  t.is(encryptSecret(readKeys(undefined), SECRET, url), null);
});
