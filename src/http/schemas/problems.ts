import { z } from "zod";
import { SIGN_IN_METHODS } from "../../database/enums.ts";
import { next, seconds } from "./values.ts";

/** The schemas of problem documents (RFC 9457). */

const problemMembers = {
  type: z.string().describe("{base_url}/errors#{code}: a page that explains the code."),
  title: z.string(),
  status: z.int(),
  code: z.string().describe("Stable: branch on this."),
  detail: z.string().describe("What is wrong and what to do, fit to be read aloud."),
  request_id: z.string(),
  retryable: z.boolean(),
  retry_after: seconds.optional(),
  errors: z
    .array(z.object({ pointer: z.string().describe("JSON Pointer into the body."), detail: z.string() }))
    .optional(),
  next: next.optional(),
};

/** A problem document. */
export const problem = z
  .looseObject({
    ...problemMembers,
    options: z.array(z.string()).optional().describe("With unknown_method: the methods that are offered."),
  })
  .meta({ id: "Problem", description: "A refusal, after RFC 9457." });

/** The problem document of a 403, which says how the person approves the agent. */
export const verificationRequired = z
  .looseObject({
    ...problemMembers,
    permission: z.string(),
    connected: z.boolean(),
    verified: z.array(z.enum(SIGN_IN_METHODS)),
    accepted_methods: z.array(z.enum(SIGN_IN_METHODS)),
    options: z.array(z.object({ method: z.string(), summary: z.string(), call: z.looseObject({}) })),
  })
  .meta({ id: "VerificationRequired", description: "Refused until a person has approved the agent." });
