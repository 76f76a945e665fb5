import { readFile, writeFile } from "node:fs/promises";
import test from "ava";
import pg from "pg";
import { type Actor, as, rolledBack } from "../support/database.ts";
import { type Caller, openMarket } from "./market.ts";
import { MATRIX, SUMMARY } from "./rights.ts";

/**
 * Who may do what: compares the grants and policies in the catalogue with a file, so that a review sees every change.
 * Tries row-level security with plain SQL, in the roles of requests.
 *
 *   A, B         approved agents of two accounts, each with a row in every table that can have one
 *   C            an agent without approval
 *   entered(A)   the role and the claims that internal.enter_agent sets for a request of A
 *
 * To accept a change of the catalogue, run `UPDATE=permissions npm test -- test/db/permissions.test.ts` and read the
 * diff.
 */

const GOLDEN = new URL("permissions.txt", import.meta.url);
const README = new URL("../../db/README.md", import.meta.url);

let market: Awaited<ReturnType<typeof openMarket>>;
let client: pg.Client;
let A: Caller;
let B: Caller;
let C: Caller;
const offers = { A: "", B: "", archivedOfB: "" };
const asks = { A: "", B: "" };

test.before(async () => {
  market = await openMarket();
  client = new pg.Client({ connectionString: market.url });
  await client.connect();
  await market.sql("update market.sign_in_method set available = true");
  [A, B, C] = [await market.approved("A"), await market.approved("B"), await market.connect("C")];
  for (const [name, caller] of [
    ["A", A],
    ["B", B],
  ] as const) {
    asks[name] = await market.ask(caller);
    offers[name] = await market.offer(caller);
    await market.call(caller, "start_verification", { method: "email", base_url: "", link_key: caller.token });
  }
  offers.archivedOfB = await market.offer(B);
  await market.call(B, "archive_offer", { id: offers.archivedOfB });
  await market.sql("update market.setting set value = 'true' where name = 'pre_moderation'");
  await market.change(B, offers.B, { title: "Changed sofa" });
  await market.sql("update market.setting set value = 'false' where name = 'pre_moderation'");
  const removed = await market.offer(B);
  await market.sql("update market.offer set status = 'removed' where id = $1", [removed]);
  await market.call(B, "appeal_offer", { id: removed, comment: null });
  await market.call(B, "report_offer", { id: offers.A, reason: "spam", comment: null });
  await market.callAsPerson(B, "update_profile", {
    display_name: "B",
    contact_email: "b@example.com",
    contact_phone: null,
  });
  await market.sql(
    "insert into market.proved_method (account_id, method, subject_hash) values ($1, 'google', sha256('b'))",
    [B.account],
  );
  await market.callAsPerson(B, "set_digest", { enabled: false });
  const { body: webhook } = await market.call(B, "create_webhook", {
    url: "https://agent.example.com/",
    types: null,
    encrypted_secret: `01234567.${"x".repeat(104)}`,
    private_allowed: false,
  });
  await market.call(B, "test_webhook", { id: webhook.id });
});

test.after.always(async () => {
  await client?.end();
  await market?.close();
});

const entered = (caller: Caller, connected = true): Actor => ({
  role: "souk_agent",
  claims: {
    "market.agent_id": caller.agent,
    "market.account_id": caller.account,
    "market.connected": String(connected),
  },
});
const enteredAsPerson = (caller: Caller): Actor => ({
  role: "souk_person",
  claims: { "market.agent_id": "", "market.account_id": caller.account, "market.connected": "true" },
});

/** The SQLSTATE of a statement's error, or the number of rows that it changed or returned. */
const outcome = async (actor: Actor, text: string, values: unknown[] = []): Promise<string | number> => {
  try {
    return await as(client, actor, async () => (await client.query(text, values)).rowCount ?? 0);
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.code ?? "";
    throw error;
  }
};

test.serial("permissions.txt lists all grants and policies", async (t) => {
  const [{ matrix }] = (await client.query<{ matrix: string }>(MATRIX)).rows as [{ matrix: string }];
  if (process.env["UPDATE"] === "permissions") await writeFile(GOLDEN, matrix);
  t.deepEqual(matrix.split("\n"), (await readFile(GOLDEN, "utf8")).split("\n"));
});

