import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Caller, type Calls, type Ghost, type Household, RESEND_MS, RETRY_MS, type Told } from "./calls.ts";
import type { Processes, Slot } from "./processes.ts";

/** Agents come and go: they connect, a person approves them and later removes them, and removed ones go on calling. */

/** The acts by which agents come and go. */
export type Agents = {
  ghosts: Ghost[];
  /** Connects an agent that nobody has approved. Null without an answer. */
  connect: (household: Household) => Promise<Caller | null>;
  /**
   * The person opens the link and approves. If an answer is lost, the agent's own view says what happened.
   * @returns whether the agent belongs to the household now
   */
  approve: (household: Household, caller: Caller) => Promise<boolean>;
  /** The agent leaves, or the person removes it on the page, until one of both is confirmed. */
  remove: (household: Household, caller: Caller) => Promise<void>;
  /** A removed agent calls. Only 401, 503, 408 (the request arrived too slowly to be read) or no answer are right. */
  haunt: (ghost: Ghost, apis?: Slot[]) => Promise<void>;
};

/** Makes these acts. */
export const agentsOf = (calls: Calls, processes: Processes): Agents => {
  const { ledger, apis, send, insist, checkAnswer } = calls;
  const ghosts: Ghost[] = [];

  const connect: Agents["connect"] = async (household) => {
    const told = await insist("POST /v1/connect", "POST", "/v1/connect", { body: { name: household.name } });
    if (told === null) return null;
    if (told.answer.status !== 201) {
      ledger.violate("agents can connect", told.answer.text, told.begun);
      return null;
    }
    const { body } = told.answer;
    const { url, code } = body.connection;
    return { token: body.agent_token, id: body.agent_id, link: url, code, account: null, removed: false };
  };

  const approve: Agents["approve"] = async (household, caller) => {
    let confirmed = false;
    for (const end = performance.now() + RESEND_MS; performance.now() < end; await sleep(RETRY_MS)) {
      if (!confirmed) {
        const [api] = apis();
        const begun = performance.now();
        const link = `${api?.url}${new URL(caller.link).pathname}`;
        const answer = await household.person.decide(link, caller.code).catch(() => null);
        ledger.note({ caller: household.name, what: "approve", status: answer?.status ?? null, begun });
        if (answer) checkAnswer("approve", answer);
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

  const haunt: Agents["haunt"] = async (ghost, slots) => {
    const told = await send("GET /v1/me, removed", "GET", "/v1/me", {
      token: ghost.token,
      ...(slots ? { apis: slots } : {}),
    });
    if (told && ![401, 408, 503].includes(told.answer.status))
      ledger.violate(
        "a removed agent is never answered again",
        `${told.by.name}: ${told.answer.text.slice(0, 300)}`,
        told.begun,
      );
  };

  const bury = async (caller: Caller): Promise<void> => {
    caller.removed = true;
    const ghost = { token: caller.token, removed: performance.now() };
    ghosts.push(ghost);
    await Promise.all(processes.slots.filter(({ part }) => part === "api").map((slot) => haunt(ghost, [slot])));
  };

  const remove: Agents["remove"] = async (household, caller) => {
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
        const claims = told?.answer.status === 503 && /nothing was done/i.test(told.answer.text);
        if (claims) said = told;
        else doubt = true;
      } else {
        const [api] = apis();
        const begun = performance.now();
        const answer = await household.person
          .open(`${api?.url}/settings`)
          .then(() => household.person.send({ agent: caller.id, action: "remove" }))
          .catch(() => null);
        ledger.note({ caller: household.name, what: "remove by page", status: answer?.status ?? null, begun });
        if (answer) checkAnswer("remove by page", answer);
        if (answer?.status === 303) return bury(caller);
        // The page's own refusal is not read here.
        doubt = true;
      }
    }
  };

  return { ghosts, connect, approve, remove, haunt };
};
