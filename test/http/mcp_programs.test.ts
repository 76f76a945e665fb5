import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { type Market, openMarket } from "./contract.ts";

/**
 * The conformance suite of the MCP project at /mcp. It is a pre-release, because only that knows the revision of 2026, and
 * authorization servers. The project's inspector is in test/oauth/browser.test.ts.
 */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const run = promisify(execFile);
const packageFile = (path: string): string => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
const CONFORMANCE = packageFile("@modelcontextprotocol/conformance/dist/index.js");
/** Only a program that hangs takes as long, even on a busy machine. */
const PATIENCE_MS = 120_000;

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

/** The suite's other scenarios call parts of a test server that this service does not have, by what they need. */
const NEED_FIXTURES: Record<string, string> = {
  "its own tool": `tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource
    tools-call-mixed-content tools-call-error tools-call-with-progress json-schema-2020-12
    http-custom-header-server-validation`,
  "its own tool, and log messages to the client, which are deprecated since 2026": "tools-call-with-logging",
  "its own tool, and requests from the server to the client": `tools-call-sampling tools-call-elicitation
    elicitation-sep1034-defaults elicitation-sep1330-enums`,
  "sessions, which the revision of 2026 no longer has": "server-session-lifecycle server-sse-multiple-streams",
  "sessions with streams that are resumed, and its own tool": "server-sse-polling",
  "log messages to the client": "logging-set-level",
  resources: `sep-2164-resource-not-found resources-list resources-read-text resources-read-binary
    resources-templates-read resources-subscribe resources-unsubscribe`,
  prompts: `completion-complete prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource
    prompts-get-with-image`,
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
  const others = Object.values(NEED_FIXTURES).flatMap((names) => names.split(/\s+/));
  t.deepEqual(listed.toSorted(), [...passed, ...others].toSorted());
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