test.serial("the table of rights in db/README.md is correct", async (t) => {
  const [{ table }] = (await client.query<{ table: string }>(SUMMARY)).rows as [{ table: string }];
  const readme = await readFile(README, "utf8");
  const [, before = "", , after = ""] =
    /^([\s\S]*<!-- rights -->\n)([\s\S]*?)(<!-- \/rights -->[\s\S]*)$/.exec(readme) ?? [];
  t.not(after, "", "db/README.md has both markers of the table");
  const current = `${before}\n${table}\n\n${after}`;
  if (process.env["UPDATE"] === "permissions") await writeFile(README, current);
  t.deepEqual((await readFile(README, "utf8")).split("\n"), current.split("\n"));
});

/** Tables that everyone may read, because they contain nothing secret. */
const PUBLIC = [
  "market.ask_kind",
  "market.category",
  "market.domain",
  "market.offer_kind",
  "market.account_stats",
  // Vectors of other callers' queries. A vector can be found only by the hash of exactly the same words.
  "market.query_embedding",
  "market.permission",
  "market.setting",
  "market.sign_in_method",
];
/** The column or expression that says which account owns a row, for each table that an agent may read. */
const OWNER: Record<string, string> = {
  "market.account": "id",
  "market.agent": "account_id",
  "market.appeal": "account_id",
  "market.ask": "account_id",
  "market.digest": "account_id",
  "market.audit_event": "subject_account_id",
  "market.event": "account_id",
  "market.match": "(select account_id from owned_ask where owned_ask.id = ask_id)",
  "market.offer": "account_id",
  "market.offer_change": "account_id",
  "market.profile": "account_id",
  "market.proved_method": "account_id",
  "market.report": "account_id",
  "market.session": "account_id",
  "market.submission": "account_id",
  "market.verification": "account_id",
  "market.webhook": "account_id",
  "market.webhook_delivery": "(select account_id from owned_webhook where owned_webhook.id = webhook_id)",
};

test.serial("an agent and a person see no rows of another account, except published offers", async (t) => {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('market', 'internal', 'reading', 'search', 'api', 'jobs') and c.relkind in ('r', 'p', 'v')
       and (has_any_column_privilege('souk_agent', c.oid, 'select') or has_any_column_privilege('souk_person', c.oid, 'select'))
     order by 1`,
  );
  t.deepEqual(
    rows.map(({ name }) => name),
    [...PUBLIC, ...Object.keys(OWNER)].sort(),
    "every table that can be read is accounted for",
  );
  await client.query("create temporary table owned_ask as select id, account_id from market.ask");
  await client.query("grant select on owned_ask to souk_agent, souk_person");
  await client.query("create temporary table owned_webhook as select id, account_id from market.webhook");
  await client.query("grant select on owned_webhook to souk_agent, souk_person");
  for (const [table, owner] of Object.entries(OWNER)) {
    const where = `${owner} = $1 ${table === "market.offer" ? "and status <> 'published'" : ""}`;
    const columns = table === "market.agent" ? "id" : owner;
    const { rowCount } = await client.query(`select ${columns} from ${table} where ${where}`, [B.account]);
    t.true((rowCount ?? 0) > 0, `${table} has a row of B to hide`);
    for (const actor of [entered(A), enteredAsPerson(A), entered(C, false)]) {
      const seen = await outcome(actor, `select 1 from ${table} where ${where}`, [B.account]);
      t.true(seen === 0 || seen === "42501", `${table} as ${actor.role}: ${seen}`);
    }
  }
});

test.serial("by plain SQL an agent and a person can change no row of another account", async (t) => {
  const { rows } = await client.query<{ name: string; column: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name, a.attname as column
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
     where n.nspname in ('market', 'internal', 'reading', 'search', 'api', 'jobs') and c.relkind in ('r', 'p') and (
       has_column_privilege('souk_agent', c.oid, a.attnum, 'update') or has_column_privilege('souk_person', c.oid, a.attnum, 'update'))
     order by 1, 2`,
  );
  t.true(rows.length >= 5);
  for (const { name, column } of rows) {
    const owner = OWNER[name];
    if (owner === undefined) {
      t.fail(`${name}.${column} can be changed, and nobody said whose it is`);
      continue;
    }
    for (const actor of [entered(A), enteredAsPerson(A)]) {
      const touched = await outcome(actor, `update ${name} set ${column} = ${column} where ${owner} = $1`, [B.account]);
      t.true(touched === 0 || touched === "42501", `${name}.${column} as ${actor.role}: ${touched}`);
    }
  }
});

