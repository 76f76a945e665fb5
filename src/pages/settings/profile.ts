import { parsePhoneNumberFromString } from "libphonenumber-js";
import { problemOf } from "../../http/problem.ts";
import type { PagesContext } from "../context.ts";
import { giveFormToken } from "../forgery.ts";
import type { Page } from "../frame.ts";
import { signInPath } from "../render.ts";
import {
  type Account,
  askAs,
  doneOf,
  type FieldError,
  type FormState,
  type Section,
  sectionPage,
  sendSection,
} from "./section.ts";

/** What a person tells about themselves: what agents call them, and how people of this service may reach them. */

const PATH = "/settings/profile";

const FIELDS = ["display_name", "contact_email", "contact_phone"] as const;
type Field = (typeof FIELDS)[number];
type Profile = Record<Field, string | null>;

const onOneLine = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();

/** A phone number as people write it, in E.164; null when it is none, or its country cannot be told. */
export const toE164 = (written: string): string | null => {
  const number = parsePhoneNumberFromString(written.replace(/^\s*00/, "+"), { extract: false });
  return number?.isValid() && !number.ext ? number.number : null;
};

/** A number in E.164 as people read it: +49 30 123456. */
export const shownPhone = (e164: string): string => parsePhoneNumberFromString(e164)?.formatInternational() ?? e164;

/** Sent for what is no number, so that the database names it together with whatever else is wrong. */
const NO_NUMBER = "no number";

/** What was typed, as the database takes it: on one line, the number in E.164. What was left empty is null. */
const readProfile = (fields: URLSearchParams): Profile => {
  const typed = (field: Field): string | null => onOneLine(fields.get(field) ?? "") || null;
  const phone = typed("contact_phone");
  return {
    display_name: typed("display_name"),
    contact_email: typed("contact_email"),
    contact_phone: phone === null ? null : (toE164(phone) ?? NO_NUMBER),
  };
};

/** What stands above a form of which these fields have to be mended. */
const whatToMend = (errors: readonly FieldError[]): string =>
  `Nothing is saved yet. ${errors.length === 1 ? "One field needs" : `${errors.length} fields need`} another look.`;

const valuesOf = (account: Account): Record<Field, string> => ({
  display_name: account.display_name ?? "",
  contact_email: account.contact_email ?? "",
  contact_phone: account.contact_phone === null ? "" : shownPhone(account.contact_phone),
});

/** The page of the person's profile. */
export const profilePage = (context: PagesContext): Page => {
  const { database, baseUrl } = context;
  const ask = askAs(context);

  const section: Section = {
    path: PATH,
    operation: "profilePage",
    keepsTyped: true,
    show: async (request, response, form) => {
      const { fields } = form;
      const account = await ask<Account>(request, "get_account").catch((thrown: unknown) => {
        if (fields !== null && problemOf(thrown).code === "unauthorized") return null;
        throw thrown;
      });
      const kept = account === null ? null : valuesOf(account);
      const said: FormState =
        account === null
          ? { ...form, status: 401, alert: null }
          : { ...form, alert: form.errors.length > 0 ? whatToMend(form.errors) : form.alert };
      sendSection(
        response,
        baseUrl(),
        { template: "settings_profile", path: PATH, account, form: said, done: doneOf(request) },
        {
          values: Object.fromEntries(FIELDS.map((field) => [field, fields?.get(field) ?? kept?.[field] ?? ""])),
          errors: Object.fromEntries(
            FIELDS.map((field) => [field, form.errors.find(({ pointer }) => pointer === `/${field}`)?.detail ?? null]),
          ),
          signIn: account === null ? signInPath(baseUrl(), PATH) : null,
          token: giveFormToken(request, response, baseUrl(), PATH),
        },
      );
    },
    actions: {
      save: async (fields, person) => {
        await database.call(person, "update_profile", readProfile(fields));
        return `${PATH}?done=profile-saved`;
      },
    },
  };
  return sectionPage(context, section);
};
