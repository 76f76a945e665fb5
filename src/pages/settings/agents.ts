import type { Request } from "express";
import { isId } from "../../base/ids.ts";
import { problem } from "../../base/problem.ts";
import { visibleName } from "../../base/visible_text.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf, monthOf } from "./dates.ts";
import type { Done } from "./done.ts";
import { type Account, askAs, doneOf, type Section, sectionPage, sendSection } from "./section.ts";

/** The page of a person's agents: what each did, and buttons to remove it or approve it again. */

const PATH = "/settings";

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
export type AgentView = ReturnType<typeof toView>;

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
export const readAgents = async (context: PagesContext, request: Request): Promise<Agents> => {
  const { agents } = await askAs(context)<{ agents: Agent[] }>(request, "list_agents");
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

/** Makes the page on which a person sees, approves again, and removes agents. */
export const agentsPage = (context: PagesContext): Page => {
  const { database, baseUrl } = context;
  const ask = askAs(context);

  /** An action on the agent that the form names. */
  const actOn =
    (name: "approve_agent" | "remove_agent", done: Done): Section["actions"][string] =>
    async (fields, person) => {
      const agent = fields.get("agent");
      if (!isId(agent)) throw problem("not_found", "You have no such agent.");
      await database.call(person, name, { agent_id: agent });
      return `${PATH}?done=${done}`;
    };

  const section: Section = {
    path: PATH,
    operation: "agentsPage",
    show: async (request, response, form) => {
      const [account, agents] = await Promise.all([ask<Account>(request, "get_account"), readAgents(context, request)]);
      sendSection(
        response,
        baseUrl(),
        { template: "settings_agents", path: PATH, account, form, done: doneOf(request) },
        {
          ...agents,
          api: `${baseUrl()}/v1`,
          token: giveFormToken(request, response, baseUrl(), PATH),
        },
      );
    },
    actions: {
      approve: actOn("approve_agent", "agent-approved"),
      remove: actOn("remove_agent", "agent-removed"),
    },
  };
  return sectionPage(context, section);
};
