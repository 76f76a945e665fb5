import type { Actor, Database } from "../../database/database.ts";

/** What of an account may take more than one call, since it may have more offers than one statement has time for. */

/** The lists of an account, in the order in which the document has them; api.export_account gives each piece by piece. */
const LISTS = ["agents", "offers", "asks", "reports", "verifications", "activity"] as const;

type Piece = { items: unknown; next_cursor: string | null };

/**
 * Everything about an account as one JSON document, in pieces of which only one is held at a time: an account may have
 * more offers than fit into memory.
 * @param actor the person whose account it is
 * @throws what the database raised, before the first piece when the person may not have it
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
 * Deletes the account of a person for good. When it fails half way, calling again goes on.
 * @throws what the database raised: 401 with sign_in_again when the sign-in is not recent
 */
export const deleteAccount = async (database: Database, actor: Actor): Promise<void> => {
  for (;;) {
    const { done } = JSON.parse(await database.call(actor, "delete_account", {})) as { done: boolean };
    if (done) return;
  }
};
