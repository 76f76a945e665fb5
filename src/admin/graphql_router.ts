import express, { type Request, type Response, type Router } from "express";
import type pg from "pg";
import { z } from "zod";
import type { Log } from "../base/log.ts";
import { problem } from "../base/problem.ts";
import type { Database } from "../database/database.ts";
import { sessionHash } from "../pages/session.ts";
import { readJsonBody } from "../web/body.ts";
import { checkSender } from "../web/csrf.ts";
import { requestIdOf } from "../web/send.ts";
import { openAdminSchema } from "./graphql.ts";
import { ide } from "./ide.ts";

/**
 * The router of the moderators' GraphQL and its IDE. src/admin/admin.ts has already checked that the request is a
 * moderator's.
 */

/** The limit of a body: many times the longest query, with its variables, that people write. */
const BODY_BYTES = 100 * 1024;

const body = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

/** The hash of the session secret, by which the request was admitted. @throws Problem when there is none */
const admitted = (request: Request, baseUrl: string): Buffer => {
  const session = sessionHash(request, baseUrl);
  if (session === null) throw problem("not_found", "There is nothing at this address. GET /v1 lists what there is.");
  return session;
};

/** Makes the router of GraphQL. @throws when the database's catalog cannot be read */
export const openGraphqlRouter = async (context: {
  pool: pg.Pool;
  log: Log;
  baseUrl: () => string;
  inTurn: Database["inTurn"];
}): Promise<Router> => {
  const { baseUrl, log, pool, inTurn } = context;
  const schema = await openAdminSchema(pool, inTurn, (error) => log.error({ err: error }, "an admin operation failed"));
  const router = express.Router({ caseSensitive: true, strict: true });

  const graphql = async (request: Request, response: Response): Promise<void> => {
    response.locals["operation"] = "adminGraphql";
    if (request.method !== "POST")
      throw problem("method_not_allowed", "GraphQL is sent by POST.", {}, { Allow: "POST" });
    checkSender(request, baseUrl());
    const sent = body.safeParse(await readJsonBody(request, response, BODY_BYTES));
    // A list of operations is refused, because the limits hold for one operation.
    if (!sent.success) {
      throw problem(
        "bad_request",
        "Send one operation as a JSON object with query and, if needed, variables and operationName.",
      );
    }
    const { query, variables, operationName } = sent.data;
    const { status, body: result } = await schema.run(
      { session: admitted(request, baseUrl()), requestId: requestIdOf(response) },
      { query, variables: variables ?? {}, operationName: operationName ?? null },
    );
    response.status(status).set("Cache-Control", "no-store").json(result);
  };

  router.all("/admin/graphql", graphql);
  router.use(ide(baseUrl));
  return router;
};
