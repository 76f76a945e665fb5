import { type Answer, type Problem, problem } from "../base/problem.ts";
import { measured } from "../base/tracing/tracing.ts";
import type { Endpoint } from "./endpoint.ts";

/** Turns the results of SQL functions into HTTP responses. */

const JSON_TYPE = "application/json; charset=utf-8";

/** Returns a response with a JSON body. */
export const jsonAnswer = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string | number>> = {},
): Answer => ({ status, headers: { ...headers, "Content-Type": JSON_TYPE }, body });

/** Returns the endpoint's successful response with a function's result as its body. A 204 has no body. */
export const successOf = (
  endpoint: Endpoint,
  body: string,
  headers: Readonly<Record<string, string | number>> = {},
): Answer => {
  const status = Number(Object.keys(endpoint.answers)[0] ?? 200);
  return status === 204 ? { status, headers: {}, body: null } : jsonAnswer(status, body, headers);
};

/**
 * The result of a function that decides the status of the response itself. If it has a `submission`, there is no
 * response until the worker has completed that submission.
 */
export type Envelope = {
  status?: number;
  headers?: Record<string, string | number>;
  body?: Record<string, unknown>;
  submission?: string;
};

/** The response when a text was (or may have been) admitted, but the database could not be asked for the outcome. */
export const UNKNOWN_OUTCOME = problem(
  "service_unavailable",
  "The market could not be reached while the text was being read, so it is not known what became of it. Repeat the request with the same Idempotency-Key; without one, look at your list first.",
  { retry_after: 2 },
);

/**
 * Returns the response that an envelope describes.
 * @throws Problem if its status is an error, such as a stored missing_contact, or if it has no status
 */
export const answerOf = (envelope: Envelope, headers: Record<string, string | number>): Answer => {
  const { status, body = {} } = envelope;
  if (status === undefined) throw UNKNOWN_OUTCOME;
  if (status >= 400) {
    const { code, detail, ...members } = body as { code: Problem["code"]; detail: string };
    throw problem(code, detail, members, headers);
  }
  return jsonAnswer(
    status,
    measured("render", { name: "render answer" }, () => JSON.stringify(body)),
    headers,
  );
};
