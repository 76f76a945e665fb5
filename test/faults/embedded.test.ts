import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { startEmbeddedDatabase } from "../../src/database/embedded.ts";
import { hangs, type Provider, startProvider, well } from "../reader/provider.ts";
import { allowed } from "../support/busy.ts";
import { assertInvariants } from "../support/invariants.ts";
import {
  type Agent,
  type Answer,
  call,
  connectAgent,
  eventually,
  patiently,
  SOFA,
  withoutPage,
} from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import { type Service, startPart, startService } from "../support/service.ts";

/**
 * `npm start` on a bare machine: without DATABASE_URL the process runs an embedded database in DATA_DIR. A first start
 * takes half a minute, so the tests are one story: each goes on with the folder, and mostly the process, of the one
 * before. How long a start takes is measured by `npm run bench -- --starts`.
 */

/** Agents that an address may connect in an hour: enough for the story, and few enough to reach. */
const CONNECTIONS = 12;

let dataDir: string;
let provider: Provider;
let service: Service;
let seller: Agent;
let published: Answer;

const start = (env: Record<string, string> = {}, command?: readonly [string, ...string[]]): Promise<Service> =>
  startService({
    database: "",
    ...(command && { command }),
    env: {
      DATA_DIR: dataDir,
      OPENAI_BASE_URL: provider.baseURL,
      EXTRACTION_DEADLINE_MS: "60000",
      CONNECTIONS_PER_HOUR: String(CONNECTIONS),
      ...env,
    },
  });

test.before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "souk-embedded-"));
  provider = await startProvider();
  service = await start();
});
test.after.always(async () => {
  await service?.kill();
  await provider?.close();
  await rm(dataDir, { recursive: true, force: true });
});

const publish = (key: string): Promise<Answer> =>
  seller.at(service.url)("POST", "/v1/offers", { text: SOFA }, { "idempotency-key": key });

const connect = (): Promise<Answer> => call(service.url, "POST", "/v1/connect", { body: {} });

test.serial("on a bare machine an agent can publish and find offers, and Ctrl-C exits with 0", async (t) => {
  // The line is on standard output, and may arrive late.
  await eventually(
    async () => service.logs(),
    (logs) => logs.includes(`Souk is ready at ${service.url}`),
  );
  seller = await connectAgent(service.url, "Seller");
  t.is((await seller.call("GET", "/v1/me")).body.account.connected, false);
  t.is((await seller.call("POST", "/v1/offers", { text: SOFA })).status, 403);
  const person = newPerson();
  const page = await person.open(seller.link);
  t.true(page.text.includes(seller.code));
  t.is((await person.press(seller.code)).status, 200);
  t.is((await seller.call("GET", "/v1/me")).body.account.connected, true);

  published = await publish("sofa");
  t.is(published.status, 201, published.text);
  t.is(published.body.status, "published");

  const buyer = await connectAgent(service.url, "Buyer");
  t.is((await newPerson().decide(buyer.link, buyer.code)).status, 200);
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
});

test.serial("a restart keeps everything", async (t) => {
  service = await start();
  // The port has changed. The token is still valid.
  const replayed = await publish("sofa");
  t.is(replayed.headers["idempotency-replayed"], "true");
  t.deepEqual(withoutPage(replayed.body), withoutPage(published.body));
});

test.serial("concurrent calls with one key, and at a cap, are refused as on a server", async (t) => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => patiently(() => publish("one key"))));
  const first = answers.filter(({ status, headers }) => status === 201 && !headers["idempotency-replayed"]);
  t.is(first.length, 1);
  t.true(answers.every(({ status }) => status === 201 || status === 409));
  t.is((await seller.at(service.url)("GET", "/v1/me")).body.limits.publish_offer.used, 2);

  const waiting = await connectAgent(service.url);
  const { cursor } = (await waiting.call("GET", "/v1/events?after=now")).body;
  const connected = (await Promise.all(Array.from({ length: CONNECTIONS + 8 }, connect))).map(({ status }) => status);
  t.is(connected.filter((status) => status === 201).length, CONNECTIONS - 3);
  t.is(connected.filter((status) => status === 429).length, 11);

  // Without notifications, an event still reaches an agent that waits within a second.
  const wait = waiting.call("GET", `/v1/events?after=${cursor}&wait=25`);
  await sleep(allowed(500));
  const begin = performance.now();
  // The only event that an agent without approval causes: it is removed, and so refused.
  t.is((await waiting.call("DELETE", "/v1/me/agent")).status, 204);
  t.is((await wait).status, 401);
  t.true(performance.now() - begin < allowed(1_000));
});

/** Makes a process believe that its id is 1, as the main process of every container does. */
const IN_A_CONTAINER = { NODE_OPTIONS: "--import data:text/javascript,Object.defineProperty(process,'pid',{value:1})" };

/** Where a process has its sockets, and how it names itself, while it uses the folder. */
const holder = async (): Promise<{ pid: number; sockets: string }> =>
  JSON.parse(await readFile(join(dataDir, "holder.json"), "utf8"));

test.serial("a process that is killed while it reads texts loses no text and no published offer", async (t) => {
  provider.always(hangs());
  const reading = () => provider.requests.filter(({ kind }) => kind === "offer").length;
  const before = reading();
  const lost = ["one", "two"].map((key) => publish(key).catch(() => null));
  await eventually(
    async () => reading(),
    (read) => read >= before + 2,
  );
  const { sockets } = await holder();
  t.true(existsSync(sockets));
  await service.kill();
  t.deepEqual(await Promise.all(lost), [null, null]);

  provider.always(well());
  service = await start(IN_A_CONTAINER, ["npm", "start"]);
  t.false(existsSync(sockets), "the next start removes what the killed process left in the temporary folder");
  t.is((await publish("sofa")).headers["idempotency-replayed"], "true");
  for (const key of ["one", "two"]) {
    const answer = await eventually(
      () => publish(key),
      ({ status }) => status !== 409 && status !== 503,
    );
    t.is(answer.status, 201);
    t.is(answer.headers["idempotency-replayed"], "true");
  }
  const { body } = await seller.at(service.url)("GET", "/v1/offers");
  t.is(body.results.length, 4);
});

test.serial("a second process does not use the database of a running one, even in its own container", async (t) => {
  t.is((await holder()).pid, 1);
  const env = { DATA_DIR: dataDir, ...IN_A_CONTAINER };
  const second = await startPart("start", { database: "", env, waitUntilReady: false });
  t.is(await second.exited, 1);
  t.is(
    second.logs().replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "TIME"),
    `Another process uses the database in ${dataDir} (process 1 on host ${hostname()}, since TIME). ` +
      "Stop it, or set DATA_DIR to another folder.\n",
  );
  t.is((await seller.at(service.url)("GET", "/v1/me")).status, 200);
});

test.serial("npm hands the signal of an operator or a process manager on, and all is in order", async (t) => {
  await service.stop();
  await t.throwsAsync(connect(), undefined, "the service has ended with npm");
  const database = await startEmbeddedDatabase(dataDir);
  await assertInvariants(t, database.url);
  await database.close();
});
