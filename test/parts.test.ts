import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { type Part, runParts } from "../src/parts.ts";

/** Parts that record what happens to them, and the signal that tells them to stop. */
const record = () => {
  const events: string[] = [];
  const stopping = new AbortController();
  const part = (name: string, more: Partial<Part> = {}): Part => ({
    name,
    start: () => {
      events.push(`start ${name}`);
      return () => void events.push(`stop ${name}`);
    },
    ...more,
  });
  return { events, stopping, part };
};

test("parts start in order, are prepared in order, and stop in reverse order", async (t) => {
  const { events, stopping, part } = record();
  const prepare = (name: string) => async () => {
    events.push(`prepare ${name}`);
    return () => void events.push(`undo ${name}`);
  };
  const last = part("last", {
    prepare: async () => {
      events.push("prepare last");
      stopping.abort();
      return undefined;
    },
  });
  await runParts([part("first", { prepare: prepare("first") }), part("second"), last], stopping.signal);
  t.deepEqual(events, [
    "start first",
    "start second",
    "start last",
    "prepare first",
    "prepare last",
    "stop last",
    "stop second",
    "undo first",
    "stop first",
  ]);
});

test("when a part cannot start, the parts before it are stopped", async (t) => {
  const { events, stopping, part } = record();
  const broken = part("broken", { start: () => Promise.reject(new Error("the port is in use")) });
  await t.throwsAsync(runParts([part("first"), broken, part("never")], stopping.signal), {
    message: "the port is in use",
  });
  t.deepEqual(events, ["start first", "stop first"]);
});

test("a part that cannot be prepared stops all parts", async (t) => {
  const { events, stopping, part } = record();
  const broken = part("broken", { prepare: () => Promise.reject(new Error("no schema")) });
  await t.throwsAsync(runParts([part("first"), broken], stopping.signal), { message: "no schema" });
  t.deepEqual(events, ["start first", "start broken", "stop broken", "stop first"]);
});

test("when a part fails to stop, the other parts are stopped all the same", async (t) => {
  const { events, stopping, part } = record();
  const stubborn = part("stubborn", { start: () => () => Promise.reject(new Error("it hangs")) });
  stopping.abort();
  const late = new AbortController();
  setTimeout(() => late.abort(), 10);
  await t.throwsAsync(runParts([part("first"), stubborn, part("last")], late.signal), { message: "it hangs" });
  t.deepEqual(events, ["start first", "start last", "stop last", "stop first"]);
});

test("a part that is still being prepared stops when it is prepared, and does not delay later parts", async (t) => {
  const { events, stopping, part } = record();
  const slow = part("slow", {
    prepare: async () => {
      await sleep(50);
      events.push("prepared slow");
      return () => void events.push("undo slow");
    },
  });
  setTimeout(() => stopping.abort(), 10);
  await runParts([slow, part("server")], stopping.signal);
  t.deepEqual(events, ["start slow", "start server", "stop server", "prepared slow", "undo slow", "stop slow"]);
});

test("nothing starts after the signal to stop", async (t) => {
  const { events, stopping, part } = record();
  stopping.abort();
  await runParts([part("first")], stopping.signal);
  t.deepEqual(events, []);
});
