import test from "ava";
import type { Browser, Page } from "playwright-core";
import type { Verification } from "../../src/pages/verify.ts";
import type { SignIn } from "../../src/sign_in/sign_in.ts";
import { raised, type Script, servePages } from "../pages/site.ts";
import { faults, invalidHtml, SOUND, smallTargets, tabTo } from "../pages/sound.ts";
import { launchBrowser, leaveBy, openPage, PHONE, screenshot, VIEWS } from "../support/browser.ts";

/**
 * Tests every page and state of signing in, signing out and proving a method in a browser, in both sizes and colour
 * schemes.
 */

const SECRET = "lZq4eJ9mX2v7Yw0bTnKcRsUdGfHiPaQo1E3r5t8u6yA";
const VIEWER = {
  viewer: { label: "Lena (lena@example.com)", methods: [{ method: "email", email: "lena@example.com" }] },
};
const LONGEST = `${"W".repeat(80)} (${"w".repeat(64)}@${"example.".repeat(20)}com)`;

const ATTEMPT = {
  method: "email",
  email: "lena@example.com",
  code_digits: 6,
  expires_in: 873,
  tries_left: 5,
  finished: false,
};

/** The agent whose link the tests open. */
const AGENT = "0190c7a4-0000-7000-8000-00000000000a";

const PENDING: Verification = {
  status: "pending",
  method: "email",
  agent_id: AGENT,
  agent_name: "Claude",
  agent_removed: false,
  agent_connected: true,
  account_label: null,
  requires: "nothing",
  missing: null,
  mine: false,
  recovers: false,
  expires_in: 1675,
};

const agent = (id: string, name: string, more: object = {}) => ({
  id: `0190c7a4-0000-7000-8000-00000000000${id}`,
  name,
  connected_at: "2026-03-04T14:03:22.000Z",
  last_active: "2026-03",
  offers: 3,
  asks: 1,
  removed_at: null,
  disconnected_at: null,
  ...more,
});
const AGENTS = [
  agent("a", "Claude"),
  agent("b", "Shopping helper", { offers: 0, asks: 0 }),
  agent("c", "W".repeat(80)),
];

/** What the page shows of an account that this browser may leave, or that gets a first method. */
const BARE: Script = {
  get_viewer: { viewer: { label: "a new account without a sign-in method", methods: [] } },
  get_account: { label: "a new account without a sign-in method", methods: [] },
  get_me: { activity: { offers_published: 3, asks_active: 1 } },
  list_agents: { agents: AGENTS },
};

const SIGN_IN_SCRIPT: Script = {
  get_viewer: { viewer: null },
  start_sign_in: { email: "lena@example.com", code_digits: 6 },
  get_sign_in: ATTEMPT,
  get_mail_link: { same_browser: true, code_digits: 6, expires_in: 873 },
  finish_mail_sign_in: { wrong_code: true, tries_left: 3 },
  get_verification_page: PENDING,
  list_agents: { agents: [] },
  sign_out: {},
};

const NO_METHOD: SignIn = { methods: [], providers: {}, mailer: null, mailbox: null, recordKey: null };

type State = {
  name: string;
  path: string;
  script?: Script;
  signIn?: SignIn;
  /** Whether the browser has a session cookie. */
  session?: true;
  /** Brings the opened page into the state. */
  act?: (page: Page) => Promise<void>;
  heading: string;
};

const ask = async (page: Page, email = "lena@example.com"): Promise<void> => {
  await page.getByLabel("Your e-mail address").fill(email);
  await leaveBy(page, page.getByRole("button", { name: "Send me a code" }));
};

const press = (name: string) => (page: Page) => leaveBy(page, page.getByRole("button", { name, exact: true }));

