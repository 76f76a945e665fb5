import test from "ava";
import { rolledBack } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Caller, column, vectorOf } from "./market.ts";
import { asDba, client, finishJobs, market, withJob } from "./operator.ts";

/**
 * inspect.check() reports every row that breaks an invariant, and no other row.
 *
 *   seller, buyer   approved agents of two accounts, with an offer of a sofa, an ask for one, and their match
 */

let seller: Caller;
let buyer: Caller;
let stranger: Caller;
const id = { offer: "", ask: "" };

test.before(async () => {
  [seller, buyer, stranger] = [await market.approved(), await market.approved(), await market.connect()];
  id.offer = await market.offer(seller, { price: "180 EUR", words: "Smoke-free home", vector: vectorOf("sofa") });
  id.ask = await market.ask(buyer, { max: "200 EUR", vector: vectorOf("sofa") });
  await finishJobs();
});

test.serial("inspect.check() reports nothing in a consistent database", async (t) => {
  const count = await market.value`select count(*)::int from market.match`;
  t.is(count, 1, "there is a match to check");
  await assertInvariants(t, market.url);
});

/**
 * A submission and the call that its rate limit counted. AGE is the submission's age in seconds. SETTLED is its
 * completed_at and status.
 */
const SUBMISSION = `
  insert into market.rate_limit_hit (scope, action) select 'agent:' || $1::text, 'publish_offer';
  insert into market.submission (id, kind, account_id, agent_id, target_id, text, created_at, completed_at, status)
  select '00000000-0000-7000-8000-000000000001', 'publish_offer', account_id, id, '00000000-0000-7000-8000-000000000002',
    'Sofa', now() - interval '1 second' * AGE, SETTLED
  from market.agent where id = $1;`;
const submission = (age: number, settled: string) =>
  SUBMISSION.replace("AGE", String(age)).replace("SETTLED", settled).replaceAll("$1", `'${seller.agent}'`);
const JOB_OF_SUBMISSION = withJob("complete_submission", "00000000-0000-7000-8000-000000000001");

/** A second offer of the seller, which is not live. Each use appends the offer's status and removed_at. */
const WAITING = `
  insert into market.offer (id, account_id, text, title, status, removed_at)
  select '00000000-0000-7000-8000-000000000003', account_id, 'Sofa', 'Sofa',`;

/** A sandbox, and an account and an archived offer in it. */
const SANDBOX_ID = "00000000-0000-4000-8000-000000000004";
const SANDBOX = `insert into market.sandbox (id) values ('${SANDBOX_ID}');`;
const SANDBOX_OFFER = `
  insert into market.account (id, sandbox_id) values ('${SANDBOX_ID}', '${SANDBOX_ID}');
  insert into market.account_stats (account_id) values ('${SANDBOX_ID}');
  insert into market.offer (id, account_id, sandbox_id, text, title, status)
  values ('${SANDBOX_ID}', '${SANDBOX_ID}', '${SANDBOX_ID}', 'Sofa', 'Sofa', 'archived');`;

/** A client of OAuth that has its tokens, as which the seller came, and one that registered and has not finished. */
const CLIENT_ID = "00000000-0000-7000-8000-000000000006";
const grant = (client = "https://client.example/client.json") => `
  update market.agent set token_expires_at = now() + interval '1 hour' where id = '${seller.agent}';
  insert into market.oauth_grant (agent_id, client_id, redirect_uri, code_challenge, code_hash, code_expires_at, code_used_at,
    family_hash, refresh_token_hash)
  values ('${seller.agent}', '${client}', 'https://client.example/', repeat('x', 43), sha256('code'),
    now() + interval '60 seconds', now(), sha256('family'), sha256('token'));`;
const registered = (age: string) => `
  insert into market.oauth_client (id, name, redirect_uris, created_at)
  values ('${CLIENT_ID}', 'Client', '{https://client.example/}', now() - interval '${age}');`;

/** A conversation of the buyer about the seller's offer, with an accepted proposal and its agreement, which is made. */
const DEAL_ID = "00000000-0000-7000-8000-000000000007";
const conversation = (more = "'open', null") => `
  insert into market.conversation (id, offer_id, publisher_id, inquirer_id, status, closed_by)
  values ('${DEAL_ID}', '${id.offer}', '${seller.account}', '${buyer.account}', ${more});`;
