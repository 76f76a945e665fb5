import { randomBytes, randomInt } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, offerOf, outcomeOf, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";

/** How an agent comes to act for a person: links, provisional accounts, names, networks, rate limits and caps. */

const approve = (caller: Caller, session: Buffer | null = null): Promise<Answer> => market.approve(caller, session);
const decline = (caller: Caller) => market.call(null, "decline_connection", { secret_hash: caller.link });
const look = (caller: Caller, session: Buffer | null = null): Promise<Answer> =>
  market.call(null, "get_connection", { secret_hash: caller.link, session_hash: session });
const me = (caller: Caller): Promise<Answer> => market.call(caller, "get_me");
const accountOf = async (caller: Caller): Promise<string> => (await me(caller)).id;

test.serial("before approval an agent can read, and each write is refused with the permission's name", async (t) => {
  const caller = await market.connect("Reader");
  const { agent, account, permissions } = await me(caller);
  t.deepEqual(agent, { id: caller.agent, name: "Reader", connected: false });
  t.false(account.connected);
  const allowed = Object.keys(permissions).filter((name) => permissions[name].allowed);
  t.deepEqual(allowed.sort(), ["read_matches", "read_offers", "report_offer", "search_offers", "start_verification"]);
  const body = { text: "x" };
  const admission = { idempotency_key: null, request_hash: null, errors: [] };
  const writes: [string, Record<string, string | object | null>, string][] = [
    ["publish_offer", { body, ...admission }, "publish_offer"],
    ["create_ask", { body, ...admission }, "create_ask"],
    ["update_offer", { id: caller.agent, body, errors: [] }, "manage_offers"],
    ["archive_offer", { id: caller.agent }, "manage_offers"],
    ["confirm_offer", { id: caller.agent }, "manage_offers"],
    ["republish_offer", { id: caller.agent }, "manage_offers"],
    ["update_ask", { id: caller.agent, body, errors: [] }, "manage_asks"],
    ["archive_ask", { id: caller.agent }, "manage_asks"],
    [
      "create_webhook",
      { url: "https://agent.example.com/", types: [], encrypted_secret: "x", private_allowed: "false" },
      "manage_webhooks",
    ],
    ["test_webhook", { id: caller.agent }, "manage_webhooks"],
    ["challenge_webhook", { id: caller.agent }, "manage_webhooks"],
  ];
  for (const [name, args, permission] of writes) {
    const { status, code, extra } = await refusal(market.call(caller, name, args));
    t.deepEqual(
      [status, code, extra.permission, extra.connected],
      [403, "verification_required", permission, false],
      name,
    );
  }
});

test.serial("reading a link changes nothing", async (t) => {
  const caller = await market.connect("Looker");
  const before = await market.sql`select * from market.connection where agent_id = ${caller.agent}`;
  const { agent_name, codes, expires_in } = await look(caller);
  await look(caller);
  t.deepEqual([agent_name, codes.length], ["Looker", 3]);
  t.true(expires_in > 1790 && expires_in <= 1800);
  t.deepEqual(await market.sql`select * from market.connection where agent_id = ${caller.agent}`, before);
});

test.serial("the first person who approves gets the provisional account and a session", async (t) => {
  const caller = await market.connect();
  const before = await accountOf(caller);
  t.true((await approve(caller)).new_session);
  t.is(await accountOf(caller), before);
  t.true((await me(caller)).account.connected);
  const [account] = await market.sql`select claimed_at is not null as claimed from market.account where id = ${before}`;
  t.true(account.claimed);
  t.deepEqual(
    await market.callAsPerson(caller, "get_ask", { id: before }).catch((error) => error.message),
    "not_found",
  );
});

test.serial("a link approves once, however many people approve at the same time", async (t) => {
  const caller = await market.connect();
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => outcomeOf(market.approve(caller, null, randomBytes(32)))),
  );
  t.deepEqual(outcomes.sort(), [...Array(5).fill("connection_already_used"), "done"]);
  const sessions = await market.sql`select from market.session where account_id = ${caller.account}`;
  t.is(sessions.length, 1);
  t.is(await refused(look(caller)), "409 connection_already_used");
  t.is(await refused(decline(caller)), "409 connection_already_used");
});