const STATES: State[] = [
  { name: "sign-in", path: "/sign-in", heading: "Sign in" },
  {
    name: "sign-in-wrong",
    path: "/sign-in",
    script: { start_sign_in: raised(400, "bad_request", "Enter an e-mail address, such as name@example.com.") },
    act: (page) => ask(page, "lena@example"),
    heading: "Sign in",
  },
  {
    name: "sign-in-again",
    path: "/sign-in?again=1",
    session: true,
    script: { get_viewer: VIEWER },
    heading: "Sign in once more",
  },
  { name: "sign-in-already", path: "/sign-in", session: true, script: { get_viewer: VIEWER }, heading: "Sign in" },
  {
    name: "sign-in-limited",
    path: "/sign-in",
    script: {
      start_sign_in: raised(429, "rate_limited", "Too many sign-in messages were asked for. Try again in 23 minutes."),
    },
    act: ask,
    heading: "Sign in",
  },
  { name: "sign-in-none", path: "/sign-in", signIn: NO_METHOD, heading: "Sign in" },
  { name: "code", path: "/sign-in", act: ask, heading: "Check your mail" },
  {
    name: "code-wrong",
    path: "/sign-in",
    act: async (page) => {
      await ask(page);
      await page.getByLabel("Six-digit code").fill("123456");
      await press("Continue")(page);
    },
    heading: "Check your mail",
  },
  {
    name: "code-twelve",
    path: "/sign-in",
    script: {
      start_sign_in: { email: "lena@example.com", code_digits: 12 },
      get_sign_in: { ...ATTEMPT, code_digits: 12 },
      finish_mail_sign_in: raised(
        429,
        "rate_limited",
        "Open the link from the message in this browser, or start again.",
      ),
    },
    act: async (page) => {
      await ask(page);
      await page.getByLabel("Twelve-digit code").fill("123456789012");
      // The whole code is visible. The text is a function's body, because this project has no type definitions of the DOM.
      const hidden = "document.querySelector('#code').scrollWidth - document.querySelector('#code').clientWidth";
      if ((await page.evaluate(hidden)) !== 0) throw new Error("the field hides a part of the code");
      await press("Continue")(page);
    },
    heading: "Check your mail",
  },
  {
    name: "code-spent",
    path: "/sign-in/code",
    heading: "Nothing to finish here",
  },
  { name: "link", path: `/sign-in/link/${SECRET}`, heading: "One more step" },
  {
    name: "link-elsewhere",
    path: `/sign-in/link/${SECRET}`,
    script: { get_mail_link: { same_browser: false, code_digits: 6, expires_in: 873 } },
    heading: "Type this code where you started",
  },
  {
    name: "link-elsewhere-twelve",
    path: `/sign-in/link/${SECRET}`,
    script: { get_mail_link: { same_browser: false, code_digits: 12, expires_in: 873 } },
    heading: "Type this code where you started",
  },
  {
    name: "link-expired",
    path: `/sign-in/link/${SECRET}`,
    script: {
      get_mail_link: raised(410, "link_expired", "This link or code no longer works: each works once, for 15 minutes."),
    },
    heading: "This has ended",
  },
  {
    name: "link-expired-signed-in",
    path: `/sign-in/link/${SECRET}`,
    session: true,
    script: {
      get_viewer: { viewer: { ...VIEWER.viewer, label: LONGEST } },
      get_mail_link: raised(410, "link_expired", "This link or code no longer works: each works once, for 15 minutes."),
    },
    heading: "This has ended",
  },
  { name: "sign-out", path: "/sign-out", session: true, script: { get_viewer: VIEWER }, heading: "Sign out" },
  { name: "signed-out", path: "/sign-out", heading: "You are signed out" },
  { name: "verify-email", path: `/verify/${SECRET}`, heading: "Your agent asks you to sign in" },
  {
    name: "verify-google",
    path: `/verify/${SECRET}`,
    session: true,
    script: {
      get_verification_page: {
        ...PENDING,
        method: "google",
        mine: true,
        account_label: LONGEST,
        agent_name: "W".repeat(80),
      },
    },
    heading: "Your agent asks you to sign in",
  },
  {
    name: "verify-agents",
    path: `/verify/${SECRET}`,
    session: true,
    script: { ...BARE, get_verification_page: { ...PENDING, mine: true, account_label: "Lena" } },
    heading: "Your agent asks you to sign in",
  },
  ...(["pending", "completed"] as const).map((status) => ({
    name: `verify-unapproved-${status}`,
    path: `/verify/${SECRET}`,
    session: true as const,
    script: {
      get_verification_page: { ...PENDING, status, agent_connected: false, mine: true, account_label: "Lena" },
      list_agents: { agents: [agent("a", "Claude", { connected_at: null, offers: 0, asks: 0 })] },
    },
    heading: { pending: "Your agent asks you to sign in", completed: "You have signed in" }[status],
  })),
  {
    name: "verify-recovers",
    path: `/verify/${SECRET}`,
    script: { get_verification_page: { ...PENDING, recovers: true } },
    heading: "Your agent asks you to sign in",
  },
  {
    name: "verify-recovered",
    path: `/verify/${SECRET}`,
    session: true,
    script: {
      get_verification_page: { ...PENDING, status: "completed", mine: true },
      list_agents: {
        agents: AGENTS.map((one) => ({ ...one, connected_at: null, disconnected_at: "2026-03-05T09:00:00.000Z" })),
      },
    },
    heading: "You have signed in",
  },
  {
    name: "verify-removed",
    path: `/verify/${SECRET}`,
    session: true,
    script: { get_verification_page: { ...PENDING, status: "completed", mine: true, agent_removed: true } },
    heading: "You have signed in",
  },
  {
    name: "sign-in-leaves",
    path: "/sign-in",
    session: true,
    script: { ...BARE, start_sign_in: raised(409, "invalid_state", "Only this browser.", { leaves: true }) },
    act: ask,
    heading: "You would lose an account",
  },
  {
    name: "sign-in-agents",
    path: "/sign-in",
    session: true,
    script: { ...BARE, start_sign_in: raised(409, "invalid_state", "Agents act.", { choose_agents: true }) },
    act: ask,
    heading: "Which agents are yours?",
  },
  {
    name: "sign-out-bare",
    path: "/sign-out",
    session: true,
    script: BARE,
    heading: "Sign out",
  },
  {
    name: "verify-wrong",
    path: `/verify/${SECRET}`,
    script: { start_sign_in: raised(400, "bad_request", "Enter an e-mail address, such as name@example.com.") },
    act: (page) => ask(page, "lena@example"),
    heading: "Your agent asks you to sign in",
  },
  {
    name: "verify-early",
    path: `/verify/${SECRET}`,
    script: {
      continue_verification: raised(
        409,
        "verification_incomplete",
        "You have not signed in yet. Do that first; then continue.",
      ),
    },
    act: press("Continue"),
    heading: "Your agent asks you to sign in",
  },
  {
    name: "verify-other",
    path: `/verify/${SECRET}`,
    session: true,
    script: { get_viewer: VIEWER, get_verification_page: { ...PENDING, requires: "session", missing: "sign_in" } },
    heading: "Sign in first",
  },
  {
    name: "verify-browser",
    path: `/verify/${SECRET}`,
    script: { get_verification_page: { ...PENDING, requires: "session", missing: "browser" } },
    heading: "Open this in the browser in which you approved",
  },
  {
    name: "verify-sign-out",
    path: `/verify/${SECRET}`,
    session: true,
    script: { get_viewer: VIEWER, get_verification_page: { ...PENDING, requires: "session", missing: "sign_out" } },
    heading: "You are signed in to another account",
  },
  ...(["completed", "expired", "cancelled"] as const).map((status) => ({
    name: `verify-${status}`,
    path: `/verify/${SECRET}`,
    script: { get_verification_page: { ...PENDING, status } },
    heading: { completed: "You have signed in", expired: "This link has ended", cancelled: "You said “Not now”" }[
      status
    ],
  })),
];

