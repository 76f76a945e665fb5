import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { networkOf, siteOf } from "../../src/base/address.ts";
import { hashSecret } from "../../src/base/tokens.ts";
import { createCallers } from "../../src/database/callers.ts";
import { createTurns, type EndTurn } from "../../src/database/turns.ts";

/** Callers take turns at something scarce, and who is a caller. No database and no HTTP. */

const POOLS = { write: 14, read: 14 };
const LANES = { write: { pool: "write" }, read: { pool: "read" }, search: { pool: "read", most: 7 } };
type Lane = keyof typeof LANES;

/** Turns with a log of the calls that have started. Calls do not end by themselves. */
const open = (pools: Record<string, number> = POOLS, stuckMs?: number) => {
  const turns = createTurns<Lane>({ pools, lanes: LANES, ...(stuckMs === undefined ? {} : { stuckMs }) });
  const started: string[] = [];
  const ends: EndTurn[] = [];
  const refused: string[] = [];
  const take = (caller: string, lane: Lane = "read", options: Parameters<typeof turns.take>[2] = {}) =>
    turns.take(caller, lane, options).then(
      (end) => {
        started.push(caller);
        ends.push(end);
      },
      (error: { code: string }) => {
        refused.push(`${caller} ${error.code}`);
      },
    );
  const times = (count: number, caller: string, lane?: Lane) => {
    for (let n = 0; n < count; n += 1) void take(caller, lane);
  };
  /** Ends the oldest running calls. */
  const end = async (count = 1, succeeded = true): Promise<void> => {
    for (const one of ends.splice(0, count)) one(succeeded);
    await sleep(0);
  };
  return { turns, started, refused, take, times, end };
};

const count = (all: string[], caller: string): number => all.filter((one) => one === caller).length;

test("at most eight calls of a caller run at once, in all lanes together, and the next begins when one ends", async (t) => {
  const { started, times, end, turns } = open();
  times(6, "a", "write");
  times(6, "a", "read");
  await sleep(0);
  t.is(started.length, 8);
  t.deepEqual(turns.waiting(), { write: 0, read: 4 });
  await end(3);
  t.is(started.length, 11);
  await end(8);
  t.is(started.length, 12);
  t.deepEqual(turns.waiting(), { write: 0, read: 0 });
});

test("a place that becomes free goes to the next caller, however many calls another has waiting", async (t) => {
  const { started, times, end } = open();
  times(100, "a");
  times(100, "b");
  await sleep(0);
  t.deepEqual([count(started, "a"), count(started, "b")], [8, 6], "all places are taken");
  times(3, "c");
  await sleep(0);
  started.length = 0;
  await end(6);
  t.deepEqual(started, ["a", "b", "c", "a", "b", "c"]);
});

test("each of many callers is served in turn", async (t) => {
  const { started, times, end } = open({ write: 1, read: 1 });
  times(3, "a");
  times(3, "b");
  times(3, "c");
  await sleep(0);
  for (let n = 0; n < 9; n += 1) await end();
  t.deepEqual(started, ["a", "a", "b", "c", "a", "b", "c", "b", "c"]);
});

test("searches hold at most half of the connections, those of a caller half of these, and reads use the others", async (t) => {
  const { started, times, end } = open();
  times(8, "a", "search");
  await sleep(0);
  t.is(started.length, 4);
  for (const caller of ["b", "c"]) times(8, caller, "search");
  await sleep(0);
  t.is(started.length, 7);
  times(8, "d", "read");
  await sleep(0);
  t.is(count(started, "d"), 7);
  await end(7);
  t.is(count(started, "d"), 8, "when places become free, the lanes take turns, too");
  t.is(started.filter((caller) => caller !== "d").length, 7 + 6);
});

test("a caller never holds all connections of a small pool", async (t) => {
  const { started, times } = open({ write: 3, read: 1 });
  times(5, "a", "write");
  times(5, "a", "read");
  await sleep(0);
  t.is(started.length, 3, "two of three, and one of one");
  times(1, "b", "write");
  await sleep(0);
  t.is(count(started, "b"), 1);
});

test("256 calls of a caller wait, and further ones are refused with 429, until one has started", async (t) => {
  const { started, refused, times, take, end, turns } = open();
  times(8 + 256 + 5, "a");
  await sleep(0);
  t.is(started.length, 8);
  t.is(turns.waiting().read, 256);
  t.deepEqual(refused, Array(5).fill("a PT429"));
  t.is(turns.refused(), 5);
  void take("b");
  await sleep(0);
  t.is(count(started, "b"), 1, "another caller is not refused");
  await end();
  times(2, "a");
  await sleep(0);
  t.is(refused.length, 6);
});

test("what a request that has started still needs is not refused, and goes before the caller's other calls", async (t) => {
  const { started, times, take, end, refused } = open({ write: 1, read: 1 });
  times(1 + 256, "a");
  await sleep(0);
  const order: string[] = [];
  void take("a", "read", { isStarted: true }).then(() => order.push("first"));
  void take("a", "read", { isStarted: true }).then(() => order.push("second"));
  await sleep(0);
  t.deepEqual(refused, []);
  await end();
  await end();
  t.deepEqual(order, ["first", "second"]);
  t.is(started.length, 3);
});

