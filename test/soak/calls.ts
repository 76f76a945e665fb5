import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type CallOptions, call } from "../support/market.ts";
import type { Person } from "../support/person.ts";
import type { Ledger, Text } from "./ledger.ts";
import type { Processes, Slot } from "./processes.ts";
import { type Random, randomOf } from "./random.ts";

/**
 * Calls through the load balancer. Callers note in the ledger what they were told, and check what they can check at once.
 *
 *   household  a person with the agents that the person approved. It acts for a while, then removes its agents
 *   ghost      a removed agent that goes on calling
 *   mark       a word that no other text contains, by which a text is recognised
 */

/** Longer than the longest outage. */
const ANSWER_MS = 30_000;
/** A text with a key is sent again until its outcome is known, for at most this time. */
export const RESEND_MS = 120_000;
/** A process that is told to stop answers accepted requests within this time (src/service.ts). */
const GRACE_MS = 5_000;
/** The pause before a call is repeated. */
export const RETRY_MS = 250;

/** An agent as its household knows it. */
export type Caller = {
  token: string;
  id: string;
  link: string;
  code: string;
  account: string | null;
  removed: boolean;
};

/** A person with agents. */
export type Household = {
  name: string;
  random: Random;
  person: Person;
  callers: Caller[];
  /** Moderators have suspended the account at some time. Then refusals are expected. */
  suspended: boolean;
  texts: Text[];
};

/** A removed agent that goes on calling. */
export type Ghost = { token: string; removed: number };

/** An answer with its times and the process that sent it. */
export type Told = { answer: Answer; begun: number; ended: number; by: Slot };

/** The times of a call that measures whether the market can be read or written, and whether it succeeded. */
export type Probe = { kind: "read" | "write"; begun: number; ended: number; ok: boolean };

/** One act of an agent of a household, or of its person. */
export type Act = (household: Household, caller: Caller) => Promise<void>;

/** One of the household's texts of a kind. */
export const own = (household: Household, kind: Text["kind"]): Text | undefined => {
  const found = household.texts.filter((text) => text.kind === kind);
  return found.length === 0 ? undefined : household.random.pick(found);
};

/** What a request has beside its method and path. Without `apis`, the load balancer chooses. */
type Sent = { token?: string; body?: unknown; headers?: Record<string, string>; apis?: Slot[] };

/** The letters of marks. Without vowels and digits, no mark is a word, a number or a contact. */
const LETTERS = "bcdfghjklmnpqrstvwz";
/** Letters of each mark. With fewer, some of the random tokens in pages contain what looks like a mark. */
const MARK_LETTERS = 8;
const MARK = new RegExp(`\\bzq[${LETTERS}]{${MARK_LETTERS}}x\\b`, "gi");

const auth = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const isRefusedConnection = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ECONNREFUSED";

/** What all callers use. */
export type Calls = {
  ledger: Ledger;
  /** The slots of the APIs, in the order in which the balancer would choose them. */
  apis: () => Slot[];
  /** Sends a request to the first process that is there. Null without an answer. */
  send: (what: string, method: string, path: string, options?: Sent) => Promise<Told | null>;
  /**
   * Repeats a request that may be repeated until it is answered with anything but 503. Null when it is answered with
   * nothing else for too long.
   */
  insist: (what: string, method: string, path: string, sent?: Sent) => Promise<Told | null>;
  /** Checks a promise about every answer: a problem document, never a 500, and a 503 that says when to try again. */
  checkAnswer: (what: string, answer: Answer) => void;
  /** Checks that an answer names no text of another household. */
  checkPrivate: (household: string, what: string, answer: Answer, begun: number) => void;
  /** Returns whether the answer has one of these statuses. Any other but 503 and 408 is a violation. */
  expectStatus: (told: Told | null, what: string, ...right: number[]) => boolean;
  /** Makes a mark that belongs to a household. */
  newMark: (household: string) => string;
};

export const openCalls = (ledger: Ledger, processes: Processes, seed: number): Calls => {
  let marks = 0;
  const owners = new Map<string, string>();
  const dice = randomOf(seed, "balancer");
  const apis = (): Slot[] => processes.apis(dice.shuffled);

  const newMark: Calls["newMark"] = (household) => {
    marks += 1;
    let letters = "";
    for (let rest = marks; letters.length < MARK_LETTERS; rest = Math.floor(rest / LETTERS.length))
      letters += LETTERS[rest % LETTERS.length];
    const mark = `zq${letters}x`;
    owners.set(mark, household);
    return mark;
  };

  const checkAnswer: Calls["checkAnswer"] = (what, { status, headers, text }) => {
    if (status >= 500 && status !== 503)
      ledger.violate("no answer is worse than 503", `${what}: ${text.slice(0, 500)}`);
    if (status === 503 && !/^[1-9]\d*$/.test(headers["retry-after"] ?? ""))
      ledger.violate("a 503 has Retry-After", `${what}: ${text.slice(0, 500)}`);
  };

  const send: Calls["send"] = async (what, method, path, { token, body, headers, apis: chosen } = {}) => {
    const options: CallOptions = {
      ...(body === undefined ? {} : { body }),
      headers: { ...(token === undefined ? {} : auth(token)), ...headers },
      timeoutMs: ANSWER_MS,
    };
    for (const by of chosen ?? apis()) {
      const begun = performance.now();
      try {
        const answer = await call(by.url, method, path, options);
        ledger.note({
          caller: token?.slice(-6) ?? "",
          what,
          status: answer.status,
          begun,
          request: answer.headers["request-id"] ?? "",
        });
        checkAnswer(what, answer);
        return { answer, begun, ended: performance.now(), by };
      } catch (error) {
        // The process was not there, so nothing was sent.
        if (isRefusedConnection(error)) continue;
        ledger.note({ caller: token?.slice(-6) ?? "", what, status: null, begun });
        const { ended } = by;
        if (ended?.how === "stop" && begun < ended.at && performance.now() - ended.at < GRACE_MS)
          ledger.violate("a process that stops answers accepted requests", `${what}: ${error}`, begun);
        return null;
      }
    }
    return null;
  };

  const insist: Calls["insist"] = async (what, method, path, sent = {}) => {
    for (const end = performance.now() + RESEND_MS; performance.now() < end; ) {
      const told = await send(what, method, path, sent);
      if (told && ![408, 503].includes(told.answer.status)) return told;
      await sleep(RETRY_MS);
    }
    return null;
  };

  const checkPrivate: Calls["checkPrivate"] = (household, what, { text }, begun) => {
    for (const [mark] of text.matchAll(MARK)) {
      if (owners.get(mark.toLowerCase()) !== household)
        ledger.violate("nobody sees another's rows", `${household} got ${mark} from ${what}`, begun);
    }
  };

  /** A 503 is always possible, and so is a 408 when this machine is too busy to send. Neither has any effect. */
  const expectStatus: Calls["expectStatus"] = (told, what, ...right) => {
    if (told === null || told.answer.status === 503 || told.answer.status === 408) return false;
    if (right.includes(told.answer.status)) return true;
    ledger.violate(
      "a caller gets the right answer",
      `${what} gave ${told.answer.status}: ${told.answer.text.slice(0, 400)}`,
      told.begun,
    );
    return false;
  };

  return { ledger, apis, send, insist, checkAnswer, checkPrivate, expectStatus, newMark };
};
