import { execFile } from "node:child_process";
import { get, type IncomingMessage } from "node:http";
import { promisify } from "node:util";
import test from "ava";
import { createDatabase } from "../support/database.ts";
import { connectedAgent, eventually } from "../support/market.ts";
import { freePort } from "../support/postgres.ts";
import { type Service, startPart } from "../support/service.ts";

/** Several API processes behind one port (API_PROCESSES), really started. */

const TOKEN = "a-token-of-the-tests";
const REQUESTS = 30;

/** Returns the ids of the processes that a service has started. */
const processesOf = async ({ process: first }: Service): Promise<number[]> => {
  const { stdout } = await promisify(execFile)("ps", ["-o", "pid=", "--ppid", String(first.pid)]).catch(() => ({
    stdout: "",
  }));
  return stdout.split("\n").map(Number).filter(Boolean);
};

/**
 * NODE_OPTIONS with which the first process, at SIGUSR2, kills one process and answers another's question for the metrics of
 * all. It does not return to its event loop between the two, so it cannot know yet that one is dead. A process without
 * further threads has closed its end of the channel.
 */
const ASKS_THE_DEAD = `--import=data:text/javascript,${encodeURIComponent(`
  import { execFileSync } from "node:child_process";
  import cluster from "node:cluster";
  if (cluster.isPrimary) process.on("SIGUSR2", () => {
    const [victim, other] = Object.values(cluster.workers);
    process.kill(victim.process.pid, "SIGKILL");
    while (!/^Z[^l]*$/.test(execFileSync("ps", ["-o", "stat=", "-p", victim.process.pid], { encoding: "utf8" }).trim()));
    other.emit("message", { ask: "text", id: 0 });
  });`)}`;

/** Sends a request on a connection of its own, so that the processes take turns. */
const status = (url: string, token: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    get(url, { agent: false, headers }, (response: IncomingMessage) => {
      response.resume().once("end", () => resolve(response.statusCode ?? 0));
    }).once("error", reject);
  });

const counted = (text: string): number =>
  Number(/^souk_http_request_duration_seconds_count\{operation="getMe",status="200"\} (\d+)$/m.exec(text)?.[1] ?? 0);

test("two processes share a port, their metrics are summed, one that dies is replaced and harms no other, and all drain", async (t) => {
  const database = await createDatabase(t);
  const metricsPort = String(await freePort());
  const service = await startPart(
    "api",
    {
      database: database.url,
      env: {
        API_PROCESSES: "2",
        DATABASE_POOL_SIZE: "3",
        METRICS_PORT: metricsPort,
        METRICS_TOKEN: TOKEN,
        NODE_OPTIONS: ASKS_THE_DEAD,
      },
    },
    t,
  );
  const agent = await connectedAgent(service.url, database.url);
  const readMe = (count: number) =>
    Promise.all(Array.from({ length: count }, () => status(`${service.url}/v1/me`, agent.token)));
  const ready = async () => service.logs().match(/"msg":"ready"/g)?.length ?? 0;
  await eventually(ready, (count) => count === 2);
  const before = await processesOf(service);
  t.is(before.length, 2);

  t.deepEqual(await readMe(REQUESTS), Array(REQUESTS).fill(200));
  // On the separate port and on that of the API, whichever process answers.
  for (const url of [`http://127.0.0.1:${metricsPort}`, service.url, service.url]) {
    const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const text = await answer.text();
    t.is(counted(text), REQUESTS, url);
    t.regex(text, /^souk_database_up 1$/m);
  }

  service.process.kill("SIGUSR2");
  await eventually(
    async () => service.process.exitCode !== null || (await ready()) === 3,
    (over) => over,
  );
  t.is(service.process.exitCode, null, service.logs());
  t.regex(service.logs(), /"code":"EPIPE".*"msg":"a message did not reach an API process"/);
  const after = await processesOf(service);
  t.is(after.length, 2);
  t.is(after.filter((pid) => before.includes(pid)).length, 1);
  t.deepEqual(await readMe(REQUESTS), Array(REQUESTS).fill(200));

  const second = await startPart("api", {
    database: database.url,
    env: { API_PROCESSES: "2", DATABASE_POOL_SIZE: "2", PORT: new URL(service.url).port },
    waitUntilReady: false,
  });
  t.is(await second.exited, 1, "if its processes cannot listen, the service ends with an error");
  t.regex(second.logs(), /EADDRINUSE/);

  const children = await processesOf(service);
  const late = readMe(REQUESTS);
  const stopped = service.stop();
  t.deepEqual(await late, Array(REQUESTS).fill(200));
  await stopped;
  for (const child of children) t.throws(() => process.kill(child, 0), { code: "ESRCH" });
});
