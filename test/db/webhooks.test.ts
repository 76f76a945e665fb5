import test from "ava";
import { type Answer, type Caller, column, type Market, openMarket, refused } from "./market.ts";
import { market } from "./one_market.ts";
import { readsOf } from "./reads.ts";
import { begun, blocked } from "./waits.ts";

/** The rules of webhooks: which events are queued, when the next attempt is, and when a webhook is disabled. */

const SECRET = `01234567.${"x".repeat(104)}`;
const add = async (caller: Caller, types: string[] | null = null, on: Market = market): Promise<string> =>
  (
    await on.call(caller, "create_webhook", {
      url: "https://agent.example.com/souk",
      types,
      encrypted_secret: SECRET,
      private_allowed: false,
    })
  ).body.id;
/** Writes an event of the account. */
const happen = (account: string, type = "ask.read"): Promise<Answer[]> =>
  market.sql`insert into market.event (account_id, type, data) values (${account}, ${type}, '{"n": 1}')`;
const deliveriesOf = (webhook: string): Promise<Answer[]> =>
  market.sql`select * from market.webhook_delivery where webhook_id = ${webhook} order by id`;
const claim = async (webhook: string, prompt = 100, other = 100): Promise<Answer> =>
  market.work("claim_deliveries", webhook, prompt, other);
const end = (delivery: string, attempt: number, status: number | null, more: { took?: number; after?: number } = {}) =>
  market.work(
    "end_attempt",
    delivery,
    attempt,
    status as number,
    (status === null ? "No response came." : null) as string,
    more.took ?? 10,
    (more.after ?? null) as number,
  );
const hookOf = async (id: string): Promise<Answer> =>
  (await market.sql`select * from market.webhook where id = ${id}`)[0];
/** Queues many deliveries for a webhook, as many events would. */
const queue = (webhook: string, deliveries: number, on: Market = market) =>
  on.sql`insert into market.webhook_delivery (webhook_id, event_id, type, data, occurred_at, next_attempt_at)
    select ${webhook}, gen_random_uuid(), 'ask.read', '{}', now(), now() - interval '5 minutes'
      from generate_series(1, ${deliveries})`;
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
    (await deliveriesOf(some)).map(({ event_id, type }) => [event_id, type]),
    [[event?.id, "offer.removed"]],
  );
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
    (await deliveriesOf(witness)).map(({ type, data }) => [type, data]),
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
  const pause = async () =>
    market.value`select round(extract(epoch from resume_at - now()) / 60)::int as minutes from market.webhook
        where id = ${hook}`;
  const [first, second, third, fourth] = (await claim(hook)).deliveries;
  await end(first.id, 1, 429, { after: 3600 });
  await end(second.id, 1, 204);
  await end(third.id, 1, 500);
  await end(fourth.id, 1, 503, { after: 60 });
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
  t.deepEqual((await claim(hook, 100, 0)).is_full, true);
  const [first] = (await claim(hook)).deliveries;
  t.is((await claim(hook)).deliveries.length, 0);
  await end(first.id, 1, 204);
  const claims = await Promise.all([claim(hook), claim(hook)]);
  t.is(claims.flatMap(({ deliveries }) => deliveries).length, 4);
  const [slow] = claims.flatMap(({ deliveries }) => deliveries);
  await end(slow.id, 1, 204, { took: 9_000 });
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
  await queue(hook, 10_001);
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
  t.deepEqual(column(await deliveriesOf(hook), "type"), ["account.suspended"]);
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
  t.is(await jobsFor(hook), 2, "one for the event, and one that deletes it");
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
    await client.query("select internal.queue_test($1)", [hook]);
  });
  t.true(rows < 50, String(rows));
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
