import test from "ava";
import pg from "pg";
import { as } from "../support/database.ts";
import { entered, openTwoAccounts, type TwoAccounts } from "./two_accounts.ts";

/**
 * What a login role may do beyond the requests that it serves, and what a function that runs as its owner tells a caller
 * without claims.
 */

let accounts: TwoAccounts;
let market: TwoAccounts["market"];
let client: TwoAccounts["client"];
let A: TwoAccounts["A"];
let B: TwoAccounts["B"];
let C: TwoAccounts["C"];
let asks: TwoAccounts["asks"];

test.before(async () => {
  accounts = await openTwoAccounts();
  ({ market, client, A, B, C, asks } = accounts);
});

test.after.always(() => accounts?.close());

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
     from pg_proc p where p.pronamespace in ('api'::regnamespace, 'admin'::regnamespace) and p.proname <> all ($1)
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