const HOST = "203.0.113.9";
type Refuser = { browser?: Buffer; address?: string };
/** A refusal of a new link that HOST requested, by a browser at an address. The link is old enough to count. */
const refuse = async ({ browser = randomBytes(32), address = randomSite() }: Refuser = {}, age = "10 seconds") => {
  const caller = await market.connect("Hosted agent", HOST);
  await market.sql`update market.connection set created_at = now() - ${age}::interval where agent_id = ${caller.agent}`;
  return () => market.call(null, "decline_connection", { secret_hash: caller.link, browser_hash: browser, address });
};
const randomSite = () => `100.${randomInt(64, 128)}.${randomInt(256)}.5`;
const countedRefusals = async (): Promise<number> => {
  const n = await market.value`select count(*)::integer from market.rate_limit_hit
    where scope = ${`address:${HOST}`} and action = 'decline'`;
  return n;
};
const forgetRefusals = () => market.sql("delete from market.rate_limit_hit where action in ('decline', 'connect')");

test.serial("parallel refusals count once for each browser and each network", async (t) => {
  await forgetRefusals();
  const browser = randomBytes(32);
  const refusals = await Promise.all([
    ...Array.from({ length: 5 }, () => refuse({ browser })),
    ...Array.from({ length: 5 }, (_, n) => refuse({ address: `198.51.100.${n}` })),
    ...Array.from({ length: 5 }, (_, n) => refuse({ address: `2001:db8:77:${n}::1` })),
  ]);
  await Promise.all(refusals.map((decline) => decline()));
  t.is(await countedRefusals(), 3);
  await t.notThrowsAsync(market.connect("Hosted agent", HOST));
  const more = await Promise.all(Array.from({ length: 3 }, () => refuse()));
  await Promise.all(more.map((decline) => decline()));
  t.is(await countedRefusals(), 6);
  t.is(await refused(market.connect("Hosted agent", HOST)), "429 rate_limited");
  await forgetRefusals();
});

test.serial("a refusal counts only on a link of ten seconds, from another network, and with a browser", async (t) => {
  await forgetRefusals();
  const ignored = await Promise.all([
    refuse({}, "9 seconds"),
    refuse({ address: HOST }),
    refuse({ address: "203.0.113.200" }),
    refuse({ address: `::ffff:${HOST}` }),
  ]);
  for (const decline of ignored) await decline();
  // Without a browser and an address.
  const caller = await market.connect("Hosted agent", HOST);
  await market.sql`update market.connection set created_at = now() - interval '1 minute'
    where agent_id = ${caller.agent}`;
  await decline(caller);
  t.is(await countedRefusals(), 0);
  await (await refuse())();
  t.is(await countedRefusals(), 1);
  await forgetRefusals();
});

test.serial("who refused is stored only as keyed hashes, others for each refused address", async (t) => {
  await forgetRefusals();
  const refuser = { browser: randomBytes(32), address: "198.51.100.77" };
  await (await refuse(refuser))();
  const marks = async () =>
    (await market.sql("select scope from market.rate_limit_hit where scope like 'refuser:%' order by 1")).map(
      ({ scope }) => scope,
    );
  const first = await marks();
  t.is(first.length, 2);
  for (const mark of first) t.regex(mark, /^refuser:[0-9a-f]{32}$/);
  await market.sql("delete from market.rate_limit_hit where scope like 'refuser:%'");
  const other = await market.connect("Other agent", "192.0.2.200");
  await market.sql`update market.connection set created_at = now() - interval '1 minute'
    where agent_id = ${other.agent}`;
  await market.call(null, "decline_connection", {
    secret_hash: other.link,
    browser_hash: refuser.browser,
    address: refuser.address,
  });
  const second = await marks();
  t.is(second.length, 2);
  t.deepEqual(
    second.filter((mark) => first.includes(mark)),
    [],
    "nobody can see that one person refused links of two addresses",
  );
  await forgetRefusals();
});

