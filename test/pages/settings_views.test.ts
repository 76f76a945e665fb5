import test from "ava";
import type { Browser, Page } from "playwright-core";
import { launchBrowser, leaveBy, openPage, overflowing, screenshot, VIEWS } from "../support/browser.ts";
import {
  ACCOUNT,
  AGENT,
  AGREEMENT,
  ALERTS,
  BARE_ACCOUNT,
  CONFIRMATION,
  CONVERSATION,
  CONVERSATION_PAGE,
  DEAL_ID,
  LAST_PAGE,
  OFFERS,
  POWERS,
  REMOVED_AGENT,
  SESSION,
  SETTINGS,
  STRANDED_ACCOUNT,
  serveSettings,
} from "./settings_site.ts";
import { CONNECTION, raised, type Script } from "./site.ts";
import { faults, invalidHtml, SOUND, smallTargets } from "./sound.ts";

/** Tests every page and state of approving and of the settings in a browser: in both sizes, in light and dark colours. */

let browser: Browser;
test.before(async () => {
  browser = await launchBrowser();
});
test.after.always(() => browser?.close());

/** The limit for some thirty pages. Axe needs about a second for each while other test files keep the machine busy. */
const MANY_PAGES_MS = 300_000;

const LONG = "W".repeat(80);
const STALE =
  "This offer is live, but nobody has said for a long time that it is still available, so others come first. If it is available, confirm it; if not, archive it. Without an answer it is taken down on 2026-04-04.";
const NONE = { results: [], page: LAST_PAGE };
const ONE_METHOD = { ...ACCOUNT, methods: ACCOUNT.methods.slice(0, 1) };

/** What moderation decided, which the deletion of the account does not clear. */
const KEPT = [
  { name: "suspended", kept: { suspended: true, removals: 0, caps: 0 } },
  { name: "removals", kept: { suspended: false, removals: 3, caps: 0 } },
  { name: "caps", kept: { suspended: false, removals: 0, caps: 1 } },
  { name: "all", kept: { suspended: true, removals: 1, caps: 2 } },
] as const;

const CONVERSATIONS = "/settings/conversations";
const TALK = `${CONVERSATIONS}/${DEAL_ID}`;
const CEILING_NEEDED =
  "To agree alone, the agent needs a ceiling: an amount for one agreement, at least as much for 24 hours, and a currency.";
const NO_CEILING = raised(400, "bad_request", CEILING_NEEDED, {
  errors: [{ pointer: "/agree", detail: CEILING_NEEDED }],
});

type State = { name: string; path: string; script?: Script; act?: (page: Page) => Promise<void> };

const press = (name: string) => (page: Page) => leaveBy(page, page.getByRole("button", { name }).first());

