import test from "ava";
import pg from "pg";
import { type Actor, as, rolledBack } from "../support/database.ts";
import { column } from "./market.ts";
import { A, asks, B, C, client, entered, enteredAsPerson, market, offers } from "./two_accounts.ts";

/** Row-level security, tried with plain SQL in the roles of requests. */

/** The SQLSTATE of a statement's error, or the number of rows that it changed or returned. */
const outcome = async (actor: Actor, text: string, values: unknown[] = []): Promise<string | number> => {
  try {
    return await as(client, actor, async () => (await client.query(text, values)).rowCount ?? 0);
  } catch (error) {
    if (error instanceof pg.DatabaseError) return error.code ?? "";
    throw error;
  }
};

/** Tables that everyone may read, because they contain nothing secret. */
const PUBLIC = [
  "market.ask_kind",
  "market.category",
  "market.domain",
  "market.offer_kind",
  "market.account_stats",
  // Published offers.
  "search.document",
  // Vectors of other callers' queries. A vector can be found only by the hash of exactly the same words.
  "market.query_embedding",
  "market.permission",
  "market.setting",
  "market.sign_in_method",
];
const OF_CONVERSATION = "(select account_id from owned_conversation where owned_conversation.id = conversation_id)";
/** The column or expression that says which account owns a row, for each table that an agent may read. */
const OWNER: Record<string, string> = {
  "market.agreement": OF_CONVERSATION,
  "market.block": "account_id",
  "market.confirmation": "account_id",
  "market.conversation": "publisher_id",
  "market.message": OF_CONVERSATION,
  "market.power": "(select account_id from owned_agent where owned_agent.id = agent_id)",
  "market.proposal": OF_CONVERSATION,
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
    column(rows, "name"),
    [...PUBLIC, ...Object.keys(OWNER)].sort(),
    "every table that can be read is accounted for",
  );
  for (const [name, columns] of [
    ["ask", "id, account_id"],
    ["webhook", "id, account_id"],
    ["agent", "id, account_id"],
    ["conversation", "id, publisher_id as account_id"],
  ]) {
    await client.query(`create temporary table owned_${name} as select ${columns} from market.${name}`);
    await client.query(`grant select on owned_${name} to souk_agent, souk_person`);
  }
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

test.serial("an agent sees no row of an account that a person has claimed and not connected it to", async (t) => {
  const stranger = await market.connect("D");
  await market.sql`update market.agent set account_id = ${B.account} where id = ${stranger.agent}`;
  for (const [table, owner] of Object.entries(OWNER)) {
    const where = `${owner} = $1 ${{ "market.offer": "and status <> 'published'", "market.agent": "and id <> internal.agent_id()" }[table] ?? ""}`;
    const seen = await as(client, { role: "souk_api" }, async () => {
      await client.query("select internal.enter_agent($1)", [stranger.token]);
      return outcome({ role: "souk_agent" }, `select 1 from ${table} where ${where}`, [B.account]);
    });
    t.true(seen === 0 || seen === "42501", `${table}: ${seen}`);
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
  const sessions = await market.sql`select account_id from market.session
    where account_id in (${A.account}, ${B.account})`;
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

test.serial("by plain SQL an agent can insert a completed verification only for a proved method", async (t) => {
  const insert = `insert into market.verification (account_id, agent_id, method, secret_hash, status)
    values ($1, $2, $3, sha256('completed'), 'completed')`;
  t.is(await outcome(entered(B), insert, [B.account, B.agent, "google"]), 1);
  t.is(await outcome(entered(B), insert, [B.account, B.agent, "apple"]), "42501");
  t.is(await outcome(entered(A), insert, [A.account, A.agent, "google"]), "42501");
});

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
  const before = await market.sql`select o.*, a.* from market.offer o, market.ask a
    where o.id = ${offers.B} and a.id = ${asks.B}`;
  for (const [kind, target] of [
    ["update_offer", offers.B],
    ["update_ask", asks.B],
  ]) {
    const [{ id }] = await market.sql(insert, [kind, A.account, A.agent, target]);
    await market.work("complete_submission", id, [{ contacts: [], features: [], attributes: [] }]);
    await market.call(A, "withdraw_submission", { submission_id: id });
  }
  const after = await market.sql`select o.*, a.* from market.offer o, market.ask a
    where o.id = ${offers.B} and a.id = ${asks.B}`;
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
    "price_thousandths = 1",
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
