import type { GraphQLSchema } from "postgraphile/graphql";
import { openAdminSchema } from "../../src/admin/graphql.ts";
import { openPool } from "../../src/database/database.ts";
import type { Teardown } from "../support/database.ts";

/** The moderators' GraphQL schema of a database. */
export const adminSchema = async (t: Teardown, url: string): Promise<GraphQLSchema> => {
  const pool = openPool({ url, poolSize: 2, role: "souk_api", embedded: false, onError: () => {} }, url);
  t.teardown(() => pool.end());
  const { schema } = await openAdminSchema(
    pool,
    (_lane, work) => work(),
    () => {},
  );
  return schema;
};
