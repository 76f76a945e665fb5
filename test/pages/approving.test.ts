import test from "ava";
import { hashSecret } from "../../src/base/tokens.ts";
import { decide, open, PATH, SECRET } from "./approval.ts";
import { CONNECTION, REQUEST_ID, raised, servePages } from "./site.ts";

/** Tests how an agent is approved on its page over HTTP. A fake database gives scripted answers. */

test("opening the approval page changes nothing and reads from the primary, not from a replica", async (t) => {
  const site = await servePages(t);
  await fetch(site.url + PATH);
  const head = await fetch(site.url + PATH, { method: "HEAD" });
  t.is(await head.text(), "");
  const args = { secret_hash: hashSecret(SECRET), session_hash: null };
  const call = { actor: "visitor", name: "get_connection", args, pool: "write" };
  t.deepEqual(site.calls, [call, call]);
});

test("a browser gets the CSRF cookie once, and the form gets a token that is valid for this link only", async (t) => {
  const site = await servePages(t);
  const first = await fetch(site.url + PATH);
  const cookie = first.headers.getSetCookie();
  t.is(cookie.length, 1);
  t.regex(cookie[0] ?? "", /^souk_csrf=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  const headers = { Cookie: cookie[0]?.split(";")[0] ?? "" };
  const again = await fetch(site.url + PATH, { headers });
  t.deepEqual(again.headers.getSetCookie(), []);
  const tokenOf = (html: string) => /name="token" value="([^"]+)"/.exec(html)?.[1];
  const token = tokenOf(await first.text());
  t.is(tokenOf(await again.text()), token);
  t.not(tokenOf(await (await fetch(`${site.url}/connect/other`, { headers })).text()), token);
  t.false((token ?? "").includes(headers.Cookie.split("=")[1] ?? ""), "the token does not contain the cookie");
});

test("a CSRF cookie that the service cannot have set is replaced", async (t) => {
  const site = await servePages(t);
  for (const Cookie of ["souk_csrf=", "souk_csrf=short", `souk_csrf=${"%".repeat(43)}`, ";;;=;"]) {
    const answer = await fetch(site.url + PATH, { headers: { Cookie } });
    t.is(answer.headers.getSetCookie().length, 1, Cookie);
  }
});

test("approving creates a session for a person who has none", async (t) => {
  const opened = await open(t);
  const answer = await decide(opened);
  t.is(answer.status, 200);
  t.is(answer.headers.get("cache-control"), "no-store");
  const html = await answer.text();
  t.true(html.includes('<h1><bdi translate="no">Claude</bdi> now acts for you</h1>'));
  const [cookie = "", ...more] = answer.headers.getSetCookie();
  t.deepEqual(more, []);
  const secret =
    /^souk_session=([\w-]{43}); Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/.exec(cookie)?.[1] ?? "";
  t.not(secret, "");
  t.false(html.includes(secret));
  const [approval, ...further] = opened.site.calls;
  const { code_hash, ...args } = approval?.args ?? {};
  t.deepEqual(
    [{ ...approval, args }, ...further],
    [
      {
        actor: "visitor",
        name: "approve_connection",
        args: {
          secret_hash: hashSecret(SECRET),
          session_hash: null,
          new_session_hash: hashSecret(secret),
          shown: "c0ffee",
          picked: "BCDF-GHJK",
          powers: [],
        },
        pool: "write",
      },
    ],
  );
  t.true(
    Buffer.isBuffer(code_hash) && code_hash.length === 32,
    "the code for a client of OAuth is known only by a hash",
  );
});

