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

const TRACK = {
  verified: true,
  member_since: "2026-01",
  offers: { active: 1, lifetime: 4, removed: 0 },
};
const DEAL_OFFER = {
  id: "0190c7a4-0000-7000-8000-000000000010",
  title: "Grey three-seat sofa, good condition",
  status: "published",
  price_label: "180 EUR",
  web_url: "https://souk.example.com/offers/0190c7a4-0000-7000-8000-000000000010",
};
const TERMS = {
  price: { amount: 170, currency: "EUR" },
  from: "2026-03-06",
  handover: { method: "pickup", place: "Kreuzberg, by the canal", at: "2026-03-06T17:00:00.000Z" },
  note: "With the two cushions.\n\nI bring a van.",
};
/** The id of the confirmation and of the conversation in these tests. */
export const DEAL_ID = "0190c7a4-0000-7000-8000-0000000000d1";

/** A confirmation that waits for the publisher of an offer, as api.get_confirmation_page returns it. */
export const CONFIRMATION = {
  offer: DEAL_OFFER,
  role: "publisher",
  pays: false,
  proposed_by: "counterpart",
  terms: TERMS,
  offer_changed: false,
  contact: { schema_version: 2, methods: [{ type: "email", value: "lena@example.com", preferred: true }] },
  confirmation: { id: DEAL_ID, kind: "agreement", status: "pending", url: "", expires_in: 170_000, summary: "" },
  counterpart: TRACK,
  conversation_id: DEAL_ID,
  agreement_status: "awaiting",
  digest: "d1",
};

/** What waits for the person. */
const WAITING = {
  confirmations: [{ ...CONFIRMATION.confirmation, offer: DEAL_OFFER, terms: TERMS, pays: false }],
};

/** An open conversation about an offer of the person, with a proposal of the other side. */
export const CONVERSATION = {
  id: DEAL_ID,
  offer: DEAL_OFFER,
  role: "publisher",
  status: "open",
  counterpart: TRACK,
  proposal: {
    id: "0190c7a4-0000-7000-8000-0000000000d2",
    from: "counterpart",
    status: "pending",
    terms: TERMS,
    offer_changed: false,
    expires_at: "2026-03-07T14:03:22.000Z",
    created_at: "2026-03-05T14:03:22.000Z",
  },
  agreement: null,
  contact: null,
  unread: 2,
  created_at: "2026-03-04T14:03:22.000Z",
  updated_at: "2026-03-05T14:03:22.000Z",
  next: [],
};

/** An agreement of it that waits for the person. */
export const AGREEMENT = {
  id: "0190c7a4-0000-7000-8000-0000000000d3",
  status: "awaiting",
  reason: null,
  terms: TERMS,
  awaiting: ["me"],
  made_at: null,
  confirmation: CONFIRMATION.confirmation,
};

/** Its page, as api.get_conversation_page returns it. */
export const CONVERSATION_PAGE = {
  conversation: CONVERSATION,
  messages: [
    {
      id: "0190c7a4-0000-7000-8000-0000000000e1",
      from: "counterpart",
      text: "Is it still there? […]",
      created_at: "2026-03-04T14:03:22.000Z",
      addresses_agents: true,
    },
    { id: "0190c7a4-0000-7000-8000-0000000000e2", from: "me", text: "It is.", created_at: "2026-03-04T14:05:22.000Z" },
    {
      id: "0190c7a4-0000-7000-8000-0000000000e3",
      from: "counterpart",
      text: null,
      created_at: "2026-03-04T15:05:22.000Z",
    },
  ],
  has_older: false,
  up_to: "0190c7a4-0000-7000-8000-0000000000e3",
  can_write: true,
  blocked: false,
  agreement_from: null,
  own_contact: null,
  reasons: [{ code: "scam", summary: "It looks like a fraud." }],
};

/** What an agent may do alone if nobody has decided anything. */
export const POWERS = {
  agent_id: AGENT.id,
  powers: [
    { power: "publish", allowed: "alone" },
    { power: "ask", allowed: "alone" },
    { power: "converse", allowed: "alone" },
    { power: "agree", allowed: "ask_me" },
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
  list_confirmations: WAITING,
  get_confirmation_page: CONFIRMATION,
  decide_confirmation: {},
  list_conversations: {
    results: [CONVERSATION, { ...CONVERSATION, role: "inquirer", proposal: null, unread: 0 }],
    page: LAST_PAGE,
  },
  list_blocks: { blocks: [{ conversation_id: DEAL_ID, blocked_at: "2026-03-05T14:03:22.000Z", offer: DEAL_OFFER }] },
  get_conversation_page: CONVERSATION_PAGE,
  send_message: {},
  read_conversation: {},
  accept_proposal: {},
  decline_proposal: {},
  withdraw_proposal: {},
  close_conversation: {},
  block_conversation: {},
  report_conversation: {},
  unblock: {},
  get_powers: POWERS,
  set_powers: {},
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
