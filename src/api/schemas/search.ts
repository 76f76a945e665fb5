import { z } from "zod";
import { searchResult } from "./offers.ts";
import {
  category,
  codePoints,
  cursor,
  degrees,
  domain,
  int32,
  name,
  next,
  notices,
  page,
  priceRange,
  text,
  words,
} from "./values.ts";

/** The request and the response of a search. */

const oneOrMore = z
  .union(
    [
      text().max(60).describe("One name of the taxonomy."),
      z.array(text().max(60)).min(1).max(50).describe("Names of the taxonomy."),
    ],
    "Send one name, or a list of 1 to 50 names.",
  )
  .meta({
    id: "NameOrNames",
    description: "One name of the taxonomy, or several of which one has to fit.",
    examples: ["furniture"],
  });

const near = z
  .strictObject({
    place: text().min(1).max(200).optional().describe("A town or a district, such as Berlin, or Paris, Texas."),
    ...z.object(degrees).partial().shape,
    radius_km: z.number().min(1).max(500).optional().describe("How far away an offer may be. Default 25."),
  })
  .refine(
    ({ place, lat, lon }) =>
      (place === undefined) === (lat !== undefined) && (lat === undefined) === (lon === undefined),
    "Send a place, or lat and lon.",
  )
  .meta({
    id: "Near",
    description: "A circle around a town, or around a position. An offer passes if the point of its place lies within.",
    examples: [{ place: "Berlin", radius_km: 20 }],
  });

/** What a search can count. */
const FACETS = ["category", "offer_kind", "price", "condition", "location"] as const;

const facet = z
  .array(
    z
      .object({
        value: words(200, "The value; a price is a range such as 100-200 EUR."),
        count: int32(0, 2_147_483_647, "How many offers have it."),
        approximate: z
          .literal(true)
          .optional()
          .describe("Counted on a sample, because more than 10,000 offers match, or may match."),
      })
      .meta({ id: "FacetValue", description: "How many offers have a value." }),
  )
  .max(20)
  .optional();

/** The body of POST /v1/offers/search. */
export const search = z
  .object({
    query: codePoints(500, "A query").optional().describe("What to look for, in plain language."),
    filters: z
      .strictObject({
        domain: oneOrMore.optional().describe("Domains."),
        category: oneOrMore.optional().describe("Categories."),
        offer_kind: oneOrMore.optional().describe("Kinds of offer."),
        price: z.strictObject(priceRange.shape).optional().describe("What it may cost."),
        location: text().min(1).max(200).optional().describe("A place as people write it."),
        near: near.optional(),
        posted_since: z.iso
          .date("A day is written YYYY-MM-DD.")
          // PostgreSQL has no year 0.
          .refine((day) => day >= "0001-01-01", "A day is written YYYY-MM-DD.")
          .optional()
          .meta({ maxLength: 10, description: "Only offers published on this day or later." }),
        reviewed: z.boolean().optional().describe("Whether a moderator has looked at it."),
        verified_publisher: z.boolean().optional().describe("Whether the publisher has proved a sign-in method."),
        has_images: z.boolean().optional().describe("Whether it has images."),
        exclude_own: z.boolean().optional().describe("Leave out the account's own offers."),
      })
      .optional()
      .describe("Hard: what does not pass is not shown."),
    sort: z
      .enum(["relevance", "newest", "price_asc", "price_desc", "distance"])
      .optional()
      .describe("The order. Default relevance. distance: closest first, with filters.near."),
    facets: z
      .array(z.enum(FACETS))
      .min(1)
      .max(FACETS.length)
      .optional()
      .describe("Count the values of these, over all offers that pass the filters and match the words."),
    limit: int32(1, 50, "Default 10.").optional(),
    cursor: cursor.optional(),
    detail: z
      .enum(["full", "compact"])
      .optional()
      .describe("compact: without metadata, and only the beginning of each text. Default full."),
  })
  .meta({ id: "SearchRequest", description: "What to look for: a query, a filter, or both." });

/** The response of POST /v1/offers/search. */
export const searchResponse = z
  .object({
    type: z.literal("results").describe("Always results."),
    query: words(500, "The query as it was sent."),
    classification: z
      .object({ domain, category, kind: name("The kind of offer.").nullable().describe("The kind of offer.") })
      .nullable()
      .describe("What the query is about, if that is clear."),
    results: z.array(searchResult).max(50).describe("The offers, best first."),
    page,
    facets: z
      .object({
        category: facet.describe("By category."),
        offer_kind: facet.describe("By kind of offer."),
        price: facet.describe("By price range, currency and period."),
        condition: facet.describe("By condition."),
        location: facet.describe("By town; by region or country where the text names no town."),
      })
      .optional()
      .describe("The most frequent values, at most 20 each, if the request asked for facets."),
    notices: notices.describe(
      "What to know about this search: how it was understood, and whether results address agents.",
    ),
    next,
  })
  .meta({ id: "SearchResponse", description: "A page of offers." });
