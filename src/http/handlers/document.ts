import { jsonAnswer } from "../answer.ts";
import type { Endpoint, Handler } from "../endpoint.ts";

/**
 * Answers with a document that is made here, without the database.
 * @param make gives it from the table of endpoints and the address at which clients reach the service
 */
export const document =
  (make: (endpoints: readonly Endpoint[], baseUrl: string) => object): Handler =>
  ({ endpoints, baseUrl }) =>
    jsonAnswer(200, JSON.stringify(make(endpoints, baseUrl())));
