import { readFile } from "node:fs/promises";
import test, { type ExecutionContext } from "ava";
import type { Browser, Page } from "playwright-core";
import { launchBrowser, openPage, PHONE, screenshot } from "../support/browser.ts";
import { createDatabase, type Database, withClient } from "../support/database.ts";
import { type Agent, call, connectAgent, eventually, SOFA } from "../support/market.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { faults, SOUND, tabTo } from "./sound.ts";

/**
 * The settings as a person uses them: Chromium against the real service and its database.
 *
 *   other   a second process of the service on the same database
 *   proved  an account whose person has signed in by e-mail a moment ago; past the sign-in pages, which have tests of their own
 */

let browser: Browser;
let database: Database;
let service: Service;
let other: Service;
test.before(async () => {
  [browser, database] = await Promise.all([launchBrowser(), createDatabase()]);
  const env = { CONNECTIONS_PER_HOUR: "1000" };
  service = await startService({ database: database.url, env });
  other = await startPart("api", { database: database.url, env });
});
test.after.always(async () => {
  await Promise.all([browser?.close(), service?.stop(), other?.stop()]);
  await database?.drop();
});

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  withClient(database.url, async (client) => (await client.query<Row>(text, values)).rows);

const press = async (page: Page, name: string | RegExp): Promise<void> => {
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name }).first().click()]);
};

const heading = (page: Page): Promise<string | null> => page.getByRole("heading", { level: 1 }).textContent();

/** A person at a browser of their own, who has approved an agent. */
const newPerson = async (
  t: ExecutionContext,
  name = "Claude",
): Promise<{ page: Page; agent: Agent; account: string }> => {
  const page = await openPage(browser, PHONE, t);
  const agent = await connectAgent(service.url, name);
  await page.goto(agent.link);
  await press(page, "Approve");
  const [found] = await sql<{ account_id: string }>("select account_id from market.agent where id = $1", [agent.id]);
  return { page, agent, account: found?.account_id ?? t.fail("the agent has no account") };
};

/** Makes the account's person have proved a method, and their browser signed in. */
const prove = async (account: string, method = "email"): Promise<void> => {
  await sql(
    `insert into market.proved_method (account_id, method, subject_hash, email)
     values ($1::uuid, $2, sha256(convert_to($1::text || $2, 'UTF8')), 'lena@example.com')`,
    [account, method],
  );
  await sql("update market.session set signed_in_at = now() where account_id = $1", [account]);
};

const statuses = async (agent: Agent): Promise<number[]> => {
  const headers = { authorization: `Bearer ${agent.token}` };
  const answers = await Promise.all([service, other].map(({ url }) => call(url, "GET", "/v1/me", { headers })));
  return answers.map(({ status }) => status);
};

test("with the keyboard alone, a person approves an agent, finds it in the settings and removes it", async (t) => {
  const page = await openPage(browser, PHONE, t);
  const agent = await connectAgent(service.url, "Claude");
  const enter = () => Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.goto(agent.link);
  t.true(await page.getByText("A new account").isVisible());
  await tabTo(page, "Approve");
  await enter();
  t.is(await heading(page), "Claude now acts for you");
  t.true(await page.getByRole("link", { name: "Add a way to sign in" }).isVisible());
  t.deepEqual(await statuses(agent), [200, 200]);

  await tabTo(page, "Settings");
  await enter();
  t.is(await heading(page), "Agents");
  await tabTo(page, "Remove");
  await page.keyboard.press("Enter");
  await tabTo(page, "Remove this agent");
  await screenshot(page, "walk-remove");
  await enter();
  t.is(await page.getByRole("status").textContent(), "The agent is removed. It can do nothing in your name any more.");
  t.true(await page.getByRole("heading", { name: "Removed" }).isVisible());
  t.deepEqual(await faults(page), SOUND);
  t.deepEqual(await statuses(agent), [401, 401], "also on a process that did not remove it");
});