test("clients that hang up leave the queue at once, and their calls never begin", async (t) => {
  const { started, refused, take, end, turns, times } = open({ write: 1, read: 1 });
  times(1, "a");
  const clients = Array.from({ length: 256 }, () => new AbortController());
  for (const { signal } of clients) void take("a", "read", { gone: () => signal });
  await sleep(0);
  t.is(turns.waiting().read, 256);
  for (const client of clients.slice(0, 255)) client.abort();
  t.is(turns.waiting().read, 1);
  await sleep(0);
  t.is(count(refused, "a 57014"), 255);
  times(100, "a");
  await sleep(0);
  t.is(refused.length, 255, "their places in the queue are free");
  await end();
  t.is(started.length, 2);
  void take("a", "read", { gone: () => AbortSignal.abort() });
  await sleep(0);
  t.is(refused.length, 256, "a client that has already hung up does not wait");
});

test("when nothing succeeds any more, waiting calls get 503 in bounded time", async (t) => {
  const { refused, times, end, started } = open({ write: 14, read: 2 }, 300);
  times(3, "a");
  times(1, "b");
  times(1, "c");
  await sleep(100);
  await end(1, false);
  t.is(started.length, 3, "a failure frees its place");
  await sleep(800);
  t.deepEqual(refused.toSorted(), ["a 53300", "c 53300"]);
});

test("calls wait as long as others succeed", async (t) => {
  const { refused, times, end, started } = open({ write: 14, read: 2 }, 300);
  times(20, "a");
  for (let n = 0; n < 10; n += 1) {
    await sleep(100);
    await end();
  }
  t.deepEqual(refused, []);
  t.is(started.length, 11);
});

test("when the process stops, waiting calls get 503", async (t) => {
  const { refused, times, turns, started } = open({ write: 1, read: 1 });
  times(4, "a");
  await sleep(0);
  turns.close();
  await sleep(0);
  t.is(started.length, 1);
  t.deepEqual(refused, Array(3).fill("a 57P03"));
});

test("a token counts by its address until the database has said that it takes turns of its own", (t) => {
  const callers = createCallers();
  const [token, other] = [hashSecret("one"), hashSecret("other")];
  t.is(
    callers.callerOf(token, () => "192.0.2.1"),
    "192.0.2.1",
  );
  callers.accept(token, "shared");
  t.is(
    callers.callerOf(token, () => "192.0.2.1"),
    "192.0.2.1",
  );
  callers.accept(token, "own");
  t.not(
    callers.callerOf(token, () => "192.0.2.1"),
    "192.0.2.1",
  );
  t.is(
    callers.callerOf(token, () => "192.0.2.1"),
    callers.callerOf(token, () => "192.0.2.2"),
  );
  t.is(
    callers.callerOf(null, () => "192.0.2.1"),
    callers.callerOf(other, () => "192.0.2.1"),
  );
});

test("of the callers of a site that proved nothing, four take turns of their own, and the others share", (t) => {
  const callers = createCallers();
  const hashes = Array.from({ length: 28 }, (_, n) => hashSecret(`approved by a script ${n}`));
  const at = (site: string) => hashes.map((hash) => callers.callerOf(hash, () => site));
  for (const hash of hashes) callers.accept(hash, "unproved");
  const mine = at("192.0.2.1");
  t.is(new Set(mine).size, 5);
  t.deepEqual(at("192.0.2.1"), mine, "who has turns keeps them");
  t.true(mine.slice(4).every((caller) => caller === "192.0.2.1"));
  t.is(new Set(at("192.0.2.2")).size, 5);
});

test("a refused token is remembered, counts by its address again, and is forgotten when it becomes valid", (t) => {
  const callers = createCallers();
  const token = hashSecret("one");
  const why = new Error("unknown");
  callers.accept(token, "own");
  callers.refuse(token, why);
  t.is(callers.refusalOf(token), why);
  t.is(
    callers.callerOf(token, () => "192.0.2.1"),
    "192.0.2.1",
  );
  t.false(callers.knows(token));
  callers.accept(token, "own");
  t.is(callers.refusalOf(token), null);
  t.true(callers.knows(token));
});

test("the memory of callers is bounded, and keeps the latest", (t) => {
  const callers = createCallers();
  const hashes = Array.from({ length: 20_001 }, (_, n) => hashSecret(`token ${n}`));
  const why = new Error("unknown");
  for (const hash of hashes) callers.refuse(hash, why);
  const remembered = hashes.filter((hash) => callers.refusalOf(hash) !== null);
  t.is(remembered.length, 10_000);
  t.deepEqual(remembered.at(-1), hashes.at(-1));
});

test("an IPv6 address counts as its /64 network, and an IPv4-mapped one as its IPv4 address", (t) => {
  const networks: [string, string][] = [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::ffff:c000:207", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::ffff", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ];
  for (const [address, network] of networks) t.is(networkOf(address), network, address);
});

test("an IPv6 address counts in its /48 site, and an IPv4 address for itself", (t) => {
  const sites: [string, string][] = [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:db8:1:3::1", "2001:db8:1::/48"],
    ["2001:db8::1", "2001:db8:0::/48"],
    ["::1", "0:0:0::/48"],
  ];
  for (const [address, site] of sites) t.is(siteOf(address), site, address);
});