test.serial("an expired, declined or unknown link is refused and approves nothing", async (t) => {
  const [late, declined] = [await market.connect(), await market.connect()];
  await market.sql`update market.connection set expires_at = now() where agent_id = ${late.agent}`;
  for (const act of [approve, decline, look]) t.is(await refused(act(late)), "410 connection_expired");
  t.false((await me(late)).account.connected, "the token can still read");
  await decline(declined);
  for (const act of [approve, decline, look]) t.is(await refused(act(declined)), "410 connection_expired");
  t.is(await refused(approve({ ...late, link: randomBytes(32) })), "404 not_found");
});

test.serial('"Not mine" ends the token', async (t) => {
  const caller = await market.connect();
  await decline(caller);
  t.is(await refused(me(caller)), "401 unauthorized");
});

test.serial("an agent's link ends when the agent is removed", async (t) => {
  const caller = await market.connect();
  await market.call(caller, "remove_own_agent");
  t.is(await refused(me(caller)), "401 unauthorized");
  t.is(await refused(approve(caller)), "410 connection_expired");
});

test.serial("an approval with an account adds the agent and its work in progress to that account", async (t) => {
  await market.sql("update market.sign_in_method set available = true");
  const first = await market.approved();
  const offer = await market.offer(await market.approved());
  const second = await market.connect();
  const provisional = await accountOf(second);
  const { body: verification } = await market.call(second, "start_verification", { method: "email" });
  await market.call(second, "report_offer", { id: offer, reason: "scam" });
  const { text, extraction } = offerOf({});
  const { submission } = await market.call(second, "preview_offer", { body: { text } });

  t.false((await approve(second, first.session)).new_session);
  t.is(await accountOf(second), first.account);
  const open = await market.call(second, "get_verification", { id: verification.id });
  t.deepEqual([open.status, open.url], ["pending", verification.url]);
  const reports = await market.sql`select account_id from market.report where offer_id = ${offer}`;
  t.deepEqual(reports, [{ account_id: first.account }]);
  await market.work("complete_submission", submission, extraction);
  t.is((await market.call(second, "get_answer", { submission_id: submission })).status, 200);

  await market.sql`update market.account set created_at = now() - interval '2 days' where id = ${provisional}`;
  await market.work("purge_keys");
  t.deepEqual(await market.sql`select from market.account where id = ${provisional}`, [], "it has no agents");
  t.is(await accountOf(second), first.account);
});

test.serial("two reports of one offer by two agents of an account count once", async (t) => {
  const first = await market.approved();
  const second = await market.connect();
  const offer = await market.offer(await market.approved());
  for (const caller of [first, second]) await market.call(caller, "report_offer", { id: offer, reason: "spam" });
  await approve(second, first.session);
  t.is((await market.sql`select from market.report where offer_id = ${offer}`).length, 1);
});

test.serial("an approval with an expired session counts as one without a session", async (t) => {
  const first = await market.approved();
  await market.sql`update market.session set seen_at = now() - interval '400 days' where account_id = ${first.account}`;
  const second = await market.connect();
  t.true((await approve(second, first.session)).new_session);
  t.not(await accountOf(second), first.account);
  t.is(await refused(market.callAsPerson(first, "get_ask", { id: first.account })), "401 unauthorized");
});

test.serial("an account has at most 25 agents, also under concurrency, and a removed agent makes room", async (t) => {
  const person = await market.approved();
  const others = await Promise.all(Array.from({ length: 23 }, () => market.connect()));
  for (const other of others) await approve(other, person.session);
  const late = await Promise.all(Array.from({ length: 4 }, () => market.connect()));
  const outcomes = await Promise.all(late.map((caller) => outcomeOf(approve(caller, person.session))));
  t.deepEqual(outcomes.toSorted(), ["done", "invalid_state", "invalid_state", "invalid_state"]);
  const count = await market.value`select count(*)::integer from market.agent
    where account_id = ${person.account} and removed_at is null`;
  t.is(count, 25);
  await market.callAsPerson(person, "remove_agent", { agent_id: others[0]?.agent ?? "" });
  t.is(await refused(me(others[0] ?? person)), "401 unauthorized");
  const results = [];
  for (const caller of late.filter((_, n) => outcomes[n] !== "done")) {
    results.push(await outcomeOf(approve(caller, person.session)));
  }
  t.deepEqual(results, ["done", "invalid_state", "invalid_state"]);
});