test("the first Tab leads past the navigation", async (t) => {
  const { page } = await newPerson(t);
  await page.goto(`${service.url}/settings`);
  await page.keyboard.press("Tab");
  t.is(await page.evaluate("document.activeElement.textContent"), "Skip to the content");
  await page.keyboard.press("Enter");
  t.is(await page.evaluate("document.activeElement.id"), "content");
});

test("an agent that is removed in two tabs is removed once, and both say so", async (t) => {
  const { page, agent } = await newPerson(t);
  const tab = await page.context().newPage();
  for (const at of [page, tab]) {
    await at.goto(`${service.url}/settings`);
    await at.locator("summary").click();
  }
  for (const at of [page, tab]) {
    await press(at, /Remove this agent/);
    t.true(await at.getByRole("status").isVisible());
    t.true(await at.getByText("No agent acts for you").isVisible());
  }
  t.deepEqual(await statuses(agent), [401, 401]);
  const [{ count } = { count: 0 }] = await sql<{ count: number }>(
    "select count(*)::integer as count from market.audit_event where row_id = $1 and action = 'agent.removed'",
    [agent.id],
  );
  t.is(count, 1);
});

test("a second click on Approve answers as the first, and keeps the session", async (t) => {
  const { page, agent, account } = await newPerson(t);
  const first = await page.context().cookies();
  await page.reload();
  t.is(await heading(page), "Claude now acts for you", "the form is sent again");
  const values = (cookies: typeof first) => cookies.map(({ name, value }) => [name, value]);
  t.deepEqual(values(await page.context().cookies()), values(first));
  const sessions = await sql("select from market.session where account_id = $1", [account]);
  t.is(sessions.length, 1);
  await page.goto(`${service.url}/settings`);
  t.is(await page.getByRole("heading", { level: 2, name: "Claude" }).count(), 1);
  t.deepEqual(await statuses(agent), [200, 200]);
});

test("two clicks on Approve at the same moment make one account and one session", async (t) => {
  const page = await openPage(browser, PHONE, t);
  const agent = await connectAgent(service.url);
  await page.goto(agent.link);
  const token = (await page.locator("input[name=token]").getAttribute("value")) ?? "";
  const click = () =>
    page.request.post(agent.link, { form: { token, decision: "approve" }, headers: { Origin: service.url } });
  const answers = await Promise.all([click(), click(), click()]);
  t.deepEqual(
    answers.map((answer) => answer.status()),
    [200, 200, 200],
  );
  await page.goto(`${service.url}/settings`);
  t.is(await heading(page), "Agents");
  t.is(
    (await sql("select from market.session s join market.agent a using (account_id) where a.id = $1", [agent.id]))
      .length,
    1,
  );
});

test("the back button after approving says that all is well", async (t) => {
  const { page } = await newPerson(t);
  await page.goBack();
  t.is(await heading(page), "Already used");
  t.true(await page.getByText("If that was you, all is well").isVisible());
});

test("a person who approves while the agent removes itself gets an answer, and the agent none of the access", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const page = await openPage(browser, PHONE, t);
    const agent = await connectAgent(service.url);
    await page.goto(agent.link);
    const [, removal] = await Promise.all([press(page, "Approve"), agent.call("DELETE", "/v1/me/agent")]);
    t.is(removal.status, 204);
    t.true(["Test agent now acts for you", "This link has ended"].includes((await heading(page)) ?? ""));
    t.deepEqual(await statuses(agent), [401, 401]);
    await page.context().close();
  }
});

