import test from "ava";
import { ago, piecesOf, readingsOf, shownValue } from "../../src/admin/render.ts";
import { SOFA } from "../support/market.ts";
import { type AdminFixture, type Moderator, openAdminFixture, sameOrigin } from "./fixture.ts";

/** Tests the moderators' pages over HTTP: what they show, forms, and form protection. */

let fixture: AdminFixture;
let moderator: Moderator;
test.before(async () => {
  fixture = await openAdminFixture();
  moderator = await fixture.moderator("Mo");
});
test.after.always(() => fixture?.stop());

const open = (path: string, headers: Record<string, string> = {}) =>
  fixture.call("GET", path, { headers: { cookie: moderator.cookie, accept: "text/html", ...headers } });

/** Sends a form as its page would. The cookie and the token are those of the page unless the test gives others. */
const send = async (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
  const page = await open(path);
  const csrf = /souk_csrf=[^;]+/.exec(page.headers["set-cookie"] ?? "")?.[0] ?? "";
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page.text)?.[1] ?? "";
  return fixture.call("POST", path, {
    raw: new URLSearchParams({ token: hidden("token"), expected: hidden("expected"), ...fields }).toString(),
    headers: {
      cookie: `${moderator.cookie}; ${csrf}`,
      accept: "text/html",
      "content-type": "application/x-www-form-urlencoded",
      ...sameOrigin(fixture.url),
      ...headers,
    },
  });
};

test("a path of /admin that does not exist is a 404", async (t) => {
  for (const path of [
    "/admin/nothing",
    "/admin/offers/x",
    `/admin/offers/01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0e`,
    "/admin/accounts/01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0e",
  ])
    t.is((await open(path)).status, 404, path);
});

test("the pages load only files of this service and cannot be cached", async (t) => {
  const { headers } = await open("/admin");
  t.is(
    headers["content-security-policy"],
    "default-src 'none';style-src 'self';script-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'",
  );
  t.is(headers["cache-control"], "no-store");
  t.is(headers["x-robots-tag"], "noindex");
});

test("a form is accepted only from the service's own page, in the browser that opened it", async (t) => {
  const id = await fixture.publish(await fixture.agent());
  const path = `/admin/offers/${id}`;
  const statusOf = async () => (await fixture.sql("select status from market.offer where id = $1", [id]))[0].status;
  const removal = { decision: "remove", reason: "spam" };
  for (const [what, fields, headers] of [
    ["no token", { ...removal, token: "" }, {}],
    ["another token", { ...removal, token: "x".repeat(43) }, {}],
    ["another site", removal, { origin: "https://evil.example" }],
    ["another site, as the browser says", removal, { "sec-fetch-site": "cross-site" }],
    ["no cookie of ours", removal, { cookie: moderator.cookie }],
  ] as const) {
    t.is((await send(path, fields, headers)).status, 400, what);
    t.is(await statusOf(), "published", what);
  }
  t.is((await send(path, removal, { "content-type": "application/json" })).status, 415);
  t.is((await send(path, removal)).status, 303);
  t.is(await statusOf(), "removed");
});

test("errors in a form are shown on its page", async (t) => {
  const id = await fixture.publish(await fixture.agent());
  const path = `/admin/offers/${id}`;
  for (const [fields, status, says] of [
    [{ decision: "remove", reason: "" }, 400, /Give one of the reasons/],
    [{ decision: "destroy" }, 400, /none of the decisions/],
    [{ decision: "keep", expected: "x" }, 400, /./],
    [{ decision: "keep", expected: "2020-01-01T00:00:00Z" }, 409, /has changed since you looked at it/],
    [{ decision: "keep", words: "x".repeat(501) }, 400, /500 characters/],
  ] as const) {
    const answer = await send(path, fields);
    t.is(answer.status, status, JSON.stringify(fields));
    t.regex(/<p class="notice bad"[^>]*>([^<]+)</.exec(answer.text)?.[1] ?? "", says);
  }
});

test("a reason that is chosen counts only for a decision that takes the offer down", async (t) => {
  const id = await fixture.publish(await fixture.agent());
  t.is((await send(`/admin/offers/${id}`, { decision: "keep", reason: "spam" })).status, 303);
  t.deepEqual(await fixture.sql("select action, reason from market.decision where offer_id = $1", [id]), [
    { action: "keep", reason: null },
  ]);
});

