import { randomUUID } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, column, type Market, openMarket, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";
import { readsOf } from "./reads.ts";
import { begun, blocked } from "./waits.ts";

/** The rules of webhooks: which events are queued, when the next attempt is, and when a webhook is disabled. */

const SECRET = `01234567.${"x".repeat(104)}`;
/** Adds a webhook whose receiver has not answered. Each has a host of its own, because a host has limits. */
const ask = (
  caller: Caller,
  { types = null, on = market, url = `https://${randomUUID()}.example/souk` }: Asked = {},
): Promise<Answer> =>
  on.call(caller, "create_webhook", { url, types, encrypted_secret: SECRET, private_allowed: false });
type Asked = { types?: string[] | null; on?: Market; url?: string };
/** Adds a webhook whose receiver has answered. */
const add = async (
  caller: Caller,
  types: string[] | null = null,
  on: Market = market,
  url?: string,
): Promise<string> => {
  const { id } = (await ask(caller, { types, on, ...(url === undefined ? {} : { url }) })).body;
  await on.sql`with gone as (delete from market.webhook_delivery where webhook_id = ${id})
    update market.webhook set verified_at = now() where id = ${id}`;
  return id;
};
/** Writes an event of the account. */
const happen = (account: string, type = "ask.read"): Promise<Answer[]> =>
  market.sql`insert into market.event (account_id, type, data) values (${account}, ${type}, '{"n": 1}')`;
const deliveriesOf = (webhook: string): Promise<Answer[]> =>
  market.sql`select * from market.webhook_delivery where webhook_id = ${webhook} order by id`;
const claim = async (webhook: string, prompt = 100, other = 100): Promise<Answer> =>
  market.work("claim_deliveries", webhook, prompt, other);
const end = (
  delivery: string,
  attempt: number,
  status: number | null,
  more: { took?: number; after?: number; answer?: string } = {},
) =>
  market.work(
    "end_attempt",
    delivery,
    attempt,
    status as number,
    (status === null ? "No response came." : null) as string,
    more.took ?? 10,
    (more.after ?? null) as number,
    (more.answer ?? null) as string,
  );
const hookOf = async (id: string): Promise<Answer> =>
  (await market.sql`select * from market.webhook where id = ${id}`)[0];
/** Queues many deliveries for a webhook, as many events would. */
const queue = (webhook: string, deliveries: number, on: Market = market) =>
  on.sql`insert into market.webhook_delivery (webhook_id, events, next_attempt_at)
    select ${webhook}, jsonb_build_array(internal.event_document(gen_random_uuid(), 'ask.read', now(), '{}')),
      now() - interval '5 minutes'
      from generate_series(1, ${deliveries})`;
/** As if one attempt at each had failed. What was tried is sent alone. */
const markTried = (webhook: string) =>
  market.sql`update market.webhook_delivery set attempts = 1 where webhook_id = ${webhook}`;
/** Uses up a window of the hour, except for so many. */
const useUp = (scope: string, action: string, cap: number) =>
  market.sql`insert into market.rate_limit_hit (scope, action)
    select ${scope}, ${action} from generate_series(1, ${cap})`;
const jobsFor = async (webhook: string): Promise<number> =>
  market.value`select count(*)::int from graphile_worker._private_jobs
      where payload ->> 'id' = ${webhook} and task_id = (
        select t.id from graphile_worker._private_tasks t where t.identifier = 'deliver_webhook')`;
/** Lets the time pass until a delivery is due. */
const makeDue = (webhook: string) =>
  market.sql`with hook as (update market.webhook set resume_at = null where id = ${webhook})
    update market.webhook_delivery set next_attempt_at = now()
    where webhook_id = ${webhook} and next_attempt_at is not null`;

test("an event is queued for the account's webhooks that want its type, in its own transaction", async (t) => {
  const [caller, other] = [await market.approved(), await market.approved()];
  const [all, some, foreign] = [await add(caller), await add(caller, ["offer.removed"]), await add(other)];
  await happen(caller.account);
  await t.throwsAsync(
    market.sql(
      `do $$ begin
         insert into market.event (account_id, type, data) values ('${caller.account}', 'ask.read', '{}');
         raise exception 'undone';
       end $$`,
    ),
  );
  t.is((await deliveriesOf(all)).length, 1);
  t.deepEqual(await deliveriesOf(some), []);
  t.deepEqual(await deliveriesOf(foreign), []);
  await happen(caller.account, "offer.removed");
  const [event] = await market.sql`select id from market.event where account_id = ${caller.account}
    order by id desc limit 1`;
  t.deepEqual(
    (await deliveriesOf(some)).flatMap(({ events }) => events.map(({ id, type }: Answer) => [id, type])),
    [[event?.id, "offer.removed"]],
  );
});

