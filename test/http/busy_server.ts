import { performance } from "node:perf_hooks";
import { parentPort } from "node:worker_threads";
import express from "express";
import { serve } from "../../src/web/server.ts";

/** A server in a thread of its own, whose turns are long: each request keeps the processor for 30 ms. It stops when told. */

const app = express();
app.use((_request, response) => {
  for (const end = performance.now() + 30; performance.now() < end; );
  response.end("served");
});
const server = await serve(app, 0, "127.0.0.1", { baseUrl: () => "" });
parentPort?.once("message", async () => {
  await server.close(20_000);
  parentPort?.close();
});
parentPort?.postMessage(server.url);
