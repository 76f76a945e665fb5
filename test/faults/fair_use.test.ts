import test from "ava";
import { hashSecret, newSecret, newToken } from "../../src/base/tokens.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, call, connectAgent, connectedAgent } from "../support/market.ts";
import { type Service, startPart } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * One caller keeps more calls open than fair use allows. Its excess calls get 429 and count in no window, nobody gets
 * 503, and other callers are served meanwhile.
 *
 * In this database, looking up a token or a session takes a quarter of a second until the flood has been seen to be too
 * much. So the calls of a flood are open at the same time, however slowly this machine sends them, and the test does not
 * wait for each of them.
 */

const LOOK_UP_SECONDS = 0.25;
/** The contract: at most 8 calls of a caller run, and 256 wait. A page needs several connections, so fewer pages run. */
const [RUNNING, WAITING] = [8, 256];
const FLOOD = 400;

let database: Database;
let service: Service;

test.before(async () => {
  database = await createDatabase();
  // Without a worker, asks are answered when the time for reading them is over.
  service = await startPart("api", {
    database: database.url,
    env: { CONNECTIONS_PER_HOUR: "1000", EXTRACTION_DEADLINE_MS: "1000" },
  });
  await sql(database.url, "update market.setting set value = '1000' where name = 'search_offers_cap'");
  await sql(database.url, "create table public.look_up as select 0::float as seconds");
  await sql(database.url, "grant select on public.look_up to public");
  for (const name of ["find_agent", "find_session"]) {
    const definition = await sqlValue<string>(
      database.url,
      `select pg_get_functiondef('internal.${name}(bytea)'::regprocedure)`,
    );
    const slow =
      definition?.replace(/\nbegin\n/i, "\nbegin\nperform pg_sleep((select seconds from public.look_up));\n") ?? "";
    if (slow === definition) throw new Error(`internal.${name} has no begin.`);
    await sql(database.url, slow);
  }
});
test.after.always(async () => {
  await service?.stop();
  await database?.drop();
});
test.beforeEach(() => letLookUpsTake(LOOK_UP_SECONDS));
test.after("every invariant holds", (t) => assertInvariants(t, database.url));

const letLookUpsTake = (seconds: number) => sql(database.url)`update public.look_up set seconds = ${seconds}`;

const send = (method: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Answer> =>
  call(service.url, method, path, { headers, ...(body === undefined ? {} : { body }) });

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const isFairUse = ({ status, headers }: Answer): boolean => status === 429 && headers["retry-after"] === "1";

/** Sends a flood. `tooMany` resolves once a call of it was refused, and is false if none was. */
const flooding = (attempt: (n: number) => Promise<Answer>) => {
  const calls = Array.from({ length: FLOOD }, (_, n) => attempt(n));
  const answers = Promise.all(calls);
  const refused = calls.map(
    (answer) =>
      new Promise<true>(
        (resolve) =>
          void answer.then(
            (one) => isFairUse(one) && resolve(true),
            () => {},
          ),
      ),
  );
  return { answers, tooMany: Promise.race([...refused, answers.then(() => false)]) };
};

/** A session of a new person, as the Cookie header. */
const session = async (): Promise<{ account: string; cookie: string }> => {
  const secret = newSecret();
  const [row] = await sql<{ account: string }>(database.url)`with a as (insert into market.account (claimed_at)
    values (now()) returning id)
    insert into market.session (account_id, secret_hash) select id, ${hashSecret(secret)}
      from a returning account_id as account`;
  return { account: row?.account ?? "", cookie: `souk_session=${secret}` };
};

/** Proves a sign-in method for the account of an agent, which then takes turns of its own. */
const prove = (agent: Agent) => sql(database.url)`insert into market.proved_method (account_id, method, subject_hash)
  select account_id, 'google', sha256(uuid_send(id)) from market.agent where id = ${agent.id}`;

type Kind = { kind: string; served: number; prepare: () => Promise<() => Promise<Answer>> };

const ofAgent = (make: (agent: Agent) => () => Promise<Answer>) => async () => {
  const agent = await connectedAgent(service.url, database.url);
  // A process knows a token once the database has accepted it.
  await agent.call("GET", "/v1/me");
  return make(agent);
};

const KINDS: Kind[] = [
  {
    kind: "searches of forty agents and sessions without a proved person, which count by their address",
    served: 200,
    prepare: async () => {
      const callers: Record<string, string>[] = [];
      for (let n = 0; n < 10; n += 1) {
        callers.push(bearer((await connectAgent(service.url, `Test ${n}`, { sandbox: true })).token));
        callers.push(bearer((await connectAgent(service.url, `Unapproved ${n}`)).token));
        // A script can approve its own agents.
        callers.push(bearer((await connectedAgent(service.url, database.url, `Approved ${n}`)).token));
        callers.push({ cookie: (await session()).cookie, origin: service.url, "sec-fetch-site": "same-origin" });
      }
      // A process knows a token once the database has accepted it.
      for (const caller of callers) await send("GET", "/v1/me", caller);
      let next = 0;
      return () => send("POST", "/v1/offers/search", callers[next++ % callers.length] ?? {}, { query: "sofa" });
    },
  },
  { kind: "GET /v1/me of an agent", served: 200, prepare: ofAgent((agent) => () => agent.call("GET", "/v1/me")) },
  {
    kind: "API calls of a session",
    served: 200,
    prepare: async () => {
      const { cookie } = await session();
      await send("GET", "/v1/me", { cookie });
      return () => send("GET", "/v1/me", { cookie });
    },
  },
  {
    kind: "pages of a session",
    served: 200,
    prepare: async () => {
      const { cookie } = await session();
      await send("GET", "/v1/me", { cookie });
      return () => send("GET", "/settings", { cookie, accept: "text/html" });
    },
  },
  {
    kind: "GraphQL of a moderator",
    served: 200,
    prepare: async () => {
      const { account, cookie } = await session();
      await sql(database.url)`insert into market.moderator (account_id, appointed_by) values (${account}, 'a test')`;
      const headers = { cookie, origin: service.url, "sec-fetch-site": "same-origin" };
      const ask = () => send("POST", "/admin/graphql", headers, { query: "{ __typename }" });
      await ask();
      return ask;
    },
  },
  {
    kind: "invented tokens, which count by their address",
    served: 401,
    prepare: async () => () => send("GET", "/v1/me", bearer(newToken())),
  },
];

for (const { kind, served, prepare } of KINDS) {
  test.serial(`excess calls get 429 and nobody gets 503: ${kind}`, async (t) => {
    const attempt = await prepare();
    const other = await connectedAgent(service.url, database.url);
    await prove(other);
    await other.call("GET", "/v1/me");

    const flood = flooding(attempt);
    let over = false;
    void flood.answers.then(() => {
      over = true;
    });
    for (let n = 0; n < 3; n += 1) t.is((await other.call("GET", "/v1/me")).status, 200);
    t.false(over, "another caller is served while the flood waits");
    t.true(await flood.tooMany);
    await letLookUpsTake(0);

    const answers = await flood.answers;
    const refused = answers.filter(isFairUse);
    t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([served, 429]));
    t.true(refused.length > 0 && refused.length <= FLOOD - WAITING, `${refused.length} were refused`);
    t.is(answers.filter(({ status }) => status === served).length, FLOOD - refused.length);
    const [{ headers, body } = answers[0] as Answer] = refused;
    if (/json/.test(headers["content-type"] ?? "")) {
      t.is(body.code, "rate_limited");
      t.is(body.retry_after, 1);
      t.regex(body.detail, /not counted\. Wait until some are answered, then send it again/);
    }
    t.is((await attempt()).status, served, "afterwards the caller is served again");
  });
}

