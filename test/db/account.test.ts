import { randomBytes } from "node:crypto";
import test from "ava";
import type pg from "pg";
import { openDatabase } from "../../src/database/database.ts";
import { exportAccount } from "../../src/pages/settings/account.ts";
import { type Answer, type Caller, column, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";

/**
 * What a person sees and changes in their own account.
 *
 *   person   calls with the session of the person who approved the agent
 *   proved   an account with a sign-in method, whose session has just signed in
 */

test.before(async () => {
  await market.sql("update market.sign_in_method set available = true where method = 'email'");
});

const prove = async (caller: Caller, method: string, email: string | null = null) => {
  await market.sql`insert into market.proved_method (account_id, method, subject_hash, email)
    values (${caller.account}, ${method}, ${randomBytes(32)}, ${email})`;
};
const signIn = (caller: Caller, ago = "0 minutes") =>
  market.sql`update market.session set signed_in_at = now() - ${ago}::interval where secret_hash = ${caller.session}`;

test("a person can set a name, an e-mail address and a phone number, each normalised, and clear them", async (t) => {
  const caller = await market.approved();
  const told = await market.callAsPerson(caller, "update_profile", {
    display_name: "  Le\u202ena\u200b ",
    contact_email: " Lena@Example.COM ",
    contact_phone: "0049 (30) 123-45/67",
  });
  t.like(told, { display_name: "Lena", contact_email: "lena@example.com", contact_phone: "+49301234567" });
  t.deepEqual(await market.callAsPerson(caller, "get_account"), told);
  const taken = await market.callAsPerson(caller, "update_profile", { display_name: "\u200b", contact_email: "" });
  t.like(taken, { display_name: null, contact_email: null, contact_phone: null });
});

test("an invalid name, address or number is refused with a pointer to each, and nothing is stored", async (t) => {
  const caller = await market.approved();
  const attempt = async (display_name: string, contact_email: string, contact_phone: string) => {
    const { status, code, extra } = await refusal(
      market.callAsPerson(caller, "update_profile", { display_name, contact_email, contact_phone }),
    );
    t.is(`${status} ${code}`, "400 bad_request");
    return extra.errors.map(({ pointer }: Answer) => pointer);
  };
  t.deepEqual(await attempt("x".repeat(81), "nobody", "12"), ["/display_name", "/contact_email", "/contact_phone"]);
  for (const email of [
    "a@b",
    "a b@example.com",
    "a@example.com\r\nBcc: b@example.com",
    "a@example.com,b@example.com",
    "<a@example.com>",
    `${"a".repeat(65)}@example.com`,
    `a@${"b".repeat(260)}.com`,
    "a@@example.com",
    "a@.com",
    '"a"@example.com',
  ]) {
    t.deepEqual(await attempt("Lena", email, ""), ["/contact_email"], email);
  }
  for (const phone of ["030 1234567", "+0123456789", "+49 30 12x", "+1234567890123456", "+12345"]) {
    t.deepEqual(await attempt("Lena", "", phone), ["/contact_phone"], phone);
  }
  t.like(await market.callAsPerson(caller, "get_account"), { display_name: null, contact_email: null });
});

test("an account's label has its name and proved e-mail address, never an unproved one", async (t) => {
  const caller = await market.approved();
  const label = async () => (await market.callAsPerson(caller, "get_account")).label;
  t.is(await label(), "a new account without a sign-in method");
  await market.callAsPerson(caller, "update_profile", { contact_email: "told@example.com" });
  t.is(await label(), "a new account without a sign-in method");
  await prove(caller, "google");
  t.is(await label(), "the account that you sign in to with Google");
  await prove(caller, "email", "lena@example.com");
  t.is(await label(), "lena@example.com");
  await market.callAsPerson(caller, "update_profile", { display_name: "Lena" });
  t.is(await label(), "Lena (lena@example.com)");
});

test("an agent cannot call the functions of the account's settings", async (t) => {
  const caller = await market.approved();
  await prove(caller, "email", "lena@example.com");
  const calls: [string, Record<string, string | number | boolean | null>][] = [
    ["get_account", {}],
    ["update_profile", { display_name: "x", contact_email: null, contact_phone: null }],
    ["remove_method", { method: "email", confirmed: true }],
    ["list_activity", { page_size: 10, cursor: null }],
    ["export_account", {}],
    ["delete_account", {}],
  ];
  for (const [name, args] of calls) {
    const error = await t.throwsAsync<pg.DatabaseError>(market.call(caller, name, args), undefined, name);
    t.true(["42501", "PT401"].includes(error?.code ?? ""), `${name}: ${error?.code}`);
  }
  await t.throwsAsync(market.sqlAs("souk_agent", caller, "select email from market.proved_method"), { code: "42501" });
  await t.throwsAsync(market.sqlAs("souk_agent", caller, "select from market.profile"), { code: "42501" });
});

test("removing the last sign-in method needs a confirmation, and removing any needs a recent sign-in", async (t) => {
  const caller = await market.approved();
  await prove(caller, "google");
  await prove(caller, "email", "lena@example.com");
  const remove = (method: string, confirmed = false) =>
    market.callAsPerson(caller, "remove_method", { method, confirmed });
  for (const ago of [null, "16 minutes"]) {
    if (ago) await signIn(caller, ago);
    const { status, extra } = await refusal(remove("google"));
    t.is(status, 401);
    t.true(extra.sign_in_again);
  }
  await signIn(caller);
  t.is(await refused(remove("apple")), "404 not_found");
  t.deepEqual(column((await remove("google")).methods, "method"), ["email"]);
  const last = await refusal(remove("email"));
  t.is(`${last.status} ${last.code}`, "409 invalid_state");
  t.true(last.extra.confirm);
  t.deepEqual((await remove("email", true)).methods, []);
});

test("removing a method ends every other session of the account", async (t) => {
  const caller = await market.approved();
  await prove(caller, "google");
  await prove(caller, "email");
  await signIn(caller);
  const elsewhere = randomBytes(32);
  await market.sql`insert into market.session (account_id, secret_hash, signed_in_at)
    values (${caller.account}, ${elsewhere}, now())`;
  const stranger = await market.approved();
  await market.callAsPerson(caller, "remove_method", { method: "google", confirmed: false });
  t.is(await refused(market.callAsPerson({ ...caller, session: elsewhere }, "get_account")), "401 unauthorized");
  t.is((await market.callAsPerson(caller, "get_account")).sessions, 1);
  t.is((await market.callAsPerson(stranger, "get_account")).sessions, 1);
});

test("of two concurrent removals of the last two methods, one is refused", async (t) => {
  const caller = await market.approved();
  await prove(caller, "google");
  await prove(caller, "email");
  await signIn(caller);
  const outcomes = await Promise.allSettled(
    ["google", "email"].map((method) => market.callAsPerson(caller, "remove_method", { method, confirmed: false })),
  );
  t.deepEqual(outcomes.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
});

test("agents are listed with their counts, live ones first, and a removed agent is refused at once", async (t) => {
  const caller = await market.approved("First");
  const second = await market.connect("Second");
  await market.approve(second, caller.session, randomBytes(32));
  second.account = caller.account;
  await market.offer(second);
  await market.ask(second);
  const [offered] = await market.sql("select to_char(now() at time zone 'UTC', 'YYYY-MM') as month");
  const list = async () => (await market.callAsPerson(caller, "list_agents")).agents;
  const [latest, first] = await list();
  t.like(latest, {
    id: second.agent,
    name: "Second",
    offers: 1,
    asks: 1,
    last_active: offered.month,
    removed_at: null,
  });
  t.like(first, { id: caller.agent, name: "First", offers: 0, asks: 0 });

  await market.callAsPerson(caller, "remove_agent", { agent_id: second.agent });
  t.is(await refused(market.call(second, "get_me")), "401 unauthorized");
  t.deepEqual(
    (await list()).map(({ id, removed_at }: Answer) => [id, removed_at !== null]),
    [
      [caller.agent, false],
      [second.agent, true],
    ],
  );
  const other = await market.approved();
  t.is(await refused(market.callAsPerson(other, "remove_agent", { agent_id: caller.agent })), "404 not_found");
  t.deepEqual(column((await market.callAsPerson(other, "list_agents")).agents, "id"), [other.agent]);
});

test("activity lists each act with its agent, newest first, page by page, and nothing of other accounts", async (t) => {
  const caller = await market.approved("Helper");
  const offer = await market.offer(caller, { title: "Grey sofa" });
  const ask = await market.ask(caller);
  await market.change(caller, offer, { title: "Green sofa" });
  await market.callAsPerson(caller, "archive_offer", { id: offer });
  await market.call(caller, "fulfill_ask", { id: ask });
  await market.callAsPerson(caller, "update_profile", { display_name: "Lena" });
  await prove(caller, "email");
  await market.callAsPerson(caller, "remove_agent", { agent_id: caller.agent });
  await market.offer(await market.approved());

  const seen: Answer[] = [];
  let cursor: string | null = null;
  do {
    const { activity, page }: Answer = await market.callAsPerson(caller, "list_activity", { page_size: 2, cursor });
    t.true(activity.length > 0 && activity.length <= 2);
    seen.push(...activity);
    cursor = page.next_cursor;
  } while (cursor !== null);
  const helper = { id: caller.agent, name: "Helper" };
  const sofa = { type: "offer", id: offer, title: "Green sofa" };
  const wanted = { type: "ask", id: ask, title: "Wanted: grey sofa" };
  t.deepEqual(
    seen.map(({ action, agent, target, by }) => [action, agent, target, ...(by === undefined ? [] : [by])]),
    [
      ["agent.removed", null, { type: "agent", id: caller.agent, title: "Helper" }],
      // This row was inserted by the test itself, so the log attributes it to a DBA.
      ["method.proved", null, { type: "method", id: "email", title: "email" }, "dba"],
      ["profile.updated", null, null],
      ["ask.fulfilled", helper, wanted],
      ["offer.archived", null, sofa],
      ["offer.updated", helper, sofa],
      ["ask.created", helper, wanted],
      ["offer.published", helper, sofa],
      ["agent.connected", null, { type: "agent", id: caller.agent, title: "Helper" }],
      ["account.claimed", null, null],
      ["agent.created", helper, { type: "agent", id: caller.agent, title: "Helper" }],
    ],
  );
  t.deepEqual(
    column(seen, "at"),
    seen
      .map(({ at }) => at)
      .toSorted()
      .toReversed(),
  );
});

const documentOf = async (caller: Caller): Promise<{ document: Answer; pieces: string[] }> => {
  const database = openDatabase({
    url: market.url,
    poolSize: 2,
    embedded: false,
    role: "souk_api",
    onError: () => {},
  });
  try {
    const pieces: string[] = [];
    for await (const piece of exportAccount(database, { person: caller.session })) pieces.push(piece);
    return { document: JSON.parse(pieces.join("")), pieces };
  } finally {
    await database.close();
  }
};

test("an export contains everything of the account and nothing of others, in pieces of bounded size", async (t) => {
  const [caller, other] = [await market.approved("Helper"), await market.approved("Stranger's")];
  await market.offer(other, { title: "Of a stranger" });
  const reported = await market.offer(other, { title: "Reported" });
  const ask = await market.ask(caller);
  const matched = await market.offer(other, { title: "Grey sofa" });
  const offer = await market.offer(caller);
  await market.call(caller, "report_offer", { id: reported, reason: "spam", comment: "mine" });
  await market.call(caller, "start_verification", { method: "email" });
  await market.callAsPerson(caller, "update_profile", { display_name: "Lena", contact_email: "lena@example.com" });
  await market.sql`insert into market.offer (account_id, status, text, title, published_at)
    select ${caller.account}, 'archived', repeat('x', 4000), 'Number ' || n, now() from generate_series(1, 250) as n`;
  await prove(caller, "email", "lena@example.com");
  t.is(await refused(documentOf(caller)), "401 unauthorized");
  await signIn(caller);

  const { document, pieces } = await documentOf(caller);
  t.deepEqual(Object.keys(document), [
    "account",
    "agents",
    "offers",
    "asks",
    "conversations",
    "messages",
    "reports",
    "verifications",
    "decisions",
    "events",
    "webhooks",
    "activity",
  ]);
  t.like(document.account, { id: caller.account, display_name: "Lena", contact_email: "lena@example.com" });
  t.is(document.account.methods[0].email, "lena@example.com");
  t.is(document.account.sessions.length, 1);
  t.deepEqual(Object.keys(document.account.sessions[0]).toSorted(), [
    "created_at",
    "expires_at",
    "seen_at",
    "signed_in_at",
  ]);
  t.deepEqual(column(document.agents, "id"), [caller.agent]);
  t.is(document.offers.length, 251);
  t.is(new Set(document.offers.map(({ id }: Answer) => id)).size, 251);
  t.truthy(document.offers.find(({ id }: Answer) => id === offer).contact.methods[0]);
  t.true(document.asks.find(({ id }: Answer) => id === ask).matches.includes(matched));
  t.like(document.reports[0], { offer_id: reported, comment: "mine" });
  t.is(document.verifications.length, 1);
  t.true(document.events.some(({ type }: Answer) => type === "offer.archived" || type === "match.created"));
  t.true(document.activity.length > 250);
  t.true(Math.max(...pieces.map((piece) => piece.length)) < 1024 * 1024);
  const text = JSON.stringify(document);
  for (const strange of ["Of a stranger", other.account, other.agent, caller.token.toString("hex")])
    t.false(text.includes(strange), strange);
});

test("an export contains the suspension, the caps, the decisions and the addresses, and not who decided", async (t) => {
  const address = "198.51.100.23";
  const caller = await market.connect("Helper", address);
  await market.approve(caller);
  const [moderator, other] = [await market.approved("A moderator's"), await market.approved("Stranger's")];
  const offer = await market.offer(caller);
  await market.sql`update market.offer set status = 'removed' where id = ${offer}`;
  await market.sql`update market.account set suspended_at = now(), suspension_reason = 'scam', suspension_note
    = 'Three reports.' where id = ${caller.account}`;
  await market.sql`insert into market.decision (moderator_id, action, account_id, offer_id, reason, sentence)
    select ${moderator.account}, 'remove', ${caller.account}, ${offer}, 'scam', 'Decision ' || n
      from generate_series(1, 150) as n`;
  await market.sql`insert into market.decision (moderator_id, action, account_id, sentence)
    values (${moderator.account}, 'suspend', ${other.account}, 'Of a stranger')`;
  await market.sql`insert into market.cap_override (account_id, action, cap, changed_by)
    values (${caller.account}, 'create_ask', 7, ${moderator.account})`;
  await prove(caller, "email", "lena@example.com");
  await signIn(caller);
  const { document } = await documentOf(caller);
  t.like(document.account.suspension, { reason: "scam", note: "Three reports." });
  t.regex(document.account.suspension.suspended_at, /Z$/);
  const caps = Object.fromEntries(document.account.caps.map((cap: Answer) => [cap.action, cap]));
  t.is(caps.create_ask.calls_an_hour, 7);
  t.truthy(caps.create_ask.set_by_moderator_at);
  t.is(caps.publish_offer.set_by_moderator_at, null);
  t.deepEqual(document.account.kept_after_deletion, { suspended: true, removals: 1, caps: 1 });
  t.deepEqual(document.account.removals_of_earlier_accounts, []);
  t.is(document.agents[0].address, address);
  t.is(document.decisions.length, 150);
  t.is(new Set(document.decisions.map(({ sentence }: Answer) => sentence)).size, 150);
  t.like(document.decisions[0], { action: "remove", offer_id: offer, reason: "scam" });
  const text = JSON.stringify(document);
  for (const strange of [moderator.account, other.account, "Of a stranger"]) t.false(text.includes(strange), strange);
});
