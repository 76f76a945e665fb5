import type { NextFunction, Request, Response } from "express";
import type pg from "pg";
import type { Log } from "../base/log.ts";
import { measured } from "../base/tracing/tracing.ts";
import { ADMIN_POOL_SIZE, DATABASE, type Database, openPool, runOn } from "../database/database.ts";
import { sessionHash } from "../pages/session.ts";
import { adminPages } from "./pages.ts";

/**
 * The entrance to /admin. It admits a moderator by the session of the browser. For everybody else /admin does not
 * exist: the request passes on and gets the response of an unknown path. GraphQL and its IDE are larger than the whole
 * API, so they are loaded when the first moderator comes to them.
 */

const loadGraphql = () => {
  // Outside production Grafast runs checks for developers that slow down every operation, and logs so at every start.
  process.env["GRAPHILE_ENV"] ??= "production";
  return import("./graphql_router.ts");
};

/** What /admin needs from the process. */
type AdminContext = {
  /** URL of the database. */
  url: string;
  embedded: boolean;
  /** The URL is a pooler's in transaction mode. */
  pooled: boolean;
  log: Log;
  baseUrl: () => string;
  /** What pages call. Moderators take turns like all callers. */
  database: Pick<Database, "call" | "inTurn">;
};

/** More sessions than moderators have. */
const MAX_ADMITTED = 1_000;

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

/** Makes the admin. It opens no connection of its own before a request for /admin has a session. */
export const openAdmin = (context: AdminContext) => {
  let pool: pg.Pool | null = null;
  let graphql: ReturnType<Awaited<ReturnType<typeof loadGraphql>>["openGraphqlRouter"]> | null = null;
  const { inTurn } = context.database;
  const pages = adminPages(context.database, context.baseUrl);

  const sessions = (): pg.Pool => {
    pool ??= openPool(
      {
        url: context.url,
        poolSize: ADMIN_POOL_SIZE,
        role: "souk_api",
        embedded: context.embedded,
        pooled: context.pooled,
        onError: (error) => context.log.warn({ err: error }, "the admin lost a connection"),
      },
      context.url,
    );
    return pool;
  };

  /** The sessions that were a moderator's when they were last looked up. */
  const admitted = new Set<string>();

  /**
   * Whether this session belongs to a moderator, which the database checks at every request.
   * @throws the error when a session that was a moderator's cannot be looked up, or has too many calls open
   */
  const isModerator = async (session: Buffer): Promise<boolean> => {
    const key = session.toString("base64url");
    try {
      const statement = { text: "select internal.enter_moderator($1)", values: [session] };
      await inTurn("admin", () =>
        measured("db", { name: "internal.enter_moderator", kind: "client", attributes: DATABASE }, () =>
          runOn(sessions(), () => statement),
        ),
      );
      if (admitted.size < MAX_ADMITTED) admitted.add(key);
      return true;
    } catch (error) {
      if (hasCode(error, "PT404")) admitted.delete(key);
      // A moderator knows that /admin exists, so the real reason helps: too many calls at once, or no database.
      else if (admitted.has(key)) throw error;
      // Nobody else learns of it, even if the database is unreachable.
      else if (!hasCode(error, "PT429")) context.log.warn({ err: error }, "the admin could not look up a session");
      return false;
    }
  };

  const getGraphql = () => {
    graphql ??= loadGraphql()
      .then(({ openGraphqlRouter }) => openGraphqlRouter({ ...context, inTurn, pool: sessions() }))
      .catch((error: unknown) => {
        // The database may have been unreachable. The next request tries again.
        graphql = null;
        throw error;
      });
    return graphql;
  };

  return {
    /** Serves every path below /admin. */
    async handle(request: Request, response: Response, next: NextFunction): Promise<void> {
      // A request with a token is never admitted, so an agent does not learn that /admin exists.
      const session = request.get("Authorization") === undefined ? sessionHash(request, context.baseUrl()) : null;
      if (!/^\/admin(\/|$)/.test(request.path) || session === null || !(await isModerator(session))) return next();
      response.locals["operation"] = "admin";
      const serve = /^\/admin\/graphi?ql(\/|$)/.test(request.path) ? await getGraphql() : pages;
      serve(request, response, (error?: unknown) => {
        // A request for an unknown path below /admin is logged like one for any unknown path.
        if (error === undefined) response.locals["operation"] = null;
        next(error);
      });
    },
    async close(): Promise<void> {
      await pool?.end();
    },
  };
};

/** The entrance to /admin. */
export type Admin = ReturnType<typeof openAdmin>;