test("an agent is added to the account of who is signed in, after a new sign-in only", async (t) => {
  const { page, account } = await newPerson(t);
  await prove(account);
  const second = await connectAgent(service.url, "Second");
  await page.goto(second.link);
  t.true(await page.getByText("lena@example.com").isVisible());
  t.is(
    await page.getByRole("link", { name: "Use another account" }).getAttribute("href"),
    `/sign-in?${new URLSearchParams({ return: new URL(second.link).pathname })}`,
  );
  await sql("update market.session set signed_in_at = now() - interval '16 minutes' where account_id = $1", [account]);
  const [led] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "POST"),
    page.getByRole("button", { name: "Approve" }).click(),
  ]);
  t.is(led.status(), 303);
  t.regex(led.headers()["location"] ?? "", /^\/sign-in\?return=%2Fconnect%2F.*&again=1$/);
  await page.goto(second.link);
  t.is(await page.getByRole("button", { name: "Approve" }).count(), 0);
  t.true(await page.getByRole("link", { name: "Sign in first" }).isVisible());

  await sql("update market.session set signed_in_at = now() where account_id = $1", [account]);
  await page.goto(second.link);
  await press(page, "Approve");
  t.is(await page.getByRole("link", { name: "Add a way to sign in" }).count(), 0, "it has one");
  await page.goto(`${service.url}/settings`);
  t.deepEqual((await page.locator("h2.name").allTextContents()).sort(), ["“Claude”", "“Second”"]);
});

test("a profile is kept, shown as people write it, and never given to an agent", async (t) => {
  const { page, agent, account } = await newPerson(t);
  await page.goto(`${service.url}/settings/profile`);
  await page.getByLabel("Name").fill("Lena <b>");
  await page.getByLabel("E-mail address").fill("Lena@Example.com");
  await page.getByLabel("Phone number").fill("0049 (0)30 123456");
  await press(page, "Save");
  t.is(await page.getByRole("status").textContent(), "Your profile is saved.");
  t.is(await page.getByLabel("E-mail address").inputValue(), "lena@example.com");
  t.is(await page.getByLabel("Phone number").inputValue(), "+49 30 123456");
  t.deepEqual(await sql("select contact_email, contact_phone from market.profile where account_id = $1", [account]), [
    { contact_email: "lena@example.com", contact_phone: "+4930123456" },
  ]);
  const me = await agent.call("GET", "/v1/me");
  t.true(me.text.includes("Lena"));
  t.notRegex(me.text, /lena@example\.com|4930123456/i);

  for (const field of ["Name", "E-mail address", "Phone number"]) await page.getByLabel(field).fill("");
  await press(page, "Save");
  t.is(await page.getByRole("status").textContent(), "Your profile is saved.");
  t.is(await page.getByLabel("Name").inputValue(), "");
});

test("what is wrong with a profile stands beside each field, and what was typed stays", async (t) => {
  const { page } = await newPerson(t);
  await page.goto(`${service.url}/settings/profile`);
  await page.getByLabel("Name").fill("Lena");
  await page.getByLabel("E-mail address").fill("lena at example");
  await page.getByLabel("Phone number").fill("030 123456");
  await press(page, "Save");
  t.is(await page.getByRole("alert").textContent(), "Nothing is saved yet. 2 fields need another look.");
  t.deepEqual(await faults(page), SOUND);
  for (const [field, typed] of [
    ["E-mail address", "lena at example"],
    ["Phone number", "030 123456"],
  ] as const) {
    const input = page.getByLabel(field);
    t.is(await input.inputValue(), typed);
    t.is(await input.getAttribute("aria-invalid"), "true");
    const described = (await input.getAttribute("aria-describedby")) ?? "";
    t.regex((await page.locator(`#${described.split(" ").at(-1)}`).textContent()) ?? "", /This is not/);
  }
  t.is(await page.getByLabel("Name").inputValue(), "Lena");
  t.is(await page.getByLabel("Name").getAttribute("aria-invalid"), null);
});

