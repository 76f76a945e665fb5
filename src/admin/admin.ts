import type { NextFunction, Request, Response } from "express";
import type pg from "pg";
import { openPool } from "../database/database.ts";
import type { Log } from "../log.ts";
import { sessionHash } from "../pages/session.ts";

/**
 * The entrance to /admin. It admits a moderator by the session of the browser. For everybody else /admin does not
 * exist: the request passes on and gets the response of an unknown path. The admin router (GraphQL, its IDE, the pages)
 * is larger than the whole API, so it is loaded when the first moderator comes.
 */

/** Moderators are few, and their queries must not take connections from the API. */
export const ADMIN_POOL_SIZE = 3;

const loadRouter = () => {
  // Outside production Grafast runs checks for developers that slow down every operation, and logs so at every start.
  process.env["GRAPHILE_ENV"] ??= "production";
  return import("./router.ts");
};

/** What /admin needs from the process. */
export type AdminContext = {
  /** URL of the database. */
  url: string;
  embedded: boolean;
  log: Log;
  baseUrl: () => string;
};

/** Serves every path below /admin. */
export type Admin = {
  handle: (request: Request, response: Response, next: NextFunction) => Promise<void>;
  close(): Promise<void>;
};

const isNotFound = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "PT404";

/** Makes the admin. It opens no connection and loads nothing before a request for /admin has a session. */
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

  /** Whether this session belongs to a moderator, which the database checks at every request. */
  const isModerator = async (session: Buffer): Promise<boolean> => {
    try {
      await sessions().query("select internal.enter_moderator($1)", [session]);
      return true;
    } catch (error) {
      // While the database is unreachable, too, nobody learns that /admin exists.
      if (!isNotFound(error)) context.log.warn({ err: error }, "the admin could not look up a session");
      return false;
    }
  };

  const getRouter = () => {
    router ??= loadRouter()
      .then(({ openAdminRouter }) => openAdminRouter({ ...context, pool: sessions() }))
      .catch((error: unknown) => {
        // The database may have been unreachable. The next request tries again.
        router = null;
        throw error;
      });
    return router;
  };

  return {
    async handle(request, response, next) {
      // A request with a token is never admitted, so an agent does not learn that /admin exists.
      const session = request.get("Authorization") === undefined ? sessionHash(request, context.baseUrl()) : null;
      if (!/^\/admin(\/|$)/.test(request.path) || session === null || !(await isModerator(session))) return next();
      response.locals["operation"] = "admin";
      const serve = await getRouter();
      serve(request, response, next);
    },
    async close() {
      await pool?.end();
    },
  };
};
