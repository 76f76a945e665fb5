import { randomBytes } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, offerOf, openMarket, outcomeOf, refusal, refused } from "./market.ts";
import { type Begin, type Identity, randomEmail, signing } from "./signing.ts";

/**
 * Who gets an account that has no sign-in method: the recovery of an account whose browser is lost, the agents that a
 * person keeps when they prove a first method, and the account that a browser leaves by signing in to another one.
 *
 *   lost   agents of one account without a method, whose only session has ended
 */

let market: Awaited<ReturnType<typeof openMarket>>;
let people: ReturnType<typeof signing>;

test.before(async () => {
  market = await openMarket();
  people = signing(market);
  await market.sql("update market.sign_in_method set available = true");
});

test.after.always(() => market?.close());

const someone = (): Identity => ({ subject: randomBytes(8).toString("hex"), email: randomEmail() });

/** Approves one more agent with the session of a caller's person. */
const another = async (owner: Caller, name: string): Promise<Caller> => {
  const caller = await market.connect(name);
  await market.call(null, "approve_connection", {
    secret_hash: caller.link,
    session_hash: owner.session,
    new_session_hash: caller.session,
  });
  return { ...caller, account: owner.account, session: owner.session };
};

const linked = async (caller: Caller, method = "google"): Promise<Buffer> => {
  const { body } = await market.call(caller, "start_verification", { method, base_url: "", link_key: caller.token });
  const [row] = await market.sql("select secret_hash from market.verification where id = $1", [body.id]);
  return row.secret_hash;
};

const look = (link: Buffer, session: Buffer | null = null): Promise<Answer> =>
  market.call(null, "get_verification_page", { secret_hash: link, session_hash: session });

const prove = (link: Buffer, options: Begin = {}, identity = someone()) =>
  people.signIn(identity, { ...options, verification: link });

const me = (caller: Caller): Promise<Answer> => market.call(caller, "get_me", { base_url: "", link_key: caller.token });

const asPerson = (session: Buffer, name: string, args = {}): Promise<Answer> =>
  market.callAsPerson({ agent: "", account: "", token: session, link: session, session }, name, args);

const agentsOf = async (session: Buffer): Promise<Record<string, string>> => {
  const { agents } = await asPerson(session, "list_agents");
  return Object.fromEntries(
    agents.map(({ name, removed_at, disconnected_at, connected_at }: Answer) => [
      name,
      removed_at ? "removed" : disconnected_at ? "waiting" : connected_at ? "acting" : "none",
    ]),
  );
};

const loseBrowser = (account: string) => market.sql("delete from market.session where account_id = $1", [account]);

const lost = async (): Promise<{ first: Caller; second: Caller }> => {
  const first = await market.approved("First");
  const second = await another(first, "Second");
  await asPerson(first.session, "update_profile", {
    display_name: "Lena",
    contact_email: "lena@example.com",
    contact_phone: "+4930123456",
  });
  await loseBrowser(first.account);
  return { first, second };
};

