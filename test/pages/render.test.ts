import test from "ava";
import { PROBLEMS, type ProblemCode } from "../../src/base/problem.ts";
import { visibleName } from "../../src/base/visible_text.ts";
import { ERRORS, renderHome } from "../../src/pages/about.ts";
import { minutesAgo, renderApproval } from "../../src/pages/approval.ts";
import { minutesLeft, renderPage, renderProblem } from "../../src/pages/render.ts";
import { placeOf } from "../../src/web/redirect.ts";
import { CONNECTION, REQUEST_ID } from "./site.ts";
import { invalidHtml } from "./sound.ts";

/** Tests the HTML of the pages, as the render functions return it. */

const BASE = "https://souk.example";

const approval = (agent_name: string): string =>
  renderApproval(BASE, { ...CONNECTION, agent_name }, { token: "form-token", path: "/connect/secret", notice: null });

const approved = (name: string, account = { hasMethod: true, canAdd: true }): string =>
  renderPage("approved", BASE, { name: visibleName(name), ...account });

const codes = Object.keys(PROBLEMS) as ProblemCode[];

const refusal = (code: ProblemCode, path = "/connect/secret"): string =>
  renderProblem(BASE, {
    code,
    detail: "Why it was <refused>.",
    requestId: REQUEST_ID,
    link: BASE + path,
  });

const HOSTILE = [
  "<script>alert(1)</script>",
  `"><img src=x onerror=alert(1)>`,
  "'; </bdi></p><h1>Approved</h1>",
  "<%= it.token %>",
  "javascript:alert(1)",
];

/** Places to which clients of OAuth have the browser sent back, with an address that has to be escaped. */
const BACKS = ["https://assistant.example/cb?x=1&y='2'", "http://127.0.0.1:4711/cb?x=1", "cursor://mcp/cb"].map(
  (address) => ({ ...placeOf(address), address }),
);

/** The approval page of a client of OAuth, which publishes a document about itself. */
const asked = (redirect_uri: string): string =>
  renderApproval(
    BASE,
    { ...CONNECTION, codes: null, client: { client_id: "https://assistant.example/client.json", redirect_uri } },
    { token: "form-token", path: "/connect/secret", notice: null },
  );

const PAGES: [string, string][] = [
  ["approval", approval("Claude")],
  ["approved", approved("Claude", { hasMethod: true, canAdd: true })],
  ["approved into a new account", approved("Claude", { hasMethod: false, canAdd: true })],
  ["approved without a way to sign in", approved("Claude", { hasMethod: false, canAdd: false })],
  ["declined", renderPage("declined", BASE, { back: null })],
  ...BACKS.flatMap((back): [string, string][] => [
    [`declined to ${back.kind}`, renderPage("declined", BASE, { back })],
    [`returning to ${back.kind}`, renderPage("returning", BASE, { name: "Claude", back })],
    [`asked by ${back.kind}`, asked(back.address)],
    [
      `mistake of ${back.kind}`,
      renderProblem(BASE, {
        code: "bad_request",
        detail: "Why.",
        requestId: REQUEST_ID,
        link: `${BASE}/oauth/authorize`,
        back: back.address,
      }),
    ],
  ]),
  ["errors", renderPage("errors", BASE, ERRORS)],
  ["home", renderHome(BASE, null)],
  ["home of a market", renderHome(BASE, { most: 10_000, offers: 10_001, asks: 1, newest: ["Grey sofa"] })],
  ["home of an empty market", renderHome(BASE, { most: 10_000, offers: 0, asks: 0, newest: [] })],
  ["home with hostile titles", renderHome(BASE, { most: 10_000, offers: 5, asks: 0, newest: HOSTILE })],
  ...codes.map((code): [string, string] => [`refusal ${code}`, refusal(code)]),
  ...HOSTILE.map((name): [string, string] => [`approval of ${name}`, approval(name)]),
];

test("the page of an app shows its whole redirect URI, because the app may be a browser", (t) => {
  for (const uri of ["cursor://anysphere.cursor-retrieval/oauth/callback", "unheard:///evil.example/cb"])
    t.true(asked(uri).includes(`translate="no">${uri}</p>`), uri);
});

test("every page is valid HTML", async (t) => {
  for (const [title, html] of PAGES) t.deepEqual(await invalidHtml(html), [], title);
});