let browser: Browser;
test.before(async () => {
  browser = await launchBrowser();
});
test.after.always(() => browser?.close());

for (const view of VIEWS) {
  test(`every page of signing in is accessible and fits the screen on ${view.name}`, async (t) => {
    const page = await openPage(browser, view, t);
    for (const { name, path, script, signIn, session, act, heading } of STATES) {
      const site = await servePages(t, { ...SIGN_IN_SCRIPT, ...script }, undefined, signIn);
      await page.context().clearCookies();
      if (session) await page.context().addCookies([{ name: "souk_session", value: SECRET, url: site.url }]);
      const complaints: string[] = [];
      const documents: Promise<string>[] = [];
      page.removeAllListeners();
      page.on("console", (message) => {
        // Chromium logs this for each page with an error status.
        if (!message.text().startsWith("Failed to load resource")) complaints.push(message.text());
      });
      page.on("request", (request) => {
        if (!request.url().startsWith(site.url)) complaints.push(request.url());
      });
      page.on("response", (response) => {
        if (response.request().isNavigationRequest() && response.status() !== 303) documents.push(response.text());
      });
      await page.goto(site.url + path);
      await act?.(page);
      t.is(await page.getByRole("heading", { level: 1 }).textContent(), heading, name);
      await screenshot(page, `${name}-${view.name}`);
      t.deepEqual(await faults(page), SOUND, name);
      t.deepEqual(await smallTargets(page), [], name);
      // The HTML is the same in every view, so it is checked once.
      if (view === PHONE)
        for (const html of await Promise.all(documents)) t.deepEqual(await invalidHtml(html), [], name);
      t.deepEqual(complaints, [], name);
    }
  });
}

