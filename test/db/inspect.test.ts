import test from "ava";
import { createBuiltinExtractor } from "../../src/reader/builtin/extractor.ts";
import { seedVocabulary } from "../reader/vocabulary.ts";
import { rolledBack } from "../support/database.ts";
import { dealsIn } from "./deals.ts";
import { type Answer, type Caller, refusal, refused, vectorOf } from "./market.ts";
import { asDba, client, finishJobs, market, withJob } from "./operator.ts";

/**
 * What a DBA can see: the inspect views, read as souk_dba, and the privileges of souk_dba.
 *
 *   seller, buyer   approved agents of two accounts, with an offer of a sofa, an ask for one, and their match
 */

let seller: Caller;
let buyer: Caller;
const id = { offer: "", ask: "" };

test.before(async () => {
  [seller, buyer] = [await market.approved(), await market.approved()];
  id.offer = await market.offer(seller, { price: "180 EUR", words: "Smoke-free home", vector: vectorOf("sofa") });
  id.ask = await market.ask(buyer, { max: "200 EUR", vector: vectorOf("sofa") });
  await finishJobs();
});

const read = (text: string, values: unknown[] = []): Promise<Answer[]> => rolledBack(client, () => asDba(text, values));

/** The id of a submission that waits to be read. */
const WAITING = "00000000-0000-7000-8000-000000000001";

test.serial("the inspect views say why an agent gets 429, and when it no longer does", async (t) => {
  const agent = await market.approved();
  await market.sql`update market.account set created_at = now() - interval '40 days' where id = ${agent.account}`;
  await market.sql`insert into market.proved_method (account_id, method, subject_hash)
    values (${agent.account}, 'google', sha256('429'))`;
  // 60 + 30 for the method + 60 for the age, halved because of one removed offer.
  await market.sql`insert into market.offer (account_id, status, text, title, published_at, removed_at)
    values (${agent.account}, 'removed', 'Sofa', 'Sofa', now() - interval '5 days', now() - interval '1 day')`;
  await market.sql`insert into market.rate_limit_hit (scope, action, called_at)
    select 'agent:' || ${agent.agent}::text, 'publish_offer', now() - interval '1 minute' * n
      from generate_series(1, 50) as n`;
  const publish = () => market.call(agent, "publish_offer", { body: { text: "Sofa" } });
  const why = async () =>
    Object.fromEntries(
      (await read("select * from inspect.why_429 where agent_id = $1", [agent.agent])).map((row) => [row.action, row]),
    );
  const before = await why();
  t.like(before["publish_offer"], {
    refused: false,
    used: 50,
    cap: 75,
    base: 60,
    factor: 1,
    settled_offers: 0,
    proved_methods: 1,
    account_is_old: true,
    recent_removals: 1,
    next_slot_in: 0,
  });
  t.is(before["create_ask"].used, 0);
  await market.sql`insert into market.rate_limit_hit (scope, action)
    select 'agent:' || ${agent.agent}::text, 'publish_offer' from generate_series(1, 25)`;
  t.is(await refused(publish()), "429 rate_limited");
  const after = await why();
  t.like(after["publish_offer"], { refused: true, used: 75, cap: 75 });
  t.false(after["create_ask"].refused);
  t.true(Math.abs(after["publish_offer"].next_slot_in - 600) <= 2, "the oldest call was fifty minutes ago");
  t.is(
    after["publish_offer"].reason.replace(/in \d+ seconds/, "in N seconds"),
    "75 of 75 calls of the last hour are used, so the next is refused with 429; in N seconds a slot is free. The cap: 60 + 1 x (4 x 0 settled offers + 30 x 1 proved methods + 60 for an account of 30 days), at most 600, halved 1 times for offers removed within 30 days, but not below 15.",
  );
  await market.sql`update market.rate_limit_hit set called_at = called_at - interval '601 seconds'
    where scope = 'agent:' || ${agent.agent}::text`;
  t.false((await why())["publish_offer"].refused);
  await t.notThrowsAsync(publish());

  await market.sql`delete from market.submission where agent_id = ${agent.agent}`;
  await finishJobs();
});

test.serial("a DBA can read each view, and its comment says when to use it", async (t) => {
  const views = await market.sql`select c.relname as name, obj_description(c.oid, 'pg_class') as comment, c.reloptions
    as options
    from pg_class c where c.relnamespace = 'inspect'::regnamespace and c.relkind = 'v' order by 1`;
  t.true(views.length >= 15);
  for (const { name, comment, options } of views) {
    t.regex(comment, /^When /, name);
    t.deepEqual(options, ["security_invoker=true"], `${name} shows nothing that its reader may not see`);
    await t.notThrowsAsync(read(`select * from inspect.${name}`), name);
  }
});

