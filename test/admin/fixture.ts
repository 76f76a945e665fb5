import pg from "pg";
import { hashSecret, newSecret } from "../../src/base/tokens.ts";
import { newVisitor, type Visitor } from "../sign_in/visitor.ts";
import { createDatabase } from "../support/database.ts";
import {
  type Agent,
  type Answer,
  type Body,
  call,
  connectAgent,
  connectedAgent,
  eventually,
  patiently,
  SOFA,
} from "../support/market.ts";
import { startService } from "../support/service.ts";
import { sharedService } from "../support/shared.ts";

/**
 * A service, for tests of moderation.
 *
 *   person      somebody with an account and a session
 *   moderator   a person who is appointed as a moderator
 *   graphql     sends one operation, as the browser of a moderator would
 */

/** A GraphQL response with its HTTP status. */
export type GraphQl = { status: number; data: Body; errors: { message: string; extensions: Body; path?: string[] }[] };

/** A moderator with a session. */
export type Moderator = {
  account: string;
  /** The value of the Cookie header. */
  cookie: string;
  secret: string;
  graphql: (query: string, variables?: object) => Promise<GraphQl>;
  /** Like graphql, but returns only the data. @throws an Error with the errors, if there are any */
  ask: (query: string, variables?: object) => Promise<Body>;
  /** Runs a mutation with an input, and asks for some of its answer. */
  mutate: (name: string, input: object, answer?: string) => Promise<GraphQl>;
  /** Like mutate, but returns only the answer. @throws an Error with the errors, if there are any */
  act: (name: string, input: object, answer?: string) => Promise<Body>;
  /** Runs a mutation on an offer with its current `updatedAt`, and with further arguments by name. */
  decide: (name: string, offer: string, further?: Record<string, string | null>) => Promise<GraphQl>;
  /** Returns members of an offer. */
  see: (offer: string, members?: string) => Promise<Body>;
};

