import type { NextFunction, Request, Response } from "express";
import type pg from "pg";
import { openPool } from "../database/database.ts";
import type { Log } from "../log.ts";
import { sessionHash } from "../pages/session.ts";

/**
 * The door of the moderators' room, /admin. For everybody but a moderator there is nothing behind it: the request goes
 * on, and is answered like one for any address that does not exist. The room itself (GraphQL, its IDE, the pages) weighs
 * more than the whole API, so it is loaded when the first moderator comes.
 */

/** Few people moderate; what they ask for must not take the connections of the API. */
export const ADMIN_POOL_SIZE = 3;

const loadRoom = () => {
  // Grafast's checks for developers slow every operation down; unset, it says so at every start.
  process.env["GRAPHILE_ENV"] ??= "production";
  return import("./router.ts");
};

export type AdminContext = {
  /** The database's URL. */
  url: string;
  embedded: boolean;
  log: Log;
  baseUrl: () => string;
};

export type Admin = {
  handle: (request: Request, response: Response, next: NextFunction) => Promise<void>;
  close(): Promise<void>;
};

const isNotFound = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "PT404";

/** Makes the door. Opens no connection and loads nothing before somebody with a session knocks. */
export const openAdmin = (context: AdminContext): Admin => {
  let pool: pg.Pool | null = null;
  let room: ReturnType<Awaited<ReturnType<typeof loadRoom>>["openRoom"]> | null = null;

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
      // Nobody is told that there is a door while the database is away, either.
      if (!isNotFound(error)) context.log.warn({ err: error }, "the admin could not look up a session");
      return false;
    }
  };

  const enter = () => {
    room ??= loadRoom()
      .then(({ openRoom }) => openRoom({ ...context, pool: sessions() }))
      .catch((error: unknown) => {
        // The database may have been away: the next one who comes tries again.
        room = null;
        throw error;
      });
    return room;
  };

  return {
    async handle(request, response, next) {
      // By session and never by token: an agent does not even learn that there is a door.
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
