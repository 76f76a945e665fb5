import { readFile } from "node:fs/promises";
import test from "ava";
import { authorizeUrl, newVerifier, register } from "../oauth/client.ts";
import { endFirstSecond, holdFirstSecond, openPage, PHONE, screenshot } from "../support/browser.ts";
import { connectAgent, eventually, SOFA, until, wholeLog } from "../support/market.ts";
import { type Fixture, follow, heading, openFixture, press, pressAndFollow } from "./fixture.ts";
import { faults, SOUND, tabTo } from "./sound.ts";

/**
 * What people do in a browser, against the real service: they approve an agent, look after their offers and asks, and take
 * their data and their account away. What is refused when is tested in test/db, and each state of each page by scripted
 * answers (settings_views.test.ts, settings_http.test.ts).
 */

let fixture: Fixture;
test.before(async () => {
  fixture = await openFixture();
});
test.after.always(() => fixture?.end());

test("with the keyboard alone, a person approves an agent, finds it in the settings and removes it", async (t) => {
  const page = await openPage(fixture.browser, PHONE, t);
  const agent = await connectAgent(fixture.service.url, "Claude");
  const enter = () => Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.goto(agent.link);
  t.true(await page.getByText("A new account").isVisible());
  await until(async () => {
    await page.keyboard.press("Tab");
    return (await page.evaluate("document.activeElement.type")) === "checkbox";
  });
  await page.keyboard.press("Space");
  await tabTo(page, agent.code);
  t.not(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none", "the focus is visible");
  await enter();
  t.is(await heading(page), "Claude now acts for you");
  // This service has no sign-in method, so there is none to add.
  t.is(await page.getByRole("link", { name: "Add a way to sign in" }).count(), 0);
  t.true(await page.getByRole("heading", { name: "Keep this browser: only it opens this account" }).isVisible());
  t.deepEqual(await fixture.statuses(agent), [200, 200]);

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
  t.deepEqual(await fixture.statuses(agent), [401, 401], "both processes refuse the agent");
});

test("in its first second, a page takes no answer from pointer or keyboard, also with less motion", async (t) => {
  const agent = await connectAgent(fixture.service.url, "Claude");
  const { challenge } = newVerifier();
  const redirect_uri = "https://assistant.example/callback";
  const client_id = await register(fixture.service.url, [redirect_uri]);
  const consent = authorizeUrl(fixture.service.url, { client_id, redirect_uri, code_challenge: challenge });
  for (const [address, names] of [
    [agent.link, [agent.code, "Not mine"]],
    [consent, ["Approve", "Not mine"]],
  ] as const) {
    const page = await openPage(fixture.browser, PHONE, t);
    await page.route("https://assistant.example/**", (route) => route.fulfill({ status: 204 }));
    await holdFirstSecond(page);
    await page.goto(address);
    t.is(await page.evaluate("document.activeElement.tagName"), "BODY", "Enter alone presses nothing");
    let posts = 0;
    page.on("request", (request) => (posts += Number(request.method() === "POST")));
    await until(async () => (await page.getByRole("button").count()) === 0);
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    const [accept, refuse] = await Promise.all(
      names.map(async (name) => {
        const { x = 0, y = 0 } = (await page.locator("button", { hasText: name }).boundingBox()) ?? {};
        return [x + 9, y + 9] as const;
      }),
    );
    for (const [x, y] of [accept ?? [0, 0], refuse ?? [0, 0]]) await page.mouse.dblclick(x, y);
    for (let presses = 0; presses < 20; presses += 1) {
      await page.keyboard.press("Tab");
      t.not(await page.evaluate("document.activeElement.tagName"), "BUTTON");
    }
    await endFirstSecond(page);
    t.is(posts, 0);
    // A page that comes back from the browser's memory, or that its opener moves, would have had its second.
    const headers = (await page.request.get(page.url())).headers();
    t.like(headers, { "cache-control": "no-store", "cross-origin-opener-policy": "same-origin" });
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    // The second click of a double-click whose first one closed a window above the page.
    await page.mouse.click(...(accept ?? [0, 0]));
    await page.keyboard.press("Enter");
    t.is(posts, 0);
    await page.getByRole("checkbox").check();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await page.mouse.click(...(accept ?? [0, 0]));
    await page.getByRole("heading", { name: "now acts for you" }).waitFor();
  }
});

test("whoever picks another code approves nothing, and may say that the agent is not theirs", async (t) => {
  const page = await openPage(fixture.browser, PHONE, t);
  const agent = await connectAgent(fixture.service.url, "Claude");
  await page.goto(agent.link);
  t.true(await page.getByRole("group", { name: "Which code does your agent show you?" }).isVisible());
  await endFirstSecond(page);
  const codes = await page
    .getByRole("button", { name: /^[A-Z]{4}-[A-Z]{4}: approve the agent that shows this code$/ })
    .allTextContents();
  t.is(codes.length, 3);
  await press(page, codes.find((code) => code !== agent.code) ?? "");
  t.is(await heading(page), "That is not the code of this agent");
  t.deepEqual(await fixture.statuses(agent), [200, 200]);
  await page.goto(agent.link);
  await press(page, "Not mine");
  t.is(await heading(page), "This agent does not act for you");
  t.deepEqual(await fixture.statuses(agent), [401, 401]);
});

test("the browser sends the form's Origin, but never the link as Referer", async (t) => {
  const page = await openPage(fixture.browser, PHONE, t);
  const agent = await connectAgent(fixture.service.url, "Claude");
  const sent: Record<string, string>[] = [];
  page.on("request", async (request) => sent.push(await request.allHeaders()));
  await page.goto(agent.link);
  await press(page, "Not mine");
  await page.waitForLoadState();
  const post = sent.find((headers) => headers["content-type"] !== undefined);
  t.is(post?.["origin"], fixture.service.url);
  t.false(sent.some((headers) => headers["referer"]?.includes("/connect/")));
});

test("after approving, the back button shows a page that says all is well", async (t) => {
  const { page } = await fixture.newPerson(t);
  await page.goBack();
  t.is(await heading(page), "Already used");
  t.true(await page.getByText("If that was you, all is well").isVisible());
});

test("the first Tab reaches a link that skips the navigation", async (t) => {
  const { page } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/settings`);
  await page.keyboard.press("Tab");
  t.is(await page.evaluate("document.activeElement.textContent"), "Skip to the content");
  await page.keyboard.press("Enter");
  t.is(await page.evaluate("document.activeElement.id"), "content");
});

test("a profile is saved, its phone number is formatted, and agents never see its contact details", async (t) => {
  const { page, agent } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/settings/profile`);
  await page.getByLabel("Name").fill("Lena <b>");
  await page.getByLabel("E-mail address").fill("Lena@Example.com");
  await page.getByLabel("Phone number").fill("0049 (0)30 123456");
  await press(page, "Save");
  t.is(await page.getByRole("status").textContent(), "Your profile is saved.");
  t.is(await page.getByLabel("E-mail address").inputValue(), "lena@example.com");
  t.is(await page.getByLabel("Phone number").inputValue(), "+49 30 123456");
  const me = await agent.call("GET", "/v1/me");
  t.true(me.text.includes("Lena"));
  t.notRegex(me.text, /lena@example\.com|4930123456/i);
});

