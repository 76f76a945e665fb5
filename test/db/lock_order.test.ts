import { randomBytes } from "node:crypto";
import test from "ava";
import { statementOf } from "../../src/database/database.ts";
import { withClient } from "../support/client.ts";
import { dealsIn, termsOf } from "./deals.ts";
import { deadlocksOf, type Operation, statesOf } from "./locks.ts";
import { askOf, type Caller, offerOf, openMarket, vectorOf } from "./market.ts";
import { signing } from "./signing.ts";

/**
 * The order of locks (db/schema/internal/platform/locks.sql). Two people with agents, offers and asks that match each
 * other, and everything that locks a row of theirs, each operation against each.
 */

type Arguments = Record<string, unknown>;

const operation = (name: string, text: string, values: unknown[], role: string | null = null): Operation => ({
  name,
  text,
  values: values.map((value) =>
    value !== null && typeof value === "object" && !Buffer.isBuffer(value) && !Array.isArray(value)
      ? JSON.stringify(value)
      : value,
  ),
  role,
});
const calling = (
  kind: "agent" | "person" | "moderator" | "visitor",
  hash: Buffer | null,
  name: string,
  args: Arguments,
): Operation =>
  operation(
    name,
    statementOf(kind, name, Object.keys(args)),
    [...(hash ? [hash] : []), ...Object.values(args)],
    // The moderators' GraphQL calls most of their functions in another role than their pages do.
    kind === "moderator" ? null : "souk_api",
  );
const agent = ({ token }: Caller, name: string, args: Arguments = {}) => calling("agent", token, name, args);
const person = (session: Buffer, name: string, args: Arguments = {}) => calling("person", session, name, args);
const visitor = (name: string, args: Arguments) => calling("visitor", null, name, args);
const job = (name: string, ...args: unknown[]) =>
  operation(name, `select jobs.${name}(${args.map((_, n) => `$${n + 1}`).join(", ")})`, args, "souk_worker");

/** Jobs of the crontab, which never wait for a locked row: they leave it to a later run. */
const CRONTAB = [
  "sweep_submissions",
  "purge_keys",
  "purge_sign_ins",
  "purge_agents",
  "purge_oauth",
  "purge_sandboxes",
  "purge_deliveries",
  "sweep_deliveries",
  "age_offers",
  "expire_deals",
  "forget_deals",
];

/** Functions that lock, and that no operation has to call, with the reason. */
const NEEDS_NO_PAIR: Record<string, string> = {
  "api.stop_digest": "changes one row of its own",
  "internal.delete_shipped": "changes data while a deployment loads it",
  "internal.keep_partitions": "drops whole tables",
  "internal.renumber": "runs once after a backup was restored, and again if it fails",
  "jobs.check_invariants": "stores results, in rows that nothing else writes",
  "jobs.store_classifiers": "stores what was learned, in rows that nothing else writes",
};

const AGED: [table: string, columns: string[]][] = [
  ["agent", ["created_at"]],
  ["account", ["created_at"]],
  ["account_stats", ["last_active_at"]],
  ["verification", ["created_at", "expires_at"]],
  ["sign_in", ["created_at", "expires_at"]],
  ["session", ["created_at", "expires_at", "seen_at"]],
  ["submission", ["created_at"]],
  ["idempotency_key", ["created_at"]],
  ["offer", ["confirmed_at"]],
];

