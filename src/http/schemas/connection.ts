import { z } from "zod";
import { SIGN_IN_METHODS, VERIFICATION_STATUSES } from "../../database/enums.ts";
import { id, next, seconds, text, timestamp } from "./values.ts";

/** The schemas for connecting an agent, for its account and for verifications. */

/** The body of POST /v1/connect. */
export const connectRequest = z
  .object({
    // The database checks the limit of 80 characters, after it has removed invisible characters.
    name: text()
      .refine((value) => value.length <= 1000, { message: "A name has 1 to 80 characters." })
      .optional()
      .describe(
        "What the agent calls itself, shown to the person: 80 characters at most, after control, bidirectional and zero-width characters and spaces around it are removed.",
      ),
  })
  .meta({ id: "ConnectRequest" });

/** The response of POST /v1/connect. */
export const connectResponse = z
  .object({
    agent_token: z.string().describe("Bearer token. Returned only here."),
    agent_id: id,
    connection: z.object({
      url: z.url().describe("For the person, not for the agent."),
      code: z.string().regex(/^[A-Z]{4}-[A-Z]{4}$/),
      expires_in: seconds,
    }),
    summary: z.string(),
  })
  .meta({ id: "ConnectResponse" });

/** A request to the person to prove a sign-in method. */
export const verification = z
  .object({
    id,
    method: z.enum(SIGN_IN_METHODS),
    status: z.enum(VERIFICATION_STATUSES),
    url: z.url().optional().describe("Present while pending. For the person, not for the agent."),
    expires_in: seconds,
    summary: z.string(),
  })
  .meta({ id: "Verification" });

/** The body of POST /v1/me/verifications. */
export const verificationRequest = z
  .object({ method: text().describe("google, apple or email, as far as available_methods lists it.") })
  .meta({ id: "VerificationRequest" });

const figures = z.object({
  limit: z.int(),
  used: z.int(),
  remaining: z.int(),
  resets_in: seconds.describe("Seconds until the oldest counted call leaves the rolling hour."),
});

/** The response of GET /v1/me. */
export const me = z
  .object({
    id,
    display_name: z.string(),
    email: z.string().optional().describe("For the person in the browser alone; never for an agent."),
    phone: z.string().optional().describe("For the person in the browser alone; never for an agent."),
    agent: z
      .object({ id, name: z.string(), connected: z.boolean() })
      .optional()
      .describe("Absent for the person in the browser."),
    account: z.object({
      connected: z.boolean(),
      verified: z.array(z.enum(SIGN_IN_METHODS)),
      available_methods: z.array(z.enum(SIGN_IN_METHODS)),
      unavailable_methods: z.array(z.enum(SIGN_IN_METHODS)),
      published_offers: z.int(),
      member_since: timestamp,
      profile_url: z.url(),
    }),
    permissions: z.record(
      z.string(),
      z.object({
        allowed: z.boolean(),
        accepted_methods: z.array(z.string()).optional(),
        summary: z.string().optional(),
      }),
    ),
    limits: z.record(z.string(), figures).describe("Empty for the person in the browser, who has none."),
    pending_verifications: z.array(verification),
    activity: z.object({ asks_active: z.int(), offers_published: z.int(), offers_pending_review: z.int() }),
    next,
  })
  .meta({ id: "Me", description: "The whole situation of an agent, or of the person in the browser." });
