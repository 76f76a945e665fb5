import type { Request } from "express";
import { rootOf } from "../../base/address.ts";
import { isId } from "../../base/ids.ts";
import { problem } from "../../base/problem.ts";
import type { PagesContext } from "../context.ts";
import { type Power, powersIn, shownPowers } from "../deals/powers.ts";
import { type Page, seeOther } from "../frame.ts";
import { readAgents } from "./agents.ts";
import { sectionPage } from "./section.ts";

/** The page on which a person says what an agent may do alone. A change counts for the agent's next call. */

const AGENTS = "/settings/agents";

const idOf = ({ params }: Request): string => {
  if (!isId(params["id"])) throw problem("not_found", "You have no such agent.");
  return params["id"];
};

/** Makes the page of an agent's powers, and the address to which refusals send people. */
export const powersPages = (context: PagesContext): Page[] => [
  {
    path: AGENTS,
    operation: "agentsAddress",
    get: (_request, response) => seeOther(response, `${rootOf(context.baseUrl())}/settings`),
  },
  sectionPage(context, {
    path: `${AGENTS}/:id`,
    below: "/settings",
    operation: "powersPage",
    template: "settings_powers",
    show: async ({ request, ask, form }) => {
      const id = idOf(request);
      const [{ acting }, { powers }] = await Promise.all([
        readAgents(ask),
        ask<{ powers: Power[] }>("get_powers", { agent_id: id }),
      ]);
      const agent = acting.find((one) => one.id === id);
      // It was removed, perhaps in another tab. The list shows which are left.
      if (agent === undefined) return "/settings";
      return { agent, powers: shownPowers(form.fields, powers, form.errors[0]?.detail ?? null) };
    },
    actions: {
      save: {
        call: "set_powers",
        args: (fields, request) => ({ agent_id: idOf(request), powers: powersIn(fields) }),
        done: "powers-saved",
      },
    },
    backTo: (request, done) => `${AGENTS}/${idOf(request)}?done=${done}`,
  }),
];
