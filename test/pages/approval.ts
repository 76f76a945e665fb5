import { type Script, type Site, servePages, type Teardown } from "./site.ts";

/**
 * Opens and answers the approval page over HTTP, as a browser does.
 *
 *   opened   an approval page that was fetched: its site, the browser's CSRF cookie and the token in the form
 */

/** The secret of the link in these tests. */
export const SECRET = "lZq4eJ9mX2v7Yw0bTnKcRsUdGfHiPaQo1E3r5t8u6yA";
/** The path of the approval page in these tests. */
export const PATH = `/connect/${SECRET}`;

/** An opened approval page: its site, the CSRF cookie and the form token. */
export type Opened = { site: Site; cookie: string; token: string };

/** Serves the pages and opens the approval page. Clears the recorded calls afterwards. */
export const open = async (t: Teardown, script: Script = {}, baseUrl?: string): Promise<Opened> => {
  const site = await servePages(t, script, baseUrl);
  const answer = await fetch(site.url + PATH);
  const token = /name="token" value="([^"]+)"/.exec(await answer.text())?.[1] ?? "";
  const cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  site.calls.length = 0;
  return { site, cookie, token };
};

/** Sends the form of the approval page as a browser does. A header whose value is null is not sent. */
export const decide = (
  { site, cookie, token }: Opened,
  fields: Record<string, string> = {},
  headers: Record<string, string | null> = {},
): Promise<Response> => {
  const sent: Record<string, string | null> = {
    Cookie: cookie,
    Origin: site.url,
    "Sec-Fetch-Site": "same-origin",
    ...headers,
  };
  return fetch(site.url + PATH, {
    method: "POST",
    body: new URLSearchParams({ ...("decision" in fields ? {} : { code: "BCDF-GHJK" }), token, ...fields }),
    headers: Object.entries(sent).filter((header): header is [string, string] => header[1] !== null),
  });
};

/** The names of the database functions that a site has called, in order. */
export const names = (site: Site): string[] => site.calls.map(({ name }) => name);
