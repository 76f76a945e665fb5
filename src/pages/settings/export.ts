/** Everything about an account as one JSON document, made piece by piece so that nobody has to hold it whole. */

/** The parts that api.export_account gives a page at a time; the account itself comes first, and whole. */
const LISTS = ["agents", "offers", "asks", "reports", "verifications", "activity"] as const;

/** One piece of a part: an object for "account", else a list. */
type Piece = { items: unknown; next_cursor: string | null };

/** Reads a piece of a part, from its start when the cursor is null. */
type Read = (part: string, cursor: string | null) => Promise<Piece>;

/** The pieces of a list as the inside of a JSON array. */
async function* listText(read: Read, part: string): AsyncGenerator<string> {
  let cursor: string | null = null;
  let isFirst = true;
  do {
    const piece: Piece = await read(part, cursor);
    for (const item of Array.isArray(piece.items) ? piece.items : []) {
      yield `${isFirst ? "" : ","}\n    ${JSON.stringify(item)}`;
      isFirst = false;
    }
    cursor = piece.next_cursor;
  } while (cursor !== null);
}

/** The text of the document. What it yields first needs one call, so a refusal comes before anything was written. */
export async function* exportFile(read: Read): AsyncGenerator<string> {
  const { items } = await read("account", null);
  yield `{\n  "account": ${JSON.stringify(items)}`;
  for (const part of LISTS) {
    yield `,\n  "${part}": [`;
    yield* listText(read, part);
    yield "]";
  }
  yield "\n}\n";
}
