import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { newToken } from "../../src/base/tokens.ts";
import { type Answer, type CallOptions, call } from "../support/market.ts";
import type { Calls, Probe } from "./calls.ts";
import type { Ledger } from "./ledger.ts";

/**
 * Hostile callers among the others: each attack has an address of its own, keeps many calls open, and heeds no refusal.
 * One attack runs at a time, with a pause of the same length after each, so that others' calls can be compared.
 */

/** The length of an attack and of the pause after it. */
const SPELL_MS = 10_000;
/** Callers of an attack, each with one call open. */
const AT_ONCE = 30;
/** The challenges that may be sent to one host in an hour (the setting host_challenge_cap). */
const CHALLENGES = 200;
/** Promised to others during an attack: their 99th percentile stays below this (README.md). */
const allowed = (quiet: number): number => 3 * quiet + 20;
/** Fewer calls than this have no 99th percentile. */
const ENOUGH = 200;

/** Sends a request from the attack's address to one of the APIs; null without an answer. */
type Send = (method: string, path: string, options?: CallOptions) => Promise<Answer | null>;

/** What one caller of an attack does again and again. `n` counts its calls, `victim` is the address of a stranger's server. */
type Attack = { name: string; caller: (send: Send, victim: string) => Promise<(n: number) => Promise<Answer | null>> };

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Connects an agent that nobody will approve. */
const intrude = async (send: Send, body: object): Promise<string> =>
  (await send("POST", "/v1/connect", { body: { name: "Intruder", ...body } }))?.body?.agent_token ?? newToken();

const ATTACKS: readonly Attack[] = [
  {
    name: "searches by agents that nobody approved",
    caller: async (send) => {
      const headers = bearer(await intrude(send, {}));
      return (n) => send("POST", "/v1/offers/search", { headers, body: { query: `sofa in Berlin ${n}` } });
    },
  },
  {
    name: "publishing in sandboxes",
    caller: async (send) => {
      const headers = bearer(await intrude(send, { sandbox: true }));
      return (n) =>
        send("POST", n % 2 ? "/v1/offers" : "/v1/asks", {
          headers,
          body: { text: `Sofa number ${n}, 180 EUR, Berlin, intruder@example.com` },
        });
    },
  },
  {
    name: "webhooks of a stranger's server",
    caller: async (send, victim) => {
      const headers = bearer(await intrude(send, { sandbox: true }));
      const added = await send("POST", "/v1/webhooks", { headers, body: { url: victim } });
      const calls = [
        { path: `/v1/webhooks/${added?.body?.id}/challenge`, body: undefined },
        { path: `/v1/webhooks/${added?.body?.id}/test`, body: undefined },
        { path: "/v1/asks", body: { text: "Looking for a sofa in Berlin" } },
        { path: "/v1/offers", body: { text: "Sofa, 180 EUR, Berlin, intruder@example.com" } },
      ];
      return (n) => {
        const { path = "", body } = calls[n % calls.length] ?? {};
        return send("POST", path, { headers, ...(body && { body }) });
      };
    },
  },
  {
    name: "made-up tokens",
    caller: async (send) => () => send("GET", "/v1/me", { headers: bearer(newToken()) }),
  },
  {
    name: "tools of assistants",
    caller: async (send) => {
      const headers = { ...bearer(await intrude(send, {})), accept: "application/json, text/event-stream" };
      return (n) =>
        send("POST", "/mcp", { headers, body: { jsonrpc: "2.0", id: n, method: "tools/list", params: {} } });
    },
  },
  {
    name: "guessed links",
    caller: async (send) => () => send("GET", `/connect/${newToken()}`),
  },
];

/** The attacks of a run. */
export type Attackers = {
  /** Compares what others were told during attacks and between them, one line; apart from when faults were caused. */
  judge: (probes: readonly Probe[], isFault: (probe: Probe) => boolean) => string;
  stop: () => Promise<void>;
};

const p99 = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? Number.NaN;

/** Starts the attacks, which go on until they are stopped. */
export const startAttackers = (ledger: Ledger, { apis, checkAnswer }: Calls): Attackers => {
  let over = false;
  const spells: { begun: number; ended: number }[] = [];
  const started = performance.now();
  let reached = 0;
  const stranger = createServer((request, response) => {
    reached += 1;
    request.resume();
    response.end();
  }).listen(0, "127.0.0.1");
  const victim = once(stranger, "listening").then(
    () => `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`,
  );

  const attack = async ({ name, caller }: Attack, number: number): Promise<void> => {
    const spell = { begun: performance.now(), ended: Number.POSITIVE_INFINITY };
    spells.push(spell);
    const send: Send = async (method, path, options = {}) => {
      const url = apis()[0]?.url ?? "";
      const answer = await call(url, method, path, { ...options, from: `127.9.${number}.1`, timeoutMs: 30_000 }).catch(
        () => null,
      );
      if (answer === null) await sleep(100);
      else checkAnswer(name, answer);
      return answer;
    };
    const act = async (): Promise<void> => {
      const again = await caller(send, await victim);
      for (let n = 0; !over && performance.now() < spell.begun + SPELL_MS; n++) await again(n);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, act));
    spell.ended = performance.now();
    ledger.note({ caller: "attacker", what: name, status: null, begun: spell.begun });
  };

  const running = (async () => {
    for (let round = 0; !over; round++) {
      const number = round % ATTACKS.length;
      const chosen = ATTACKS[number];
      if (chosen) await attack(chosen, number);
      for (const end = performance.now() + SPELL_MS; !over && performance.now() < end; ) await sleep(100);
    }
  })();

  return {
    judge(probes, isFault) {
      const sound = probes.filter((probe) => probe.kind === "read" && probe.ok && !isFault(probe));
      const [during, between] = [true, false].map((wanted) =>
        sound
          .filter(({ begun }) => spells.some((spell) => spell.begun <= begun && begun < spell.ended) === wanted)
          .map(({ begun, ended }) => ended - begun),
      ) as [number[], number[]];
      if (Math.min(during.length, between.length) < ENOUGH) return "others during attacks: too few calls to judge";
      const [noisy, quiet] = [p99(during), p99(between)];
      const verdict = noisy <= allowed(quiet) ? "kept" : "MISSED";
      return `others' p99 during attacks: ${noisy.toFixed(0)} ms, between them ${quiet.toFixed(0)} ms, at most ${allowed(quiet).toFixed(0)} ms are promised: ${verdict}`;
    },
    async stop() {
      over = true;
      await running;
      stranger.close();
      const hours = Math.ceil((performance.now() - started) / 3_600_000);
      if (reached > CHALLENGES * hours)
        ledger.violate("a server that answers no challenge gets only as many as the limit", `${reached} in ${hours} h`);
    },
  };
};
