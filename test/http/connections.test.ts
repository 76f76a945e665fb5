import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import test from "ava";
import express from "express";
import { serve } from "../../src/web/server.ts";
import { call, until } from "../support/market.ts";
import { openMarket } from "./contract.ts";

/** Connections are shared by the callers' sites, and one connection cannot carry any number of requests at once. */

const GET = "GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
/** Tests of this file run at once, on one service: what comes from one address waits in one queue. */
const [POLITE, FLOODING] = ["127.0.0.4", "127.0.0.9"];
const GET_SLOW = "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n";

type Line = { socket: Socket; text: string; closed: boolean };

/** Opens a connection from an address of this machine, and sends `first`. */
const open = (port: number, from: string, first = ""): Line => {
  const line: Line = {
    socket: connect({ port, host: "127.0.0.1", localAddress: from }),
    text: "",
    closed: false,
  };
  line.socket.on("data", (data) => {
    line.text += data.toString("latin1");
  });
  line.socket.on("error", () => {});
  line.socket.on("close", () => {
    line.closed = true;
  });
  if (first !== "") line.socket.write(first);
  return line;
};

const statuses = ({ text }: Line): string[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status ?? "");

/** An application that answers GET /slow when it is released, and all else at once. `begun` counts the calls of /slow. */
const slowApp = () => {
  const app = express();
  const released = Promise.withResolvers<void>();
  let begun = 0;
  app.get("/slow", async (_request, response) => {
    begun += 1;
    await released.promise;
    response.end("slow");
  });
  app.use((_request, response) => void response.end("served"));
  return { app, begun: () => begun, release: () => released.resolve() };
};

/** What the answers say about the connection, in their order. */
const announced = ({ text }: Line): string[] =>
  [...text.matchAll(/^Connection: ([a-z-]+)\r$/gm)].map(([, what]) => what ?? "");

test("when all connections are open, a new one takes the place of an idle one of the network that has most", async (t) => {
  const app = express();
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  app.get("/slow", async (_request, response) => {
    await released;
    response.end("slow");
  });
  app.use((_request, response) => void response.end("served"));
  const server = await serve(app, 0, "127.0.0.1", { baseUrl: () => "", limits: { maxConnections: 20 } });
  t.teardown(() => server.close(0));
  const port = Number(new URL(server.url).port);

  const busy = open(port, "127.0.0.2", GET_SLOW);
  const greedy = [busy, ...Array.from({ length: 19 }, () => open(port, "127.0.0.2"))];
  t.teardown(() => greedy.forEach(({ socket }) => void socket.destroy()));
  await until(() => greedy.every(({ socket }) => socket.readyState === "open"));
  const other = open(port, "127.0.0.3", GET);
  t.teardown(() => void other.socket.destroy());
  await until(() => statuses(other).length > 0);
  t.deepEqual(statuses(other), ["200"]);
  await until(() => greedy.filter(({ closed }) => closed).length === 1);
  t.false(busy.closed, "a connection with an open request is the last to be closed");

  const further = open(port, "127.0.0.2", GET);
  await until(() => further.closed);
  t.deepEqual(statuses(further), [], "the network that has most gets no more");
  t.false(other.closed);
  release();
  await until(() => statuses(busy).length > 0);
  t.deepEqual(statuses(busy), ["200"]);
});

test("one connection from each of many addresses ends no request that arrived whole, and keeps nobody out", async (t) => {
  const slow = slowApp();
  const server = await serve(slow.app, 0, "127.0.0.1", { baseUrl: () => "", limits: { maxConnections: 8 } });
  t.teardown(() => server.close(0));
  const port = Number(new URL(server.url).port);
  const from = (address: string, first: string): Line => {
    const line = open(port, address, first);
    t.teardown(() => void line.socket.destroy());
    return line;
  };

  const busy = from("127.0.0.2", GET_SLOW);
  await until(() => slow.begun() === 1);
  const halfOpen: Line[] = [];
  for (let n = 0; n < 16; n += 1) {
    halfOpen.push(
      from(`127.0.1.${n}`, n % 2 === 0 ? "" : "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n1"),
    );
    await until(() => halfOpen.filter(({ closed }) => closed).length === Math.max(0, n - 6));
  }
  t.deepEqual(halfOpen.map(({ closed }) => closed).indexOf(false), 9, "those that have waited longest are closed");
  const others = Array.from({ length: 7 }, (_, n) => from(`127.0.0.${10 + n}`, GET_SLOW));
  await until(() => slow.begun() === 8);
  const further = from("127.0.0.3", GET);
  await until(() => further.closed);
  t.deepEqual(statuses(further), [], "when all owe an answer, there is no room");
  slow.release();
  await until(() => [busy, ...others].every((line) => statuses(line).length > 0));
  for (const line of [busy, ...others]) t.deepEqual(statuses(line), ["200"]);
});

