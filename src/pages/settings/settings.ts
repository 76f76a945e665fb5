import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { accountPages } from "./account.ts";
import { activityPage } from "./activity.ts";
import { agentsPage } from "./agents.ts";
import { alertsPage } from "./alerts.ts";
import { marketPage } from "./market.ts";
import { methodsPages } from "./methods.ts";
import { profilePage } from "./profile.ts";
import { webhooksPage } from "./webhooks.ts";

/** Makes the settings of a signed-in person, with a page for each section. */
export const settingsPages = (context: PagesContext): Page[] => [
  agentsPage(context),
  marketPage(context),
  alertsPage(context),
  activityPage(context),
  webhooksPage(context),
  profilePage(context),
  ...methodsPages(context),
  ...accountPages(context),
];
