import { z } from "zod";
import { SIGN_IN_METHODS } from "../../base/enums.ts";
import { PROBLEMS, type ProblemCode } from "../../base/problem.ts";
import { int32, name, next, seconds, sentence, someOf, url, words } from "./values.ts";

/** The schemas of problem documents (RFC 9457). */

const fieldError = z
  .object({ pointer: words(200, "JSON Pointer into the body."), detail: words(5000, "What to fix.") })
  .meta({
    id: "FieldError",
    description: "An error in one member of a request.",
    examples: [{ pointer: "/text", detail: "The member text is missing." }],
  });

const problemMembers = {
  type: url.describe("{base_url}/errors#{code}: a page that explains the code."),
  title: words(200, "The code in words."),
  status: int32(400, 599, "The HTTP status."),
  code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]).describe("Stable: branch on this."),
  detail: words(20_000, "What is wrong and what to do, fit to be read aloud."),
  request_id: words(100, "Names this request in our logs."),
  retryable: z.boolean().describe("Whether the same request may succeed later."),
  retry_after: seconds.optional().describe("Seconds to wait before the same request."),
  limit: name(
    "With rate_limited: the hourly limit that is used up, a key of limits in GET /v1/me. The RateLimit headers are its own.",
  ).optional(),
  errors: z.array(fieldError).max(100).optional().describe("What to fix in the request."),
  next: next.optional(),
};

/** A problem document. */
export const problem = z
  .looseObject({
    ...problemMembers,
    options: someOf(SIGN_IN_METHODS, "With unknown_method: the methods that are offered.").optional(),
  })
  .meta({ id: "Problem", description: "A refusal, after RFC 9457." });

/** The problem document of a 403, which says what the person has to do first. */
const verificationRequired = z
  .looseObject({
    ...problemMembers,
    permission: name("The permission that is missing."),
    connected: z.boolean().describe("Whether a person has approved the agent."),
    verified: someOf(SIGN_IN_METHODS, "The methods that are proved."),
    accepted_methods: someOf(SIGN_IN_METHODS, "The methods of which one is needed."),
    options: z
      .array(
        z.object({
          method: z.enum(SIGN_IN_METHODS).describe("The method."),
          summary: sentence("What the person does."),
          call: z.looseObject({}).describe("The request that does it: method and path."),
        }),
      )
      .max(SIGN_IN_METHODS.length)
      .describe("How each method is added."),
  })
  .meta({
    id: "VerificationRequired",
    description:
      "Refused until a person has approved the agent, or has proved a sign-in method to call from the browser.",
  });

/** The problem document of a 403 for what the person does not let the agent do. */
const powerRequired = z
  .looseObject({
    ...problemMembers,
    power: name("What the person does not let the agent do: publish, ask, converse or agree."),
    settings_url: url.describe("Where the person can change it."),
  })
  .meta({ id: "PowerRequired", description: "Refused because the person does not let this agent do that." });

/** The problem documents of a 403. */
export const forbidden = z
  .union([verificationRequired, powerRequired])
  .meta({ id: "Forbidden", description: "A refusal that the person can change." });