test("a person sees and archives the offers and asks of their agents, and reads who did what", async (t) => {
  const { page, agent } = await fixture.newPerson(t);
  const offer = await agent.call("POST", "/v1/offers", { text: SOFA });
  t.is(offer.status, 201);
  const ask = await agent.call("POST", "/v1/asks", { text: "Looking for a used cargo bike in Berlin, up to 1500 EUR" });
  t.is(ask.status, 201);

  await page.goto(`${fixture.service.url}/settings/market`);
  await press(page, /^Archive/);
  t.regex((await page.getByRole("status").textContent()) ?? "", /^The offer is archived/);
  t.is((await agent.call("GET", `/v1/offers/${offer.body.offer_id ?? offer.body.id}`)).body.status, "archived");
  await follow(page, "Published");
  t.true(await page.getByText("None of these").isVisible());
  await follow(page, "Archived");
  t.is(await page.locator("li.thing").count(), 1);

  await follow(page, "Asks");
  await press(page, /^Archive/);
  t.regex((await page.getByRole("status").textContent()) ?? "", /^The ask is archived/);
  t.is(new URL(page.url()).searchParams.get("show"), "asks");
  t.deepEqual(await faults(page), SOUND);

  await page.goto(`${fixture.service.url}/settings/activity`);
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

test("long lists have pages, and archiving stays on its page", async (t) => {
  const { page, account } = await fixture.newPerson(t);
  await fixture.sql(
    `insert into market.ask (account_id, text, title, status, read_at)
     select $1, 'Bike ' || n, 'Bike ' || n, 'active', now() from generate_series(1, 25) as n`,
    [account],
  );
  await page.goto(`${fixture.service.url}/settings/market?show=asks`);
  t.is(await page.locator("li.thing").count(), 20);
  await follow(page, "Older");
  t.is(await page.locator("li.thing").count(), 5);
  await press(page, "Archive “Bike 1”");
  t.true(await page.getByRole("status").isVisible());
  t.is(await page.locator("li.thing").count(), 5, "the person stays on the same page of the list");
  await follow(page, "Back to the newest");
  t.is(await page.locator("li.thing").count(), 20);
});

test("deleting an account removes its agents, its data and the content of its offers", async (t) => {
  const { page, agent, account } = await fixture.newPerson(t);
  const reader = (await fixture.newPerson(t, "Reader")).agent;
  const offer = await agent.call("POST", "/v1/offers", { text: SOFA });
  const offerId: string = offer.body.offer_id ?? offer.body.id;
  await fixture.prove(account);
  const tab = await page.context().newPage();
  await tab.goto(`${fixture.service.url}/settings`);
  await tab.locator("summary").click();

  await page.goto(`${fixture.service.url}/settings/account`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download my data" }).click(),
  ]);
  t.is(download.suggestedFilename(), "souk-export.json");
  t.is(JSON.parse(await readFile(await download.path(), "utf8")).offers.length, 1);
  await follow(page, "Delete the account …");
  t.is(await heading(page), "Delete the account?");
  await page.getByRole("button", { name: "Delete my account" }).click();
  t.is(new URL(page.url()).pathname, "/settings/account/delete", "the browser requires the checkbox first");
  await page.getByLabel("I understand").check();
  await press(page, "Delete my account");
  t.is(await heading(page), "Your account is deleted");
  t.false((await page.context().cookies()).some(({ name }) => name === "souk_session"));

  t.deepEqual(await fixture.statuses(agent), [401, 401]);
  t.is((await reader.call("GET", `/v1/offers/${offerId}`)).status, 404);
  const [left] = await fixture.sql<{ row: string; publisher: string | null; status: string }>(
    "select o::text as row, o.account_id as publisher, o.status from market.offer o where o.id = $1",
    [offerId],
  );
  t.is(left?.publisher, null);
  t.is(left?.status, "archived");
  t.notRegex(left?.row ?? "", /lena@example\.com|sofa/i);
  for (const table of ["account", "profile", "proved_method", "session", "agent", "ask"]) {
    const key = table === "account" ? "id" : "account_id";
    t.deepEqual(await fixture.sql(`select from market.${table} where ${key} = $1`, [account]), [], table);
  }
  const found = await eventually(
    () => reader.call("POST", "/v1/offers/search", { query: "sofa Berlin" }),
    ({ text }) => !text.includes(offerId),
  );
  t.is(found.status, 200);

  const led = await pressAndFollow(tab, /Remove this agent/);
  t.regex(led ?? "", /^\/sign-in\?return=%2Fsettings/);
});

test("no token, link, cookie or e-mail address of a person appears in the log", async (t) => {
  const { page, agent } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/settings/profile`);
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
  const logs = await wholeLog(fixture.service);
  for (const secret of secrets) t.false(logs.includes(secret));
});
