import type { Request, Response } from "express";
import { type Refusal, refuse } from "../http/problem.ts";
import type { Page } from "../pages/frame.ts";
import { type Desk, formOf, formPage, type Viewer } from "./page_context.ts";
import { renderAdmin } from "./render.ts";

/** The market's switches and numbers, with who changed them, and the moderators. */

type Setting = { name: string; value: unknown };

/** A value as a form sends it. @throws Refusal */
const settingOf = (typed: string): boolean | number => {
  if (typed === "true" || typed === "false") return typed === "true";
  const number = Number(typed);
  if (typed.trim() === "" || !Number.isInteger(number)) throw refuse("bad_request", "This setting is a whole number.");
  return number;
};

export const settingsPages = (desk: Desk): Page[] => {
  const show = async (request: Request, response: Response, refused?: Refusal): Promise<string> => {
    const { viewer, settings, moderators } = await desk.ask<
      Viewer & { settings: { nodes: Setting[] }; moderators: { nodes: object[] } }
    >(request, "settings");
    const frame = desk.frame(viewer, "settings", {
      notice: request.query["done"] === "1" ? { text: "Changed. It holds from now on." } : undefined,
      fault: refused?.detail,
    });
    return renderAdmin("settings", frame, {
      settings: settings.nodes,
      moderators: moderators.nodes,
      token: desk.token(request, response),
    });
  };

  const act = async (request: Request, response: Response): Promise<string> => {
    const fields = await formOf(desk, request, response);
    await desk.ask(request, "changeSetting", {
      name: fields.get("name") ?? "",
      value: settingOf(fields.get("value") ?? ""),
      expected: settingOf(fields.get("expected") ?? ""),
    });
    return desk.path("/settings?done=1");
  };

  return [{ path: "/admin/settings", operation: "adminSettings", ...formPage(show, act) }];
};
