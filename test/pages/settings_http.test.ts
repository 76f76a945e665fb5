import test from "ava";
import { hashSecret } from "../../src/base/tokens.ts";
import {
  ACCOUNT,
  ACTIVITY,
  AGENT,
  BARE_ACCOUNT,
  OFFERS,
  REMOVED_AGENT,
  SESSION,
  SETTINGS,
  STRANDED_ACCOUNT,
  serveSettings,
  WEBHOOKS,
} from "./settings_site.ts";
import { raised, type Site } from "./site.ts";

/**
 * Tests the settings over HTTP with a fake database that gives scripted answers: form protection, refusals, and text
 * that strangers wrote.
 */

const PAGES = [
  "/settings",
  "/settings/market",
  "/settings/market?show=asks",
  "/settings/activity",
  "/settings/alerts",
  "/settings/webhooks",
  "/settings/profile",
  "/settings/methods",
  "/settings/methods/google",
  "/settings/account",
  "/settings/account/delete",
];

/** Every form: its path, its fields, the database function that it calls, and the page that it redirects to. */
const FORMS = [
  {
    path: "/settings",
    fields: { action: "remove", agent: AGENT.id },
    calls: "remove_agent",
    leads: "/settings?done=agent-removed",
  },
  {
    path: "/settings/market",
    fields: { action: "archive_offer", id: OFFERS.results[0]?.id ?? "" },
    calls: "archive_offer",
    leads: "/settings/market?done=offer-archived",
  },
  {
    path: "/settings/market",
    fields: { action: "archive_ask", id: OFFERS.results[0]?.id ?? "" },
    calls: "archive_ask",
    leads: "/settings/market?show=asks&done=ask-archived",
    query: "?show=asks",
  },
  {
    path: "/settings/profile",
    fields: { action: "save", display_name: "Lena" },
    calls: "update_profile",
    leads: "/settings/profile?done=profile-saved",
  },
  {
    path: "/settings/methods/google",
    fields: { action: "remove" },
    calls: "remove_method",
    leads: "/settings/methods?done=method-removed",
  },
  { path: "/settings/export", fields: {}, calls: "export_account", leads: null, shownAt: "/settings/account" },
  {
    path: "/settings/account/delete",
    fields: { action: "delete", confirmed: "yes" },
    calls: "delete_account",
    leads: "/settings/account/deleted",
  },
  {
    path: "/settings/market",
    fields: { action: "confirm_offer", id: OFFERS.results[0]?.id ?? "" },
    calls: "confirm_offer",
    leads: "/settings/market?done=offer-confirmed",
  },
  {
    path: "/settings/alerts",
    fields: { action: "digest_on" },
    calls: "set_digest",
    leads: "/settings/alerts?done=digest-on",
  },
  {
    path: "/settings/alerts",
    fields: { action: "unwatch", id: OFFERS.results[0]?.id ?? "" },
    calls: "update_ask",
    leads: "/settings/alerts?done=ask-unwatched",
  },
  {
    path: "/settings/webhooks",
    fields: { action: "test", webhook: WEBHOOKS.webhooks[0]?.id ?? "" },
    calls: "test_webhook",
    leads: "/settings/webhooks?done=webhook-tested",
  },
  {
    path: "/settings/webhooks",
    fields: { action: "delete", webhook: WEBHOOKS.webhooks[0]?.id ?? "" },
    calls: "delete_webhook",
    leads: "/settings/webhooks?done=webhook-deleted",
  },
] as const;

type Form = (typeof FORMS)[number];

type Opened = { cookie: string; token: string };

