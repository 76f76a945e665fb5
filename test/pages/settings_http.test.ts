import test from "ava";
import { hashSecret } from "../../src/base/tokens.ts";
import {
  ACCOUNT,
  ACTIVITY,
  AGENT,
  BARE_ACCOUNT,
  CONVERSATION,
  CONVERSATION_PAGE,
  DEAL_ID,
  OFFERS,
  REMOVED_AGENT,
  SESSION,
  STRANDED_ACCOUNT,
  serveSettings,
  WEBHOOKS,
} from "./settings_site.ts";
import { raised, type Site } from "./site.ts";

/**
 * Tests the settings over HTTP with a fake database that gives scripted answers: form protection, refusals, and text
 * that strangers wrote.
 */

const CONVERSATIONS = "/settings/conversations";
const PAGES = [
  "/settings",
  "/settings/market",
  "/settings/market?show=asks",
  CONVERSATIONS,
  `${CONVERSATIONS}/${DEAL_ID}`,
  `/settings/agents/${AGENT.id}`,
  "/settings/activity",
  "/settings/alerts",
  "/settings/webhooks",
  "/settings/profile",
  "/settings/methods",
  "/settings/methods/google",
  "/settings/account",
  "/settings/account/delete",
];

type Form = {
  path: string;
  fields: Record<string, string>;
  /** The function that it calls, and some of the arguments. */
  calls: string;
  args?: object;
  /** The page that it redirects to. */
  leads: string | null;
  query?: string;
  /** Where the form stands, if not at its path. */
  shownAt?: string;
};

const OFFER_ID = OFFERS.results[0]?.id ?? "";
const WEBHOOK_ID = WEBHOOKS.webhooks[0]?.id ?? "";
const MARKET = "/settings/market";
const ALERTS = "/settings/alerts";
const HOOKS = "/settings/webhooks";
const watching = (watch_enabled: boolean) => ({ id: OFFER_ID, body: { watch_enabled }, errors: [] });

const TALK = `${CONVERSATIONS}/${DEAL_ID}`;
const PROPOSAL = CONVERSATION.proposal.id;
const SENT = { id: DEAL_ID, body: { text: "Yes\nit is." }, errors: [] };
const TAKEN = { id: DEAL_ID, proposal_id: PROPOSAL, body: { contact: "tom" } };
const POWERS_PAGE = `/settings/agents/${AGENT.id}`;
const NOTHING_ALLOWED = {
  agent_id: AGENT.id,
  powers: ["publish", "ask", "converse", "agree"].map((power) => ({ power, allowed: "never" })),
};