test("a form that was open for too long, or whose session has ended, keeps what was typed until it is saved", async (t) => {
  const { page, account } = await newPerson(t);
  await page.goto(`${service.url}/settings/profile`);
  await page.getByLabel("Name").fill("Typed with care");
  await page.context().clearCookies({ name: "souk_csrf" });
  await press(page, "Save");
  t.regex((await page.getByRole("alert").textContent()) ?? "", /open for too long/);
  t.is(await page.getByLabel("Name").inputValue(), "Typed with care");

  await sql("update market.session set expires_at = now() where account_id = $1", [account]);
  await press(page, "Save");
  t.regex((await page.getByRole("alert").textContent()) ?? "", /You are not signed in any more/);
  t.is(await page.getByLabel("Name").inputValue(), "Typed with care");
  t.deepEqual(await faults(page), SOUND);
  await screenshot(page, "profile-signed-out");

  await sql("update market.session set expires_at = now() + interval '1 day' where account_id = $1", [account]);
  await press(page, "Save");
  t.is(await page.getByRole("status").textContent(), "Your profile is saved.");
  t.is(await page.getByLabel("Name").inputValue(), "Typed with care");
});

test("a way to sign in is removed after a recent sign-in, the last one only after a warning", async (t) => {
  const { page, account } = await newPerson(t);
  await prove(account, "email");
  await prove(account, "google");
  await page.goto(`${service.url}/settings/methods`);
  await page.getByRole("link", { name: "Remove Google" }).click();
  t.is(await heading(page), "Remove Google?");
  // In another tab the other one is removed meanwhile: now this is the last.
  const tab = await page.context().newPage();
  await tab.goto(`${service.url}/settings/methods/email`);
  await press(tab, "Remove E-mail");
  t.is(await tab.getByRole("status").textContent(), "The way to sign in is removed.");
  await press(page, "Remove Google");
  t.regex((await page.getByRole("alert").textContent()) ?? "", /only way to sign in/);
  t.deepEqual(await faults(page), SOUND);

  await sql("update market.session set signed_in_at = now() - interval '16 minutes' where account_id = $1", [account]);
  await page.getByLabel("I understand").check();
  const [led] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "POST"),
    page.getByRole("button", { name: "Remove Google" }).click(),
  ]);
  t.is(
    led.headers()["location"],
    `/sign-in?${new URLSearchParams({ return: "/settings/methods/google", again: "1" })}`,
  );

  await sql("update market.session set signed_in_at = now() where account_id = $1", [account]);
  await page.goto(`${service.url}/settings/methods/google`);
  await page.getByLabel("I understand").check();
  await press(page, "Remove Google");
  t.true(await page.getByText("There is no way to sign in yet").isVisible());
  await page.goto(`${service.url}/settings/methods/google`);
  t.is(new URL(page.url()).pathname, "/settings/methods", "what is gone has no page");
});

test("a person sees what is offered and asked in their name, takes it down, and reads who did what", async (t) => {
  const { page, agent } = await newPerson(t);
  const offer = await agent.call("POST", "/v1/offers", { text: SOFA });
  t.is(offer.status, 201);
  const ask = await agent.call("POST", "/v1/asks", { text: "Looking for a used cargo bike in Berlin, up to 1500 EUR" });
  t.is(ask.status, 201);

  await page.goto(`${service.url}/settings/market`);
  await press(page, /^Archive/);
  t.regex((await page.getByRole("status").textContent()) ?? "", /^The offer is archived/);
  t.is((await agent.call("GET", `/v1/offers/${offer.body.offer_id ?? offer.body.id}`)).body.status, "archived");
  await page.getByRole("link", { name: "Published" }).click();
  t.true(await page.getByText("None of these").isVisible());
  await page.getByRole("link", { name: "Archived" }).click();
  t.is(await page.locator("li.thing").count(), 1);

  await page.getByRole("link", { name: "Asks", exact: true }).click();
  await press(page, /^Archive/);
  t.regex((await page.getByRole("status").textContent()) ?? "", /^The ask is archived/);
  t.is(new URL(page.url()).searchParams.get("show"), "asks");
  t.deepEqual(await faults(page), SOUND);

  await page.goto(`${service.url}/settings/activity`);
  const sentences = (await page.locator("li.row p").allTextContents()).map((text) =>
    text.replace(/“[^”]*(sofa|bike)[^”]*”/i, "“$1”").toLowerCase(),
  );
  for (const sentence of [
    "you archived “sofa”.",
    "your agent “claude” published “sofa”.",
    "you archived the ask “bike”.",
    "you approved the agent “claude”.",
    "you opened this account.",
  ]) {
    t.true(sentences.includes(sentence), `${sentence} in ${sentences.join("\n")}`);
  }
  t.deepEqual(await faults(page), SOUND);
});

