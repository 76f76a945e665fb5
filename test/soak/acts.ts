import type { Agents } from "./agents.ts";
import type { Act, Calls } from "./calls.ts";
import { publishing } from "./publishers.ts";
import { reading } from "./searchers.ts";
import { offerText, submit } from "./texts.ts";

/** What an agent of a household does next. */

/** How agents come and go while their household acts. */
const changing = (calls: Calls, { connect, approve, remove }: Agents) => {
  const { ledger, newMark } = calls;
  const unapproved: Act = async (household) => {
    const stranger = await connect(household);
    if (!stranger) return;
    const mark = newMark(household.name);
    const noted = await submit(
      calls,
      household,
      stranger.token,
      "offer",
      offerText(household.random, mark),
      mark,
      null,
    );
    if (noted.verdict === "made") ledger.violate("only approved agents publish", mark, noted.begun);
  };

  const addAgent: Act = async (household) => {
    const caller = household.callers.length < 3 ? await connect(household) : null;
    if (caller) await approve(household, caller);
  };

  const removeAgent: Act = async (household, caller) => {
    if (household.callers.length > 1) await remove(household, caller);
  };

  return { unapproved, addAgent, removeAgent };
};

/** All acts, each as often as it is likely. */
export const actsOf = (calls: Calls, agents: Agents): Act[] => {
  const { write, change, move, repeat, report, preview, withoutContact } = publishing(calls);
  const { list, search, readOwn, readMatches, reachForOthers, openPage } = reading(calls);
  const { unapproved, addAgent, removeAgent } = changing(calls, agents);
  const weights: [number, Act][] = [
    [12, write("offer")],
    [8, write("ask")],
    [7, change("offer")],
    [4, change("ask")],
    [6, move("offer", "archive", "republish")],
    [4, move("ask", "archive", "fulfill", "reopen")],
    [4, list("/v1/me")],
    [4, list("/v1/offers")],
    [4, list("/v1/asks")],
    [16, search],
    [6, readOwn],
    [5, readMatches],
    [6, reachForOthers],
    [5, repeat],
    [3, report],
    [2, preview],
    [2, withoutContact],
    [2, unapproved],
    [2, openPage],
    [1, addAgent],
    [1, removeAgent],
  ];
  return weights.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));
};
