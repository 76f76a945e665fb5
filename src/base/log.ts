import { type Logger, pino } from "pino";
import { isProblem, type Problem } from "./problem.ts";

/** A logger. */
export type Log = Logger;

/** Lines are written in blocks, because one write for each line would be a third of a request's system calls. */
const BUFFER_BYTES = 8_192;
/** A line is written after this time at the latest. A killed process loses unwritten lines; a normal end loses none. */
const FLUSH_MS = 100;
/** pino's number for warn. Warnings and errors are written at once. */
const WARN = 40;

/** Returns a function that writes the time of a line, and makes its text once a millisecond. */
const timestamp = (): (() => string) => {
  let at = 0;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
};

/**
 * Creates the logger: one JSON object a line on stdout. Callers log ids, durations and statuses, and never a token, a
 * link's secret, a contact or a text. Of an error it logs name, message, SQLSTATE, `where` and stack, but not
 * PostgreSQL's detail, hint and parameters, which may quote a row. Of a problem it logs the code and the sentence.
 */
export const createLog = (level: string): Log => {
  const destination = pino.destination({ dest: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS });
  return pino(
    {
      level,
      base: null,
      timestamp: timestamp(),
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(args, method, level) {
          method.apply(this, args);
          if (level >= WARN) destination.flush();
        },
      },
      serializers: {
        err: (error: unknown) =>
          error instanceof Error
            ? {
                type: error.name,
                message: error.message,
                ...("code" in error ? { code: error.code } : {}),
                ...("where" in error ? { where: error.where } : {}),
                stack: error.stack,
              }
            : isProblem(error)
              ? { type: "Problem", message: error.detail, code: error.code }
              : { message: String(error) },
      },
    },
    destination,
  );
};

/**
 * Logs a failure that is the service's own. A refusal is not logged: the line of its request says enough.
 * @param gone whether the client hung up. Then it does not matter that the database was slow
 */
export const logFailure = (log: Log, failure: Problem, thrown: unknown, requestId: string, gone: boolean): void => {
  if (failure.code === "internal_error") log.error({ err: thrown, request_id: requestId }, "a request failed");
  else if (failure.code === "service_unavailable" && !gone)
    log.warn({ err: thrown, request_id: requestId }, "unavailable");
};