test.serial(
  "a recovery erases the profile and disconnects every agent, also the one that requested the link",
  async (t) => {
    const { first, second } = await lost();
    const ask = await market.ask(second);
    const link = await linked(first);
    await linked(second, "email");
    const page = await look(link);
    t.like(page, { recovers: true, mine: false, missing: null, status: "pending" });
    t.is((await me(first)).account.connected, true, "looking changes nothing");

    const identity = someone();
    const { session } = await prove(link, {}, identity);
    t.is(await people.accountOf(session), first.account);
    const account = await asPerson(session, "get_account");
    t.like(account, { display_name: null, contact_email: null, contact_phone: null, label: identity.email });
    t.deepEqual(await agentsOf(session), { First: "waiting", Second: "waiting" });
    for (const caller of [first, second]) {
      const { account: seen, permissions, next } = await me(caller);
      t.is(seen.connected, false);
      t.regex(permissions.publish_offer.summary, /recovered.*approve this agent again/);
      t.regex(next[0].summary, /approve this agent again/);
      const { status, code, detail, extra } = await refusal(market.ask(caller));
      t.deepEqual([status, code, extra.connected], [403, "verification_required", false]);
      t.regex(detail, /recovered.*approve this agent again/);
    }
    t.is(await refused(market.call(first, "get_ask", { id: ask })), "404 not_found", "it is the account's, not theirs");
    t.deepEqual((await me(second)).pending_verifications, [], "the links of the past end");

    const events = await market.sql(
      `select action, actor_type from market.audit_event where subject_account_id = $1 and at >=
       (select recovered_at from market.account where id = $1) order by at`,
      [first.account],
    );
    t.deepEqual(
      events.map(({ action, actor_type }) => `${actor_type} ${action}`),
      [
        "person account.recovered",
        "person profile.deleted",
        "person agent.disconnected",
        "person agent.disconnected",
        "person method.proved",
      ],
    );
  },
);

test.serial("a text is not published if its agent was disconnected before it was read", async (t) => {
  const { first, second } = await lost();
  const { text, extraction } = offerOf({ title: "Left behind" });
  const { submission } = await market.call(second, "publish_offer", {
    body: { text },
    idempotency_key: null,
    request_hash: null,
    errors: [],
  });
  await prove(await linked(first));
  await market.work("complete_submission", submission, extraction);
  t.deepEqual(await market.sql("select from market.offer where title = 'Left behind'"), []);
  const [row] = await market.sql("select status, body ->> 'code' as code from market.submission where id = $1", [
    submission,
  ]);
  t.deepEqual(row, { status: 403, code: "verification_required" });
});

test.serial("a proof that was begun with a list of agents does not end as a recovery", async (t) => {
  const owner = await market.approved("Third");
  const other = await another(owner, "Fourth");
  const verification = await linked(owner);
  const attempt = await people.begin({
    method: "google",
    verification,
    session: owner.session,
    kept: [owner.agent, other.agent],
  });
  await loseBrowser(owner.account);
  t.is(await refused(people.finish(attempt, "google", someone())), "409 invalid_state");
  t.true((await me(owner)).account.connected, "nothing was disconnected");
});

test.serial("after a recovery agents are approved again one by one, after a recent sign-in", async (t) => {
  const { first, second } = await lost();
  const { session } = await prove(await linked(first));
  t.deepEqual(await asPerson(session, "approve_agent", { agent_id: first.agent }), {});
  t.deepEqual(await asPerson(session, "approve_agent", { agent_id: first.agent }), {}, "repeated, it does nothing");
  t.deepEqual(await agentsOf(session), { First: "acting", Second: "waiting" });
  const ask = await market.ask(first);
  t.is((await market.call(first, "get_ask", { id: ask })).id, ask);
  t.is(await refused(market.call(second, "get_ask", { id: ask })), "404 not_found");
  t.is(await refused(market.ask(second)), "403 verification_required");
  await asPerson(session, "remove_agent", { agent_id: second.agent });
  t.is(await refused(me(second)), "401 unauthorized");
  t.is(await refused(asPerson(session, "approve_agent", { agent_id: second.agent })), "404 not_found");

  const stranger = await market.connect();
  const [other] = [await market.approved()];
  for (const agent_id of [stranger.agent, other.agent])
    t.is(await refused(asPerson(session, "approve_agent", { agent_id })), "404 not_found");
  await people.grow(session);
  const { status, extra } = await refusal(asPerson(session, "approve_agent", { agent_id: first.agent }));
  t.deepEqual([status, extra], [401, { sign_in_again: true }]);
});

