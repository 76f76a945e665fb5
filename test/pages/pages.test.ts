import { request } from "node:http";
import test from "ava";
import { decide, names, open, PATH, SECRET } from "./approval.ts";
import { REQUEST_ID, type Site, servePages } from "./site.ts";

/** Tests the HTTP rules that all pages share: security headers, methods, the origin of forms, bodies, caching. */

const CSP = "default-src 'none';style-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'";

test("the approval page cannot be framed, cached or indexed", async (t) => {
  const site = await servePages(t);
  const { status, headers } = await fetch(site.url + PATH);
  t.is(status, 200);
  t.like(Object.fromEntries(headers), {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
  });
  t.is(headers.get("strict-transport-security"), null, "plain HTTP");
});

for (const path of ["/errors", "/assets/souk.css", "/assets/copy.js", "/llms.txt", PATH]) {
  test(`every response at ${path.replace(SECRET, ":secret")} has the security headers`, async (t) => {
    const site = await servePages(t);
    for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
      const { headers } = await fetch(site.url + path, { method });
      t.is(headers.get("content-security-policy"), CSP, method);
      t.is(headers.get("x-robots-tag"), "noindex", method);
      t.is(headers.get("referrer-policy"), "no-referrer", method);
    }
  });
}

test("the home page and the documentation may run our own script, and nothing else more than other pages", async (t) => {
  const site = await servePages(t);
  const policy = CSP.replace("style-src 'self'", "style-src 'self';script-src 'self'");
  for (const path of ["/", "/docs", "/docs/rest", "/docs/reference", "/docs/reference/getMe", "/docs/search?q=x"]) {
    const { status, headers } = await fetch(site.url + path);
    t.is(status, 200, path);
    t.is(headers.get("content-security-policy"), policy, path);
  }
});

test("paths that are not pages are passed on to the next handler", async (t) => {
  const site = await servePages(t);
  for (const path of ["/connect", "/connect/", `${PATH}/more`, "/Errors", "/errors/x", "/assets/", "/v1"]) {
    const answer = await fetch(site.url + path);
    t.is(await answer.text(), "not a page", path);
    t.is(answer.headers.get("content-security-policy"), null, path);
  }
});

test("what stood behind an address in a text is ignored, and nothing that may be part of a secret", async (t) => {
  const site = await servePages(t);
  const opens = async (path: string) => {
    site.calls.length = 0;
    const answer = await fetch(site.url + path);
    return { status: answer.status, secret: site.calls[0]?.args["secret_hash"], text: await answer.text() };
  };
  const { secret } = await opens(PATH);
  for (const tail of [
    ...[
      "/",
      ")",
      ".",
      ",",
      ">",
      "**",
      "%22",
      "%20",
      "%0A",
      "**_",
      "_",
      ").",
      "/).",
      "%E2%80%9D",
      "%C2%A0and",
      "%",
      "%)",
    ],
    ...["](https://market.example/connect/x)", ";", "!", "'", "%3C/a%3E", "%2F", "&amp;x=1", "%29?utm_source=chat"],
  ])
    t.like(await opens(PATH + tail), { status: 200, secret }, tail);
  for (const other of ["x", "_x", "-", "A)", "%41"]) t.notDeepEqual((await opens(PATH + other)).secret, secret, other);
  for (const path of [
    "/errors/",
    "/docs/",
    "/docs/rest/",
    "/docs).",
    "/llms.txt/",
    "/llms.txt)",
    "/)",
    "/docs/search/?q=x",
  ])
    t.is((await fetch(site.url + path)).status, 200, path);
});

test("a method that a page does not have gets a 405 Problem that names the allowed methods", async (t) => {
  const site = await servePages(t);
  const answer = await fetch(site.url + PATH, { method: "DELETE" });
  t.is(answer.status, 405);
  t.is(answer.headers.get("allow"), "GET, HEAD, POST");
  t.like(await answer.json(), { code: "method_not_allowed", status: 405, request_id: REQUEST_ID });
  const typed = await fetch(`${site.url}/sign-out/everywhere`, { headers: { Accept: "text/html,*/*;q=0.8" } });
  t.deepEqual([typed.status, typed.headers.get("allow")], [405, "POST"]);
  t.true((await typed.text()).includes("<h1>Nothing to open here</h1>"));
});