const proposal = (status: string, expires = "1 hour") => `${conversation()}
  insert into market.proposal (id, conversation_id, offer_id, sender, by_person, status, terms, offer_digest, expires_at)
  values ('${DEAL_ID}', '${DEAL_ID}', '${id.offer}', 'inquirer', true, '${status}', '{}', 'x', now() + interval '${expires}');`;
const agreement = (proposed = "accepted", made = "1 hour") => `${proposal(proposed)}
  insert into market.agreement (id, conversation_id, proposal_id, status, payer, payer_agent_id, price_thousandths,
    price_currency, made_at, publisher_agreed_at, inquirer_agreed_at, inquirer_contact)
  values ('${DEAL_ID}', '${DEAL_ID}', '${DEAL_ID}', 'made', 'inquirer', '${buyer.agent}', 9000, 'EUR',
    now() - interval '${made}', now(), now(), 'x');`;

/**
 * For each invariant, the object (or its prefix) that inspect.check() reports, and SQL that breaks the invariant without
 * triggers.
 */
const corruptions = () =>
  `
  account_has_stats: account ${stranger.account}
    delete from market.account_stats where account_id = '${stranger.account}'
  stats_equal_recount: account ${seller.account}
    update market.account_stats set active = active + 1 where account_id = '${seller.account}'
  connected_agent_has_person: agent ${seller.agent}
    update market.account set claimed_at = null where id = '${seller.account}'
  approval_is_whole: agent ${stranger.agent}
    update market.connection set approved_at = now() where agent_id = '${stranger.agent}'
  removed_agent_has_no_link: agent ${stranger.agent}
    update market.agent set removed_at = now() where id = '${stranger.agent}'
  code_follows_an_approval: agent ${stranger.agent}
    insert into market.oauth_grant (agent_id, client_id, redirect_uri, code_challenge, code_hash, code_expires_at)
    values ('${stranger.agent}', 'https://client.example/client.json', 'https://client.example/', repeat('x', 43),
    sha256('code'), now());
    update market.agent set token_hash = null where id = '${stranger.agent}'
  refresh_token_follows_a_code: agent ${seller.agent}
    ${grant()} update market.oauth_grant set code_used_at = code_expires_at + interval '1 second'
  access_token_expires: agent ${seller.agent}
    ${grant()} update market.agent set token_expires_at = null where id = '${seller.agent}'
  grant_has_its_client: agent ${seller.agent}
    ${grant(CLIENT_ID)} ${registered("1 hour")}
  oauth_is_purged_in_time: clients
    ${registered("27 hours")}
  submission_is_counted: agent ${seller.agent}
    ${submission(1, "now(), 400")} delete from market.rate_limit_hit
  webhook_was_proved: webhook ${id.ask}
    insert into market.webhook (id, account_id, url, encrypted_secret)
    values ('${id.ask}', '${seller.account}', 'https://x.example/', '00000000.' || repeat('A', 80));
    insert into market.webhook_delivery (webhook_id, events) values ('${id.ask}', '[{}]')
  call_is_past: call 4711
    insert into market.rate_limit_hit (id, scope, action, called_at) overriding system value
    values (4711, 'agent:${seller.agent}', 'publish_offer', now() + interval '1 hour')
  window_keeps_to_cap: agent:${seller.agent}
    insert into market.rate_limit_hit (scope, action) select 'agent:${seller.agent}', 'publish_offer'
      from generate_series(1, 601)
  key_has_answer: agent ${seller.agent}
    insert into market.idempotency_key (owner_id, key, request_hash) values ('${seller.agent}', 'lost', sha256('x'))
  submission_is_completed: submission 00000000-0000-7000-8000-000000000001
    ${submission(1000, "null, null")} ${JOB_OF_SUBMISSION}
  submission_has_job: submission 00000000-0000-7000-8000-000000000001
    ${submission(1, "null, null")}
  answer_tells_the_truth: submission 00000000-0000-7000-8000-000000000001
    ${submission(1, "now(), 201")}
  document_is_current: offer ${id.offer}
    update search.document set document = '{}' where id = '${id.offer}'
  offer_has_contact: offer ${id.offer}
    update market.offer set contact = '{}' where id = '${id.offer}'
  offer_has_vector: offer ${id.offer}
    delete from market.offer_embedding where offer_id = '${id.offer}'
  ask_has_vector: ask ${id.ask}
    delete from market.ask_embedding where ask_id = '${id.ask}';
    update market.ask set read_at = now() - interval '11 minutes'
  ask_is_read: ask ${id.ask}
    update market.ask set read_at = null, updated_at = now() - interval '61 minutes'; delete from market.match
  match_is_of_a_published_offer: match of ask ${id.ask} and offer ${id.offer}
    update market.offer set status = 'archived' where id = '${id.offer}'; update market.account_stats set active = 0
  match_is_of_a_read_ask: match of ask ${id.ask} and offer ${id.offer}
    update market.ask set read_at = null
  match_is_of_an_active_ask: match of ask ${id.ask} and offer ${id.offer}
    update market.ask set status = 'archived', updated_at = now() - interval '2 minutes'
  match_is_of_its_kind: match of ask ${id.ask} and offer ${id.offer}
    update market.ask set ask_kind = 'rent'
  match_is_not_ones_own: match of ask ${id.ask} and offer ${id.offer}
    update market.ask set account_id = '${seller.account}'
  match_is_within_a_sandbox: match of ask ${id.ask} and offer ${id.offer}
    ${SANDBOX} update market.ask set sandbox_id = '${SANDBOX_ID}';
      update market.account set sandbox_id = '${SANDBOX_ID}',
    claimed_at = null where id = '${buyer.account}';
    update market.agent set sandbox_id = '${SANDBOX_ID}' where id = '${buyer.agent}'; delete from market.session
  row_is_of_its_accounts_sandbox: agent ${stranger.agent}
    ${SANDBOX} update market.agent set sandbox_id = '${SANDBOX_ID}' where id = '${stranger.agent}'
  sandbox_has_no_person: account ${SANDBOX_ID}
    ${SANDBOX} insert into market.account (id, sandbox_id, claimed_at)
      values ('${SANDBOX_ID}', '${SANDBOX_ID}', now());
    insert into market.account_stats (account_id) values ('${SANDBOX_ID}')
  sandbox_is_not_moderated: offer ${SANDBOX_ID}
    ${SANDBOX} ${SANDBOX_OFFER} insert into market.review_case (offer_id, causes)
      values ('${SANDBOX_ID}', '{reported}')
  match_is_within_price: match of ask ${id.ask} and offer ${id.offer}
    update market.ask set price_max_thousandths = 179999
  match_is_not_excluded: match of ask ${id.ask} and offer ${id.offer}
    update market.ask set exclude_query = 'smoke'
  job_is_not_locked_by_a_dead_worker: job
    select graphile_worker.add_job('embed_offer', json_build_object('id', '${id.offer}'));
    update graphile_worker._private_jobs set locked_by = 'pool-dead', locked_at = now() - interval '6 minutes'
  suspended_account_is_hidden: account ${seller.account}
    update market.account set suspended_at = now(), suspension_reason = 'scam', suspension_note = 'x'
      where id = '${seller.account}'
  case_counts_its_reports: offer ${id.offer}
    update market.review_case set reports = 9, closed_at = null where offer_id = '${id.offer}'
  open_report_has_case: offer ${id.offer}
    insert into market.report (offer_id, account_id, reason) values ('${id.offer}', '${buyer.account}', 'scam')
  pending_offer_has_case: offer 00000000-0000-7000-8000-000000000003
    ${WAITING} 'pending_review', null from market.offer where id = '${id.offer}'
  waiting_change_has_case: offer ${id.offer}
    insert into market.offer_change (offer_id, account_id, text, title)
    values ('${id.offer}', '${seller.account}', 'x', 'x')
  change_has_approved_offer: offer ${id.offer}
    insert into market.offer_change (offer_id, account_id, text, title, rejected_at, review_reason)
    values ('${id.offer}', '${buyer.account}', 'x', 'x', now(), 'spam')
  open_appeal_has_case: offer 00000000-0000-7000-8000-000000000003
    ${WAITING} 'removed', now() from market.offer where id = '${id.offer}';
    update market.account_stats set removed = 1 where account_id = '${seller.account}';
    insert into market.appeal (offer_id, removed_at, account_id)
    values ('00000000-0000-7000-8000-000000000003', now(), '${seller.account}')
  reviewed_offer_is_not_removed: offer 00000000-0000-7000-8000-000000000003
    ${WAITING} 'rejected', null from market.offer where id = '${id.offer}';
    update market.offer set reviewed = true where status = 'rejected'
  extraction_is_quoted: offer ${id.offer}
    update market.offer set extraction = jsonb_set(extraction, '{price,quote}', '"9999"') where id = '${id.offer}'
  reference_has_row: offer of agent 00000000-0000-7000-8000-000000000004
    update market.offer set agent_id = '00000000-0000-7000-8000-000000000004' where id = '${id.offer}'
  call_has_agent: call 4711
    insert into market.rate_limit_hit (id, scope, action) overriding system value
    values (4711, 'agent:00000000-0000-7000-8000-000000000004', 'publish_offer')
  log_has_its_months: market.audit_event_
    do $$ begin execute format('drop table market.audit_event_%s', to_char(now() at time zone 'UTC', 'YYYY_MM'));
      end $$
  log_is_purged_in_time: market.audit_event
    insert into market.audit_event (at, actor_type, sql_role, action, table_name, row_id)
    values (now() - interval '20 months', 'dba', 'x', 'x', 'x', 'x')
  agreement_has_accepted_proposal: agreement ${DEAL_ID}
    ${agreement("declined")}
  agreement_keeps_to_ceiling: agreement ${DEAL_ID}
    insert into market.power (agent_id, power, allowed, ceiling_thousandths, daily_ceiling_thousandths,
      ceiling_currency, updated_at) values ('${buyer.agent}', 'agree', 'alone', 8999, 8999, 'EUR', now());
    ${agreement()}
  consent_has_confirmation: agreement ${DEAL_ID}
    ${agreement()} insert into market.confirmation (account_id, agreement_id) values ('${buyer.account}', '${DEAL_ID}')
  conversation_is_of_its_offer: conversation ${DEAL_ID}
    ${conversation()} update market.conversation set publisher_id = '${stranger.account}'
  deal_ends_in_time: proposal ${DEAL_ID}
    ${proposal("pending", "-16 minutes")}
  deal_is_forgotten_in_time: agreement ${DEAL_ID}
    ${agreement("accepted", "93 days")}
  pending_deal_can_be_made: proposal ${DEAL_ID}
    ${proposal("pending")} update market.conversation set status = 'closed', closed_by = 'market'
  unread_is_what_came_since: conversation ${DEAL_ID}
    ${proposal("declined")} update market.conversation set publisher_unread = 2
  feed_has_its_weeks: market.event_
    do $$ begin execute format('drop table market.event_%s', to_char(date_trunc('week', now() at time zone 'UTC'),
      'YYYY_MM_DD')); end $$
  feed_is_purged_in_time: market.event
    insert into market.event (account_id, type, data, occurred_at)
    values (gen_random_uuid(), 'ask.read', '{}', now() - interval '40 days')
  examples_are_learned: reading.classifier
    update reading.vocabulary_change set changed_at = now() - interval '1 hour'
  agent_is_purged_in_time: agent ${stranger.agent}
    update market.agent set created_at = now() - interval '60 days' where id = '${stranger.agent}';
    update market.account_stats set last_active_at = now() - interval '60 days'
      where account_id = '${stranger.account}'
  nothing_outlives_its_time: calls
    update market.rate_limit_hit set called_at = now() - interval '27 hours'; delete from market.submission`
    .split(/\n {2}(?=\w+: )/)
    .slice(1)
    .map((entry) => {
      const [, invariant = "", object = "", how = ""] = /^(\w+): (.*)\n([\s\S]*)$/.exec(entry) ?? [];
      return { invariant, object, how };
    });