test("what the agent may do alone is approved with it, and what makes no sense is shown again as it was typed", async (t) => {
  const detail = "To agree alone, the agent needs a ceiling.";
  const opened = await open(t);
  const fields = { powers: "1", publish: "alone", agree: "alone", amount: "", amount_24h: "20", currency: "eur" };
  opened.site.script["approve_connection"] = raised(400, "bad_request", detail, {
    errors: [{ pointer: "/agree", detail }],
  });
  const answer = await decide(opened, fields);
  t.is(answer.status, 400);
  t.deepEqual(opened.site.calls[0]?.args["powers"], [
    { power: "publish", allowed: "alone" },
    { power: "ask", allowed: "never" },
    { power: "converse", allowed: "never" },
    { power: "agree", allowed: "alone", ceiling: { amount: null, amount_24h: 20, currency: "EUR" } },
  ]);
  const html = await answer.text();
  t.regex(html, /role="alert">Nothing is approved yet/);
  t.regex(html, /name="publish" value="alone" checked>/);
  t.regex(html, /name="ask" value="alone">/);
  t.regex(html, /name="amount_24h" value="20"/);
  t.true(html.includes(`id="ceiling-wrong">${detail}</p>`));
});

test("the page is shown again if the browser's account has changed since the page was shown", async (t) => {
  const detail = "You are now signed in to another account. See below whether the agent should act for it.";
  const opened = await open(t, {
    approve_connection: raised(409, "invalid_state", detail, { account_changed: true }),
  });
  const page = await (await fetch(opened.site.url + PATH, { headers: { Cookie: opened.cookie } })).text();
  t.regex(page, /name="token" value="[\w-]{43}\.c0ffee"/);
  opened.site.calls.length = 0;
  const answer = await decide(opened);
  t.is(answer.status, 409);
  const html = await answer.text();
  t.true(html.includes(`role="alert">${detail}</p>`));
  t.true(html.includes(`name="token" value="${opened.token}"`), "the form can be sent again");
  t.deepEqual(
    opened.site.calls.map(({ name }) => name),
    ["approve_connection", "get_connection"],
  );
  t.like(opened.site.calls[0], { args: { shown: "c0ffee" } });
  const asProgram = await decide(opened, {}, { Accept: "application/json" });
  t.is((JSON.parse(await asProgram.text()) as { detail: string }).detail, detail);
});

test("approving a link again gives the same session in the same browser, another in another browser", async (t) => {
  const opened = await open(t);
  const session = async (cookie: string, token: string) =>
    (await decide({ ...opened, cookie, token })).headers.getSetCookie()[0]?.split(";")[0];
  const first = await session(opened.cookie, opened.token);
  t.is(await session(opened.cookie, opened.token), first);
  const elsewhere = await fetch(opened.site.url + PATH);
  const token = /name="token" value="([^"]+)"/.exec(await elsewhere.text())?.[1] ?? "";
  t.not(await session(elsewhere.headers.getSetCookie()[0]?.split(";")[0] ?? "", token), first);
});

test("a person who must sign in before approving is sent to sign-in and back; a program gets a 401", async (t) => {
  const opened = await open(t, {
    approve_connection: raised(401, "unauthorized", "Sign in again.", { sign_in_again: true }),
  });
  const answer = await fetch(opened.site.url + PATH, {
    method: "POST",
    redirect: "manual",
    headers: { Cookie: opened.cookie, Origin: opened.site.url },
    body: new URLSearchParams({ code: "BCDF-GHJK", token: opened.token }),
  });
  t.is(answer.status, 303);
  t.is(answer.headers.get("location"), `/sign-in?${new URLSearchParams({ return: PATH, again: "1" })}`);
  const problem = await decide(opened, {}, { Accept: "application/json" });
  t.is(problem.status, 401);
  t.like(await problem.json(), { code: "unauthorized", sign_in_again: true });
});

test("the approval page names the account that the agent would act for and offers another", async (t) => {
  const another = `/sign-in?${new URLSearchParams({ return: PATH })}`;
  const page = async (account: object) => {
    const site = await servePages(t, {
      get_connection: { ...CONNECTION, account: { ...CONNECTION.account, ...account } },
    });
    return (await fetch(site.url + PATH)).text();
  };
  const known = await page({});
  t.true(known.includes("Lena (lena@example.com)"));
  t.true(known.includes(`href="${another}">Use another account`));
  const fresh = await page({ is_new: true, has_method: false, label: "a new account without a sign-in method" });
  t.true(fresh.includes("A new account"));
  t.true(fresh.includes(`href="${another}">Use an account I have`));
  const old = await page({ needs_sign_in: true });
  t.false(old.includes('name="code"'));
  t.true(old.includes('value="decline"'), "refusing needs no sign-in");
  t.true((await page({ label: "<script>" })).includes("&lt;script&gt;"));
});

