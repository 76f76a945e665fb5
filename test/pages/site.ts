import { createServer, request } from "node:http";
import express from "express";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { createCallers } from "../../src/database/callers.ts";
import type { Actor, Arguments, Database, Moderator } from "../../src/database/database.ts";
import { pages } from "../../src/pages/pages.ts";
import type { SignIn } from "../../src/sign_in/sign_in.ts";
import { listenOn } from "../support/raw_server.ts";

/**
 * Serves the pages on a port of their own, with a fake database that gives scripted answers.
 *
 *   call     one recorded call of a database function: actor, name, arguments, pool
 *   script   what each function returns, by its name. If the value is an Error, the function throws it
 */

type Call = { actor: Actor | Moderator; name: string; args: Arguments; pool: string | undefined };

/** The answers of the fake database by function name. */
export type Script = Record<string, unknown>;

/** The served pages and what they did. */
export type Site = {
  /** The address of the server, without a slash at the end. */
  url: string;
  calls: Call[];
  script: Script;
  /** Errors that a page answered with a 5xx status and passed on to the log. */
  thrown: unknown[];
};

/** The part of ava's `t` that registers a clean-up. */
export type Teardown = { teardown: (clean: () => Promise<void>) => void };

/** The request id of every request to a site. */
export const REQUEST_ID = "0190c7a4-0000-7000-8000-000000000001";

/** A pending connection, as api.get_connection returns it. */
export const CONNECTION = {
  agent_name: "Claude",
  codes: ["LMNP-QRST", "BCDF-GHJK", "VWXZ-BCDF"],
  mispicked: false,
  client: null,
  requested_at: "2026-03-04T14:03:22.000Z",
  requested_minutes_ago: 2,
  expires_in: 1675,
  account: {
    label: "Lena (lena@example.com)",
    is_new: false,
    shown: "c0ffee",
    has_method: true,
    needs_sign_in: false,
    holds: null,
  },
};

/** A problem as PostgreSQL raises it: SQLSTATE PT and the status, the code as message, extra members in the hint. */
export const raised = (status: number, code: string, detail: string, hint: object = {}): Error =>
  Object.assign(new Error(code), { code: `PT${status}`, detail, hint: JSON.stringify(hint) });

/** All methods are available, with stub providers and a stub mailer. Real ones have tests of their own. */
const SIGN_IN: SignIn = {
  methods: ["google", "apple", "email"],
  providers: Object.fromEntries(
    ["google", "apple"].map((method) => [
      method,
      {
        origin: `https://${method}.example`,
        begin: async () => `https://${method}.example/authorize`,
        finish: async () => ({ subject: "someone", email: null, name: null }),
      },
    ]),
  ),
  mailer: { send: async () => {}, close: () => {} },
  mailbox: null,
  recordKey: null,
};

/**
 * Serves the pages until the test ends. `baseUrl` is the configured BASE_URL; the default is the address of the server.
 */
export const servePages = async (
  t: Teardown,
  script: Script = {},
  baseUrl?: string,
  signIn: SignIn = SIGN_IN,
): Promise<Site> => {
  const site: Site = {
    url: "",
    calls: [],
    thrown: [],
    script: {
      get_connection: CONNECTION,
      approve_connection: { agent_name: "Claude", agent_id: "a", new_session: true, has_method: false, client: null },
      decline_connection: { client: null },
      ...script,
    },
  };
  const database: Database = {
    inTurn: (_lane, work) => work(),
    callers: createCallers(),
    turns: { waiting: () => ({}), refused: () => 0 },
    call: async (actor, name, args, pool) => {
      site.calls.push({ actor, name, args: typeof args === "function" ? await args() : args, pool });
      const answer = site.script[name];
      if (answer instanceof Error) throw answer;
      return JSON.stringify(answer);
    },
    check: async () => {},
    state: async () => null,
    pools: {},
    replicas: () => [],
    close: async () => {},
  };
  const app = express();
  app.use((_request, response, next) => {
    response.locals["requestId"] = REQUEST_ID;
    response.once("close", () => {
      if (response.locals["thrown"] !== undefined) site.thrown.push(response.locals["thrown"]);
    });
    next();
  });
  app.use(
    pages({
      database,
      baseUrl: () => baseUrl ?? site.url,
      signIn,
      endpoints: ENDPOINTS,
      withoutOrders: (words) => words,
    }),
  );
  app.use((_request, response) => {
    response.status(404).send("not a page");
  });
  const server = createServer(app);
  // By default a server closes a connection after five idle seconds. A busy test could then be sending on it.
  server.keepAliveTimeout = 0;
  site.url = `http://127.0.0.1:${await listenOn(t, server)}`;
  return site;
};

/**
 * Serves the pages below a path, as behind a proxy that removes it. The url of the site ends with the path. Whatever is
 * not below it gets a 404.
 */
export const servePagesBelow = async (t: Teardown, path: string, script: Script = {}): Promise<Site> => {
  let target = "";
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = "" } = incoming;
    if (!url.startsWith(`${path}/`)) return void outgoing.writeHead(404).end();
    const sent = request(target + url.slice(path.length), { method, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(sent);
  });
  const url = `http://127.0.0.1:${await listenOn(t, proxy)}${path}`;
  const site = await servePages(t, script, url);
  target = site.url;
  return { ...site, url };
};
