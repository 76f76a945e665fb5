import { successOf } from "../answer.ts";
import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";

/** Runs the function where it can write; its jsonb is the body. */
export const write: Handler = async (context, call) =>
  successOf(call.endpoint, await callFunction(context, call, "write"));
