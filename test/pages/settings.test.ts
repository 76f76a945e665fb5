import test from "ava";
import { SESSION_COOKIE } from "../../src/base/cookies.ts";
import { screenshot } from "../support/browser.ts";
import { type Fixture, follow, heading, openFixture, press, pressAndFollow } from "./fixture.ts";
import { faults, SOUND } from "./sound.ts";

/** Tests the settings in a browser, against the real service: agents, profile and sign-in methods. */

let fixture: Fixture;
test.before(async () => {
  fixture = await openFixture();
});
test.after.always(() => fixture?.end());

test("the first Tab reaches a link that skips the navigation", async (t) => {
  const { page } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/settings`);
  await page.keyboard.press("Tab");
  t.is(await page.evaluate("document.activeElement.textContent"), "Skip to the content");
  await page.keyboard.press("Enter");
  t.is(await page.evaluate("document.activeElement.id"), "content");
});

test("an agent that is removed in two tabs is removed once, and both tabs say so", async (t) => {
  const { page, agent } = await fixture.newPerson(t);
  const tab = await page.context().newPage();
  for (const at of [page, tab]) {
    await at.goto(`${fixture.service.url}/settings`);
    await at.locator("summary").click();
  }
  for (const at of [page, tab]) {
    await press(at, /Remove this agent/);
    t.true(await at.getByRole("status").isVisible());
    t.true(await at.getByText("No agent acts for you").isVisible());
  }
  t.deepEqual(await fixture.statuses(agent), [401, 401]);
  const [{ count } = { count: 0 }] = await fixture.sql<{ count: number }>(
    "select count(*)::integer as count from market.audit_event where row_id = $1 and action = 'agent.removed'",
    [agent.id],
  );
  t.is(count, 1);
});

test("a profile is saved, its phone number is formatted, and agents never see its contact details", async (t) => {
  const { page, agent, account } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/settings/profile`);
  await page.getByLabel("Name").fill("Lena <b>");
  await page.getByLabel("E-mail address").fill("Lena@Example.com");
  await page.getByLabel("Phone number").fill("0049 (0)30 123456");
  await press(page, "Save");
  t.is(await page.getByRole("status").textContent(), "Your profile is saved.");
  t.is(await page.getByLabel("E-mail address").inputValue(), "lena@example.com");
  t.is(await page.getByLabel("Phone number").inputValue(), "+49 30 123456");
  t.deepEqual(
    await fixture.sql("select contact_email, contact_phone from market.profile where account_id = $1", [account]),
    [{ contact_email: "lena@example.com", contact_phone: "+4930123456" }],
  );
  const me = await agent.call("GET", "/v1/me");
  t.true(me.text.includes("Lena"));
  t.notRegex(me.text, /lena@example\.com|4930123456/i);

  for (const field of ["Name", "E-mail address", "Phone number"]) await page.getByLabel(field).fill("");
  await press(page, "Save");
  t.is(await page.getByRole("status").textContent(), "Your profile is saved.");
  t.is(await page.getByLabel("Name").inputValue(), "");
});

test("errors in a profile are shown beside each field, and the typed values stay", async (t) => {
  const { page } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/settings/profile`);
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

test("a form keeps what was typed if its token or its session is no longer valid", async (t) => {
  const { page } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/settings/profile`);
  await page.getByLabel("Name").fill("Typed with care");
  await page.context().clearCookies({ name: "souk_csrf" });
  await press(page, "Save");
  t.regex((await page.getByRole("alert").textContent()) ?? "", /open for too long/);
  t.is(await page.getByLabel("Name").inputValue(), "Typed with care");

  // Not by ending the session in the database: the worker deletes ended sessions every minute.
  const [session] = (await page.context().cookies()).filter(({ name }) => name === SESSION_COOKIE);
  if (session === undefined) throw new Error("The browser has no session.");
  await page.context().addCookies([{ ...session, value: "ended" }]);
  await press(page, "Save");
  t.regex((await page.getByRole("alert").textContent()) ?? "", /You are not signed in any more/);
  t.is(await page.getByLabel("Name").inputValue(), "Typed with care");
  t.deepEqual(await faults(page), SOUND);
  await screenshot(page, "profile-signed-out");

  await page.context().addCookies([session]);
  await press(page, "Save");
  t.is(await page.getByRole("status").textContent(), "Your profile is saved.");
  t.is(await page.getByLabel("Name").inputValue(), "Typed with care");
});

test("removing a sign-in method needs a recent sign-in, and removing the last one a confirmation", async (t) => {
  const { page, account } = await fixture.newPerson(t);
  await fixture.prove(account, "email");
  await fixture.prove(account, "google");
  await page.goto(`${fixture.service.url}/settings/methods`);
  await follow(page, "Remove Google");
  t.is(await heading(page), "Remove Google?");
  // The other method is removed in another tab meanwhile, so Google is now the last one.
  const tab = await page.context().newPage();
  await tab.goto(`${fixture.service.url}/settings/methods/email`);
  await press(tab, "Remove e-mail");
  t.is(
    await tab.getByRole("status").textContent(),
    "The way to sign in is removed, and every other browser is signed out of this account.",
  );
  await press(page, "Remove Google");
  t.regex((await page.getByRole("alert").textContent()) ?? "", /only way to sign in/);
  t.deepEqual(await faults(page), SOUND);

  await fixture.age(account);
  await page.getByLabel("I understand").check();
  const led = await pressAndFollow(page, "Remove Google");
  t.is(led, `/sign-in?${new URLSearchParams({ return: "/settings/methods/google", again: "1" })}`);

  await fixture.sql("update market.session set signed_in_at = now() where account_id = $1", [account]);
  await page.goto(`${fixture.service.url}/settings/methods/google`);
  await page.getByLabel("I understand").check();
  await press(page, "Remove Google");
  t.true(await page.getByText("There is no way to sign in yet").isVisible());
  await page.goto(`${fixture.service.url}/settings/methods/google`);
  t.is(new URL(page.url()).pathname, "/settings/methods", "a removed method has no page");
});
