import { randomBytes } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, outcomeOf, refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";
import { randomEmail } from "./signing.ts";

/** Approving: which account a link binds, when a person has to sign in, and the mail that reports an approval. */

const page = async (caller: Caller, session: Buffer | null = null): Promise<Answer> =>
  (await market.call(null, "get_connection", { secret_hash: caller.link, session_hash: session })).account;
/** The account that the link's page shows, without `shown`, the account's fingerprint, and `holds`. */
const look = async (caller: Caller, session: Buffer | null = null): Promise<Answer> => {
  const { shown: _, holds: __, ...read } = await page(caller, session);
  return read;
};
const approve = (
  caller: Caller,
  session: Buffer | null = null,
  fresh = caller.session,
  shown: string | null = null,
): Promise<Answer> =>
  market.call(null, "approve_connection", {
    secret_hash: caller.link,
    session_hash: session,
    new_session_hash: fresh,
    shown,
  });
const me = (caller: Caller): Promise<Answer> => market.call(caller, "get_me");
const verify = (caller: Caller, method: string): Promise<Answer> =>
  market.call(caller, "start_verification", { method });
/** The hash of the secret in a verification's link. */
const linkOf = async (id: string): Promise<Buffer> =>
  market.value`select secret_hash from market.verification where id = ${id}`;
const signIn = async (name: string | null = null, email: string | null = null) => {
  const { session } = await people.signIn({ subject: randomBytes(8).toString("hex"), name, email });
  return { session, account: (await people.accountOf(session)) ?? "" };
};
/** An agent without approval, whose person has proved google through its verification link. */
const provedFirst = async (email: string | null = null) => {
  const caller = await market.connect();
  const { body } = await verify(caller, "google");
  const { session } = await people.signIn(
    { subject: randomBytes(8).toString("hex"), email },
    { verification: await linkOf(body.id) },
  );
  return { caller, session, verification: body.id };
};
/** The queues in which a mail about an agent's approval waits. Empty if none waits. */
const notices = async (caller: Caller): Promise<string[]> => {
  const key = `send_approval_notice:${caller.agent}`;
  const jobs = await market.sql`select queue_name from graphile_worker.jobs where key = ${key}`;
  return jobs.map(({ queue_name }) => queue_name);
};

test.serial("before approval the page shows which account will be bound", async (t) => {
  const caller = await market.connect();
  t.deepEqual(await look(caller), {
    label: "a new account without a sign-in method",
    is_new: true,
    has_method: false,
    needs_sign_in: false,
  });
  t.deepEqual(await look(caller, randomBytes(32)), await look(caller), "an unknown session counts as no session");

  const other = await market.approved();
  t.deepEqual(await look(caller, other.session), {
    label: "a new account without a sign-in method",
    is_new: false,
    has_method: false,
    needs_sign_in: false,
  });

  const person = await signIn("Lena", "lena@example.com");
  const bound = { label: "Lena (lena@example.com)", is_new: false, has_method: true };
  t.deepEqual(await look(caller, person.session), { ...bound, needs_sign_in: false });
  await people.grow(person.session);
  t.deepEqual(await look(caller, person.session), { ...bound, needs_sign_in: true });
});