test("on a small phone, no button of signing in wraps, and no button is styled as a refusal", async (t) => {
  const site = await servePages(t, { ...SIGN_IN_SCRIPT, get_viewer: { viewer: VIEWER.viewer } });
  const page = await openPage(browser, PHONE, t);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.context().addCookies([{ name: "souk_session", value: SECRET, url: site.url }]);
  for (const path of ["/sign-in", `/verify/${SECRET}`, "/sign-out"]) {
    await page.goto(site.url + path);
    const heights = await page
      .locator("button.choice")
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().height));
    t.deepEqual([...new Set(heights)], [heights[0]], path);
    // 3.5rem, the height of one line.
    t.is(heights[0], 56, path);
    t.is(await page.locator(".choice.no").count(), 0, path);
  }
});

test("a wrongly filled field has the focus, and its error message describes it", async (t) => {
  const start_sign_in = raised(400, "bad_request", "Enter an e-mail address, such as name@example.com.");
  const site = await servePages(t, { ...SIGN_IN_SCRIPT, start_sign_in });
  const page = await openPage(browser, PHONE, t);
  await page.goto(`${site.url}/sign-in`);
  await ask(page, "lena@example");
  const field = page.getByLabel("Your e-mail address");
  t.is(await page.title(), "Error: Sign in – Souk");
  t.is(await page.evaluate("document.activeElement.id"), "email");
  t.is(await field.getAttribute("aria-invalid"), "true");
  const described = await page.evaluate<string>(
    "document.activeElement.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).textContent).join(' ')",
  );
  t.true(described.startsWith("Enter an e-mail address, such as name@example.com."));
  t.is(await field.inputValue(), "lena@example");
});

test("a person signs in with the keyboard alone", async (t) => {
  const site = await servePages(t, { ...SIGN_IN_SCRIPT, finish_mail_sign_in: { label: "lena@example.com" } });
  const page = await openPage(browser, PHONE, t);
  await page.goto(`${site.url}/sign-in?return=/settings/methods`);
  await tabTo(page, "Continue with Google");
  await tabTo(page, "Continue with Apple");
  await page.keyboard.press("Tab");
  await page.keyboard.type("lena@example.com");
  await Promise.all([page.waitForURL(`${site.url}/sign-in/code`), page.keyboard.press("Enter")]);
  await tabTo(page, "Settings");
  await page.keyboard.press("Tab");
  await page.keyboard.type("123456");
  await Promise.all([page.waitForURL(`${site.url}/settings/methods`), page.keyboard.press("Enter")]);
  t.true(site.calls.some(({ name }) => name === "finish_mail_sign_in"));
});

test("phones offer the right keyboard, the known e-mail address and the code from the mail", async (t) => {
  const site = await servePages(t, SIGN_IN_SCRIPT);
  const page = await openPage(browser, PHONE, t);
  await page.goto(`${site.url}/sign-in`);
  const email = page.getByLabel("Your e-mail address");
  t.deepEqual([await email.getAttribute("type"), await email.getAttribute("autocomplete")], ["email", "email"]);
  await ask(page);
  const code = page.getByLabel("Six-digit code");
  t.deepEqual(
    [await code.getAttribute("inputmode"), await code.getAttribute("autocomplete")],
    ["numeric", "one-time-code"],
  );
});
