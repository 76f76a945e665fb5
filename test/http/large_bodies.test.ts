import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import test from "ava";
import { PROBLEMS, problemOf } from "../../src/base/problem.ts";
import { onBehalfOf } from "../../src/base/request.ts";
import { goneFrom } from "../../src/web/admission.ts";
import { readText } from "../../src/web/body.ts";
import { until } from "../support/market.ts";
import { listenOn } from "../support/raw_server.ts";

/** Few large bodies of a caller are worked on at once, and one that has not arrived whole holds up nobody else's. */

const MEGABYTE = 1024 * 1024;
/** Larger than a body that takes no place. */
const LARGE = 20_000;

/** The contract: at most 8 calls of a caller run at once, and 256 wait. */
const RUNNING = 8;
const WAITING = 256;
/** So many callers fill all places. */
const MANY = 9;

type Sender = { begin: () => void; finish: () => void; hangUp: () => void; status: Promise<number> };

/** Serves `readText`. A caller whose name begins with "slow" is answered when `release` is called. */
const serve = async (t: { teardown: (clean: () => Promise<void>) => void }) => {
  const open = new Set<IncomingMessage>();
  const inWork: string[] = [];
  const released = Promise.withResolvers<void>();
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    open.add(incoming);
    response.once("close", () => open.delete(incoming));
    const caller = String(incoming.headers["x-caller"]);
    void onBehalfOf({ id: "test", caller, gone: goneFrom(response as never) }, async () => {
      const status = await readText(incoming, response, MEGABYTE).then(
        () => 200,
        (error: unknown) => PROBLEMS[problemOf(error).code].status,
      );
      if (status === 200) inWork.push(caller);
      if (status === 200 && caller.startsWith("slow")) await released.promise;
      response.writeHead(status, { connection: incoming.headers.connection ?? "close" }).end();
    });
  });
  const port = await listenOn(t, server);
  const send = (caller: string, length = LARGE, isChunked = false): Sender => {
    const sent = request({
      port,
      host: "127.0.0.1",
      method: "POST",
      agent: false,
      headers: {
        "x-caller": caller,
        "content-type": "application/json",
        ...(isChunked ? { "transfer-encoding": "chunked" } : { "content-length": length }),
      },
    });
    const status = new Promise<number>((resolve) => {
      sent.on("response", (response) => resolve(response.resume().statusCode ?? 0));
      sent.on("error", () => resolve(0));
    });
    return {
      status,
      begin: () => void sent.write(Buffer.alloc(length - 1, " ")),
      finish: () => void sent.end(" "),
      hangUp: () => sent.destroy(),
    };
  };
  const whole = (caller: string, length = LARGE, isChunked = false): Promise<number> => {
    const sender = send(caller, length, isChunked);
    sender.begin();
    sender.finish();
    return sender.status;
  };
  return { port, send, whole, inWork, received: () => open.size, release: () => released.resolve() };
};

test("of a caller's large bodies, eight are worked on at once, those beyond its queue get 429, and others do not wait", async (t) => {
  const { whole, inWork, received, release } = await serve(t);
  const slow = Array.from({ length: RUNNING + WAITING }, () => whole("slow"));
  await until(() => received() === RUNNING + WAITING && inWork.length === RUNNING);
  // When this one is refused, all others have arrived whole.
  t.is(await whole("slow"), 429);
  t.is(await whole("other"), 200);
  t.deepEqual(inWork, [...Array<string>(RUNNING).fill("slow"), "other"]);
  const small = whole("slow", 1_000);
  await until(() => inWork.length === RUNNING + 2);
  release();
  t.is(await small, 200);
  t.deepEqual(new Set(await Promise.all(slow)), new Set([200]));
});

test("large bodies of many callers that do not arrive whole hold up no other, whether its length is known or not", async (t) => {
  const { send, whole, received } = await serve(t);
  const halfOpen = Array.from({ length: MANY * RUNNING }, (_, n) => send(`flood ${n % MANY}`));
  for (const one of halfOpen) one.begin();
  await until(() => received() === halfOpen.length);
  t.deepEqual(
    await Promise.all([whole("other"), whole("other", LARGE, true), whole("other", 16, true)]),
    [200, 200, 200],
  );
  for (const one of halfOpen) one.finish();
  t.deepEqual(new Set(await Promise.all(halfOpen.map(({ status }) => status))), new Set([200]));
});

test("when bodies that do not arrive whole take too much memory, those that took it longest are refused", async (t) => {
  const { send, whole, received } = await serve(t);
  const halfOpen = Array.from({ length: MANY * RUNNING }, (_, n) => send(`flood ${n % MANY}`, MEGABYTE));
  let refused = 0;
  for (const one of halfOpen) {
    one.begin();
    void one.status.then((status) => {
      if (status === 503) refused += 1;
    });
  }
  await until(() => refused > 0 && received() + refused === halfOpen.length);
  for (let n = 0; n < 20; n += 1) t.is(await whole("other", MEGABYTE), 200);
  for (const one of halfOpen) one.hangUp();
  await until(() => received() === 0);
});

test("answers that wait behind another on their connection hold no places", async (t) => {
  const { port, whole, inWork, release } = await serve(t);
  const requestOf = (caller: string) =>
    `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\nX-Caller: ${caller}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${LARGE}\r\n\r\n${" ".repeat(LARGE)}`;
  const lines = Array.from({ length: MANY }, (_, n) => {
    const line = connect(port, "127.0.0.1").on("error", () => undefined);
    line.write(requestOf(`slow ${n}`) + requestOf(`flood ${n}`).repeat(RUNNING));
    return line;
  });
  await until(() => inWork.length === MANY * (RUNNING + 1));
  t.is(await whole("other"), 200);
  release();
  for (const line of lines) line.destroy();
});
