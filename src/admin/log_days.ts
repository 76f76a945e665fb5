import type { PgCondition } from "postgraphile/@dataplan/pg";
import { addPgTableCondition } from "postgraphile/utils";

/**
 * The filters `since` and `until` of the audit log. The list is ordered by id. Ids are UUIDv7, which sort by the time
 * they were made, so a range of ids lets PostgreSQL use the index of that order. The condition on `at` lets PostgreSQL
 * skip whole partitions (months), and makes both ends of the period exact.
 */

const between = (field: "since" | "until", description: string): GraphileConfig.Plugin =>
  addPgTableCondition({ schemaName: "admin", tableName: "audit_event" }, field, ({ sql, getInputTypeByName }) => ({
    description,
    type: getInputTypeByName("Datetime"),
    apply(condition: PgCondition, moment: unknown) {
      // The value is a string, or null when the client sent null.
      if (typeof moment !== "string") return;
      const value = sql`${sql.value(moment)}::timestamptz`;
      const { alias } = condition;
      // The id of a row may be made slightly before or after its `at`, so the range of ids is wider by a second.
      condition.where(
        field === "since"
          ? sql`${alias}.at >= ${value} and ${alias}.id >= internal.first_uuid_v7(${value} - interval '1 second')`
          : sql`${alias}.at < ${value} and ${alias}.id < internal.first_uuid_v7(${value} + interval '1 second')`,
      );
    },
  }));

/** The plugins that add `since` and `until` to the condition of the audit log. */
export const LOG_DAYS: GraphileConfig.Plugin[] = [
  between("since", "Only what was done at this moment or later."),
  between("until", "Only what was done before this moment."),
];