test.serial("inspect.check() reports a row that breaks an invariant, for each one, and nothing else", async (t) => {
  const rows = await market.sql("select invariant from market.invariant");
  t.deepEqual(
    corruptions()
      .map(({ invariant }) => invariant)
      .sort(),
    rows.map(({ invariant }) => invariant).sort(),
    "each has SQL that breaks it",
  );
  for (const { invariant, object, how } of corruptions()) {
    const found = await rolledBack(client, async () => {
      await client.query("set local session_replication_role = replica");
      await client.query(how);
      return asDba("select invariant, object, detail from inspect.check()");
    });
    t.deepEqual([...new Set(found.map((row) => row.invariant))], [invariant], "it alone is reported");
    t.true(
      found.some((row) => row.object.startsWith(object.trim()) && row.detail),
      JSON.stringify(found),
    );
  }
});

test.serial("what OAuth may leave behind is no finding, and every other form of a broken grant is one", async (t) => {
  const found = (how: string) =>
    rolledBack(client, async () => {
      await client.query("set local session_replication_role = replica");
      await client.query(how);
      return (await asDba("select invariant from inspect.check()")).map((row) => row.invariant);
    });
  const { agent } = seller;
  // The client has just its tokens, has revoked its access token, or has lost it with the agent.
  t.deepEqual(await found(grant()), []);
  t.deepEqual(
    await found(`${grant()} update market.agent set token_hash = null, token_expires_at = null where id = '${agent}'`),
    [],
  );
  t.deepEqual(await found(`${grant()} update market.agent set removed_at = now() where id = '${agent}'`), []);
  t.deepEqual(
    await found(`${grant(CLIENT_ID)} ${registered("9 days")} update market.oauth_client set finished_at = now()`),
    [],
  );
  t.deepEqual(await found(registered("25 hours")), []);

  t.deepEqual(await found(grant(CLIENT_ID)), ["grant_has_its_client"]);
  t.deepEqual(await found(`${grant()} update market.oauth_grant set code_used_at = null`), [
    "refresh_token_follows_a_code",
  ]);
  t.deepEqual(
    await found(
      `${grant()} update market.agent set token_expires_at = now() + interval '2 hours' where id = '${agent}'`,
    ),
    ["access_token_expires"],
  );
  const unfinished = `${grant()} update market.oauth_grant set family_hash = null, refresh_token_hash = null, code_used_at = null;`;
  t.deepEqual(await found(unfinished), ["access_token_expires"]);
  const forgotten = `update market.agent set token_hash = null; update market.oauth_grant set created_at = now() - interval '27 hours'`;
  t.deepEqual(await found(`${unfinished} ${forgotten}`), ["oauth_is_purged_in_time"]);
});

