import { setTimeout as sleep } from "node:timers/promises";
import { APIConnectionError, APIConnectionTimeoutError, APIError, OpenAI } from "openai";
import { measured } from "../../base/tracing/tracing.ts";
import type { MaySend } from "../extraction.ts";

/**
 * The client for model providers. It limits time, retries and bytes, logs nothing, and can be aborted.
 *
 * It changes these behaviours of the `openai` package (source: client.mjs of 7.55):
 * - The package repeats a failed request by itself. Here it does not, because each request may cost money:
 *   `callProvider` repeats one only if its caller allows it.
 * - The package's timeout covers headers and body of a successful response, but only the headers of an error response.
 *   Here the body of an error response is never read. This also keeps the provider's words, which may repeat a text or
 *   a key, out of errors.
 * - The package reads a body of any size and follows redirects with the text. Here neither happens.
 * - The package logs bodies that are not JSON if OPENAI_LOG=debug. Here logging is off, whatever the environment says.
 * - The package takes organization, project and admin key from the environment if they are left out. Here they are
 *   null. OPENAI_CUSTOM_HEADERS cannot be turned off.
 */

/** Timeout of one try: longer than a good model needs for 4,000 characters, shorter than a person waits. */
const TRY_TIMEOUT_MS = 20_000;

/** The pause before a request is repeated, if the provider names none: a restart or a busy moment is then often over. */
const REPEAT_AFTER_MS = 500;

/**
 * A provider that asks for a longer pause counts as down for this call: the built-in extractor or the retry of the job
 * is faster.
 */
const RETRY_AFTER_CAP_MS = 2_000;

/** The statuses below 500 after which the same request may succeed: timeout, conflict, too many requests. */
const TEMPORARY_STATUSES = [408, 409, 429];

/** A full extraction is under 100 KB and a full batch of vectors under 400 KB. Counted after decompression. */
export const MAX_ANSWER_BYTES = 1_000_000;

const FAILURE_NAME = "ProviderFailure";

/**
 * Creates an error with a message of our own, which may be logged and stored. The message must contain nothing of a
 * text, an answer or a key.
 */
export const providerFailure = (message: string): Error => Object.assign(new Error(message), { name: FAILURE_NAME });

/** Passes bytes on, and fails as soon as there are more than `limit`. */
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
  // A redirect would send text and key to a host that nobody configured, so it counts as an error response.
  const answer = await fetch(input, { ...init, redirect: "manual" });
  const { status, statusText, headers } = answer;
  if (!answer.ok) {
    // Not awaited: a provider that sends slowly must not delay the end of the call.
    answer.body?.cancel().catch(() => {});
    return new Response(null, { status, statusText, headers });
  }
  return new Response(answer.body?.pipeThrough(byteBound(MAX_ANSWER_BYTES)) ?? null, { status, statusText, headers });
};

/**
 * Creates the client for a provider that speaks OpenAI's protocol.
 * @param options.apiKey the provider's key
 * @param options.baseURL base URL of the API, including the version: "https://api.openai.com/v1"
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
    maxRetries: 0,
    logLevel: "off",
    fetch: boundedFetch,
  });

/** The system error code that broke a connection ("ECONNREFUSED"), wherever it is in the chain of causes. */
const connectionCode = (error: unknown, depth = 0): string | null => {
  // There are three layers (package, fetch, socket). A longer chain may refer to itself.
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

/** The milliseconds after which a failed request may be repeated; null if that would not help. */
const pauseAfter = (error: unknown): number | null => {
  if (error instanceof APIConnectionError) return REPEAT_AFTER_MS;
  if (!(error instanceof APIError) || error.status === undefined) return null;
  if (error.status < 500 && !TEMPORARY_STATUSES.includes(error.status)) return null;
  const stated = new Headers(error.headers).get("retry-after");
  // A date counts as a long pause: no provider of models states one.
  const wait = stated === null ? REPEAT_AFTER_MS : Number.parseFloat(stated) * 1000;
  return wait <= RETRY_AFTER_CAP_MS ? wait : null;
};

/**
 * Runs one call to a provider. Its errors have messages that are safe to log and store.
 * @param step what is asked of which model, for traces
 * @param signal the caller's signal; after an abort, its reason is thrown
 * @param mayRepeat asked after a failure that may be over in a moment; the call is then repeated, once. Null leaves the
 * repetition to a job
 * @throws an Error whose message says what the provider did, and that contains nothing else
 */
export const callProvider = async <T>(
  step: { operation: "chat" | "embeddings"; model: string },
  signal: AbortSignal,
  call: () => Promise<T>,
  mayRepeat: MaySend | null = null,
): Promise<T> => {
  signal.throwIfAborted();
  try {
    const attributes = { "gen_ai.operation.name": step.operation, "gen_ai.request.model": step.model };
    return await measured(null, { name: `${step.operation} ${step.model}`, kind: "client", attributes }, call);
  } catch (error) {
    signal.throwIfAborted();
    const pause = pauseAfter(error);
    if (pause === null || mayRepeat === null || !(await mayRepeat())) throw providerFailure(describe(error));
    await sleep(Math.max(pause, 0), undefined, { signal }).catch(() => signal.throwIfAborted());
    return callProvider(step, signal, call);
  }
};
