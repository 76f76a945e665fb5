import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import type { Actor, Arguments, Database } from "../../src/database/database.ts";
import { pages } from "../../src/pages/pages.ts";
import type { SignIn } from "../../src/sign_in/sign_in.ts";

/**
 * The pages on a port of their own, over a database that answers what a test tells it to.
 *
 *   call     one call of a database function: who, which, with what, on which pool
 *   script   what each function answers; a value that is an Error is raised
 */

type Call = { actor: Actor; name: string; args: Arguments; pool: string | undefined };

export type Script = Record<string, unknown>;

export type Site = {
  /** Where it listens, without a slash at the end. */
  url: string;
  calls: Call[];
  script: Script;
  /** What a page did not show and left for the log. */
  thrown: unknown[];
};

/** What of ava's `t` is needed to clean up after a test. */
export type Teardown = { teardown: (clean: () => Promise<void>) => void };

export const REQUEST_ID = "0190c7a4-0000-7000-8000-000000000001";

export const CONNECTION = {
  agent_name: "Claude",
  code: "BCDF-GHJK",
  requested_at: "2026-03-04T14:03:22.000Z",
  requested_minutes_ago: 2,
  expires_in: 1675,
  account: {
    label: "Lena (lena@example.com)",
    is_new: false,
    shown: "c0ffee",
    has_method: true,
    needs_sign_in: false,
  },
};

/** A refusal as PostgreSQL raises it. */
export const raised = (status: number, code: string, detail: string, hint: object = {}): Error =>
  Object.assign(new Error(code), { code: `PT${status}`, detail, hint: JSON.stringify(hint) });

/** Every method is offered, and leads nowhere: what a provider and a mail server do has tests of its own. */
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
};

/** Serves the pages until the test ends. `baseUrl` is what they believe to be reached at, when not where they listen. */
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
      approve_connection: { agent_name: "Claude", agent_id: "a", new_session: true, has_method: false },
      decline_connection: {},
      ...script,
    },
  };
  const database: Database = {
    call: async (actor, name, args, pool) => {
      site.calls.push({ actor, name, args, pool });
      const answer = site.script[name];
      if (answer instanceof Error) throw answer;
      return JSON.stringify(answer);
    },
    check: async () => {},
    state: async () => null,
    pools: {},
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
  app.use(pages({ database, baseUrl: () => baseUrl ?? site.url, signIn }));
  app.use((_request, response) => {
    response.status(404).send("not a page");
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return site;
};
