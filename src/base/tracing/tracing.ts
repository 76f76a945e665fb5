import { performance } from "node:perf_hooks";
import { currentRequest } from "../request.ts";
import type { Attributes, PartName, Span, SpanKind, Tracer } from "./span.ts";

/**
 * Where the time of a request or a job goes, as parts, which are summed for Server-Timing and for metrics, and as
 * spans, which are sent to a collector of OpenTelemetry if the operator names one.
 *
 *   part   waiting for a turn, the database, reading (a text, a query), rendering
 *   span   one step of a trace: a request, a job, a statement, a call to a provider. Names and attributes come from the
 *          code. They never hold a text, a token, a contact, a query or the message of an error
 *
 * This file loads nothing of OpenTelemetry.
 */

let tracer: Tracer | null = null;

/** Sets the tracer of the process; null: nothing is traced. */
export const useTracer = (given: Tracer | null): void => {
  tracer = given;
};

/** Begins a step that nothing in this process caused. Returns undefined if nothing is traced. */
export const startSpan = (
  name: string,
  kind: SpanKind,
  parent: string | undefined,
  attributes: Attributes = {},
): Span | undefined => tracer?.start(name, kind, parent, attributes);

/** An error's SQLSTATE, code or class, for a span. Its message may quote a text. */
const errorCodeOf = (error: unknown): string => {
  if (typeof error === "object" && error !== null && "code" in error && /^\w{1,40}$/.test(String(error.code)))
    return String(error.code);
  return error instanceof Error ? error.name : "unknown";
};

/**
 * Runs a step of the current request or job, and measures it.
 * @param part the part in which its time counts; null if it is inside of another part
 */
export const measured = <Result>(
  part: PartName | null,
  step: { name: string; kind?: SpanKind; attributes?: Attributes },
  work: () => Result,
): Result => {
  const request = currentRequest();
  const span =
    request?.span && tracer?.start(step.name, step.kind ?? "internal", request.span.traceparent, step.attributes ?? {});
  const parts = part === null ? undefined : request?.parts;
  if (span === undefined && parts === undefined) return work();
  const start = performance.now();
  const end = (error?: string): void => {
    if (parts !== undefined && part !== null) parts[part] = (parts[part] ?? 0) + performance.now() - start;
    span?.end({ error });
  };
  const fail = (error: unknown): never => {
    end(errorCodeOf(error));
    throw error;
  };
  let result: Result;
  try {
    result = work();
  } catch (error) {
    return fail(error);
  }
  if (result instanceof Promise) {
    return result.then((value) => {
      end();
      return value;
    }, fail) as Result;
  }
  end();
  return result;
};

/** Returns the `traceparent` that jobs of the current request or job carry; null if it is not traced. */
export const currentTraceparent = (): string | null => currentRequest()?.span?.traceparent ?? null;
