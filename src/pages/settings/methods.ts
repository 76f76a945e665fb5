import type { Request, Response } from "express";
import type { SignInMethod } from "../../base/enums.ts";
import { problemOf } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import { isSignInMethod, nameOfMethod, titleOfMethod } from "../../sign_in/methods.ts";
import { providerOrigins } from "../../sign_in/sign_in.ts";
import { giveFormToken } from "../../web/csrf.ts";
import type { PagesContext } from "../context.ts";
import { type Page, seeOther } from "../frame.ts";
import { rootOf } from "../render.ts";
import { dayOf } from "./dates.ts";
import { decidedOf } from "./kept.ts";
import { type Account, askAs, doneOf, type FormState, sectionPage, sendSection } from "./section.ts";

/** The pages of an account's sign-in methods: the list, adding one, and removing one. */

const PATH = "/settings/methods";

/** The longest e-mail address that mail can be sent to (RFC 5321). */
const EMAIL_LENGTH = 254;

const toView = ({ method, email, proved_at }: Account["methods"][number]) => ({
  method,
  name: nameOfMethod(method),
  title: titleOfMethod(method),
  email: email === null ? null : visibleText(email, EMAIL_LENGTH),
  proved: dayOf(proved_at),
});

/** The list of methods. Its form for adding one goes to the sign-in page, which proves the method for this account. */
const listPage = (context: PagesContext): Page => {
  const { baseUrl } = context;
  const ask = askAs(context);
  const page = sectionPage(context, {
    path: PATH,
    operation: "methodsPage",
    show: async (request, response, form) => {
      const account = await ask<Account>(request, "get_account");
      const isProved = (method: SignInMethod) => account.methods.some((proved) => proved.method === method);
      sendSection(
        response,
        baseUrl(),
        { template: "settings_methods", path: PATH, account, form, done: doneOf(request) },
        {
          methods: account.methods.map(toView),
          addable: account.available_methods
            .filter((method) => !isProved(method))
            .map((method) => ({ method, name: nameOfMethod(method) })),
          unavailable: account.unavailable_methods.filter((method) => !isProved(method)).map(titleOfMethod),
          email: account.contact_email ?? "",
          token: giveFormToken(request, response, baseUrl(), "/sign-in"),
        },
      );
    },
    actions: {},
  });
  return { ...page, formsLeadTo: () => providerOrigins(context.signIn) };
};

/** The page that asks for confirmation before a method is removed, and warns when it is the last one. */
const removalPage = (context: PagesContext): Page => {
  const { database, baseUrl, signIn } = context;
  const ask = askAs(context);

  const show = async (request: Request, response: Response, form: FormState): Promise<void> => {
    const account = await ask<Account>(request, "get_account");
    const method = account.methods.find((proved) => proved.method === request.params["method"]);
    // The method was already removed, perhaps in another tab. The list shows which are left.
    if (method === undefined) return seeOther(response, rootOf(baseUrl()) + PATH);
    sendSection(
      response,
      baseUrl(),
      { template: "settings_method_removal", path: PATH, account, form, done: null },
      {
        method: toView(method),
        isLast: account.methods.length === 1,
        decided: decidedOf(account.kept_after_deletion),
        token: giveFormToken(request, response, baseUrl(), request.path),
      },
    );
  };

  return sectionPage(context, {
    path: `${PATH}/:method`,
    operation: "methodRemovalPage",
    show,
    actions: {
      remove: async (fields, person, request) => {
        const { method } = request.params;
        if (typeof method !== "string" || !isSignInMethod(method)) return PATH;
        const confirmed = fields.get("confirmed") === "yes";
        try {
          await database.call(person, "remove_method", { method, confirmed, record_key: signIn.recordKey });
        } catch (thrown) {
          // Another tab has just removed the method. That is the result wanted here.
          if (problemOf(thrown).code !== "not_found") throw thrown;
        }
        return `${PATH}?done=method-removed`;
      },
    },
  });
};

/** Makes the pages on which a person adds and removes sign-in methods. */
export const methodsPages = (context: PagesContext): Page[] => [listPage(context), removalPage(context)];