test.serial("a person cannot remove an agent of another account, and an agent can remove only itself", async (t) => {
  const [one, other] = [await market.approved(), await market.approved()];
  t.is(await refused(market.callAsPerson(one, "remove_agent", { agent_id: other.agent })), "404 not_found");
  t.is(await refused(market.call(one, "remove_agent", { agent_id: other.agent })), "404 not_found");
  t.is(await refused(market.call(one, "remove_agent", { agent_id: one.agent })), "404 not_found");
  t.true((await me(other)).agent.connected);
});

const NAMES: readonly [string | null, string][] = [
  ["  Lena's helper  ", "Lena's helper"],
  [null, "Unnamed agent"],
  ["", "Unnamed agent"],
  [" \u200b\u2060\ufeff ", "Unnamed agent"],
  ["Bank\u202e knaB\u2066", "Bank knaB"],
  ["Tab\tand\nline\u0007", "Tabandline"],
  ["e\u0301", "é"],
  ["🛋️ Sofa agent", "🛋️ Sofa agent"],
  ["hidden\u{e0041}tags\u{e007f}", "hiddentags"],
  ["soft\u00adhyphen", "softhyphen"],
  ["<b>bold</b>", "<b>bold</b>"],
];
test.serial("an agent's name is stored without what nobody sees", async (t) => {
  for (const [given, kept] of NAMES) {
    const name = await market.value`select internal.clean_name(${given})`;
    t.is(name, kept);
  }
});

test.serial("a name has at most 80 code points, counted after cleaning", async (t) => {
  const caller = await market.connect(` ${"🛋".repeat(80)}\u200b `);
  t.is([...(await me(caller)).agent.name].length, 80);
  t.is(await refused(market.connect("x".repeat(81))), "400 bad_request");
});

const NETWORKS: readonly [address: string, network: string][] = [
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["::FFFF:203.0.113.7", "203.0.113.7"],
  ["::ffff:cb00:7107", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
  ["2001:db8:1:3::6", "2001:db8:1:3::/64"],
  ["fe80::1%eth0", "fe80::/64"],
  ["::1", "::/64"],
];
test.serial("an IPv6 address counts as its /64 network, and an IPv4-mapped one as its IPv4 address", async (t) => {
  for (const [address, network] of NETWORKS) {
    const [row] = await market.sql`select internal.network_of(${address}) as network`;
    t.is(row.network, network, address);
  }
});

test.serial("the networks of one IPv6 site together connect ten times as many agents as an address", async (t) => {
  const site = (n: number) => `2001:db8:77:${n.toString(16)}::1`;
  const outcomes = await Promise.all(Array.from({ length: 310 }, (_, n) => outcomeOf(market.connect("One", site(n)))));
  t.is(outcomes.filter((outcome) => outcome === "done").length, 300);
  t.is(await refused(market.connect("One more", site(400))), "429 rate_limited");
  await t.notThrowsAsync(market.connect("Neighbour", "2001:db8:78::1"));
});

test.serial("a network can create thirty agents an hour, also concurrently, and is told when to retry", async (t) => {
  const address = (n: number) => `2001:db8:aa:bb::${n}`;
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, n) => outcomeOf(market.connect("Many", address(n)))),
  );
  t.is(outcomes.filter((outcome) => outcome === "done").length, 30);
  t.is(outcomes.filter((outcome) => outcome === "rate_limited").length, 10);
  const { status, extra } = await refusal(market.connect("One more", address(99)));
  t.is(status, 429);
  t.true(extra.retry_after > 3590 && extra.retry_after <= 3600);
  await market.sql`update market.rate_limit_hit set called_at = called_at - make_interval(secs => ${extra.retry_after})
    where scope = 'address:2001:db8:aa:bb::/64'
    and id = (select min(id) from market.rate_limit_hit where scope = 'address:2001:db8:aa:bb::/64')`;
  await t.notThrowsAsync(market.connect("After the wait", address(99)));
});