test("an address with very many connections loses one even if all owe an answer", async (t) => {
  const app = express();
  let begun = 0;
  app.get("/slow", () => {
    begun += 1;
  });
  app.use((_request, response) => void response.end("served"));
  const server = await serve(app, 0, "127.0.0.1", { baseUrl: () => "", limits: { maxConnections: 8 } });
  t.teardown(() => server.close(0));
  const port = Number(new URL(server.url).port);
  const greedy = Array.from({ length: 8 }, () => open(port, "127.0.0.2", GET_SLOW));
  await until(() => begun === 8);
  const other = open(port, "127.0.0.3", GET);
  t.teardown(() => [...greedy, other].forEach(({ socket }) => void socket.destroy()));
  await until(() => statuses(other).length > 0);
  t.is(greedy.filter(({ closed }) => closed).length, 1);
});

test("a connection may send some requests ahead, and one that sends thousands ahead is closed", async (t) => {
  const market = await openMarket();
  t.teardown(() => market.stop());
  const port = Number(new URL(market.url).port);
  const polite = open(port, POLITE, GET.repeat(16));
  t.teardown(() => void polite.socket.destroy());
  await until(() => statuses(polite).length === 16);
  t.deepEqual(new Set(statuses(polite)), new Set(["200"]));

  const flood = open(port, FLOODING, GET.repeat(20_000));
  await until(() => flood.closed);
  t.true(statuses(flood).length < 1_000, `${statuses(flood).length} of 20,000 requests were answered`);
});

test("when too much waits for clients that do not read, connections of the network that has most are closed", async (t) => {
  // More than the operating system keeps of one connection.
  const large = Buffer.alloc(16 * 1024 * 1024, "x");
  const app = express();
  app.use((_request, response) => void response.end(large));
  const limits = { maxUnread: 4 * large.length };
  const server = await serve(app, 0, "127.0.0.1", { baseUrl: () => "", limits });
  t.teardown(() => server.close(0));
  const port = Number(new URL(server.url).port);
  const slowly = (from: string, first: string): Line => {
    const line = open(port, from, first);
    line.socket.pause();
    t.teardown(() => void line.socket.destroy());
    return line;
  };

  const modest = slowly("127.0.0.2", GET);
  const greedy = Array.from({ length: 10 }, () => slowly("127.0.0.3", GET.repeat(4)));
  // A socket that is paused does not notice that the other side has closed it, but cannot send any more.
  const isClosed = ({ socket, closed }: Line) => closed || !socket.write("\r\n") || socket.destroyed;
  await until(() => greedy.filter(isClosed).length >= 6);
  modest.socket.resume();
  await until(() => modest.text.length >= large.length);
  t.false(modest.closed, "who reads slowly and lets little wait is served");
});

test("of the requests that one address has open at once, those beyond its queue get 429, and another is served", async (t) => {
  const market = await openMarket();
  t.teardown(() => market.stop());
  const port = Number(new URL(market.url).port);
  const request = "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const lines = Array.from({ length: 100 }, () => open(port, FLOODING, request.repeat(32)));
  t.teardown(() => lines.forEach(({ socket }) => void socket.destroy()));
  const other = open(port, POLITE, GET);
  t.teardown(() => void other.socket.destroy());
  await until(() => lines.flatMap(statuses).length === 3_200);
  t.deepEqual(statuses(other), ["200"]);
  const found = new Set(lines.flatMap(statuses));
  t.deepEqual([...found].sort(), ["404", "429"]);
  const refused = lines.find(({ text }) => text.includes(" 429 "))?.text ?? "";
  t.regex(refused, /^Retry-After: 1\r$/m);
  t.regex(refused, /"code":"rate_limited"/);
});

test("a connection that arrives while a stopping process is busy is answered before the port closes", async (t) => {
  const app = express();
  app.use((_request, response) => void response.end("served"));
  const server = await serve(app, 0, "127.0.0.1", { baseUrl: () => "" });
  const closed = server.close(5_000);
  const late = open(Number(new URL(server.url).port), "127.0.0.2", GET);
  // Nothing is accepted meanwhile, and the time after which the port closes passes.
  for (const end = performance.now() + 1_500; performance.now() < end; );
  await closed;
  await until(() => late.closed);
  t.deepEqual(statuses(late), ["200"]);
});

