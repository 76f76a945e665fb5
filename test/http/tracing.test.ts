import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { startProvider, well } from "../reader/provider.ts";
import { allowed } from "../support/busy.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { call, connectedAgent, eventually, SOFA } from "../support/market.ts";
import { startPart, startService } from "../support/service.ts";
import { callTool } from "./mcp.ts";

/** Traces of OpenTelemetry, received by a small collector of the test. */

let database: Database;

test.before(async () => {
  database = await createDatabase();
});

test.after.always(async () => {
  await database?.drop();
});

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } };
type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  status: { code?: number };
  service: string;
};

/** A collector that receives OTLP as JSON, and keeps the bodies. */
const startCollector = async (): Promise<{ url: string; spans: () => Span[]; text: () => string; server: Server }> => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url === "/v1/traces") bodies.push(Buffer.concat(chunks).toString("utf8"));
    response.setHeader("content-type", "application/json");
    response.end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const spans = () =>
    bodies.flatMap((body) =>
      JSON.parse(body).resourceSpans.flatMap(
        // biome-ignore lint/suspicious/noExplicitAny: the shape is OTLP's.
        ({ resource, scopeSpans }: any) => {
          const service = resource.attributes.find(({ key }: Attribute) => key === "service.name").value.stringValue;
          // biome-ignore lint/suspicious/noExplicitAny: as above.
          return scopeSpans.flatMap((scope: any) => scope.spans.map((span: Span) => ({ ...span, service })));
        },
      ),
    );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => bodies.join("\n"),
    server,
  };
};

/**
 * Prints each module of OpenTelemetry that the process loads. prom-client always loads the package of interfaces, for
 * exemplars that are not used here.
 */
const PRELOAD = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from "node:module";
   registerHooks({ load(url, context, next) { if (/opentelemetry(?!.api.)/i.test(url)) console.log("LOADS " + url); return next(url, context); } });`,
)}`;

/** The id of no row. */
const NOBODY = "00000000-0000-7000-8000-000000000000";

const value = (span: Span | undefined, key: string): string | number | undefined => {
  const found = span?.attributes.find((attribute) => attribute.key === key)?.value;
  return found?.stringValue ?? found?.intValue;
};

test("one trace connects a request, its statements, its jobs and the calls to the provider", async (t) => {
  const [collector, provider] = await Promise.all([startCollector(), startProvider()]);
  t.teardown(async () => {
    collector.server.close();
    await provider.close();
  });
  provider.always(well());
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OPENAI_BASE_URL: provider.baseURL,
    OPENAI_API_KEY: "a-key-of-the-test",
  };
  const [api, worker] = await Promise.all([
    startPart("api", { database: database.url, env }, t),
    startPart("worker", { database: database.url, env }, t),
  ]);
  const agent = await connectedAgent(api.url, database.url);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const answer = await call(api.url, "POST", "/v1/offers", {
    headers: { authorization: `Bearer ${agent.token}`, traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    body: { text: SOFA },
  });
  t.is(answer.status, 201);

  const spans = await eventually(
    async () => collector.spans().filter((span) => span.traceId === traceId),
    (found) =>
      found.some(({ name }) => name === "publishOffer") && found.some(({ name }) => name === "job embed_offer"),
  );
  const named = (name: string) => spans.filter((span) => span.name === name);
  const parentOf = (span: Span | undefined) => spans.find(({ spanId }) => spanId === span?.parentSpanId)?.name;
  const [request] = named("publishOffer");
  t.is(request?.parentSpanId, "b7ad6b7169203331", "the trace of the caller goes on");
  t.is(request?.service, "souk-api");
  t.is(value(request, "http.response.status_code"), 201);
  t.is(value(request, "souk.request_id"), answer.headers["request-id"]);
  t.is(parentOf(named("api.publish_offer")[0]), "publishOffer");
  t.is(parentOf(named("wait for the reading")[0]), "publishOffer");
  t.is(parentOf(named("job complete_submission")[0]), "publishOffer");
  t.is(named("job complete_submission")[0]?.service, "souk-worker");
  t.is(parentOf(named("chat gpt-4.1-mini")[0]), "job complete_submission");
  t.is(parentOf(named("jobs.complete_submission")[0]), "job complete_submission");
  t.is(parentOf(named("job embed_offer")[0]), "job complete_submission");
  t.is(parentOf(named("embeddings text-embedding-3-small")[0]), "job embed_offer");
  const orphans = spans.filter((span) => span !== request && parentOf(span) === undefined);
  t.deepEqual(orphans, [], "every other span has its parent in the trace");

  // A refusal and a search, whose words must not be in a span.
  await agent.call("POST", "/v1/offers/search", { query: "velvet zorbphone" });
  await agent.call("GET", `/v1/offers/${crypto.randomUUID()}`);
  await call(api.url, "GET", `/connect/${"s".repeat(43)}`);
  await callTool(api.url, agent.token, "get_me");
  const later = await eventually(
    async () => collector.spans(),
    (found) => ["searchOffers", "getOffer", "get_me"].every((wanted) => found.some(({ name }) => name === wanted)),
  );
  const tool = later.find(({ name }) => name === "get_me");
  t.deepEqual(
    later.filter((span) => span.parentSpanId === tool?.spanId && value(span, "db.system.name")).map(({ name }) => name),
    ["api.get_me"],
    "a tool is one statement",
  );
  for (const traceparent of [
    "00-zz-b7ad6b7169203331-01",
    "x".repeat(5_000),
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
  ])
    t.is((await call(api.url, "GET", "/v1", { headers: { traceparent } })).status, 200);
  const begun = await eventually(
    async () => collector.spans().filter(({ name }) => name === "getIndex"),
    (found) => found.length === 3,
  );
  for (const span of begun) {
    t.regex(span.traceId, /^[0-9a-f]{32}$/, "nonsense begins a new trace");
    t.falsy(span.parentSpanId);
  }
  await Promise.all([api.stop(), worker.stop()]);
  const told = collector.text();
  for (const secret of [
    agent.token,
    "a-key-of-the-test",
    "velvet",
    "zorbphone",
    "ssss",
    ...SOFA.split(/\s+/).filter((word) => word.length > 6),
  ])
    t.false(told.includes(secret), secret);
  t.false(/@|\+\d{6}|select |insert /i.test(told), "no contact and no statement");
  t.is(
    collector.spans().find(({ name }) => name === "getOffer")?.status.code,
    0,
    "a refusal is no error of the service",
  );
});