test("a refused form keeps what was typed", async (t) => {
  const agent = await fixture.agent();
  const id = await fixture.publish(agent);
  await moderator.decide("keepOffer", id);
  const page = await send(`/admin/offers/${id}`, {
    decision: "remove",
    reason: "scam",
    words: "Asks for a deposit <b>first</b>.",
    expected: "2020-01-01T00:00:00Z",
  });
  t.is(page.status, 409);
  t.regex(page.text, /<option value="scam" selected>/);
  t.true(
    page.text.includes("Asks for a deposit &lt;b>first&lt;/b>.</textarea>") ||
      page.text.includes("Asks for a deposit &lt;b&gt;first&lt;/b&gt;.</textarea>"),
  );
  t.regex(page.text, /class="notice bad" role="alert" tabindex="-1" autofocus/);
});

test("an account's offers have pages, and its log shows every change of what it owns", async (t) => {
  const agent = await fixture.agent();
  await fixture.publish(agent);
  const account = await fixture.accountOf(agent);
  await fixture.sql(
    `insert into market.offer (account_id, agent_id, status, title, text)
     select account_id, agent_id, 'archived', 'Old thing ' || n, text from market.offer o, generate_series(1, 30) as n where account_id = $1`,
    [account],
  );
  const first = await open(`/admin/accounts/${account}`);
  const older = /href="([^"]*)">Older offers/.exec(first.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const second = await open(`/admin/accounts/${account}${older.replace(/#.*/, "")}`);
  const shown = [first, second].map(({ text }) => new Set(text.match(/admin\/offers\/[0-9a-f-]{36}/g)));
  t.deepEqual(
    shown.map((offers) => offers.size),
    [25, 6],
  );
  t.is(new Set(shown.flatMap((offers) => [...offers])).size, 31);
  await moderator.act("overrideCap", { accountId: account, action: "publish_offer", cap: 5 });
  const log = await open(first.text.match(/\/admin\/audit\?account=[0-9a-f-]+/)?.[0] ?? "");
  for (const action of ["cap_override.created", "offer.published", "account.claimed"])
    t.true(log.text.includes(action), action);
});

test("HTML written by strangers is escaped", async (t) => {
  const agent = await fixture.agent("<script>alert('name')</script>");
  const id = await fixture.publish(agent, `${SOFA} <img src=x onerror=alert(1)> "><script>alert('text')</script>`);
  const reporter = await fixture.agent();
  await reporter.call("POST", `/v1/offers/${id}/report`, {
    reason: "other",
    comment: "</blockquote><script>alert('comment')</script>",
  });
  for (const path of [
    "/admin",
    `/admin/offers/${id}`,
    `/admin/accounts/${await fixture.accountOf(agent)}`,
    "/admin/search?q=%22%3E%3Cscript%3Ealert(1)",
  ]) {
    const { text } = await open(path);
    t.notRegex(text, /<script>|<img|onerror=[^&]*alert\(1\)>/, path);
  }
});

const HIDDEN = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;

test("what is shown in one line has no invisible characters, and moderators see those of a text", async (t) => {
  const agent = await fixture.agent();
  const id = await fixture.publish(agent);
  const reporter = await fixture.agent();
  const comment = "\u202eyenom sekat\u202c";
  await reporter.call("POST", `/v1/offers/${id}/report`, { reason: "other", comment });
  // As if its title and text had not been cleaned. No trigger fires, so nothing is logged.
  const [{ title, text }] = await fixture.sql("select title, text from market.offer where id = $1", [id]);
  const write = (was: string, said: string) =>
    fixture.sql(
      `set session_replication_role = replica;
       update market.offer set title = '${was}', text = '${said}' where id = '${id}';
       reset session_replication_role`,
    );
  await write("\u202eafoS", "Sofa, good con\u00addition");
  const offer = await open(`/admin/offers/${id}`);
  t.regex(offer.text, /<title>\[U\+202E\]afoS/);
  t.regex(offer.text, /\[U\+202E\]yenom sekat\[U\+202C\]/);
  t.regex(offer.text, /con\[U\+00AD\]ditio/);
  for (const path of [`/admin/offers/${id}`, "/admin", `/admin/accounts/${await fixture.accountOf(agent)}`])
    t.notRegex((await open(path)).text.replaceAll(/[\n\t]/g, ""), HIDDEN, path);
  await write(title, text);
});

