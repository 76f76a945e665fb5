import test from "ava";
import { openPage, PHONE, screenshot } from "../support/browser.ts";
import { connectAgent } from "../support/market.ts";
import { type Fixture, heading, openFixture, press, pressAndFollow } from "./fixture.ts";
import { faults, SOUND, tabTo } from "./sound.ts";

/**
 * Tests approving an agent in a browser, against the real service: repeated clicks, the back button, and the account
 * that the agent joins.
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
  await tabTo(page, "Approve");
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

test("a second click on Approve gets the same answer and keeps the session", async (t) => {
  const { page, agent, account } = await fixture.newPerson(t);
  const first = await page.context().cookies();
  await page.reload();
  t.is(await heading(page), "Claude now acts for you", "the reload sends the form again");
  const values = (cookies: typeof first) => cookies.map(({ name, value }) => [name, value]);
  t.deepEqual(values(await page.context().cookies()), values(first));
  const sessions = await fixture.sql("select from market.session where account_id = $1", [account]);
  t.is(sessions.length, 1);
  await page.goto(`${fixture.service.url}/settings`);
  t.is(await page.getByRole("heading", { level: 2, name: "Claude" }).count(), 1);
  t.deepEqual(await fixture.statuses(agent), [200, 200]);
});

test("simultaneous clicks on Approve create one account and one session", async (t) => {
  const page = await openPage(fixture.browser, PHONE, t);
  const agent = await connectAgent(fixture.service.url);
  await page.goto(agent.link);
  const token = (await page.locator("input[name=token]").getAttribute("value")) ?? "";
  const click = () =>
    page.request.post(agent.link, { form: { token, decision: "approve" }, headers: { Origin: fixture.service.url } });
  const answers = await Promise.all([click(), click(), click()]);
  t.deepEqual(
    answers.map((answer) => answer.status()),
    [200, 200, 200],
  );
  await page.goto(`${fixture.service.url}/settings`);
  t.is(await heading(page), "Agents");
  t.is(
    (
      await fixture.sql("select from market.session s join market.agent a using (account_id) where a.id = $1", [
        agent.id,
      ])
    ).length,
    1,
  );
});

test("after approving, the back button shows a page that says all is well", async (t) => {
  const { page } = await fixture.newPerson(t);
  await page.goBack();
  t.is(await heading(page), "Already used");
  t.true(await page.getByText("If that was you, all is well").isVisible());
});

test("approving while the agent removes itself gets an answer, and the agent gets no access", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const page = await openPage(fixture.browser, PHONE, t);
    const agent = await connectAgent(fixture.service.url);
    await page.goto(agent.link);
    const [, removal] = await Promise.all([press(page, "Approve"), agent.call("DELETE", "/v1/me/agent")]);
    t.is(removal.status, 204);
    t.true(["Test agent now acts for you", "This link has ended"].includes((await heading(page)) ?? ""));
    t.deepEqual(await fixture.statuses(agent), [401, 401]);
    await page.context().close();
  }
});

test("an agent joins the account of the signed-in person only after a recent sign-in", async (t) => {
  const { page, account } = await fixture.newPerson(t);
  await fixture.prove(account);
  const second = await connectAgent(fixture.service.url, "Second");
  await page.goto(second.link);
  t.true(await page.getByText("lena@example.com").isVisible());
  t.is(
    await page.getByRole("link", { name: "Use another account" }).getAttribute("href"),
    `/sign-in?${new URLSearchParams({ return: new URL(second.link).pathname })}`,
  );
  await fixture.age(account);
  const led = await pressAndFollow(page, "Approve");
  t.regex(led ?? "", /^\/sign-in\?return=%2Fconnect%2F.*&again=1$/);
  await page.goto(second.link);
  t.is(await page.getByRole("button", { name: "Approve" }).count(), 0);
  t.true(await page.getByRole("link", { name: "Sign in first" }).isVisible());

  await fixture.sql("update market.session set signed_in_at = now() where account_id = $1", [account]);
  await page.goto(second.link);
  await press(page, "Approve");
  t.is(await page.getByRole("link", { name: "Add a way to sign in" }).count(), 0, "the account has a way to sign in");
  await page.goto(`${fixture.service.url}/settings`);
  t.deepEqual((await page.locator("h2.name").allTextContents()).sort(), ["“Claude”", "“Second”"]);
});
