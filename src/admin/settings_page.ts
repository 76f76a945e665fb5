import type { AdminPage, Shown } from "./page_context.ts";

/** The page of the market's settings, with the moderator who last changed each, and the list of moderators. */
export const settingsPage: AdminPage = {
  path: "/admin/settings",
  operation: "adminSettings",
  template: "settings",
  show: async ({ request, ask }) => ({
    ...(await ask<Shown>("show_settings")),
    notice: request.query["done"] === "1" ? { text: "Changed. It holds from now on." } : undefined,
  }),
  act: async ({ call }, fields) => {
    await call("change_setting", {
      name: fields.get("name"),
      // JSON: true, false, a number or a word.
      value: fields.get("value"),
      expected_value: fields.get("expected"),
    });
    return "/settings?done=1";
  },
};
