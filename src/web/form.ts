import type { Request, Response } from "express";
import { problem } from "../base/problem.ts";
import { hasEndlessMarks } from "../base/visible_text.ts";
import { EXPECTS_CONTINUE } from "./body.ts";
import { excessOfParameters } from "./parameters.ts";

/** The longest is a message of 2,000 characters, of which each may take twelve bytes. */
const FORM_BYTES = 32 * 1024;

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { Connection: "close" } as const;

/**
 * Reads the fields of a form. It does not use Express's parser, because that parser reads the whole body before it
 * refuses one that is too large.
 * @param refusal what to say about a body that is no form
 * @throws Problem if the body is not a form, is larger than FORM_BYTES, has too many parameters, or a field with too many marks
 */
export const readForm = async (
  request: Request,
  response: Response,
  refusal = "This page takes only what its own form sends.",
): Promise<URLSearchParams> => {
  const encoding = request.get("Content-Encoding") ?? "identity";
  if (request.is("application/x-www-form-urlencoded") === false || encoding.toLowerCase() !== "identity") {
    throw problem("unsupported_media_type", refusal, {}, CLOSE);
  }
  const tooLarge = problem("payload_too_large", "That is more than the form on this page can send.", {}, CLOSE);
  if (Number(request.get("Content-Length") ?? 0) > FORM_BYTES) throw tooLarge;
  if (EXPECTS_CONTINUE in request) response.writeContinue();
  const chunks: Buffer[] = [];
  let bytes = 0;
  // If the loop ends early, the stream must stay open, because the response goes over the same socket.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > FORM_BYTES) throw tooLarge;
  }
  const text = Buffer.concat(chunks).toString("utf8");
  const excess = excessOfParameters(text);
  if (excess) throw excess;
  const fields = new URLSearchParams(text);
  if ([...fields.values()].some(hasEndlessMarks))
    throw problem("bad_request", "A field may have at most 30 combining marks in a row. Send it with fewer.");
  return fields;
};
