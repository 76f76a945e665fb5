import { request } from "node:http";
import test from "ava";
import { decide, names, open, PATH, SECRET } from "./approval.ts";
import { REQUEST_ID, type Site, servePages } from "./site.ts";

/** What guards the pages over HTTP, and how they are kept: headers, methods, senders, bodies. */

const CSP = "default-src 'none';style-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'";

test("the approval page is there for one person at one moment, and for no one else's frame, cache or index", async (t) => {
  const site = await servePages(t);
  const answer = await fetch(site.url + PATH);
  t.is(answer.status, 200);
  const headers = Object.fromEntries(answer.headers);
  t.like(headers, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": CSP,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
  });
  t.is(headers["strict-transport-security"], undefined, "plain HTTP");
});

for (const path of ["/", "/errors", "/assets/souk.css", PATH]) {
  test(`every answer at ${path.replace(SECRET, ":secret")} is guarded`, async (t) => {
    const site = await servePages(t);
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const { headers } = await fetch(site.url + path, { method });
      t.is(headers.get("content-security-policy"), CSP, method);
      t.is(headers.get("x-robots-tag"), "noindex", method);
      t.is(headers.get("referrer-policy"), "no-referrer", method);
    }
  });
}

test("other paths are left to others", async (t) => {
  const site = await servePages(t);
  for (const path of ["/connect", "/connect/", `${PATH}/`, `${PATH}/more`, "/Errors", "/errors/", "/assets/", "/v1"]) {
    const answer = await fetch(site.url + path);
    t.is(await answer.text(), "not a page", path);
    t.is(answer.headers.get("content-security-policy"), null, path);
  }
});

test("another method is a Problem that names the methods there are", async (t) => {
  const site = await servePages(t);
  const answer = await fetch(site.url + PATH, { method: "DELETE" });
  t.is(answer.status, 405);
  t.is(answer.headers.get("allow"), "GET, HEAD, POST");
  t.like(await answer.json(), { code: "method_not_allowed", status: 405, request_id: REQUEST_ID });
});

for (const [title, fields, headers] of [
  ["without a token", { token: "" }, {}],
  ["with a token of the right length", { token: "A".repeat(43) }, {}],
  ["without the cookie", {}, { Cookie: null }],
  ["with another browser's cookie", {}, { Cookie: `souk_csrf=${"A".repeat(43)}` }],
  ["with neither answer", { decision: "maybe" }, {}],
  ["with no answer", { decision: "" }, {}],
  ["from another site", {}, { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }],
  ["from another origin of this site", {}, { "Sec-Fetch-Site": "same-site" }],
  [
    "from another origin, in a browser that does not say which site",
    {},
    { Origin: "https://evil.example", "Sec-Fetch-Site": null },
  ],
  ["from another origin that claims to be this one", {}, { Origin: "https://evil.example" }],
  ["from nowhere that can be named", {}, { Origin: "null", "Sec-Fetch-Site": "cross-site" }],
  [
    "from a frame without an origin, in a browser that does not say which site",
    {},
    { Origin: "null", "Sec-Fetch-Site": null },
  ],
  ["from another site, without its origin", {}, { Origin: null, "Sec-Fetch-Site": "cross-site" }],
  ["without an origin, not from a page", {}, { Origin: null, "Sec-Fetch-Site": "none" }],
  ["that says nothing of where it comes from", {}, { Origin: null, "Sec-Fetch-Site": null }],
  ["with the token of an agent", {}, { Authorization: `Bearer agt_${"0".repeat(49)}` }],
  ["with any other authorization", {}, { Authorization: "Basic YTpi" }],
] as const) {
  test(`an answer ${title} changes nothing`, async (t) => {
    const opened = await open(t);
    const answer = await decide(opened, fields, headers);
    t.is(answer.status, 400);
    t.is(answer.headers.get("content-type"), "text/html; charset=utf-8");
    t.is(answer.headers.get("cache-control"), "no-store");
    t.deepEqual(answer.headers.getSetCookie(), []);
    t.true((await answer.text()).includes(`href="${opened.site.url}${PATH}"`), "the link can be opened again");
    const problem = await decide(opened, fields, { ...headers, Accept: "application/json" });
    t.is(problem.status, 400);
    t.like(await problem.json(), { code: "bad_request", status: 400 });
    t.deepEqual(opened.site.calls, []);
  });
}

