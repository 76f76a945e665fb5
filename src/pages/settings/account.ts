import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { rootOf } from "../../base/address.ts";
import { problem } from "../../base/problem.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther } from "../frame.ts";
import { sendPage } from "../render.ts";
import { clearSession, personOf } from "../session.ts";
import { deleteAccount, exportAccount } from "./account_data.ts";
import { decidedOf, effectsOf } from "./kept.ts";
import { sectionPage } from "./section.ts";

/** The settings of the account as a whole: signing out, exporting its data, and deleting it. */

const PATH = "/settings/account";
const EXPORT = "/settings/export";
const DELETION = `${PATH}/delete`;
const DELETED = `${PATH}/deleted`;

const overviewPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: PATH,
    operation: "accountPage",
    template: "settings_account",
    show: async ({ account, token }) => ({
      sessions: (await account).sessions,
      exportToken: token(EXPORT),
      signOutToken: token("/sign-out"),
      everywhereToken: token("/sign-out/everywhere"),
    }),
  });

/** Sends the account's data as a file. It needs a POST although it changes nothing, because browsers prefetch links. */
const exportPage = ({ database, baseUrl }: PagesContext): Page => ({
  path: EXPORT,
  operation: "exportAccount",
  needsSignIn: true,
  get: (_request, response) => seeOther(response, rootOf(baseUrl()) + PATH),
  post: async (request, response) => {
    const { stale } = await readAnswer(request, response, baseUrl());
    if (stale) throw STALE_FORM;
    const person = personOf(request, baseUrl());
    const file = exportAccount(database, person);
    // A refusal comes with the first piece, before the response has started.
    const beginning = await file.next();
    response.set("Content-Disposition", 'attachment; filename="souk-export.json"').type("json");
    response.write(beginning.value);
    const rest = async function* (): AsyncGenerator<string> {
      try {
        yield* file;
      } catch (thrown) {
        response.locals["thrown"] = thrown;
        throw thrown;
      }
    };
    // From here a failure can only abort the download, which the browser shows. The person may also abort it.
    await pipeline(Readable.from(rest()), response).catch(() => {});
  },
});

const deletionPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: DELETION,
    below: PATH,
    operation: "accountDeletionPage",
    template: "settings_deletion",
    show: async ({ account }) => {
      const { kept_after_deletion: kept } = await account;
      return { kept, decided: decidedOf(kept), effects: kept && effectsOf(kept) };
    },
    actions: {
      delete: async (fields, person, _request, response) => {
        if (fields.get("confirmed") !== "yes") {
          throw problem("bad_request", "Nothing is deleted yet. Tick the box first, to say that you are sure.");
        }
        await deleteAccount(context.database, person, context.signIn.recordKey);
        clearSession(response, context.baseUrl());
        return DELETED;
      },
    },
  });

/** This page is the same for everyone, because the account no longer exists. */
const deletedPage = ({ baseUrl }: PagesContext): Page => ({
  path: DELETED,
  operation: "accountDeletedPage",
  get: (_request, response) => sendPage(response, "deleted", baseUrl(), {}),
});

/** Makes the pages for signing out, exporting the account's data, and deleting the account. */
export const accountPages = (context: PagesContext): Page[] => [
  overviewPage(context),
  exportPage(context),
  deletionPage(context),
  deletedPage(context),
];
