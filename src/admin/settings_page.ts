import type { Request, Response } from "express";
import { type Problem, problem } from "../base/problem.ts";
import type { Page } from "../pages/frame.ts";
import { formOf, formPage, type PageContext, type Viewer } from "./page_context.ts";
import { renderAdmin } from "./render.ts";

/** The page of the market's settings, with the moderator who last changed each, and the list of moderators. */

type Setting = { name: string; value: unknown };

/** Reads a setting from a form: a boolean or an integer. @throws Problem when it is neither */
const settingOf = (typed: string): boolean | number => {
  if (typed === "true" || typed === "false") return typed === "true";
  const number = Number(typed);
  if (typed.trim() === "" || !Number.isInteger(number)) throw problem("bad_request", "This setting is a whole number.");
  return number;
};

/** Makes the page of the market's settings. */
export const settingsPages = (context: PageContext): Page[] => {
  const show = async (request: Request, response: Response, refused?: Problem): Promise<string> => {
    const { viewer, settings, moderators } = await context.ask<
      Viewer & { settings: { nodes: Setting[] }; moderators: { nodes: object[] } }
    >(request, "settings");
    const frame = context.frame(request, viewer, "settings", {
      notice: request.query["done"] === "1" ? { text: "Changed. It holds from now on." } : undefined,
      fault: refused?.detail,
    });
    return renderAdmin("settings", frame, {
      settings: settings.nodes,
      moderators: moderators.nodes,
      token: context.token(request, response),
    });
  };

  const act = async (request: Request, response: Response): Promise<string> => {
    const fields = await formOf(context, request, response);
    await context.ask(request, "changeSetting", {
      name: fields.get("name") ?? "",
      value: settingOf(fields.get("value") ?? ""),
      expected: settingOf(fields.get("expected") ?? ""),
    });
    return context.path("/settings?done=1");
  };

  return [{ path: "/admin/settings", operation: "adminSettings", ...formPage(show, act) }];
};