test.serial("by plain SQL the only rows that any role can delete are the sessions of a person's account", async (t) => {
  for (const table of [
    ...PUBLIC,
    ...Object.keys(OWNER),
    "market.rate_limit_hit",
    "market.idempotency_key",
    "market.sign_in",
  ]) {
    for (const actor of [entered(A), enteredAsPerson(A), { role: "souk_api" }, { role: "souk_worker" }]) {
      if (table === "market.session" && actor.role === "souk_person") continue;
      t.is(await outcome(actor, `delete from ${table}`), "42501", `${table} as ${actor.role}`);
    }
  }
});

const INSERTS: Record<string, string> = {
  ask: "insert into market.ask (account_id, agent_id, text) values ($1, $2, 'x')",
  preview: "insert into market.submission (kind, account_id, agent_id, text) values ('preview_offer', $1, $2, 'x')",
  submission: "insert into market.submission (kind, account_id, agent_id, text) values ('publish_offer', $1, $2, 'x')",
  report: `insert into market.report (offer_id, account_id, agent_id, reason)
    select id, $1, $2, 'other' from market.offer where status = 'published' limit 1`,
  verification: `insert into market.verification (account_id, agent_id, method, secret_hash)
    values ($1, $2, 'apple', sha256('x'))`,
};

test.serial("by plain SQL an agent can insert rows only in its own name", async (t) => {
  for (const [what, insert] of Object.entries(INSERTS)) {
    t.is(await outcome(entered(A), insert, [A.account, A.agent]), 1, `${what} in its own name`);
    t.is(await outcome(entered(A), insert, [B.account, B.agent]), "42501", `${what} as B`);
    t.is(await outcome(entered(A), insert, [B.account, A.agent]), "42501", `${what} for the account of B`);
    t.is(await outcome(entered(A), insert, [A.account, B.agent]), "42501", `${what} by the agent of B`);
    t.is(await outcome(enteredAsPerson(A), insert, [A.account, A.agent]), "42501", `${what} by a person as an agent`);
    t.is(
      await outcome(enteredAsPerson(A), insert, [B.account, null]),
      "42501",
      `${what} by a person for the account of B`,
    );
    t.is(await outcome(entered(A), insert, [A.account, null]), "42501", `${what} by an agent as its person`);
    const own = await outcome(enteredAsPerson(A), insert, [A.account, null]);
    t.is(own, what === "verification" ? "42501" : 1, `${what} by a person`);
  }
});

test.serial("by plain SQL a person can end the sessions of their account, and no others", async (t) => {
  const sessions = await market.sql("select account_id from market.session where account_id in ($1, $2)", [
    A.account,
    B.account,
  ]);
  t.is(sessions.length, 2);
  t.is(await outcome(enteredAsPerson(A), "delete from market.session"), 1);
  t.is(await outcome(enteredAsPerson(A), "delete from market.session where account_id = $1", [B.account]), 0);
});

test.serial("agents cannot read e-mail addresses; agents and persons cannot read hashes of secrets", async (t) => {
  t.is(await outcome(entered(B), "select email from market.proved_method"), "42501");
  t.is(await outcome(enteredAsPerson(B), "select email from market.proved_method"), 1);
  for (const column of ["proved_method.subject_hash", "session.secret_hash"]) {
    const [table, name] = column.split(".");
    for (const actor of [entered(B), enteredAsPerson(B)])
      t.is(await outcome(actor, `select ${name} from market.${table}`), "42501", `${column} as ${actor.role}`);
  }
});

test.serial(
  "by plain SQL an agent can insert a completed verification only for a method that its account proved",
  async (t) => {
    const insert = `insert into market.verification (account_id, agent_id, method, secret_hash, status)
    values ($1, $2, $3, sha256('completed'), 'completed')`;
    t.is(await outcome(entered(B), insert, [B.account, B.agent, "google"]), 1);
    t.is(await outcome(entered(B), insert, [B.account, B.agent, "apple"]), "42501");
    t.is(await outcome(entered(A), insert, [A.account, A.agent, "google"]), "42501");
  },
);

