/**
 * Problem documents (RFC 9457). The database raises problems with SQLSTATE `PT<status>` (internal.raise_problem). Any
 * other error of the database is either temporary (503) or a bug (500, without its message).
 */

/** Every problem code of the API: its status, its title, and the text about it on the page /errors. */
export const PROBLEMS = {
  bad_request: {
    status: 400,
    title: "The request cannot be used",
    retryable: false,
    help: "Something in the request is missing or malformed. `detail` and `errors` say what to fix; then send it again.",
  },
  missing_contact: {
    status: 400,
    title: "The text names no contact",
    retryable: false,
    help: "An offer must contain a way to reach the publisher: a phone number, an e-mail address or a link. Ask the person, add it to the text and send it again. Handles of other apps and street addresses do not count.",
  },
  reads_as_ask: {
    status: 400,
    title: "The text is not what it was sent as",
    retryable: false,
    help: 'The text of an offer looks for something, or the text of an ask offers something. Nothing was published or kept. Send it to the address in `next`. If the reader is wrong, send it again with `"kind_confirmed": true`.',
  },
  unknown_method: {
    status: 400,
    title: "The sign-in method is not offered",
    retryable: false,
    help: "Only the methods listed in `options` can be started now.",
  },
  unauthorized: {
    status: 401,
    title: "The token is missing or not valid",
    retryable: false,
    help: "Send `Authorization: Bearer` with the token that POST /v1/connect returned, or with an access token of OAuth. An access token lasts an hour: get the next one at /oauth/token with the refresh token. A token that was removed stays invalid: connect once more, and ask the person to approve the new agent.",
  },
  verification_required: {
    status: 403,
    title: "A person has to do something first",
    retryable: false,
    help: "`connected` false: the agent is not connected to a person yet. Give the person the connection link; after approval the same call succeeds. `connected` true: a person calls from the browser, and the account has proved no sign-in method. `options` names the page on which each of the `accepted_methods` is added; agents need none.",
  },
  power_required: {
    status: 403,
    title: "The person does not let this agent do that",
    retryable: false,
    help: "A person decides what each agent may do alone: `power` names what is missing. Ask the person; they can change it at `settings_url`, and it counts at once.",
  },
  not_found: {
    status: 404,
    title: "Not found",
    retryable: false,
    help: "There is nothing here, or it is not visible to you. GET /v1 lists what exists.",
  },
  method_not_allowed: {
    status: 405,
    title: "The method is not allowed here",
    retryable: false,
    help: "The path exists, but not with this method. The `Allow` header lists those it has.",
  },
  connection_already_used: {
    status: 409,
    title: "The link was already used",
    retryable: false,
    help: "A connection link works once, and someone approved this one. A new agent gets a new link.",
  },
  idempotency_in_flight: {
    status: 409,
    title: "The first request is still running",
    retryable: true,
    help: "A request with this Idempotency-Key is being worked on. Wait a second and repeat it with the same key; the answer is then replayed.",
  },
  idempotency_key_reused: {
    status: 409,
    title: "The key belongs to another request",
    retryable: false,
    help: "This Idempotency-Key was used with a different body. Use a new key for a new request.",
  },
  invalid_state: {
    status: 409,
    title: "The current status does not allow this",
    retryable: false,
    help: "`detail` names the status in the way. Read the resource to see what can be done with it.",
  },
  verification_incomplete: {
    status: 409,
    title: "The person has not finished signing in",
    retryable: true,
    help: "Continue once the person has finished the sign-in.",
  },
  connection_expired: {
    status: 410,
    title: "The link no longer works",
    retryable: false,
    help: "A connection link lasts 30 minutes. Connect again for a new one.",
  },
  link_expired: {
    status: 410,
    title: "The link no longer works",
    retryable: false,
    help: "A link or code that was sent by mail works once and lasts 15 minutes. Start signing in again for a new one.",
  },
  payload_too_large: {
    status: 413,
    title: "The body is too large",
    retryable: false,
    help: "A request body may have 1 MB, that of an offer 256 KB, that of POST /v1/connect 16 KB, and an offer's text 4,000 characters. Refer to images by link.",
  },
  unsupported_media_type: {
    status: 415,
    title: "The media type is not supported",
    retryable: false,
    help: "Bodies are JSON in UTF-8: send `Content-Type: application/json`.",
  },
  rate_limited: {
    status: 429,
    title: "Too many calls",
    retryable: true,
    help: "The cap of the rolling hour is reached, or too many of your calls are open at once: 8 run at a time, and 256 wait. Wait as many seconds as `Retry-After` says. When creating agents: reuse the token you hold.",
  },
  internal_error: {
    status: 500,
    title: "Something went wrong here",
    retryable: true,
    help: "This is our mistake. Try once more with backoff, with the same Idempotency-Key if you sent one, and report `request_id` if it persists.",
  },
  service_unavailable: {
    status: 503,
    title: "The service is briefly unavailable",
    retryable: true,
    help: "Wait as many seconds as `Retry-After` says, then try again, with the same Idempotency-Key if you sent one. `detail` says whether anything may have been done.",
  },
} as const;

/** A problem code of the API. */
export type ProblemCode = keyof typeof PROBLEMS;

/** The reason why a request is refused: plain data, thrown where the reason is found. */
export type Problem = {
  code: ProblemCode;
  detail: string;
  /** Further members of the document: errors, next, retry_after, those of VerificationRequired, ... */
  members?: Record<string, unknown>;
  headers?: Record<string, string | number>;
};

