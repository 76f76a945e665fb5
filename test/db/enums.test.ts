import test from "ava";
import {
  ACTOR_TYPES,
  ASK_KINDS,
  ASK_STATUSES,
  CONDITIONS,
  CONTACT_TYPES,
  EVENT_TYPES,
  LIMITED_ACTIONS,
  NUMBER_TYPES,
  OFFER_KINDS,
  OFFER_STATUSES,
  PRICE_PERIODS,
  PRICE_UNITS,
  REPORT_REASONS,
  SIGN_IN_METHODS,
  VERIFICATION_STATUSES,
} from "../../src/base/enums.ts";
import { market } from "./one_market.ts";

/**
 * Compares each enum of src/base/enums.ts with the check constraint or table of the database that has its values.
 */

/** The strings in a check constraint. */
const allowedBy = async (constraint: string): Promise<string[]> => {
  const rows = await market.sql`select pg_get_constraintdef(oid) as definition from pg_constraint
    where conname = ${constraint} and coninhcount = 0`;
  return rows.flatMap(({ definition }) =>
    Array.from(String(definition).matchAll(/'([^']*)'/g), ([, value = ""]) => value),
  );
};

const CONSTRAINTS: Record<string, readonly string[]> = {
  offer_status_known: OFFER_STATUSES.filter((status) => status !== "draft"),
  concept_condition_known: CONDITIONS,
  offer_price_period_known: PRICE_PERIODS,
  ask_status_known: ASK_STATUSES.filter((status) => status !== "draft"),
  verification_status_known: VERIFICATION_STATUSES,
  verification_method_form: SIGN_IN_METHODS,
  sign_in_method_form: SIGN_IN_METHODS,
  proved_method_method_form: SIGN_IN_METHODS,
  sign_in_method_known: SIGN_IN_METHODS,
  audit_event_actor_type_known: ACTOR_TYPES,
  event_type_known: EVENT_TYPES,
  cap_override_action_known: LIMITED_ACTIONS,
};

for (const [constraint, values] of Object.entries(CONSTRAINTS)) {
  test(`${constraint} allows the values of the enum in TypeScript`, async (t) => {
    t.deepEqual((await allowedBy(constraint)).toSorted(), [...values].toSorted());
  });
}

const TABLES: Record<string, readonly string[]> = {
  "select unnest as value from unnest(reading.price_units())": PRICE_UNITS,
  "select offer_kind as value from market.offer_kind": OFFER_KINDS,
  "select ask_kind as value from market.ask_kind": ASK_KINDS,
  "select method as value from market.sign_in_method": SIGN_IN_METHODS,
  "select code as value from market.reason": REPORT_REASONS,
};

test("the database knows the form of each contact type, and of no other", async (t) => {
  const [row] = await market.sql`select array_agg(t.type) as known, array_agg(t.type) filter (where f.form = 'number')
    as numbers
    from unnest(${[...CONTACT_TYPES, "fax"]}::text[]) as t (type), internal.contact_form(t.type) as f (form)
      where f.form is not null`;
  t.deepEqual(row, { known: CONTACT_TYPES, numbers: NUMBER_TYPES });
});

for (const [query, values] of Object.entries(TABLES)) {
  test(`${query.split(" ").at(-1)} has the values of the enum in TypeScript`, async (t) => {
    const rows = await market.sql(query);
    t.deepEqual(rows.map(({ value }) => String(value)).toSorted(), [...values].toSorted());
  });
}