/** Moves of a page: its path, the action, what it is about, the function with its arguments, and what is said afterwards. */
const ACTIONS: [path: string, fields: Record<string, string>, calls: string, done: string, args?: object][] = [
  ["/settings", { action: "remove", agent: AGENT.id }, "remove_agent", "?done=agent-removed"],
  [MARKET, { action: "archive_offer", id: OFFER_ID }, "archive_offer", "?done=offer-archived"],
  [MARKET, { action: "confirm_offer", id: OFFER_ID }, "confirm_offer", "?done=offer-confirmed"],
  ["/settings/profile", { action: "save", display_name: "Lena" }, "update_profile", "?done=profile-saved"],
  [ALERTS, { action: "digest_on" }, "set_digest", "?done=digest-on", { enabled: true }],
  [ALERTS, { action: "digest_off" }, "set_digest", "?done=digest-off", { enabled: false }],
  [ALERTS, { action: "watch", id: OFFER_ID }, "update_ask", "?done=ask-watched", watching(true)],
  [ALERTS, { action: "unwatch", id: OFFER_ID }, "update_ask", "?done=ask-unwatched", watching(false)],
  [CONVERSATIONS, { action: "unblock", id: DEAL_ID }, "unblock", "?done=unblocked"],
  [TALK, { action: "write", text: "Yes\r\nit is." }, "send_message", "?done=message-sent", SENT],
  [TALK, { action: "read", up_to: PROPOSAL }, "read_conversation", "?done=conversation-read", { up_to: PROPOSAL }],
  [
    TALK,
    { action: "accept", proposal: PROPOSAL, contact: " tom " },
    "accept_proposal",
    "?done=proposal-accepted",
    TAKEN,
  ],
  [TALK, { action: "decline", proposal: PROPOSAL }, "decline_proposal", "?done=proposal-declined"],
  [TALK, { action: "withdraw", proposal: PROPOSAL }, "withdraw_proposal", "?done=proposal-withdrawn"],
  [TALK, { action: "close" }, "close_conversation", "?done=conversation-closed", { id: DEAL_ID }],
  [TALK, { action: "block" }, "block_conversation", "?done=conversation-blocked", { id: DEAL_ID }],
  [
    TALK,
    { action: "report", reason: "scam" },
    "report_conversation",
    "?done=conversation-reported",
    { reason: "scam" },
  ],
  [POWERS_PAGE, { action: "save", powers: "1", agree: "never" }, "set_powers", "?done=powers-saved", NOTHING_ALLOWED],
  [HOOKS, { action: "test", webhook: WEBHOOK_ID }, "test_webhook", "?done=webhook-tested"],
  [HOOKS, { action: "challenge", webhook: WEBHOOK_ID }, "challenge_webhook", "?done=webhook-challenged"],
  [HOOKS, { action: "delete", webhook: WEBHOOK_ID }, "delete_webhook", "?done=webhook-deleted"],
];
const [REMOVING, ARCHIVING, , SAVING, ...FURTHER] = ACTIONS.map(
  ([path, fields, calls, done, args]): Form => ({ path, fields, calls, leads: path + done, ...(args && { args }) }),
) as [Form, Form, Form, Form, ...Form[]];
const EXPORTING: Form = {
  path: "/settings/export",
  fields: {},
  calls: "export_account",
  leads: null,
  shownAt: "/settings/account",
};
const DELETING: Form = {
  path: "/settings/account/delete",
  fields: { action: "delete", confirmed: "yes" },
  calls: "delete_account",
  leads: "/settings/account/deleted",
};
const FORMS: Form[] = [
  ...[REMOVING, ARCHIVING, SAVING, EXPORTING, DELETING, ...FURTHER],
  {
    path: MARKET,
    fields: { action: "archive_ask", id: OFFER_ID },
    calls: "archive_ask",
    leads: "/settings/market?show=asks&done=ask-archived",
    query: "?show=asks",
  },
  {
    path: "/settings/methods/google",
    fields: { action: "remove" },
    calls: "remove_method",
    leads: "/settings/methods?done=method-removed",
  },
];

type Opened = { cookie: string; token: string };

/** Opens the page of a form as a signed-in browser. Returns the cookies and the form's token. */
const open = async (site: Site, form: Form): Promise<Opened> => {
  const answer = await fetch(site.url + (form.shownAt ?? form.path), {
    headers: { Cookie: `souk_session=${SESSION}` },
  });
  const html = await answer.text();
  const token =
    form.path === "/settings/export"
      ? /export">\s*<input type="hidden" name="token" value="([^"]+)"/.exec(html)?.[1]
      : /name="token" value="([^"]+)"/.exec(html)?.[1];
  const csrf = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  site.calls.length = 0;
  return { cookie: `${csrf}; souk_session=${SESSION}`, token: token ?? "" };
};