test("nothing but one challenge is sent to an address until it answers with its value, and no event of before", async (t) => {
  const caller = await market.approved();
  const { id, status, next } = (await ask(caller)).body;
  t.deepEqual([status, column(next, "path")], ["unverified", ["/v1/webhooks", `/v1/webhooks/${id}/challenge`]]);
  await happen(caller.account);
  t.is(await refused(market.call(caller, "test_webhook", { id })), "409 invalid_state");
  const { deliveries } = await claim(id);
  const [event] = JSON.parse(deliveries[0].body).events;
  t.like(event, { type: "webhook.challenge", data: { webhook_id: id } });
  t.deepEqual([deliveries.length, deliveries[0].is_challenge], [1, true]);
  // An address that answers everything, or with what it got, proves nothing; neither does a value that was guessed.
  await end(deliveries[0].id, 1, 200, { answer: "x" });
  t.like((await deliveriesOf(id))[0], {
    next_attempt_at: null,
    last_error: "The receiver did not answer the challenge with its value.",
  });
  t.deepEqual((await claim(id)).deliveries, [], "it is not repeated");
  const stored = await market.sql`select d::text as row from market.webhook_delivery d where webhook_id = ${id}`;
  t.false(JSON.stringify(stored).includes(event.data.challenge), "only its hash is stored");

  for (const _ of [1, 2]) t.is((await market.call(caller, "challenge_webhook", { id })).status, 202);
  const [again, ...more] = (await claim(id)).deliveries;
  t.deepEqual(more, [], "asked for twice, it is sent once");
  const { challenge } = JSON.parse(again.body).events[0].data;
  t.not(challenge, event.data.challenge);
  await end(again.id, 1, 500, { answer: challenge });
  await market.call(caller, "challenge_webhook", { id });
  const [third] = (await claim(id)).deliveries;
  await end(third.id, 1, 200, { answer: JSON.parse(third.body).events[0].data.challenge });
  t.is((await market.call(caller, "list_webhooks")).webhooks[0].status, "active");
  t.deepEqual((await claim(id)).deliveries, []);
  await happen(caller.account);
  t.is(JSON.parse((await claim(id)).deliveries[0].body).events[0].type, "ask.read");
  t.is(await refused(market.call(caller, "challenge_webhook", { id })), "409 invalid_state");
});

test("an agent reads of another agent's webhook only the host, and the person reads all", async (t) => {
  const caller = await market.approved();
  const other = await market.colleague(caller);
  const host = `https://${randomUUID()}.example`;
  await ask(caller, { url: `${host}/hook?key=secret` });
  const urls = async (list: Promise<Answer>) => column((await list).webhooks, "url");
  t.deepEqual(await urls(market.call(other, "list_webhooks")), [host]);
  for (const own of [market.call(caller, "list_webhooks"), market.callAsPerson(caller, "list_webhooks")])
    t.deepEqual(await urls(own), [`${host}/hook?key=secret`]);
});

test("an agent challenges, tests and deletes only what it added, and the person everything", async (t) => {
  const caller = await market.approved();
  const other = await market.colleague(caller);
  const [id, fresh] = [await add(caller), (await ask(caller)).body.id];
  for (const [name, hook] of [
    ["test_webhook", id],
    ["challenge_webhook", fresh],
    ["delete_webhook", id],
  ] as const)
    t.is(await refused(market.call(other, name, { id: hook })), "404 not_found", name);
  t.is((await market.call(caller, "test_webhook", { id })).status, 202);
  await market.callAsPerson(caller, "delete_webhook", { id });
  await market.call(caller, "delete_webhook", { id: fresh });
  t.deepEqual((await market.call(caller, "list_webhooks")).webhooks, []);
});