/** A running service with its database. */
export type AdminFixture = {
  url: string;
  databaseUrl: string;
  call: typeof call extends (url: string, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never;
  sql: (query: string, values?: unknown[]) => Promise<Body[]>;
  /** Connects an agent, and approves it. */
  agent: (name?: string) => Promise<Agent>;
  /** Connects an agent that nobody has approved. */
  stranger: (name?: string) => Promise<Agent>;
  /** The id of the account that an agent acts for. */
  accountOf: (agent: Agent) => Promise<string>;
  /** Publishes an offer. Returns its id. @throws if the status is not 201 */
  publish: (agent: Agent, text?: string) => Promise<string>;
  /** Creates a signed-in person who is not a moderator. */
  person: () => Promise<{ account: string; cookie: string; secret: string }>;
  moderator: (name?: string) => Promise<Moderator>;
  offer: (agent: Agent, id: string) => Promise<Answer>;
  logs: () => string | Promise<string>;
  stop: () => Promise<void>;
};

/** The headers by which a browser marks a request from the service's own page. */
export const sameOrigin = (url: string): Record<string, string> => ({ origin: url, "sec-fetch-site": "same-origin" });

type Sql = AdminFixture["sql"];

const signedInPerson = async (sql: Sql): ReturnType<AdminFixture["person"]> => {
  const secret = newSecret();
  const [{ id }] = (await sql("insert into market.account (claimed_at) values (now()) returning id")) as [
    { id: string },
  ];
  await sql("insert into market.session (account_id, secret_hash) values ($1, $2)", [id, hashSecret(secret)]);
  return { account: id, cookie: `souk_session=${secret}`, secret };
};

/** Creates a signed-in person who is a moderator. */
export const signedInModerator = async (sql: Sql, name?: string): ReturnType<AdminFixture["person"]> => {
  const person = await signedInPerson(sql);
  await sql("update market.account set display_name = $2 where id = $1", [person.account, name ?? null]);
  await sql("insert into market.moderator (account_id, appointed_by) values ($1, 'a test')", [person.account]);
  return person;
};

/** Writes a value as GraphQL does: like JSON, but the names of members have no quotes. */
export const literal = (value: object): string => JSON.stringify(value).replaceAll(/"(\w+)":/g, "$1:");

/** Opens the service that other test files use, too. Call `stop` in `test.after.always`. */
export const openAdminFixture = async (...configuration: Parameters<typeof sharedService>): Promise<AdminFixture> => {
  const { url, database, logs } = await sharedService(...configuration);
  return fixtureOf(url, database, logs, async () => {});
};

/** Starts a service with a database of its own. Call `stop` in `test.after.always`. */
export const openOwnAdminFixture = async (): Promise<AdminFixture> => {
  const database = await createDatabase();
  // Every test connects agents of its own, all from one address, so the default limit would be too low.
  const service = await startService({ database: database.url, env: { CONNECTIONS_PER_HOUR: "10000" } });
  return fixtureOf(service.url, database.url, service.logs, async () => {
    await service.stop();
    await database.drop();
  });
};

const fixtureOf = (
  url: string,
  databaseUrl: string,
  logs: AdminFixture["logs"],
  stop: () => Promise<void>,
): AdminFixture => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  pool.on("error", () => {});
  const sql: AdminFixture["sql"] = async (query, values = []) => (await pool.query(query, values)).rows;

  const person: AdminFixture["person"] = () => signedInPerson(sql);

  const moderator: AdminFixture["moderator"] = async (name) => {
    const { account, cookie, secret } = await signedInModerator(sql, name);
    // The admin is loaded when the first moderator comes. While it cannot get a connection in time, it is a 404.
    await eventually(
      () => call(url, "GET", "/admin", { headers: { cookie, accept: "text/html" } }),
      ({ status }) => status === 200,
    );
    const graphql: Moderator["graphql"] = async (query, variables = {}) => {
      const { status, body } = await call(url, "POST", "/admin/graphql", {
        body: { query, variables },
        headers: { cookie, ...sameOrigin(url) },
      });
      return { status, data: body.data, errors: body.errors ?? [] };
    };
    const ask: Moderator["ask"] = async (query, variables) => {
      const { data, errors } = await graphql(query, variables);
      if (errors.length > 0) throw new Error(JSON.stringify(errors));
      return data;
    };
    const mutate: Moderator["mutate"] = (name, input, answer = "__typename") =>
      graphql(`mutation { ${name}(input: ${literal(input)}) { ${answer} } }`);
    const act: Moderator["act"] = async (name, input, answer) => {
      const { data, errors } = await mutate(name, input, answer);
      if (errors.length > 0) throw new Error(JSON.stringify(errors));
      return data[name];
    };
    const see: Moderator["see"] = async (id, members = "updatedAt") =>
      (await ask(`query($id: UUID!) { offer(id: $id) { ${members} } }`, { id })).offer;
    const decide: Moderator["decide"] = async (action, id, further = {}) => {
      const { updatedAt: expectedUpdatedAt } = await see(id);
      return mutate(action, { id, expectedUpdatedAt, ...further }, "offer { status reviewed reviewReason reviewNote }");
    };
    return { account, cookie, secret, graphql, ask, mutate, act, decide, see };
  };

  return {
    url,
    databaseUrl,
    call: (...rest) => call(url, ...rest),
    sql,
    person,
    moderator,
    agent: (name) => connectedAgent(url, databaseUrl, name),
    stranger: (name) => connectAgent(url, name),
    async accountOf(agent) {
      const [row] = await sql("select account_id from market.agent where id = $1", [agent.id]);
      return row.account_id;
    },
    async publish(agent, text = SOFA) {
      const { status, body } = await patiently(() => agent.call("POST", "/v1/offers", { text }));
      if (status !== 201) throw new Error(`publishing gave ${status}: ${JSON.stringify(body)}`);
      return body.offer_id;
    },
    offer: (agent, id) => agent.call("GET", `/v1/offers/${id}`),
    logs,
    async stop() {
      await pool.end();
      await stop();
    },
  };
};

/** The browser of somebody who has a session. */
export const browserOf = (url: string, { secret }: { secret: string }): Visitor => {
  const browser = newVisitor();
  browser.jar.set(new URL(url).hostname, new Map([["souk_session", secret]]));
  return browser;
};

/** The code of each error in a response. */
export const codes = ({ errors }: GraphQl): string[] => errors.map(({ extensions }) => extensions.code);
