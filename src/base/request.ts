import { AsyncLocalStorage } from "node:async_hooks";
import type { Parts, Span } from "./tracing/span.ts";

/** The request on whose behalf code runs. It is in an AsyncLocalStorage, so that no function has to pass it on. */
export type CurrentRequest = {
  /**
   * For log lines, the response and the audit log. The service makes it; it never comes from a client. A UUID, or `job`
   * and the id of a worker's job.
   */
  readonly id: string;
  /** When this process received the request, on the clock of performance.now(). Not set for jobs. */
  readonly arrivedAt?: number;
  /** Who shares in fair use (src/database/turns.ts). Not set for jobs, and before the caller is known. */
  caller?: string;
  /** The request has had a turn, or waits for one. From then on it is never refused for fair use. */
  isStarted?: boolean;
  /** Why the entrance refused the request (src/web/admission.ts), so that nothing is done for it. */
  refusal?: unknown;
  /** Makes a signal that aborts when the client hangs up before the response. */
  gone?: () => AbortSignal;
  /** The step of a trace that this request or job is. Not set if nothing is traced. */
  span?: Span | undefined;
  /** The times of its parts. Not set if nobody asked for them. */
  parts?: Parts | undefined;
};

const current = new AsyncLocalStorage<CurrentRequest>();

/** Runs `work` on behalf of a request. */
export const onBehalfOf = <Result>(request: CurrentRequest, work: () => Result): Result => current.run(request, work);

/** Returns the request on whose behalf this code runs; undefined if there is none. */
export const currentRequest = (): CurrentRequest | undefined => current.getStore();

/** Returns the id of the request on whose behalf this code runs; null if there is none. */
export const currentRequestId = (): string | null => current.getStore()?.id ?? null;