test("approving keeps the session of a person who has one", async (t) => {
  const opened = await open(t, {
    approve_connection: { agent_name: "Claude", agent_id: "a", new_session: false, has_method: true, client: null },
  });
  const session = "s".repeat(43);
  const answer = await decide(opened, {}, { Cookie: `${opened.cookie}; souk_session=${session}` });
  t.is(answer.status, 200);
  t.deepEqual(
    answer.headers.getSetCookie(),
    [`souk_session=${session}; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax`],
    "the same secret, kept for longer because it was used",
  );
  t.deepEqual(opened.site.calls[0]?.args["session_hash"], hashSecret(session));
});

test(`"Not mine" ends the link and the agent's access, and creates no session`, async (t) => {
  const opened = await open(t);
  const answer = await decide(opened, { decision: "decline" });
  t.is(answer.status, 200);
  t.true((await answer.text()).includes("The link and the agent’s access are ended."));
  t.deepEqual(answer.headers.getSetCookie(), []);
  const [declined, ...more] = opened.site.calls;
  t.deepEqual(more, []);
  const { browser_hash, ...args } = declined?.args ?? {};
  t.deepEqual(
    { ...declined, args },
    {
      actor: "visitor",
      name: "decline_connection",
      args: { secret_hash: hashSecret(SECRET), address: "127.0.0.1" },
      pool: "write",
    },
  );
  t.true(Buffer.isBuffer(browser_hash) && browser_hash.length === 32, "the browser is known only by a hash");
});

for (const [status, code, detail] of [
  [409, "connection_already_used", "This link was already used: someone approved this agent. A link works once."],
  [410, "connection_expired", "This link no longer works. Ask your agent to connect again for a new one."],
] as const) {
  test(`${code} is a page for browsers and a Problem for programs`, async (t) => {
    const refused = raised(status, code, detail);
    const opened = await open(t, { approve_connection: refused, decline_connection: refused });
    opened.site.script["get_connection"] = refused;
    const answers = (accept: Record<string, string>) => [
      fetch(opened.site.url + PATH, { headers: accept }),
      decide(opened, {}, accept),
      decide(opened, { decision: "decline" }, accept),
    ];
    for (const accept of ["text/html,application/xhtml+xml,*/*;q=0.8", "image/png"]) {
      for (const answer of await Promise.all(answers({ Accept: accept }))) {
        t.is(answer.status, status);
        t.is(answer.headers.get("content-type"), "text/html; charset=utf-8");
        t.is(answer.headers.get("cache-control"), "no-store");
        t.true((await answer.text()).includes(detail));
      }
    }
    for (const accept of ["application/problem+json", "text/html;q=0.5, application/json"]) {
      for (const answer of await Promise.all(answers({ Accept: accept }))) {
        t.is(answer.status, status);
        t.is(answer.headers.get("content-type"), "application/problem+json; charset=utf-8");
        t.is(answer.headers.get("vary"), "Accept");
        t.like(await answer.json(), {
          type: `${opened.site.url}/errors#${code}`,
          status,
          code,
          detail,
          request_id: REQUEST_ID,
        });
      }
    }
    t.deepEqual(opened.site.thrown, []);
  });
}

test("an unreachable database gives a 503 with Retry-After", async (t) => {
  const site = await servePages(t, {
    get_connection: Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
  });
  const answer = await fetch(site.url + PATH);
  t.is(answer.status, 503);
  t.is(answer.headers.get("retry-after"), "2");
  t.true((await answer.text()).includes("briefly unavailable"));
  t.is(site.thrown.length, 1);
});

test("an unexpected error gives a 500 that reveals nothing of it, and the error is passed on to the log", async (t) => {
  const bug = new Error("relation secret_table does not exist");
  const site = await servePages(t, { get_connection: bug });
  const answer = await fetch(site.url + PATH);
  const html = await answer.text();
  t.is(answer.status, 500);
  t.false(html.includes("secret_table"));
  t.true(html.includes(REQUEST_ID));
  t.deepEqual(site.thrown, [bug]);
});
