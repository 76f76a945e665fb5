import { measured } from "../../base/tracing/tracing.ts";
import { callFunction } from "../arguments.ts";
import type { Endpoint, Handler } from "../endpoint.ts";
import { answerOf, type Envelope, jsonAnswer, successOf } from "../response.ts";

/** The handlers of endpoints that do nothing in TypeScript. */

/** Calls the function in a read-only session. Its jsonb result is the body of the response. */
export const read: Handler = async (context, call) =>
  successOf(call.endpoint, await callFunction(context, call, "read"));

/** The same, never on a replica. */
export const readPresent: Handler = async (context, call) =>
  successOf(call.endpoint, await callFunction(context, call, "present read"));

/** Calls the function in a session that can write. Its jsonb result is the body of the response. */
export const write: Handler = async (context, call) =>
  successOf(call.endpoint, await callFunction(context, call, "write"));

/** Calls a function that decides status, headers and body of the response itself. */
export const answer: Handler = async (context, call) =>
  answerOf(JSON.parse(await callFunction(context, call, "write")) as Envelope, {});

/**
 * Returns a handler that responds with a document made without the database. The document is the same until the address
 * of the service is another, so it is made once: the OpenAPI document takes tens of milliseconds, in which no other
 * request is answered, and anybody may ask for it.
 * @param make makes the document from the table of endpoints and the URL at which clients reach the service
 */
export const document = (make: (endpoints: readonly Endpoint[], baseUrl: string) => object): Handler => {
  let last: { endpoints: readonly Endpoint[]; baseUrl: string; text: string } | null = null;
  return (context) => {
    const endpoints = context.endpoints;
    const baseUrl = context.baseUrl();
    if (last?.endpoints !== endpoints || last.baseUrl !== baseUrl) {
      const text = measured("render", { name: "render document" }, () => JSON.stringify(make(endpoints, baseUrl)));
      last = { endpoints, baseUrl, text };
    }
    return jsonAnswer(200, last.text);
  };
};
