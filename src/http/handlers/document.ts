import { jsonAnswer } from "../answer.ts";
import type { Endpoint, Handler } from "../endpoint.ts";

/**
 * Returns a handler that responds with a document made without the database.
 * @param make makes the document from the table of endpoints and the URL at which clients reach the service
 */
export const document =
  (make: (endpoints: readonly Endpoint[], baseUrl: string) => object): Handler =>
  ({ endpoints, baseUrl }) =>
    jsonAnswer(200, JSON.stringify(make(endpoints, baseUrl())));
