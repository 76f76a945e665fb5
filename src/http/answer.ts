import type { Endpoint } from "./endpoint.ts";
import { type Answer, type Problem, problem } from "./problem.ts";

/** Answers from what SQL functions give. */

const JSON_TYPE = "application/json; charset=utf-8";

/** A body of JSON as an answer. */
export const jsonAnswer = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string | number>> = {},
): Answer => ({ status, headers: { ...headers, "Content-Type": JSON_TYPE }, body });

/** What a function gave as an endpoint's only successful answer; without a body where its status is 204. */
export const successOf = (endpoint: Endpoint, body: string): Answer => {
  const [status = 200] = Object.keys(endpoint.answers).map(Number);
  return status === 204 ? { status, headers: {}, body: null } : jsonAnswer(status, body);
};

/** An answer as functions write it that decide the status themselves. `submission`: it is not there yet. */
export type Envelope = {
  status?: number;
  headers?: Record<string, string | number>;
  body?: Record<string, unknown>;
  submission?: string;
};

/** The text was or may have been admitted, and then the database could not be reached to hear what became of it. */
export const UNKNOWN_OUTCOME = problem(
  "service_unavailable",
  "The market could not be reached while the text was being read, so it is not known what became of it. Repeat the request with the same Idempotency-Key; without one, look at your list first.",
  { retry_after: 2 },
);

/**
 * The answer in an envelope.
 * @throws Problem when it holds one, such as a missing_contact that the function stored
 */
export const answerOf = (envelope: Envelope, headers: Record<string, string | number>): Answer => {
  const { status, body = {} } = envelope;
  if (status === undefined) throw UNKNOWN_OUTCOME;
  if (status >= 400) {
    const { code, detail, ...members } = body as { code: Problem["code"]; detail: string };
    throw problem(code, detail, members, headers);
  }
  return jsonAnswer(status, JSON.stringify(body), headers);
};