test.serial("inspect.check() ignores rows that a waiting job will correct, unless it waited for hours", async (t) => {
  const found = (age: string) =>
    rolledBack(client, async () => {
      await client.query("set local session_replication_role = replica");
      await client.query(`delete from market.offer_embedding; update market.ask set price_max_thousandths = 1000;
        ${withJob("embed_offer", id.offer)}
        update graphile_worker._private_jobs set created_at = now() - interval '${age}', run_at = now() - interval '${age}'`);
      return (await asDba("select invariant from inspect.check()")).map((row) => row.invariant);
    });
  t.deepEqual(await found("1 hour"), []);
  t.deepEqual(await found("3 hours"), ["offer_has_vector", "match_is_within_price"]);
});

test.serial("the worker stores what its check finds, and a sample without findings does not clear it", async (t) => {
  const noted = async () =>
    (await market.sql("select invariant, broken, example from market.invariant where broken > 0")).map((row) => row);
  await market.sql`update market.account_stats set active = 7 where account_id = ${seller.account}`;
  await market.sql`insert into market.idempotency_key (owner_id, key, request_hash)
    values (${seller.agent}, 'lost', sha256('x'))`;
  await market.work("check_invariants", 1000);
  t.deepEqual((await noted()).map(({ invariant, broken }) => [invariant, broken]).sort(), [
    ["key_has_answer", 1],
    ["stats_equal_recount", 1],
  ]);
  t.regex((await noted())[0]?.example ?? "", /^(account|agent) .*: /);
  await market.sql`update market.account_stats set active = 1 where account_id = ${seller.account}`;
  await market.sql("delete from market.idempotency_key");
  await market.work("check_invariants", 1000);
  t.deepEqual(
    column(await noted(), "invariant"),
    ["stats_equal_recount"],
    "a full check clears a finding at once; a check of samples clears none until all rows are checked",
  );
  await market.work("check_invariants", null);
  t.deepEqual(await noted(), []);
  const state = await market.value`select inspect.state() as state`;
  t.is(state.invariants.stats_equal_recount, 0);
  t.true(state.checked_seconds_ago < 60);
});

