import { successOf } from "../answer.ts";
import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";

/** Runs the function where nothing can be written; its jsonb is the body. */
export const read: Handler = async (context, call) =>
  successOf(call.endpoint, await callFunction(context, call, "read"));