test.serial("an agent cannot approve itself or another agent again", async (t) => {
  const { first, second } = await lost();
  await prove(await linked(first));
  for (const caller of [first, second]) {
    await t.throwsAsync(market.call(caller, "approve_agent", { agent_id: second.agent }), {
      message: /permission denied/,
    });
    await t.throwsAsync(
      market.sqlAs("souk_agent", caller, "update market.agent set connected_at = now() where id = $1", [caller.agent]),
      { message: /permission denied/ },
    );
  }
});

test.serial("whoever recovers an account sees nothing of its past that its agents could not read", async (t) => {
  const { first, second } = await lost();
  const removed = await market.approved("Removed before");
  await market.sql("update market.agent set account_id = $2, removed_at = now() where id = $1", [
    removed.agent,
    first.account,
  ]);
  const foreign = await market.offer(await market.approved());
  await market.call(second, "report_offer", { id: foreign, reason: "spam", comment: "A secret of the second agent" });
  const own = await market.offer(second, { title: "Own sofa" });
  await market.sql("update market.connection set address = '203.0.113.7' where agent_id = $1", [second.agent]);
  await market.sql(
    `insert into market.decision (account_id, offer_id, action, sentence) values ($1, $2, 'keep', 'Words of before')`,
    [first.account, own],
  );
  await market.sql(
    `insert into market.sign_in (flow_hash, method, purpose, account_id, email, link_hash, code_hash, created_at)
     values (sha256('f'), 'email', 'add', $1, 'before@example.com', sha256('l'), sha256('c'), now() - interval '1 hour')`,
    [first.account],
  );
  await market.sql(`insert into market.moderator (account_id, appointed_by) values ($1, 'test')`, [first.account]);
  const { session } = await prove(await linked(first));

  const { activity } = await asPerson(session, "list_activity", { page_size: 50, cursor: null });
  t.deepEqual(activity.map(({ action }: Answer) => action).sort(), [
    "account.recovered",
    "agent.disconnected",
    "agent.disconnected",
    "method.proved",
    "profile.deleted",
  ]);
  const parts: Record<string, Answer[]> = {};
  for (const part of ["account", "agents", "offers", "asks", "reports", "verifications", "decisions", "activity"])
    parts[part] = (await asPerson(session, "export_account", { part, cursor: null })).items;
  t.deepEqual(parts["reports"], []);
  t.deepEqual(parts["verifications"], []);
  t.deepEqual(parts["agents"]?.map(({ name }) => name).sort(), ["First", "Second"]);
  t.deepEqual(
    parts["offers"]?.map(({ id }) => id),
    [own],
  );
  t.is((parts["account"] as Answer).sessions.length, 1);
  t.notRegex(
    JSON.stringify(parts),
    /secret of the second|lena@example\.com"?,"contact|\+4930|Removed before|203\.0\.113|Words of before|before@/,
  );
  t.deepEqual(await market.sql("select from market.moderator where account_id = $1", [first.account]), []);
});

test.serial("an agent that may not write cannot recover the account", async (t) => {
  const { first, second } = await lost();
  const { session } = await prove(await linked(first));
  await asPerson(session, "approve_agent", { agent_id: first.agent });
  await asPerson(session, "remove_method", { method: "google", confirmed: true });
  await loseBrowser(first.account);
  const link = await linked(second);
  t.is((await look(link)).missing, "browser");
  t.is(await refused(prove(link)), "409 invalid_state");
  t.true((await look(await linked(first))).recovers, "the link of an agent that may write recovers it");
});