test("a search finds offers by id and by words in any status, and names by their beginning", async (t) => {
  const agent = await fixture.agent("Zebra 100%_agent");
  const id = await fixture.publish(agent, "Purple harpsichord for sale. 900 EUR, Berlin. Write to lena@example.com");
  await moderator.decide("removeOffer", id, { reason: "other" });
  await agent.call("POST", "/v1/asks", { text: "Looking for a zither" });
  const account = await fixture.accountOf(agent);
  const found = async (words: string) =>
    (await moderator.ask("query($words: String) { find(words: $words) { kind id status } }", { words })).find;
  t.like(await found("HARPSICHORD purple"), [{ kind: "offer", id, status: "removed" }]);
  t.like(await found("zither"), [{ kind: "ask", status: "active" }]);
  t.like(await found("zebra 100%_"), [{ kind: "agent", id: agent.id }]);
  t.deepEqual(await found("zebra 1%"), [], "a percent sign is not a wildcard");
  t.like(await found(account), [{ kind: "account", id: account }]);
  t.like(await found(` ${id.toUpperCase()} `), [{ kind: "offer", id }]);
  for (const words of ["", "   ", "'", "a & | ! (", "\\", "x".repeat(500)])
    t.true(Array.isArray(await found(words)), words);
});

test("a search lists exact matches first, then newer results before older ones", async (t) => {
  const named = async (name: string) => (await fixture.agent(name)).id;
  const exact = await named("Ocelot");
  const [older, newer] = [await named("Ocelot one"), await named("Ocelot two")];
  const agent = await fixture.agent();
  const texts = [];
  for (const price of ["10 EUR", "20 EUR"])
    texts.push(await fixture.publish(agent, `Ocelot of plush for sale. ${price}, Berlin. Write to lena@example.com`));
  const found = async (words: string) =>
    (await moderator.ask("query($words: String) { find(words: $words) { kind id title } }", { words })).find;
  t.deepEqual(
    (await found("ocelot")).map(({ id }: { id: string }) => id),
    [exact, newer, older, ...texts.toReversed()],
  );

  const { account } = await fixture.person();
  await fixture.sql(
    "insert into market.proved_method (account_id, method, subject_hash, email) values ($1, 'email', sha256('ocelot'), 'ocelot@example.com')",
    [account],
  );
  t.like(await found(" Ocelot@Example.com "), [{ kind: "account", id: account }]);
  t.false(JSON.stringify(await found("ocelot@example.com")).includes("@"), "the e-mail address is not shown");
  const kinds = (await found("ocelot@example")).map(({ kind }: { kind: string }) => kind);
  t.false(kinds.includes("account"), "the beginning of an e-mail address finds no account");
});

test("in GraphQL, a condition that is null selects what has no value", async (t) => {
  await fixture.publish(await fixture.agent());
  const { auditEvents } = await moderator.ask(
    "query($condition: AuditEventCondition) { auditEvents(first: 100, condition: $condition) { nodes { accountId } } }",
    { condition: { accountId: null } },
  );
  t.deepEqual(
    new Set(auditEvents.nodes.map(({ accountId }: { accountId: string | null }) => accountId)),
    new Set([null]),
  );
});

/** The actions that a page of the log lists, newest first. */
const listed = (page: string): string[] =>
  [...page.matchAll(/<td><a href="[^"]*action=([a-z_.]+)/g)].map(([, action]) => action ?? "");

