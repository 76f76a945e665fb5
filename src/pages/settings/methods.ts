import type { SignInMethod } from "../../base/enums.ts";
import { problemOf } from "../../base/problem.ts";
import { visibleText } from "../../base/visible_text.ts";
import { isSignInMethod, nameOfMethod, titleOfMethod } from "../../sign_in/methods.ts";
import { providerOrigins } from "../../sign_in/sign_in.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { dayOf } from "./dates.ts";
import { decidedOf } from "./kept.ts";
import { type Account, sectionPage } from "./section.ts";

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
const listPage = (context: PagesContext): Page => ({
  ...sectionPage(context, {
    path: PATH,
    operation: "methodsPage",
    template: "settings_methods",
    show: async ({ account, token }) => {
      const { methods, available_methods, unavailable_methods, contact_email } = await account;
      const isMissing = (method: SignInMethod) => methods.every((proved) => proved.method !== method);
      return {
        methods: methods.map(toView),
        addable: available_methods.filter(isMissing).map((method) => ({ method, name: nameOfMethod(method) })),
        unavailable: unavailable_methods.filter(isMissing).map(titleOfMethod),
        email: contact_email ?? "",
        token: token("/sign-in"),
      };
    },
  }),
  formsLeadTo: () => providerOrigins(context.signIn),
});

/** The page that asks for confirmation before a method is removed, and warns when it is the last one. */
const removalPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: `${PATH}/:method`,
    below: PATH,
    operation: "methodRemovalPage",
    template: "settings_method_removal",
    show: async ({ request, account }) => {
      const { methods, kept_after_deletion: kept } = await account;
      const method = methods.find((proved) => proved.method === request.params["method"]);
      // The method was already removed, perhaps in another tab. The list shows which are left.
      if (method === undefined) return PATH;
      return { method: toView(method), isLast: methods.length === 1, decided: decidedOf(kept) };
    },
    actions: {
      remove: async (fields, person, request) => {
        const { method } = request.params;
        if (typeof method !== "string" || !isSignInMethod(method)) return PATH;
        const confirmed = fields.get("confirmed") === "yes";
        const { database, signIn } = context;
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

/** Makes the pages on which a person adds and removes sign-in methods. */
export const methodsPages = (context: PagesContext): Page[] => [listPage(context), removalPage(context)];