test("a token counts for its own link only", async (t) => {
  const { site, cookie, token } = await open(t);
  const answer = await fetch(`${site.url}/connect/other`, {
    method: "POST",
    headers: { Cookie: cookie, Origin: site.url },
    body: new URLSearchParams({ decision: "approve", token }),
  });
  t.is(answer.status, 400);
  t.deepEqual(site.calls, []);
});

for (const [title, headers] of [
  ["that does not say which site", { "Sec-Fetch-Site": null }],
  ["that hides the origin from everyone", { Origin: null }],
  ["that hides the origin behind null", { Origin: "null" }],
  ["in which a person reloads", { "Sec-Fetch-Site": "none" }],
] as const) {
  test(`a person can answer in a browser ${title}`, async (t) => {
    const opened = await open(t);
    t.is((await decide(opened, {}, headers)).status, 200);
    t.deepEqual(names(opened.site), ["approve_connection"]);
  });
}

for (const [type, body] of [
  ["application/json", '{"decision":"approve"}'],
  ["multipart/form-data; boundary=x", "--x--"],
  ["text/plain", "decision=approve"],
] as const) {
  test(`a body of ${type} is no form`, async (t) => {
    const { site, cookie } = await open(t);
    const answer = await fetch(site.url + PATH, {
      method: "POST",
      headers: { Cookie: cookie, Origin: site.url, "Content-Type": type, Accept: "application/json" },
      body,
    });
    t.is(answer.status, 415);
    t.like(await answer.json(), { code: "unsupported_media_type" });
    t.deepEqual(site.calls, []);
  });
}

/** Sends the head of a form and some of its body, and gives the status before the body has ended. */
const statusBeforeTheEnd = (site: Site, headers: Record<string, string>, body: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sending = request(site.url + PATH, {
      method: "POST",
      headers: { Origin: site.url, "Content-Type": "application/x-www-form-urlencoded", ...headers },
    });
    sending.once("response", (answer) => {
      resolve(answer.statusCode);
      sending.destroy();
    });
    sending.once("error", reject);
    sending.write(body);
  });

test("a body that is too large is refused at once, whether or not it says so", async (t) => {
  const { site } = await open(t);
  t.is(await statusBeforeTheEnd(site, { "Content-Length": "1000000" }, "token="), 413);
  t.is(await statusBeforeTheEnd(site, { "Transfer-Encoding": "chunked" }, `token=${"x".repeat(11_000)}`), 413);
  t.deepEqual(site.calls, []);
});

test("a compressed body is refused", async (t) => {
  const { site } = await open(t);
  t.is(await statusBeforeTheEnd(site, { "Content-Encoding": "gzip", "Content-Length": "100" }, "x"), 415);
});

test("the home page and the page of errors can be kept a while, and set no cookie", async (t) => {
  const site = await servePages(t);
  for (const path of ["/", "/errors"]) {
    const answer = await fetch(site.url + path);
    t.is(answer.status, 200);
    t.is(answer.headers.get("cache-control"), "public, max-age=300");
    t.deepEqual(answer.headers.getSetCookie(), []);
  }
  t.deepEqual(site.calls, []);
});

test("the stylesheet is kept for an hour, and then asked for by its ETag", async (t) => {
  const site = await servePages(t);
  const [, path = ""] = /<link rel="stylesheet" href="([^"]+)">/.exec(await (await fetch(`${site.url}/`)).text()) ?? [];
  const answer = await fetch(site.url + path);
  t.is(answer.status, 200);
  t.is(answer.headers.get("content-type"), "text/css; charset=utf-8");
  t.is(answer.headers.get("cache-control"), "public, max-age=3600");
  t.notRegex(await answer.text(), /url\(|@import/, "nothing is loaded from elsewhere");
  // fetch adds Cache-Control: no-cache to a conditional request, which asks for the whole answer.
  const again = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { "If-None-Match": answer.headers.get("etag") ?? "" };
    const asking = request(site.url + path, { headers }, (response) => resolve(response.resume().statusCode));
    asking.once("error", reject).end();
  });
  t.is(again, 304);
});
