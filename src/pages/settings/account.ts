import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { rootOf } from "../../base/address.ts";
import { problem } from "../../base/problem.ts";
import type { Actor, Database } from "../../database/database.ts";
import type { PagesContext } from "../context.ts";
import { type Page, readAnswer, STALE_FORM, seeOther } from "../frame.ts";
import { sendPage } from "../render.ts";
import { clearSession, personOf } from "../session.ts";
import { decidedOf, effectsOf } from "./kept.ts";
import { sectionPage } from "./section.ts";

/**
 * The settings of the account as a whole: signing out, exporting its data, and deleting it. The last two take several
 * calls, because one statement may not have time for all offers.
 */

const PATH = "/settings/account";
const EXPORT = "/settings/export";
const DELETION = `${PATH}/delete`;
const DELETED = `${PATH}/deleted`;

/** An account's lists in the order of the document. api.export_account returns each list in pieces. */
const LISTS = [
  "agents",
  "offers",
  "asks",
  "conversations",
  "messages",
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
const deleteAccount = async (database: Database, actor: Actor, recordKey: Buffer | null): Promise<void> => {
  for (;;) {
    const { done } = JSON.parse(await database.call(actor, "delete_account", { record_key: recordKey })) as {
      done: boolean;
    };
    if (done) return;
  }
};

const overviewPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: PATH,
    operation: "accountPage",
    template: "settings_account",
    show: async ({ account, token }) => ({
      sessions: (await account).sessions,
      exportToken: token(EXPORT),
      signOutToken: token("/sign-out"),
      everywhereToken: token("/sign-out/everywhere"),
    }),
  });

/** Sends the account's data as a file. It needs a POST although it changes nothing, because browsers prefetch links. */
const exportPage = ({ database, baseUrl }: PagesContext): Page => ({
  path: EXPORT,
  operation: "exportAccount",
  needsSignIn: true,
  get: (_request, response) => seeOther(response, rootOf(baseUrl()) + PATH),
  post: async (request, response) => {
    const { stale } = await readAnswer(request, response, baseUrl());
    if (stale) throw STALE_FORM;
    const person = personOf(request, baseUrl());
    const file = exportAccount(database, person);
    // A refusal comes with the first piece, before the response has started.
    const beginning = await file.next();
    response.set("Content-Disposition", 'attachment; filename="souk-export.json"').type("json");
    response.write(beginning.value);
    const rest = async function* (): AsyncGenerator<string> {
      try {
        yield* file;
      } catch (thrown) {
        response.locals["thrown"] = thrown;
        throw thrown;
      }
    };
    // From here a failure can only abort the download, which the browser shows. The person may also abort it.
    await pipeline(Readable.from(rest()), response).catch(() => {});
  },
});

const deletionPage = (context: PagesContext): Page =>
  sectionPage(context, {
    path: DELETION,
    below: PATH,
    operation: "accountDeletionPage",
    template: "settings_deletion",
    show: async ({ account }) => {
      const { kept_after_deletion: kept } = await account;
      return { kept, decided: decidedOf(kept), effects: kept && effectsOf(kept) };
    },
    actions: {
      delete: async (fields, person, _request, response) => {
        if (fields.get("confirmed") !== "yes") {
          throw problem("bad_request", "Nothing is deleted yet. Tick the box first, to say that you are sure.");
        }
        await deleteAccount(context.database, person, context.signIn.recordKey);
        clearSession(response, context.baseUrl());
        return DELETED;
      },
    },
  });

/** This page is the same for everyone, because the account no longer exists. */
const deletedPage = ({ baseUrl }: PagesContext): Page => ({
  path: DELETED,
  operation: "accountDeletedPage",
  get: (_request, response) => sendPage(response, "deleted", baseUrl(), {}),
});

/** Makes the pages for signing out, exporting the account's data, and deleting the account. */
export const accountPages = (context: PagesContext): Page[] => [
  overviewPage(context),
  exportPage(context),
  deletionPage(context),
  deletedPage(context),
];
