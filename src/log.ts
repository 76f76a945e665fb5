import { type Logger, pino } from "pino";

export type Log = Logger;

/**
 * Structured logs on stdout, one JSON object a line. What they hold is decided where they are written: ids, durations,
 * statuses; never a token, a link secret, a contact or a text. An error is written with its name, message, SQLSTATE and
 * stack, and without PostgreSQL's detail, hint and parameters, which may quote a row.
 */
export const createLog = (level: string): Log =>
  pino({
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
  });
