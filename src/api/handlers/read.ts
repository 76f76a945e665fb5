import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { successOf } from "../response.ts";

/** Calls the function in a read-only session. Its jsonb result is the body of the response. */
export const read: Handler = async (context, call) =>
  successOf(call.endpoint, await callFunction(context, call, "read"));
