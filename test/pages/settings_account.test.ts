import { readFile } from "node:fs/promises";
import test from "ava";
import { eventually, SOFA, wholeLog } from "../support/market.ts";
import { type Fixture, follow, heading, openFixture, press, pressAndFollow } from "./fixture.ts";
import { faults, SOUND } from "./sound.ts";

/**
 * Tests the settings in a browser, against the real service: a person's offers and asks, the activity list, the export
 * and the deletion of the account.
 */

let fixture: Fixture;
test.before(async () => {
  fixture = await openFixture();
});
test.after.always(() => fixture?.end());

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

test("long lists have pages, and a made-up cursor shows the first page", async (t) => {
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
  for (const path of ["market?cursor=bWFkZSB1cA", "activity?cursor=bWFkZSB1cA"]) {
    t.is((await page.goto(`${fixture.service.url}/settings/${path}`))?.status(), 200, path);
  }
});

test("things of another account are not found", async (t) => {
  const [mine, theirs] = await Promise.all([fixture.newPerson(t, "Mine"), fixture.newPerson(t, "Theirs")]);
  const offer = await theirs.agent.call("POST", "/v1/offers", { text: SOFA });
  const offerId: string = offer.body.offer_id ?? offer.body.id;
  const ask = await theirs.agent.call("POST", "/v1/asks", { text: "Looking for a used cargo bike in Berlin" });
  const { page } = mine;
  const tokenAt = async (path: string) => {
    await page.goto(fixture.service.url + path);
    return (await page.locator("input[name=token]").first().getAttribute("value")) ?? "";
  };
  await mine.agent.call("POST", "/v1/offers", { text: SOFA });
  for (const [path, form] of [
    ["/settings", { token: await tokenAt("/settings"), action: "remove", agent: theirs.agent.id }],
    ["/settings/market", { token: await tokenAt("/settings/market"), action: "archive_offer", id: offerId }],
    ["/settings/market", { token: await tokenAt("/settings/market"), action: "archive_ask", id: ask.body.id }],
  ] as const) {
    const answer = await page.request.post(fixture.service.url + path, {
      form,
      headers: { Origin: fixture.service.url },
    });
    t.is(answer.status(), 404, form.action);
  }
  t.deepEqual(await fixture.statuses(theirs.agent), [200, 200]);
  t.is((await mine.agent.call("GET", `/v1/offers/${offerId}`)).body.status, "published");
  t.is((await theirs.agent.call("GET", `/v1/asks/${ask.body.id}`)).body.status, "active");
  t.false((await page.content()).includes("Theirs"));
});

test("the export contains everything that is kept about a person, and nothing about anyone else", async (t) => {
  const [{ page, agent, account }, stranger] = await Promise.all([
    fixture.newPerson(t, "Claude"),
    fixture.newPerson(t, "Stranger"),
  ]);
  await stranger.agent.call("POST", "/v1/offers", { text: SOFA });
  await agent.call("POST", "/v1/offers", { text: SOFA });
  await agent.call("POST", "/v1/asks", { text: "Looking for a used cargo bike in Berlin" });
  await fixture.prove(account);
  await page.goto(`${fixture.service.url}/settings/account`);
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

  await fixture.age(account);
  const led = await pressAndFollow(page, "Download my data");
  t.is(led, `/sign-in?${new URLSearchParams({ return: "/settings/export", again: "1" })}`);
  await page.goto(`${fixture.service.url}/settings/export`);
  t.is(new URL(page.url()).pathname, "/settings/account", "after signing in, the person gets the page with the button");
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

test("before a person with removed offers deletes the account, the page says what is kept, and it counts again", async (t) => {
  const { page, agent, account } = await fixture.newPerson(t);
  const offer = await agent.call("POST", "/v1/offers", { text: SOFA });
  await fixture.sql("update market.offer set status = 'removed' where id = $1", [offer.body.offer_id]);
  await fixture.sql(
    "insert into market.decision (action, account_id, offer_id, reason, sentence) values ('remove', $1, $2, 'scam', 'Three reports.')",
    [account, offer.body.offer_id],
  );
  await fixture.prove(account);
  const [proved] = await fixture.sql<{ method: string; subject_hash: Buffer }>(
    "select method, subject_hash from market.proved_method where account_id = $1",
    [account],
  );
  await page.goto(`${fixture.service.url}/settings/account`);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download my data" }).click(),
  ]);
  const document = JSON.parse(await readFile(await download.path(), "utf8"));
  t.deepEqual(document.account.kept_after_deletion, { suspended: false, removals: 1, caps: 0 });
  t.like(document.decisions[0], { action: "remove", reason: "scam", sentence: "Three reports." });

  await follow(page, "Delete the account …");
  const words = (await page.locator("main").textContent()) ?? "";
  t.true(words.includes("Moderation has taken down one offer of yours."), words);
  t.true(words.includes("what was taken down counts against it. After twelve months all this is erased."));
  await page.getByLabel("I understand").check();
  await press(page, "Delete my account");
  t.is(await heading(page), "Your account is deleted");
  t.true((await page.locator("main").textContent())?.includes("does that still count, for twelve months"));

  const next = await fixture.newPerson(t, "Comes back");
  await fixture.sql("insert into market.proved_method (account_id, method, subject_hash) values ($1, $2, $3)", [
    next.account,
    proved?.method,
    proved?.subject_hash,
  ]);
  t.deepEqual(
    await fixture.sql("select cardinality(prior_removals) as n from market.account where id = $1", [next.account]),
    [{ n: 1 }],
  );
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
