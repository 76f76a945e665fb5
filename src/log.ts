import { type Logger, pino } from "pino";

/** Where log lines go. */
export type Log = Logger;

/** Lines are written together: a write for each would be a third of the system calls of a request. */
const BUFFER_BYTES = 4_096;
/** The longest that a line waits, and with it what a killed process loses. A process that ends otherwise writes the rest. */
const FLUSH_MS = 100;
/** pino's number for warn: what somebody has to look at is written at once. */
const WARN = 40;

/**
 * Structured logs on stdout, one JSON object a line. What they hold is decided where they are written: ids, durations,
 * statuses; never a token, a link secret, a contact or a text. An error is written with its name, message, SQLSTATE and
 * stack, and without PostgreSQL's detail, hint and parameters, which may quote a row.
 */
export const createLog = (level: string): Log => {
  const destination = pino.destination({ dest: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
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
            : { message: String(error) },
      },
    },
    destination,
  );
};
