import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "../support/client.ts";
import type { Cluster } from "../support/postgres.ts";
import { quantile, rawRequest } from "./load.ts";
import { type Caller, makeAgents } from "./market.ts";
import { print, tell } from "./report.ts";
import { memoryOf, processorTimeOf, processTimeOf, type Service } from "./service.ts";

/** `npm run bench -- --waiting N`: what agents cost that wait for events, and how soon they are told. */

/** So many agents ask for their cursors and begin to wait at a time. */
const AT_ONCE = 50;
/** Shorter than a wait lasts together with the time in which all of them begin. */
const STILL_SECONDS = 5;
/** So many agents are told, one after the other: those that began last, so that their waits are not over before. */
const TOLD = 100;

/** What was found. Transactions are those of the whole database, so they include what the worker does by itself. */
type Waiting = {
  waiters: number;
  megabytes: number;
  transactionsBefore: number;
  transactionsWaiting: number;
  told: { p50: number; p99: number };
};

const transactionsPerSecond = (url: string): Promise<number> =>
  withClient(url, async (client) => {
    const count = async (): Promise<number> => {
      // Sessions report their figures once a second at most.
      await sleep(1_500);
      const { rows } = await client.query<{ count: string }>(
        "select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()",
      );
      return Number(rows[0]?.count);
    };
    const before = await count();
    const start = performance.now();
    await sleep(STILL_SECONDS * 1000);
    return ((await count()) - before) / ((performance.now() - start) / 1000);
  });

const inBatches = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item, n: number) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map((item, n) => work(item, from + n)))));
  return results;
};

/**
 * Lets each caller wait for events with a call of its own.
 * @param url the database's URL
 */
const measureWaiting = async (service: Service, url: string, callers: readonly Caller[]): Promise<Waiting> => {
  const cursors = await inBatches(callers, async ({ token }) => {
    const answer = await fetch(`${service.baseUrl}/v1/events?after=now`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await answer.json()) as { cursor: string }).cursor;
  });
  const transactionsBefore = await transactionsPerSecond(url);
  const before = memoryOf(service.api);
  const waits = await inBatches(callers, async ({ token, accountId }, n) => {
    const socket: Socket = connect(service.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(rawRequest("GET", `/v1/events?after=${cursors[n]}&wait=25`, { Authorization: `Bearer ${token}` }));
    const answered = once(socket, "data").then(() => performance.now());
    // Those that are not told hear nothing until the end.
    answered.catch(() => undefined);
    return { socket, accountId, answered };
  });
  try {
    const transactionsWaiting = await transactionsPerSecond(url);
    const megabytes = memoryOf(service.api) - before;
    const times = await withClient(url, async (client) => {
      const found: number[] = [];
      for (const { accountId, answered } of waits.slice(-TOLD)) {
        const start = performance.now();
        await client.query("insert into market.event (account_id, type, data) values ($1, 'ask.read', '{}')", [
          accountId,
        ]);
        const time = (await answered) - start;
        if (time < 0) throw new Error("A wait was over before its agent was told: this machine is too busy.");
        found.push(time);
      }
      return Float64Array.from(found).sort();
    });
    const told = { p50: quantile(times), p99: quantile(times, 0.99) };
    return { waiters: callers.length, megabytes, transactionsBefore, transactionsWaiting, told };
  } finally {
    for (const { socket } of waits) socket.destroy();
  }
};

/** So many agents listen, each in one wait of these seconds after the other, so many times. */
const LISTENERS = 500;
const WAIT_SECONDS = 2;
const WAITS = 8;
const REPORTED_SECONDS = 12;

/**
 * Measures an agent that listens.
 * @returns transactions a second in the whole database meanwhile, and milliseconds of the API's processors for each wait;
 * and milliseconds of the database's processors for a read of the feed
 */
const measureListening = async (
  cluster: Cluster,
  service: Service,
  url: string,
  callers: readonly Caller[],
): Promise<{ transactions: number; wait: number; read: number }> => {
  const listeners = callers.slice(0, LISTENERS);
  const call = async ({ token }: Caller, after: string, wait: number): Promise<string> => {
    const answer = await fetch(`${service.baseUrl}/v1/events?after=${after}&wait=${wait}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await answer.json()) as { cursor: string }).cursor;
  };
  const ofDatabase = async (): Promise<number> =>
    (await processorTimeOf(cluster, service)) - processTimeOf(service.api) - processTimeOf(service.worker);
  const cursors = await inBatches(listeners, (caller) => call(caller, "now", 0));
  const before = await ofDatabase();
  for (let n = 0; n < WAITS; n += 1)
    await inBatches(listeners, (caller, place) => call(caller, cursors[place] ?? "", 0));
  const read = ((await ofDatabase()) - before) / (WAITS * listeners.length);
  const wait = () => Promise.all(listeners.map((caller, n) => call(caller, cursors[n] ?? "", WAIT_SECONDS)));
  // The first wait reads, and idle sessions report their figures within ten seconds.
  for (let n = 0; n < REPORTED_SECONDS / WAIT_SECONDS; n += 1) await wait();
  const atStart = processTimeOf(service.api);
  const counted = transactionsPerSecond(url);
  for (let n = 0; n < WAITS; n += 1) await wait();
  const ofApi = processTimeOf(service.api) - atStart;
  return { transactions: await counted, wait: ofApi / (WAITS * listeners.length), read };
};

/** Prints what so many agents cost that wait for events. */
export const showWaiting = async (cluster: Cluster, service: Service, url: string, agents: number): Promise<void> => {
  const callers = await withClient(url, (client) => makeAgents(client, agents));
  tell("waiting");
  const { waiters, megabytes, transactionsBefore, transactionsWaiting, told } = await measureWaiting(
    service,
    url,
    callers,
  );
  tell("");
  print(
    `${waiters} agents wait for events: ${megabytes.toFixed(0)} MB more in the API, ${((1024 * megabytes) / waiters).toFixed(1)} kB each`,
  );
  print(
    `transactions a second in the whole database: ${transactionsWaiting.toFixed(1)}, and ${transactionsBefore.toFixed(1)} before`,
  );
  const { transactions, wait, read } = await measureListening(cluster, service, url, callers);
  print(
    `${LISTENERS} agents listen, in waits of ${WAIT_SECONDS} s: ${transactions.toFixed(1)} transactions a second, and ${wait.toFixed(2)} ms of the API's processors a wait`,
  );
  print(`a read of the feed: ${read.toFixed(2)} ms of the database's processors`);
  print(`from the insert of an event to the answer: p50 ${told.p50.toFixed(0)} ms, p99 ${told.p99.toFixed(0)} ms`);
};