test("a connection on which nothing was sent does not hold up a stop", async (t) => {
  const server = await serve(express(), 0, "127.0.0.1", { baseUrl: () => "" });
  const silent = open(Number(new URL(server.url).port), "127.0.0.2");
  await once(silent.socket, "connect");
  const graceMs = 60_000;
  const started = performance.now();
  await server.close(graceMs);
  t.true(performance.now() - started < graceMs / 2);
  await until(() => silent.closed);
});

test("while a process stops, each connection ends with an answer that says so, and none of its requests is lost", async (t) => {
  const slow = slowApp();
  const server = await serve(slow.app, 0, "127.0.0.1", { baseUrl: () => "" });
  const port = Number(new URL(server.url).port);
  const next = open(port, "127.0.0.2", GET);
  const waiting = open(port, "127.0.0.2", GET_SLOW);
  const ahead = open(port, "127.0.0.2", GET_SLOW.repeat(2));
  const further = open(port, "127.0.0.2", GET_SLOW);
  await until(() => statuses(next).length === 1 && slow.begun() === 4);
  // They are there before the port closes, and are read when the process is already stopping.
  next.socket.write(GET);
  further.socket.write(GET_SLOW);
  const closed = server.close(60_000);
  await until(() => slow.begun() === 5);
  slow.release();
  await closed;
  await until(() => [next, waiting, ahead, further].every((line) => line.closed));
  t.deepEqual(announced(waiting), ["close"]);
  for (const line of [next, ahead, further]) {
    t.deepEqual(statuses(line), ["200", "200"]);
    t.deepEqual(announced(line), ["keep-alive", "close"]);
  }
});

test("a process that stops writes answers to their end, and carries out nothing that the client was told it would not", async (t) => {
  // More than the operating system keeps of one connection.
  const large = Buffer.alloc(16 * 1024 * 1024, "x");
  const app = express();
  const served: string[] = [];
  app.use((request, response) => {
    served.push(request.path);
    response.end(request.path === "/large" ? large : "served");
  });
  const server = await serve(app, 0, "127.0.0.1", { baseUrl: () => "" });
  const port = Number(new URL(server.url).port);
  const getLarge = "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const idle = open(port, "127.0.0.2", GET);
  const [early, late] = [open(port, "127.0.0.2", getLarge), open(port, "127.0.0.2", GET)];
  early.socket.pause();
  await until(() => served.length === 3 && [idle, late].every((line) => statuses(line).length === 1));
  late.socket.pause();
  late.socket.write(getLarge);
  const closed = server.close(60_000);
  await until(() => served.length === 4);
  // The answer on this connection has said that it is the last.
  late.socket.write(GET);
  await until(() => idle.closed);
  for (const { socket } of [early, late]) socket.resume();
  await closed;
  await until(() => early.closed && late.closed);
  t.deepEqual([announced(early), announced(late)], [["keep-alive"], ["keep-alive", "close"]]);
  for (const { text } of [early, late]) t.true(text.endsWith("x".repeat(large.length)), `${text.length} characters`);
  t.deepEqual(served.sort(), ["/large", "/large", "/v1", "/v1"]);
});

test("a busy process that stops answers every request whose connection was made", async (t) => {
  const worker = new Worker(new URL("busy_server.ts", import.meta.url));
  t.teardown(() => worker.terminate());
  const [url] = (await once(worker, "message")) as [string];
  const outcomes: string[] = [];
  let stopping = false;
  const lane = async (): Promise<void> => {
    for (let refused = false; !refused; ) {
      const outcome = await call(url, "GET", "/", { timeoutMs: 60_000 }).then(
        ({ status }) => String(status),
        (error: NodeJS.ErrnoException) => error.code ?? error.message,
      );
      outcomes.push(outcome);
      refused = outcome === "ECONNREFUSED" || (outcome !== "200" && stopping);
    }
  };
  const lanes = Array.from({ length: 30 }, lane);
  await sleep(500);
  worker.postMessage("stop");
  stopping = true;
  await Promise.all(lanes);
  t.deepEqual([...new Set(outcomes)].sort(), ["200", "ECONNREFUSED"]);
});
