import type { Actor, Database } from "../../database/database.ts";

/**
 * Export and deletion of an account. Both take several calls, because one statement may not have time for all offers.
 */

/** An account's lists in the order of the document. api.export_account returns each list in pieces. */
const LISTS = [
  "agents",
  "offers",
  "asks",
  "reports",
  "verifications",
  "decisions",
  "events",
  "webhooks",
  "activity",
] as const;

type Piece = { items: unknown; next_cursor: string | null };

/**
 * Yields all data of an account as pieces of one JSON document. Only one piece is in memory at a time, because an
 * account may have more offers than fit into memory.
 * @param actor the person of the account
 * @throws what the database raised; before the first piece when the person may not have the data
 */
export async function* exportAccount(database: Database, actor: Actor): AsyncGenerator<string> {
  const pieceOf = async (part: string, cursor: string | null): Promise<Piece> =>
    JSON.parse(await database.call(actor, "export_account", { part, cursor })) as Piece;

  const { items: account } = await pieceOf("account", null);
  yield `{"account":${JSON.stringify(account)}`;
  for (const list of LISTS) {
    yield `,"${list}":[`;
    let cursor: string | null = null;
    let separator = "";
    do {
      const piece: Piece = await pieceOf(list, cursor);
      const items = piece.items as unknown[];
      if (items.length > 0) yield separator + items.map((item) => JSON.stringify(item)).join(",");
      separator = ",";
      cursor = piece.next_cursor;
    } while (cursor !== null);
    yield "]";
  }
  yield "}";
}

/**
 * Deletes a person's account in steps. After a failure another call continues.
 * @param recordKey the operator's key for what is kept about the account
 * @throws what the database raised: 401 with sign_in_again when the sign-in is not recent
 */
export const deleteAccount = async (database: Database, actor: Actor, recordKey: Buffer | null): Promise<void> => {
  for (;;) {
    const { done } = JSON.parse(await database.call(actor, "delete_account", { record_key: recordKey })) as {
      done: boolean;
    };
    if (done) return;
  }
};
