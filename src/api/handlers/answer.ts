import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { answerOf, type Envelope } from "../response.ts";

/** Calls a function that decides status, headers and body of the response itself. */
export const answer: Handler = async (context, call) =>
  answerOf(JSON.parse(await callFunction(context, call, "write")) as Envelope, {});
