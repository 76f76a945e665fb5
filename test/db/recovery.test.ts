import test from "ava";
import { type Answer, column, offerOf, outcomeOf, refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";
import { someone } from "./unproved.ts";

/** The recovery of an account that has no sign-in method and whose browser is lost. */

test.serial("a recovery erases the profile and disconnects every agent, also that of the link", async (t) => {
  const { first, second } = await people.lost();
  const ask = await market.ask(second);
  const link = await people.linked(first);
  await people.linked(second, "email");
  const page = await people.look(link);
  t.like(page, { recovers: true, mine: false, missing: null, status: "pending" });
  t.is((await people.me(first)).account.connected, true, "looking changes nothing");

  const identity = someone();
  const { session } = await people.prove(link, {}, identity);
  t.is(await people.accountOf(session), first.account);
  const account = await people.asPerson(session, "get_account");
  t.like(account, { display_name: null, contact_email: null, contact_phone: null, label: identity.email });
  t.deepEqual(await people.agentsOf(session), { First: "waiting", Second: "waiting" });
  for (const caller of [first, second]) {
    const { account: seen, permissions, next } = await people.me(caller);
    t.is(seen.connected, false);
    t.regex(permissions.publish_offer.summary, /recovered.*approve this agent again/);
    t.regex(next[0].summary, /approve this agent again/);
    const { status, code, detail, extra } = await refusal(market.ask(caller));
    t.deepEqual([status, code, extra.connected], [403, "verification_required", false]);
    t.regex(detail, /recovered.*approve this agent again/);
  }
  t.is(await refused(market.call(first, "get_ask", { id: ask })), "404 not_found", "it is the account's, not theirs");
  t.deepEqual((await people.me(second)).pending_verifications, [], "the links of the past end");

  const events = await market.sql`select action, actor_type from market.audit_event
      where subject_account_id = ${first.account} and at >=
      (select recovered_at from market.account where id = ${first.account}) order by at`;
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
});

test.serial("a text is not published if its agent was disconnected before it was read", async (t) => {
  const { first, second } = await people.lost();
  const { text, extraction } = offerOf({ title: "Left behind" });
  const { submission } = await market.call(second, "publish_offer", { body: { text } });
  await people.prove(await people.linked(first));
  await market.work("complete_submission", submission, extraction);
  t.deepEqual(await market.sql("select from market.offer where title = 'Left behind'"), []);
  const [row] = await market.sql`select status, body ->> 'code' as code from market.submission
    where id = ${submission}`;
  t.deepEqual(row, { status: 403, code: "verification_required" });
});

test.serial("a proof that was begun with a list of agents does not end as a recovery", async (t) => {
  const owner = await market.approved("Third");
  const other = await people.another(owner, "Fourth");
  const verification = await people.linked(owner);
  const attempt = await people.begin({
    method: "google",
    verification,
    session: owner.session,
    kept: [owner.agent, other.agent],
  });
  await people.loseBrowser(owner.account);
  t.is(await refused(people.finish(attempt, "google", someone())), "409 invalid_state");
  t.true((await people.me(owner)).account.connected, "nothing was disconnected");
});

test.serial("after a recovery agents are approved again one by one, after a recent sign-in", async (t) => {
  const { first, second } = await people.lost();
  const { session } = await people.prove(await people.linked(first));
  t.deepEqual(await people.asPerson(session, "approve_agent", { agent_id: first.agent }), {});
  t.deepEqual(
    await people.asPerson(session, "approve_agent", { agent_id: first.agent }),
    {},
    "repeated, it does nothing",
  );
  t.deepEqual(await people.agentsOf(session), { First: "acting", Second: "waiting" });
  const ask = await market.ask(first);
  t.is((await market.call(first, "get_ask", { id: ask })).id, ask);
  t.is(await refused(market.call(second, "get_ask", { id: ask })), "404 not_found");
  t.is(await refused(market.ask(second)), "403 verification_required");
  await people.asPerson(session, "remove_agent", { agent_id: second.agent });
  t.is(await refused(people.me(second)), "401 unauthorized");
  t.is(await refused(people.asPerson(session, "approve_agent", { agent_id: second.agent })), "404 not_found");

  const stranger = await market.connect();
  const [other] = [await market.approved()];
  for (const agent_id of [stranger.agent, other.agent])
    t.is(await refused(people.asPerson(session, "approve_agent", { agent_id })), "404 not_found");
  await people.grow(session);
  const { status, extra } = await refusal(people.asPerson(session, "approve_agent", { agent_id: first.agent }));
  t.deepEqual([status, extra], [401, { sign_in_again: true }]);
});

test.serial("an agent cannot approve itself or another agent again", async (t) => {
  const { first, second } = await people.lost();
  await people.prove(await people.linked(first));
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
  const { first, second } = await people.lost();
  const removed = await market.approved("Removed before");
  await market.sql`update market.agent set account_id = ${first.account}, removed_at = now()
    where id = ${removed.agent}`;
  const foreign = await market.offer(await market.approved());
  await market.call(second, "report_offer", { id: foreign, reason: "spam", comment: "A secret of the second agent" });
  const own = await market.offer(second, { title: "Own sofa" });
  await market.sql`update market.connection set address = '203.0.113.7' where agent_id = ${second.agent}`;
  await market.sql`insert into market.decision (account_id, offer_id, action, sentence)
    values (${first.account}, ${own}, 'keep', 'Words of before')`;
  await market.sql`insert into market.sign_in (flow_hash, method, purpose, account_id, email, link_hash, code_hash,
    created_at)
    values (sha256('f'), 'email', 'add', ${first.account}, 'before@example.com', sha256('l'), sha256('c'), now() -
      interval '1 hour')`;
  await market.sql`insert into market.moderator (account_id, appointed_by) values (${first.account}, 'test')`;
  const { session } = await people.prove(await people.linked(first));

  const { activity } = await people.asPerson(session, "list_activity", { page_size: 50, cursor: null });
  t.deepEqual(activity.map(({ action }: Answer) => action).sort(), [
    "account.recovered",
    "agent.disconnected",
    "agent.disconnected",
    "method.proved",
    "profile.deleted",
  ]);
  const parts: Record<string, Answer[]> = {};
  for (const part of ["account", "agents", "offers", "asks", "reports", "verifications", "decisions", "activity"])
    parts[part] = (await people.asPerson(session, "export_account", { part, cursor: null })).items;
  t.deepEqual(parts["reports"], []);
  t.deepEqual(parts["verifications"], []);
  t.deepEqual(parts["agents"]?.map(({ name }) => name).sort(), ["First", "Second"]);
  t.deepEqual(column(parts["offers"] ?? [], "id"), [own]);
  t.is((parts["account"] as Answer).sessions.length, 1);
  t.notRegex(
    JSON.stringify(parts),
    /secret of the second|lena@example\.com"?,"contact|\+4930|Removed before|203\.0\.113|Words of before|before@/,
  );
  t.deepEqual(await market.sql`select from market.moderator where account_id = ${first.account}`, []);
});

test.serial("an agent that may not write cannot recover the account", async (t) => {
  const { first, second } = await people.lost();
  const { session } = await people.prove(await people.linked(first));
  await people.asPerson(session, "approve_agent", { agent_id: first.agent });
  await people.asPerson(session, "remove_method", { method: "google", confirmed: true });
  await people.loseBrowser(first.account);
  const link = await people.linked(second);
  t.is((await people.look(link)).missing, "browser");
  t.is(await refused(people.prove(link)), "409 invalid_state");
  t.true((await people.look(await people.linked(first))).recovers, "the link of an agent that may write recovers it");
});

test.serial("only an account without a method and without a live session is recovered", async (t) => {
  const caller = await market.approved();
  const link = await people.linked(caller);
  t.like(await people.look(link), { recovers: false, missing: "browser" });
  await market.sql`update market.session set seen_at = now() - interval '399 days'
    where account_id = ${caller.account}`;
  t.is(await refused(people.prove(link)), "409 invalid_state", "the session still lives");
  t.like(await people.look(link, caller.session), { recovers: false, missing: null, mine: true });
  await market.sql`update market.session set seen_at = now() - interval '400 days'
    where account_id = ${caller.account}`;
  const other = await people.signIn(someone());
  t.like(await people.look(link, other.session), { recovers: false, missing: "sign_out" });
  t.is(await refused(people.prove(link, { session: other.session })), "409 invalid_state");
  t.like(await people.look(link, caller.session), { recovers: true, mine: false });
  await people.prove(link);
  t.like(await people.look(await people.linked(caller, "apple")), { recovers: false, missing: "sign_in" });

  const fresh = await market.connect();
  t.false(
    (await people.look(await people.linked(fresh))).recovers,
    "nobody has claimed the account yet, so there is nothing to lose",
  );
  const { session } = await people.prove(await people.linked(fresh));
  t.deepEqual(await people.agentsOf(session), { "Test agent": "none" });
});

test.serial("of persons who use links of a lost account at the same time, one recovers it", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { first, second } = await people.lost();
    const links = [
      await people.linked(first),
      await people.linked(first),
      await people.linked(second),
      await people.linked(second, "apple"),
    ];
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
    t.is((await market.sql`select from market.proved_method where account_id = ${first.account}`).length, 1);
    t.is((await market.sql`select from market.session where account_id = ${first.account}`).length, 1);
    const states = await market.sql`select connected_at is null as off, disconnected_at is not null as waits
      from market.agent where account_id = ${first.account}`;
    t.deepEqual(states, [
      { off: true, waits: true },
      { off: true, waits: true },
    ]);
  }
});

test.serial("an agent that is removed during a recovery by its link recovers nothing, or is too late", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { first, second } = await people.lost();
    const attempt = await people.begin({ method: "google", verification: await people.linked(first), kept: null });
    const [removal, recovery] = await Promise.all([
      outcomeOf(market.call(first, "remove_own_agent")),
      outcomeOf(people.finish(attempt, "google", someone())),
    ]);
    t.is(removal, "done");
    t.true(["done", "invalid_state"].includes(recovery), recovery);
    const gone = await market.value`select removed_at from market.agent where id = ${first.agent}`;
    t.truthy(gone);
    t.is((await people.me(second)).account.connected, recovery !== "done");
    const proved = await market.sql`select method from market.proved_method where account_id = ${second.account}`;
    t.deepEqual(column(proved, "method"), recovery === "done" ? ["google"] : []);
  }
});

test.serial("a write in progress either ends before the recovery, or is refused", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const { first, second } = await people.lost();
    const attempt = await people.begin({ method: "google", verification: await people.linked(first), kept: null });
    const submit = () => market.call(second, "create_ask", { body: { text: "Wanted: a sofa", watch_enabled: true } });
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
