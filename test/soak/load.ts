import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { sameOrigin } from "../admin/fixture.ts";
import { type Answer, type CallOptions, call, withoutPage } from "../support/market.ts";
import { newPerson, type Person } from "../support/person.ts";
import type { Ledger, Text } from "./ledger.ts";
import type { Processes, Slot } from "./processes.ts";
import { type Random, randomOf } from "./random.ts";

/**
 * The load: callers of all kinds, who note in the ledger what they were told and check what they can check at once.
 *
 *   household  a person with the agents that the person approved. It acts for a while, then removes its agents
 *   ghost      a removed agent that goes on calling
 *   greedy     an agent that publishes until its cap is reached, and on
 *   probe      a call that measures whether the market can be read and written at this moment
 */

/** How many households there are at the same time. With the others, they keep two processors busy but not overloaded. */
const HOUSEHOLDS = 6;
/** The pause between two acts of a caller. */
const PAUSE_MS = [100, 500] as const;
/** How many acts a household makes before it leaves, so that caps are seldom reached and agents come and go. */
const ACTS = [40, 120] as const;
/** The pause between two probes: the resolution of the longest outage. */
const PROBE_MS = 150;
/** Under the previous release, a removal waits for a replica that is a minute behind. Everything else takes seconds. */
const ANSWER_MS = 100_000;
/** A text with a key is sent again until its outcome is known, for at most this time. */
const RESEND_MS = 120_000;
/** A process that is told to stop answers accepted requests within this time (src/service.ts). */
const GRACE_MS = 5_000;
const RETRY_MS = 250;
/** Callers that keep several calls open: few enough for fair use, which allows eight. */
const GREEDY_AT_ONCE = 2;

/** An agent as its household knows it. */
type Caller = { token: string; id: string; link: string; account: string | null; removed: boolean };

/** A person with agents. */
type Household = {
  name: string;
  random: Random;
  person: Person;
  callers: Caller[];
  /** Moderators have suspended the account at some time. Then refusals are expected. */
  suspended: boolean;
  texts: Text[];
};

/** A probe's times and whether it succeeded. */
export type Probe = { kind: "read" | "write"; begun: number; ended: number; ok: boolean };

/** Removed agents that go on calling. */
type Ghost = { token: string; removed: number };

/** An answer with its times and the process that sent it. */
type Told = { answer: Answer; begun: number; ended: number; by: Slot };

/** A running load. */
export type Load = {
  probes: Probe[];
  ghosts: Ghost[];
  /** Sends a request as the callers do. Null without an answer. */
  send: (what: string, method: string, path: string, options?: Sent) => Promise<Told | null>;
  stop: () => Promise<void>;
};

type Sent = { token?: string; body?: unknown; headers?: Record<string, string>; apis?: Slot[] };

/** The letters of marks. Without vowels and digits, no mark is a word, a number or a contact. */
const LETTERS = "bcdfghjklmnpqrstvwz";
/** Letters of each mark. With fewer, some of the random tokens in pages contain what looks like a mark. */
const MARK_LETTERS = 8;
const MARK = new RegExp(`\\bzq[${LETTERS}]{${MARK_LETTERS}}x\\b`, "gi");

const PLACES = ["Berlin", "Hamburg", "Leipzig", "Lyon", "Porto"];
const THINGS = ["grey three-seat sofa", "oak table", "red city bike", "used laptop", "winter jacket"];

const auth = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const isRefusedConnection = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ECONNREFUSED";

/**
 * Starts the load.
 * @param moderator the Cookie header of a moderator
 * @param during whether a fault goes on, or has just ended
 */
