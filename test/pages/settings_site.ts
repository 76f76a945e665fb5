import { type Script, type Site, servePages, type Teardown } from "./site.ts";

/**
 * Serves the settings with a fake database that gives scripted answers, and holds sample data for every state of the
 * pages.
 */

/** A session cookie's value: well formed, but the secret of no session. */
export const SESSION = "s".repeat(43);

/** An account with two sign-in methods. */
export const ACCOUNT = {
  display_name: "Lena",
  contact_email: "lena@example.com",
  contact_phone: "+4930123456",
  member_since: "2026-02",
  label: "Lena (lena@example.com)",
  methods: [
    { method: "email", email: "lena@example.com", proved_at: "2026-02-03T10:00:00.000Z" },
    { method: "google", email: null, proved_at: "2026-03-04T14:03:22.000Z" },
  ],
  available_methods: ["google", "email"],
  unavailable_methods: ["apple"],
  sessions: 2,
  signed_in_seconds_ago: 40,
  kept_after_deletion: null,
};

/** An account without a sign-in method, which only this browser can open. */
export const BARE_ACCOUNT = {
  ...ACCOUNT,
  display_name: null,
  contact_email: null,
  contact_phone: null,
  label: "a new account without a sign-in method",
  methods: [],
  sessions: 1,
};

/** The same where the service offers no sign-in method. */
export const STRANDED_ACCOUNT = {
  ...BARE_ACCOUNT,
  available_methods: [],
  unavailable_methods: ["google", "apple", "email"],
};

/** A connected agent with offers and asks. */
export const AGENT = {
  id: "0190c7a4-0000-7000-8000-00000000000a",
  name: "Claude",
  connected_at: "2026-03-04T14:03:22.000Z",
  last_active: "2026-03",
  offers: 3,
  asks: 1,
  removed_at: null,
  disconnected_at: null,
};

/** A removed agent without offers and asks. */
export const REMOVED_AGENT = {
  ...AGENT,
  id: "0190c7a4-0000-7000-8000-00000000000b",
  name: "Old assistant",
  last_active: null,
  offers: 0,
  asks: 0,
  removed_at: "2026-03-05T09:00:00.000Z",
  disconnected_at: null,
};

const item = (id: number, status: string, title: string | null, published_at: string | null) => ({
  id: `0190c7a4-0000-7000-8000-0000000000${id}`,
  status,
  title,
  created_at: "2026-03-04T14:03:22.000Z",
  published_at,
});

/** The `page` member of the last page of a list. */
export const LAST_PAGE = { next_cursor: null, has_more: false };

/** A first page of offers in several states. */
export const OFFERS = {
  results: [
    item(10, "published", "Grey three-seat sofa, good condition", "2026-03-04T14:03:22.000Z"),
    item(11, "archived", "Cargo bike with rain cover and two child seats", "2026-02-28T14:03:22.000Z"),
    item(12, "removed", "Something that a moderator took down", "2026-02-27T14:03:22.000Z"),
    item(13, "pending_review", null, null),
    {
      ...item(14, "published", "Oak table for eight", "2026-02-26T14:03:22.000Z"),
      change: { status: "waiting", review: "A moderator will look at this change before anyone sees it." },
    },
    {
      ...item(15, "archived", "Piano lessons at home", "2026-02-25T14:03:22.000Z"),
      change: { status: "rejected", review: "It advertises a shop." },
    },
  ],
  page: { next_cursor: "bmV4dA", has_more: true },
};

const ASKS = {
  results: [item(20, "active", "A used cargo bike in Berlin", null), item(21, "fulfilled", "Piano lessons", null)],
  page: LAST_PAGE,
};

const agent = { id: AGENT.id, name: AGENT.name };
const event = (at: string, action: string, by: object | null, target: object | null) => ({
  at,
  action,
  agent: by,
  target,
});
const sofa = { type: "offer", id: "1", title: "Grey three-seat sofa, good condition" };