test("long lists are read page by page, and a cursor that was made up leads to their start", async (t) => {
  const { page, account } = await newPerson(t);
  await sql(
    `insert into market.ask (account_id, text, title, status, read_at)
     select $1, 'Bike ' || n, 'Bike ' || n, 'active', now() from generate_series(1, 25) as n`,
    [account],
  );
  await page.goto(`${service.url}/settings/market?show=asks`);
  t.is(await page.locator("li.thing").count(), 20);
  await page.getByRole("link", { name: "Older" }).click();
  t.is(await page.locator("li.thing").count(), 5);
  await press(page, "Archive “Bike 1”");
  t.true(await page.getByRole("status").isVisible());
  t.is(await page.locator("li.thing").count(), 5, "the person stays where they were");
  await page.getByRole("link", { name: "Back to the newest" }).click();
  t.is(await page.locator("li.thing").count(), 20);
  for (const path of ["market?cursor=bWFkZSB1cA", "activity?cursor=bWFkZSB1cA"]) {
    t.is((await page.goto(`${service.url}/settings/${path}`))?.status(), 200, path);
  }
});

test("what belongs to another account is not found", async (t) => {
  const [mine, theirs] = await Promise.all([newPerson(t, "Mine"), newPerson(t, "Theirs")]);
  const offer = await theirs.agent.call("POST", "/v1/offers", { text: SOFA });
  const offerId: string = offer.body.offer_id ?? offer.body.id;
  const ask = await theirs.agent.call("POST", "/v1/asks", { text: "Looking for a used cargo bike in Berlin" });
  const { page } = mine;
  const tokenAt = async (path: string) => {
    await page.goto(service.url + path);
    return (await page.locator("input[name=token]").first().getAttribute("value")) ?? "";
  };
  await mine.agent.call("POST", "/v1/offers", { text: SOFA });
  for (const [path, form] of [
    ["/settings", { token: await tokenAt("/settings"), action: "remove", agent: theirs.agent.id }],
    ["/settings/market", { token: await tokenAt("/settings/market"), action: "archive_offer", id: offerId }],
    ["/settings/market", { token: await tokenAt("/settings/market"), action: "archive_ask", id: ask.body.id }],
  ] as const) {
    const answer = await page.request.post(service.url + path, { form, headers: { Origin: service.url } });
    t.is(answer.status(), 404, form.action);
  }
  t.deepEqual(await statuses(theirs.agent), [200, 200]);
  t.is((await mine.agent.call("GET", `/v1/offers/${offerId}`)).body.status, "published");
  t.is((await theirs.agent.call("GET", `/v1/asks/${ask.body.id}`)).body.status, "active");
  t.false((await page.content()).includes("Theirs"));
});