test("a collector that hangs, and is then gone, hurts nobody", async (t) => {
  const hanging = createServer(() => undefined);
  await once(hanging.listen(0, "127.0.0.1"), "listening");
  const end = () => {
    hanging.closeAllConnections();
    hanging.close();
  };
  t.teardown(async () => end());
  const own = await createDatabase(t);
  const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
  const service = await startService({ database: own.url, env: { OTEL_EXPORTER_OTLP_ENDPOINT: url } }, t);
  const agent = await connectedAgent(service.url, own.url);
  for (const state of ["hangs", "is gone"]) {
    if (state === "is gone") end();
    t.is((await agent.call("POST", "/v1/offers", { text: SOFA })).status, 201, state);
    // Longer than the pause before spans are sent, so that the sending has failed or hangs.
    await sleep(1_500);
    t.is((await agent.call("GET", "/v1/me")).status, 200, state);
  }
  const start = performance.now();
  await service.stop();
  t.true(performance.now() - start < allowed(10_000), "the process stops within its time");
  t.notRegex(service.logs(), /"level":"(error|fatal)"/);
});

test("without a collector nothing of OpenTelemetry is loaded, and jobs carry only an id", async (t) => {
  const own = await createDatabase();
  t.teardown(own.drop);
  const NODE_OPTIONS = `--import=${PRELOAD}`;
  const service = await startService({ database: own.url, env: { NODE_OPTIONS } }, t);
  const agent = await connectedAgent(service.url, own.url);
  t.is((await agent.call("POST", "/v1/offers", { text: SOFA })).status, 201);
  t.deepEqual(service.logs().match(/LOADS .*/g), null);
  const payload = await withClient(own.url, async (client) => {
    await client.query("begin");
    await client.query("select internal.enqueue('embed_offer', $1)", [NOBODY]);
    const { rows } = await client.query("select payload from graphile_worker._private_jobs where key = $1", [
      `embed_offer:${NOBODY}`,
    ]);
    await client.query("rollback");
    return rows[0]?.payload;
  });
  t.deepEqual(payload, { id: NOBODY });

  const collector = await startCollector();
  t.teardown(async () => void collector.server.close());
  const traced = await startPart(
    "api",
    { database: own.url, env: { NODE_OPTIONS, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } },
    t,
  );
  t.regex(traced.logs(), /LOADS .*opentelemetry/, "the test would see it");
});