const STATES: State[] = [
  { name: "agents", path: "/settings" },
  { name: "agents-asked", path: "/settings", act: (page) => page.locator("summary").first().click() },
  { name: "agents-done", path: "/settings?done=agent-removed", script: { list_agents: { agents: [REMOVED_AGENT] } } },
  { name: "agents-none", path: "/settings", script: { list_agents: { agents: [] }, get_account: BARE_ACCOUNT } },
  {
    name: "agents-waiting",
    path: "/settings",
    script: {
      list_agents: {
        agents: [
          AGENT,
          { ...AGENT, id: REMOVED_AGENT.id, connected_at: null, disconnected_at: "2026-03-05T09:00:00.000Z" },
          { ...REMOVED_AGENT, connected_at: null, disconnected_at: "2026-03-05T09:00:00.000Z" },
          { ...AGENT, id: "01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0f", name: "Never approved", connected_at: null },
        ],
      },
    },
  },
  {
    name: "agents-long",
    path: "/settings",
    script: {
      list_agents: {
        agents: [
          { ...AGENT, name: LONG },
          { ...REMOVED_AGENT, name: LONG },
        ],
      },
      get_account: { ...ACCOUNT, label: `${LONG} (${"w".repeat(60)}@${"w".repeat(60)}.example)` },
    },
  },
  { name: "offers", path: "/settings/market" },
  { name: "offers-none", path: "/settings/market", script: { list_offers: NONE } },
  { name: "offers-none-archived", path: "/settings/market?status=archived", script: { list_offers: NONE } },
  {
    name: "offers-long",
    path: "/settings/market?cursor=abc",
    script: { list_offers: { ...OFFERS, results: [{ ...OFFERS.results[0], title: LONG }] } },
  },
  {
    name: "offers-refused",
    path: "/settings/market",
    script: { archive_offer: raised(409, "invalid_state", "This offer is removed, so it cannot become archived.") },
    act: press("Archive"),
  },
  { name: "asks", path: "/settings/market?show=asks" },
  { name: "asks-none", path: "/settings/market?show=asks", script: { list_asks: NONE } },
  { name: "activity", path: "/settings/activity" },
  {
    name: "activity-none",
    path: "/settings/activity",
    script: { list_activity: { activity: [], page: LAST_PAGE }, list_agents: { agents: [] } },
  },
  {
    name: "activity-none-recorded",
    path: "/settings/activity",
    script: { list_activity: { activity: [], page: LAST_PAGE }, list_agents: { agents: [AGENT] } },
  },
  {
    name: "offers-stale",
    path: "/settings/market",
    script: {
      list_offers: {
        ...OFFERS,
        results: [{ ...OFFERS.results[0], stale: true, review: STALE }, OFFERS.results[1]],
      },
    },
  },
  { name: "alerts", path: "/settings/alerts" },
  {
    name: "alerts-on",
    path: "/settings/alerts?done=digest-on",
    script: { get_alerts: { ...ALERTS, digest: { enabled: true, sent_at: "2026-03-05T09:00:00.000Z" } } },
  },
  {
    name: "alerts-none",
    path: "/settings/alerts",
    script: { get_alerts: { ...ALERTS, email: null, asks: [] }, get_account: BARE_ACCOUNT },
  },
  {
    name: "alerts-long",
    path: "/settings/alerts",
    script: {
      get_alerts: {
        ...ALERTS,
        email: `${"w".repeat(60)}@${"w".repeat(60)}.example`,
        asks: [{ ...ALERTS.asks[0], title: LONG }],
      },
    },
  },
  { name: "conversations", path: CONVERSATIONS },
  {
    name: "conversations-none",
    path: CONVERSATIONS,
    script: { list_conversations: NONE, list_blocks: { blocks: [] }, list_confirmations: { confirmations: [] } },
  },
  { name: "conversations-none-closed", path: `${CONVERSATIONS}?status=closed`, script: { list_conversations: NONE } },
  { name: "conversation", path: TALK },
  {
    name: "conversation-inquirer",
    path: TALK,
    script: {
      get_conversation_page: {
        ...CONVERSATION_PAGE,
        conversation: {
          ...CONVERSATION,
          role: "inquirer",
          proposal: { ...CONVERSATION.proposal, offer_changed: true },
        },
        has_older: true,
      },
      accept_proposal: raised(400, "bad_request", "Say how the publisher reaches you.", {
        errors: [{ pointer: "/contact", detail: "Say how the publisher reaches you." }],
      }),
    },
    act: press("Accept"),
  },
  {
    name: "conversation-own-proposal",
    path: `${TALK}?done=message-sent`,
    script: {
      get_conversation_page: {
        ...CONVERSATION_PAGE,
        conversation: { ...CONVERSATION, proposal: { ...CONVERSATION.proposal, from: "me" } },
      },
    },
    act: async (page) => {
      for (const summary of await page.locator("summary").all()) await summary.click();
    },
  },
  {
    name: "conversation-refused",
    path: TALK,
    script: {
      send_message: raised(400, "bad_request", "The text is too long.", {
        errors: [{ pointer: "/text", detail: "The text is too long." }],
      }),
    },
    act: async (page) => {
      await page.getByLabel("Write to the other side").fill("Yes.");
      await press("Send")(page);
    },
  },
  {
    name: "conversation-awaiting",
    path: TALK,
    script: {
      get_conversation_page: {
        ...CONVERSATION_PAGE,
        conversation: { ...CONVERSATION, proposal: null, agreement: AGREEMENT },
      },
    },
  },
  {
    name: "conversation-agreed",
    path: TALK,
    script: {
      get_conversation_page: {
        ...CONVERSATION_PAGE,
        agreement_from: "me",
        conversation: {
          ...CONVERSATION,
          proposal: null,
          contact: { schema_version: 2, methods: [], text: `tom@example.com ${LONG}` },
          agreement: { ...AGREEMENT, status: "made", awaiting: [], made_at: "2026-03-05T14:03:22.000Z" },
        },
      },
    },
  },
  {
    name: "conversation-closed",
    path: TALK,
    script: {
      get_conversation_page: {
        ...CONVERSATION_PAGE,
        messages: [],
        up_to: null,
        can_write: false,
        conversation: {
          ...CONVERSATION,
          offer: { ...CONVERSATION.offer, title: LONG, status: "archived" },
          role: "inquirer",
          status: "closed",
          counterpart: null,
          proposal: null,
          agreement: { ...AGREEMENT, status: "lapsed", reason: "refused", terms: { note: LONG } },
        },
      },
    },
  },
  { name: "powers", path: `/settings/agents/${AGENT.id}` },
  {
    name: "powers-alone",
    path: `/settings/agents/${AGENT.id}?done=powers-saved`,
    script: {
      get_powers: {
        ...POWERS,
        powers: [
          { power: "publish", allowed: "never" },
          { power: "agree", allowed: "alone", ceiling: { amount: 150, amount_24h: 300, currency: "EUR" } },
        ],
      },
    },
  },
  {
    name: "powers-wrong",
    path: `/settings/agents/${AGENT.id}`,
    script: { set_powers: NO_CEILING },
    act: async (page) => {
      await page.getByLabel("it agrees alone").check();
      await press("Save")(page);
    },
  },
  { name: "confirmation", path: `/confirmations/${DEAL_ID}` },
  {
    name: "confirmation-inquirer",
    path: `/confirmations/${DEAL_ID}`,
    script: {
      get_confirmation_page: {
        ...CONFIRMATION,
        role: "inquirer",
        pays: true,
        proposed_by: "me",
        offer_changed: true,
        counterpart: { ...CONFIRMATION.counterpart, verified: false },
        contact: { schema_version: 2, methods: [], text: "tom@example.com" },
        terms: {
          note: LONG,
          price: { amount: 12.5, currency: "EUR", period: "month" },
          handover: { method: "online" },
        },
      },
      decide_confirmation: raised(409, "invalid_state", "What was shown has changed. Look at it again, then decide."),
    },
    act: press("Confirm"),
  },
  ...(
    [
      ["confirmed", "awaiting"],
      ["confirmed", "made"],
      ["confirmed", "lapsed"],
      ["refused", "lapsed"],
      ["expired", "lapsed"],
    ] as const
  ).map(([status, agreement_status]) => ({
    name: `confirmation-${status}-${agreement_status}`,
    path: `/confirmations/${DEAL_ID}`,
    script: {
      get_confirmation_page: {
        ...CONFIRMATION,
        confirmation: { ...CONFIRMATION.confirmation, status, expires_in: 0 },
        agreement_status,
      },
    },
  })),
  {
    name: "confirmation-unknown",
    path: `/confirmations/${DEAL_ID}`,
    script: { get_confirmation_page: raised(404, "not_found", "You have no such confirmation.") },
  },
  {
    name: "approve-powers",
    path: "/connect/secret",
    script: { approve_connection: NO_CEILING },
    act: async (page) => {
      await page.getByText("More: what it may do alone").click();
      await page.getByLabel("publish offers, and change them").uncheck();
      await page.getByLabel("it agrees alone").check();
      await press("BCDF-GHJK")(page);
    },
  },
  { name: "stop-mail", path: `/stop-mail/${AGENT.id}/0123` },
  { name: "stop-mail-done", path: `/stop-mail/${AGENT.id}/0123`, act: press("Stop this mail") },
  { name: "webhooks", path: "/settings/webhooks" },
  { name: "webhooks-none", path: "/settings/webhooks", script: { list_webhooks: { webhooks: [] } } },
  { name: "profile", path: "/settings/profile" },
  { name: "profile-saved", path: "/settings/profile?done=profile-saved" },
  {
    name: "profile-wrong",
    path: "/settings/profile",
    script: {
      update_profile: raised(400, "bad_request", "Two members cannot be used.", {
        errors: [
          {
            pointer: "/contact_email",
            detail: "This is not an e-mail address. Write it as lena@example.com, or leave it empty.",
          },
          {
            pointer: "/contact_phone",
            detail: "This is not a phone number with its country code. Write it as +49 30 1234567, or leave it empty.",
          },
        ],
      }),
    },
    act: async (page) => {
      await page.getByLabel("E-mail address").fill("lena at example");
      await page.getByLabel("Phone number").fill("12");
      await press("Save")(page);
    },
  },
  { name: "methods", path: "/settings/methods" },
  { name: "methods-none", path: "/settings/methods", script: { get_account: BARE_ACCOUNT } },
  { name: "methods-unavailable", path: "/settings/methods", script: { get_account: STRANDED_ACCOUNT } },
  { name: "agents-unavailable", path: "/settings", script: { get_account: STRANDED_ACCOUNT } },
  { name: "account-unavailable", path: "/settings/account", script: { get_account: STRANDED_ACCOUNT } },
  { name: "method-removal", path: "/settings/methods/google" },
  {
    name: "method-removal-kept",
    path: "/settings/methods/google",
    script: { get_account: { ...ACCOUNT, kept_after_deletion: { suspended: true, removals: 0, caps: 0 } } },
  },
  { name: "method-removal-last", path: "/settings/methods/email", script: { get_account: ONE_METHOD } },
  { name: "account", path: "/settings/account" },
  {
    name: "account-bare",
    path: "/settings/account",
    script: { get_account: BARE_ACCOUNT },
    act: (page) => page.locator("summary").first().click(),
  },
  { name: "deletion", path: "/settings/account/delete" },
  ...KEPT.map(({ name, kept }) => ({
    name: `deletion-kept-${name}`,
    path: "/settings/account/delete",
    script: { get_account: { ...ACCOUNT, kept_after_deletion: kept } },
  })),
  { name: "deleted", path: "/settings/account/deleted" },
  {
    name: "approve-new",
    path: "/connect/secret",
    script: {
      get_connection: { ...CONNECTION, account: { ...CONNECTION.account, label: "", is_new: true, has_method: false } },
    },
  },
  {
    name: "approve-sign-in",
    path: "/connect/secret",
    script: { get_connection: { ...CONNECTION, account: { ...CONNECTION.account, needs_sign_in: true } } },
  },
  { name: "approved-new", path: "/connect/secret", act: press("BCDF-GHJK") },
  {
    name: "approve",
    path: "/connect/secret",
    act: async (page) => {
      const [first, ...others] = await Promise.all(
        CONNECTION.codes.map((name) => page.getByRole("button", { name }).boundingBox()),
      );
      const alike = others.every(
        (one) => Math.abs((one?.width ?? 0) - (first?.width ?? 0)) < 1 && one?.height === first?.height,
      );
      if (!alike) throw new Error("the codes are not equally prominent");
    },
  },
  ...[undefined, press("WXWX-WXWX")].map((act) => ({
    name: act ? "approved-long" : "approve-long",
    path: "/connect/secret",
    script: {
      get_connection: { ...CONNECTION, agent_name: LONG, codes: ["WXWX-WXWX", "MWMW-MWMW", "WWWW-WWWW"] },
      approve_connection: { agent_name: LONG, agent_id: "a", new_session: true, client: null },
    },
    ...(act && { act }),
  })),
  { name: "declined", path: "/connect/secret", act: press("Not mine") },
  {
    name: "approve-second",
    path: "/connect/secret",
    script: { get_connection: { ...CONNECTION, account: { ...CONNECTION.account, holds: { offers: 3, asks: 2 } } } },
  },
  { name: "mispicked", path: "/connect/secret", script: { get_connection: { ...CONNECTION, mispicked: true } } },
  {
    name: "used",
    path: "/connect/secret",
    script: { get_connection: raised(409, "connection_already_used", "This link was already used.") },
  },
  { name: "errors", path: "/errors#rate_limited" },
];

