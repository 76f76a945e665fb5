import type { PgCondition } from "postgraphile/@dataplan/pg";
import { addPgTableCondition } from "postgraphile/utils";

/**
 * The log between two moments: `since` and `until` of its condition. Ids sort by when they were made, and so the list that
 * is ordered by id goes by one index; `at` leaves out whole months, and is what counts at both ends.
 */

const between = (field: "since" | "until", description: string): GraphileConfig.Plugin =>
  addPgTableCondition({ schemaName: "admin", tableName: "audit_event" }, field, ({ sql, getInputTypeByName }) => ({
    description,
    type: getInputTypeByName("Datetime"),
    apply(condition: PgCondition, moment: unknown) {
      // The scalar gives text, and null where the field is null.
      if (typeof moment !== "string") return;
      const value = sql`${sql.value(moment)}::timestamptz`;
      const { alias } = condition;
      // Of one row, `id` and `at` are made one after the other.
      condition.where(
        field === "since"
          ? sql`${alias}.at >= ${value} and ${alias}.id >= internal.first_uuid_v7(${value} - interval '1 second')`
          : sql`${alias}.at < ${value} and ${alias}.id < internal.first_uuid_v7(${value} + interval '1 second')`,
      );
    },
  }));

/** Arguments that bound the log in time. */
export const LOG_DAYS: GraphileConfig.Plugin[] = [
  between("since", "Only what was done at this moment or later."),
  between("until", "Only what was done before this moment."),
];