test.serial("the views show waiting submissions, jobs, workers, embeddings and windows", async (t) => {
  await rolledBack(client, async () => {
    await client.query("set local session_replication_role = replica");
    await client.query(`insert into market.submission (id, kind, account_id, agent_id, target_id, text, created_at)
      values ('${WAITING}', 'publish_offer', '${seller.account}', '${seller.agent}', internal.uuid_v7(), 'Sofa', now() - interval '700 seconds');
      insert into market.idempotency_key (owner_id, key, request_hash, submission_id, created_at)
      values ('${seller.agent}', 'k', sha256('x'), '${WAITING}', now() - interval '11 minutes');
      ${withJob("complete_submission", WAITING)} ${withJob("embed_offer", id.offer)} ${withJob("embed_ask", id.ask)}
      insert into market.worker_heartbeat (pool_id) values ('pool-alive');
      update graphile_worker._private_jobs set locked_by = 'pool-dead', locked_at = now() - interval '1 minute' where key like 'complete%';
      update graphile_worker._private_jobs set locked_by = 'pool-alive', locked_at = now() where key like 'embed_ask%';
      update graphile_worker._private_jobs set attempts = 25, max_attempts = 25, last_error = 'no' where key like 'embed_offer%';
      update market.offer_embedding set model = 'text-embedding-3-small';`);
    const value = async (text: string) => Object.values((await asDba(text))[0] ?? {});
    t.deepEqual(await value("select agent_id, kind, stuck, job_state from inspect.submissions_waiting"), [
      seller.agent,
      "publish_offer",
      true,
      "held by a dead worker",
    ]);
    t.deepEqual(await value("select owner_id, key, stuck from inspect.keys_in_flight"), [seller.agent, "k", true]);
    t.deepEqual(await asDba("select task, state from inspect.jobs order by 1"), [
      { task: "complete_submission", state: "held by a dead worker" },
      { task: "embed_ask", state: "running" },
      { task: "embed_offer", state: "permanently failed" },
    ]);
    t.deepEqual(await asDba("select pool_id, alive, jobs::int from inspect.workers order by 1"), [
      { pool_id: "pool-alive", alive: true, jobs: 1 },
      { pool_id: "pool-dead", alive: false, jobs: 1 },
    ]);
    t.deepEqual(
      await asDba(
        "select items::int, with_vector::int, of_another_model::int, without_vector::int, percent::float, jobs_failed::int from inspect.embedding_progress where kind = 'offer'",
      ),
      [{ items: 1, with_vector: 0, of_another_model: 1, without_vector: 0, percent: 0, jobs_failed: 1 }],
    );
    t.deepEqual(
      await value(
        `select connected_at is not null, submissions_waiting::int from inspect.agents where agent_id = '${seller.agent}'`,
      ),
      [true, 1],
    );
    t.deepEqual(
      await value(
        `select used_last_hour::int from inspect.windows where scope = 'agent:${buyer.agent}' and action = 'create_ask'`,
      ),
      [1],
    );
    t.deepEqual(await value("select last_week::int >= 1 from inspect.growth where what = 'offers'"), [true]);
    t.deepEqual(
      await value("select total_bytes > 0 from inspect.table_sizes where schema = 'market' and \"table\" = 'offer'"),
      [true],
    );
    t.deepEqual(await value("select needed_without_scans from inspect.index_use where index = 'offer_pkey'"), [true]);
    t.deepEqual(await value("select connections > 0 from inspect.connections"), [true]);
  });
});

/** A column whose name contains one of these words is secret or private, so a DBA may not read it. */
const CLOSED =
  /hash|secret|\bcode|text|title|contact|comment|body|metadata|extraction|criteria|query|search|place|reasons|embedding|display_name|address|images|location|warnings|note/;
/** Columns whose names contain such a word, but whose content is neither secret nor private. */
const OPEN = [
  "market.message.addresses_agents",
  "market.offer.contact_visibility",
  "market.offer_change.contact_visibility",
  "market.submission.contact_visibility",
  "search.document.contact_visibility",
  "reading.example.text",
  "market.embedding_model.min_similarity",
  "market.ranking.in_text",
  "market.ranking.in_title",
  "market.ranking.match_other_place",
  "market.ranking.match_place",
  "market.ranking.place",
  "market.reason.code",
  "reading.place.place",
  "reading.place_member.place",
  "reading.place_name.place",
];

