/** Sending a person's browser back to the client. */

/** Where a browser is sent back to, as internal.way_back returns it. */
export type WayBack = { redirect_uri: string; state: string | null };

/**
 * Returns the address of the authorization response: the client's own address, with further parameters. `iss` says who
 * answers, so that a client of several servers cannot be made to mix them up (RFC 9207).
 */
export const responseUri = (
  baseUrl: string,
  { redirect_uri, state }: WayBack,
  answer: Record<string, string>,
): string => {
  const parameters = new URLSearchParams({ ...answer, ...(state === null ? {} : { state }), iss: baseUrl });
  // The client's address stays exactly as it was registered.
  return `${redirect_uri}${redirect_uri.includes("?") ? "&" : "?"}${parameters}`;
};

/** What a person reads about the place to which the browser is sent back. */
export type Place = { host: string; kind: "site" | "computer" | "app" };

/**
 * Returns the place that a redirect URI leads to: the host of a site, or a program or an app on the person's device. Of an
 * app it is the whole URI, because the app may be a browser, which goes on to whatever the URI names.
 */
export const placeOf = (redirectUri: string): Place => {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname)) return { host, kind: "computer" };
  return protocol === "https:" ? { host, kind: "site" } : { host: redirectUri, kind: "app" };
};
