import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { allowed } from "../support/busy.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { type Agent, type Answer, type Body, connectAgent, connectedAgent, eventually } from "../support/market.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/** Agents that wait for events, while processes stop, crash, lose their notifications, or are many. */

const WAITERS = 1_000;

/** The options of package.json, because this file measures memory, and a debugger, because it collects garbage first. */
const COMMAND = ["node", "--max-semi-space-size=4", "--inspect=127.0.0.1:0", "src/main.ts", "start"] as const;

let database: Database;
/** The whole service. It is stopped in the last test. */
let service: Service;
/** Another process of the API. It is killed in the test before. */
let other: Service;

test.before(async () => {
  database = await createDatabase();
  const env = { CONNECTIONS_PER_HOUR: "100000" };
  [service, other] = await Promise.all([
    startService({ database: database.url, env, command: COMMAND }),
    startPart("api", { database: database.url, env }),
  ]);
});
test.after.always(async () => {
  await service?.stop();
  await other?.kill();
  await database?.drop();
});

const wait = (agent: Agent, after: string, at = ""): Promise<Answer> =>
  (at === "" ? agent.call : agent.at(at))("GET", `/v1/events?after=${after}&wait=25`);
const cursorOf = async (agent: Agent): Promise<string> => (await agent.call("GET", "/v1/events?after=now")).body.cursor;

/** Writes an event of the agent's account. */
const happen = (agent: Agent) =>
  sql(database.url)`insert into market.event (account_id, type, data) select account_id, 'ask.read', '{}'
    from market.agent where id = ${agent.id}`;
const typesOf = ({ body }: Answer): string[] => body.events.map(({ type }: Body) => type);

/** Returns how much memory the service uses after its garbage is collected, in bytes. */
const memory = async (): Promise<number> => {
  const [address = ""] = /ws:\/\/\S+/.exec(service.logs()) ?? [];
  const debug = new WebSocket(address);
  await new Promise((resolve) => debug.addEventListener("open", resolve));
  const collected = new Promise((resolve) => debug.addEventListener("message", resolve));
  debug.send(JSON.stringify({ id: 1, method: "HeapProfiler.collectGarbage" }));
  await collected;
  debug.close();
  const status = await readFile(`/proc/${service.process.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
};

/** Waits until the API has nothing to do but to wait. */
const settledWaits = () => sleep(allowed(500));

test.serial("an event wakes agents that wait in another process, also after it lost its notifications", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  let after = await cursorOf(agent);
  for (const lost of [false, true]) {
    const waiting = wait(agent, after, other.url);
    await settledWaits();
    if (lost) {
      await sql(database.url)`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'souk_api listen' and datname = current_database()`;
    }
    const start = performance.now();
    await happen(agent);
    const answer = await waiting;
    t.deepEqual(typesOf(answer), ["ask.read"]);
    t.true(performance.now() - start < allowed(lost ? 2_000 : 1_000));
    after = answer.body.cursor;
  }
});

test.serial(`${WAITERS} waiting agents cost 20 kB each, and no query until something happens`, async (t) => {
  const { url } = service;
  const agents: Agent[] = [];
  const cursors: string[] = [];
  for (let n = 0; n < WAITERS; n += 50) {
    const connected = await Promise.all(Array.from({ length: 50 }, () => connectAgent(url)));
    cursors.push(...(await Promise.all(connected.map(cursorOf))));
    agents.push(...connected);
  }
  const before = await memory();
  let answered = 0;
  const requests = agents.map((agent, n) => {
    const sent = request(`${url}/v1/events?after=${cursors[n]}&wait=25`, {
      agent: false,
      // Agents that nobody approved share the turns of their network.
      localAddress: `127.9.${n >> 8}.${n & 255}`,
      headers: { authorization: `Bearer ${agent.token}` },
    });
    sent.on("response", (response) => {
      response.resume();
      answered += 1;
    });
    sent.on("error", () => undefined);
    sent.end();
    return sent;
  });
  const queries = () =>
    sqlValue<number>(database.url)`select count(*)::int from pg_stat_activity
      where datname = current_database() and usename = 'souk_api' and query_start > now() - interval '2 seconds'
        and query ~ 'event'`;
  await eventually(queries, (count) => count === 0);
  await sleep(2_000);
  t.is(await queries(), 0, "nobody asks the database");
  t.is(answered, 0);
  const each = ((await memory()) - before) / WAITERS;
  t.log(`${Math.round(each)} bytes for each waiting agent`);
  t.true(each < 20_000, `${each} bytes`);
  const [first] = agents;
  if (first) await happen(first);
  await eventually(
    async () => answered,
    (count) => count === 1,
  );
  for (const sent of requests) sent.destroy();
});

test.serial("a process that is killed loses no event: the same cursor works in another one", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  const after = await cursorOf(agent);
  const waiting = t.throwsAsync(wait(agent, after, other.url));
  await settledWaits();
  await other.kill();
  await waiting;
  await happen(agent);
  t.deepEqual(typesOf(await wait(agent, after)), ["ask.read"]);
});

test.serial("at SIGTERM waits end with an empty answer and the cursor, and the process stops", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  const after = await cursorOf(agent);
  const waiting = wait(agent, after);
  await settledWaits();
  const start = performance.now();
  const stopped = service.stop();
  const { status, body } = await waiting;
  t.deepEqual([status, body.events, body.has_more], [200, [], false]);
  await stopped;
  t.true(performance.now() - start < allowed(5_000));
});