for (const view of VIEWS) {
  test(`every state is accessible and fits the screen on ${view.name}`, async (t) => {
    t.timeout(MANY_PAGES_MS);
    const site = await serveSettings(t);
    const page = await openPage(browser, view, t);
    await page.context().addCookies([{ name: "souk_session", value: SESSION, url: site.url }]);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (!message.text().includes("status of 4")) complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(site.url)) complaints.push(request.url());
    });
    const given = { ...site.script };
    for (const { name, path, script, act } of STATES) {
      Object.assign(site.script, given, SETTINGS, script);
      await page.goto(site.url + path);
      await act?.(page);
      await screenshot(page, `${name}-${view.name}`);
      t.deepEqual(await faults(page), SOUND, name);
      // The codes are listed as words of a text are.
      if (name !== "errors") t.deepEqual(await smallTargets(page), [], name);
    }
    t.deepEqual(complaints, []);
  });
}

test("every state is valid HTML", async (t) => {
  const site = await serveSettings(t);
  const given = { ...site.script };
  for (const { name, path, script } of STATES) {
    Object.assign(site.script, given, SETTINGS, script);
    const page = await fetch(site.url + path, { headers: { cookie: `souk_session=${SESSION}` } });
    t.deepEqual(await invalidHtml(await page.text()), [], name);
  }
});

test("at a zoom of 200 %, no page is wider than the screen", async (t) => {
  const site = await serveSettings(t);
  // At a zoom of 200 %, a browser lays a page out for half as many pixels.
  const page = await openPage(browser, { name: "zoomed", width: 320, height: 400, colorScheme: "light" }, t, {
    deviceScaleFactor: 2,
  });
  await page.context().addCookies([{ name: "souk_session", value: SESSION, url: site.url }]);
  for (const { name, path, script } of STATES) {
    Object.assign(site.script, SETTINGS, script);
    await page.goto(site.url + path);
    t.deepEqual(await overflowing(page), [], name);
  }
});