test("an address of a private host is refused, and a public one is not", async (t) => {
  const caller = await market.approved();
  const hosts = "localhost a.localhost printer.local 127.0.0.1 10.1.2.3 192.168.1.1 169.254.169.254 [::1] [fd00::1]";
  for (const host of [...hosts.split(" "), "[::ffff:a00:1]"])
    t.regex((await refusal(ask(caller, { url: `https://${host}/x` }))).detail, /host of the url is not public/, host);
  for (const host of ["8.8.8.8", "[2606:4700::1111]", "localhost.example.com"])
    t.is((await ask(caller, { url: `https://${host}/${randomUUID()}` })).status, 201, host);
});

test("challenges have limits of an account and of a host, whatever the port, case and dot of its name", async (t) => {
  const caller = await market.approved();
  const host = `${randomUUID()}.example`;
  const spellings = ["/a", ":8443/b", "./c", ".:8444/d"].map((rest) => `https://${host}${rest}`);
  await useUp(`host:${host}`, "challenge", 180);
  for (const url of spellings) await ask(caller, { url });
  await useUp(`host:${host}`, "challenge", 16);
  await market.sql`delete from market.webhook where account_id = ${caller.account}`;
  t.is(await refused(ask(caller, { url: `https://${host.toUpperCase()}/` })), "429 rate_limited");
  t.is(await refused(ask(await market.approved(), { url: `https://${host}/` })), "429 rate_limited");
  const { id } = (await ask(caller)).body;
  await useUp(`account:${caller.account}`, "challenge", 5);
  await claim(id);
  t.is(await refused(ask(caller)), "429 rate_limited");
  t.is(await market.value`select count(*)::int from market.webhook where account_id = ${caller.account}`, 1);
});

test("what waits leaves together, at most a hundred events, and what was sent stays as it was", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await queue(hook, 102);
  const [first, ...more] = (await claim(hook)).deliveries;
  t.deepEqual(more, []);
  const events = (delivery: Answer) => column(JSON.parse(delivery.body).events, "id");
  t.is(new Set(events(first)).size, 100);
  await end(first.id, 1, 500);
  await makeDue(hook);
  await market.sql`update market.webhook set is_prompt = true where id = ${hook}`;
  const both = (await claim(hook)).deliveries;
  t.deepEqual(
    both.map(({ id, attempt }: Answer) => [id === first.id, attempt]),
    [
      [true, 2],
      [false, 1],
    ],
  );
  t.deepEqual(events(both[0]), events(first));
  t.deepEqual(new Set(both.flatMap(events)).size, 102, "nothing is lost or sent twice");
  await market.sql`update market.webhook_delivery set leased_until = now() - interval '1 second' where id = ${both[1].id}`;
  await queue(hook, 1);
  const again = (await claim(hook)).deliveries;
  t.deepEqual(
    events(again.find(({ id }: Answer) => id === both[1].id)),
    events(both[1]),
    "a dead worker may have sent it",
  );
});

test("a delivery is no larger than its receiver can take", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await queue(hook, 30);
  await market.sql`update market.webhook_delivery
    set events = jsonb_set(events, '{0,data}', to_jsonb(repeat('x', 10000))) where webhook_id = ${hook}`;
  await market.sql`update market.webhook set is_prompt = true where id = ${hook}`;
  const sizes = (await claim(hook)).deliveries.map(({ body }: Answer) => body.length);
  t.is(sizes.length, 4);
  t.true(Math.max(...sizes) < 76_000, String(sizes));
});

test("deliveries over the limit of an account or of a host wait, and a job sends them when there is room", async (t) => {
  for (const kind of ["account", "host"]) {
    const caller = await market.approved();
    const host = `${randomUUID()}.example`;
    const hook = await add(caller, null, market, `https://${host}:8443/souk`);
    const scope = kind === "host" ? `host:${host}` : `account:${caller.account}`;
    await useUp(scope, "deliver", 999);
    await happen(caller.account);
    const [last] = (await claim(hook)).deliveries;
    await end(last.id, 1, 500);
    await makeDue(hook);
    const before = await jobsFor(hook);
    t.deepEqual((await claim(hook)).deliveries, [], kind);
    t.deepEqual((await claim(hook)).deliveries, []);
    t.is(await jobsFor(hook), before + 1, "one job, however often somebody looks");
    t.truthy((await market.call(caller, "list_webhooks")).webhooks[0].resume_at);
    await market.sql`update market.rate_limit_hit set called_at = now() - interval '2 hours' where scope = ${scope}`;
    await makeDue(hook);
    t.is((await claim(hook)).deliveries[0].id, last.id);
  }
});

