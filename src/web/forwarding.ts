import type { IncomingHttpHeaders } from "node:http";
import type { Log } from "../base/log.ts";

/** Requests that a proxy passes on. */

/** Headers by which a proxy says that a request came from elsewhere. */
const FORWARDING_HEADERS = [
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "via",
] as const;

/** The first header of a request that says that a proxy has passed it on; undefined if there is none. */
export const forwardingHeader = (headers: IncomingHttpHeaders): string | undefined =>
  FORWARDING_HEADERS.find((name) => headers[name] !== undefined);

/**
 * Returns a function that looks at each request and warns once, if a proxy passes requests on and the process does not know
 * how it is reached.
 * @param unset the variables among BASE_URL and TRUST_PROXY that are not set
 */
export const warnOfProxy = (log: Log, unset: readonly string[]): ((headers: IncomingHttpHeaders) => void) => {
  let isWarned = unset.length === 0;
  return (headers) => {
    if (isWarned) return;
    const header = forwardingHeader(headers);
    if (header === undefined) return;
    isWarned = true;
    log.warn(
      { header, unset },
      `a proxy passes requests on, and ${unset.join(" and ")} ${unset.length === 1 ? "is" : "are"} not set: set BASE_URL to ` +
        "the address that people open, and TRUST_PROXY to the proxy's address. Until then links lead to this process, and " +
        "all callers share the limits of one address",
    );
  };
};
