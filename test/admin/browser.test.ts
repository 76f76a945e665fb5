import test, { type ExecutionContext } from "ava";
import type { Browser, Page } from "playwright-core";
import { newModeratorLink } from "../../src/admin/moderator.ts";
import { axeFindings } from "../pages/sound.ts";
import {
  endFirstSecond,
  holdFirstSecond,
  LAPTOP,
  launchBrowser,
  leaveBy,
  openPage,
  overflowing,
  PHONE,
  screenshot,
  VIEWS,
  type View,
} from "../support/browser.ts";
import { type Agent, patiently, SOFA } from "../support/market.ts";
import { type AdminFixture, type Moderator, openOwnAdminFixture } from "./fixture.ts";

/**
 * Tests the moderators' pages in a browser: accessible at every size, and usable by mouse, by keyboard, and without
 * JavaScript.
 */

/** A text that tries to break the page. */
const HOSTILE = `${SOFA}. <script>alert(1)</script> <b>"bold"</b> javascript:alert(1) \u202Ereversed ${"W".repeat(300)}`;

let browser: Browser;
let fixture: AdminFixture;
let moderator: Moderator;
let owner: Agent;
let reporter: Agent;
test.before(async () => {
  [browser, fixture] = await Promise.all([launchBrowser(), openOwnAdminFixture()]);
  moderator = await fixture.moderator("Mo");
  [owner, reporter] = [await fixture.agent("<i>Lena's</i> assistant"), await fixture.agent("Second")];
});
test.after.always(async () => {
  await browser?.close();
  await fixture?.stop();
});

const faults = async (page: Page): Promise<unknown> => ({
  axe: await axeFindings(page),
  overflowing: (await overflowing(page)).filter(
    (element) => !/^<(table|thead|tbody|tr|th|td|time|bdi|code|a|span)\b/.test(element),
  ),
  width: await page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
});
const SOUND = { axe: [], overflowing: [], width: 0 };

/** Opens a page in the moderator's browser. Collects its console messages and its requests to other hosts. */
const visit = async (t: ExecutionContext, view: View, options: { javaScriptEnabled?: boolean } = {}) => {
  const page = await openPage(browser, view, t, options);
  const secret = moderator.secret;
  await page.context().addCookies([{ name: "souk_session", value: secret, url: fixture.url }]);
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(fixture.url)) complaints.push(request.url());
  });
  return { page, complaints };
};

/** Publishes an offer and reports it, so that it waits for a decision. Returns the offer's id. */
const reported = async (text = SOFA): Promise<string> => {
  const id = await fixture.publish(owner, text);
  const report = { reason: "scam", comment: "Asks for payment before a viewing." };
  const { status, text: answer } = await patiently(() => reporter.call("POST", `/v1/offers/${id}/report`, report));
  if (status !== 200) throw new Error(`reporting gave ${status}: ${answer}`);
  return id;
};
/** Changes an offer, so that the change waits for a moderator. */
const change = async (agent: Agent, id: string, body: object): Promise<void> => {
  await fixture.sql("update market.setting set value = 'true' where name = 'pre_moderation'");
  const { status, text } = await agent.call("PATCH", `/v1/offers/${id}`, body);
  await fixture.sql("update market.setting set value = 'false' where name = 'pre_moderation'");
  if (status !== 200) throw new Error(text);
};
const statusOf = async (id: string) => (await fixture.offer(owner, id)).body;

for (const view of VIEWS) {
  test.serial(`every page is accessible and fits the screen on ${view.name}`, async (t) => {
    const id = await reported(HOSTILE);
    const removed = await fixture.publish(owner, SOFA);
    await moderator.decide("removeOffer", removed, { reason: "spam", sentence: "It advertises a shop." });
    await owner.call("POST", `/v1/offers/${removed}/appeal`, { comment: "It is one sofa, not a shop." });
    // An agent of its own, so that the owner stays under the cap.
    const changer = await fixture.agent();
    const changed = await fixture.publish(changer);
    await change(changer, changed, { text: HOSTILE, images: ["https://example.com/sofa.jpg"] });
    const account = await fixture.accountOf(owner);
    const { page, complaints } = await visit(t, view);
    for (const [name, path] of [
      ["queue", "/admin"],
      ["queue-empty", "/admin?queue=pending"],
      ["offer", `/admin/offers/${id}`],
      ["appeal", `/admin/offers/${removed}`],
      ["changed", `/admin/offers/${changed}`],
      ["account", `/admin/accounts/${account}`],
      ["settings", "/admin/settings"],
      ["search", "/admin/search?q=sofa"],
      ["audit", "/admin/audit"],
      ["audit-filtered", "/admin/audit?actor=moderator&action=offer.removed&since=2026-01-01"],
      ["audit-refused", "/admin/audit?since=yesterday"],
      ["audit-offer", `/admin/audit?about=${removed}`],
    ] as const) {
      await page.goto(fixture.url + path);
      await screenshot(page, `admin-${name}-${view.name}`);
      t.deepEqual(await faults(page), SOUND, path);
    }
    await page.goto(`${fixture.url}/admin/offers/${id}`);
    await moderator.decide("keepOffer", id);
    await leaveBy(page, page.getByRole("button", { name: "Remove" }));
    t.regex((await page.getByRole("alert").textContent()) ?? "", /has changed since you looked at it/);
    await screenshot(page, `admin-conflict-${view.name}`);
    t.deepEqual(await faults(page), SOUND, "a refused decision");
    t.deepEqual(
      complaints.filter((text) => !/status of 40[09]/.test(text)),
      [],
    );
  });
}