test.serial("an unapproved agent can preview, report and start a verification, but write nothing else", async (t) => {
  const allowed: string[] = [];
  for (const [what, insert] of Object.entries(INSERTS)) {
    if ((await outcome(entered(C, false), insert, [C.account, C.agent])) === 1) allowed.push(what);
  }
  t.deepEqual(allowed, ["preview", "report", "verification"]);
  t.is(await outcome(entered(B, false), "update market.offer set status = 'archived' where id = $1", [offers.B]), 0);
  t.is(await outcome(entered(B, false), "update market.ask set status = 'archived' where id = $1", [asks.B]), 0);
});

test.serial("by plain SQL an agent cannot submit a change of another account's offer or ask", async (t) => {
  const submission = `insert into market.submission (kind, account_id, agent_id, target_id, origin_ask_id, text)
    values ($3, $1, $2, $4, $5, 'x')`;
  const submit = (kind: string, target: string | null, origin: string | null = null) =>
    outcome(entered(A), submission, [A.account, A.agent, kind, target, origin]);
  t.is(await submit("update_offer", offers.A), 1);
  t.is(await submit("update_ask", asks.A), 1);
  t.is(await submit("publish_offer", null, asks.A), 1);
  for (const offer of [offers.B, offers.archivedOfB, null]) t.is(await submit("update_offer", offer), "42501");
  for (const ask of [asks.B, offers.A, null]) {
    t.is(await submit("update_ask", ask), "42501");
    t.is(await submit("create_ask", ask), "42501");
  }
  t.is(await submit("publish_offer", null, asks.B), "42501");
});

test.serial("a submission for another account's offer or ask changes nothing when it is completed", async (t) => {
  const insert = `insert into market.submission (kind, account_id, agent_id, target_id, text)
    values ($1, $2, $3, $4, 'Taken over') returning id`;
  const before = await market.sql("select o.*, a.* from market.offer o, market.ask a where o.id = $1 and a.id = $2", [
    offers.B,
    asks.B,
  ]);
  for (const [kind, target] of [
    ["update_offer", offers.B],
    ["update_ask", asks.B],
  ]) {
    const [{ id }] = await market.sql(insert, [kind, A.account, A.agent, target]);
    await market.work("complete_submission", id, { contacts: [], features: [], attributes: [] }).catch(() => {});
    await market.call(A, "withdraw_submission", { submission_id: id });
  }
  const after = await market.sql("select o.*, a.* from market.offer o, market.ask a where o.id = $1 and a.id = $2", [
    offers.B,
    asks.B,
  ]);
  t.deepEqual(after, before);
});

test.serial("by plain SQL an agent can change only the status of an offer, and only by allowed moves", async (t) => {
  const set = (assignment: string) =>
    outcome(entered(B), `update market.offer set ${assignment} where id = $1`, [offers.archivedOfB]);
  for (const column of [
    "reviewed = true",
    "title = 'x'",
    "published_at = now()",
    "account_id = null",
    "price_hundredths = 1",
  ]) {
    t.is(await set(column), "42501", column);
  }
  for (const status of ["removed", "rejected", "pending_review"]) {
    t.is(await set(`status = '${status}'`), "PT409", status);
  }
  t.is(await set("status = 'published'"), 1);
});

test.serial("neither an agent nor its person can restore a removed agent", async (t) => {
  await rolledBack(client, async () => {
    await client.query("update market.agent set removed_at = now() where id = $1", [B.agent]);
    for (const actor of [entered(B), enteredAsPerson(B)]) {
      t.is(await outcome(actor, "update market.agent set removed_at = null where id = $1", [B.agent]), "42501");
    }
  });
});

/** Runs statements as if a role had logged in. */
const loggedIn = async <T>(role: string, run: (session: pg.Client) => Promise<T>): Promise<T> => {
  const session = new pg.Client({ connectionString: market.url });
  await session.connect();
  try {
    await session.query(`set session authorization ${role}`);
    return await run(session);
  } finally {
    await session.end();
  }
};

