import { randomUUID } from "node:crypto";
import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import helmet from "helmet";
import { readCookie, SESSION_COOKIE, setCookie } from "../cookies.ts";
import type { Database } from "../database.ts";
import { refuse, toProblem, toRefusal } from "../problem.ts";
import { hashSecret, newSecret } from "../tokens.ts";
import { checkSender, giveFormToken, isFormToken } from "./forgery.ts";
import { readForm } from "./form.ts";
import {
  type Connection,
  renderApproval,
  renderApproved,
  renderDeclined,
  renderErrors,
  renderHome,
  renderRefusal,
  STYLESHEET,
} from "./render.ts";

/** What the pages need of the process around them. `baseUrl` is asked late: a free port is known once it is listened on. */
export type PagesContext = { database: Database; baseUrl: () => string };

/** Thirty days, as market.session keeps it. */
const SESSION_SECONDS = 30 * 24 * 60 * 60;

/** Long enough for a person who looks around, short enough to see a changed text the same day. */
const PUBLIC_CACHE = "public, max-age=300";
const STYLESHEET_CACHE = "public, max-age=3600";

/** Helmet's headers under our own policy: nothing but our stylesheet and our form. HSTS only where there is TLS. */
const securityHeaders = (secure: boolean): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    referrerPolicy: { policy: "no-referrer" },
    xFrameOptions: { action: "deny" },
    strictTransportSecurity: secure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
  });

const HEADERS = { http: securityHeaders(false), https: securityHeaders(true) };

const requestIdOf = (response: Response): string => {
  const id: unknown = response.locals["requestId"];
  return typeof id === "string" ? id : randomUUID();
};

/** A refused request as a page, or as a Problem for who asked for JSON. */
const sendRefusal = (request: Request, response: Response, baseUrl: string, thrown: unknown): void => {
  const refusal = toRefusal(thrown);
  const requestId = requestIdOf(response);
  const problem = toProblem(refusal, requestId, baseUrl);
  // A page shows nothing of a failure; whoever logs the answer finds here what it was.
  if (problem.status >= 500) response.locals["thrown"] = thrown;
  response.status(problem.status).set(problem.headers).vary("Accept");
  const preferred = request.accepts(["html", "json", "application/problem+json"]);
  if (preferred === "json" || preferred === "application/problem+json") {
    response.send(problem.body);
    return;
  }
  const { refused, detail } = refusal;
  const link = `${baseUrl}${request.path}`;
  response.type("html").send(renderRefusal(baseUrl, { refused, detail, requestId, link }));
};

/** The pages of the service, and their stylesheet. Answers no other path. */
export const pages = (context: PagesContext): Router => {
  const { database, baseUrl } = context;
  const router = express.Router({ caseSensitive: true, strict: true });

  /** Guards every answer of a page, and names the page for the log: a link's path is a secret. */
  const begin =
    (operation: string): RequestHandler =>
    (request, response, next) => {
      response.locals["operation"] = operation;
      response.set("X-Robots-Tag", "noindex");
      HEADERS[baseUrl().startsWith("https:") ? "https" : "http"](request, response, next);
    };

  /** Every answer of a connection page is for this person at this moment. */
  const answer =
    (handle: (request: Request<{ secret: string }>, response: Response) => Promise<void>) =>
    async (request: Request<{ secret: string }>, response: Response): Promise<void> => {
      response.set("Cache-Control", "no-store");
      try {
        await handle(request, response);
      } catch (thrown) {
        sendRefusal(request, response, baseUrl(), thrown);
      }
    };

  const showConnection = answer(async (request, response) => {
    const { secret } = request.params;
    // The write pool, though this only reads: a replica that lags would not know a link that is seconds old.
    const found = await database.call("visitor", "get_connection", { secret_hash: hashSecret(secret) }, "write");
    const connection = JSON.parse(found) as Connection;
    const token = giveFormToken(request, response, baseUrl(), request.path);
    response.type("html").send(renderApproval(baseUrl(), connection, token));
  });

  const approve = async (request: Request, response: Response, secret: string): Promise<void> => {
    const session = readCookie(request, baseUrl(), SESSION_COOKIE);
    const newSession = newSecret();
    const approved = await database.call("visitor", "approve_connection", {
      secret_hash: hashSecret(secret),
      session_hash: session === null ? null : hashSecret(session),
      new_session_hash: hashSecret(newSession),
    });
    const { agent_name, new_session } = JSON.parse(approved) as { agent_name: string; new_session: boolean };
    if (new_session) setCookie(response, baseUrl(), SESSION_COOKIE, newSession, SESSION_SECONDS);
    response.type("html").send(renderApproved(baseUrl(), agent_name));
  };

  const decline = async (response: Response, secret: string): Promise<void> => {
    await database.call("visitor", "decline_connection", { secret_hash: hashSecret(secret) });
    response.type("html").send(renderDeclined(baseUrl()));
  };

  const decideConnection = answer(async (request, response) => {
    checkSender(request, baseUrl());
    const form = await readForm(request, response);
    if (!isFormToken(request, baseUrl(), request.path, form.get("token") ?? "")) {
      throw refuse(
        "bad_request",
        "The page was open for too long, or this browser did not keep the cookie that goes with it. If cookies are turned off, allow them for this site.",
      );
    }
    const { secret } = request.params;
    const decision = form.get("decision");
    if (decision === "approve") await approve(request, response, secret);
    else if (decision === "decline") await decline(response, secret);
    else throw refuse("bad_request", "The answer is neither Approve nor Not mine.");
  });

  /** Browsers send only GET and POST here, so what comes with another method is a program and gets a Problem. */
  const only =
    (allowed: string): RequestHandler =>
    (request, response) => {
      const refusal = refuse(
        "method_not_allowed",
        `This page does not take ${request.method}.`,
        {},
        { Allow: allowed },
      );
      const problem = toProblem(refusal, requestIdOf(response), baseUrl());
      response.status(problem.status).set(problem.headers).send(problem.body);
    };

  router
    .route("/connect/:secret")
    .all(begin("connectionPage"))
    .get(showConnection)
    .post(decideConnection)
    .all(only("GET, HEAD, POST"));

  router
    .route("/errors")
    .all(begin("errorsPage"))
    .get((_request, response) => {
      response.set("Cache-Control", PUBLIC_CACHE).type("html").send(renderErrors(baseUrl()));
    })
    .all(only("GET, HEAD"));

  router
    .route("/")
    .all(begin("homePage"))
    .get((_request, response) => {
      response.set("Cache-Control", PUBLIC_CACHE).type("html").send(renderHome(baseUrl()));
    })
    .all(only("GET, HEAD"));

  router
    .route("/assets/souk.css")
    .all(begin("stylesheet"))
    .get((_request, response) => {
      response.set({ "Cache-Control": STYLESHEET_CACHE, ETag: STYLESHEET.etag }).type("css").send(STYLESHEET.css);
    })
    .all(only("GET, HEAD"));

  return router;
};
