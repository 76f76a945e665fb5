import type { Router } from "express";
import type { Database } from "../database/database.ts";
import type { SignIn } from "../sign_in/sign_in.ts";
import { aboutPages } from "./about.ts";
import { connectPages } from "./connect.ts";
import { servePages } from "./frame.ts";
import { moderatorPages } from "./moderator.ts";
import { settingsPages } from "./settings/settings.ts";
import { signInPages } from "./sign_in/pages.ts";
import { verifyPages } from "./verify.ts";

/** What the pages need of the process around them. `baseUrl` is asked late: a free port is known once it is listened on. */
export type PagesContext = { database: Database; baseUrl: () => string; signIn: SignIn };

/** The pages of the service, and their stylesheet: what people see in a browser. */
export const pages = (context: PagesContext): Router =>
  servePages(
    [
      ...aboutPages(context),
      ...connectPages(context),
      ...signInPages(context),
      ...verifyPages(context),
      ...settingsPages(context),
      ...moderatorPages(context),
    ],
    context.baseUrl,
  );