test.serial("only the agent and its person tell its code from the two others, on every look the same", async (t) => {
  const [caller, other] = [await market.connect(), await market.connect()];
  const codesOf = async ({ link }: Caller): Promise<string[]> =>
    (await market.call(null, "get_connection", { secret_hash: link, session_hash: null })).codes;
  const looks = await Promise.all(Array.from({ length: 40 }, () => codesOf(caller)));
  const codes = new Set(looks.flat());
  t.is(codes.size, 3);
  for (const code of codes) t.regex(code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  t.deepEqual([...new Set(looks.map((look) => look.indexOf("BCDF-GHJK")))].toSorted(), [0, 1, 2], "in any order");
  t.deepEqual(
    (await codesOf(other)).filter((code) => codes.has(code)),
    ["BCDF-GHJK"],
  );
});

test.serial("a wrong pick approves nothing and ends the link, and only 'Not mine' ends the agent", async (t) => {
  const caller = await market.connect();
  const link = { secret_hash: caller.link, session_hash: null };
  const pick = (picked: string | null) =>
    market.call(null, "approve_connection", { ...link, new_session_hash: caller.session, picked });
  for (const none of [null, "", "BCDF-GHJL", "bcdf-ghjk"]) {
    const { status, code, extra } = await refusal(pick(none));
    t.deepEqual([status, code, extra], [400, "bad_request", { not_picked: true }], "no button of the page sends it");
  }
  const { codes, mispicked } = await market.call(null, "get_connection", link);
  t.false(mispicked);
  const decoy = codes.find((code: string) => code !== "BCDF-GHJK");
  t.deepEqual(Object.keys(await pick(decoy)), ["mispicked"]);
  for (const again of ["BCDF-GHJK", decoy]) t.is(await refused(pick(again)), "410 connection_expired");
  const { account, next } = await me(caller);
  t.false(account.connected);
  t.like(next[0], { method: "POST", path: "/v1/connect" });
  const { detail, extra } = await refusal(market.ask(caller));
  t.regex(detail, /Connect again/);
  t.like(extra.next[0], { method: "POST", path: "/v1/connect" });
  t.true((await market.call(null, "get_connection", link)).mispicked);
  await market.call(null, "decline_connection", { secret_hash: caller.link });
  t.is(await refused(me(caller)), "401 unauthorized");
});

test.serial("the page tells the person of the account, and nobody else, what the agent would read", async (t) => {
  const [first, second] = [await market.approved(), await market.connect()];
  t.is((await page(second, first.session)).holds, null);
  await market.call(first, "archive_offer", { id: await market.offer(first) });
  await market.offer(first);
  await market.ask(first);
  t.deepEqual((await page(second, first.session)).holds, { offers: 2, asks: 1 });
  for (const session of [null, (await market.approved()).session]) t.is((await page(second, session)).holds, null);
});

test.serial("an account with a method is bound only by a session that signed in within fifteen minutes", async (t) => {
  const person = await signIn();
  const caller = await market.connect();
  await people.grow(person.session);
  const { status, code, extra } = await refusal(approve(caller, person.session));
  t.deepEqual([status, code, extra], [401, "unauthorized", { sign_in_again: true }]);
  await market.sql`update market.session set signed_in_at = null where secret_hash = ${person.session}`;
  t.is(await refused(approve(caller, person.session)), "401 unauthorized");
  t.false((await me(caller)).account.connected, "the link can still be used");
  await market.sql`update market.session set signed_in_at = now() where secret_hash = ${person.session}`;
  t.deepEqual(await approve(caller, person.session), {
    agent_id: caller.agent,
    agent_name: "Test agent",
    new_session: false,
    has_method: true,
    client: null,
  });
  t.is((await me(caller)).id, person.account);
});

test.serial("approving an agent whose link proved a method needs a sign-in, and keeps the account", async (t) => {
  const { caller, session } = await provedFirst("lena@example.com");
  const [account] = await market.sql`select claimed_at is not null as claimed from market.account
    where id = ${caller.account}`;
  t.true(account.claimed);
  const seen = { is_new: false, has_method: true };
  t.deepEqual(
    await look(caller),
    { ...seen, label: "the account that this agent acts for", needs_sign_in: true },
    "an agent that opens its own link learns no e-mail address",
  );
  const { status, extra } = await refusal(approve(caller));
  t.deepEqual([status, extra], [401, { sign_in_again: true }]);
  t.deepEqual(await look(caller, session), { ...seen, label: "lena@example.com", needs_sign_in: false });
  const offer = await market.offer(await market.approved());
  await market.call(caller, "report_offer", { id: offer, reason: "spam" });
  t.false((await approve(caller, session)).new_session);
  t.is((await me(caller)).id, caller.account);
  t.deepEqual((await me(caller)).account.verified, ["google"]);
  t.is((await market.sql`select from market.report where account_id = ${caller.account}`).length, 1);
});

test.serial("an agent that nobody approved reads nothing of the account that was claimed by its link", async (t) => {
  const { caller, session, verification } = await provedFirst();
  const approved = await market.connect("Approved");
  await approve(approved, session);
  const own = await market.offer(approved);
  const ask = await market.ask(approved);
  await market.call(approved, "archive_offer", { id: own });
  await market.sql`update market.account set display_name = 'Lena' where id = ${caller.account}`;
  await market.sql`insert into market.cap_override (account_id, action, cap)
      values (${caller.account}, 'preview_offer', 7)`;

  t.is((await look(caller)).label, "the account that this agent acts for", "it may open its own link");
  const seen = await me(caller);
  t.deepEqual(seen.limits, (await me(await market.connect())).limits);
  t.like(seen, { display_name: "", activity: { asks_active: 0, offers_published: 0, offers_pending_review: 0 } });
  t.like(seen.account, { connected: false, published_offers: 0 });
  const list = { status: null, page_size: 50, cursor: null };
  t.deepEqual((await market.call(caller, "list_offers", list)).results, []);
  t.deepEqual((await market.call(caller, "list_asks", list)).results, []);
  t.deepEqual((await market.call(caller, "list_events", { after: null, page_size: 50, wait: 0 })).events, []);
  t.deepEqual((await market.call(caller, "list_webhooks")).webhooks, []);
  for (const [name, args] of [
    ["get_offer", { id: own }],
    ["get_ask", { id: ask }],
    ["list_matches", { id: ask, since: null, page_size: 10, cursor: null }],
  ] as const)
    t.is(await refused(market.call(caller, name, args)), "404 not_found", name);
  t.is(await refused(market.call(caller, "delete_webhook", { id: own })), "403 verification_required");
  const poll = { id: verification, base_url: "", link_key: caller.token };
  t.is((await market.call(caller, "get_verification", poll)).status, "completed", "all that it learns");

  const person = { ...caller, session, token: session, link: session, agent: "" };
  const { agents } = await market.callAsPerson(person, "list_agents");
  t.deepEqual(agents.find(({ id }: Answer) => id === caller.agent)?.connected_at, null, "the person sees it");
  await market.callAsPerson(person, "remove_agent", { agent_id: caller.agent });
  t.is(await refused(me(caller)), "401 unauthorized");
});

test.serial("what an agent does that the person has not connected is not done for the account", async (t) => {
  const caller = await market.connect();
  const [early, late] = [await market.offer(await market.approved()), await market.offer(await market.approved())];
  await market.call(caller, "report_offer", { id: early, reason: "spam", comment: "Before." });
  const { session } = await people.signIn(
    { subject: randomBytes(8).toString("hex") },
    { verification: await linkOf((await verify(caller, "google")).body.id) },
  );
  const sibling = await market.connect();
  await approve(sibling, session);
  const own = await market.offer(sibling);
  const report = (agent: Caller, id: string) =>
    market.call(agent, "report_offer", { id, reason: "scam", comment: "Mine." });
  const idle = "update market.account_stats set last_active_at = now() - interval '2 days' where account_id = $1";
  await market.sql(idle, [caller.account]);

  for (const id of [own, late, late]) t.is((await report(caller, id)).status, "received", "as for any stranger");
  await market.call(caller, "preview_offer", { body: { text: "A sofa" } });
  for (const id of [early, late]) await report(sibling, id);
  const reports = async () =>
    market.sql`select r.agent_id, r.account_id, r.counted, count(*)::integer as offers from market.report r
      where r.offer_id = any (${[early, late, own]}) group by 1, 2, 3 order by 4 desc`;
  t.deepEqual(await reports(), [
    { agent_id: caller.agent, account_id: null, counted: false, offers: 3 },
    { agent_id: sibling.agent, account_id: caller.account, counted: true, offers: 2 },
  ]);
  const days = await market.value`select extract(day from now() - last_active_at)::integer as idle
    from market.account_stats where account_id = ${caller.account}`;
  t.is(days, 2);

  const apple = await verify(caller, "apple");
  await people.signIn({ subject: randomBytes(8).toString("hex") }, { method: "apple", purpose: "add", session });
  const poll = { id: apple.body.id, base_url: "", link_key: caller.token };
  t.is((await market.call(caller, "get_verification", poll)).status, "pending", "the person did not use its link");
  t.is((await verify(caller, "google")).status, 200, "it knows of the one that it asked for");
  t.deepEqual((await me(caller)).account.verified, []);
});

test.serial("an approval moves the reports of the agent, and none of the person whose account it had", async (t) => {
  const { caller, session } = await provedFirst();
  const sibling = await market.connect();
  await approve(sibling, session);
  const [one, other] = [await market.offer(await market.approved()), await market.offer(await market.approved())];
  await market.call(sibling, "report_offer", { id: one, reason: "spam", comment: "Private." });
  await market.call(caller, "report_offer", { id: other, reason: "spam" });
  const person = await signIn();
  await approve(caller, person.session);
  const reports = await market.sql`select offer_id, account_id from market.report
    where offer_id = any (${[one, other]})`;
  t.deepEqual(
    new Map(reports.map(({ offer_id, account_id }) => [offer_id, account_id])),
    new Map([
      [one, caller.account],
      [other, person.account],
    ]),
  );
});

test.serial("if another person approves the agent, a proved method stays with its account", async (t) => {
  const { caller, session, verification } = await provedFirst();
  const { body: open } = await verify(caller, "apple");
  const person = await signIn();
  await approve(caller, person.session);
  t.is((await me(caller)).id, person.account);
  t.is((await people.viewer(session)).methods[0].method, "google");
  const rows = await market.sql`select id, account_id, status from market.verification where agent_id = ${caller.agent}
    order by id`;
  t.deepEqual(rows, [
    { id: verification, account_id: caller.account, status: "completed" },
    { id: open.id, account_id: person.account, status: "pending" },
  ]);
});

test.serial("a pending verification completes if the agent moves to an account that proved its method", async (t) => {
  const caller = await market.connect();
  const [google, apple, late] = [
    await verify(caller, "google"),
    await verify(caller, "apple"),
    await verify(caller, "email"),
  ];
  await market.sql`update market.verification set expires_at = now() where id = ${late.body.id}`;
  const attempt = await people.begin({ method: "apple", verification: await linkOf(apple.body.id) });
  const person = await signIn();
  await approve(caller, person.session);
  const statusOf = async ({ body }: Answer) => (await market.call(caller, "get_verification", { id: body.id })).status;
  t.deepEqual(
    [await statusOf(google), await statusOf(apple), await statusOf(late)],
    ["completed", "pending", "expired"],
  );
  const { status, detail } = await refusal(
    people.finish(attempt, "apple", { subject: randomBytes(8).toString("hex") }, person.session),
  );
  t.deepEqual([status, detail], [409, "Your agent has moved to another account since. Open its link again."]);
});

/** An agent whose person proved a method through its link and removed it: the account has the person's session. */
const prepared = async () => {
  const { caller, session } = await provedFirst();
  await market.callAsPerson({ ...caller, session }, "update_profile", { display_name: "Your new account" });
  await market.callAsPerson({ ...caller, session }, "remove_method", { method: "google", confirmed: true });
  return { caller, session };
};

test.serial("an approval without a session never gives access to an account that a person already uses", async (t) => {
  for (const ended of [false, true]) {
    const { caller, session } = await prepared();
    if (ended) await market.callAsPerson({ ...caller, session }, "sign_out");
    t.deepEqual(await look(caller), {
      label: "a new account without a sign-in method",
      is_new: true,
      has_method: false,
      needs_sign_in: false,
    });
    t.true((await approve(caller)).new_session);
    t.not((await me(caller)).id, caller.account);
    t.is(await people.accountOf(caller.session), (await me(caller)).id);
    if (!ended) {
      t.is(
        await refused(market.callAsPerson({ ...caller, session }, "remove_agent", { agent_id: caller.agent })),
        "404 not_found",
      );
    }
    t.true((await approve(caller)).new_session, "a second click gets the same response");
  }
});

test.serial("an approval binds only the account that the page showed", async (t) => {
  const [one, other] = [await signIn("Lena"), await signIn("Max")];
  const caller = await market.connect();
  const shown = {
    nobody: (await page(caller)).shown,
    one: (await page(caller, one.session)).shown,
    other: (await page(caller, other.session)).shown,
  };
  t.is(new Set(Object.values(shown)).size, 3);
  t.not((await page(await market.connect(), one.session)).shown, shown.one, "another link has another fingerprint");
  const changed = { account_changed: true };
  for (const [session, said, detail] of [
    [one.session, shown.other, /now signed in to another account\./],
    [one.session, shown.nobody, /now signed in to another account\./],
    [null, shown.one, /not signed in any more/],
    [one.session, "forged", /now signed in to another account/],
  ] as const) {
    const refusedWith = await refusal(approve(caller, session, caller.session, said));
    t.deepEqual([refusedWith.status, refusedWith.code, refusedWith.extra], [409, "invalid_state", changed]);
    t.regex(refusedWith.detail, detail);
  }
  t.false((await me(caller)).account.connected, "the link can still be used");
  const first = await approve(caller, one.session, caller.session, shown.one);
  t.is((await me(caller)).id, one.account);
  t.deepEqual(await approve(caller, one.session, caller.session, shown.one), first, "a second click succeeds");

  const fresh = await market.connect();
  const made = await approve(fresh, null, fresh.session, (await page(fresh)).shown);
  t.deepEqual(await approve(fresh, fresh.session, fresh.session, shown.nobody), made, "the new session is accepted");
});

test.serial("a second click gets the same response as the first, and a stranger's click is refused", async (t) => {
  const caller = await market.connect();
  const first = await approve(caller);
  t.deepEqual(first, {
    agent_id: caller.agent,
    agent_name: "Test agent",
    new_session: true,
    has_method: false,
    client: null,
  });
  t.deepEqual(await approve(caller), first, "a click without the session cookie");
  t.deepEqual(await approve(caller, caller.session), first, "a click with the session cookie");
  t.is(await refused(approve(caller, null, randomBytes(32))), "409 connection_already_used");
  const stranger = await market.approved();
  t.is(await refused(approve(caller, stranger.session, randomBytes(32))), "409 connection_already_used");
  t.is((await me(caller)).id, caller.account);
  t.is((await market.sql`select from market.session where account_id = ${caller.account}`).length, 1);

  const person = await signIn();
  const second = await market.connect();
  const answer = await approve(second, person.session);
  t.deepEqual(await approve(second, person.session), answer);
});

test.serial("concurrent clicks approve once, and all get the same response", async (t) => {
  const caller = await market.connect();
  const answers = await Promise.all(Array.from({ length: 5 }, () => approve(caller)));
  for (const answer of answers) t.deepEqual(answer, answers[0]);
  t.is((await market.sql`select from market.session where account_id = ${caller.account}`).length, 1);
});

test.serial("a second click after a sign-out or after the agent's removal does not approve again", async (t) => {
  const caller = await market.connect();
  await approve(caller);
  await market.callAsPerson(caller, "remove_agent", { agent_id: caller.agent });
  t.is(await refused(approve(caller)), "409 connection_already_used");
  const other = await market.connect();
  await approve(other);
  await market.callAsPerson(other, "sign_out");
  t.is(await refused(approve(other)), "409 connection_already_used");
  t.is(await people.accountOf(other.session), null);
});

test.serial('of Approve and "Not mine" at the same instant only one takes effect', async (t) => {
  for (let round = 0; round < 15; round += 1) {
    const caller = await market.connect();
    const [approved, declined] = await Promise.all([
      outcomeOf(approve(caller)),
      outcomeOf(market.call(null, "decline_connection", { secret_hash: caller.link })),
    ]);
    const seen = await outcomeOf(me(caller));
    if (approved === "done") t.deepEqual([declined, seen], ["connection_already_used", "done"]);
    else t.deepEqual([approved, declined, seen], ["connection_expired", "done", "unauthorized"]);
  }
});

test.serial("if an agent removes itself during its approval, it is approved first or not at all", async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const person = await signIn();
    const caller = await market.connect();
    await verify(caller, "apple");
    const [approved] = await Promise.all([
      outcomeOf(approve(caller, round % 2 ? person.session : null)),
      market.call(caller, "remove_own_agent"),
    ]);
    t.true(["done", "connection_expired"].includes(approved), approved);
    const [row] = await market.sql`select a.removed_at is not null as removed, a.connected_at is not null as connected,
        c.approved_at is not null as approved, c.declined_at is not null as declined,
        (select string_agg(v.status, '') from market.verification v where v.agent_id = a.id) as verification
      from market.agent a join market.connection c on c.agent_id = a.id where a.id = ${caller.agent}`;
    const connected = approved === "done";
    t.deepEqual(row, {
      removed: true,
      connected,
      approved: connected,
      declined: !connected,
      verification: "cancelled",
    });
  }
});