test("every page has a language, a viewport and one heading, and no inline script or style and no image", (t) => {
  for (const [title, html] of PAGES) {
    t.true(html.includes('<html lang="en">'), title);
    t.true(html.includes('<meta name="viewport" content="width=device-width, initial-scale=1">'), title);
    t.is(html.match(/<h1[ >]/g)?.length, 1, title);
    const withoutOurs = html.replace(/<script src="\/assets\/copy\.js\?v=[\w-]+" defer><\/script>/, "");
    t.notRegex(withoutOurs, /<script|<style|<img|<[^>]*\s(style|src|on\w+)=/, title);
    t.notRegex(html, /undefined|\[object|<%|%>/, title);
  }
});

test("a page links to no other site, except to that of the client that sent the person", (t) => {
  for (const [title, html] of PAGES) {
    const elsewhere = [...html.matchAll(/(?:href|action)="([^"]*)"/g)]
      .map(([, target]) => target ?? "")
      .filter((target) => !/^(\/(?!\/)|#|https:\/\/souk\.example\/)/.test(target));
    const back = BACKS.find(({ kind }) => /^(declined|returning|mistake)/.test(title) && title.endsWith(` ${kind}`));
    const expected = back ? [back.address.replaceAll("&", "&amp;").replaceAll("'", "&#39;")] : [];
    t.deepEqual(elsewhere, expected, title);
  }
});

test("an agent that calls itself something hostile is shown under exactly that name", (t) => {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  for (const name of HOSTILE)
    for (const render of [approval, approved]) {
      const shown = `<bdi translate="no">${name.replaceAll(/[&<>"']/g, (sign) => signs[sign] ?? sign)}<`;
      t.is(render(name), render("Claude").replace('<bdi translate="no">Claude<', shown));
    }
});

test("a name cannot hide or reverse the text around it", (t) => {
  t.is(visibleName("Claude\u202Eelbat\u202C"), "Claudeelbat");
  t.is(visibleName("a\u2066b\u2069c\u200Bd\u200De\uFEFFf\u00ADg"), "abcdefg");
  t.is(visibleName("a\u0000b\nc\u007Fd\u0085e\u2028f\u2029g"), "abcdefg");
  t.is(visibleName("\uD83Dx"), "x");
  t.is(visibleName(" \u200B\u202E "), "Unnamed agent");
  t.false(approval("Claude\u202Emine").includes("\u202E"));
});

test("names in every script are shown in full, up to 80 characters", (t) => {
  for (const name of ["وكيل", "סוכן", "代理人", "Агент", "Zoë", "🦊🐻"]) t.is(visibleName(name), name);
  t.is(visibleName("W".repeat(80)), "W".repeat(80));
  t.is(visibleName("🦊".repeat(200)), "🦊".repeat(80));
});

test("the approval page says what a person needs in order to decide", (t) => {
  const text = approval("Claude")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
  for (const sentence of [
    "It calls itself “ Claude ”",
    "Which code does your agent show you? To pick your agent’s code is to approve it.",
    "LMNP-QRST BCDF-GHJK VWXZ-BCDF or none of them Not mine",
    "Asked 2 minutes ago , at 14:03 UTC.",
    "Works for 28 minutes more.",
    "If you approve, it can publish offers in your name ask for things in your name read what matches",
    "It can never see the address you sign in with, or the contact in your profile sign in as you pay for anything",
  ]) {
    t.true(text.includes(sentence), sentence);
  }
});

test("times are shown in minutes", (t) => {
  t.deepEqual([0, 1, 2, 29].map(minutesAgo), [
    "less than a minute ago",
    "1 minute ago",
    "2 minutes ago",
    "29 minutes ago",
  ]);
  t.deepEqual([0, 1, 60, 61, 1800].map(minutesLeft), ["1 minute", "1 minute", "1 minute", "2 minutes", "30 minutes"]);
});

test("the error page explains every code at its own anchor", (t) => {
  const html = renderPage("errors", BASE, ERRORS);
  t.deepEqual(
    [...html.matchAll(/<section class="problem" id="(\w+)">/g)].map(([, id]) => id),
    codes,
  );
  const section = html.slice(html.indexOf('id="rate_limited"')).split("</section>")[0] ?? "";
  t.true(section.includes("429"));
  t.true(section.includes("A retry helps, after waiting"));
  t.true(section.includes("Wait as many seconds as <code>Retry-After</code> says."));
  const expired = html.slice(html.indexOf('id="connection_expired"')).split("</section>")[0] ?? "";
  t.true(expired.includes("A retry does not help"));
});

test("a refusal page says what was wrong, and links to the same page only if opening it again can help", (t) => {
  t.true(refusal("bad_request").includes("Why it was &lt;refused&gt;."));
  t.true(refusal("bad_request").includes(REQUEST_ID));
  const offering = codes.filter((code) => refusal(code).includes('href="https://souk.example/connect/secret"'));
  t.false(offering.includes("not_found"));
  t.false(offering.includes("connection_already_used"));
  t.false(offering.includes("connection_expired"));
  t.true(offering.includes("bad_request"));
  t.true(offering.includes("service_unavailable"));
});

test("the advice on a refusal page fits the page that was refused", (t) => {
  t.true(refusal("not_found").includes("ask your agent to connect again"));
  for (const code of ["not_found", "link_expired", "invalid_state"] as const) {
    const html = refusal(code, "/verify/secret");
    t.true(html.includes("a new verification link"), code);
    t.false(html.includes("connect again"), code);
  }
  t.true(refusal("internal_error").includes("Open the link again"));
  for (const code of codes) t.notRegex(refusal(code, "/settings/market"), /the link again|your agent/, code);
  t.true(refusal("internal_error", "/settings/market").includes("Open the page again"));
});

test("the home page shows the sentence to paste into an agent, and the links for agents", (t) => {
  const html = renderHome(BASE, null);
  t.true(html.includes("Read https://souk.example/v1, connect to Souk for me, and show me the link and the code"));
  t.true(html.includes('href="/v1"'));
  t.true(html.includes('href="/v1/openapi.json"'));
});

test("the home page says how much there is in the market, and shows titles as text", (t) => {
  const overview = { most: 10_000, offers: 10_001, asks: 1, newest: ["Grey <b>sofa</b>\u202e", "\u200b"] };
  const html = renderHome(BASE, overview);
  t.true(html.includes("more than 10,000 offers and 1 ask."));
  t.true(html.includes("<li><bdi>Grey &lt;b&gt;sofa&lt;/b&gt;</bdi></li>"));
  t.is(html.match(/<bdi>/g)?.length, 1, "a title of invisible characters is left out");
  t.false(renderHome(BASE, null).includes("In the market now"));
});

test("links stay below the path of BASE_URL", (t) => {
  const html = renderHome("https://example.org/souk", null);
  t.true(html.includes('href="/souk/v1/openapi.json"'));
  t.regex(html, /href="\/souk\/assets\/souk\.css\?v=/);
});
