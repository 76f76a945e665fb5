import { execFile, spawn } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test, { type ExecutionContext } from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { withClient } from "../support/client.ts";
import { createDatabase, createEmptyDatabase, type Database } from "../support/database.ts";
import { type Agent, call, connectedAgent, patiently } from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import { freePort } from "../support/postgres.ts";
import { type Part, type Service, startPart, startService } from "../support/service.ts";

/**
 * Runs every command of the documentation, as a reader copies it from the pages of a running service.
 *
 *   block   a block of code on a page: its language and its text
 */

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Commands that run until they are stopped, with the part of the service that each starts. */
const SERVERS: Record<string, Part> = { "npm start": "start", "npm run api": "api", "npm run worker": "worker" };

/** A command that is not run: it would replace the packages from which this test runs. `.ci/run` begins with it. */
const INSTALL = "npm ci && ";

let database: Database;
let service: Service;
let agent: Agent;
test.before(async () => {
  database = await createDatabase();
  service = await startService({
    database: database.url,
    env: { CONNECTIONS_PER_HOUR: "1000", WEBHOOK_KEYS: "guides".repeat(6), WEBHOOK_PRIVATE: "allow" },
  });
  agent = await connectedAgent(service.url, database.url, "Reader");
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});

type Block = { language: string; text: string };

const unescaped = (html: string): string =>
  html
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** The blocks of a page with code in one of the languages. */
const blocksOf = async (path: string, ...languages: string[]): Promise<Block[]> => {
  const { status, text } = await call(service.url, "GET", path);
  if (status !== 200) throw new Error(`${path}: ${status}`);
  return [...text.matchAll(/<code class="language-(\w+)">([\s\S]*?)<\/code>/g)]
    .map(([, language = "", code = ""]) => ({ language, text: unescaped(code).trim() }))
    .filter(({ language }) => languages.includes(language));
};

/** The environment of a reader's terminal. */
const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: tmpdir(),
  DATABASE_URL: database.url,
  TOKEN: agent.token,
});

/** What a reader does on a busy machine: a call that gets 503 is made again. */
const PATIENCE = `curl() {
  local answer
  for _ in {1..4}; do
    answer=$(command curl "$@"; code=$?; echo end; exit $code) || return
    [[ $answer == *'"code":"service_unavailable"'* ]] || break
    sleep 1
  done
  printf %s "\${answer%end}"
}`;

/**
 * Runs blocks one after another in one shell, in the folder of the sources. Between two blocks the person approves the
 * links that were printed.
 * @returns what each block printed
 * @throws an Error if a command fails
 */
