import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { callbackPages } from "./callback.ts";
import { choicePages } from "./choose.ts";
import { mailPages } from "./mail.ts";
import { signOutPages } from "./sign_out.ts";

/** Makes the pages for signing in and out. */
export const signInPages = (context: PagesContext): Page[] => [
  ...choicePages(context),
  ...mailPages(context),
  ...callbackPages(context),
  ...signOutPages(context),
];
