import { parsePhoneNumberFromString } from "libphonenumber-js";
import { CONTACT_VISIBILITIES } from "../../base/enums.ts";
import type { PagesContext } from "../context.ts";
import type { Page } from "../frame.ts";
import { signInPath } from "../render.ts";
import { type Account, sectionPage } from "./section.ts";

/**
 * The page of a person's profile: the name that agents see, how the people who run this service may contact them, and who
 * sees the contact of new offers.
 */

const PATH = "/settings/profile";

const FIELDS = ["display_name", "contact_email", "contact_phone", "contact_visibility"] as const;
type Field = (typeof FIELDS)[number];
type Profile = Record<Field, string | null>;

const onOneLine = (text: string): string =>
  text
    .normalize("NFC")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();

/** Converts a phone number as people write it to E.164. Null when it is not a number, or its country is not clear. */
export const toE164 = (written: string): string | null => {
  const number = parsePhoneNumberFromString(written.replace(/^\s*00/, "+"), { extract: false });
  return number?.isValid() && !number.ext ? number.number : null;
};

/** Formats an E.164 number for people: +49 30 123456. */
export const shownPhone = (e164: string): string => parsePhoneNumberFromString(e164)?.formatInternational() ?? e164;

/** Sent to the database in place of an invalid number, so that it reports all invalid fields together. */
const INVALID_NUMBER = "no number";

/**
 * The typed profile in the form that the database takes: each field on one line, the number in E.164, empty as null.
 */
const readProfile = (fields: URLSearchParams): Profile => {
  const typed = (field: Field): string | null => onOneLine(fields.get(field) ?? "") || null;
  const phone = typed("contact_phone");
  return {
    display_name: typed("display_name"),
    contact_email: typed("contact_email"),
    contact_phone: phone === null ? null : (toE164(phone) ?? INVALID_NUMBER),
    contact_visibility: CONTACT_VISIBILITIES.find((one) => one === typed("contact_visibility")) ?? null,
  };
};

const valuesOf = (account: Account): Record<Field, string> => ({
  display_name: account.display_name ?? "",
  contact_email: account.contact_email ?? "",
  contact_phone: account.contact_phone === null ? "" : shownPhone(account.contact_phone),
  contact_visibility: account.contact_visibility ?? "",
});

/** Makes the page of the person's profile. */
export const profilePage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: PATH,
    operation: "profilePage",
    template: "settings_profile",
    keepsTyped: true,
    show: async ({ account, form }) => {
      const found = await account.catch(() => null);
      const stored = found && valuesOf(found);
      const { fields, errors } = form;
      return {
        values: Object.fromEntries(FIELDS.map((field) => [field, fields?.get(field) ?? stored?.[field] ?? ""])),
        errors: Object.fromEntries(
          FIELDS.map((field) => [field, errors.find(({ pointer }) => pointer === `/${field}`)?.detail ?? null]),
        ),
        signIn: found === null ? signInPath(context.baseUrl(), PATH) : null,
      };
    },
    actions: { save: { call: "update_profile", args: readProfile, done: "profile-saved" } },
  });