const runInShell = async (blocks: Block[], env: Record<string, string>): Promise<string[]> => {
  const script = [PATIENCE, ...blocks.map(({ text }) => `${text}\necho "--done--"\nread -r _ <&3`)].join("\n");
  const shell = spawn("bash", ["-euxo", "pipefail", "-c", script], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const printed: string[] = [];
  let [current, errors] = ["", ""];
  shell.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ended = new Promise<number | null>((resolve) => shell.once("close", resolve));
  try {
    for await (const chunk of shell.stdout?.setEncoding("utf8") ?? []) {
      current += chunk;
      if (!current.includes("--done--\n")) continue;
      for (const [, link = "", code = ""] of current.matchAll(
        /(http:[^"\s]*\/connect\/[\w-]+)"[^}]*"code": *"([A-Z-]+)"/g,
      ))
        await newPerson().decide(link, code);
      printed.push(current.replace("--done--\n", ""));
      current = "";
      (shell.stdio[3] as NodeJS.WritableStream).write("\n");
    }
  } finally {
    shell.kill();
  }
  const code = await ended;
  if (code !== 0) throw new Error(`A command ended with ${code}.\n${printed.join("\n")}${current}\n${errors}`);
  return printed;
};

const run = async (guide: string): Promise<string[]> =>
  runInShell(await blocksOf(`/docs/${guide}`, "sh"), environment());

/** Asserts that no call of a guide was refused. */
const noneRefused = (t: ExecutionContext, printed: string[]): void => {
  t.true(printed.length > 0);
  t.notRegex(printed.join("\n"), /\/errors#/);
};

test("the minute of the README prints what the README shows", async (t) => {
  const readme = await readFile(join(ROOT, "README.md"), "utf8");
  const minute = readme.slice(readme.indexOf("## One minute"), readme.indexOf("## Eleven things"));
  const [command, shown] = ["sh\nTOKEN", "js\n{"].map((begin) => minute.split(`\`\`\`${begin}`)[1]?.split("```")[0]);
  const text = `TOKEN${command}`.replaceAll("localhost:3000", service.url);
  const [printed = ""] = await runInShell([{ language: "sh", text }], environment());
  // A new training changes this number by a little.
  const withoutConfidence = (lines: string) => lines.trim().replace(/confidence: [\d.]+/, "");
  t.is(withoutConfidence(printed), withoutConfidence(`{${shown}`));
});

/** How many blocks each guide has, and what they print. */
const PRINTED: Record<string, [blocks: number, ...said: RegExp[]]> = {
  rest: [
    6,
    /"url": *"http[^"]+\/connect\/[\s\S]*"code": *"[A-Z]{4}-[A-Z]{4}"/,
    /"type": *"results"[\s\S]*"connected": *true[\s\S]*"questions"[\s\S]*"status": *"published"/,
    /"ask_id"[\s\S]*"status": *"archived"/,
  ],
  sandbox: [3, /"status": *"published"[\s\S]*"ask_id"[\s\S]*"type": *"agent\.connected"/],
  deals: [4, /"amount": *150[\s\S]*"amount": *170[\s\S]*"status": *"made"[\s\S]*"status": *"archived"/],
  places: [2, /Only offers within 20 km of Berlin/],
  facets: [1, /"facets":/],
  events: [2, /"cursor":[\s\S]*"cursor":/],
  freshness: [2, /All offers are fresh[\s\S]*"confirmed_at"/],
};

for (const [guide, [blocks, ...expected]] of Object.entries(PRINTED))
  test(`the commands of the guide ${guide} do what it says, and print no token`, async (t) => {
    if (guide === "freshness")
      await agent.call("POST", "/v1/offers", { text: "Brass lamp, 20 EUR, Berlin. Write to lena@example.com" });
    const printed = await run(guide);
    noneRefused(t, printed);
    t.is(printed.length, blocks);
    const all = printed.join("\n");
    t.notRegex(all, /agt_/);
    for (const said of expected) t.regex(all, said);
  });

test("the commands of the guide to errors show a problem, and the limits of an agent", async (t) => {
  const [refused, created] = await run("errors");
  t.regex(refused ?? "", /"code":\s*"unauthorized"/);
  t.regex(created ?? "", /^HTTP\/1\.1 201[\s\S]*RateLimit-Limit: \d+/im);
  t.regex((await run("errors"))[1] ?? "", /Idempotency-Replayed: true/i);
});

test("the commands of the guide to mail show that a foreign link does nothing, and how many people get mail", async (t) => {
  t.deepEqual(await run("mail"), ["404\n"]);
  const [query] = await blocksOf("/docs/mail", "sql");
  await withClient(database.url, async (client) => {
    await client.query("set session authorization souk_dba");
    t.deepEqual((await client.query(query?.text ?? "")).rows, [{ people: "0", mailed: "0", last: null }]);
  });
});

test("the receiver of the guide to webhooks verifies what its commands have sent, and refuses what is forged", async (t) => {
  const [program] = await blocksOf("/docs/webhooks", "js");
  t.true((program?.text.split("\n").length ?? 0) <= 33);
  const port = String(await freePort());
  const address = `http://127.0.0.1:${port}/souk`;
  const [add, challenge, tryOut, remove] = await blocksOf("/docs/webhooks", "sh");
  if (!program || !add || !challenge || !tryOut || !remove) throw new Error("The guide lacks a block.");
  const start = `node --input-type=module -e '${program.text}' > "$LOG" &
until curl -s "$ADDRESS" -d '{}' -o /dev/null -w '%{http_code}' | grep 401; do sleep 0.1; done`;
  // The answer is stored a moment after it was sent.
  const active = `until curl -s "${service.url}/v1/webhooks" -H "Authorization: Bearer $TOKEN" | grep active; do sleep 0.1; done`;
  const arrived = `until grep -q webhook.test "$LOG"; do sleep 0.1; done; grep webhook.test "$LOG"; kill $!`;
  const log = join(await mkdtemp(join(tmpdir(), "souk-receiver-")), "log");
  const sh = (text: string) => ({ language: "sh", text });
  const printed = await runInShell(
    [add, sh(`export SECRET; ${start}`), challenge, sh(active), tryOut, sh(arrived), remove],
    {
      ...environment(),
      ADDRESS: address,
      PORT: port,
      LOG: log,
    },
  );
  noneRefused(t, printed);
  t.regex(printed[1] ?? "", /^401/);
  t.regex(printed[5] ?? "", /^webhook\.test \{"webhook_id":"[0-9a-f-]{36}"\}$/m);
});

test("the program of the guide to connecting lists the tools", async (t) => {
  const [program, ...more] = await blocksOf("/docs/connect", "js");
  t.deepEqual(more, []);
  const { stdout } = await promisify(execFile)("node", ["--input-type=module", "-e", program?.text ?? ""], {
    cwd: ROOT,
    env: environment(),
  });
  t.true(stdout.split("\n").includes("search_offers"));
});

test("the program of the guide to the client searches, lists and is refused", async (t) => {
  const { status } = await patiently(() => agent.call("POST", "/v1/asks", { text: "Looking for a canoe in Kiel" }));
  t.is(status, 201);
  const [program, ...more] = await blocksOf("/docs/client", "js");
  t.deepEqual(more, []);
  const { stdout } = await promisify(execFile)("node", ["--input-type=module", "-e", program?.text ?? ""], {
    cwd: ROOT,
    env: environment(),
  });
  t.regex(stdout, /^\d+ found\n[\s\S]*canoe[\s\S]*reach the publisher/);
});

test("what the guide to connecting says to put into files is valid JSON with the address", async (t) => {
  const [config] = await blocksOf("/docs/connect", "json");
  t.deepEqual(JSON.parse(config?.text ?? ""), {
    servers: { souk: { type: "http", url: `${service.url}/mcp` } },
  });
});

test("the commands of the guide to running a market play the main job, make a database, and start each process on it", async (t) => {
  const own = await createEmptyDatabase(t);
  const blocks = (await blocksOf("/docs/operate", "sh")).map(({ text }) => text.replace(INSTALL, ""));
  const servers = blocks.filter((text) => Object.hasOwn(SERVERS, text));
  t.deepEqual(servers, Object.keys(SERVERS));
  const others = blocks.filter((text) => !servers.includes(text)).map((text) => ({ language: "sh", text }));
  const printed = await runInShell(others, { ...environment(), DATABASE_URL: own.url });
  t.is(printed.length, 2, "npm run demo and npm run migrate");
  noneRefused(t, printed);
  for (const text of servers) {
    const [program = "", ...args] = text.split(" ");
    const command = [process.platform === "win32" ? `${program}.cmd` : program, ...args] as [string, ...string[]];
    const started = await startPart(SERVERS[text] ?? "api", { database: own.url, command });
    await started.stop();
  }
  for (const { text } of await blocksOf("/docs/operate", "sql"))
    await withClient(own.url, (client) => client.query(text));
});

test("the commands of the guide to moderating appoint a moderator", async (t) => {
  await withClient(database.url, (client) =>
    client.query(
      `insert into market.proved_method (account_id, method, subject_hash, email)
       select a.account_id, 'email', sha256(convert_to(a.account_id::text, 'UTF8')), 'lena@example.com'
       from market.agent a where a.id = $1`,
      [agent.id],
    ),
  );
  const [printed] = await run("moderate");
  t.regex(printed ?? "", /lena@example\.com/);
});

test("every query of the guide to SQL runs as souk_dba, who may only read", async (t) => {
  const blocks = await blocksOf("/docs/sql", "sql");
  t.true(blocks.length >= 6);
  await agent.call("POST", "/v1/offers", { text: "Grey sofa, 180 EUR, pick up in Berlin. Write to lena@example.com" });
  await withClient(database.url, async (client) => {
    await client.query("set session authorization souk_dba; set default_transaction_read_only = on");
    for (const { text } of blocks) {
      const results = await client.query(text);
      for (const { fields } of [results].flat()) t.true(fields.length > 0, text);
    }
  });
});

/** Calls of the reference that are refused here, with the reason and the code. */
const REFUSED: Record<string, string> = {
  // No sign-in method is set up for this service, so there is no verification.
  startVerification: "unknown_method",
  getVerification: "not_found",
  // Only a removed offer can be appealed.
  appealOffer: "invalid_state",
  // Nothing listens there, so the challenge was not answered.
  testWebhook: "invalid_state",
  // The command before it put the ask away.
  fulfillAsk: "invalid_state",
  // The commands before them countered the proposal, and blocked the other side. Nothing awaits the person.
  propose: "invalid_state",
  acceptProposal: "invalid_state",
  declineProposal: "invalid_state",
  withdrawProposal: "invalid_state",
  getConfirmation: "not_found",
};

test("every command of the reference makes its call", async (t) => {
  const reader = await connectedAgent(service.url, database.url, "Reader of the reference");
  const offer = await reader.call("POST", "/v1/offers", { text: "Red lamp, 20 EUR, Berlin, write to mia@example.com" });
  const foreign = await agent.call("POST", "/v1/offers", {
    text: "Oak table, 90 EUR, Berlin, write to lena@example.com",
  });
  const ask = await reader.call("POST", "/v1/asks", { text: "Looking for a cargo bike in Berlin" });
  const talk = await reader.call("POST", `/v1/offers/${foreign.body.offer_id}/conversations`, { contact: "Mia" });
  const proposal = await agent.call("POST", `/v1/conversations/${talk.body.id}/proposals`, {
    handover: { method: "pickup" },
  });
  const webhook = await reader.call("POST", "/v1/webhooks", { url: "http://127.0.0.1:1/souk" });
  const env = {
    ...environment(),
    TOKEN: reader.token,
    OFFER_ID: offer.body.offer_id,
    ASK_ID: ask.body.id,
    VERIFICATION_ID: ask.body.id,
    CONVERSATION_ID: talk.body.id,
    PROPOSAL_ID: proposal.body.id,
    CONFIRMATION_ID: ask.body.id,
    WEBHOOK_ID: webhook.body.id,
  };
  // What is deleted is needed by other calls.
  const deleting = ["deleteWebhook", "removeOwnAgent"];
  const ids = ENDPOINTS.map(({ operationId }) => operationId).filter((id) => !deleting.includes(id));
  const commands = await Promise.all(
    [...ids, ...deleting].map(async (id) => {
      const [{ text } = { text: "false" }] = await blocksOf(`/docs/reference/${id}`, "sh");
      // Nobody reports an offer of their own, or asks about it.
      return {
        language: "sh",
        text: ["reportOffer", "openConversation"].includes(id) ? `OFFER_ID=${foreign.body.offer_id}; ${text}` : text,
      };
    }),
  );
  // What a command sets ends with its brackets.
  const printed = await runInShell(
    commands.map(({ language, text }) => ({ language, text: `(${text}\n)` })),
    env,
  );
  for (const [at, id] of [...ids, ...deleting].entries()) {
    const said = printed[at]?.trim() ?? "";
    const { code, request_id } = said === "" ? {} : JSON.parse(said);
    t.is(request_id === undefined ? undefined : code, REFUSED[id], `${id}: ${said.slice(0, 300)}`);
  }
});