test.serial("the page of the first-start link is accessible, and its button leads to the queue", async (t) => {
  await fixture.sql("delete from market.moderator");
  const link = (await newModeratorLink(fixture.databaseUrl, fixture.url)) ?? "";
  const page = await openPage(browser, PHONE, t);
  await page.goto(link);
  await screenshot(page, "moderator-link");
  t.deepEqual(await faults(page), SOUND);
  await leaveBy(page, page.getByRole("button", { name: "Become a moderator" }));
  t.is(page.url(), `${fixture.url}/admin`);
  t.is(await page.getByRole("heading", { level: 1 }).textContent(), "Queue");
  await fixture.sql("insert into market.moderator (account_id, appointed_by) values ($1, 'a test')", [
    moderator.account,
  ]);
});

test.serial("one key decides on an offer and opens the next case", async (t) => {
  await fixture.sql("update market.review_case set closed_at = now()");
  const [first, second] = [await reported(), await reported()];
  const { page } = await visit(t, LAPTOP);
  await page.goto(`${fixture.url}/admin`);
  await page
    .getByRole("link", { name: /Grey three-seat sofa/ })
    .first()
    .click();
  // The button is shown by the script that listens to the keys.
  await page.getByRole("button", { name: "Single keys are on" }).waitFor();
  t.true(page.url().endsWith(first));
  await holdFirstSecond(page);
  await Promise.all([page.waitForURL(`**/admin/offers/${second}?**`), page.keyboard.press("k")]);
  t.true((await statusOf(first)).reviewed);
  t.regex((await page.getByRole("status").textContent()) ?? "", /^Kept\./);
  t.is(await page.getByLabel("Reason, for taking it down").inputValue(), "scam", "the reported reason is preselected");
  await page.keyboard.press("r");
  t.is((await statusOf(second)).status, "published", "a page takes no answer in its first second");
  await endFirstSecond(page);
  await Promise.all([page.waitForURL("**/admin?**"), page.keyboard.press("r")]);
  t.like(await statusOf(second), { status: "removed", review_reason: "scam" });
  t.regex((await page.getByRole("status").textContent()) ?? "", /^Removed\./);
});

test.serial("shortcut keys do nothing while somebody types or after they were turned off", async (t) => {
  const id = await reported();
  const { page } = await visit(t, LAPTOP);
  await page.goto(`${fixture.url}/admin/offers/${id}`);
  await page.getByLabel("Words").pressSequentially("keep r");
  t.is((await statusOf(id)).status, "published");
  await page.getByRole("button", { name: "Single keys are on" }).click();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("r");
  await page.reload();
  await page.getByRole("button", { name: "Single keys are off" }).waitFor();
  await page.keyboard.press("r");
  t.is((await statusOf(id)).status, "published");
});

