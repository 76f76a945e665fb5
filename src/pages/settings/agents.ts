import { isId } from "../../base/ids.ts";
import { visibleName } from "../../base/visible_text.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { readWaiting } from "./conversations.ts";
import { dayOf, monthOf } from "./dates.ts";
import { type Ask, idIn, sectionPage } from "./section.ts";

/** The page of a person's agents: what each did, and buttons to remove it or approve it again. */

/** An agent of an account, as api.list_agents returns it. */
type Agent = {
  id: string;
  name: string;
  /** Null while the agent waits to be approved again, and for one that was never approved. */
  connected_at: string | null;
  disconnected_at: string | null;
  /** YYYY-MM */
  last_active: string | null;
  offers: number;
  asks: number;
  removed_at: string | null;
};

const countInWords = (count: number, one: string, many: string): string | null =>
  count === 0 ? null : `${count} ${count === 1 ? one : many}`;

/** The numbers of an agent's offers and asks, of any status, in words: "2 offers, 1 ask"; null when there are none. */
export const whatItDid = ({ offers, asks }: Pick<Agent, "offers" | "asks">): string | null => {
  const did = [countInWords(offers, "offer", "offers"), countInWords(asks, "ask", "asks")];
  return did.filter((part) => part !== null).join(", ") || null;
};

const toView = (agent: Agent) => ({
  id: agent.id,
  name: visibleName(agent.name),
  connected: agent.connected_at === null ? null : dayOf(agent.connected_at),
  disconnected: agent.disconnected_at === null ? null : dayOf(agent.disconnected_at),
  active: agent.last_active === null ? null : monthOf(agent.last_active),
  did: whatItDid(agent),
  removed: agent.removed_at === null ? null : dayOf(agent.removed_at),
});

/** An agent as pages show it. */
type AgentView = ReturnType<typeof toView>;

/** An account's agents, as pages list them. */
export type Agents = {
  /** They act for the account. */
  acting: AgentView[];
  /** They wait to be approved again after the account was recovered. */
  waiting: AgentView[];
  /** Nobody has approved them: the person proved a sign-in method at a link of theirs. */
  unapproved: AgentView[];
  removed: AgentView[];
};

/** Reads the agents of the person at this browser. */
export const readAgents = async (ask: Ask): Promise<Agents> => {
  const { agents } = await ask<{ agents: Agent[] }>("list_agents");
  const views = agents.map(toView);
  const remaining = views.filter(({ removed }) => removed === null);
  return {
    acting: remaining.filter(({ connected }) => connected !== null),
    unapproved: remaining.filter(({ connected, disconnected }) => connected === null && disconnected === null),
    waiting: remaining.filter(({ disconnected }) => disconnected !== null),
    removed: views.filter(({ removed }) => removed !== null),
  };
};

/** The agents that a person checked in templates/agents_choice.eta; null when the form listed none. */
export const chosenAgents = (fields: URLSearchParams): string[] | null =>
  fields.has("listed") ? fields.getAll("agent").filter(isId) : null;

const ofAgent = (fields: URLSearchParams) => ({ agent_id: idIn(fields, "agent", "agent") });

/** The page on which a person sees, approves again, and removes agents. */
export const agentsPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: "/settings",
    operation: "agentsPage",
    template: "settings_agents",
    show: async ({ ask }) => {
      const [agents, waiting] = await Promise.all([readAgents(ask), readWaiting(ask)]);
      return { ...agents, waitingForPerson: waiting, api: `${context.baseUrl()}/v1` };
    },
    actions: {
      approve: { call: "approve_agent", args: ofAgent, done: "agent-approved" },
      remove: { call: "remove_agent", args: ofAgent, done: "agent-removed" },
    },
  });
