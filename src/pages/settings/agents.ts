import { isId } from "../../http/ids.ts";
import { problem } from "../../http/problem.ts";
import { visibleName } from "../../http/visible_text.ts";
import type { PagesContext } from "../context.ts";
import { giveFormToken } from "../forgery.ts";
import type { Page } from "../frame.ts";
import { dayOf, monthOf } from "./dates.ts";
import { type Account, askAs, doneOf, type Section, sectionPage, sendSection } from "./section.ts";

/** The page of the agents that act for a person: what each did, and the button that removes it. */

const PATH = "/settings";

type Agent = {
  id: string;
  name: string;
  connected_at: string;
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
  connected: dayOf(agent.connected_at),
  active: agent.last_active === null ? null : monthOf(agent.last_active),
  did: whatItDid(agent),
  removed: agent.removed_at === null ? null : dayOf(agent.removed_at),
});

/** Makes the page on which a person sees and removes agents. */
export const agentsPage = (context: PagesContext): Page => {
  const { database, baseUrl } = context;
  const ask = askAs(context);

  const section: Section = {
    path: PATH,
    operation: "agentsPage",
    show: async (request, response, form) => {
      const [account, { agents }] = await Promise.all([
        ask<Account>(request, "get_account"),
        ask<{ agents: Agent[] }>(request, "list_agents"),
      ]);
      sendSection(
        response,
        baseUrl(),
        { template: "settings_agents", path: PATH, account, form, done: doneOf(request) },
        {
          agents: agents.filter(({ removed_at }) => removed_at === null).map(toView),
          removed: agents.filter(({ removed_at }) => removed_at !== null).map(toView),
          api: `${baseUrl()}/v1`,
          token: giveFormToken(request, response, baseUrl(), PATH),
        },
      );
    },
    actions: {
      remove: async (fields, person) => {
        const agent = fields.get("agent");
        if (!isId(agent)) throw problem("not_found", "You have no such agent.");
        await database.call(person, "remove_agent", { agent_id: agent });
        return `${PATH}?done=agent-removed`;
      },
    },
  };
  return sectionPage(context, section);
};
