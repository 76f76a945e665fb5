import { z } from "zod";
import { type FieldError, pointerOf, unknownMember } from "./members.ts";

/** Checks requests against their schemas, and describes the errors. */

/** The name of each type in error messages. */
const EXPECTED: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

/** Returns the name of the type of a value that was sent. */
const typeOf = (value: unknown): string =>
  // What is no number became NaN where a parameter was read as a number.
  Number.isNaN(value) ? "text" : (EXPECTED[Array.isArray(value) ? "array" : typeof value] ?? "this");

/** Returns what a member must be: of an object, also the names of its members. */
const expectedOf = ({ expected, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string =>
  inst instanceof z.ZodObject
    ? `an object with ${Object.keys(inst.shape).join(", ")}`
    : (EXPECTED[expected] ?? expected);

const unitOf = (origin: string): string =>
  origin === "string" ? " characters long" : origin === "array" ? " entries long" : "";

/** Returns the sentence that describes an error. If a schema has its own message, zod uses that one instead. */
const sentenceOf = (issue: z.core.$ZodRawIssue): string => {
  const name = (issue.path ?? []).join(".");
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return `The member ${name} is missing.`;
      return `The member ${name} must be ${expectedOf(issue)}, not ${typeOf(issue.input)}.`;
    case "invalid_value":
      return `The member ${name} must be one of: ${issue.values.join(", ")}.`;
    case "too_big":
      return `The member ${name} may be at most ${issue.maximum}${unitOf(issue.origin)}.`;
    case "too_small":
      return `The member ${name} must be at least ${issue.minimum}${unitOf(issue.origin)}.`;
    default:
      return `The member ${name} cannot be used.`;
  }
};

/** At most this many errors are returned, so that the response stays short. A client can correct this many at once. */
const MAX_ERRORS = 20;

/**
 * Checks a value against a schema.
 * @returns the parsed value, or undefined and the errors
 */
export const check = <Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.infer<Schema> | undefined; errors: FieldError[] } => {
  const { data, error } = schema.safeParse(value, { error: sentenceOf });
  const mistyped = new Set<string>();
  const errors = (error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.map(String);
    // A text that should be a list may be too long for a list, too, but that says nothing.
    if (mistyped.has(pointerOf(path))) return [];
    if (issue.code === "invalid_type") mistyped.add(pointerOf(path));
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((name) => unknownMember([...path, name], schema))
      : [{ pointer: pointerOf(path), detail: issue.message }];
  });
  return { data, errors: errors.slice(0, MAX_ERRORS) };
};
