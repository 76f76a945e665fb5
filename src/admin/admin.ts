import type { NextFunction, Request, Response } from "express";
import type pg from "pg";
import { openPool } from "../database/database.ts";
import type { Log } from "../log.ts";
import { sessionHash } from "../pages/session.ts";

/**
 * Who may enter /admin: a moderator, by the session of the browser. For everybody else nothing is there: the request goes
 * on, and is answered like one for any address that does not exist. The admin router (GraphQL, its IDE, the pages) weighs
 * more than the whole API, so it is loaded when the first moderator comes.
 */

/** Few people moderate; what they ask for must not take the connections of the API. */
export const ADMIN_POOL_SIZE = 3;

const loadRouter = () => {
  // Grafast's checks for developers slow every operation down; unset, it says so at every start.
  process.env["GRAPHILE_ENV"] ??= "production";
  return import("./router.ts");
};

/** What the admin needs of the process. */
export type AdminContext = {
  /** The database's URL. */
  url: string;
  embedded: boolean;
  log: Log;
  baseUrl: () => string;
};

/** Everything below /admin. */
export type Admin = {
  handle: (request: Request, response: Response, next: NextFunction) => Promise<void>;
  close(): Promise<void>;
};

const isNotFound = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "PT404";

/** Opens no connection and loads nothing before somebody with a session asks for /admin. */
export const openAdmin = (context: AdminContext): Admin => {
  let pool: pg.Pool | null = null;
  let router: ReturnType<Awaited<ReturnType<typeof loadRouter>>["openAdminRouter"]> | null = null;

  const sessions = (): pg.Pool => {
    pool ??= openPool(
      {
        url: context.url,
        readUrl: null,
        poolSize: ADMIN_POOL_SIZE,
        role: "souk_api",
        embedded: context.embedded,
        onError: (error) => context.log.warn({ err: error }, "the admin lost a connection"),
      },
      context.url,
      false,
    );
    return pool;
  };

  /** Whether this session is a moderator's, as the database says at this moment. */
  const admits = async (session: Buffer): Promise<boolean> => {
    try {
      await sessions().query("select internal.enter_moderator($1)", [session]);
      return true;
    } catch (error) {
      // While the database is away, too, nobody is told that /admin exists.
      if (!isNotFound(error)) context.log.warn({ err: error }, "the admin could not look up a session");
      return false;
    }
  };

  const enter = () => {
    router ??= loadRouter()
      .then(({ openAdminRouter }) => openAdminRouter({ ...context, pool: sessions() }))
      .catch((error: unknown) => {
        // The database may have been away: the next one who comes tries again.
        router = null;
        throw error;
      });
    return router;
  };

  return {
    async handle(request, response, next) {
      // By session and never by token: an agent does not even learn that /admin exists.
      const session = request.get("Authorization") === undefined ? sessionHash(request, context.baseUrl()) : null;
      if (!/^\/admin(\/|$)/.test(request.path) || session === null || !(await admits(session))) return next();
      response.locals["operation"] = "admin";
      const serve = await enter();
      serve(request, response, next);
    },
    async close() {
      await pool?.end();
    },
  };
};
