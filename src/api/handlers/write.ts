import { callFunction } from "../arguments.ts";
import type { Handler } from "../endpoint.ts";
import { successOf } from "../response.ts";

/** Calls the function in a session that can write. Its jsonb result is the body of the response. */
export const write: Handler = async (context, call) =>
  successOf(call.endpoint, await callFunction(context, call, "write"));