export const startLoad = (
  ledger: Ledger,
  processes: Processes,
  seed: number,
  moderator: string,
  during: (fault: string) => boolean,
): Load => {
  let over = false;
  let marks = 0;
  const households: Household[] = [];
  const probes: Probe[] = [];
  const ghosts: Ghost[] = [];
  const owners = new Map<string, string>();
  const dice = randomOf(seed, "balancer");

  const newMark = (household: string): string => {
    marks += 1;
    let letters = "";
    for (let rest = marks; letters.length < MARK_LETTERS; rest = Math.floor(rest / LETTERS.length))
      letters += LETTERS[rest % LETTERS.length];
    const mark = `zq${letters}x`;
    owners.set(mark, household);
    return mark;
  };

  /** The previous release answered 500 when a full disk kept it from a connection, so nobody knows what it did. */
  const isOldFault = (status: number, by: Slot | undefined): boolean =>
    status === 500 && by?.elder === true && during("disk full");

  /** A promise about every answer: a problem document, never a 500, and a 503 that says when to try again. */
  const checkAnswer = (what: string, { status, headers, text }: Answer, by: Slot | undefined): void => {
    if (status >= 500 && status !== 503 && !isOldFault(status, by))
      ledger.violate("no answer is worse than 503", `${what}: ${text.slice(0, 500)}`);
    if (status === 503 && !/^[1-9]\d*$/.test(headers["retry-after"] ?? ""))
      ledger.violate("a 503 has Retry-After", `${what}: ${text.slice(0, 500)}`);
  };

  const send: Load["send"] = async (what, method, path, { token, body, headers, apis } = {}) => {
    const options: CallOptions = {
      ...(body === undefined ? {} : { body }),
      headers: { ...(token === undefined ? {} : auth(token)), ...headers },
      timeoutMs: ANSWER_MS,
    };
    for (const by of apis ?? processes.apis(dice.shuffled)) {
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
        checkAnswer(what, answer, by);
        return isOldFault(answer.status, by) ? null : { answer, begun, ended: performance.now(), by };
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

  /** Repeats a request that may be repeated until it is answered with anything but 503. Null when the load ends first. */
  const insist = async (what: string, method: string, path: string, sent: Sent = {}): Promise<Told | null> => {
    for (const end = performance.now() + RESEND_MS; performance.now() < end; ) {
      const told = await send(what, method, path, sent);
      if (told && ![408, 503].includes(told.answer.status)) return told;
      await sleep(RETRY_MS);
    }
    return null;
  };

  const checkPrivate = (household: string, what: string, { text }: Answer, begun: number): void => {
    for (const [mark] of text.matchAll(MARK)) {
      if (owners.get(mark.toLowerCase()) !== household)
        ledger.violate("nobody sees another's rows", `${household} got ${mark} from ${what}`, begun);
    }
  };

  /** Sends a text and notes its outcome. With a key, it is sent until the outcome is known. */
  const submit = async (
    household: Household | null,
    token: string,
    kind: Text["kind"],
    text: string,
    mark: string,
    key: string | null,
  ): Promise<Text> => {
    const noted: Text = {
      kind,
      mark,
      household: household?.name ?? "nobody",
      token,
      sent: { text },
      key,
      begun: performance.now(),
      ended: Number.POSITIVE_INFINITY,
      verdict: "unknown",
      status: null,
      body: null,
      cap: 0,
      revision: null,
    };
    ledger.texts.push(noted);
    const path = kind === "offer" ? "/v1/offers" : "/v1/asks";
    let doubt = false;
    for (const end = performance.now() + RESEND_MS; performance.now() < end; await sleep(RETRY_MS)) {
      const told = await send(`POST ${path}`, "POST", path, {
        token,
        body: noted.sent,
        headers: key === null ? {} : { "idempotency-key": key },
      });
      noted.ended = performance.now();
      if (told === null) {
        doubt = true;
        if (key === null) break;
        continue;
      }
      const { status, body, headers } = told.answer;
      noted.status = status;
      noted.cap = Math.max(noted.cap, Number(headers["ratelimit-limit"] ?? 0));
      if (status === 201) {
        noted.verdict = "made";
        noted.body = body;
        break;
      }
      const again = status === 503 || (status === 409 && body.code === "idempotency_in_flight");
      const nothingDone = status !== 503 || /nothing was (done|published)/i.test(body.detail ?? "");
      if (key !== null && again) {
        doubt ||= !nothingDone;
        continue;
      }
      // After a lost answer, only an answer that comes after the key was looked up is about the first request.
      // The previous release could carry out a request that it had refused with 408.
      const late = status === 408 && told.by.elder;
      const certain = !late && (!doubt || status === 429 || status === 400);
      if (nothingDone && certain) noted.verdict = "refused";
      break;
    }
    if (noted.verdict === "made") household?.texts.push(noted);
    return noted;
  };

  const offerText = (random: Random, mark: string, word = "first"): string =>
    `${random.pick(THINGS)}, good condition, reference ${mark}. ${random.whole(20, 900)} EUR, pick up in ${random.pick(PLACES)}. Write to lena@example.com. Version ${word}`;
  const askText = (random: Random, mark: string, word = "first"): string =>
    `Looking for a ${random.pick(THINGS)} in ${random.pick(PLACES)}, up to ${random.whole(100, 900)} EUR, reference ${mark}. Version ${word}`;

  const connect = async (household: Household): Promise<Caller | null> => {
    const told = await insist("POST /v1/connect", "POST", "/v1/connect", { body: { name: household.name } });
    if (told === null) return null;
    if (told.answer.status !== 201) {
      ledger.violate("agents can connect", told.answer.text, told.begun);
      return null;
    }
    const { body } = told.answer;
    return { token: body.agent_token, id: body.agent_id, link: body.connection.url, account: null, removed: false };
  };

  /** The person opens the link and approves. If an answer is lost, the agent's own view says what happened. */
  const approve = async (household: Household, caller: Caller): Promise<boolean> => {
    let confirmed = false;
    for (const end = performance.now() + RESEND_MS; performance.now() < end; await sleep(RETRY_MS)) {
      if (!confirmed) {
        const [api] = processes.apis(dice.shuffled);
        const begun = performance.now();
        const link = `${api?.url}${new URL(caller.link).pathname}`;
        const answer = await household.person.decide(link, "approve").catch(() => null);
        ledger.note({ caller: household.name, what: "approve", status: answer?.status ?? null, begun });
        if (answer) checkAnswer("approve", answer, api);
        confirmed = answer?.status === 200;
      }
      // A replica may show the approval later, and the other API shows it at once.
      const me = await insist("GET /v1/me", "GET", "/v1/me", { token: caller.token });
      if (me?.answer.status === 200 && me.answer.body.account.connected) {
        caller.account = me.answer.body.id;
        const [first] = household.callers;
        // Without its first answer a browser has no session, so a second agent would get an account of its own.
        if (first && first.account !== caller.account) return false;
        household.callers.push(caller);
        return true;
      }
    }
    if (confirmed) ledger.violate("an approval that was confirmed stays", caller.id);
    return false;
  };

  const bury = async (caller: Caller): Promise<void> => {
    caller.removed = true;
    const ghost = { token: caller.token, removed: performance.now() };
    ghosts.push(ghost);
    await Promise.all(processes.slots.filter(({ part }) => part === "api").map((slot) => haunt(ghost, [slot])));
  };

  /** A removed agent calls. Only 401, 503, 408 (the request arrived too slowly to be read) or no answer are right. */
  const haunt = async (ghost: Ghost, apis?: Slot[]): Promise<void> => {
    const told = await send("GET /v1/me, removed", "GET", "/v1/me", { token: ghost.token, ...(apis ? { apis } : {}) });
    if (told && ![401, 408, 503].includes(told.answer.status))
      ledger.violate(
        "a removed agent is never answered again",
        `${told.by.name}: ${told.answer.text.slice(0, 300)}`,
        told.begun,
      );
  };

  const remove = async (household: Household, caller: Caller): Promise<void> => {
    household.callers = household.callers.filter((one) => one !== caller);
    let said: Told | null = null;
    // After an attempt whose outcome nobody knows, a later 401 says nothing about a refusal in between.
    let doubt = false;
    for (const end = performance.now() + RESEND_MS; performance.now() < end; await sleep(RETRY_MS)) {
      if (household.random.next() < 0.5) {
        const told = await send("DELETE /v1/me/agent", "DELETE", "/v1/me/agent", { token: caller.token });
        if (told?.answer.status === 204 || told?.answer.status === 401) {
          if (told.answer.status === 401 && said && !doubt)
            ledger.violate(
              "no refusal left anything",
              `${said.answer.text}, but agent ${caller.id} was removed`,
              said.begun,
            );
          return bury(caller);
        }
        // The previous release did not tell a lost answer from a refusal.
        const claims = told?.answer.status === 503 && /nothing was done/i.test(told.answer.text) && !told.by.elder;
        if (claims) said = told;
        else doubt = true;
      } else {
        const [api] = processes.apis(dice.shuffled);
        const begun = performance.now();
        const answer = await household.person
          .open(`${api?.url}/settings`)
          .then(() => household.person.send({ agent: caller.id, action: "remove" }))
          .catch(() => null);
        ledger.note({ caller: household.name, what: "remove by page", status: answer?.status ?? null, begun });
        if (answer) checkAnswer("remove by page", answer, api);
        if (answer?.status === 303) return bury(caller);
        // The page's own refusal is not read here.
        doubt = true;
      }
    }
  };

  /** A 503 is always possible, and so is a 408 when this machine is too busy to send. Neither has any effect. */
  const expectStatus = (told: Told | null, what: string, ...right: number[]): boolean => {
    if (told === null || told.answer.status === 503 || told.answer.status === 408) return false;
    if (right.includes(told.answer.status)) return true;
    ledger.violate(
      "a caller gets the right answer",
      `${what} gave ${told.answer.status}: ${told.answer.text.slice(0, 400)}`,
      told.begun,
    );
    return false;
  };

  type Act = (household: Household, caller: Caller) => Promise<void>;

  const own = (household: Household, kind: Text["kind"]): Text | undefined => {
    const found = household.texts.filter((text) => text.kind === kind);
    return found.length === 0 ? undefined : household.random.pick(found);
  };
  const idOf = (text: Text): string => (text.kind === "offer" ? text.body.offer_id : text.body.id);
  const pathOf = (text: Text): string => `/v1/${text.kind}s/${idOf(text)}`;

  const write =
    (kind: Text["kind"]): Act =>
    async (household, caller) => {
      const { random } = household;
      const mark = newMark(household.name);
      const key = random.next() < 0.8 ? `key ${mark}` : null;
      const noted = await submit(
        household,
        caller.token,
        kind,
        (kind === "offer" ? offerText : askText)(random, mark),
        mark,
        key,
      );
      if (
        noted.verdict !== "made" &&
        ![408, 429, 503, null].includes(noted.status) &&
        !(household.suspended && noted.status === 409)
      )
        ledger.violate(
          "a caller gets the right answer",
          `${kind} gave ${noted.status} for ${noted.sent.text}`,
          noted.begun,
        );
    };

  const change =
    (kind: Text["kind"]): Act =>
    async (household, caller) => {
      const text = own(household, kind);
      if (!text) return;
      const { random } = household;
      const word = newMark(household.name);
      const body = { text: (kind === "offer" ? offerText : askText)(random, text.mark, word) };
      const before = text.revision;
      text.revision = null;
      const told = await send(`PATCH ${kind}`, "PATCH", pathOf(text), { token: caller.token, body });
      if (told?.answer.status === 200) text.revision = word;
      else if (told && told.answer.status < 500) text.revision = before;
      if (!household.suspended) expectStatus(told, `PATCH ${kind}`, 200, 409, 429);
    };

  const move =
    (kind: Text["kind"], ...moves: string[]): Act =>
    async (household, caller) => {
      const text = own(household, kind);
      if (!text) return;
      const name = household.random.pick(moves);
      const told = await send(`${name} ${kind}`, "POST", `${pathOf(text)}/${name}`, { token: caller.token });
      expectStatus(told, `${name} ${kind}`, 200, 409, 429);
    };

  const list =
    (path: string): Act =>
    async (household, caller) => {
      const told = await send(`GET ${path}`, "GET", path, { token: caller.token });
      if (told && expectStatus(told, `GET ${path}`, 200)) {
        checkPrivate(household.name, path, told.answer, told.begun);
        if (path === "/v1/me" && (told.answer.body.id !== caller.account || told.answer.body.agent.id !== caller.id))
          ledger.violate("nobody sees another's rows", `${caller.id} got ${told.answer.text}`, told.begun);
      }
    };

  const acts: [number, Act][] = [
    [12, write("offer")],
    [8, write("ask")],
    [7, change("offer")],
    [4, change("ask")],
    [6, move("offer", "archive", "republish")],
    [4, move("ask", "archive", "fulfill", "reopen")],
    [4, list("/v1/me")],
    [4, list("/v1/offers")],
    [4, list("/v1/asks")],
    [
      16,
      async ({ random }, caller) => {
        const query = `${random.pick(THINGS)} in ${random.pick(PLACES)}`;
        const told = await send("search", "POST", "/v1/offers/search", { token: caller.token, body: { query } });
        expectStatus(told, "search", 200, 429);
      },
    ],
    [
      6,
      async (household, caller) => {
        const text = own(household, household.random.pick(["offer", "ask"]));
        if (!text) return;
        const told = await send(`GET own ${text.kind}`, "GET", pathOf(text), { token: caller.token });
        if (told && expectStatus(told, `GET own ${text.kind}`, 200))
          checkPrivate(household.name, pathOf(text), told.answer, told.begun);
      },
    ],
    [
      5,
      async (household, caller) => {
        const text = own(household, "ask");
        if (!text) return;
        expectStatus(await send("matches", "GET", `${pathOf(text)}/matches`, { token: caller.token }), "matches", 200);
      },
    ],
    [
      // What belongs to others and is not public.
      6,
      async (household, caller) => {
        const others = ledger.texts.filter(
          ({ household: of, verdict, kind }) => of !== household.name && verdict === "made" && kind === "ask",
        );
        if (others.length === 0) return;
        const text = household.random.pick(others);
        const [what, method, path] = household.random.pick<[string, string, string]>([
          ["GET another's ask", "GET", pathOf(text)],
          ["GET another's matches", "GET", `${pathOf(text)}/matches`],
          ["archive another's ask", "POST", `${pathOf(text)}/archive`],
        ]);
        const told = await send(what, method, path, { token: caller.token });
        if (told && told.answer.status < 300)
          ledger.violate("nobody sees another's rows", `${what}: ${told.answer.text.slice(0, 300)}`, told.begun);
        else expectStatus(told, what, 404, 409);
      },
    ],
    [
      5,
      async (household, caller) => {
        const keyed = household.texts.filter(({ key, token }) => key !== null && token === caller.token);
        if (keyed.length > 0) await replay(household.random.pick(keyed), household.suspended);
      },
    ],
    [
      3,
      async ({ random, name }, caller) => {
        const made = ledger.texts.filter(
          ({ kind, verdict, household }) => kind === "offer" && verdict === "made" && household !== name,
        );
        if (made.length === 0) return;
        const path = `${pathOf(random.pick(made))}/report`;
        expectStatus(
          await send("report", "POST", path, { token: caller.token, body: { reason: "spam" } }),
          "report",
          200,
          404,
          409,
          429,
        );
      },
    ],
    [
      2,
      async ({ random, name }, caller) => {
        const body = { text: offerText(random, newMark(name)) };
        expectStatus(
          await send("preview", "POST", "/v1/offers/preview", { token: caller.token, body }),
          "preview",
          200,
          429,
        );
      },
    ],
    [
      2,
      async (household, caller) => {
        const mark = newMark(household.name);
        const noted = await submit(
          household,
          caller.token,
          "offer",
          `Oak table, reference ${mark}, 40 EUR, Berlin`,
          mark,
          `key ${mark}`,
        );
        if (noted.verdict === "made")
          ledger.violate("a caller gets the right answer", `published without a contact: ${mark}`, noted.begun);
      },
    ],
    [
      2,
      async (household) => {
        const stranger = await connect(household);
        if (!stranger) return;
        const mark = newMark(household.name);
        const noted = await submit(household, stranger.token, "offer", offerText(household.random, mark), mark, null);
        if (noted.verdict === "made") ledger.violate("only approved agents publish", mark, noted.begun);
      },
    ],
    [
      2,
      async (household) => {
        const [api] = processes.apis(dice.shuffled);
        const begun = performance.now();
        const page = await household.person.open(`${api?.url}/settings/market`).catch(() => null);
        ledger.note({ caller: household.name, what: "GET /settings/market", status: page?.status ?? null, begun });
        if (page) checkPrivate(household.name, "/settings/market", page, begun);
      },
    ],
    [
      1,
      async (household) => {
        const caller = household.callers.length < 3 ? await connect(household) : null;
        if (caller) await approve(household, caller);
      },
    ],
    [
      1,
      async (household, caller) => {
        if (household.callers.length > 1) await remove(household, caller);
      },
    ],
  ];
  const weighted = acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));

  /** A key that was used gives the first answer again. */
  const replay = async (text: Text, suspended: boolean): Promise<void> => {
    const path = text.kind === "offer" ? "/v1/offers" : "/v1/asks";
    const told = await send(`replay ${text.kind}`, "POST", path, {
      token: text.token,
      body: text.sent,
      headers: { "idempotency-key": text.key ?? "" },
    });
    if (told === null || [408, 503].includes(told.answer.status) || (suspended && told.answer.status === 409)) return;
    const { status, body, headers } = told.answer;
    if (
      status !== 201 ||
      headers["idempotency-replayed"] !== "true" ||
      !isDeepStrictEqual(withoutPage(body), withoutPage(text.body))
    )
      ledger.violate(
        "a used key replays the first answer",
        `${text.key}: ${told.answer.text.slice(0, 500)}`,
        told.begun,
      );
  };

  const pause = (random: Random): Promise<void> => sleep(random.whole(...PAUSE_MS));

  const liveAs = async (name: string): Promise<void> => {
    const household: Household = {
      name,
      random: randomOf(seed, name),
      person: newPerson(),
      callers: [],
      suspended: false,
      texts: [],
    };
    const first = await connect(household);
    if (!first || !(await approve(household, first))) return;
    households.push(household);
    for (let left = household.random.whole(...ACTS); left > 0 && !over; left--) {
      await household.random.pick(weighted)(household, household.random.pick(household.callers));
      await pause(household.random);
    }
    households.splice(households.indexOf(household), 1);
    if (over) return;
    for (const caller of [...household.callers]) await remove(household, caller);
  };

  const beGreedy = async (name: string): Promise<void> => {
    const household: Household = {
      name,
      random: randomOf(seed, name),
      person: newPerson(),
      callers: [],
      suspended: false,
      texts: [],
    };
    const caller = await connect(household);
    if (!caller || !(await approve(household, caller))) return;
    let refusals = 0;
    const publish = async (): Promise<void> => {
      while (!over && refusals < 10) {
        const mark = newMark(name);
        const { status } = await submit(
          household,
          caller.token,
          "offer",
          offerText(household.random, mark),
          mark,
          null,
        );
        if (status === 429) refusals += 1;
        await pause(household.random);
      }
    };
    await Promise.all(Array.from({ length: GREEDY_AT_ONCE }, publish));
  };

  const graphql = (query: string, variables: object): Promise<Told | null> => {
    const apis = processes.apis(dice.shuffled);
    const [first] = apis;
    return send("moderate", "POST", "/admin/graphql", {
      body: { query, variables },
      headers: { cookie: moderator, ...sameOrigin(first?.url ?? "") },
      apis: first ? [first] : [],
    });
  };

  const moderate = async (random: Random): Promise<void> => {
    const offers = ledger.texts.filter(({ kind, verdict }) => kind === "offer" && verdict === "made");
    if (offers.length === 0) return;
    const id = idOf(random.pick(offers));
    const seen = await graphql("query($id: UUID!) { offer(id: $id) { status updatedAt } }", { id });
    const offer = seen?.answer.body.data?.offer;
    if (!offer) return;
    const [act, further] = offer.status === "removed" ? ["restoreOffer", ""] : ["removeOffer", ', reason: "spam"'];
    await graphql(
      `mutation($id: UUID!, $at: Datetime!) { ${act}(input: {id: $id, expectedUpdatedAt: $at${further}}) { offer { status } } }`,
      { id, at: offer.updatedAt },
    );
  };

  const suspend = async (random: Random): Promise<void> => {
    if (households.length === 0) return;
    const household = random.pick(households);
    const id = household.callers[0]?.account;
    if (!id) return;
    household.suspended = true;
    await graphql(
      'mutation($id: UUID!) { suspendAccount(input: {id: $id, reason: "spam", sentence: "For the soak."}) { account { suspendedAt } } }',
      { id },
    );
    await sleep(random.whole(500, 3_000));
    for (let tries = 0; tries < 120; tries++) {
      const told = await graphql(
        "mutation($id: UUID!) { reinstateAccount(input: {id: $id}) { account { suspendedAt } } }",
        { id },
      );
      // GraphQL answers 200 with errors, for example while the database is read-only.
      if (told?.answer.status === 200 && told.answer.body.errors === undefined) return;
      await sleep(RETRY_MS);
    }
  };

  const lane = async (name: string, work: (name: string) => Promise<void>): Promise<void> => {
    for (let generation = 1; !over; generation++) await work(`${name}.${generation}`);
  };
  const repeated = (name: string, milliseconds: number, work: (random: Random) => Promise<void>): Promise<void> => {
    const random = randomOf(seed, name);
    return lane(name, async () => {
      await work(random);
      await sleep(milliseconds);
    });
  };

  /** Measures whether the market can be read, or written. A client tries the next address at once. */
  const probe = async (kind: Probe["kind"], random: Random): Promise<void> => {
    const begun = performance.now();
    const told =
      kind === "read"
        ? await send("read probe", "GET", "/v1/me", { token: reader ?? "" })
        : await send("write probe", "POST", "/v1/connect", { body: { name: "Probe" } });
    const ok = told !== null && told.answer.status < 300;
    probes.push({ kind, begun, ended: performance.now(), ok });
    if (kind === "read" && reader === null && random) return;
    if (kind === "write" && ok && reader === null) reader = told.answer.body.agent_token;
  };
  let reader: string | null = null;

  const lanes = [
    ...Array.from({ length: HOUSEHOLDS }, (_, number) => lane(`household ${number}`, liveAs)),
    lane("greedy", beGreedy),
    repeated("ghosts", 300, async (random) => {
      if (ghosts.length > 0) await haunt(random.pick(random.next() < 0.5 ? ghosts.slice(-5) : ghosts));
    }),
    repeated("moderator", 700, moderate),
    repeated("suspending moderator", 4_000, suspend),
    repeated("read probe", PROBE_MS, (random) => (reader === null ? Promise.resolve() : probe("read", random))),
    repeated("write probe", PROBE_MS, (random) => probe("write", random)),
  ];
  return {
    probes,
    ghosts,
    send,
    async stop() {
      over = true;
      await Promise.all(lanes);
    },
  };
};
