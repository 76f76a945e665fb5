import { z } from "zod";
import { OFFER_KINDS } from "../../database/enums.ts";

/** Small schemas that many requests and responses share. */

/** Refuses text that cannot be stored: PostgreSQL stores no NUL, and UTF-8 has no lone surrogates. */
export const text = () =>
  z.string().refine((value) => value.isWellFormed() && !value.includes("\0"), {
    message: "Contains a NUL character or half of a surrogate pair. Send it as well-formed Unicode.",
  });

/** Text of at most `most` code points. `what` is the first part of the error message. */
export const codePoints = (most: number, what: string) =>
  text()
    .refine((value) => value.length <= most || [...value].length <= most, {
      message: `${what} may have at most ${most.toLocaleString("en")} characters.`,
    })
    // JSON Schema counts code points too.
    .meta({ maxLength: most });

/** The id of a row. */
export const id = z.string().describe("UUIDv7.");
/** A moment. */
export const timestamp = z.iso.datetime().describe("RFC 3339, UTC.");
/** A month, as YYYY-MM. */
export const month = z.string().regex(/^\d{4}-\d{2}$/);
/** A duration in seconds. */
export const seconds = z.int().min(0);

/** What a client can do next. */
export const next = z
  .array(z.object({ summary: z.string(), method: z.string(), path: z.string() }))
  .describe("What to do next, best first.");

/** A domain of the taxonomy. */
export const domain = z.string().nullable().describe("Domain of the taxonomy; null when the text is not clear.");
/** A category of a domain; null when the text is not clear. */
export const category = z.string().nullable();
/** What an offer is; null when the text is not clear. */
export const offerKind = z.enum(OFFER_KINDS).nullable();

/** Whether a list continues, and the cursor of the next page. */
export const page = z.object({ next_cursor: z.string().nullable(), has_more: z.boolean() });
/** The number of entries on a page. */
export const pageSize = z.coerce.number().int().min(1).max(50).default(10);
/** The cursor at which a page begins. */
export const cursor = text().max(1000).describe("next_cursor of the page before.");

/** The parameters of a path with one id. */
export const idPath = (name: string) => z.object({ [name]: z.string().describe("UUID.") });