test.serial("the check of all rows goes on part by part, and counts what it finds once it is through", async (t) => {
  const noted = () => market.sql`select broken, found, checked_share from market.invariant
    where invariant = 'stats_equal_recount'`;
  // Enough rows for several pages, of which one in ten is broken.
  await rolledBack(client, async () => {
    await client.query(`set local session_replication_role = replica;
      with a as (insert into market.account (created_at) select now() from generate_series(1, 2000) returning id)
      insert into market.account_stats (account_id, active)
      select id, (row_number() over () % 10 = 0)::integer from a;
      analyze market.account, market.account_stats`);
    const found: number[] = [];
    const shares: number[] = [];
    for (let isDone = false; !isDone; ) {
      const { rows } = await client.query("select jobs.check_invariants(null, 300) as checked");
      const { done, broken } = rows[0].checked;
      found.push(broken.find((row: { invariant: string }) => row.invariant === "stats_equal_recount")?.broken ?? 0);
      const { rows: now } = await client.query(
        "select checked_share, found, broken from market.invariant where invariant = 'stats_equal_recount'",
      );
      shares.push(now[0].checked_share);
      const sum = found.reduce((all, part) => all + part, 0);
      t.deepEqual([now[0].broken, now[0].found], [sum, done ? 0 : sum]);
      isDone = done;
    }
    t.true(found.length >= 5, `${found.length} parts`);
    t.true(Math.max(...found) < 100, `the largest part has ${Math.max(...found)} of 200`);
    t.deepEqual(shares, [...shares.slice(0, -1).toSorted(), 0]);
    t.is(
      found.reduce((all, part) => all + part, 0),
      200,
    );
  });
  t.deepEqual(await noted(), [{ broken: 0, found: 0, checked_share: 0 }]);
});