/** Opens the page of a form as a signed-in browser. Returns the cookies and the form's token. */
const open = async (site: Site, form: Form): Promise<Opened> => {
  const answer = await fetch(site.url + ("shownAt" in form ? form.shownAt : form.path), {
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
  fetch(`${site.url}${form.path}${"query" in form ? form.query : ""}`, {
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

for (const [action, done, called] of [
  ["digest_on", "digest-on", { name: "set_digest", args: { enabled: true } }],
  ["digest_off", "digest-off", { name: "set_digest", args: { enabled: false } }],
  ["watch", "ask-watched", { name: "update_ask", args: { id: AGENT.id, body: { watch_enabled: true }, errors: [] } }],
  [
    "unwatch",
    "ask-unwatched",
    { name: "update_ask", args: { id: AGENT.id, body: { watch_enabled: false }, errors: [] } },
  ],
] as const) {
  test(`the switch ${action} of the alerts does what it says`, async (t) => {
    const site = await serveSettings(t);
    const form = FORMS.find(({ calls }) => calls === called.name);
    if (!form) return t.fail("no form");
    const answer = await send(site, form, await open(site, form), { action, id: AGENT.id });
    t.is(answer.headers.get("location"), `/settings/alerts?done=${done}`);
    t.like(site.calls.at(-1), called);
  });
}

for (const form of FORMS) {
  const title = `${form.calls} at ${form.path}`;

  test(`${title} redirects to a GET`, async (t) => {
    const site = await serveSettings(t);
    const answer = await send(site, form, await open(site, form));
    t.is(answer.status, form.leads === null ? 200 : 303);
    t.is(answer.headers.get("location"), form.leads);
    t.is(answer.headers.get("cache-control"), "no-store");
    t.true(wrote(site).every((name) => name === form.calls) && wrote(site).length > 0);
    if (form.leads === null) return;
    const next = await fetch(site.url + form.leads, { headers: { Cookie: `souk_session=${SESSION}` } });
    t.is(next.status, 200);
  });

  test(`${title} is accepted only from the service's own page`, async (t) => {
    const site = await serveSettings(t);
    const opened = await open(site, form);
    const foreign: Record<string, string>[] = [
      { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
      { Origin: "https://evil.example" },
      { Origin: "null", "Sec-Fetch-Site": "cross-site" },
      { Authorization: `Bearer agt_${"0".repeat(49)}` },
    ];
    for (const headers of foreign) t.is((await send(site, form, opened, {}, headers)).status, 400);
    t.is((await send(site, form, opened, { token: "" })).status, 400);
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
      t.is(
        answer.headers.get("location"),
        `/sign-in?${new URLSearchParams({ return: form.path + ("query" in form ? form.query : "") })}`,
      );
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
  const form = FORMS[5];
  const site = await serveSettings(t);
  const opened = await open(site, form);
  const failure = new Error("gone");
  Object.defineProperty(site.script, "export_account", {
    get: () => (site.calls.length > 3 ? failure : { items: [], next_cursor: null }),
  });
  const answer = await send(site, form, opened);
  t.is(answer.status, 200);
  t.is(answer.headers.get("content-disposition"), 'attachment; filename="souk-export.json"');
  await t.throwsAsync(answer.text());
  t.deepEqual(site.thrown, [failure]);
});

test("a refused form shows its page again with the reason; a program gets a Problem", async (t) => {
  const form = FORMS[1];
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
  ["a malformed agent id", FORMS[0], { agent: "1; drop table agent" }, 404],
  ["a malformed offer id", FORMS[1], { id: "\u0000" }, 404],
  ["an unknown action", FORMS[0], { action: "constructor" }, 400],
  ["a form without an action", FORMS[0], { action: "" }, 400],
  ["an unconfirmed deletion", FORMS[6], { confirmed: "" }, 400],
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
  const form = FORMS[3];
  const site = await serveSettings(t);
  const fields = { display_name: " Le\u0000na\n\u202Ex ", contact_email: "\u0000", contact_phone: "0049 (0)30 123456" };
  t.is((await send(site, form, await open(site, form), fields)).status, 303);
  t.deepEqual(site.calls[0]?.args, { display_name: "Le na x", contact_email: null, contact_phone: "+4930123456" });
});

const HOSTILE = [
  "<script>alert(1)</script>",
  `"><img src=x onerror=alert(1)>`,
  "</bdi></p><h1>Deleted</h1>",
  "<%= it.token %>",
  "javascript:alert(1)",
  "A\u202Etxet\u202C\u2066x\u2069",
];

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

for (const words of HOSTILE) {
  test(`${JSON.stringify(words)} is escaped wherever a stranger's text is shown`, async (t) => {
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
      list_activity: {
        ...ACTIVITY,
        activity: ACTIVITY.activity.map((event) => ({
          ...event,
          agent: { id: AGENT.id, name: words },
          target: { type: "offer", id: "1", title: words },
        })),
      },
    });
    const inert = await serveSettings(t, SETTINGS);
    const headers = { Cookie: `souk_session=${SESSION}` };
    const elements = (html: string) =>
      [...html.matchAll(/<(script|img|h1|iframe|object|style)[ >]/g)].map(([, name]) => name);
    for (const path of PAGES) {
      const html = await (await fetch(site.url + path, { headers })).text();
      const calm = await (await fetch(inert.url + path, { headers })).text();
      t.deepEqual(elements(html), elements(calm), path);
      // Fields are left out. They show what the person typed, and that text has no effect outside its field.
      t.notRegex(
        html.replace(/<input [^>]*>/g, ""),
        /[\u202A-\u202E\u2066-\u2069]|(href|action|src)="javascript:/,
        path,
      );
    }
  });
}

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
