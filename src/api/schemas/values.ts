import { z } from "zod";
import { OFFER_KINDS, PRICE_PERIODS } from "../../base/enums.ts";
import { isId } from "../../base/ids.ts";
import { hasEndlessMarks } from "../../base/visible_text.ts";
import { currencyNamed } from "../../reader/propose/currencies.ts";

/** Small schemas that many requests and responses share. */

/** Refuses text that cannot be stored: PostgreSQL stores no NUL, and UTF-8 has no lone surrogates. */
export const text = () =>
  z.string().refine((value) => value.isWellFormed() && !value.includes("\0"), {
    message: "Contains a NUL character or half of a surrogate pair. Send it as well-formed Unicode.",
  });

/** Text of at most `max` code points. `what` is the first part of the error message. */
export const codePoints = (max: number, what: string) =>
  text()
    .refine((value) => value.length <= max || [...value].length <= max, {
      message: `${what} may have at most ${max.toLocaleString("en")} characters.`,
    })
    // A text with more than two units for each code point is too long in any case.
    .refine((value) => value.length > 2 * max || !hasEndlessMarks(value), {
      message: `${what} may have at most 30 combining marks in a row.`,
    })
    // JSON Schema counts code points too.
    .meta({ maxLength: max });

/**
 * A string of a response, of at most `max` code points. The limit is only described: the service does not check its own
 * strings.
 */
export const words = (max: number, description: string) => z.string().meta({ maxLength: max, description });

/** A sentence to show or to read aloud. The longest one names a suspended account and the reason, or a whole list. */
export const sentence = (description: string) => words(2000, description);

/** The largest integer of PostgreSQL's type integer, in which the database counts. */
const MAX_INTEGER = 2_147_483_647;

/** A number of things. */
export const count = z
  .int()
  .min(0)
  .max(MAX_INTEGER)
  .meta({ id: "Count", format: "int32", description: "A number of things.", examples: [3] });
/** A row's id. */
export const id = z.string().meta({
  id: "Id",
  format: "uuid",
  maxLength: 36,
  description: "A UUIDv7.",
  examples: ["01979e5c-6a4e-7c21-9a51-3f0b6f3f7a10"],
});
/** A moment. */
export const timestamp = z.iso.datetime().meta({
  id: "Timestamp",
  maxLength: 24,
  description: "A moment in UTC (RFC 3339).",
  examples: ["2026-06-01T09:30:00.000Z"],
});
/** A month, as YYYY-MM. */
export const month = z
  .string()
  .regex(/^\d{4}-\d{2}$/)
  .meta({ id: "Month", maxLength: 7, description: "A month in UTC.", examples: ["2026-05"] });
/** The longest wait that the service ever asks for, in seconds: a day, after several people refused an agent. */
const DAY = 86_400;
/** A duration in seconds. */
export const seconds = z
  .int()
  .min(0)
  .max(DAY)
  .meta({ id: "Seconds", format: "int32", description: "A duration in seconds.", examples: [1800] });
/** An address. No part of the service makes or accepts a longer one. */
export const url = z
  .url()
  .meta({ id: "Url", maxLength: 2048, description: "An address.", examples: ["https://souk.example.com/"] });
/** An amount of money. */
export const amount = z
  .number()
  .min(0)
  .max(1e12)
  .meta({ id: "Amount", description: "An amount in the major unit of its currency: 180 is 180 EUR.", examples: [180] });
/** A currency. */
export const currency = z
  .string()
  .overwrite((name) => currencyNamed(name) ?? name)
  .regex(
    /^[A-Z]{3}$/,
    "A currency is an ISO 4217 code such as EUR, or a sign of one currency alone: $ is that of several.",
  )
  .meta({ id: "Currency", maxLength: 3, description: "A currency (ISO 4217).", examples: ["EUR"] });
/** A name that programs use: in lower case, with underscores. */
export const name = (description: string) =>
  z
    .string()
    .regex(/^[a-z_]{1,40}$/)
    .meta({ maxLength: 40, description });

