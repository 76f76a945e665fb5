import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAI } from "openai";

/**
 * The one way to a model provider: bounded in time, tries and bytes, silent in logs, abortable.
 *
 * What the `openai` package does by itself and what is changed here, after its source (client.mjs of 7.55):
 * - it waits for `Retry-After` up to 60 s, and a longer one it ignores and comes back sooner, after 0.5 to 8 s; here a
 *   wait over RETRY_AFTER_CAP_MS ends the call instead;
 * - its time limit covers head and body of a good answer, but only the head of an error answer; here the body of an
 *   error answer is not read at all, which also keeps the provider's words (they may echo a text or a key) out of errors;
 * - it reads a body of any size, and follows redirects with the text; neither here;
 * - it logs bodies that are not JSON when OPENAI_LOG=debug; here logging is off whatever the environment says;
 * - it takes organization, project and admin key from the environment when they are left out; here they are null.
 *   OPENAI_CUSTOM_HEADERS alone cannot be turned off.
 */

/** One try may take this long; longer than a good model needs for 4,000 characters, shorter than a person waits. */
const TRY_TIMEOUT_MS = 20_000;

/** Three tries in all: the third still helps against a restart at the provider, a fourth only adds load and cost. */
const RETRIES = 2;

/** A provider that asks for a longer pause is down for this call: the built-in extractor or the job's own retry is sooner. */
const RETRY_AFTER_CAP_MS = 2_000;

/** A full reading is under 100 KB and a full batch of vectors under 400 KB; counted after decompression. */
export const MAX_ANSWER_BYTES = 1_000_000;

const FAILURE_NAME = "ProviderFailure";

/**
 * An error in words of our own, which may be logged and stored: it holds nothing of a text, an answer or a key.
 */
export const providerFailure = (message: string): Error => Object.assign(new Error(message), { name: FAILURE_NAME });

/** Milliseconds that an answer asks to wait before the next try, null when it does not; read as the package reads it. */
const retryAfter = (headers: Headers): number | null => {
  const milliseconds = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (!Number.isNaN(milliseconds)) return milliseconds;
  const stated = headers.get("retry-after");
  if (stated === null) return null;
  const seconds = Number.parseFloat(stated);
  const wait = Number.isNaN(seconds) ? Date.parse(stated) - Date.now() : seconds * 1000;
  return Number.isNaN(wait) ? null : wait;
};

/** Passes bytes on and breaks the stream as soon as it is longer than an answer can honestly be. */
const byteBound = (limit: number): TransformStream<Uint8Array, Uint8Array> => {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > limit) controller.error(providerFailure(`The provider's answer is longer than ${limit} bytes.`));
      else controller.enqueue(chunk);
    },
  });
};

const boundedFetch: typeof fetch = async (input, init) => {
  // A redirect would carry text and key to a host that nobody configured: it counts as an error answer.
  const answer = await fetch(input, { ...init, redirect: "manual" });
  const headers = new Headers(answer.headers);
  const { status, statusText } = answer;
  if (!answer.ok) {
    // Not awaited: a provider that dribbles must not hold us even while we hang up.
    answer.body?.cancel().catch(() => {});
    const wait = retryAfter(headers);
    if (wait !== null && wait > RETRY_AFTER_CAP_MS) headers.set("x-should-retry", "false");
    return new Response(null, { status, statusText, headers });
  }
  return new Response(answer.body?.pipeThrough(byteBound(MAX_ANSWER_BYTES)) ?? null, { status, statusText, headers });
};

/**
 * Makes the client for a provider that speaks OpenAI's protocol.
 * @param options.apiKey the provider's key
 * @param options.baseURL where its API starts, with the version: "https://api.openai.com/v1"
 */
export const createClient = (options: { apiKey: string; baseURL: string }): OpenAI =>
  new OpenAI({
    apiKey: options.apiKey,
    baseURL: options.baseURL,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: TRY_TIMEOUT_MS,
    maxRetries: RETRIES,
    logLevel: "off",
    fetch: boundedFetch,
  });

/** The system's code of what broke a connection ("ECONNREFUSED"), from wherever the layers between put it. */
const connectionCode = (error: unknown, depth = 0): string | null => {
  // Three layers lie between (package, fetch, socket); a fourth would be a chain that refers to itself.
  if (!(error instanceof Error) || depth > 3) return null;
  if ("code" in error && typeof error.code === "string" && /^[A-Z_]{1,40}$/.test(error.code)) return error.code;
  return connectionCode(error.cause, depth + 1);
};

const describe = (error: unknown): string => {
  if (error instanceof Error && error.name === FAILURE_NAME) return error.message;
  if (error instanceof APIConnectionTimeoutError) return "The provider did not answer in time.";
  if (error instanceof APIConnectionError) {
    return `The provider could not be reached (${connectionCode(error) ?? "no code"}).`;
  }
  if (error instanceof APIError && error.status !== undefined) return `The provider answered ${error.status}.`;
  if (error instanceof SyntaxError) return "The provider's answer is not JSON.";
  if (error instanceof TypeError) return `The provider's answer broke off (${connectionCode(error) ?? "no code"}).`;
  return "The call to the provider failed.";
};

/**
 * Runs one call to a provider and tells its failures in words that are safe to log and store.
 * @param signal the caller's; when it has aborted, its reason is what is thrown
 * @throws an Error whose message, and nothing else in it, says what the provider did
 */
export const callProvider = async <T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
  signal.throwIfAborted();
  try {
    return await call();
  } catch (error) {
    signal.throwIfAborted();
    throw providerFailure(describe(error));
  }
};