test.serial("only an account without a method and without a live session is recovered", async (t) => {
  const caller = await market.approved();
  const link = await linked(caller);
  t.like(await look(link), { recovers: false, missing: "browser" });
  await market.sql("update market.session set seen_at = now() - interval '399 days' where account_id = $1", [
    caller.account,
  ]);
  t.is(await refused(prove(link)), "409 invalid_state", "the session still lives");
  t.like(await look(link, caller.session), { recovers: false, missing: null, mine: true });
  await market.sql("update market.session set seen_at = now() - interval '400 days' where account_id = $1", [
    caller.account,
  ]);
  const other = await people.signIn(someone());
  t.like(await look(link, other.session), { recovers: false, missing: "sign_out" });
  t.is(await refused(prove(link, { session: other.session })), "409 invalid_state");
  t.like(await look(link, caller.session), { recovers: true, mine: false });
  await prove(link);
  t.like(await look(await linked(caller, "apple")), { recovers: false, missing: "sign_in" });

  const fresh = await market.connect();
  t.false(
    (await look(await linked(fresh))).recovers,
    "nobody has claimed the account yet, so there is nothing to lose",
  );
  const { session } = await prove(await linked(fresh));
  t.deepEqual(await agentsOf(session), {});
});

test.serial("of persons who use links of a lost account at the same time, one recovers it", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { first, second } = await lost();
    const links = [await linked(first), await linked(first), await linked(second), await linked(second, "apple")];
    const identities = links.map(someone);
    const attempts = await Promise.all(
      links.map((link, index) =>
        people.begin({ method: index === 3 ? "apple" : "google", verification: link, kept: null }),
      ),
    );
    const outcomes = await Promise.all(
      attempts.map((attempt, index) =>
        outcomeOf(people.finish(attempt, index === 3 ? "apple" : "google", identities[index] ?? someone())),
      ),
    );
    t.is(outcomes.filter((outcome) => outcome === "done").length, 1, outcomes.join());
    t.notRegex(outcomes.join(), /deadlock|violates/);
    t.is((await market.sql("select from market.proved_method where account_id = $1", [first.account])).length, 1);
    t.is((await market.sql("select from market.session where account_id = $1", [first.account])).length, 1);
    const states = await market.sql(
      "select connected_at is null as off, disconnected_at is not null as waits from market.agent where account_id = $1",
      [first.account],
    );
    t.deepEqual(states, [
      { off: true, waits: true },
      { off: true, waits: true },
    ]);
  }
});

test.serial(
  "an agent that is removed while its link recovers the account recovers nothing, or was removed too late",
  async (t) => {
    for (let round = 0; round < 8; round += 1) {
      const { first, second } = await lost();
      const attempt = await people.begin({ method: "google", verification: await linked(first), kept: null });
      const [removal, recovery] = await Promise.all([
        outcomeOf(market.call(first, "remove_own_agent")),
        outcomeOf(people.finish(attempt, "google", someone())),
      ]);
      t.is(removal, "done");
      t.true(["done", "invalid_state"].includes(recovery), recovery);
      const [{ removed_at: gone }] = await market.sql("select removed_at from market.agent where id = $1", [
        first.agent,
      ]);
      t.truthy(gone);
      t.is((await me(second)).account.connected, recovery !== "done");
      const proved = await market.sql("select method from market.proved_method where account_id = $1", [
        second.account,
      ]);
      t.deepEqual(
        proved.map(({ method }) => method),
        recovery === "done" ? ["google"] : [],
      );
    }
  },
);

test.serial("a write in progress either ends before the recovery, or is refused", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { first, second } = await lost();
    const attempt = await people.begin({ method: "google", verification: await linked(first), kept: null });
    const submit = () =>
      market.call(second, "create_ask", {
        body: { text: "Wanted: a sofa", watch_enabled: true },
        idempotency_key: null,
        request_hash: null,
        errors: [],
      });
    const [recovery, ...writes] = await Promise.all([
      outcomeOf(people.finish(attempt, "google", someone())),
      ...Array.from({ length: 4 }, () => outcomeOf(submit())),
    ]);
    t.is(recovery, "done");
    t.deepEqual(
      writes.filter((outcome) => !["done", "verification_required"].includes(outcome)),
      [],
    );
    t.is(await refused(submit()), "403 verification_required");
  }
});