test("a person downloads everything that is kept about them, and nothing of anyone else", async (t) => {
  const [{ page, agent, account }, stranger] = await Promise.all([newPerson(t, "Claude"), newPerson(t, "Stranger")]);
  await stranger.agent.call("POST", "/v1/offers", { text: SOFA });
  await agent.call("POST", "/v1/offers", { text: SOFA });
  await agent.call("POST", "/v1/asks", { text: "Looking for a used cargo bike in Berlin" });
  await prove(account);
  await page.goto(`${service.url}/settings/account`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download my data" }).click(),
  ]);
  t.is(download.suggestedFilename(), "souk-export.json");
  const text = await readFile(await download.path(), "utf8");
  const everything = JSON.parse(text);
  t.is(everything.account.methods[0].email, "lena@example.com");
  t.deepEqual(
    everything.agents.map(({ name }: { name: string }) => name),
    ["Claude"],
  );
  t.is(everything.offers.length, 1);
  t.true(everything.offers[0].description.includes("lena@example.com"));
  t.is(everything.asks.length, 1);
  t.true(everything.activity.length >= 4);
  t.notRegex(text, /Stranger|agt_|secret|hash/i);

  await sql("update market.session set signed_in_at = now() - interval '16 minutes' where account_id = $1", [account]);
  const [led] = await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === "POST"),
    page.getByRole("button", { name: "Download my data" }).click(),
  ]);
  t.is(led.headers()["location"], `/sign-in?${new URLSearchParams({ return: "/settings/export.json", again: "1" })}`);
  await page.goto(`${service.url}/settings/export.json`);
  t.is(new URL(page.url()).pathname, "/settings/account", "who comes back from signing in finds the button");
});

test("who deletes the account is gone: agents refused, offers empty, nothing left to sign in to", async (t) => {
  const { page, agent, account } = await newPerson(t);
  const reader = (await newPerson(t, "Reader")).agent;
  const offer = await agent.call("POST", "/v1/offers", { text: SOFA });
  const offerId: string = offer.body.offer_id ?? offer.body.id;
  await prove(account);
  const tab = await page.context().newPage();
  await tab.goto(`${service.url}/settings`);
  await tab.locator("summary").click();

  await page.goto(`${service.url}/settings/account`);
  await page.getByRole("link", { name: "Delete the account" }).click();
  t.is(await heading(page), "Delete the account?");
  await page.getByRole("button", { name: "Delete my account" }).click();
  t.is(new URL(page.url()).pathname, "/settings/account/delete", "the browser asks for the tick first");
  await page.getByLabel("I understand").check();
  await press(page, "Delete my account");
  t.is(await heading(page), "Your account is deleted");
  t.false((await page.context().cookies()).some(({ name }) => name === "souk_session"));

  t.deepEqual(await statuses(agent), [401, 401]);
  t.is((await reader.call("GET", `/v1/offers/${offerId}`)).status, 404);
  const [left] = await sql<{ row: string; publisher: string | null; status: string }>(
    "select o::text as row, o.account_id as publisher, o.status from market.offer o where o.id = $1",
    [offerId],
  );
  t.is(left?.publisher, null);
  t.is(left?.status, "archived");
  t.notRegex(left?.row ?? "", /lena@example\.com|sofa/i);
  for (const table of ["account", "profile", "proved_method", "session", "agent", "ask"]) {
    const key = table === "account" ? "id" : "account_id";
    t.deepEqual(await sql(`select from market.${table} where ${key} = $1`, [account]), [], table);
  }
  const found = await eventually(
    () => reader.call("POST", "/v1/offers/search", { query: "sofa Berlin" }),
    ({ text }) => !text.includes(offerId),
  );
  t.is(found.status, 200);

  const [led] = await Promise.all([
    tab.waitForResponse((answer) => answer.request().method() === "POST"),
    tab.getByRole("button", { name: /Remove this agent/ }).click(),
  ]);
  t.is(led.status(), 303);
  t.regex(led.headers()["location"] ?? "", /^\/sign-in\?return=%2Fsettings/);
});

test("nothing that a person does here stands in the log", async (t) => {
  const { page, agent } = await newPerson(t);
  await page.goto(`${service.url}/settings/profile`);
  await page.getByLabel("E-mail address").fill("private@example.com");
  await press(page, "Save");
  const cookies = await page.context().cookies();
  const secrets = [
    agent.token,
    agent.link.split("/").at(-1) ?? "",
    ...cookies.map(({ value }) => value),
    "private@example.com",
  ];
  t.is(secrets.filter((secret) => secret === "").length, 0);
  for (const secret of secrets) t.false((service.logs() + other.logs()).includes(secret));
});