test("no two operations can wait for each other", async (t) => {
  const market = await openMarket(t, { patient: true });
  const people = signing(market);
  const deals = dealsIn(market);
  await market.sql("update market.sign_in_method set available = true");
  const hash = () => randomBytes(32);
  const verify = async (caller: Caller, method: string) => {
    const { body } = await market.call(caller, "start_verification", { method });
    const [row] = await market.sql`select secret_hash from market.verification where id = ${body.id}`;
    return { id: body.id as string, link: row.secret_hash as Buffer };
  };
  const submit = async (caller: Caller, name: string, args: Arguments): Promise<string> =>
    (await market.call(caller, name, args as never)).submission;
  const text = offerOf({ price: "170 EUR" });
  const wanted = askOf({ max: "90 EUR" });
  const keyed = { idempotency_key: "sofa", request_hash: hash(), errors: [] };

  // What is old: an agent without approval whose link was opened, an account that its agent left, an agent of a client
  // of OAuth that nobody approved, a sandbox, and offers that nobody confirmed.
  const abandoned = await market.connect();
  await people.begin({ method: "google", verification: (await verify(abandoned, "google")).link });
  const seller = await market.approved();
  const stale = [await market.offer(seller), await market.offer(seller)];
  const moved = await market.connect();
  await market.approve(moved, seller.session, hash());
  const old = await submit(moved, "publish_offer", { body: { text: text.text }, ...keyed });
  await market.sql`update market.submission set account_id = ${moved.account} where id = ${old}`;
  // Conversations about the stale offers: one with a proposal, and one whose words are old, with contacts that are.
  const curious = await market.approved();
  const [asked, forgotten] = [
    (await deals.open(curious, stale[0] ?? "")).body.id,
    (await deals.open(curious, stale[1] ?? "")).body.id,
  ];
  await deals.propose(curious, asked, 10);
  await deals.trust([seller, curious]);
  await deals.accept(seller, forgotten, await deals.propose(curious, forgotten, 10, { note: "Soon" }));
  await market.sql`update market.conversation set active_at = now() - interval '13 months' where id = ${forgotten}`;
  await market.sql`update market.agreement set made_at = now() - interval '100 days'`;
  for (const [table, columns] of AGED)
    await market.sql(
      `update market.${table} set ${columns.map((column) => `${column} = ${column} - interval '100 days'`).join(", ")}`,
    );
  await market.sql`update market.offer set stale_at = now() - interval '40 days', published_at = published_at - interval '100 days'
    where id = any (${stale})`;

  await market.sql`update market.account set suspended_at = now(), suspension_reason = 'spam', suspension_note = 'x', hiding = true
    where id = ${seller.account}`;
  const tester = await market.connect();
  await market.sql`with made as (insert into market.sandbox (expires_at) values (now()) returning id)
    update market.account a set sandbox_id = made.id from made where a.id = ${tester.account}`;
  await market.sql`update market.agent g set sandbox_id = a.sandbox_id from market.account a
    where a.id = g.account_id and g.id = ${tester.agent}`;

  // Another one, which gives way because the market has no more room.
  const idle = await market.connect();
  await market.sql`with made as (insert into market.sandbox default values returning id),
      account as (update market.account a set sandbox_id = made.id from made where a.id = ${idle.account})
    update market.agent g set sandbox_id = made.id from made where g.id = ${idle.agent}`;
  await market.sql("update market.setting set value = '1' where name = 'sandbox_agents'");

  const [alice, bob, carol] = [await market.approved(), await market.approved(), await market.connect()];
  const [helper, gone] = [await market.colleague(alice), await market.colleague(alice)];
  const offers: string[] = [];
  const asks: string[] = [];
  for (const who of [alice, bob])
    for (let n = 0; n < 3; n++) {
      offers.push(await market.offer(who));
      asks.push(await market.ask(who));
    }
  const [removed, archived] = [await market.offer(alice), await market.offer(alice)];
  await market.call(alice, "archive_offer", { id: archived });
  await market.sql`update market.offer set status = 'removed', review_reason = 'spam' where id = ${removed}`;
  for (const id of offers.slice(0, 2)) await market.call(bob, "report_offer", { id, reason: "spam" });
  await market.sql`insert into market.webhook (account_id, agent_id, url, encrypted_secret, verified_at)
    select ${alice.account}, g, 'https://example.com/' || g, '00000000.' || repeat('A', 80),
      case when g = ${alice.agent} then now() end
    from unnest(${[alice.agent, helper.agent]}::uuid[]) as g`;
  // Another one whose account has used up its deliveries of the hour.
  const [full] = await market.sql`insert into market.webhook (account_id, agent_id, url, encrypted_secret, verified_at)
    values (${bob.account}, ${bob.agent}, 'https://example.com/', ${`00000000.${"A".repeat(80)}`}, now()) returning id`;
  await market.call(bob, "test_webhook", { id: full.id });
  await market.sql`insert into market.rate_limit_hit (scope, action)
    select ${`account:${bob.account}`}, 'deliver' from generate_series(1, 1000)`;
  const [hook] = await market.sql`select id from market.webhook where agent_id = ${alice.agent}`;
  const [unproved] = await market.sql`select id from market.webhook where agent_id = ${helper.agent}`;
  for (const caller of [alice, helper]) await verify(caller, caller === alice ? "google" : "apple");
  const attempt = await people.begin({ method: "google", purpose: "add", session: alice.session });
  const leaving = await people.begin({ method: "google", session: bob.session, leave: true });
  const link = await verify(carol, "google");
  const proof = await people.begin({ method: "google", verification: link.link });
  const submissions = [
    await submit(alice, "publish_offer", { body: { text: text.text }, ...keyed }),
    await submit(helper, "update_offer", { id: offers[0], body: { text: text.text }, errors: [] }),
    await submit(alice, "update_ask", { id: asks[0], body: { text: wanted.text }, errors: [] }),
    await submit(bob, "create_ask", { body: { text: wanted.text }, ...keyed }),
  ];
  await market.sql`update market.submission set created_at = now() - interval '11 minutes' where id = ${submissions[3]}`;
  const refused = await submit(gone, "create_ask", {
    body: { text: wanted.text },
    idempotency_key: null,
    request_hash: null,
    errors: [],
  });
  await market.call(gone, "remove_own_agent");
  const lost = await market.approved();
  await market.sql`delete from market.session where account_id = ${lost.account}`;
  const recovery = await people.begin({ method: "apple", verification: (await verify(lost, "apple")).link });
  const mail = await people.begin({ email: "lena@example.com" });
  const [family, code] = [hash(), hash()];
  await market.sql`insert into market.oauth_grant (agent_id, client_id, redirect_uri, code_challenge, code_hash,
      code_expires_at, family_hash, refresh_token_hash)
    values (${helper.agent}, 'x', 'https://x.example', ${"A".repeat(43)}, ${code}, now() + interval '1 hour', ${family},
      ${family})`;
  await market.call(alice, "test_webhook", { id: hook.id });
  const delivery = await market.value`select id from market.webhook_delivery where webhook_id = ${hook.id} limit 1`;
  // A change of an offer that waits for a moderator, offers whose documents and concepts are to be made again, and texts
  // of an account that was not active today.
  await market.sql`update market.setting set value = 'true' where name = 'pre_moderation'`;
  await market.change(bob, offers[5] ?? "", { title: "Green sofa" });
  await withClient(market.url, async (client) => {
    await client.query("set session_replication_role = replica");
    await client.query("update market.offer set concepts = 'x' where id = any ($1)", [offers]);
    await client.query("update search.document set document = '{}' where id = any ($1)", [offers]);
    await client.query("update market.account_stats set last_active_at = now() - interval '2 days'");
  });
  const change = await market.value`insert into market.reembedding (model) values ('builtin-meaning-1') returning id`;
  await market.sql`insert into reading.concept_refresh default values on conflict do nothing`;
  const judge = await market.approved();
  await market.sql`insert into market.moderator (account_id, appointed_by) values (${judge.account}, 'a test')`;
  await market.sql`insert into market.proved_method (account_id, method, subject_hash, email)
    values (${judge.account}, 'email', internal.subject_hash('email', 'judge@example.com'), 'judge@example.com')`;
  const [{ id: notice } = {}] = await market.sql`insert into market.notice (email, act, method, sign_in_id)
    values ('judge@example.com', 'method_added', 'google', (select s.id from market.sign_in s
      where s.flow_hash = ${mail.flow})) returning id`;
  // The mailboxes of two accounts know one browser.
  const [neighbour, browser] = [await market.approved(), hash()];
  await market.sql`insert into market.proved_method (account_id, method, subject_hash, email)
    values (${neighbour.account}, 'email', internal.subject_hash('email', 'n@example.com'), 'n@example.com')`;
  await market.sql`insert into market.known_browser (secret_hash, subject_hash)
    select ${browser}, p.subject_hash from market.proved_method p where p.method = 'email'`;
  const known = await people.begin({ email: "judge@example.com", browser });
  await market.sql`update market.session set signed_in_at = now() where account_id = any (${[judge.account, neighbour.account]})`;
  await market.sql`insert into market.digest (account_id, enabled) values (${judge.account}, true)`;
  await market.sql`insert into market.moderator_link (secret_hash, expires_at) values (${family}, now() + interval '1 hour')`;
  await market.sql`update market.review_case set held_by = ${judge.account}, held_until = now() + interval '1 hour'
    where offer_id = ${offers[1]}`;
  const moderator = (name: string, args: Arguments) => calling("moderator", judge.session, name, args);
  const seen = async (id: string | undefined) =>
    await market.value`select greatest(o.updated_at, c.created_at)::text from market.offer o
      left join market.offer_change c on c.offer_id = o.id where o.id = ${id}`;
  const ofGoogle = (flow: Buffer, session: Buffer | null) => ({
    flow_hash: flow,
    method: "google",
    subject: "one",
    email: "lena@example.com",
    name: "Lena",
    session_hash: session,
    new_session_hash: hash(),
  });

  // Two people who converse about offers of both: with a proposal, with agreements that await a person, with what has
  // expired, and with nothing pending.
  const talk = async (who: Caller, offer: string | undefined): Promise<string> =>
    (await deals.open(who, offer ?? "")).body.id;
  const proposed = { id: await talk(bob, offers[0]), proposal: "" };
  const counter = { id: await talk(alice, offers[3]), proposal: "" };
  const awaited = [await talk(bob, offers[1]), await talk(alice, offers[4])];
  const expired = await talk(neighbour, offers[0]);
  const plain = await talk(bob, offers[2]);
  proposed.proposal = await deals.propose(bob, proposed.id, 100);
  counter.proposal = await deals.propose(bob, counter.id, 100);
  for (const [n, id] of awaited.entries())
    await deals.accept(n ? bob : alice, id, await deals.propose(n ? alice : bob, id, 100));
  const ending = await deals.propose(neighbour, expired, 100);
  await market.sql`update market.proposal set expires_at = now() where id = ${ending}`;
  const [{ id: question }] = await market.sql`select id from market.confirmation where account_id = ${alice.account}
    order by id limit 1`;
  const { digest } = await market.callAsPerson(alice, "get_confirmation_page", { id: question });
  const silenced = await talk(neighbour, offers[4]);
  await deals.block(bob, silenced);
  await deals.report(alice, expired);
  const [{ id: words }] = await market.sql`select id from market.message where conversation_id = ${expired}`;
  // The agents, but not the helper, may agree alone.
  await deals.trust([alice, bob]);
  const post = (body: object) => ({
    body: JSON.stringify(body),
    idempotency_key: null,
    request_hash: null,
    errors: "[]",
  });

  await market.sql("update market.sign_in_method set available = method <> 'email'");
  await market.sql`update market.agent set used_at = now() - interval '13 months'
    where id = any (${[alice.agent, helper.agent]})`;
  const operations: Operation[] = [
    agent(alice, "archive_offer", { id: offers[0] }),
    agent(alice, "republish_offer", { id: archived }),
    agent(alice, "confirm_offer", { id: offers[0] }),
    agent(alice, "appeal_offer", { id: removed, comment: null }),
    agent(bob, "report_offer", { id: offers[2], reason: "spam", comment: null }),
    agent(bob, "open_conversation", { id: offers[2], ...post({ text: "Hello", contact: "x", proposal: termsOf(5) }) }),
    agent(helper, "open_conversation", { id: offers[5], ...post({ text: "Hello" }) }),
    agent(bob, "send_message", { id: plain, ...post({ text: "Hello", contact: "x" }) }),
    agent(alice, "send_message", { id: proposed.id, ...post({ text: "Hello" }) }),
    agent(alice, "propose", { id: proposed.id, ...post(termsOf(5)) }),
    agent(helper, "accept_proposal", { id: proposed.id, proposal_id: proposed.proposal, body: "{}", errors: "[]" }),
    agent(alice, "accept_proposal", {
      id: counter.id,
      proposal_id: counter.proposal,
      body: '{"contact": "x"}',
      errors: "[]",
    }),
    agent(helper, "decline_proposal", { id: proposed.id, proposal_id: proposed.proposal }),
    agent(bob, "withdraw_proposal", { id: proposed.id, proposal_id: proposed.proposal }),
    agent(bob, "close_conversation", { id: awaited[0] }),
    agent(bob, "read_conversation", { id: proposed.id, up_to: proposed.proposal }),
    agent(bob, "report_conversation", { id: plain, reason: "spam", comment: null }),
    person(alice.session, "block_conversation", { id: awaited[1] }),
    person(bob.session, "unblock", { id: silenced }),
    person(alice.session, "decide_confirmation", { id: question, decision: "confirm", digest }),
    person(alice.session, "decide_confirmation", { id: question, decision: "refuse", digest }),
    person(alice.session, "set_powers", {
      agent_id: helper.agent,
      powers: '[{"power": "converse", "allowed": "never"}]',
    }),
    agent(alice, "publish_offer", {
      body: { text: text.text },
      idempotency_key: "other",
      request_hash: hash(),
      errors: "[]",
    }),
    agent(alice, "update_offer", { id: offers[0], body: { text: text.text }, errors: "[]" }),
    agent(alice, "update_offer", { id: offers[0], body: { contact_visibility: "approved" }, errors: "[]" }),
    agent(alice, "create_ask", {
      body: { text: wanted.text },
      idempotency_key: null,
      request_hash: null,
      errors: "[]",
    }),
    agent(alice, "update_ask", { id: asks[0], body: { text: wanted.text, watch_enabled: false }, errors: "[]" }),
    agent(alice, "archive_ask", { id: asks[0] }),
    agent(alice, "withdraw_submission", { submission_id: submissions[0] }),
    agent(bob, "withdraw_submission", { submission_id: submissions[3] }),
    agent(alice, "start_verification", { method: "google", base_url: "", link_key: alice.token }),
    agent(alice, "remove_own_agent"),
    agent(alice, "test_webhook", { id: hook.id }),
    agent(helper, "challenge_webhook", { id: unproved.id }),
    agent(alice, "delete_webhook", { id: hook.id }),
    agent(alice, "create_webhook", {
      ...{ url: "https://example.com/other", types: null, private_allowed: false },
      encrypted_secret: `00000000.${"A".repeat(80)}`,
    }),
    person(alice.session, "delete_account"),
    person(bob.session, "delete_account"),
    person(alice.session, "remove_agent", { agent_id: helper.agent }),
    person(alice.session, "approve_agent", { agent_id: helper.agent }),
    person(alice.session, "update_profile", { display_name: "Lena", contact_email: null, contact_phone: null }),
    person(judge.session, "set_digest", { enabled: true }),
    person(alice.session, "sign_out"),
    person(alice.session, "sign_out_everywhere"),
    visitor("approve_connection", {
      ...{ secret_hash: carol.link, session_hash: alice.session, new_session_hash: hash(), picked: "BCDF-GHJK" },
    }),
    visitor("decline_connection", { secret_hash: carol.link, browser_hash: hash(), address: null }),
    visitor("finish_sign_in", ofGoogle(attempt.flow, alice.session)),
    visitor("finish_sign_in", ofGoogle(leaving.flow, bob.session)),
    visitor("finish_sign_in", ofGoogle(proof.flow, null)),
    visitor("cancel_verification", { secret_hash: link.link, session_hash: null }),
    moderator("suspend_account", { id: alice.account, reason: "scam" }),
    moderator("override_cap", { account_id: alice.account, action: "publish_offer", cap: 5 }),
    moderator("remove_agent", { id: alice.agent }),
    moderator("claim_case", { offer_id: offers[0] }),
    moderator("read_conversation", { id: expired }),
    moderator("settle_conversation", { id: expired }),
    moderator("remove_message", { conversation_id: expired, id: words }),
    moderator("keep_offer", { id: offers[0], expected_updated_at: await seen(offers[0]) }),
    moderator("remove_offer", { id: offers[0], expected_updated_at: await seen(offers[0]), reason: "spam" }),
    moderator("restore_offer", { id: removed, expected_updated_at: await seen(removed) }),
    job("apply_standing", alice.account, null),
    job("complete_submission", submissions[0], text.extraction),
    job("complete_submission", submissions[1], text.extraction),
    job("complete_submission", submissions[2], wanted.extraction),
    job("complete_submission", submissions[3], wanted.extraction),
    job("store_offer_embedding", offers[0], vectorOf("a"), "builtin-meaning-1"),
    job("store_offer_embedding", offers[4], vectorOf("a"), "builtin-meaning-1"),
    job("store_ask_embedding", asks[0], vectorOf("a"), "builtin-meaning-1"),
    job("store_ask_embedding", asks[4], vectorOf("a"), "builtin-meaning-1"),
    job("claim_deliveries", hook.id, 4, 4),
    job("enqueue_digests"),
    moderator("publish_offer", { id: offers[5], expected_updated_at: await seen(offers[5]) }),
    moderator("reinstate_account", { id: seller.account }),
    moderator("release_case", { offer_id: offers[1] }),
    moderator("change_setting", { name: "pre_moderation", value: "false", expected_value: "true" }),
    person(judge.session, "remove_method", { method: "email", confirmed: true }),
    visitor("finish_sign_in", { ...ofGoogle(recovery.flow, null), method: "apple" }),
    visitor("finish_mail_sign_in", {
      ...{ flow_hash: mail.flow, link_hash: null, code_hash: hash(), session_hash: null, new_session_hash: hash() },
      address: "10.1.2.3",
    }),
    visitor("finish_mail_sign_in", {
      ...{ flow_hash: known.flow, link_hash: known.link, code_hash: null, session_hash: null },
      ...{ new_session_hash: hash(), browser_hash: browser, new_browser_hash: hash() },
    }),
    person(neighbour.session, "remove_method", { method: "email", confirmed: true }),
    visitor("start_sign_in", {
      ...{ flow_hash: hash(), method: "google", purpose: "sign_in", session_hash: null, verification_hash: link.link },
      ...{ email: null, link_hash: null, code_hashes: null, address: "10.1.2.3", kept: "[]" },
    }),
    visitor("cancel_sign_in", { flow_hash: mail.flow, address: "10.1.2.3" }),
    visitor("exchange_code", {
      ...{ code_hash: code, client_id: "y", redirect_uri: "https://x.example", code_challenge: "A".repeat(43) },
      ...{ token_hash: hash(), family_hash: hash(), refresh_token_hash: hash(), proof: null },
    }),
    visitor("refresh_token", {
      ...{ family_hash: family, refresh_token_hash: family, client_id: "x" },
      ...{ new_token_hash: hash(), new_refresh_token_hash: hash(), proof: null },
    }),
    visitor("revoke_token", { token_hash: null, family_hash: family, client_id: "x", proof: null }),
    visitor("connect_agent", {
      ...{ name: "x", token_hash: hash(), secret_hash: hash(), code: "BCDF-GHJK", address: "10.1.2.3" },
      ...{ connections_per_hour: 30, sandbox: true, sandbox_id: null },
    }),
    job("apply_standing", seller.account, null),
    job("complete_submission", refused, wanted.extraction),
    job("claim_deliveries", unproved.id, 4, 4),
    job("claim_deliveries", full.id, 4, 4),
    job("admit_address", delivery, "10.1.2.3"),
    job("end_attempt", delivery, 1, 410, null, 10, null, null),
    job("begin_digest", judge.account),
    job("finish_digest", judge.account, true),
    job("build_documents", "00000000-0000-0000-0000-000000000000", 100),
    job("refresh_concepts", 100),
    visitor("accept_moderator_link", { secret_hash: family, session_hash: alice.session, new_session_hash: hash() }),
    visitor("offer_methods", { methods: '["google"]' }),
    job("use_embedding_model", "another-model"),
    job("take_batch", change, 10, false),
    job(
      "store_batch",
      change,
      JSON.stringify(
        [offers[0], offers[1], asks[0], asks[1]].map((id) => ({
          kind: offers.includes(id ?? "") ? "offer" : "ask",
          id,
          words: "x",
          embedding: vectorOf("a"),
        })),
      ),
    ),
    job("count_model_reading", submissions[0]),
    job("mark_approval_notice", alice.agent),
    job("drop_account_notice", notice),
    job("mark_confirmation_notice", question, question),
    job("mark_confirmation_list", alice.account, question),
    visitor("note_uses", { token_hashes: JSON.stringify([alice, bob].map(({ token }) => token.toString("hex"))) }),
    job("end_unused_agents"),
    job("heartbeat", "a pool", false),
    job("deregister", "a pool"),
    ...CRONTAB.map((name) => job(name)),
  ];
  const unordered = operation("an update without an order", "update market.offer set reviewed = true", []);
  const { states, called, failed } = await statesOf(market.url, [...operations, unordered], t);
  t.deepEqual(failed, []);

  const [found, deadlocks] = [true, false].map((wrong) =>
    deadlocksOf(states).filter((sentence) => sentence.includes(unordered.name) === wrong),
  );
  t.deepEqual(deadlocks, []);
  t.true(
    found?.some((sentence) => sentence.includes("store_ask_embedding")),
    "what has no order is found",
  );
  // Nobody locks what is in a conversation without having locked the conversation, which these jobs skip then.
  const waiting = states.filter(
    ({ operation, waitsFor }) => CRONTAB.includes(operation) && !waitsFor.startsWith("market.proposal"),
  );
  t.deepEqual(new Set(waiting.map(({ operation, waitsFor }) => `${operation} waits for ${waitsFor}`)), new Set());
  const texts =
    await market.sql`select 'advisory ' || hashtextextended('texts ' || a.id, 0) as lock from market.account a`;
  const notLast = states.filter(({ holds }) => texts.some(({ lock }) => holds.has(lock)));
  t.deepEqual(new Set(notLast.map(({ operation, waitsFor }) => `${operation} waits for ${waitsFor}`)), new Set());

  const locking = await market.sql`select p.pronamespace::regnamespace || '.' || p.proname as name from pg_proc p
    where p.pronamespace::regnamespace::text = any ('{api,admin,jobs,internal,search}')
      and p.prosrc ~ '\\mfor (no key |key )?(update|share)\\M|\\m(update market[.]|delete from )' order by 1`;
  const missing = locking.map(({ name }) => name).filter((name) => !called.has(name));
  t.deepEqual(missing, Object.keys(NEEDS_NO_PAIR), "add an operation that calls it");
});