test.serial("everything works without JavaScript, on a phone", async (t) => {
  const { page } = await visit(t, PHONE, { javaScriptEnabled: false });
  const id = await reported();
  await page.goto(`${fixture.url}/admin/offers/${id}`);
  await leaveBy(page, page.getByRole("button", { name: /Take for ten minutes/ }));
  await page.getByRole("button", { name: /Give back/ }).waitFor();
  await page.getByLabel("Reason, for taking it down").selectOption("counterfeit");
  await page.getByLabel("Words").fill("It is a copy.");
  await leaveBy(page, page.getByRole("button", { name: /^Remove/ }));
  t.like(await statusOf(id), { status: "removed", review: "It is a copy.", review_reason: "counterfeit" });
  await page.goto(`${fixture.url}/admin/offers/${id}`);
  await leaveBy(page, page.getByRole("button", { name: /^Restore/ }));
  t.like(await statusOf(id), { status: "published", reviewed: true });

  await page.goto(`${fixture.url}/admin/accounts/${await fixture.accountOf(owner)}`);
  await page.getByRole("textbox", { name: "Offers" }).fill("7");
  await leaveBy(page, page.getByRole("button", { name: "Set the cap of offers" }));
  t.is((await owner.call("GET", "/v1/me")).body.limits.publish_offer.limit, 7);
  await page.getByLabel("Reason").selectOption("scam");
  await leaveBy(page, page.getByRole("button", { name: "Suspend" }));
  t.is((await owner.call("POST", "/v1/offers", { text: SOFA })).body.account_status, "suspended");
  await leaveBy(page, page.getByRole("button", { name: /^Reinstate/ }));
  await page.getByRole("textbox", { name: "Offers" }).fill("");
  await leaveBy(page, page.getByRole("button", { name: "Set the cap of offers" }));

  await page.goto(`${fixture.url}/admin/settings`);
  await page.getByLabel("pre moderation").selectOption("true");
  await leaveBy(page, page.getByRole("button", { name: "Change pre moderation" }));
  t.regex(
    (await page.locator("form", { hasText: "pre moderation" }).textContent()) ?? "",
    /Changed a moment ago by Mo\./,
  );
  const waiting = await owner.call("POST", "/v1/offers", { text: SOFA });
  t.is(waiting.body.status, "pending_review");
  await page.getByLabel("pre moderation").selectOption("false");
  await leaveBy(page, page.getByRole("button", { name: "Change pre moderation" }));
  await page.goto(`${fixture.url}/admin/offers/${waiting.body.offer_id}`);
  await leaveBy(page, page.getByRole("button", { name: /^Publish/ }));
  t.like(await statusOf(waiting.body.offer_id), { status: "published", reviewed: true });

  await page.goto(`${fixture.url}/admin/search`);
  await page.getByLabel(/words of an offer/).fill(owner.id);
  await leaveBy(page, page.getByRole("button", { name: "Search" }));
  await leaveBy(page, page.getByRole("link", { name: /assistant/ }));
  t.regex(page.url(), /\/admin\/accounts\//);
});

test.serial("a moderator reads a change beside the approved text, rejects one and publishes the next", async (t) => {
  const changer = await fixture.agent();
  const id = await fixture.publish(changer);
  const { page } = await visit(t, LAPTOP);
  await change(changer, id, { text: `${SOFA}. Or pay me in advance.` });
  await page.goto(`${fixture.url}/admin?queue=pending`);
  t.regex((await page.locator(".case", { hasText: "pay me in advance" }).textContent()) ?? "", /changed/);
  await page.goto(`${fixture.url}/admin/offers/${id}`);
  const [changed, approved] = [
    page.getByRole("region", { name: "The change, which waits" }),
    page.getByRole("region", { name: "As approved" }),
  ];
  t.regex((await changed.textContent()) ?? "", /pay me in advance/);
  t.notRegex((await approved.textContent()) ?? "", /pay me in advance/);
  const [left, right] = [await changed.boundingBox(), await approved.boundingBox()];
  t.is(left?.y, right?.y, "they stand side by side");
  t.deepEqual(await page.locator('form.deciding button[value="keep"]').count(), 0);
  await page.getByLabel("Reason, for taking it down").selectOption("scam");
  await leaveBy(page, page.getByRole("button", { name: /^Reject the change/ }));
  t.like((await fixture.offer(changer, id)).body.owner.change, { status: "rejected", review_reason: "scam" });

  await change(changer, id, { text: `${SOFA}. Now with cushions.` });
  await page.goto(`${fixture.url}/admin/offers/${id}`);
  await leaveBy(page, page.getByRole("button", { name: /^Publish the change/ }));
  t.like(await statusOf(id), {
    status: "published",
    reviewed: true,
    document: { description: `${SOFA}. Now with cushions.` },
  });
});

test.serial("the IDE uses only files of this service, loads the schema and shows an answer", async (t) => {
  const { page, complaints } = await visit(t, LAPTOP);
  await page.goto(`${fixture.url}/admin/graphiql`);
  await page.locator(".graphiql-query-editor .monaco-editor").first().click();
  await page.keyboard.press("ControlOrMeta+A");
  // The editor adds the closing brace by itself.
  await page.keyboard.insertText("{ viewer { name }");
  await page.locator(".graphiql-execute-button").click();
  await page.locator(".graphiql-response").getByText('"Mo"').first().waitFor();
  await screenshot(page, "admin-ide");
  t.deepEqual(complaints, []);
});