test.serial('six "Not mine" in a day stop a network from connecting agents for a day', async (t) => {
  const address = HOST;
  await forgetRefusals();
  for (let n = 0; n < 6; n += 1) await (await refuse())();
  const { status, extra } = await refusal(market.connect("Phisher", address));
  t.is(status, 429);
  t.true(extra.retry_after > 86_000 && extra.retry_after <= 86_400);
  await t.notThrowsAsync(market.connect("Neighbour", "198.51.100.10"));
  await market.sql`update market.rate_limit_hit set called_at = called_at - interval '1 day'
    where scope = 'address:' || ${address}`;
  await t.notThrowsAsync(market.connect("A day later", address));
});

const windowOf = async (used: { secondsAgo: number }[], cap: number) => {
  const scope = `agent:${randomBytes(8).toString("hex")}`;
  for (const { secondsAgo } of used) {
    await market.sql`insert into market.rate_limit_hit (scope, action, called_at)
      values (${scope}, 'publish_offer', clock_timestamp() - make_interval(secs => ${secondsAgo}))`;
  }
  const [row] = await market.sql`select internal.window_usage(${scope}, 'publish_offer', ${cap}) as figures,
    internal.window_wait(${scope}, 'publish_offer', ${cap}) as wait`;
  return row;
};

test.serial("an empty window resets in 0 seconds", async (t) => {
  const { figures, wait } = await windowOf([], 60);
  t.deepEqual([figures, wait], [{ limit: 60, used: 0, remaining: 60, resets_in: 0 }, null]);
});

test.serial("a window resets when its oldest call leaves it, in whole seconds, rounded up", async (t) => {
  const { figures } = await windowOf([{ secondsAgo: 3000.5 }, { secondsAgo: 10 }], 60);
  t.deepEqual(figures, { limit: 60, used: 2, remaining: 58, resets_in: 600 });
});

test.serial("a call that has left the window does not count", async (t) => {
  const { figures } = await windowOf([{ secondsAgo: 3600 }, { secondsAgo: 3599.2 }], 60);
  t.deepEqual(figures, { limit: 60, used: 1, remaining: 59, resets_in: 1 });
});

test.serial("a caller that waits as long as it was told is admitted, even after its cap was lowered", async (t) => {
  const used = [{ secondsAgo: 3000 }, { secondsAgo: 2000 }, { secondsAgo: 1000 }];
  t.is((await windowOf(used, 4)).wait, null);
  t.true(near((await windowOf(used, 3)).wait, 600));
  const fallen = await windowOf(used, 1);
  t.is(fallen.figures.remaining, 0);
  t.true(near(fallen.figures.resets_in, 600), "until the oldest call leaves the window");
  t.true(near(fallen.wait, 2600), "until the newest call leaves the window");
});

/** True if the seconds are the expected ones, or up to 20 fewer, because a slow test takes time. */
const near = (seconds: number, expected: number): boolean => seconds <= expected && seconds > expected - 20;

test.serial("a refused call says how long to wait until a slot is free", async (t) => {
  const caller = await market.approved();
  await market.sql`insert into market.rate_limit_hit (scope, action, called_at)
    select 'agent:' || ${caller.agent}::text, 'publish_offer', clock_timestamp() - interval '50 minutes'
      from generate_series(1, 60)`;
  const { text } = offerOf({});
  const submit = () => market.call(caller, "publish_offer", { body: { text } });
  const { status, detail, extra } = await refusal(submit());
  t.is(status, 429);
  t.true(near(extra.retry_after, 600));
  t.is(
    detail,
    `This agent has used its 60 calls of this hour under the limit "publish_offer" (limits in GET /v1/me). Wait ${extra.retry_after} seconds, then try again.`,
  );
  t.is(extra.limit, "publish_offer");
  t.deepEqual(extra.headers["RateLimit-Remaining"], 0);
  t.true(extra.headers["RateLimit-Reset"] <= extra.retry_after);
});