test.serial("a DBA can read every table, write none, and sees no secret, text or contact", async (t) => {
  const columns = await market.sql`select format('%I.%I', n.nspname, c.relname) as "table", a.attname as "column",
      has_column_privilege('souk_dba', c.oid, a.attnum, 'select') as open,
      has_column_privilege('souk_dba', c.oid, a.attnum, 'insert, update, references')
        or has_table_privilege('souk_dba', c.oid, 'delete, truncate, trigger') as writable
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
    where n.nspname in ('market', 'internal', 'reading', 'search') and c.relkind in ('r', 'p') and not c.relispartition
      and a.attnum > 0 and not a.attisdropped`;
  t.deepEqual(
    columns.filter((c) => c.writable),
    [],
  );
  const tables = [...new Set(columns.map((c) => c.table))];
  t.deepEqual(
    tables.filter((table) => !columns.some((c) => c.table === table && c.open)),
    [],
    "market/dba_access.sql must grant the columns of a new table that a DBA may read",
  );
  t.deepEqual(
    columns
      .filter((c) => c.open && CLOSED.test(c.column))
      .map((c) => `${c.table}.${c.column}`)
      .filter((name) => !OPEN.includes(name)),
    [],
  );
  const policies = await market.sql`select format('%I.%I', schemaname, tablename) as "table" from pg_policies
    where not (select relispartition from pg_class where oid = format('%I.%I', schemaname, tablename)::regclass)
      and policyname = 'a dba reads all' and roles = '{souk_dba}' and cmd = 'SELECT' and qual = 'true'`;
  t.deepEqual(policies.map((p) => p.table).sort(), tables.sort());
  await t.throwsAsync(read("select token_hash from market.agent"), { code: "42501" });
  await t.throwsAsync(read("select key from market.hash_key"), { code: "42501" });
  await t.throwsAsync(read("select contact from market.offer"), { code: "42501" });
  await t.throwsAsync(read("delete from market.report"), { code: "42501" });
  t.is((await read("select id from market.offer where id = $1", [id.offer])).length, 1);
});

test.serial("why_429 and the refusal mention a cap set by a moderator, and a suspension", async (t) => {
  const agent = await market.approved();
  await market.sql`insert into market.cap_override (account_id, action, cap)
    values (${agent.account}, 'publish_offer', 0)`;
  const why = async () =>
    (await read("select * from inspect.why_429 where agent_id = $1 and action = 'publish_offer'", [agent.agent]))[0];
  t.like(await why(), { refused: true, cap: 0, next_slot_in: null, next_slot_at: null });
  t.regex(
    (await why()).reason,
    /^0 of 0 calls of the last hour are used, so every call is refused with 429 until the cap changes\. The cap: a moderator set it at [-\d: ]+ UTC, in place of what the record gives\.$/,
  );
  const { status, detail, extra } = await refusal(market.call(agent, "publish_offer", { body: { text: "Sofa" } }));
  t.is(status, 429);
  t.regex(detail, /^Moderation has set the limit "publish_offer" to 0/);
  t.like(extra, { retry_after: 3600 });
  t.is(extra.headers["RateLimit-Reset"], 3600);
  const me = await market.call(agent, "get_me", { base_url: "http://souk.test" });
  const paths = me.next.map(({ path }: { path: string }) => path);
  t.false(paths.includes("/v1/offers"));
  t.true(paths.includes("/v1/asks"));

  await market.sql`update market.account set suspended_at = now(), suspension_reason = 'scam', suspension_note = 'No.'
    where id = ${agent.account}`;
  t.true((await why()).account_suspended);
  t.regex((await why()).reason, /The account is suspended by moderation since .* refused with 409/);
  const suspended = await market.call(agent, "get_me", { base_url: "http://souk.test" });
  t.regex(suspended.next[0].summary, /suspended by moderation\. No\. .*Tell the person/);
  t.false(suspended.next.some(({ path }: { path: string }) => path === "/v1/offers" || path === "/v1/asks"));
});