/** A first page of the activity list with events of several kinds. */
export const ACTIVITY = {
  activity: [
    event("2026-03-05T09:00:00.000Z", "agent.removed", null, {
      type: "agent",
      id: REMOVED_AGENT.id,
      title: "Old assistant",
    }),
    event("2026-03-04T16:00:00.000Z", "offer.removed", null, sofa),
    event("2026-03-04T15:00:00.000Z", "offer.archived", null, sofa),
    event("2026-03-04T14:10:00.000Z", "ask.created", agent, {
      type: "ask",
      id: "2",
      title: "A used cargo bike in Berlin",
    }),
    event("2026-03-04T14:05:00.000Z", "offer.published", agent, sofa),
    event("2026-03-04T14:03:00.000Z", "agent.connected", null, { type: "agent", id: AGENT.id, title: "Claude" }),
    event("2026-02-03T10:00:00.000Z", "method.proved", null, { type: "method", id: "email", title: "email" }),
    event("2026-02-03T09:59:00.000Z", "account.claimed", null, null),
  ],
  page: { next_cursor: "bmV4dA", has_more: true },
};

/** What arrives where: the mail is off, one ask is watched and one is not. */
export const ALERTS = {
  digest: { enabled: false, sent_at: null },
  email: "lena@example.com",
  asks: [
    {
      id: "0190c7a4-0000-7000-8000-0000000000a1",
      title: "A used cargo bike in Berlin",
      text: "…",
      watch_enabled: true,
    },
    { id: "0190c7a4-0000-7000-8000-0000000000a2", title: null, text: "A desk for a child", watch_enabled: false },
  ],
};

/** A webhook that works, with a failure, a disabled one, and one whose receiver has not answered. */
export const WEBHOOKS = {
  webhooks: [
    {
      id: "01981d0e-7a00-7000-8000-000000000021",
      url: "https://agent.example.com/souk",
      types: ["match.created"],
      status: "active",
      created_at: "2026-03-01T10:00:00.000Z",
      resume_at: "2026-03-04T10:00:05.000Z",
      deliveries: [
        {
          types: ["match.created"],
          events: 3,
          status: "waiting",
          created_at: "2026-03-04T10:00:00.000Z",
          attempts: 1,
          next_attempt_at: "2026-03-04T10:00:05.000Z",
          error: "The receiver answered 500.",
        },
        {
          types: ["webhook.test"],
          events: 1,
          status: "delivered",
          created_at: "2026-03-01T10:01:00.000Z",
          attempts: 1,
        },
      ],
    },
    {
      id: "01981d0e-7a00-7000-8000-000000000022",
      url: "https://old.example.com/a/long/path/that/has/no/place/to/break/in/a/narrow/column?of=the&page=1",
      status: "disabled",
      created_at: "2026-02-01T10:00:00.000Z",
      disabled_at: "2026-02-05T10:00:00.000Z",
      disabled_reason: "failed",
      deliveries: [],
    },
    {
      id: "01981d0e-7a00-7000-8000-000000000023",
      url: "https://new.example.com/souk",
      status: "unverified",
      created_at: "2026-03-01T10:00:00.000Z",
      deliveries: [],
    },
  ],
};

/** The script of a signed-in person with an account, agents, offers, asks and activity. */
export const SETTINGS: Script = {
  get_account: ACCOUNT,
  list_agents: { agents: [AGENT, REMOVED_AGENT] },
  list_offers: OFFERS,
  list_asks: ASKS,
  list_activity: ACTIVITY,
  get_alerts: ALERTS,
  set_digest: { enabled: true },
  update_ask: {},
  confirm_offer: {},
  get_digest_link: { enabled: true },
  stop_digest: { enabled: false },
  list_webhooks: WEBHOOKS,
  test_webhook: {},
  challenge_webhook: {},
  delete_webhook: {},
  update_profile: ACCOUNT,
  remove_agent: {},
  remove_method: {},
  archive_offer: {},
  archive_ask: {},
  export_account: { items: [], next_cursor: null },
  delete_account: { done: true },
};

/** Serves the pages with the script of SETTINGS. `script` overrides single functions. */
export const serveSettings = (t: Teardown, script: Script = {}): Promise<Site> =>
  servePages(t, { ...SETTINGS, ...script });
