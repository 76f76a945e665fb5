import type { IncomingMessage, ServerResponse } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { type Problem, problem } from "../base/problem.ts";
import { currentRequest } from "../base/request.ts";
import { ownTurn } from "../database/own_turn.ts";
import { createTurns } from "../database/turns.ts";
import { type ArrivingBody, holdBody } from "./arriving_bodies.ts";

/**
 * Reads JSON bodies up to a size limit. Express's own parser reads an oversized body to its end before it refuses the
 * request, and it treats an empty body like a missing one. This parser checks the limit against Content-Length before
 * it reads, and against the received and the decompressed bytes while it reads.
 */

const DECOMPRESSORS = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Keeps nothing from one body to the next, because it never decodes a part of one. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/** To parse and check a body of this size takes a fraction of a millisecond. */
const QUICK_BYTES = 16 * 1024;

/**
 * At most this many larger bodies that arrived whole are worked on at once, and eight of a caller: some five megabytes
 * each, with the parsed values. Without a limit, callers could take all memory. Requests that large are rare.
 */
const LARGE_AT_ONCE = 64;

const turns = createTurns({
  pools: { bodies: LARGE_AT_ONCE },
  lanes: { large: { pool: "bodies" } },
  // Every call that has a place is answered in time, so that the place becomes free.
  stuckMs: Number.POSITIVE_INFINITY,
});

/**
 * Waits until a large body, which arrived whole, may be worked on. Its turn lasts until its answer is given: the client
 * of an answer that waits behind others, or is not read, holds no place.
 * @throws if the caller has too many calls waiting, hangs up, or its bodies take too much memory
 */
const bodyTurn = async (response: ServerResponse, body: ArrivingBody): Promise<void> => {
  const request = currentRequest();
  const gone = () => AbortSignal.any([body.signal, ...(request?.gone ? [request.gone()] : [])]);
  const end = await turns.take(request?.caller ?? "nobody", "large", { gone }).catch((error: unknown) => {
    throw body.signal.aborted ? body.signal.reason : error;
  });
  if (response.destroyed) return end();
  response.once("close", () => end());
  const answer = response.end.bind(response) as (...parts: unknown[]) => typeof response;
  response.end = (...parts: unknown[]) => {
    end();
    return answer(...parts);
  };
};

/**
 * The members and entries of a body, at all depths: thirty times what the largest request needs. A megabyte has room
 * for half a million empty lists, which take a quarter of a second to parse and check, and meanwhile nobody else is
 * answered. Strings of any length cost little.
 */
const MAX_VALUES = 5_000;

/**
 * How deeply objects and lists may be nested. The body itself is the first level. No request needs a twentieth of it.
 * The limit protects recursive functions such as JSON.stringify: a few thousand levels would overflow their stack.
 */
const MAX_LEVELS = 200;

/** The problem of a body that is larger than `maxBytes`. */
export const tooLarge = (maxBytes: number): Problem =>
  problem(
    "payload_too_large",
    `The body is larger than ${maxBytes >= 1024 * 1024 ? `${maxBytes / 1024 / 1024} MB` : `${maxBytes / 1024} KB`}. Make it smaller; refer to images by link.`,
  );

/** Marks requests with `Expect: 100-continue`. They get `100 Continue` only when their body is going to be read. */
export const EXPECTS_CONTINUE = Symbol("expects continue");

/** Returns whether the request has a body, even an empty chunked one. */
export const hasBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;

/** Returns whether a request's body may be larger than `bytes`: it says so, or does not say. */
export const mayExceed = (request: IncomingMessage, bytes: number): boolean =>
  hasBody(request) &&
  (request.headers["content-length"] === undefined ||
    request.headers["content-encoding"] !== undefined ||
    Number(request.headers["content-length"]) > bytes);

const readBytes = (request: IncomingMessage, maxBytes: number, body: ArrivingBody): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const encoding = (request.headers["content-encoding"] ?? "identity").toLowerCase();
    if (encoding !== "identity" && !Object.hasOwn(DECOMPRESSORS, encoding)) {
      reject(
        problem(
          "unsupported_media_type",
          "The Content-Encoding is not supported. Send the body as it is, or as gzip, deflate or br.",
        ),
      );
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    // The compressed bytes count too, because a large compressed body may decompress to a few bytes.
    let received = 0;
    const source = encoding === "identity" ? request : DECOMPRESSORS[encoding as keyof typeof DECOMPRESSORS]();
    const stop = (reason: Problem) => {
      // The rest of the body is discarded after the response has been sent (app.ts).
      for (const stream of [request, source]) stream.removeAllListeners("data");
      request.pause();
      if (source !== request) {
        request.unpipe(source as Transform);
        source.destroy();
      }
      reject(reason);
    };
    body.signal.addEventListener("abort", () => stop(body.signal.reason as Problem));
    if (source !== request) {
      // This listener is never removed, because a decompressor reports a truncated body last.
      source.on("error", () => stop(problem("bad_request", "The body is not what its Content-Encoding says.")));
      request.on("data", (chunk: Buffer) => {
        received += chunk.length;
        if (received > maxBytes) stop(tooLarge(maxBytes));
      });
      request.pipe(source as Transform);
    }
    source.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) return stop(tooLarge(maxBytes));
      chunks.push(chunk);
      body.add(chunk.length);
    });
    source.on("end", () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on("aborted", () => stop(problem("bad_request", "The body ended before it was whole.")));
    request.on("error", () => stop(problem("bad_request", "The body could not be read.")));
  });

