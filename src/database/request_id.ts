import { AsyncLocalStorage } from "node:async_hooks";

/**
 * The id of the current request, for log lines, the response and the audit log. The service makes the id; it never
 * comes from a client. It is in an AsyncLocalStorage, so that no function has to pass it on and no statement lacks it.
 */
const current = new AsyncLocalStorage<string>();

/** Runs `work` on behalf of a request. @param id a UUID, or `job` and the id of a worker's job */
export const onBehalfOf = <Result>(id: string, work: () => Result): Result => current.run(id, work);

/** Returns the id of the request on whose behalf this code runs; null if there is none. */
export const currentRequestId = (): string | null => current.getStore() ?? null;
