import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test, { type ExecutionContext } from "ava";
import { startEmbeddedDatabase } from "../../src/database/embedded.ts";
import { hangs, startProvider, well } from "../reader/provider.ts";
import { allowed } from "../support/busy.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, connectAgent, eventually, patiently, SOFA, withoutPage } from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import { type Service, startPart, startService, type Teardown } from "../support/service.ts";

/**
 * `npm start` on a bare machine: without DATABASE_URL the process runs an embedded database in DATA_DIR. How long a start
 * takes is measured by `npm run bench -- --starts`.
 */

const start = (dataDir: string, t?: Teardown, env: Record<string, string> = {}): Promise<Service> =>
  startService({ database: "", env: { DATA_DIR: dataDir, ...env } }, t);

const temporaryFolder = async (t: Teardown): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "souk-embedded-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** A copy of a database that a first start made: the one of the first test, or its own if a test runs alone. */
let installed: Promise<string> | undefined;
test.after.always(async () => {
  if (installed !== undefined) await rm(await installed, { recursive: true, force: true });
});

const copyOf = async (folder: string): Promise<string> => {
  const copy = await mkdtemp(join(tmpdir(), "souk-installed-"));
  await cp(folder, copy, { recursive: true });
  return copy;
};

const install = async (t: Teardown): Promise<string> => {
  const folder = await temporaryFolder(t);
  await (await start(folder)).stop();
  return copyOf(folder);
};

/** Returns a folder for one test: a copy of the database that one first start has made for all tests. */
const installedFolder = async (t: Teardown): Promise<string> => {
  installed ??= install(t).catch((error: unknown) => {
    // Its test fails. The others do not have to.
    installed = undefined;
    throw error;
  });
  const folder = await temporaryFolder(t);
  await cp(await installed, folder, { recursive: true });
  return folder;
};

/** Stops a service, and checks the invariants of its database. */
const leavesAllInOrder = async (t: ExecutionContext, service: Service, dataDir: string): Promise<void> => {
  await service.stop();
  const database = await startEmbeddedDatabase(dataDir);
  try {
    await assertInvariants(t, database.url);
  } finally {
    await database.close();
  }
};

const connectedThroughPage = async (url: string): Promise<Agent> => {
  const agent = await connectAgent(url, "Bare machine");
  const page = await newPerson().decide(agent.link, "approve");
  if (page.status !== 200) throw new Error(`the page answered ${page.status}: ${page.text}`);
  return agent;
};

test.serial(
  "on a bare machine an agent can publish and find offers, Ctrl-C exits with 0, and a restart keeps everything",
  async (t) => {
    const dataDir = await temporaryFolder(t);
    const service = await start(dataDir, t);
    // The line is on standard output, and may arrive late.
    await eventually(
      async () => service.logs(),
      (logs) => logs.includes(`Souk is ready at ${service.url}`),
    );

    const seller = await connectAgent(service.url, "Seller");
    t.is((await seller.call("GET", "/v1/me")).body.account.connected, false);
    t.is((await seller.call("POST", "/v1/offers", { text: SOFA })).status, 403);
    const person = newPerson();
    const page = await person.open(seller.link);
    t.true(page.text.includes(seller.code));
    t.is((await person.press("approve")).status, 200);
    t.is((await seller.call("GET", "/v1/me")).body.account.connected, true);

    const published = await seller.call("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": "sofa" });
    t.is(published.status, 201, published.text);
    t.is(published.body.status, "published");

    const buyer = await connectedThroughPage(service.url);
    const search = await buyer.call("POST", "/v1/offers/search", { query: "three-seat sofa" });
    t.deepEqual(
      search.body.results.map(({ id }: { id: string }) => id),
      [published.body.offer_id],
    );
    const asked = await buyer.call("POST", "/v1/asks", { text: "I want to buy a grey sofa in Berlin, up to 250 EUR" });
    t.is(asked.status, 201, asked.text);
    const matchesOf = (agent: Agent) => agent.call("GET", `/v1/asks/${asked.body.id}/matches`);
    const matched = await eventually(
      () => matchesOf(buyer),
      ({ body }) => body.results.length > 0,
    );
    t.is(matched.body.results[0].id, published.body.offer_id);
    t.is((await matchesOf(seller)).status, 404);

    service.process.kill("SIGINT");
    t.is(await service.exited, 0, service.logs());
    installed ??= copyOf(dataDir);
    await installed;

    const again = await start(dataDir, t);
    // The port has changed. The token is still valid.
    const elsewhere = { authorization: `Bearer ${seller.token}` };
    const replayed = await fetch(`${again.url}/v1/offers`, {
      method: "POST",
      headers: { ...elsewhere, "content-type": "application/json", "idempotency-key": "sofa" },
      body: JSON.stringify({ text: SOFA }),
    });
    t.is(replayed.headers.get("idempotency-replayed"), "true");
    t.deepEqual(withoutPage(await replayed.json()), withoutPage(published.body));
    await leavesAllInOrder(t, again, dataDir);
  },
);