for (const [title, fields, headers] of [
  ["without a token", { token: "" }, {}],
  ["with a token of the right length", { token: "A".repeat(43) }, {}],
  ["without the cookie", {}, { Cookie: null }],
  ["with another browser's cookie", {}, { Cookie: `souk_csrf=${"A".repeat(43)}` }],
  ["with an unknown decision", { decision: "maybe" }, {}],
  ["without a decision", { decision: "" }, {}],
  ["from another site", {}, { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" }],
  ["from another origin of this site", {}, { "Sec-Fetch-Site": "same-site" }],
  ["from another origin, without Sec-Fetch-Site", {}, { Origin: "https://evil.example", "Sec-Fetch-Site": null }],
  ["from another origin, with Sec-Fetch-Site same-origin", {}, { Origin: "https://evil.example" }],
  ["with Origin null, without Sec-Fetch-Site", {}, { Origin: "null", "Sec-Fetch-Site": null }],
  ["from another site, without Origin", {}, { Origin: null, "Sec-Fetch-Site": "cross-site" }],
  ["without Origin, not sent by a page", {}, { Origin: null, "Sec-Fetch-Site": "none" }],
  ["with neither Origin nor Sec-Fetch-Site", {}, { Origin: null, "Sec-Fetch-Site": null }],
  ["with an agent's token", {}, { Authorization: `Bearer agt_${"0".repeat(49)}` }],
  ["with another Authorization header", {}, { Authorization: "Basic YTpi" }],
] as const) {
  test(`a form sent ${title} is refused and changes nothing`, async (t) => {
    const opened = await open(t);
    const answer = await decide(opened, fields, headers);
    t.is(answer.status, 400);
    t.is(answer.headers.get("content-type"), "text/html; charset=utf-8");
    t.is(answer.headers.get("cache-control"), "no-store");
    t.deepEqual(answer.headers.getSetCookie(), []);
    t.true((await answer.text()).includes(`href="${opened.site.url}${PATH}"`), "the link can be opened again");
    t.deepEqual(opened.site.calls, []);
  });
}

test("a form token is valid for its own link only", async (t) => {
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
  ["that sends no Sec-Fetch-Site", { "Sec-Fetch-Site": null }],
  ["that sends no Origin", { Origin: null }],
  ["that sends Origin null", { Origin: "null" }],
  ["after reloading the page", { "Sec-Fetch-Site": "none" }],
] as const) {
  test(`a form is accepted from a browser ${title}`, async (t) => {
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
  test(`a form with a body of ${type} is refused with 415`, async (t) => {
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

/** Sends the headers of a form and part of its body. Returns the status that arrives before the body has ended. */
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

test("a body that is too large is refused at once, with or without Content-Length", async (t) => {
  const { site } = await open(t);
  t.is(await statusBeforeTheEnd(site, { "Content-Length": "1000000" }, "token="), 413);
  t.is(await statusBeforeTheEnd(site, { "Transfer-Encoding": "chunked" }, `token=${"x".repeat(33_000)}`), 413);
  t.deepEqual(site.calls, []);
});

test("a compressed body is refused", async (t) => {
  const { site } = await open(t);
  t.is(await statusBeforeTheEnd(site, { "Content-Encoding": "gzip", "Content-Length": "100" }, "x"), 415);
});

test("pages that are the same for everyone can be cached for five minutes and set no cookie", async (t) => {
  const site = await servePages(t);
  for (const path of ["/errors", "/docs", "/docs/connect", "/docs/reference", "/llms.txt"]) {
    const answer = await fetch(site.url + path);
    t.is(answer.status, 200);
    t.is(answer.headers.get("cache-control"), "public, max-age=300");
    t.deepEqual(answer.headers.getSetCookie(), []);
  }
  t.deepEqual(site.calls, []);
});

test("the stylesheet is cached for an hour and then revalidated by its ETag", async (t) => {
  const site = await servePages(t);
  const [, path = ""] = /<link rel="stylesheet" href="([^"]+)">/.exec(await (await fetch(`${site.url}/`)).text()) ?? [];
  const answer = await fetch(site.url + path);
  t.is(answer.status, 200);
  t.is(answer.headers.get("content-type"), "text/css; charset=utf-8");
  t.is(answer.headers.get("cache-control"), "public, max-age=3600");
  t.notRegex(await answer.text(), /url\(|@import/, "the stylesheet loads no other file");
  // fetch adds Cache-Control: no-cache to a conditional request, which would force a full response.
  const again = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { "If-None-Match": answer.headers.get("etag") ?? "" };
    const asking = request(site.url + path, { headers }, (response) => resolve(response.resume().statusCode));
    asking.once("error", reject).end();
  });
  t.is(again, 304);
});