test("the log can be filtered by actor, action and days together, page by page", async (t) => {
  const agent = await fixture.agent();
  const account = await fixture.accountOf(agent);
  const id = await fixture.publish(agent);
  await moderator.decide("removeOffer", id, { reason: "spam" });
  await moderator.decide("restoreOffer", id);
  const log = async (query: string) => listed((await open(`/admin/audit?about=${id}&${query}`)).text);
  const whole = ["offer.restored", "offer.removed", "offer.published"];
  t.deepEqual(await log("actor=&action=&since=&until="), whole, "an empty field filters nothing");
  t.deepEqual(await log("actor=moderator"), ["offer.restored", "offer.removed"]);
  t.deepEqual(await log(`by=${account}`), ["offer.published"]);
  t.deepEqual(await log("action=offer.removed"), ["offer.removed"]);
  t.deepEqual(await log("actor=agent&action=offer.removed"), []);

  // Days are in UTC and inclusive. An event's id contains its time, so the test changes both.
  const moved =
    "update market.audit_event set at = $2, id = internal.first_uuid_v7($2) where row_id = $1 and action = $3";
  await fixture.sql(moved, [id, "2026-05-01T00:00:00Z", "offer.published"]);
  await fixture.sql(moved, [id, "2026-05-02T23:59:59.999Z", "offer.removed"]);
  for (const [query, actions] of [
    ["since=2026-05-01&until=2026-05-02", ["offer.removed", "offer.published"]],
    ["since=2026-05-02&until=2026-05-02", ["offer.removed"]],
    ["until=2026-05-01", ["offer.published"]],
    ["since=2026-05-03", ["offer.restored"]],
    ["since=2026-05-03&until=2026-05-01", []],
  ] as const)
    t.deepEqual(await log(query), actions as readonly string[] as string[], query);

  const form = (await open("/admin/audit?actor=moderator&action=offer.kept&since=2026-05-01")).text;
  for (const shown of ['value="moderator" selected', 'value="offer.kept"', 'value="2026-05-01"'])
    t.true(form.includes(shown), shown);

  await fixture.sql(
    `insert into market.audit_event (actor_type, sql_role, action, table_name, row_id)
     select 'dba', 'x', 'offer.updated', 'offer', 'row ' || n from generate_series(1, 51) as n`,
  );
  const first = (await open("/admin/audit?actor=dba&action=offer.updated")).text;
  t.is(listed(first).length, 50);
  const older = /href="[^"]*(\/admin\/audit\?[^"]*after=[^"]*)"/.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? "";
  t.deepEqual(listed((await open(older)).text), ["offer.updated"]);
});

test("a filter that makes no sense is refused with an example", async (t) => {
  for (const [query, said] of [
    ["actor=nobody", /agent, person, moderator, job and dba/],
    ["since=yesterday", /2026-05-31/],
    ["until=2026-02-30", /2026-05-31/],
    ["until=9999-12-31", /2026-05-31/],
  ] as const) {
    const { status, text } = await open(`/admin/audit?${query}`);
    t.is(status, 400, query);
    t.regex(text, said, query);
    t.true(text.includes('<form method="get"'), "the page still has the form");
  }
  t.deepEqual(listed((await open("/admin/audit?action=%22%3E%3Cscript%3Ealert(1)")).text), []);
});

test("times are shown relative to now", (t) => {
  const now = Date.parse("2026-06-01T12:00:00Z");
  t.deepEqual(
    [
      "2026-06-01T11:59:30Z",
      "2026-06-01T12:00:30Z",
      "2026-06-01T11:59:00Z",
      "2026-06-01T09:10:00Z",
      "2026-05-29T12:00:00Z",
      "2024-05-01T12:00:00Z",
    ].map((moment) => ago(moment, now)),
    ["a moment ago", "a moment ago", "1 minute ago", "2 hours ago", "3 days ago", "2 years ago"],
  );
});

test("extracted spans are marked by code points; of two that overlap, only the first is marked", (t) => {
  const text = "🛋 Sofa, 180 EUR";
  const found = (start: number, end: number) => ({ value: 1, quote: "", start, end, basis: "stated", confidence: 1 });
  const readings = readingsOf({
    title: found(2, 6),
    price: found(8, 15),
    contact: [found(8, 11), found(39, 49)],
    note: "x",
  });
  t.deepEqual(piecesOf(text, readings), [
    { text: "🛋 ", read: null },
    { text: "Sofa", read: "title" },
    { text: ", ", read: null },
    { text: "180 EUR", read: "price" },
  ]);
  t.is(shownValue({ amount: 180, currency: "EUR", deposit: null, negotiable: false }), "amount: 180, currency: EUR");
});