test.serial("a first method is not proved before the person says which agents go on", async (t) => {
  const first = await market.approved("Mine");
  await another(first, "Of somebody else");
  const add = { purpose: "add", session: first.session, kept: null } as const;
  const { status, extra } = await refusal(people.signIn(someone(), add));
  t.deepEqual([status, extra], [409, { choose_agents: true }]);
  const link = await linked(first);
  t.deepEqual((await refusal(prove(link, { session: first.session, kept: null }))).extra, { choose_agents: true });
  t.deepEqual((await me(first)).account.verified, []);

  const free = await market.connect();
  t.true((await prove(await linked(free), { kept: null })).answer.added, "no agent acts for this account yet");
});

test.serial("agents that are left unchecked are removed in the transaction that proves the method", async (t) => {
  for (const way of ["link", "settings"]) {
    const mine = await market.approved("Mine");
    const theirs = await another(mine, "Of somebody else");
    const pending = await linked(theirs, "apple");
    const options = { session: mine.session, kept: [mine.agent] };
    const attempt = await people.begin({
      ...options,
      method: "google",
      ...(way === "link" ? { verification: await linked(mine) } : { purpose: "add" as const }),
    });
    t.true((await me(theirs)).account.connected, "nothing happens before the proof");
    const late = await another(mine, "Approved later");
    const { session } = await people.finish(attempt, "google", someone(), mine.session);
    t.deepEqual(await agentsOf(session), {
      Mine: "acting",
      "Of somebody else": "removed",
      "Approved later": "removed",
    });
    t.is(await refused(me(theirs)), "401 unauthorized");
    t.is(await refused(me(late)), "401 unauthorized");
    t.is((await look(pending, session)).status, "cancelled");
    t.truthy(await market.ask(mine));
  }
});

test.serial("with no agent checked, all are removed, also the one whose link it was", async (t) => {
  const mine = await market.approved();
  const link = await linked(mine);
  const { session } = await prove(link, { session: mine.session, kept: [] });
  t.like(await look(link, session), { status: "completed", agent_removed: true, mine: true });
  t.is(await refused(me(mine)), "401 unauthorized");
});

test.serial("ids of other accounts' agents among the checked ones change nothing", async (t) => {
  const [mine, foreign] = [await market.approved("Mine"), await market.approved()];
  const { session } = await prove(await linked(mine), {
    session: mine.session,
    kept: [mine.agent, foreign.agent, "no id", randomBytes(16).toString("hex")],
  });
  t.deepEqual(await agentsOf(session), { Mine: "acting" });
  t.true((await me(foreign)).account.connected);
});

test.serial("a later method that is added in the settings needs no choice and removes no agent", async (t) => {
  const mine = await market.approved("Mine");
  const first = await prove(await linked(mine), { session: mine.session });
  await people.signIn(someone(), { method: "apple", purpose: "add", session: first.session, kept: null });
  t.true((await me(mine)).account.connected);
  t.deepEqual((await me(mine)).account.verified, ["apple", "google"]);
});

test.serial("the message after a proof names the agents that go on, were removed, and wait", async (t) => {
  const notice = async (session: Buffer): Promise<Answer> => {
    const [{ id }] = await market.sql(
      `select s.id from market.sign_in s join market.session b on b.account_id = s.account_id
       where b.secret_hash = $1 order by s.finished_at desc limit 1`,
      [session],
    );
    const jobs = await market.sql(
      "select from graphile_worker.jobs where task_identifier = 'send_proof_notice' and key = 'send_proof_notice:' || $1",
      [id],
    );
    t.is(jobs.length, 1);
    const told = await market.work("get_proof_notice", id);
    await market.work("mark_proof_notice", id);
    t.is(await market.work("get_proof_notice", id), null, "it is sent once");
    const { proved_at, ...rest } = told;
    return rest;
  };
  const mine = await market.approved("Mine");
  await another(mine, "Theirs");
  const identity = someone();
  const kept = await prove(await linked(mine), { session: mine.session, kept: [mine.agent] }, identity);
  t.deepEqual(await notice(kept.session), {
    email: identity.email,
    method: "Google",
    recovered: false,
    kept: ["Mine"],
    removed: ["Theirs"],
    waiting: [],
  });
  const { first } = await lost();
  const { session } = await prove(await linked(first), {}, identity && someone());
  t.like(await notice(session), { recovered: true, kept: [], removed: [], waiting: ["First", "Second"] });
});