/**
 * The text of a JSON value in a request's body; `undefined` when there is none.
 * @param maxBytes bytes, as sent and as decompressed
 * @throws Problem 413, 415 or 400 that says what to fix
 */
export const readText = async (
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<string | undefined> => {
  if (!hasBody(request)) return undefined;
  const length = Number(request.headers["content-length"] ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
  const type = request.headers["content-type"] ?? "";
  const [media, ...parameters] = type.toLowerCase().split(";");
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith("charset="));
  if (
    !/^application\/([a-z0-9.+-]+\+)?json$/.test((media ?? "").trim()) ||
    (charset && !/^charset="?utf-?8"?$/.test(charset))
  ) {
    throw problem("unsupported_media_type", "Send the body as JSON in UTF-8, with Content-Type: application/json.");
  }
  if (EXPECTS_CONTINUE in request) response.writeContinue();
  const body = holdBody(currentRequest()?.caller ?? "nobody");
  let bytes: Buffer;
  try {
    bytes = await readBytes(request, maxBytes, body);
    if (bytes.length > QUICK_BYTES) await bodyTurn(response, body);
  } finally {
    body.end();
  }
  if (bytes.length > QUICK_BYTES) await ownTurn();
  if (bytes.length === 0) return undefined;
  try {
    return UTF_8.decode(bytes);
  } catch {
    throw problem("bad_request", "The body is not valid UTF-8. Encode it as UTF-8 and send it again.");
  }
};

/** Returns the place of the quote that ends a string of JSON, or the length of the text if none does. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text[before] === "\\") before -= 1;
    // After an even number of backslashes the quote is not escaped.
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
};

/** Returns what a text has too much of if it is JSON, or null. Stops at the first excess value. */
const excessOf = (text: string): string | null => {
  // Every level has a beginning and an end.
  if (text.length <= 2 * MAX_LEVELS) return null;
  let values = 0;
  let level = 0;
  let deepest = 0;
  for (let place = 0; place < text.length && values <= MAX_VALUES; place += 1) {
    const one = text[place];
    if (one === '"') place = endOfString(text, place);
    else if (one === ",") values += 1;
    else if (one === "[" || one === "{") {
      values += 1;
      level += 1;
      deepest = Math.max(deepest, level);
    } else if (one === "]" || one === "}") level -= 1;
  }
  if (values > MAX_VALUES) return `${MAX_VALUES.toLocaleString("en")} members and entries of lists`;
  return deepest > MAX_LEVELS ? `${MAX_LEVELS} levels of objects and lists` : null;
};

/** Parses the text of a body. @throws Problem 400 if it is not JSON, or has too many values or levels */
export const parseJson = (text: string): unknown => {
  const excess = excessOf(text);
  if (excess !== null) throw problem("bad_request", `The body has more than ${excess}. Send only what the call needs.`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw problem(
      "bad_request",
      "The body is not valid JSON. Check quotes, commas and brackets, and that it was sent whole.",
    );
  }
};

/**
 * Removes null members, at all depths: they count as absent. Models and their frameworks send null for what they leave
 * out. Null entries of lists stay, because without them the others would move. GraphQL is read without this, because a
 * null condition there selects what has no value.
 * @param value as parseJson returned it, which limits its depth. It is changed
 */
export const withoutNulls = <Value>(value: Value): Value => {
  if (typeof value !== "object" || value === null) return value;
  for (const [name, member] of Object.entries(value)) {
    if (member !== null) withoutNulls(member);
    else if (!Array.isArray(value)) Reflect.deleteProperty(value, name);
  }
  return value;
};

/**
 * The JSON object in a request's body; `undefined` when there is none.
 * @param maxBytes bytes, as sent and as decompressed
 * @throws Problem 413, 415 or 400 that says what to fix
 */
export const readJsonBody = async (
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Record<string, unknown> | undefined> => {
  const text = await readText(request, response, maxBytes);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw problem("bad_request", "The body must be a JSON object.");
  }
  return value as Record<string, unknown>;
};
