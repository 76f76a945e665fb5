import { answerOf, type Envelope } from "../answer.ts";
import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";

/** Runs a function that says status, headers and body itself. */
export const answer: Handler = async (context, call) =>
  answerOf(JSON.parse(await callFunction(context, call, "write")) as Envelope, {});
