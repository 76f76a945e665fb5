import test from "ava";
import { column, openMarket } from "./market.ts";
import { market } from "./one_market.ts";

/** What the audit log contains: each audited table, values of reviewed columns only, no word of a person and no secret. */

/** Columns whose values may be in the log: ids, times, states and values of fixed lists. Review each new one. */
const MAY_STAND = {
  account: ["claimed_at", "recovered_at", "suspended_at", "suspension_reason"],
  agent: ["account_id", "connected_at", "disconnected_at", "removed_at"],
  appeal: ["account_id", "agent_id", "decided_at", "offer_id", "removed_at"],
  ask: [
    "account_id",
    "agent_id",
    "ask_kind",
    "category",
    "domain",
    "language",
    "price_currency",
    "price_max_thousandths",
    "status",
    "watch_enabled",
  ],
  cap_override: ["action", "cap"],
  confirmation: ["account_id", "agreement_id", "status"],
  decision: ["account_id", "action", "agent_id", "moderator_id", "offer_id", "reason"],
  moderator: ["account_id", "appointed_by"],
  offer: [
    "account_id",
    "agent_id",
    "category",
    "domain",
    "language",
    "offer_kind",
    "origin_ask_id",
    "price_currency",
    "price_period",
    "price_thousandths",
    "price_unit",
    "published_at",
    "removed_at",
    "review_reason",
    "reviewed",
    "status",
    "suspended_at",
  ],
  offer_change: [
    "account_id",
    "agent_id",
    "category",
    "domain",
    "language",
    "offer_kind",
    "price_currency",
    "price_period",
    "price_thousandths",
    "price_unit",
    "rejected_at",
    "review_reason",
  ],
  power: ["agent_id", "allowed", "ceiling_currency", "ceiling_thousandths", "daily_ceiling_thousandths", "power"],
  profile: [],
  proved_method: ["method", "proved_at"],
  report: ["account_id", "agent_id", "completed_at", "offer_id", "reason"],
  review_case: ["held_by", "held_until"],
  setting: ["value"],
  webhook: ["account_id", "agent_id", "disabled_at", "disabled_reason"],
};

test("the log contains values of the listed columns only", async (t) => {
  const triggers = await market.sql`select c.relname as name, tg.tgargs as columns
    from pg_trigger tg join pg_class c on c.oid = tg.tgrelid
    where tg.tgfoid = 'internal.audit'::regproc and not tg.tgisinternal order by 1`;
  const named: Record<string, Set<string>> = {};
  for (const { name, columns } of triggers) {
    named[name] ??= new Set();
    // The first argument is the action.
    for (const column of columns.toString().split("\0").slice(1)) if (column !== "") named[name].add(column);
  }
  t.deepEqual(Object.fromEntries(Object.entries(named).map(([name, set]) => [name, [...set].toSorted()])), MAY_STAND);
  // Each name is a column of its table. A renamed column would silently disappear from the log.
  for (const [name, columns] of Object.entries(named)) {
    const found = await market.sql`select attname from pg_attribute where attrelid = ('market.' || ${name})::regclass
      and attname = any (${[...columns]}) and not attisdropped`;
    t.is(found.length, columns.size, name);
  }
});

test("truncating any audited table is logged", async (t) => {
  const own = await openMarket(t);
  const audited = await own.sql`select distinct c.relname as name from pg_trigger tg
    join pg_class c on c.oid = tg.tgrelid
    where tg.tgfoid = 'internal.audit'::regproc order by 1`;
  t.deepEqual(column(audited, "name"), Object.keys(MAY_STAND));
  for (const { name } of audited) {
    const start = (await own.sql("select clock_timestamp()::text as at"))[0].at;
    await own.sql(`truncate market.${name} cascade`);
    const log = await own.sql`select actor_type, sql_role, action, row_id, subject_account_id, before, after
      from market.audit_event
      where at > ${start}::timestamptz and table_name = ${name}`;
    t.deepEqual(
      log,
      [
        {
          actor_type: "dba",
          sql_role: new URL(own.url).username,
          action: `${name}.truncated`,
          row_id: "all",
          subject_account_id: null,
          before: null,
          after: null,
        },
      ],
      name,
    );
  }
});

test("the log contains no word of a person and no secret", async (t) => {
  const caller = await market.approved("Zanzibar helper");
  const offer = await market.offer(caller, {
    title: "Zanzibar sofa",
    place: "Zanzibar",
    contact: "zanzibar@example.com",
  });
  await market.change(caller, offer, { title: "Zanzibar chair", contact: "zanzibar@example.com" });
  await market.ask(caller, { title: "Wanted: Zanzibar", place: "Zanzibar" });
  const other = await market.offer(await market.approved());
  await market.call(caller, "report_offer", { id: other, reason: "spam", comment: "Zanzibar" });
  await market.callAsPerson(caller, "update_profile", {
    display_name: "Zanzibar",
    contact_email: "zanzibar@example.com",
    contact_phone: "+49301111111",
  });
  await market.sql`insert into market.proved_method (account_id, method, subject_hash, email)
    values (${caller.account}, 'email', sha256('zanzibar'), 'zanzibar@example.com')`;
  const hash = await market.value`select sha256('zanzibar') as hash`;
  const log = JSON.stringify(
    await market.sql`select e::text as event from market.audit_event e where subject_account_id = ${caller.account}`,
  ).toLowerCase();
  t.true(log.length > 1000);
  const secrets = [caller.token, caller.link, caller.session, hash].map((secret: Buffer) => secret.toString("hex"));
  for (const word of ["zanzibar", "49301111111", ...secrets]) t.false(log.includes(word), word);
});