test.serial("searches are counted until a person approves the agent, and those of test agents always", async (t) => {
  const search = (caller: Caller) => market.call(caller, "search_offers", { request: { query: "sofa" } });
  const counted = async (caller: Caller) => (await me(caller)).limits.search_offers;
  const fill = (caller: Caller, calls: number) => market.sql`insert into market.rate_limit_hit (scope, action)
    select 'agent:' || ${caller.agent}::text, 'search_offers' from generate_series(1, ${calls}::integer)`;

  const agent = await market.connect();
  t.like(await counted(agent), { limit: 300, used: 0 });
  await fill(agent, 298);
  const answers = await Promise.all([1, 2, 3, 4].map(() => outcomeOf(search(agent))));
  t.deepEqual(answers.toSorted(), ["done", "done", "rate_limited", "rate_limited"], "races use two places");
  const { extra } = await refusal(search(agent));
  t.like(extra, { limit: "search_offers", headers: { "RateLimit-Limit": 300, "RateLimit-Remaining": 0 } });
  await approve(agent);
  t.is((await search(agent)).type, "results");
  t.is(await counted(agent), undefined);

  const tester = await market.approved();
  await market.sql`with s as (insert into market.sandbox default values returning id)
    update market.agent set sandbox_id = s.id from s where market.agent.id = ${tester.agent}`;
  await search(tester);
  t.like(await counted(tester), { limit: 300, used: 1 });

  const limited = await market.approved();
  await market.sql`insert into market.cap_override (account_id, action, cap)
    values (${await accountOf(limited)}, 'search_offers', 1)`;
  await search(limited);
  t.is((await refusal(search(limited))).extra.limit, "search_offers", "a moderator may limit any agent");
});

const CAPS: readonly [what: string, record: string, publish: number, ask: number][] = [
  ["a new account", "select 1", 60, 120],
  ["one proved method", "insert into market.proved_method values ($1, 'google', sha256(uuid_send($1)))", 90, 180],
  ["thirty days", "update market.account set created_at = now() - interval '30 days' where id = $1", 120, 240],
  ["ten settled offers", "select market_test.offers($1, 10, '73 hours')", 100, 200],
  ["ten offers of yesterday", "select market_test.offers($1, 10, '71 hours')", 60, 120],
  ["two hundred settled offers: no more than sixty count", "select market_test.offers($1, 200, '80 hours')", 300, 600],
  ["a listing removed lately", "select market_test.removals($1, 1, '1 day')", 30, 60],
  ["removals lower a cap by at most three quarters", "select market_test.removals($1, 9, '1 day')", 15, 30],
  ["a listing removed long ago", "select market_test.removals($1, 1, '31 days')", 60, 120],
];
test.serial("caps rise with account stats, and fall with removed offers", async (t) => {
  await market.sql("create schema market_test");
  await market.sql`create function market_test.offers(account uuid, count integer, age interval) returns void language
    sql as $$
    insert into market.offer (account_id, status, text, title, published_at)
    select account, 'published', 'x', 'x', now() - age from generate_series(1, count) $$`;
  await market.sql`create function market_test.removals(account uuid, count integer, age interval) returns void language
    sql as $$
    insert into market.offer (account_id, status, text, title, published_at, removed_at)
    select account, 'removed', 'x', 'x', now() - age, now() - age from generate_series(1, count) $$`;
  for (const [what, record, publish, ask] of CAPS) {
    const { account } = await market.approved();
    await market.sql(record, record.includes("$1") ? [account] : []);
    const [caps] = await market.sql`select internal.rate_limit(${account}, 'publish_offer') as publish,
      internal.rate_limit(${account}, 'create_ask') as ask`;
    t.deepEqual(caps, { publish, ask }, what);
  }
});
