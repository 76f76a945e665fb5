import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { problem } from "../../http/problem.ts";
import type { PagesContext } from "../context.ts";
import { giveFormToken } from "../forgery.ts";
import { type Page, readAnswer, STALE_FORM, seeOther } from "../frame.ts";
import { renderPage, rootOf } from "../render.ts";
import { clearSession, personOf } from "../session.ts";
import { deleteAccount, exportAccount } from "./account_data.ts";
import { type Account, askAs, doneOf, sectionPage, sendSection } from "./section.ts";

/** The account as a whole: signing out, taking everything along, and deleting it. */

const PATH = "/settings/account";
const EXPORT = "/settings/export";
const DELETION = `${PATH}/delete`;
const DELETED = `${PATH}/deleted`;

const overviewPage = (context: PagesContext): Page => {
  const { baseUrl } = context;
  const ask = askAs(context);
  return sectionPage(context, {
    path: PATH,
    operation: "accountPage",
    show: async (request, response, form) => {
      const account = await ask<Account>(request, "get_account");
      const token = (path: string) => giveFormToken(request, response, baseUrl(), path);
      sendSection(
        response,
        baseUrl(),
        { template: "settings_account", path: PATH, account, form, done: doneOf(request) },
        {
          sessions: account.sessions,
          exportToken: token(EXPORT),
          signOutToken: token("/sign-out"),
          everywhereToken: token("/sign-out/everywhere"),
        },
      );
    },
    actions: {},
  });
};

/** Everything about the account as a file. It changes nothing, and is a form all the same: a link could be prefetched. */
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
    // Whatever refuses it does so before the file has begun.
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
    // What fails now can only break the download off, which the browser tells; so it does when the person stops it.
    await pipeline(Readable.from(rest()), response).catch(() => {});
  },
});

const deletionPage = (context: PagesContext): Page => {
  const { database, baseUrl } = context;
  const ask = askAs(context);
  return sectionPage(context, {
    path: DELETION,
    operation: "accountDeletionPage",
    show: async (request, response, form) => {
      const account = await ask<Account>(request, "get_account");
      sendSection(
        response,
        baseUrl(),
        { template: "settings_deletion", path: PATH, account, form, done: null },
        { token: giveFormToken(request, response, baseUrl(), DELETION) },
      );
    },
    actions: {
      delete: async (fields, person, _request, response) => {
        if (fields.get("confirmed") !== "yes") {
          throw problem("bad_request", "Nothing is deleted yet. Tick the box first, to say that you are sure.");
        }
        await deleteAccount(database, person);
        clearSession(response, baseUrl());
        return DELETED;
      },
    },
  });
};

/** The same for everyone: there is no account left to show anything of. */
const deletedPage = ({ baseUrl }: PagesContext): Page => ({
  path: DELETED,
  operation: "accountDeletedPage",
  get: (_request, response) => {
    response.type("html").send(renderPage("deleted", baseUrl(), {}));
  },
});

/** The pages of the account as a whole: taking its data along, and deleting it. */
export const accountPages = (context: PagesContext): Page[] => [
  overviewPage(context),
  exportPage(context),
  deletionPage(context),
  deletedPage(context),
];