test("hosts that lead to one address share its limit, and a delivery over it waits without an attempt", async (t) => {
  const address = `2001:db8:1${randomUUID().slice(0, 3)}:1`;
  const admit = (delivery: string) => market.work("admit_address", delivery, `${address}::1`);
  const callers = [await market.approved(), await market.approved()];
  const hooks = await Promise.all(callers.map((caller) => add(caller)));
  for (const { account } of callers) await happen(account);
  const [[first], [second]] = await Promise.all(hooks.map(async (hook) => (await claim(hook)).deliveries));
  await useUp(`network:${address}::/64`, "deliver", 9_999);
  t.true(await admit(first.id));
  t.false(await admit(second.id));
  t.like((await deliveriesOf(hooks[1] as string))[0], { attempts: 0, leased_until: null, delivered_at: null });
  t.deepEqual((await claim(hooks[1] as string)).deliveries, []);
  const { id } = (await ask(callers[0] as Caller)).body;
  const [challenge] = (await claim(id)).deliveries;
  t.true(await admit(challenge.id), "challenges have a limit of their own");
  await useUp(`network:${address}::/64`, "challenge", 1_999);
  t.false(await admit(challenge.id));
});

test("no provider's accounts, however many, use up what others may send to a host or to its address", async (t) => {
  const host = `${randomUUID()}.example`;
  const address = `2001:db8:2${randomUUID().slice(0, 3)}:1::1`;
  const add = async (from: string) => {
    const caller = await market.connect("Agent", from);
    await market.approve(caller);
    return { caller, hook: await addHook(caller) };
  };
  const addHook = async (caller: Caller): Promise<string> => {
    const id = randomUUID();
    await market.sql`insert into market.webhook (id, account_id, agent_id, url, encrypted_secret, verified_at)
      values (${id}, ${caller.account}, ${caller.agent}, ${`https://${host}/${id}`}, ${SECRET}, now())`;
    return id;
  };
  /** Takes all that a webhook may have of the shared windows, and returns how much that was. */
  const takeAll = async (hook: string): Promise<Record<string, number>> =>
    market.value`with windows as materialized (
        select a.action, w.scope, w.cap, w.parties from market.webhook h, unnest(array['deliver', 'challenge']) as a (action)
          cross join lateral (
            select w.scope, w.cap, w.parties from internal.webhook_windows(h, a.action) as w where w.scope like 'host:%'
            union all select n.scope, n.cap, n.parties from internal.network_window(h, a.action, ${address}) as n) as w
        where h.id = ${hook}),
      taken as (
        insert into market.rate_limit_hit (scope, action, parties) select w.scope, w.action, w.parties from windows w,
          generate_series(1, internal.shared_room(w.scope, w.action, w.cap, w.parties)) returning scope, action)
      select jsonb_object_agg(t.name, t.n) from (
        select split_part(scope, ':', 1) || ' ' || action as name, count(*) as n from taken group by 1) as t`;
  t.deepEqual(await takeAll((await add("203.0.0.1")).hook), {
    ...{ "host deliver": 318, "host challenge": 64, "network deliver": 3165, "network challenge": 633 },
  });
  for (let n = 1; n <= 12; n += 1) await takeAll((await add(`203.0.${n % 4}.${n}`)).hook);
  const { caller, hook } = await add("198.51.100.7");
  await happen(caller.account);
  const [delivery] = (await claim(hook)).deliveries;
  t.true(await market.work("admit_address", delivery.id, address));
  t.is((await ask(caller, { url: `https://${host}/another` })).status, 201);
  const left = await takeAll(hook);
  t.true((left["host deliver"] ?? 0) >= 50 && (left["host challenge"] ?? 0) >= 5, JSON.stringify(left));
});

test("an account asks for at most twenty test events an hour", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await useUp(`account:${caller.account}`, "test_webhook", 19);
  const tested = () => market.call(caller, "test_webhook", { id: hook });
  t.is((await tested()).status, 202);
  t.is((await tested()).status, 202, "while one waits, another one is not counted");
  await market.sql`update market.webhook_delivery set next_attempt_at = null where webhook_id = ${hook}`;
  t.is(await refused(tested()), "429 rate_limited");
});