test.serial("internal.enter_agent and enter_person overwrite claims that the client set before", async (t) => {
  await loggedIn("souk_api", async (session) => {
    for (const [name, value] of Object.entries({ ...entered(B).claims })) {
      await session.query("select set_config($1, $2, false)", [name, value]);
    }
    const seen = await session.query(
      `with actor as materialized (select internal.enter_agent($1) as entered)
       select current_setting('role') as role, current_setting('market.agent_id') as agent,
         current_setting('market.account_id') as account, current_setting('market.connected') as connected
       from actor where entered`,
      [C.token],
    );
    t.deepEqual(seen.rows, [{ role: "souk_agent", agent: C.agent, account: C.account, connected: "false" }]);
    const person = await session.query(
      `with actor as materialized (select internal.enter_person($1) as entered)
       select current_setting('role') as role, current_setting('market.agent_id') as agent,
         current_setting('market.account_id') as account from actor where entered`,
      [A.session],
    );
    t.deepEqual(person.rows, [{ role: "souk_person", agent: "", account: A.account }]);
  });
});

test.serial("the role and the claims of a request end with its statement", async (t) => {
  await loggedIn("souk_api", async (session) => {
    await session.query(
      "with actor as materialized (select internal.enter_agent($1) as entered) select api.get_ask($2) from actor where entered",
      [A.token, asks.A],
    );
    const { rows } = await session.query(
      `select current_user::text as role, nullif(current_setting('market.agent_id', true), '') as agent,
         nullif(current_setting('market.account_id', true), '') as account, nullif(current_setting('market.connected', true), '') as connected`,
    );
    t.deepEqual(rows, [{ role: "souk_api", agent: null, account: null, connected: null }]);
  });
});

/** Functions that the API calls as its login role, without a caller's role and claims. */
const UNENTERED = [
  "accept_moderator_link",
  "approve_connection",
  "cancel_verification",
  "check_client",
  "connect_agent",
  "continue_verification",
  "count_client_document",
  "decline_connection",
  "exchange_code",
  "finish_mail_sign_in",
  "finish_sign_in",
  "get_connection",
  "get_digest_link",
  "get_mail_link",
  "get_market_overview",
  "get_moderator_link",
  "get_offer_page",
  "get_sign_in",
  "get_taxonomy",
  "get_verification_page",
  "get_viewer",
  "get_vocabulary",
  "offer_methods",
  "refresh_token",
  "register_client",
  "revoke_token",
  "start_authorization",
  "start_sign_in",
  "stop_digest",
  "vocabulary_changed_at",
];

test.serial("without a caller's role the API's login role gets no data, even if it sets claims itself", async (t) => {
  const { rows } = await client.query<{ name: string; call: string }>(
    `select p.proname as name, format('select %s(%s)', p.oid::regproc, (
       select string_agg('null::' || format_type(a.type, null), ', ' order by a.n) from unnest(p.proargtypes) with ordinality as a (type, n))) as call
     from pg_proc p where p.pronamespace = 'api'::regnamespace and p.proname <> all ($1)
       and has_function_privilege('souk_api', p.oid, 'execute') order by 1`,
    [UNENTERED],
  );
  t.true(rows.length > 15);
  for (const claims of [{}, entered(B).claims ?? {}]) {
    await loggedIn("souk_api", async (session) => {
      for (const [name, value] of Object.entries(claims))
        await session.query("select set_config($1, $2, false)", [name, value]);
      for (const { name, call } of rows) {
        const answer = await session.query(call).then(
          ({ rows: [row] }) => JSON.stringify(Object.values(row)[0]),
          (error: pg.DatabaseError) => error.code,
        );
        // 42501: no privilege for what the function reads. {} and null: nothing was found, stored or withdrawn.
        t.true(["42501", "PT401", "PT403", "{}", "null"].includes(answer ?? ""), `${name}: ${answer}`);
      }
    });
  }
});

/**
 * The functions that run with the rights of their owner and that agents or persons may call. `gives` is the result of a
 * call without claims. A new function must be added here. Without claims, it must refuse the call or return no data of
 * any account.
 */
