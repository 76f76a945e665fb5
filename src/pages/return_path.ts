/** Where a person may be led after signing in: pages of ours that need it, and nowhere else. */

/** A link's secret: 43 characters of base64url, or 64 of hex. */
const SECRET = "[A-Za-z0-9_-]{16,128}";

/**
 * Matched as it stands and never decoded: no dot, backslash, second slash at the start or escape passes, so that a
 * browser cannot read it as another path or another host.
 */
const ALLOWED = new RegExp(
  `^(?:/settings(?:/[A-Za-z0-9_-]+)*(?:\\?[A-Za-z0-9_=&%+-]*)?|/connect/${SECRET}|/verify/${SECRET})$`,
);

/** As long as frame.ts lets one become. */
const LENGTH = 500;

const DEFAULT_RETURN_PATH = "/settings";

/** The path if it is one of ours that a sign-in may lead to, else the settings. */
export const safeReturnPath = (path: unknown): string =>
  typeof path === "string" && path.length <= LENGTH && ALLOWED.test(path) ? path : DEFAULT_RETURN_PATH;