const send = (
  site: Site,
  form: Form,
  { cookie, token }: Opened,
  fields: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${site.url}${form.path}${form.query ?? ""}`, {
    method: "POST",
    redirect: "manual",
    headers: { Cookie: cookie, Origin: site.url, "Sec-Fetch-Site": "same-origin", ...headers },
    body: new URLSearchParams({ ...form.fields, token, ...fields }),
  });

const wrote = (site: Site): string[] => site.calls.map(({ name }) => name).filter((name) => !/^(get|list)_/.test(name));

test("no page of the settings can be framed, cached or indexed", async (t) => {
  const site = await serveSettings(t);
  for (const path of [...PAGES, "/settings/account/deleted"]) {
    const answer = await fetch(site.url + path, { headers: { Cookie: `souk_session=${SESSION}` } });
    t.is(answer.status, 200, path);
    t.like(
      Object.fromEntries(answer.headers),
      {
        // The button that adds a method redirects to the provider, so form-action must allow it.
        "content-security-policy": `default-src 'none';style-src 'self';form-action 'self'${
          path === "/settings/methods" ? " https://google.example https://apple.example" : ""
        };frame-ancestors 'none';base-uri 'none'`,
        "x-frame-options": "DENY",
        "cache-control": "no-store",
        "x-robots-tag": "noindex",
        "referrer-policy": "no-referrer",
      },
      path,
    );
  }
});

test("opening a page of the settings changes nothing", async (t) => {
  const site = await serveSettings(t);
  for (const path of PAGES) await fetch(site.url + path, { headers: { Cookie: `souk_session=${SESSION}` } });
  t.deepEqual(wrote(site), []);
  t.true(
    site.calls.every(
      ({ actor }) => typeof actor === "object" && "person" in actor && actor.person.equals(hashSecret(SESSION)),
    ),
  );
});

test("a person who is not signed in is redirected to sign-in and back; a program gets a 401", async (t) => {
  const site = await serveSettings(t);
  for (const path of PAGES) {
    const answer = await fetch(site.url + path, { redirect: "manual" });
    t.is(answer.status, 303, path);
    t.is(answer.headers.get("location"), `/sign-in?${new URLSearchParams({ return: path })}`);
    t.is(answer.headers.get("cache-control"), "no-store");
    const problem = await fetch(site.url + path, { redirect: "manual", headers: { Accept: "application/json" } });
    t.is(problem.status, 401, path);
  }
  t.deepEqual(site.calls, []);
});

test("an agent's token opens no page of the settings, with or without a session", async (t) => {
  const site = await serveSettings(t);
  for (const path of PAGES) {
    const headers = { Authorization: `Bearer agt_${"0".repeat(49)}`, Cookie: `souk_session=${SESSION}` };
    t.is((await fetch(site.url + path, { headers, redirect: "manual" })).status, 400, path);
  }
  t.deepEqual(site.calls, []);
});

for (const form of FORMS) {
  const title = `${form.fields["action"] ?? "download"} at ${form.path}`;

  test(`${title} redirects to a GET`, async (t) => {
    const site = await serveSettings(t);
    const answer = await send(site, form, await open(site, form));
    t.is(answer.status, form.leads === null ? 200 : 303);
    t.is(answer.headers.get("location"), form.leads);
    t.is(answer.headers.get("cache-control"), "no-store");
    t.true(wrote(site).every((name) => name === form.calls) && wrote(site).length > 0);
    if (form.args) t.like(site.calls.at(-1), { args: form.args });
    if (form.leads === null) return;
    const next = await fetch(site.url + form.leads, { headers: { Cookie: `souk_session=${SESSION}` } });
    t.is(next.status, 200);
  });

  test(`${title} is accepted only from the service's own page`, async (t) => {
    const site = await serveSettings(t);
    const opened = await open(site, form);
    for (const headers of [{ Origin: "https://evil.example" }, { Authorization: `Bearer agt_${"0".repeat(49)}` }])
      t.is((await send(site, form, opened, {}, headers as Record<string, string>)).status, 400);
    const stale = await send(site, form, opened, { token: "A".repeat(43) });
    t.is(stale.status, 400);
    if (form.path === "/settings/profile")
      t.true((await stale.text()).includes('value="Lena"'), "it keeps what was typed");
    t.is((await send(site, form, { ...opened, cookie: `souk_session=${SESSION}` })).status, 400);
    t.deepEqual(wrote(site), []);
  });

  test(`${title} changes nothing after the session has ended`, async (t) => {
    const site = await serveSettings(t);
    const opened = await open(site, form);
    site.script["get_account"] = raised(401, "unauthorized", "You are not signed in.");
    site.script[form.calls] = site.script["get_account"];
    const answer = await send(site, form, opened);
    if (form.path === "/settings/profile") {
      t.is(answer.status, 401);
      const html = await answer.text();
      t.true(html.includes('value="Lena"'), "the form keeps what was typed");
      t.true(html.includes("/sign-in?return=%2Fsettings%2Fprofile"));
    } else {
      t.is(answer.status, 303);
      const path = form.path + (form.query ?? "");
      t.is(answer.headers.get("location"), `/sign-in?${new URLSearchParams({ return: path })}`);
    }
  });

  test(`${title} redirects to sign-in when a recent sign-in is needed`, async (t) => {
    const site = await serveSettings(t);
    const opened = await open(site, form);
    site.script[form.calls] = raised(401, "unauthorized", "Sign in again.", { sign_in_again: true });
    const answer = await send(site, form, opened);
    if (form.path === "/settings/profile") return void t.is(answer.status, 401);
    t.is(answer.status, 303);
    t.true(answer.headers.get("location")?.endsWith("&again=1"));
  });
}

