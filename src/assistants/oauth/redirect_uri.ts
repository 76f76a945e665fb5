import { text } from "../../api/schemas/values.ts";

/**
 * A redirect URI that a browser can open. Where it may lead is decided by internal.redirect_uri_fault. That a URI has this
 * form says nothing about ports and numeric hosts, so a URI that cannot be parsed would break the page of the person.
 */
export const redirectUri = () =>
  text()
    .max(2_000)
    .refine((uri) => URL.canParse(uri), { message: "A redirect URI is one that a browser can open." });
