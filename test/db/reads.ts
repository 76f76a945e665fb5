import type pg from "pg";
import { withClient } from "../support/client.ts";

/** What statements read, for tests that a cost has a bound. PostgreSQL counts rows exactly, on a machine of any speed. */

/** @property scans sequential scans, which read all of the table */
type Reads = { rows: number; scans: number };

/**
 * Runs statements in a transaction that is rolled back, as an operator with the claims of an account.
 * @param table a table, or a partitioned table, whose rows are counted
 */
export const readsOf = (
  url: string,
  table: string,
  account: string,
  run: (client: pg.Client) => Promise<unknown>,
): Promise<Reads> =>
  withClient(url, async (client) => {
    await client.query("begin");
    await client.query(
      "select set_config('market.account_id', $1, true), set_config('market.connected', 'true', true)",
      [account],
    );
    await run(client);
    const { rows } = await client.query<Reads>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as rows, sum(seq_scan)::integer as scans
       from pg_stat_xact_user_tables
       where relid = $1::regclass or relid in (select relid from pg_partition_tree($1::regclass))`,
      [table],
    );
    await client.query("rollback");
    return rows[0] as Reads;
  });