test.serial("an approval sends one mail to the account's e-mail address, through the queue for mail", async (t) => {
  const email = randomEmail();
  const person = await signIn("Lena", email);
  const caller = await market.connect("Helper");
  await approve(caller, person.session);
  t.deepEqual(await notices(caller), ["mail"]);
  const notice = await market.work("get_approval_notice", caller.agent);
  const { connected_at, ...rest } = notice;
  t.deepEqual(rest, { email, agent_name: "Helper", display_name: "Lena" });
  t.regex(connected_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  await market.work("mark_approval_notice", caller.agent);
  t.is(await market.work("get_approval_notice", caller.agent), null);
  const notified_at = await market.value`select notified_at from market.connection
    where agent_id = ${caller.agent}`;
  await market.work("mark_approval_notice", caller.agent);
  t.deepEqual(await market.sql`select notified_at from market.connection where agent_id = ${caller.agent}`, [
    { notified_at },
  ]);
});

test.serial("the mail goes to the address that the person proved, not to one that a provider stated", async (t) => {
  const person = await signIn("Lena", "google@example.com");
  const mail = await people.begin({ email: randomEmail(), purpose: "add", session: person.session });
  const { session } = await people.finishMail(mail, { link: mail.link }, person.session);
  const caller = await market.connect();
  await approve(caller, session);
  const { email } = await market.work("get_approval_notice", caller.agent);
  t.not(email, "google@example.com");
});

test.serial("without an e-mail address, or after the agent's removal, there is no mail", async (t) => {
  for (const session of [null, (await signIn()).session]) {
    const caller = await market.connect();
    await approve(caller, session);
    t.deepEqual(await notices(caller), []);
    t.is(await market.work("get_approval_notice", caller.agent), null);
  }
  const person = await signIn("Lena", randomEmail());
  const waiting = await market.connect();
  t.is(await market.work("get_approval_notice", waiting.agent), null, "nobody has approved it");
  await approve(waiting, person.session);
  await market.call(waiting, "remove_own_agent");
  t.is(await market.work("get_approval_notice", waiting.agent), null);
});