test.serial("inspect.price_reasons says why an offer has its price, until text or account are gone", async (t) => {
  const agent = await market.approved();
  const extractor = createBuiltinExtractor(seedVocabulary());
  /** The extractions of a text as a worker sends them; a model's come before them. */
  const readOf = async (text: string, ...models: object[]): Promise<string> => {
    return JSON.stringify([...models, extractor.readOffer(text).extraction]);
  };
  const reasonsOf = (offer: string) => read("select * from inspect.price_reasons($1)", [offer]);
  const amounts = async (offer: string) => [
    ...new Set(
      (await reasonsOf(offer)).map(({ candidate, amount, currency }) => `${candidate}: ${amount} ${currency}`),
    ),
  ];
  const stored = async () => (await market.sql("select count(*)::int as n from reading.price_reason"))[0].n;

  const text = "Grey sofa, new price was 400 EUR, now 180 EUR says Zebedee. Berlin. sofa@example.com";
  const previewed = await market.call(agent, "preview_offer", { body: { text } });
  await market.work("complete_submission", previewed.submission, await readOf(text));
  const preview = await market.call(agent, "get_answer", { submission_id: previewed.submission });
  t.is(preview.status, 200);
  t.is(await stored(), 0);

  const { status, body } = await market.publish(agent, text, await readOf(text));
  t.is(status, 201);
  const id = body.offer_id;
  t.deepEqual(await amounts(id), ["1: 180 EUR", "2: 400 EUR"]);
  const reasons = await reasonsOf(id);
  const [first] = reasons;
  t.true(Number(first.chance) > 0.5 && Number(first.chance) <= 1);
  t.true(reasons.some(({ feature, weight }) => /^\S+ \S+/.test(feature) && Number(weight) !== 0));
  t.notRegex(JSON.stringify(reasons), /zebedee|sofa@/i, "features have words of the training set only");
  const strengths = reasons.filter(({ candidate }) => candidate === 1).map(({ weight }) => Math.abs(Number(weight)));
  t.deepEqual(
    strengths,
    strengths.toSorted((one, other) => other - one),
  );
  await t.throwsAsync(
    rolledBack(client, async () => {
      await client.query("set local session authorization souk_api");
      await client.query("select * from inspect.price_reasons($1)", [id]);
    }),
    { code: "42501" },
  );

  // Nobody but a DBA sees them.
  const [row] = await market.sql`select to_jsonb(o) as offer from market.offer o where id = ${id}`;
  const shown = await market.call(agent, "get_offer", { id });
  const account = await market.callAsPerson(agent, "export_account");
  for (const document of [preview, body, row.offer, shown, account])
    t.notRegex(JSON.stringify(document), /price_reasons|"chance"|"candidates"/);

  // A changed text has other reasons, whatever a model has read before.
  const change = async (to: string, extractions: string) => {
    const { submission } = await market.call(agent, "update_offer", { id, body: { text: to } });
    await market.work("complete_submission", submission, extractions);
    t.is((await market.call(agent, "get_answer", { submission_id: submission })).status, 200);
  };
  const cheaper = text.replace("180", "150");
  const model = { contacts: [], features: [], attributes: [], price_reasons: [{ amount: 1 }] };
  await change(cheaper, await readOf(cheaper, model));
  t.deepEqual(await amounts(id), ["1: 150 EUR", "2: 400 EUR"]);
  // If no reasons are given, those of the earlier text do not stay.
  const unexplained = (await readOf(text)).replace('"price_reasons"', '"other"');
  await change(text, unexplained);
  t.deepEqual(await reasonsOf(id), []);

  await change(cheaper, await readOf(cheaper));
  t.is(await stored(), 1);
  t.deepEqual(await market.callAsPerson(agent, "delete_account"), { done: true });
  t.is(await stored(), 0);
  await finishJobs();
});

test.serial("inspect.conversations says what waits for whom, without words", async (t) => {
  const deals = dealsIn(market);
  const { lena, tom, offer, id: conversation } = await deals.talk();
  const look = async () =>
    (await read("select * from inspect.conversations where conversation_id = $1", [conversation]))[0];
  t.like(await look(), { messages: "1", pending: null, waits_for: null, publisher_unread: 1, inquirer_unread: 0 });
  const proposal = await deals.propose(tom, conversation, 150);
  const found = await look();
  t.deepEqual(
    { ...found, waiting: null, ends_at: null, created_at: null, active_at: null },
    {
      ...{ conversation_id: conversation, offer_id: offer, offer_status: "published", sandbox_id: null },
      ...{ publisher_id: lena.account, inquirer_id: tom.account, status: "open", closed_by: null },
      ...{ messages: "1", proposals: "1", made: "0", publisher_unread: 2, inquirer_unread: 0, reports: "0" },
      ...{ pending: "proposal", waits_for: ["publisher"], waiting: null, ends_at: null },
      ...{ created_at: null, active_at: null },
    },
  );
  await deals.accept(lena, conversation, proposal);
  t.like(await look(), { pending: "agreement", waits_for: ["publisher", "inquirer"] });
  await deals.report(lena, conversation);
  await deals.close(lena, conversation);
  t.like(await look(), { pending: null, reports: "1", status: "closed", closed_by: "publisher" });
});