test.serial("the only browser of an account without a method does not leave it unasked", async (t) => {
  const known = someone();
  await people.signIn(known);
  const mine = await market.approved();
  for (const identity of [known, someone()]) {
    const { status, extra } = await refusal(people.signIn(identity, { session: mine.session }));
    t.deepEqual([status, extra], [409, { leaves: true }]);
  }
  t.is(await refused(people.begin({ session: mine.session, email: "no address" })), "400 bad_request");
  t.truthy(await people.viewer(mine.session));

  const { session } = await people.signIn(known, { session: mine.session, leave: true });
  t.not(await people.accountOf(session), mine.account);
  t.is(await people.viewer(mine.session), null);
  t.is(await refused(me(mine)), "401 unauthorized", "its agents are disconnected");
});

test.serial("an account that a browser got after it began to sign in is not left unasked", async (t) => {
  const attempt = await people.begin({ method: "google" });
  const mine = await market.approved();
  const { status, detail } = await refusal(people.finish(attempt, "google", someone(), mine.session));
  t.is(status, 409);
  t.regex(detail, /Start again/);
  t.truthy(await people.viewer(mine.session));
  // Consent to leave one account is no consent to leave another.
  const [first, second] = [await market.approved(), await market.approved()];
  const leaving = await people.begin({ method: "google", session: first.session, leave: true });
  t.is(await refused(people.finish(leaving, "google", someone(), second.session)), "409 invalid_state");
  for (const caller of [mine, first, second]) t.true((await me(caller)).account.connected);
});

test.serial("a browser leaves an account that has a method, or another browser, without a question", async (t) => {
  const kept = await people.signIn(someone());
  t.truthy(await people.signIn(someone(), { session: kept.session }));
  const mine = await market.approved();
  const elsewhere = randomBytes(32);
  await market.sql("insert into market.session (account_id, secret_hash) values ($1, $2)", [mine.account, elsewhere]);
  t.truthy(await people.signIn(someone(), { session: mine.session }));
  t.true((await me(mine)).account.connected);
  t.truthy(await people.viewer(elsewhere));
});

test.serial("leaving an account while its method is proved in another tab removes no agent", async (t) => {
  const mine = await market.approved();
  const leaving = await people.begin({ method: "google", session: mine.session, leave: true });
  const adding = await people.begin({ method: "google", session: mine.session, purpose: "add" });
  const added = await people.finish(adding, "google", someone(), mine.session);
  await people.finish(leaving, "google", someone(), mine.session);
  t.true((await me(mine)).account.connected);
  t.truthy(await people.viewer(added.session));
});

test.serial(
  "of leaving an account and adding a method to it at the same time, the account is kept or left whole",
  async (t) => {
    for (let round = 0; round < 8; round += 1) {
      const mine = await market.approved();
      const leaving = await people.begin({ method: "google", session: mine.session, leave: true });
      const adding = await people.begin({ method: "apple", session: mine.session, purpose: "add" });
      const [left, added] = await Promise.all([
        outcomeOf(people.finish(leaving, "google", someone(), mine.session)),
        outcomeOf(people.finish(adding, "apple", someone(), mine.session)),
      ]);
      t.notRegex(`${left} ${added}`, /deadlock|violates|timeout/);
      t.is(left, "done");
      const [{ removed }] = await market.sql(
        "select removed_at is not null as removed from market.agent where id = $1",
        [mine.agent],
      );
      t.is(removed, added !== "done", added);
    }
  },
);
