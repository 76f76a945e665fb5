import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Problem, ProblemCode } from "../../base/problem.ts";

/** Turns the answers of endpoints into the results of tools. */

/** What a tool says: the body of an answer, or the text of a Problem. */
export type Said = { text: string; isError: boolean };

/** Returns the result of a tool: a body as an object, and as text for clients that show the model only that. */
export const resultOf = ({ text, isError }: Said): CallToolResult => ({
  content: [{ type: "text", text }],
  ...(isError ? { isError } : { structuredContent: JSON.parse(text) as Record<string, unknown> }),
});

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const CONTENT = Buffer.from('"content":[{"type":"text","text":"');
const STRUCTURED = Buffer.from('"}],"structuredContent":');

/**
 * Returns an answer with the same result in JSON. A body is JSON without line breaks, so it becomes a string without
 * being parsed: only its quotes and backslashes are escaped. The answer is made of bytes, because escaping a text with
 * two-byte characters, such as "…", takes more than twice as long, and encoding it twice takes longest.
 * @param frame the JSON before and after the members of the result
 */
export const answerOf = ({ text, isError }: Said, { before, after }: { before: string; after: string }) => {
  if (isError) return `${before}"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true${after}`;
  const body = Buffer.from(text);
  const maxBytes = CONTENT.length + STRUCTURED.length + 3 * body.length + Buffer.byteLength(before + after);
  const answer = Buffer.allocUnsafe(maxBytes);
  let end = answer.write(before);
  end += CONTENT.copy(answer, end);
  // An iterator over the bytes would take twice as long.
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] ?? 0;
    if (byte === QUOTE || byte === BACKSLASH) answer[end++] = BACKSLASH;
    answer[end++] = byte;
  }
  end += STRUCTURED.copy(answer, end);
  end += body.copy(answer, end);
  end += answer.write(after, end);
  return answer.subarray(0, end);
};

/** What a model should do after a Problem that does not say so itself, in the words of the tools. */
const NEXT: Readonly<Partial<Record<ProblemCode, string>>> = {
  bad_request: "Correct the arguments, and call the tool again.",
  missing_contact: "Ask the person how they want to be reached, add it to the text, and call the tool again.",
  not_found:
    "Check the id. list_mine has the person's own offers and asks, search_offers has the offers of others, list_conversations the conversations.",
  invalid_state: "Look it up with get_offer, list_mine or get_conversation to see what can be done.",
  power_required: "Tell the person, who can allow it in the settings.",
  payload_too_large: "Make the text shorter, refer to images by link, and call the tool again.",
  idempotency_in_flight: "Wait a second, then repeat the call with the same idempotency_key.",
  idempotency_key_reused: "For other arguments, use another idempotency_key.",
  internal_error: "Call the tool once more. If it fails again, tell the person, with the id of the request.",
};

/** After any other Problem. */
const LOOK_AROUND = "Call get_me to see what you can do.";

type Next = { summary: string; method: string; path: string };

/** Returns how a model does a step that a Problem names as a REST call: by the tool for it, if there is one. */
const stepOf = ({ summary, method, path }: Next, toolFor: (endpoint: string) => string | undefined): string => {
  const tool = toolFor(`${method} ${path}`);
  return tool === undefined ? summary : `${summary} (${tool})`;
};

/**
 * Returns the text for a Problem: what is wrong, in which arguments, and what to do next.
 * @param toolFor returns the name of the tool that calls an endpoint
 */
export const problemText = (
  { code, detail, members = {} }: Problem,
  requestId: string,
  toolFor: (endpoint: string) => string | undefined,
): string => {
  const {
    errors = [],
    next = [],
    retry_after: seconds,
  } = members as {
    errors?: { pointer: string; detail: string }[];
    next?: Next[];
    retry_after?: number;
  };
  const steps = next.map((step) => stepOf(step, toolFor));
  if (typeof seconds === "number") steps.push(`Wait ${seconds} seconds, then call it again with the same arguments.`);
  return [
    detail,
    // The detail of a Problem with few errors names them all.
    ...errors.filter((error) => !detail.includes(error.detail)).map((error) => `- ${error.detail}`),
    `Next: ${steps.length > 0 ? steps.join(" ") : (NEXT[code] ?? LOOK_AROUND)}`,
    `(${code}, request ${requestId})`,
  ].join("\n");
};
