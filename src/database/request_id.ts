import { AsyncLocalStorage } from "node:async_hooks";

/**
 * What the log lines, the answer and the audit log call one request by: the id that the service gave it, never one that a
 * client sent. It travels beside the calls, so that no statement made on behalf of a request can forget it.
 */
const current = new AsyncLocalStorage<string>();

/** Runs `work`, and whatever it starts, on behalf of a request. @param id a UUID, or `job` and the id of a worker's job */
export const onBehalfOf = <Result>(id: string, work: () => Result): Result => current.run(id, work);

/** The request on whose behalf this code runs; null outside of any. */
export const currentRequestId = (): string | null => current.getStore() ?? null;
