import { type Logger, pino } from "pino";

export type Log = Logger;

/** Lines are written together, since a write for each would be a third of the system calls of a request: a page of them at most, */
const BUFFER_BYTES = 4_096;
/** and never later than this, which is what a killed process loses. A process that ends in any other way writes the rest first. */
const FLUSH_MS = 100;

/**
 * Structured logs on stdout, one JSON object a line. What they hold is decided where they are written: ids, durations,
 * statuses; never a token, a link secret, a contact or a text. An error is written with its name, message, SQLSTATE and
 * stack, and without PostgreSQL's detail, hint and parameters, which may quote a row.
 */
export const createLog = (level: string): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
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
            : { message: String(error) },
      },
    },
    pino.destination({ dest: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS }),
  );