test("the delays before the attempts are those of the contract, and the failure of the last disables", async (t) => {
  const caller = await market.approved();
  const [hook, witness] = [await add(caller, ["ask.read"]), await add(caller, ["webhook.disabled"])];
  await happen(caller.account);
  const delays: number[] = [];
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await makeDue(hook);
    const { deliveries } = await claim(hook);
    t.deepEqual(column(deliveries, "attempt"), [attempt]);
    t.deepEqual((await claim(hook)).deliveries, [], "what a worker has, no other takes");
    // Stored twice, as by a worker that was late.
    for (const _ of [1, 2]) await end(deliveries[0].id, attempt, attempt % 2 === 0 ? 500 : null);
    const [row] = await market.sql`select extract(epoch from next_attempt_at - attempted_at)::int as delay
      from market.webhook_delivery where id = ${deliveries[0].id}`;
    if (row.delay !== null) delays.push(row.delay);
  }
  const hours = (n: number) => n * 3600;
  t.deepEqual(delays, [5, 300, 1800, ...[2, 5, 10, 14, 20, 24].map(hours)]);
  t.is((await hookOf(hook)).disabled_reason, "failed");
  t.deepEqual(
    (await deliveriesOf(witness)).flatMap(({ events }) => events.map(({ type, data }: Answer) => [type, data])),
    [["webhook.disabled", { webhook_id: hook, reason: "failed" }]],
  );
  await happen(caller.account);
  t.is((await deliveriesOf(hook)).length, 1, "nothing more is queued");
});

test("410 disables at once, and gives up what waits", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await happen(caller.account);
  await happen(caller.account);
  const [first] = (await claim(hook)).deliveries;
  await end(first.id, 1, 410);
  t.is((await hookOf(hook)).disabled_reason, "gone");
  t.true((await deliveriesOf(hook)).every(({ next_attempt_at }) => next_attempt_at === null));
});

test("Retry-After is obeyed by all attempts of the webhook, for at most a day, and shortens no delay", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await happen(caller.account);
  const [first] = (await claim(hook)).deliveries;
  const delay = async () =>
    (
      await market.sql`select extract(epoch from d.next_attempt_at - d.attempted_at)::int as own,
          extract(epoch from w.resume_at - d.attempted_at)::int as all
        from market.webhook_delivery d join market.webhook w on w.id = d.webhook_id where d.id = ${first.id}`
    )[0];
  await end(first.id, 1, 429, { after: 120 });
  t.deepEqual(await delay(), { own: 120, all: 120 });
  await happen(caller.account);
  t.deepEqual((await claim(hook)).deliveries, []);
  await market.sql`delete from market.webhook_delivery where webhook_id = ${hook} and id <> ${first.id}`;
  await makeDue(hook);
  await claim(hook);
  await end(first.id, 2, 503, { after: 10 });
  t.deepEqual(await delay(), { own: 300, all: 10 });
  await makeDue(hook);
  await claim(hook);
  await end(first.id, 3, 503, { after: 999_999 });
  t.deepEqual(await delay(), { own: 86_400, all: 86_400 });
});

test("of attempts that end at the same time, the longest pause holds", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await market.sql`update market.webhook set is_prompt = true where id = ${hook}`;
  for (let n = 0; n < 4; n += 1) await happen(caller.account);
  await markTried(hook);
  const pause = async () =>
    market.value`select round(extract(epoch from resume_at - now()) / 60)::int as minutes from market.webhook
        where id = ${hook}`;
  const [first, second, third, fourth] = (await claim(hook)).deliveries;
  await end(first.id, 2, 429, { after: 3600 });
  await end(second.id, 2, 204);
  await end(third.id, 2, 500);
  await end(fourth.id, 2, 503, { after: 60 });
  t.is(await pause(), 60);
  await happen(caller.account);
  t.deepEqual((await claim(hook)).deliveries, []);
});

test("a status that is none is stored as a failure", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await happen(caller.account);
  const [first] = (await claim(hook)).deliveries;
  await end(first.id, 1, 99);
  t.like((await deliveriesOf(hook))[0], { attempts: 1, last_status: null, last_error: "The receiver answered 99." });
});