test("an export that fails half way aborts the response, and the error reaches the log", async (t) => {
  const site = await serveSettings(t);
  const opened = await open(site, EXPORTING);
  const failure = new Error("gone");
  Object.defineProperty(site.script, "export_account", {
    get: () => (site.calls.length > 3 ? failure : { items: [], next_cursor: null }),
  });
  const answer = await send(site, EXPORTING, opened);
  t.is(answer.status, 200);
  t.is(answer.headers.get("content-disposition"), 'attachment; filename="souk-export.json"');
  await t.throwsAsync(answer.text());
  t.deepEqual(site.thrown, [failure]);
});

test("a refused form shows its page again with the reason; a program gets a Problem", async (t) => {
  const form = ARCHIVING;
  const detail = "This offer is removed, so it cannot become archived.";
  const site = await serveSettings(t, { archive_offer: raised(409, "invalid_state", detail) });
  const opened = await open(site, form);
  const page = await send(site, form, opened);
  t.is(page.status, 409);
  const html = await page.text();
  t.true(html.includes(`role="alert">${detail}</p>`));
  t.true(html.includes("<h1>Offers and asks</h1>"));
  const problem = await send(site, form, opened, {}, { Accept: "application/json" });
  t.is(problem.status, 409);
  t.like(await problem.json(), { code: "invalid_state", detail });
});

for (const [title, form, fields, status] of [
  ["a malformed agent id", REMOVING, { agent: "1; drop table agent" }, 404],
  ["a malformed offer id", ARCHIVING, { id: "\u0000" }, 404],
  ["an unknown action", REMOVING, { action: "constructor" }, 400],
  ["a form without an action", REMOVING, { action: "" }, 400],
  ["an unconfirmed deletion", DELETING, { confirmed: "" }, 400],
] as const) {
  test(`${title} is refused without a call to the function`, async (t) => {
    const site = await serveSettings(t);
    const answer = await send(site, form, await open(site, form), fields);
    t.is(answer.status, status);
    t.true((await answer.text()).includes('role="alert"'));
    t.deepEqual(wrote(site), []);
  });
}

test("unknown values in the query string are ignored", async (t) => {
  const site = await serveSettings(t);
  const headers = { Cookie: `souk_session=${SESSION}; souk_csrf=${"c".repeat(43)}` };
  const page = async (query: string) => (await fetch(`${site.url}/settings${query}`, { headers })).text();
  t.true((await page("?done=agent-removed")).includes('role="status"'));
  const plain = await page("");
  for (const query of ["?done=<b>", "?done=constructor", "?done=agent-removed&done=x", "?done=%00", "?done="]) {
    t.is(await page(query), plain, query);
  }
  for (const query of [
    "?cursor=%00",
    "?cursor=a&cursor=b",
    "?status=nonsense",
    "?show=constructor",
    "?status[]=archived",
  ]) {
    t.is((await fetch(`${site.url}/settings/market${query}`, { headers })).status, 200, query);
    t.is((await fetch(`${site.url}/settings/activity${query}`, { headers })).status, 200, query);
  }
  t.true(site.calls.every(({ args }) => args["cursor"] === undefined || args["cursor"] === null));
});

test("control and formatting characters in a profile are removed", async (t) => {
  const form = SAVING;
  const site = await serveSettings(t);
  const fields = { display_name: " Le\u0000na\n\u202Ex ", contact_email: "\u0000", contact_phone: "0049 (0)30 123456" };
  t.is((await send(site, form, await open(site, form), fields)).status, 303);
  t.deepEqual(site.calls[0]?.args, {
    display_name: "Le na x",
    contact_email: null,
    contact_phone: "+4930123456",
    contact_visibility: null,
  });
});

test('an empty activity list does not say "Nothing yet" if the account has agents', async (t) => {
  const list_activity = { ...ACTIVITY, activity: [] };
  for (const [agents, heading] of [
    [[], "Nothing yet"],
    [[AGENT], "Nothing recorded"],
  ] as const) {
    const site = await serveSettings(t, { list_activity, list_agents: { agents } });
    const headers = { Cookie: `souk_session=${SESSION}` };
    const html = await (await fetch(`${site.url}/settings/activity`, { headers })).text();
    t.true(html.includes(`<h2>${heading}</h2>`), heading);
  }
});