test.serial("inspect.check() reports a missing row for every foreign key", async (t) => {
  const keys = await market.sql`select c.conname as name, child.relname as child, a.attname as column
    from pg_constraint c join pg_class child on child.oid = c.conrelid
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and c.connamespace = 'market'::regnamespace and cardinality(c.conkey) = 1
      and a.atttypid = 'uuid'::regtype and a.attgenerated = ''`;
  t.true(keys.length > 20);
  const silent: string[] = [];
  for (const { name, child, column } of keys) {
    const spoken = await rolledBack(client, async () => {
      await client.query("set local session_replication_role = replica");
      const { rowCount } = await client.query(
        `update market.${child} set ${column} = '00000000-0000-7000-8000-000000000009'
         where ctid = (select ctid from market.${child} limit 1)`,
      );
      if (rowCount === 0) return true;
      const found = await asDba("select detail from inspect.check() where invariant = 'reference_has_row'");
      return found.some(({ detail }) => detail.endsWith(`against ${name}`));
    });
    if (!spoken) silent.push(name);
  }
  t.deepEqual(silent, []);
});

test.serial("checking a sample costs no more in a market ten times as large", async (t) => {
  const readsOnce = async (sample: number | null): Promise<number> => {
    const plan = await rolledBack(client, async () => {
      await client.query("set local session_replication_role = replica");
      const { rows } = await client.query("explain (analyze, format json, buffers) select * from inspect.check($1)", [
        sample,
      ]);
      return rows[0]["QUERY PLAN"][0].Plan;
    });
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
  };
  // The median of several, because a sample of few pages varies, and what other sessions change in the catalogues of the
  // server can make this session read them all again in the middle of one.
  const reads = async (sample: number): Promise<number> => {
    const counts: number[] = [];
    for (let times = 0; times < 7; times++) counts.push(await readsOnce(sample));
    return counts.sort((a, b) => a - b)[3] as number;
  };
  // Triggers are switched off, because they would take a millisecond for each row. The account stats are inserted here.
  const grow = async (by: number) => {
    await client.query("begin; set local session_replication_role = replica");
    await client.query(
      `with a as (insert into market.account (claimed_at) select now() from generate_series(1, $1) returning id),
         s as (insert into market.account_stats (account_id, lifetime) select id, 1 from a)
       insert into market.offer (account_id, status, text, title, contact, published_at)
       select id, 'archived', 'Sofa', 'Sofa', '{"methods": [1]}', now() from a`,
      [by],
    );
    await client.query("commit");
  };
  await grow(2_000);
  await client.query("vacuum analyze market.offer, market.account_stats, market.account");
  const small = await reads(500);
  await grow(18_000);
  await client.query("vacuum analyze market.offer, market.account_stats, market.account");
  const large = await reads(500);
  const whole = await readsOnce(null);
  t.true(large < 3 * small, `${small} blocks, then ${large}`);
  t.true(whole > 4 * large, `${whole} blocks for everything`);
  await assertInvariants(t, market.url);
});
