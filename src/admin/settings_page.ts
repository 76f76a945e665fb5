import type { Request, Response } from "express";
import type { Problem } from "../base/problem.ts";
import type { Page } from "../pages/frame.ts";
import { formOf, formPage, type PageContext, type Shown } from "./page_context.ts";

/** Makes the page of the market's settings, with the moderator who last changed each, and the list of moderators. */
export const settingsPages = (context: PageContext): Page[] => {
  const show = async (request: Request, response: Response, refused?: Problem): Promise<string> =>
    context.render(request, "settings", {
      ...(JSON.parse(await context.call(request, "show_settings")) as Shown),
      notice: request.query["done"] === "1" ? { text: "Changed. It holds from now on." } : undefined,
      fault: refused?.detail,
      token: context.token(request, response),
    });

  const act = async (request: Request, response: Response): Promise<string> => {
    const fields = await formOf(context, request, response);
    await context.call(request, "change_setting", {
      name: fields.get("name"),
      // JSON: true, false or a number.
      value: fields.get("value"),
      expected_value: fields.get("expected"),
    });
    return context.path("/settings?done=1");
  };

  return [{ path: "/admin/settings", operation: "adminSettings", ...formPage(show, act) }];
};