test("of a stranger's words nothing is hidden, and none is a link", async (t) => {
  const words = "javascript:alert(1) \u202Etxet\u202C\u2066x\u2069";
  const site = await serveSettings(t, {
    get_account: {
      ...ACCOUNT,
      display_name: words,
      contact_email: words,
      label: words,
      methods: ACCOUNT.methods.map((method) => ({ ...method, email: words })),
    },
    list_agents: {
      agents: [
        { ...AGENT, name: words },
        { ...REMOVED_AGENT, name: words },
      ],
    },
    list_offers: { ...OFFERS, results: OFFERS.results.map((offer) => ({ ...offer, title: words })) },
    list_asks: { ...OFFERS, results: OFFERS.results.map((ask) => ({ ...ask, title: null, text: words })) },
    get_conversation_page: {
      ...CONVERSATION_PAGE,
      messages: CONVERSATION_PAGE.messages.map((message) => ({ ...message, text: words })),
      conversation: {
        ...CONVERSATION,
        offer: { ...CONVERSATION.offer, title: words, price_label: words },
        proposal: { ...CONVERSATION.proposal, terms: { handover: { place: words }, note: words } },
        contact: { methods: [{ type: "url", value: words, preferred: false }], text: words },
      },
    },
    list_activity: {
      ...ACTIVITY,
      activity: ACTIVITY.activity.map((event) => ({
        ...event,
        agent: { id: AGENT.id, name: words },
        target: { type: "offer", id: "1", title: words },
      })),
    },
  });
  for (const path of PAGES) {
    const html = await (await fetch(site.url + path, { headers: { Cookie: `souk_session=${SESSION}` } })).text();
    // Fields are left out. They show what the person typed, and that text has no effect outside its field.
    t.notRegex(html.replace(/<input [^>]*>/g, ""), /[\u202A-\u202E\u2066-\u2069]|(href|action|src)="javascript:/, path);
  }
});

test("where no sign-in method is offered, no page urges the person to add one, and the settings say what is true", async (t) => {
  const site = await serveSettings(t, { get_account: STRANDED_ACCOUNT });
  for (const path of ["", "/market", "/activity", "/profile", "/methods", "/account"]) {
    const page = await fetch(`${site.url}/settings${path}`, { headers: { cookie: `souk_session=${SESSION}` } });
    const html = await page.text();
    t.notRegex(html, /Add a way|Adding a way|href="[^"]*\/settings\/methods"[^>]*>(?!Signing in)/, path);
    t.regex(html, /offers no way to (sign in|add one) at the moment/, path);
  }
  site.script["get_account"] = BARE_ACCOUNT;
  const page = await fetch(`${site.url}/settings`, { headers: { cookie: `souk_session=${SESSION}` } });
  t.regex(await page.text(), /Add a way to sign in/);
});

test("a change that waits, and one that was not accepted, stand at their offers", async (t) => {
  const site = await serveSettings(t);
  const page = await fetch(`${site.url}/settings/market`, { headers: { cookie: `souk_session=${SESSION}` } });
  const html = await page.text();
  t.regex(html, /Oak table for eight[\s\S]*Change in review<\/span> <bdi>A moderator will look at this change/);
  t.regex(html, /Piano lessons at home[\s\S]*Change not accepted<\/span> <bdi>It advertises a shop\./);
});

test("a second click on Send has the key of the first, and another text or a later page another key", async (t) => {
  const site = await serveSettings(t);
  const form = FORMS.find(({ calls }) => calls === "send_message") ?? FORMS[0];
  const opened = await open(site, form as Form);
  const keys: unknown[] = [];
  for (const fields of [{ up_to: "1" }, { up_to: "1" }, { up_to: "2" }, { up_to: "1", text: "No." }]) {
    await send(site, form as Form, opened, fields);
    keys.push(site.calls.at(-1)?.args["idempotency_key"]);
  }
  t.is(keys[0], keys[1]);
  t.is(new Set(keys).size, 3);
});

test("the address that refusals name for powers leads to the agents", async (t) => {
  const site = await serveSettings(t);
  const answer = await fetch(`${site.url}/settings/agents`, { redirect: "manual" });
  t.is(answer.headers.get("location"), "/settings");
});