/**
 * A problem to throw.
 * @param detail what is wrong and what to do, in a sentence that can be read aloud
 * @param members further members of the document: errors, next, retry_after, ...
 */
export const problem = (
  code: ProblemCode,
  detail: string,
  members: Record<string, unknown> = {},
  headers: Record<string, string | number> = {},
): Problem => ({ code, detail, members, headers });

const isCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code);

/**
 * Returns whether a thrown value is a Problem. An Error is not a Problem, even if PostgreSQL, Node or a library gave it
 * a code.
 */
export const isProblem = (thrown: unknown): thrown is Problem =>
  typeof thrown === "object" &&
  thrown !== null &&
  !(thrown instanceof Error) &&
  "code" in thrown &&
  typeof thrown.code === "string" &&
  isCode(thrown.code);

/**
 * SQLSTATEs and Node's error codes that mean "not now": connections (08, 57P, ECONN…), resources (53), locks and
 * timeouts (55P03, 57014), conflicts (40), a read-only server (25006).
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const NOT_NOW =
  /^(08...|40001|40P01|25006|53...|55P03|57014|57P0[1-5]|58030|ECONNREFUSED|ECONNRESET|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENOENT|EHOSTUNREACH)$/;
/** Messages of node-postgres for errors without a code. */
const NOT_NOW_MESSAGE =
  /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|connection timeout|Query read timeout/i;

/** Returns whether an error means that the database is temporarily unavailable. */
export const isUnavailable = (thrown: unknown): boolean => {
  if (!(thrown instanceof Error)) return false;
  const code = "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
  // PostgreSQL refused or ended the session. Some reasons, such as a full disk, have no code.
  const isFatal = "severity" in thrown && thrown.severity === "FATAL";
  return isFatal || NOT_NOW.test(code) || NOT_NOW_MESSAGE.test(thrown.message);
};

/**
 * Returns whether it is unknown if a statement was committed, because the connection was lost while it ran. A statement
 * that PostgreSQL refused or cancelled, or that got no connection, had no effect.
 */
export const isConnectionLost = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  (/^(08...|57P0[1-5]|ECONNRESET|EPIPE|ETIMEDOUT)$/.test(
    "code" in thrown && typeof thrown.code === "string" ? thrown.code : "",
  ) ||
    /Connection terminated|connection error|Query read timeout/i.test(thrown.message));

/** Whether a new row refers to the caller's account or agent, which was deleted after the caller was identified. */
const isCallerGone = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  "code" in thrown &&
  thrown.code === "23503" &&
  "constraint" in thrown &&
  /_(account|agent)_fkey$/.test(String(thrown.constraint));

/** The Retry-After in seconds when the database is unavailable. A restart takes about this long. */
const UNAVAILABLE_RETRY_SECONDS = 2;

/** Turns any thrown value into a Problem. An unknown error becomes internal_error. */
export const problemOf = (thrown: unknown): Problem => {
  if (isProblem(thrown)) return thrown;
  if (thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" && /^PT\d{3}$/.test(thrown.code)) {
    const hint = "hint" in thrown && typeof thrown.hint === "string" ? JSON.parse(thrown.hint) : {};
    const detail = "detail" in thrown && typeof thrown.detail === "string" ? thrown.detail : "";
    const {
      headers,
      unknown_caller: _,
      ...members
    } = hint as { headers?: Record<string, string | number>; unknown_caller?: boolean };
    if (isCode(thrown.message)) return problem(thrown.message, detail, members, headers ?? {});
  }
  if (isCallerGone(thrown)) {
    return problem(
      "unauthorized",
      "The account or the agent was deleted while this request was under way. Nothing was done.",
    );
  }
  if (isUnavailable(thrown)) {
    return problem(
      "service_unavailable",
      // PostgreSQL may have committed just before the connection was lost.
      isConnectionLost(thrown)
        ? "The connection to the market was lost while this request was under way, so it is not known whether it was done. In a few seconds, read how things are now; then repeat the request if it is still needed."
        : "The market cannot be reached at the moment. Nothing was done; try again in a few seconds.",
      {
        retry_after: UNAVAILABLE_RETRY_SECONDS,
      },
    );
  }
  return problem(
    "internal_error",
    "Something went wrong on our side. Try once more; if it happens again, report the request_id.",
  );
};

/** A response: its status, headers and body. */
export type Answer = { status: number; headers: Record<string, string | number>; body: string | Buffer | null };

/** Turns a Problem into the response with its problem document. */
export const problemAnswer = (failure: Problem, requestId: string, baseUrl: string): Answer => {
  const { status, title, retryable } = PROBLEMS[failure.code];
  const members: Record<string, unknown> = failure.members ?? {};
  const retryAfter = members["retry_after"];
  return {
    status,
    headers: {
      ...failure.headers,
      "Content-Type": "application/problem+json; charset=utf-8",
      "Cache-Control": "no-store",
      ...(typeof retryAfter === "number" ? { "Retry-After": retryAfter } : {}),
      ...(status === 401 ? { "WWW-Authenticate": 'Bearer realm="souk"' } : {}),
    },
    body: JSON.stringify({
      type: `${baseUrl}/errors#${failure.code}`,
      title,
      status,
      code: failure.code,
      detail: failure.detail,
      request_id: requestId,
      retryable,
      ...members,
    }),
  };
};
