import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import type { Body } from "../support/market.ts";
import { type Market, OFFER, openMarket } from "./contract.ts";

/**
 * Programs of others at /mcp: the inspector of the MCP project, and its conformance suite. The suite is a pre-release, because
 * only that knows the revision of 2026, and authorization servers (test/oauth/browser.test.ts).
 */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const run = promisify(execFile);
const packageFile = (path: string): string => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
const INSPECTOR = packageFile("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const CONFORMANCE = packageFile("@modelcontextprotocol/conformance/dist/index.js");
/** Only a program that hangs takes as long, even on a busy machine. */
const PATIENCE_MS = 120_000;

test("the inspector lists the tools and calls them", async (t) => {
  const { token } = await market.agent();
  const home = await mkdtemp(join(tmpdir(), "inspector-"));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const inspect = async (...args: string[]): Promise<Body> => {
    const server = [`${market.url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
    const { stdout } = await run(process.execPath, [INSPECTOR, "--cli", ...server, ...args], {
      env: { ...process.env, HOME: home },
      timeout: PATIENCE_MS,
    });
    return JSON.parse(stdout);
  };
  const { tools } = await inspect("--method", "tools/list", "--strict");
  t.true(tools.length >= 11);
  const call = (tool: string, ...args: string[]) =>
    inspect("--method", "tools/call", "--tool-name", tool, ...args.flatMap((arg) => ["--tool-arg", arg]));
  const published = await call("publish_offer", `text=${OFFER}`);
  t.is(published.structuredContent.status, "published", JSON.stringify(published));
  const found = await call("search_offers", "query=grey sofa");
  t.true(found.structuredContent.results.some((result: Body) => result.id === published.structuredContent.offer_id));
});

/**
 * The suite's scenarios that hold here, each with the revision by which it is run, and with those of its checks that call
 * parts of a test server that this service does not have.
 */
const PASSED: { scenario: string; revision: string; except?: Record<string, string> }[] = [
  { scenario: "server-initialize", revision: "2025-11-25" },
  { scenario: "ping", revision: "2025-11-25" },
  { scenario: "tools-list", revision: "2025-11-25" },
  { scenario: "tools-list", revision: "2026-07-28" },
  { scenario: "dns-rebinding-protection", revision: "2025-11-25" },
  { scenario: "dns-rebinding-protection", revision: "2026-07-28" },
  { scenario: "http-header-validation", revision: "2026-07-28" },
  {
    scenario: "server-stateless",
    revision: "2026-07-28",
    except: {
      "sep-2575-server-rejects-undeclared-capability": "its own tool",
      "sep-2575-missing-capability-http-400": "its own tool",
      "sep-2575-http-server-no-independent-requests-on-stream": "its own tool",
      "sep-2575-server-no-log-without-loglevel": "its own tool",
    },
  },
  {
    scenario: "caching",
    revision: "2026-07-28",
    except: {
      "sep-2549-prompts-list-caching-hints": "prompts",
      "sep-2549-resources-list-caching-hints": "resources",
      "sep-2549-resources-templates-list-caching-hints": "resources",
    },
  },
];

/** The suite's other scenarios call parts of a test server that this service does not have, each for its reason. */
const NEED_FIXTURES: Record<string, string> = {
  "tools-call-simple-text": "its own tool",
  "tools-call-image": "its own tool",
  "tools-call-audio": "its own tool",
  "tools-call-embedded-resource": "its own tool",
  "tools-call-mixed-content": "its own tool",
  "tools-call-with-logging": "its own tool, and log messages to the client, which are deprecated since 2026",
  "tools-call-error": "its own tool",
  "tools-call-with-progress": "its own tool",
  "tools-call-sampling": "its own tool, and requests from the server to the client",
  "tools-call-elicitation": "its own tool, and requests from the server to the client",
  "elicitation-sep1034-defaults": "its own tool, and requests from the server to the client",
  "elicitation-sep1330-enums": "its own tool, and requests from the server to the client",
  "json-schema-2020-12": "its own tool",
  "server-session-lifecycle": "sessions",
  "http-custom-header-server-validation": "its own tool",
  "sep-2164-resource-not-found": "resources",
  "server-sse-multiple-streams": "sessions, which the revision of 2026 no longer has",
  "server-sse-polling": "sessions with streams that are resumed, and its own tool",
  "logging-set-level": "log messages to the client",
  "completion-complete": "prompts",
  "resources-list": "resources",
  "resources-read-text": "resources",
  "resources-read-binary": "resources",
  "resources-templates-read": "resources",
  "resources-subscribe": "resources",
  "resources-unsubscribe": "resources",
  "prompts-list": "prompts",
  "prompts-get-simple": "prompts",
  "prompts-get-with-args": "prompts",
  "prompts-get-embedded-resource": "prompts",
  "prompts-get-with-image": "prompts",
};

/** Scenarios of extensions, and of requests for input, by the beginning of their names. */
const NEED_FIXTURES_OF: Record<string, string> = {
  "sep-2640-skills": "skills as resources, an extension",
  tasks: "tasks, an extension",
  "input-required-result": "its own tools, which ask the client for input",
};

/** Forwards requests to the service with a token, because the suite has none. Host and Origin stay as they are. */
const startProxy = async (token: string): Promise<{ url: string; close: () => void }> => {
  const server = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const forwarded = send(`${market.url}${request.url}`, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, close: () => void server.close() };
};

test("the lists name each scenario of the conformance suite for servers", async (t) => {
  const { stdout } = await run(process.execPath, [CONFORMANCE, "list", "--server"], { timeout: PATIENCE_MS });
  const scenarios = stdout.split("\n").flatMap((line) => /^ {2}- ([\w-]+)/.exec(line)?.[1] ?? []);
  const listed = scenarios.filter(
    (name) => !Object.keys(NEED_FIXTURES_OF).some((start) => name.startsWith(`${start}-`)),
  );
  const passed = new Set(PASSED.map(({ scenario }) => scenario));
  t.deepEqual(listed.toSorted(), [...passed, ...Object.keys(NEED_FIXTURES)].toSorted());
});

for (const { scenario, revision, except = {} } of PASSED) {
  test(`the scenario ${scenario} of the conformance suite passes by ${revision}`, async (t) => {
    const proxy = await startProxy((await market.agent()).token);
    const results = await mkdtemp(join(tmpdir(), "conformance-"));
    t.teardown(async () => {
      proxy.close();
      await rm(results, { recursive: true, force: true });
    });
    const about = [
      "--url",
      proxy.url,
      "--scenario",
      scenario,
      "--spec-version",
      revision,
      "--timeout",
      String(PATIENCE_MS),
    ];
    const args = [CONFORMANCE, "server", ...about, "--output-dir", results];
    const { stdout } = await run(process.execPath, args, { timeout: PATIENCE_MS }).catch((error) => error);
    const files = (await readdir(results, { recursive: true })).filter((file) => file.endsWith("checks.json"));
    const checks = await Promise.all(
      files.map(async (file) => JSON.parse(await readFile(join(results, file), "utf8"))),
    );
    const found: { id: string; status: string }[] = checks.flat();
    t.true(
      found.some(({ status }) => status === "SUCCESS"),
      stdout,
    );
    const failed = found.filter(({ status }) => /FAILURE|WARNING/.test(status)).map(({ id }) => id);
    t.deepEqual(failed.toSorted(), Object.keys(except).toSorted(), stdout);
  });
}