/** A position in degrees. */
export const degrees = {
  lat: z.number().min(-90).max(90).describe("Degrees north."),
  lon: z.number().min(-180).max(180).describe("Degrees east."),
};
/** A small whole number of a response. */
export const int32 = (min: number, max: number, description: string) =>
  z.int().min(min).max(max).meta({ format: "int32", description });
/** A range of prices, as searches and asks state it. */
export const priceRange = z.object({
  min: amount.optional().describe("The least."),
  max: amount.optional().describe("The most."),
  currency: currency.optional(),
  period: z.enum(PRICE_PERIODS).optional().describe("What the price is for."),
});
/** Each of some values at most once. */
export const someOf = <const Values extends readonly [string, ...string[]]>(values: Values, description: string) =>
  z.array(z.enum(values)).max(values.length).describe(description);

/** What a client should know about an answer. */
export const notices = z
  .array(z.object({ code: name("Stable: branch on this."), summary: sentence("What to know.") }))
  .max(10);

/** What the caller may do next. */
export const next = z
  .array(
    z
      .object({
        summary: sentence("What it does, and when to do it."),
        method: z.enum(["GET", "POST", "PATCH", "DELETE"]).describe("The HTTP method."),
        path: words(200, "The path, below the address of the service."),
      })
      .meta({
        id: "NextStep",
        description: "Something to do next.",
        examples: [{ summary: "Read your situation.", method: "GET", path: "/v1/me" }],
      }),
  )
  .max(10)
  .describe("What to do next, best first.");

/** A domain of the taxonomy. */
export const domain = name("")
  .nullable()
  .meta({
    id: "Domain",
    description: "A domain of the taxonomy; null if the text is not clear.",
    examples: ["home_garden"],
  });
/** A category of a domain; null when the text is not clear. */
export const category = name("")
  .nullable()
  .meta({
    id: "Category",
    description: "A category of the domain; null if the text is not clear.",
    examples: ["furniture"],
  });
/** What an offer is; null when the text is not clear. */
export const offerKind = z
  .enum(OFFER_KINDS)
  .nullable()
  .meta({
    id: "OfferKind",
    description: "What kind of offer it is; null if the text is not clear.",
    examples: ["sale"],
  });

/** Says that a text is meant as what it is sent as. */
export const kindConfirmed = z.boolean().optional().describe("Meant as sent, whatever it reads as.");

/** The longest cursor that a request may send, and longer than any that the database makes. */
const CURSOR = 1000;
/** Whether a list continues, and the cursor of the next page. */
export const page = z
  .object({
    next_cursor: z
      .string()
      .nullable()
      .meta({ maxLength: CURSOR, description: "Send it as `cursor` for the next page; null on the last one." }),
    has_more: z.boolean().describe("Whether there is another page."),
  })
  .meta({ id: "Page", description: "Whether the list continues.", examples: [{ next_cursor: null, has_more: false }] });
/** The number of entries on a page. */
export const pageSize = z.coerce
  .number()
  .int()
  .min(1)
  .max(50)
  .default(10)
  .meta({ format: "int32", description: "Entries on a page." });
/** How long a call waits, in seconds. */
export const waitSeconds = z.coerce.number().int().min(0).max(25).default(0).meta({ format: "int32" });
/** The cursor at which a page begins. */
export const cursor = text().max(CURSOR).describe("next_cursor of the page before.");

/** An id that a request names. */
export const someId = (description: string) =>
  text().refine(isId, "An id is a UUID, as answers have it.").meta({ format: "uuid", maxLength: 36, description });

/** The parameters of a path with {id}. Anything but a UUID names nothing, so the answer is 404. */
export const idPath = z.object({
  id: z.string().meta({
    format: "uuid",
    maxLength: 36,
    description: "A UUID.",
    examples: ["01979e5c-6a4e-7c21-9a51-3f0b6f3f7a10"],
  }),
});