test("a prompt receiver gets four at a time, any other one, and none without a free connection", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  for (let n = 0; n < 7; n += 1) await happen(caller.account);
  await markTried(hook);
  t.deepEqual((await claim(hook, 100, 0)).is_full, true);
  const [first] = (await claim(hook)).deliveries;
  t.is((await claim(hook)).deliveries.length, 0);
  await end(first.id, 2, 204);
  const claims = await Promise.all([claim(hook), claim(hook)]);
  t.is(claims.flatMap(({ deliveries }) => deliveries).length, 4);
  const [slow] = claims.flatMap(({ deliveries }) => deliveries);
  await end(slow.id, 2, 204, { took: 9_000 });
  t.false((await hookOf(hook)).is_prompt);
});

test("what a dead worker had is sent by another after a minute", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await happen(caller.account);
  const [first] = (await claim(hook)).deliveries;
  await market.sql`update market.webhook_delivery set leased_until = now() - interval '1 second',
    next_attempt_at = now() - interval '2 minutes' where id = ${first.id}`;
  const jobs = async () =>
    (
      await market.sql("select count(*)::int as n from graphile_worker.jobs where task_identifier = 'deliver_webhook'")
    )[0].n;
  const before = await jobs();
  t.true((await market.work("sweep_deliveries")) >= 1);
  t.true((await jobs()) > before);
  const [again] = (await claim(hook)).deliveries;
  t.deepEqual([again.id, again.attempt], [first.id, 1]);
});

test("what a dead worker had is sent by another, however much waits for other webhooks", async (t) => {
  const [caller, other] = [await market.approved(), await market.approved()];
  const [hook, paused] = [await add(caller), await add(other)];
  await queue(paused, 10_001);
  await market.sql`update market.webhook set resume_at = now() + interval '1 day' where id = ${paused}`;
  await happen(caller.account);
  await claim(hook);
  await market.sql`update market.webhook_delivery set leased_until = now() - interval '1 second',
    next_attempt_at = now() - interval '2 minutes' where webhook_id = ${hook}`;
  const before = await jobsFor(hook);
  await market.work("sweep_deliveries");
  t.true((await jobsFor(hook)) > before);
});

test("a webhook with many deliveries ends with its agent at once, and jobs delete its deliveries", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await queue(hook, 20_001);
  await market.sql`update market.agent set removed_at = now() where id = ${caller.agent}`;
  t.is(await hookOf(hook), undefined);
  // One of the deletion. The sweep of another test may have added one before, but adds none to a deleted webhook.
  const first = await jobsFor(hook);
  t.true(first > 0);
  const left: number[] = [];
  for (let jobs = first; (await jobsFor(hook)) >= jobs; jobs += 1) {
    left.push((await deliveriesOf(hook)).length);
    await claim(hook);
  }
  t.deepEqual(left, [20_001, 10_001, 1]);
  t.deepEqual(await deliveriesOf(hook), []);
});

test("what waits for a disabled webhook is given up, however much it is", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  // A hundred leave with the first.
  await queue(hook, 10_101);
  const before = await jobsFor(hook);
  const [first] = (await claim(hook)).deliveries;
  await end(first.id, 1, 410);
  t.true((await jobsFor(hook)) > before);
  await claim(hook);
  t.true((await deliveriesOf(hook)).every(({ next_attempt_at }) => next_attempt_at === null));
});

test("an event does not wait for the deletion of a webhook", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  const deletion = await begun(market.url, "delete from market.webhook where id = $1", [hook]);
  await happen(caller.account);
  await deletion.end();
  t.is((await deliveriesOf(hook)).length, 1);
  await claim(hook);
  t.deepEqual(await deliveriesOf(hook), []);
});

test("an agent that is being removed adds no webhook", async (t) => {
  const caller = await market.approved();
  const removal = await begun(market.url, "update market.agent set removed_at = now() where id = $1", [caller.agent]);
  const adding = add(caller);
  await blocked(market, "create_webhook", adding);
  await removal.end();
  t.is(await refused(adding), "401 unauthorized");
  t.deepEqual(await market.sql`select from market.webhook where account_id = ${caller.account}`, []);
});