const AS_OWNER: Record<string, { call: string; gives: string }> = {
  "internal.accounts_being_hidden()": { call: "internal.accounts_being_hidden()", gives: "null" },
  "internal.admit(text,text,bytea,jsonb)": {
    call: "internal.admit('publish_offer', null, null, '[]')",
    gives: "PT401",
  },
  "search.answer_search(jsonb,jsonb,text,text,jsonb)": {
    call: `search.answer_search('{"query": "sofa"}', null, null, null, '[]')`,
    gives: "PT401",
  },
  "internal.renew_link(uuid,bytea)": {
    call: "internal.renew_link(internal.uuid_v7(), sha256(''))",
    gives: "null",
  },
  "internal.report_errors(text,text)": { call: "internal.report_errors('scam', null)", gives: "[]" },
  "internal.rate_limit(uuid,text)": {
    call: "internal.rate_limit(internal.account_id(), 'publish_offer')",
    gives: "60",
  },
  // These are granted to souk_person only, so an agent is refused.
  "internal.erase_account()": { call: "internal.erase_account()", gives: "42501" },
  "internal.delete_proved_method(text,boolean)": {
    call: "internal.delete_proved_method('google', true)",
    gives: "42501",
  },
  "internal.approve_again(uuid)": { call: "internal.approve_again(internal.uuid_v7())", gives: "42501" },
  "internal.lock_own_account()": { call: "internal.lock_own_account()", gives: "PT401" },
  "internal.lock_own_agent()": { call: "internal.lock_own_agent()", gives: "PT401" },
  "internal.bind_idempotency_key(text,uuid)": {
    call: "internal.bind_idempotency_key('key', internal.uuid_v7())",
    gives: "null",
  },
  "internal.note_activity()": { call: "internal.note_activity()", gives: "null" },
  "internal.count_query_embedding()": { call: "internal.count_query_embedding()", gives: "PT401" },
  "internal.delete_own_webhook(uuid)": { call: "internal.delete_own_webhook(internal.uuid_v7())", gives: "PT404" },
  "internal.queue_test(uuid)": { call: "internal.queue_test(internal.uuid_v7())", gives: "PT404" },
  "internal.own_usages(text)": { call: "internal.own_usages()", gives: "PT401" },
  "internal.own_connection_address(uuid)": {
    call: "internal.own_connection_address(internal.uuid_v7())",
    gives: "42501",
  },
  "internal.own_client(uuid)": { call: "internal.own_client(internal.uuid_v7())", gives: "42501" },
  "internal.own_decisions(uuid,integer)": { call: "internal.own_decisions(null, 10)", gives: "42501" },
  "internal.kept_after_deletion()": { call: "internal.kept_after_deletion()", gives: "42501" },
  "internal.own_record()": { call: "internal.own_record()", gives: "42501" },
  "internal.own_sessions()": { call: "internal.own_sessions()", gives: "42501" },
  "internal.build_publisher(market.account_stats)": { call: "internal.build_publisher(null)", gives: "null" },
};

test.serial("functions that run as their owner return no data to a call without claims", async (t) => {
  const { rows } = await client.query<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p
     where p.prosecdef and p.pronamespace in ('internal'::regnamespace, 'reading'::regnamespace, 'search'::regnamespace, 'api'::regnamespace)
       and (has_function_privilege('souk_agent', p.oid, 'execute') or has_function_privilege('souk_person', p.oid, 'execute'))
     order by 1`,
  );
  t.deepEqual(rows.map(({ name }) => name).sort(), Object.keys(AS_OWNER).sort());
  for (const [name, { call, gives }] of Object.entries(AS_OWNER)) {
    const given = await as(client, { role: "souk_agent" }, async () => {
      const { rows } = await client.query(`select ${call} as answer`);
      // A void function returns an empty text in PL/pgSQL, and null in SQL.
      return rows[0].answer === "" ? "null" : JSON.stringify(rows[0].answer);
    }).catch((error: pg.DatabaseError) => error.code);
    t.is(given, gives, name);
  }
});

test.serial("the worker can use the market only through functions in jobs", async (t) => {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname in ('market', 'internal', 'reading', 'search', 'api', 'jobs') and c.relkind in ('r', 'p', 'v')`,
  );
  await loggedIn("souk_worker", async (session) => {
    for (const { name } of rows) {
      await t.throwsAsync(session.query(`select from ${name}`), { code: "42501" }, name);
    }
  });
});