test.serial("a process that is killed while it reads texts loses no text and no published offer", async (t) => {
  const dataDir = await installedFolder(t);
  const provider = await startProvider();
  t.teardown(() => provider.close());
  const env = { OPENAI_BASE_URL: provider.baseURL, EXTRACTION_DEADLINE_MS: "60000" };
  const doomed = await start(dataDir, t, env);
  const agent = await connectedThroughPage(doomed.url);
  const publish = (url: string, key: string) =>
    fetch(`${url}/v1/offers`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${agent.token}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ text: SOFA }),
    });
  t.is((await publish(doomed.url, "before")).status, 201);
  provider.always(hangs());
  const lost = ["one", "two"].map((key) => publish(doomed.url, key).catch(() => null));
  await eventually(
    async () => provider.requests.filter(({ kind }) => kind === "offer").length,
    (read) => read >= 3,
  );
  await doomed.kill();
  t.deepEqual(await Promise.all(lost), [null, null]);

  provider.always(well());
  const service = await start(dataDir, t, env);
  t.is((await publish(service.url, "before")).headers.get("idempotency-replayed"), "true");
  for (const key of ["one", "two"]) {
    const answer = await eventually(
      () => publish(service.url, key),
      ({ status }) => status !== 409 && status !== 503,
    );
    t.is(answer.status, 201);
    t.is(answer.headers.get("idempotency-replayed"), "true");
  }
  const { results } = (await (
    await fetch(`${service.url}/v1/offers`, { headers: { authorization: `Bearer ${agent.token}` } })
  ).json()) as { results: object[] };
  t.is(results.length, 3);
  await leavesAllInOrder(t, service, dataDir);
});

/** Makes a process believe that its id is 1, as the main process of every container does. */
const IN_A_CONTAINER = { NODE_OPTIONS: "--import data:text/javascript,Object.defineProperty(process,'pid',{value:1})" };

test.serial(
  "a second process does not use the database of a running one, even in a container of its own, until that one is killed",
  async (t) => {
    const dataDir = await installedFolder(t);
    const first = await start(dataDir, t, IN_A_CONTAINER);
    const { pid, sockets } = JSON.parse(await readFile(join(dataDir, "holder.json"), "utf8"));
    t.is(pid, 1);
    t.true(existsSync(sockets));
    const env = { DATA_DIR: dataDir, ...IN_A_CONTAINER };
    const second = await startPart("start", { database: "", env, waitUntilReady: false });
    t.is(await second.exited, 1);
    t.is(
      second.logs().replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "TIME"),
      `Another process uses the database in ${dataDir} (process 1 on host ${hostname()}, since TIME). ` +
        "Stop it, or set DATA_DIR to another folder.\n",
    );
    t.is((await connectAgent(first.url)).id.length, 36);

    await first.kill();
    // npm hands the signal of an operator or a process manager on.
    const third = await startService({ database: "", env, command: ["npm", "start"] }, t);
    t.false(existsSync(sockets), "the next start removes what the killed process left in the temporary folder");
    await third.stop();
    await t.throwsAsync(connectAgent(third.url), undefined, "the service has ended with npm");
    await (await startEmbeddedDatabase(dataDir)).close();
  },
);

test.serial("concurrent calls at a cap are refused as on a server", async (t) => {
  const dataDir = await installedFolder(t);
  const service = await start(dataDir, t, { EXTRACTION_DEADLINE_MS: "60000" });
  const agent = await connectedThroughPage(service.url);
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, number) =>
      patiently(() => agent.call("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": `key ${number % 75}` })),
    ),
  );
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  const first = answers.filter(({ status, headers }) => status === 201 && !headers["idempotency-replayed"]);
  t.is(first.length, 60);
  t.is(count(201) + count(409) + count(429), 80, JSON.stringify(answers.map(({ status }) => status)));
  t.is((await agent.call("GET", "/v1/me")).body.limits.publish_offer.used, 60);
  await leavesAllInOrder(t, service, dataDir);
});

test.serial("without notifications, an event still reaches an agent that waits within a second", async (t) => {
  const service = await start(await installedFolder(t), t);
  const agent = await connectAgent(service.url);
  const { cursor } = (await agent.call("GET", "/v1/events?after=now")).body;
  const waiting = agent.call("GET", `/v1/events?after=${cursor}&wait=25`);
  await sleep(allowed(500));
  const begin = performance.now();
  // The only event that an agent without approval causes: it is removed, and so refused.
  t.is((await agent.call("DELETE", "/v1/me/agent")).status, 204);
  t.is((await waiting).status, 401);
  t.true(performance.now() - begin < allowed(1_000));
});
