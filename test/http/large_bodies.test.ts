import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import test from "ava";
import { problemOf } from "../../src/base/problem.ts";
import { onBehalfOf } from "../../src/base/request.ts";
import { goneFrom } from "../../src/web/admission.ts";
import { readText } from "../../src/web/body.ts";
import { eventually, until } from "../support/market.ts";
import { listenOn } from "../support/raw_server.ts";

/** A caller has few large bodies in memory at once. The others stay with their sender. */

const MEGABYTE = 1024 * 1024;

/** The contract: at most 8 calls of a caller run at once, and 256 wait. */
const RUNNING = 8;
const WAITING = 256;

type Sender = { begin: () => void; finish: () => void; hangUp: () => void; status: Promise<number> };

/** Serves `readText`, and knows whose bodies are being read. */
const serve = async (t: { teardown: (clean: () => Promise<void>) => void }) => {
  const open = new Set<IncomingMessage>();
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    open.add(incoming);
    response.once("close", () => open.delete(incoming));
    const caller = String(incoming.headers["x-caller"]);
    void onBehalfOf({ id: "test", caller, gone: goneFrom(response as never) }, async () => {
      const status = await readText(incoming, response, MEGABYTE).then(
        () => 200,
        (error: unknown) => (problemOf(error).code === "rate_limited" ? 429 : 500),
      );
      response.writeHead(status, { connection: "close" }).end();
    });
  });
  const port = await listenOn(t, server);
  const send = (caller: string, length = MEGABYTE): Sender => {
    const sent = request({
      port,
      host: "127.0.0.1",
      method: "POST",
      agent: false,
      headers: { "x-caller": caller, "content-type": "application/json", "content-length": length },
    });
    const status = new Promise<number>((resolve) => {
      sent.on("response", (response) => resolve(response.resume().statusCode ?? 0));
      sent.on("error", () => resolve(0));
    });
    return {
      status,
      begin: () => void sent.write(Buffer.alloc(length / 2, " ")),
      finish: () => void sent.end(Buffer.alloc(length / 2, " ")),
      hangUp: () => sent.destroy(),
    };
  };
  const read = (caller: string) =>
    [...open].filter(({ headers, readableFlowing }) => headers["x-caller"] === caller && readableFlowing).length;
  return { send, read, received: () => open.size };
};

test("of the large bodies that a caller sends slowly, eight are read at once, and other callers' are read", async (t) => {
  const { send, read, received } = await serve(t);
  const slow = Array.from({ length: 50 }, () => send("slow"));
  for (const one of slow) one.begin();
  await eventually(
    async () => [received(), read("slow")],
    ([all, some]) => all === 50 && some === RUNNING,
  );

  const other = send("other");
  other.begin();
  other.finish();
  t.is(await other.status, 200);
  t.is(read("slow"), RUNNING);

  for (const one of slow.slice(0, 45)) one.hangUp();
  await eventually(
    async () => [received(), read("slow")],
    ([all, some]) => all === 5 && some === 5,
  );
  for (const one of slow.slice(45)) one.finish();
  t.deepEqual(await Promise.all(slow.slice(45).map(({ status }) => status)), Array(5).fill(200));
});

test("a caller's large bodies beyond its queue get 429, and its small ones do not wait", async (t) => {
  const { send, received } = await serve(t);
  const slow = Array.from({ length: RUNNING + WAITING }, () => send("flood"));
  for (const one of slow) one.begin();
  await until(() => received() === RUNNING + WAITING);
  const excess = send("flood");
  excess.begin();
  t.is(await excess.status, 429);
  const small = send("flood", 1_000);
  small.begin();
  small.finish();
  t.is(await small.status, 200);
  for (const one of slow) one.hangUp();
  await until(() => received() === 0);
});
