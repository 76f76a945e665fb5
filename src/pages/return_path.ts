import { isId } from "../base/ids.ts";

/**
 * The paths to which a person may be redirected after signing in: our pages that need a sign-in or show more after one,
 * and no others. They do not have the path of the base URL before them.
 */

/** A link's secret: 43 characters of base64url, or 64 of hex. */
const SECRET = "[A-Za-z0-9_-]{16,128}";

/**
 * The path is matched without decoding it. No dot, no backslash, no second slash at the start and, except in a query
 * string, no percent escape matches, so that a browser cannot read the path as another path or another host.
 */
const ALLOWED = new RegExp(
  `^(?:/(?:settings|admin)(?:/[A-Za-z0-9_-]+)*(?:\\?[A-Za-z0-9_=&%+-]*)?|/connect/${SECRET}|/verify/${SECRET})$`,
);

/** Before an id: of an offer, whose page shows the contact only to a person with a session, and of a confirmation. */
const OF_IDS = ["/offers/", "/confirmations/"] as const;

const isAllowed = (path: string): boolean =>
  ALLOWED.test(path) || OF_IDS.some((start) => path.startsWith(start) && isId(path.slice(start.length)));

/** The limit in src/pages/frame.ts (RETURN_LENGTH). */
const LENGTH = 500;

const DEFAULT_RETURN_PATH = "/settings";

/** Returns the path if a person may be redirected there after signing in, else the path of the settings. */
export const safeReturnPath = (path: unknown): string =>
  typeof path === "string" && path.length <= LENGTH && isAllowed(path) ? path : DEFAULT_RETURN_PATH;
