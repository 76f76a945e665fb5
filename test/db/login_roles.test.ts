import test from "ava";
import type pg from "pg";
import { withClient } from "../support/client.ts";
import { as } from "../support/database.ts";
import { A, asks, B, C, client, entered, market } from "./two_accounts.ts";

/**
 * What a login role may do beyond the requests that it serves, and what a function that runs as its owner tells a caller
 * without claims.
 */

/** Runs statements as if a role had logged in. */
const loggedIn = <T>(role: string, run: (session: pg.Client) => Promise<T>): Promise<T> =>
  withClient(market.url, async (session) => {
    await session.query(`set session authorization ${role}`);
    return run(session);
  });

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

/** What a call without claims may give: no privilege, a refusal, or that nothing was found, stored or withdrawn. */
const NOTHING = ["42501", "PT400", "PT401", "PT403", "PT404", "{}", "[]", "null"];

/** The calls of functions with null for each argument. */
const callsOf = async (functions: string): Promise<string[]> => {
  const { rows } = await client.query<{ call: string }>(
    `select format('select %s(%s)', p.oid::regproc, (
       select string_agg('null::' || format_type(a.type, null), ', ' order by a.n)
       from unnest(p.proargtypes) with ordinality as a (type, n))) as call
     from pg_proc p where ${functions} order by 1`,
  );
  return rows.map(({ call }) => call);
};

/** What a call returns, as JSON. */
const answerOf = async (session: pg.ClientBase, call: string): Promise<string | undefined> => {
  const { rows } = await session.query(call);
  // A void function returns an empty text in PL/pgSQL, and null in SQL.
  return JSON.stringify(Object.values(rows[0])[0] || null);
};
const codeOf = (error: pg.DatabaseError): string | undefined => error.code;

test.serial("no login can fill the disk with large objects", async (t) => {
  for (const role of ["souk_api", "souk_worker", "souk_dba", "souk_migrator"])
    await loggedIn(role, async (session) => {
      await session.query("set default_transaction_read_only = off");
      for (const call of ["lo_create(0)", "lo_creat(-1)", "lo_from_bytea(0, 'x')"])
        await t.throwsAsync(session.query(`select ${call}`), { code: "42501" }, `${role}: ${call}`);
    });
});

test.serial("without a caller's role the API's login role gets no data, even if it sets claims itself", async (t) => {
  // Those that run as their owner check a secret instead (RUN_AS_OWNER in test/schema.test.ts).
  const calls = await callsOf(
    `p.pronamespace in ('api'::regnamespace, 'admin'::regnamespace) and has_function_privilege('souk_api', p.oid, 'execute')
       and (not p.prosecdef or p.proname in ('cancel_sign_in', 'list_event_readers', 'withdraw_submission'))`,
  );
  t.true(calls.length > 15);
  for (const claims of [{}, entered(B).claims ?? {}]) {
    await loggedIn("souk_api", async (session) => {
      for (const [name, value] of Object.entries(claims))
        await session.query("select set_config($1, $2, false)", [name, value]);
      for (const call of calls) {
        const answer = await answerOf(session, call).catch(codeOf);
        t.true(NOTHING.includes(answer ?? ""), `${call}: ${answer}`);
      }
    });
  }
});

/** Calls that give something without claims: rules of the market, and no data of an account. */
const RULES = [
  // There is no such offer.
  "select internal.change_contact_visibility(null::market.offer, null::text): P0002",
  // Without an account no search is left.
  "select internal.enter_search(): PT429",
  "select internal.raise_problem(null::integer, null::text, null::text, null::jsonb, null::jsonb): 22004",
  "select internal.rate_limit(null::uuid, null::text): 21000",
  'select internal.report_errors(null::text, null::text): [{"detail":"report_reason_missing","pointer":"/reason"}]',
  'select internal.turns(): "shared"',
];

test.serial("functions that run as their owner return no data to a call without claims", async (t) => {
  const calls = await callsOf(
    `p.prosecdef and p.pronamespace::regnamespace::text in ('internal', 'reading', 'search', 'api')
       and (has_function_privilege('souk_agent', p.oid, 'execute') or has_function_privilege('souk_person', p.oid, 'execute'))`,
  );
  t.true(calls.length > 15);
  const given: string[] = [];
  for (const call of calls) {
    const answer = await as(client, { role: "souk_agent" }, () => answerOf(client, call)).catch(codeOf);
    if (!NOTHING.includes(answer ?? "")) given.push(`${call}: ${answer}`);
  }
  t.deepEqual(given, RULES);
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
