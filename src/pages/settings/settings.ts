import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { accountPages } from "./account.ts";
import { activityPage } from "./activity.ts";
import { agentsPage } from "./agents.ts";
import { marketPage } from "./market.ts";
import { methodsPages } from "./methods.ts";
import { profilePage } from "./profile.ts";

/** Makes the settings of a signed-in person, with a page for each section. */
export const settingsPages = (context: PagesContext): Page[] => [
  agentsPage(context),
  marketPage(context),
  activityPage(context),
  profilePage(context),
  ...methodsPages(context),
  ...accountPages(context),
];
