import test from "ava";
import { type MailServer, startMailServer } from "../sign_in/mailbox.ts";
import { openPage, PHONE, screenshot } from "../support/browser.ts";
import { connectAgent } from "../support/market.ts";
import { type Fixture, follow, heading, openFixture, press } from "./fixture.ts";

/** Tests the whole path of a new person: a phone, an e-mail address, and an agent that asks for approval. */

let mail: MailServer;
let fixture: Fixture;
test.before(async () => {
  mail = await startMailServer();
  fixture = await openFixture({ SMTP_URL: mail.url, MAIL_FROM: "Souk <souk@souk.example>" });
});
test.after.always(async () => {
  await fixture?.end();
  await mail?.close();
});

const MAILBOX = "lena@example.com";

const codeFromMail = async (): Promise<string> => {
  const { parsed } = await mail.next(MAILBOX);
  return /\b\d{6}\b/.exec(parsed.text ?? "")?.[0] ?? "no code in the mail";
};

test("a person approves an agent, proves an e-mail address, signs in again, and removes the agent", async (t) => {
  t.timeout(180_000, "some twenty pages, four mails");
  const { service, browser } = fixture;
  const page = await openPage(browser, PHONE, t);
  const agent = await connectAgent(service.url, "Claude");
  const cap = async () => (await agent.call("GET", "/v1/me")).body.limits.publish_offer.limit;

  await page.goto(agent.link);
  await press(page, "Approve");
  await screenshot(page, "journey-1-approved");
  const before: number = await cap();
  await follow(page, "Add a way to sign in");
  await page.getByLabel("E-mail address").fill(MAILBOX);
  await press(page, "Send the mail");
  t.is(await heading(page), "Which agents are yours?");
  await page.getByRole("checkbox", { name: /Claude/ }).check();
  await press(page, "Go on");
  t.is(await heading(page), "Check your mail");
  await screenshot(page, "journey-2-code");
  await page.getByLabel("Six-digit code").fill(await codeFromMail());
  await press(page, "Continue");
  t.is(new URL(page.url()).pathname, "/settings/methods");
  t.true(await page.getByText(MAILBOX).first().isVisible());
  await screenshot(page, "journey-3-methods");
  t.is(await cap(), before + 30, "a proved method raises the cap");
  t.regex((await mail.next(MAILBOX)).parsed.text ?? "", /Claude/, "a message says which agents go on");

  // Signing in created a new session. Signing out ends it.
  await follow(page, "Account");
  await press(page, "Sign out here");
  await page.goto(`${service.url}/settings`);
  t.is(new URL(page.url()).pathname, "/sign-in");
  await page.getByLabel("Your e-mail address").fill(MAILBOX);
  await press(page, "Send me a code");
  await page.getByLabel("Six-digit code").fill(await codeFromMail());
  await press(page, "Continue");
  t.is(await heading(page), "Agents");
  t.deepEqual(await page.locator("h2.name").allTextContents(), ["“Claude”"]);

  const second = await connectAgent(service.url, "Second assistant");
  await page.goto(second.link);
  t.true(await page.getByText(MAILBOX).isVisible(), "the page names the account that the agent would act for");
  await press(page, "Approve");
  t.regex((await mail.next(MAILBOX)).parsed.text ?? "", /Second assistant/);

  await follow(page, "Settings");
  for (const name of ["Claude", "Second assistant"]) {
    await page
      .locator("summary")
      .and(page.getByLabel(`Remove “${name}”`))
      .click();
    await press(page, `Remove this agent: “${name}”`);
  }
  await screenshot(page, "journey-4-removed");
  t.deepEqual(await fixture.statuses(agent), [401, 401]);
  t.deepEqual(await fixture.statuses(second), [401, 401]);
});
