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

/** What a state has beside its name, path and heading. */
type More = {
  script?: Script;
  signIn?: SignIn;
  /** Whether the browser has a session cookie. */
  session?: true;
  /** Brings the opened page into the state. */
  act?: (page: Page) => Promise<void>;
};
type State = [name: string, path: string, heading: string, more?: More];

const ask = async (page: Page, email = "lena@example.com"): Promise<void> => {
  await page.getByLabel("Your e-mail address").fill(email);
  await leaveBy(page, page.getByRole("button", { name: "Send me a code" }));
};

const press = (name: string) => (page: Page) => leaveBy(page, page.getByRole("button", { name, exact: true }));

const LINK = `/sign-in/link/${SECRET}`;
const VERIFY = `/verify/${SECRET}`;
const ASKED = "Your agent asks you to sign in";
const DONE = "You have signed in";
const CODE_IS_ELSEWHERE = "Type this code where you started";

const WRONG = raised(400, "bad_request", "Enter an e-mail address, such as name@example.com.");
const LIMITED = raised(429, "rate_limited", "Too many sign-in messages were asked for. Try again in 23 minutes.");
const SPENT = raised(429, "rate_limited", "Open the link from the message in this browser, or start again.");
const EXPIRED = raised(410, "link_expired", "This link or code no longer works: each works once, for 15 minutes.");
const EARLY = raised(409, "verification_incomplete", "You have not signed in yet. Do that first; then continue.");
const elsewhere = (code_digits: number) => ({ get_mail_link: { same_browser: false, code_digits, expires_in: 873 } });

/** A browser with a session, whose verification page has these members. */
const mine = (members: object, script: Script = {}): More => ({
  session: true,
  script: { ...script, get_verification_page: { ...PENDING, mine: true, ...members } },
});
const asked = (members: object): More => ({ script: { get_verification_page: { ...PENDING, ...members } } });
const typesCode = (label: string, code: string) => async (page: Page) => {
  await ask(page);
  await page.getByLabel(label).fill(code);
  // The whole code is visible. The text is a function's body, because this project has no type definitions of the DOM.
  const hidden = "document.querySelector('#code').scrollWidth - document.querySelector('#code').clientWidth";
  if ((await page.evaluate(hidden)) !== 0) throw new Error("the field hides a part of the code");
  await press("Continue")(page);
};
const unapproved = { agents: [agent("a", "Claude", { connected_at: null, offers: 0, asks: 0 })] };
const recovered = AGENTS.map((one) => ({ ...one, connected_at: null, disconnected_at: "2026-03-05T09:00:00.000Z" }));

const STATES: State[] = [
  ["sign-in", "/sign-in", "Sign in"],
  [
    "sign-in-wrong",
    "/sign-in",
    "Sign in",
    { script: { start_sign_in: WRONG }, act: (page) => ask(page, "lena@example") },
  ],
  ["sign-in-again", "/sign-in?again=1", "Sign in once more", { session: true, script: { get_viewer: VIEWER } }],
  ["sign-in-already", "/sign-in", "Sign in", { session: true, script: { get_viewer: VIEWER } }],
  ["sign-in-limited", "/sign-in", "Sign in", { script: { start_sign_in: LIMITED }, act: ask }],
  ["sign-in-none", "/sign-in", "Sign in", { signIn: NO_METHOD }],
  ["code", "/sign-in", "Check your mail", { act: ask }],
  ["code-wrong", "/sign-in", "Check your mail", { act: typesCode("Six-digit code", "123456") }],
  [
    "code-twelve",
    "/sign-in",
    "Check your mail",
    {
      script: {
        start_sign_in: { email: "lena@example.com", code_digits: 12 },
        get_sign_in: { ...ATTEMPT, code_digits: 12 },
        finish_mail_sign_in: SPENT,
      },
      act: typesCode("Twelve-digit code", "123456789012"),
    },
  ],
  ["code-spent", "/sign-in/code", "Nothing to finish here"],
  ["link", LINK, "One more step"],
  ["link-elsewhere", LINK, CODE_IS_ELSEWHERE, { script: elsewhere(6) }],
  ["link-elsewhere-twelve", LINK, CODE_IS_ELSEWHERE, { script: elsewhere(12) }],
  ["link-expired", LINK, "This has ended", { script: { get_mail_link: EXPIRED } }],
  [
    "link-expired-signed-in",
    LINK,
    "This has ended",
    { session: true, script: { get_viewer: { viewer: { ...VIEWER.viewer, label: LONGEST } }, get_mail_link: EXPIRED } },
  ],
  ["sign-out", "/sign-out", "Sign out", { session: true, script: { get_viewer: VIEWER } }],
  ["signed-out", "/sign-out", "You are signed out"],
  ["sign-out-bare", "/sign-out", "Sign out", { session: true, script: BARE }],
  ["verify-email", VERIFY, ASKED],
  ["verify-google", VERIFY, ASKED, mine({ method: "google", account_label: LONGEST, agent_name: "W".repeat(80) })],
  ["verify-agents", VERIFY, ASKED, mine({ account_label: "Lena" }, BARE)],
  ...(["pending", "completed"] as const).map(
    (status): State => [
      `verify-unapproved-${status}`,
      VERIFY,
      { pending: ASKED, completed: DONE }[status],
      mine({ status, agent_connected: false, account_label: "Lena" }, { list_agents: unapproved }),
    ],
  ),
  ["verify-recovers", VERIFY, ASKED, asked({ recovers: true })],
  ["verify-recovered", VERIFY, DONE, mine({ status: "completed" }, { list_agents: { agents: recovered } })],
  ["verify-removed", VERIFY, DONE, mine({ status: "completed", agent_removed: true })],
  [
    "sign-in-leaves",
    "/sign-in",
    "You would lose an account",
    {
      session: true,
      script: { ...BARE, start_sign_in: raised(409, "invalid_state", "Only this browser.", { leaves: true }) },
      act: ask,
    },
  ],
  [
    "sign-in-agents",
    "/sign-in",
    "Which agents are yours?",
    {
      session: true,
      script: { ...BARE, start_sign_in: raised(409, "invalid_state", "Agents act.", { choose_agents: true }) },
      act: ask,
    },
  ],
  ["verify-wrong", VERIFY, ASKED, { script: { start_sign_in: WRONG }, act: (page) => ask(page, "lena@example") }],
  ["verify-early", VERIFY, ASKED, { script: { continue_verification: EARLY }, act: press("Continue") }],
  [
    "verify-other",
    VERIFY,
    "Sign in first",
    mine({ mine: false, requires: "session", missing: "sign_in" }, { get_viewer: VIEWER }),
  ],
  [
    "verify-browser",
    VERIFY,
    "Open this in the browser in which you approved",
    asked({ requires: "session", missing: "browser" }),
  ],
  [
    "verify-sign-out",
    VERIFY,
    "You are signed in to another account",
    mine({ mine: false, requires: "session", missing: "sign_out" }, { get_viewer: VIEWER }),
  ],
  ["verify-completed", VERIFY, DONE, asked({ status: "completed" })],
  ["verify-expired", VERIFY, "This link has ended", asked({ status: "expired" })],
  ["verify-cancelled", VERIFY, "You said “Not now”", asked({ status: "cancelled" })],
];

let browser: Browser;
test.before(async () => {
  browser = await launchBrowser();
});
test.after.always(() => browser?.close());

for (const view of VIEWS) {
  test(`every page of signing in is accessible and fits the screen on ${view.name}`, async (t) => {
    const page = await openPage(browser, view, t);
    for (const [name, path, heading, { script, signIn, session, act } = {}] of STATES) {
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
