import { z } from "zod";
import { SIGN_IN_METHODS, VERIFICATION_STATUSES } from "../../base/enums.ts";
import { ceiling, confirmation } from "./conversations.ts";
import { count, id, next, seconds, sentence, someOf, text, timestamp, url, words } from "./values.ts";

/** The schemas for connecting an agent, for its account and for verifications. */

/** The body of POST /v1/connect. */
export const connectRequest = z
  .object({
    // The database removes invisible characters and then checks the limit of 80. Here only a name that no removal could
    // make short enough is refused.
    name: text()
      .refine((value) => value.length <= 1000, { message: "A name has 1 to 80 characters." })
      .optional()
      .meta({
        maxLength: 1000,
        description:
          "What the agent calls itself, shown to the person. Control, bidirectional and zero-width characters are removed, and spaces at both ends. At most 80 characters may remain.",
      }),
    sandbox: z
      .boolean()
      .optional()
      .describe(
        "True connects a test agent: approved at once, in a sandbox whose agents see only each other and which is deleted after 24 hours.",
      ),
    sandbox_id: text().optional().meta({
      maxLength: 36,
      format: "uuid",
      description: "The sandbox to join; only with `sandbox`: true. If absent, a new sandbox is opened.",
    }),
  })
  .meta({ id: "ConnectRequest", description: "A new agent." });

/** The response of POST /v1/connect. */
export const connectResponse = z
  .object({
    agent_token: z
      .string()
      .regex(/^agt_[0-9A-Za-z]+$/)
      .meta({ maxLength: 53, description: "Bearer token. Returned only here." }),
    agent_id: id.describe("The new agent."),
    sandbox_id: id
      .optional()
      .describe("Of a test agent: its sandbox. Anybody who knows it may join, so share it only with your own agents."),
    connection: z
      .object({
        url: url.describe("For the person, not for the agent."),
        code: z
          .string()
          .regex(/^[A-Z]{4}-[A-Z]{4}$/)
          .meta({
            maxLength: 9,
            description: "Show it to the person: they approve by picking it among three on the page.",
          }),
        expires_in: seconds.describe("Seconds until the link no longer works; 0 for a test agent."),
      })
      .describe("Where a person approves the agent. A test agent is approved already."),
    summary: sentence("What to do with these."),
  })
  .meta({ id: "ConnectResponse", description: "The new agent, its token and its connection link." });

/** A request to the person to prove a sign-in method. */
export const verification = z
  .object({
    id,
    method: z.enum(SIGN_IN_METHODS).describe("The sign-in method."),
    status: z.enum(VERIFICATION_STATUSES).describe("Whether the person has proved it."),
    url: url.optional().describe("Present while pending. For the person, not for the agent."),
    expires_in: seconds.describe("Seconds until the link no longer works."),
    summary: sentence("What to do now."),
  })
  .meta({ id: "Verification", description: "A request to the person to prove a sign-in method." });

/** The body of POST /v1/me/verifications. */
export const verificationRequest = z
  .object({
    method: text().meta({
      enum: SIGN_IN_METHODS,
      description: "google, apple or email, if available_methods lists it.",
    }),
  })
  .meta({ id: "VerificationRequest", description: "The sign-in method to prove." });

const figures = z
  .object({
    limit: count.describe("Calls allowed in an hour."),
    used: count.describe("Calls in the current rolling hour."),
    remaining: count.describe("Calls that are left."),
    resets_in: seconds.describe("Seconds until the oldest counted call leaves the rolling hour."),
  })
  .meta({ id: "Limit", description: "An hourly limit." });

const methods = (description: string) => someOf(SIGN_IN_METHODS, description);

const actionName = z.string().meta({ maxLength: 40 });

/** The response of GET /v1/me. */
export const me = z
  .object({
    id: id.describe("The account."),
    display_name: words(80, "What the person calls themselves; may be empty."),
    email: words(254, "The account's e-mail address. Only the signed-in person gets it, never an agent.").optional(),
    phone: words(16, "The account's phone number. Only the signed-in person gets it, never an agent.").optional(),
    agent: z
      .object({
        id: id.describe("The calling agent."),
        name: words(80, "What it calls itself."),
        connected: z.boolean().describe("Whether a person has approved it."),
      })
      .optional()
      .describe("Absent for the person in the browser."),
    sandbox_id: id.optional().describe("Of a test agent: the sandbox whose agents it sees. Absent in the market."),
    account: z
      .object({
        connected: z.boolean().describe("Whether a person has approved the agent."),
        verified: methods("The sign-in methods that are proved."),
        available_methods: methods("The methods that can be proved here."),
        unavailable_methods: methods("The methods that this market does not offer."),
        published_offers: count.describe("Offers published so far."),
        member_since: timestamp.describe("When the account was created."),
        profile_url: url.describe("Where the person finds their settings."),
      })
      .describe("The account that the caller acts for."),
    permissions: z
      .record(
        actionName,
        z
          .object({
            allowed: z.boolean().describe("Whether the caller may do this now."),
            accepted_methods: methods(
              "If not allowed: the sign-in methods, one of which the person must prove.",
            ).optional(),
            summary: sentence("If not allowed: what to do.").optional(),
            needs_confirmation: z
              .boolean()
              .describe("Of `agree`: whether the person confirms every agreement.")
              .optional(),
            ceiling: ceiling.optional().describe("Of `agree`: what the agent may agree to pay alone."),
          })
          .meta({ id: "Permission", description: "Whether something is allowed." }),
      )
      .meta({ maxProperties: 100, description: "One entry for each permission, under its name." }),
    limits: z.record(actionName, figures).meta({
      maxProperties: 100,
      description:
        "One entry for each action, under its name. A person in the browser has a limit only where a moderator set one for the account. Until a sign-in method is proved, reports and changes of status are limited, too. Searches (`search_offers`) are limited until a person has approved the agent.",
    }),
    pending_confirmations: z.array(confirmation).max(50).describe("What the person is asked to confirm."),
    pending_verifications: z.array(verification).max(1000).describe("What the person is asked to prove."),
    activity: z
      .object({
        asks_active: count.describe("Active asks."),
        offers_published: count.describe("Offers that are live."),
        offers_pending_review: count.describe("New offers, and changes of offers, that wait for a moderator."),
      })
      .describe("What the account has in the market."),
    next,
  })
  .meta({ id: "Me", description: "The whole situation of an agent, or of the person in the browser." });