test("a webhook ends with its agent, pauses while the agent is disconnected, and goes on in a suspension", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await market.sql`update market.account set suspended_at = now(), suspension_reason = 'spam'
    where id = ${caller.account}`;
  t.deepEqual(column((await deliveriesOf(hook))[0].events, "type"), ["account.suspended"]);
  await market.sql`update market.agent set connected_at = null, disconnected_at = now() where id = ${caller.agent}`;
  await happen(caller.account);
  t.is((await deliveriesOf(hook)).length, 1);
  t.deepEqual((await claim(hook)).deliveries, [], "also not what waited");
  await market.sql`update market.agent set removed_at = now() where id = ${caller.agent}`;
  t.is(await hookOf(hook), undefined);
});

test("the account of a webhook ends it also while it is suspended", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await market.sql`update market.account set suspended_at = now(), suspension_reason = 'spam'
    where id = ${caller.account}`;
  t.deepEqual(await market.call(caller, "delete_webhook", { id: hook }), {});
});

test("when an account is recovered, its webhooks end, also those that its person added", async (t) => {
  const caller = await market.approved();
  const hooks = [await add(caller), await add(caller)];
  await market.sql`update market.webhook set agent_id = null where id = ${hooks[0]}`;
  await happen(caller.account);
  await market.sql`select internal.recover_account(${caller.account})`;
  t.deepEqual(await Promise.all(hooks.map(hookOf)), [undefined, undefined]);
});

test("a webhook ends with its account", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  await market.sql`update market.webhook set agent_id = null where id = ${hook}`;
  await happen(caller.account);
  await market.sql`delete from market.account where id = ${caller.account}`;
  t.is(await hookOf(hook), undefined);
  t.is(await jobsFor(hook), 3, "one for the challenge, one for the event, and one that deletes it");
  t.deepEqual(await claim(hook), { is_prompt: true, deliveries: [] });
  t.deepEqual(await deliveriesOf(hook), []);
});

test("deliveries are kept for seven days after they ended", async (t) => {
  const caller = await market.approved();
  const hook = await add(caller);
  for (let n = 0; n < 3; n += 1) await happen(caller.account);
  const [old, waiting, recent] = await deliveriesOf(hook);
  const age = (id: string, days: number, next: string) =>
    market.sql(
      `update market.webhook_delivery set created_at = now() - make_interval(days => $2), next_attempt_at = ${next}
       where id = $1`,
      [id, days],
    );
  await age(old.id, 8, "null");
  await age(waiting.id, 8, "now() + interval '1 hour'");
  await age(recent.id, 6, "null");
  await market.work("purge_deliveries");
  t.deepEqual(column(await deliveriesOf(hook), "id"), [waiting.id, recent.id]);
});

test("without keys the market adds no webhook, and says what to do instead", async (t) => {
  const caller = await market.approved();
  const args = { url: "https://agent.example.com/", types: null, encrypted_secret: null, private_allowed: false };
  await t.throwsAsync(market.call(caller, "create_webhook", args));
  await t.throwsAsync(
    market.call(caller, "create_webhook", { ...args, url: "http://a.example/", encrypted_secret: SECRET }),
  );
});

test("neither a claim nor a test of a webhook reads all that waits for it", async (t) => {
  const own = await openMarket(t);
  const caller = await own.approved();
  const hook = await add(caller, null, own);
  await queue(hook, 5000, own);
  t.is((await own.work("claim_deliveries", hook, 100, 100)).deliveries.length, 1);
  await own.sql("vacuum analyze market.webhook_delivery");
  const { rows } = await readsOf(own.url, "market.webhook_delivery", caller.account, async (client) => {
    await client.query("select jobs.claim_deliveries($1, 100, 100)", [hook]);
    await client.query("select internal.queue_probe($1, 'test')", [hook]);
  });
  // A hundred that leave together.
  t.true(rows < 500, String(rows));
});

test("texts are read before webhooks are sent, however many wait", async (t) => {
  const own = await openMarket(t);
  const [noisy, quiet] = [await own.approved(), await own.approved()];
  await add(noisy, null, own);
  await own.sql`insert into market.event (account_id, type, data) select ${noisy.account}, 'ask.read', '{}'
    from generate_series(1, 3)`;
  await own.call(quiet, "create_ask", { body: { text: "Wanted: a sofa", watch_enabled: true } });
  const [first] = await own.sql`select task_identifier as task from graphile_worker.jobs
    where task_identifier in ('deliver_webhook', 'complete_submission') order by priority, run_at, id limit 1`;
  t.is(first.task, "complete_submission");
});