test.serial("refused calls count in no window, and have the last known RateLimit headers", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  await sql(database.url)`insert into market.cap_override (account_id, action, cap)
    select account_id, 'create_ask', 1000 from market.agent where id = ${agent.id}`;
  const flood = flooding((n) => agent.call("POST", "/v1/asks", { text: `Looking for sofa number ${n}` }));
  t.true(await flood.tooMany);
  await letLookUpsTake(0);
  const answers = await flood.answers;
  const refused = answers.filter(isFairUse);
  const created = answers.filter(({ status }) => status === 201);
  t.true(refused.length > 0);
  t.is(created.length + refused.length, FLOOD);
  for (const { headers } of refused) {
    t.is(headers["ratelimit-limit"], "1000");
    const remaining = Number(headers["ratelimit-remaining"]);
    t.true(remaining <= 1000 && remaining >= 1000 - created.length, `${remaining} remain`);
    t.regex(headers["ratelimit-reset"] ?? "", /^\d+$/);
  }
  t.is(
    await sqlValue(database.url)`select count(*)::int from market.rate_limit_hit where scope = 'agent:' || ${agent.id}`,
    created.length,
  );
  t.is((await agent.call("GET", "/v1/me")).body.limits.create_ask.used, created.length);
});

test.serial("repeating a removed token or an ended session costs the database nothing", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  t.is((await agent.call("DELETE", "/v1/me/agent")).status, 204);
  const ended = `souk_session=${newSecret()}`;
  for (const headers of [bearer(agent.token), { cookie: ended }]) {
    const first = await send("GET", "/v1/me", headers);
    t.is(first.status, 401);
    const start = performance.now();
    for (let n = 0; n < 20; n += 1) {
      const again = await send("GET", "/v1/me", headers);
      t.is(again.status, 401);
      const { request_id: _, ...told } = again.body;
      const { request_id: __, ...before } = first.body;
      t.deepEqual(told, before);
      t.false("unknown_caller" in told);
    }
    t.true(performance.now() - start < (20 * LOOK_UP_SECONDS * 1000) / 2, "none of them is looked up");
  }
});

test.serial("clients that hang up leave the queue, so that their caller can call again", async (t) => {
  const agent = await connectedAgent(service.url, database.url);
  await agent.call("GET", "/v1/me");
  const clients = new AbortController();
  const calls = Array.from({ length: FLOOD }, () =>
    fetch(`${service.url}/v1/me`, { headers: bearer(agent.token), signal: clients.signal }),
  );
  // Once one is refused, all places are taken.
  const refused = await Promise.any(calls.map(async (one) => ((await one).status === 429 ? true : Promise.reject())));
  t.true(refused);
  clients.abort();
  await Promise.allSettled(calls);
  const start = performance.now();
  let answer = await agent.call("GET", "/v1/me");
  while (isFairUse(answer)) answer = await agent.call("GET", "/v1/me");
  t.is(answer.status, 200);
  t.true(performance.now() - start < (WAITING / RUNNING) * LOOK_UP_SECONDS * 1000, "the abandoned calls do not run");
});
