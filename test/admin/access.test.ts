import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Agent as HttpAgent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { newSecret } from "../../src/base/tokens.ts";
import { allowed } from "../support/busy.ts";
import type { Agent, Answer, CallOptions } from "../support/market.ts";
import { type AdminFixture, codes, type Moderator, openOwnAdminFixture, sameOrigin } from "./fixture.ts";

/** Tests who may use /admin, and the limits on the cost of a moderator's GraphQL operation. */

let fixture: AdminFixture;
let moderator: Moderator;
let agent: Agent;
test.before(async () => {
  fixture = await openOwnAdminFixture();
  moderator = await fixture.moderator("Mo");
  agent = await fixture.agent();
});
test.after.always(() => fixture?.stop());

/** A response without the headers and text that differ for every request. */
const bare = ({ status, headers, text }: Answer) => {
  const { "request-id": id = "", date: _date, ...kept } = headers;
  return { status, headers: kept, text: text.replace(id, "") };
};

const PATHS = [
  ["GET", "/admin"],
  ["GET", "/admin/graphql"],
  ["POST", "/admin/graphql"],
  ["GET", "/admin/graphiql"],
  ["GET", "/admin/graphiql/static/ruru.js"],
  ["GET", "/admin/settings"],
  ["POST", "/admin/settings"],
  ["GET", `/admin/offers/${randomUUID()}`],
  ["GET", "/admin/assets/admin.js"],
] as const;

const INTROSPECTION = { query: "{ __schema { types { name } } }" };

test.serial("only a moderator sees /admin; everybody else gets the response for an unknown path", async (t) => {
  const person = await fixture.person();
  const outsiders: Record<string, Record<string, string>> = {
    nobody: {},
    "an agent": { authorization: `Bearer ${agent.token}` },
    "an agent that sends a moderator's session along": {
      authorization: `Bearer ${agent.token}`,
      cookie: moderator.cookie,
    },
    "a person": { cookie: person.cookie },
    "a made-up session": { cookie: `souk_session=${newSecret()}` },
    "a broken session": { cookie: "souk_session=x" },
  };
  for (const [who, headers] of Object.entries(outsiders)) {
    for (const [method, path] of PATHS) {
      const sent: CallOptions = {
        headers: { ...headers, ...sameOrigin(fixture.url) },
        ...(method === "POST" ? { body: INTROSPECTION } : {}),
      };
      const [there, nowhere] = [await fixture.call(method, path, sent), await fixture.call(method, "/nowhere", sent)];
      t.is(there.status, 404, `${who}: ${method} ${path}`);
      t.deepEqual(bare(there), bare(nowhere), `${who}: ${method} ${path}`);
    }
  }
});

/** Returns the status and all header names of a response, with the connection's headers, which fetch hides. */
const rawHeaders = (method: string, path: string, headers: Record<string, string>, body?: string) =>
  new Promise<[number | undefined, string[]]>((resolve, reject) => {
    const sent = request(
      `${fixture.url}${path}`,
      { method, headers, agent: new HttpAgent({ keepAlive: true }) },
      (answer) => {
        answer.resume();
        const names = answer.rawHeaders.map((part) => part.toLowerCase()).filter((_, at) => at % 2 === 0);
        resolve([answer.statusCode, [...names.sort(), String(answer.headers.connection)]]);
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });

test.serial("the connection headers of /admin do not tell an outsider that the path exists", async (t) => {
  const { cookie } = await fixture.person();
  for (const [method, body] of [
    ["GET", undefined],
    ["POST", JSON.stringify(INTROSPECTION)],
  ] as const) {
    const headers = { cookie, ...(body && { "content-type": "application/json", "content-length": `${body.length}` }) };
    const there = await rawHeaders(method, "/admin/graphql", headers, body);
    t.is(there[0], 404);
    t.deepEqual(there, await rawHeaders(method, "/nowhere", headers, body), method);
  }
});

test.serial("a malformed cursor, or one of another sort order, is a bad request", async (t) => {
  for (const after of ["abc", "WyJ4Il0="]) {
    const answer = await moderator.graphql(
      "query($after: Cursor) { auditEvents(first: 5, after: $after, orderBy: [PRIMARY_KEY_DESC]) { nodes { id } } }",
      { after },
    );
    t.deepEqual(codes(answer), ["bad_request"], after);
    t.regex(answer.errors[0]?.message ?? "", /cursor/);
    const headers = { cookie: moderator.cookie, accept: "text/html" };
    t.is((await fixture.call("GET", `/admin/audit?after=${after}`, { headers })).status, 400);
  }
});

test.serial("neither a dismissed moderator nor one with an ended session gets in", async (t) => {
  const former = await fixture.moderator();
  t.is((await former.graphql("{ viewer { name } }")).status, 200);
  await fixture.sql("delete from market.moderator where account_id = $1", [former.account]);
  t.is((await former.graphql("{ viewer { name } }")).status, 404);
  const late = await fixture.moderator();
  // A session of an account without a sign-in method ends 400 days after its last use.
  await fixture.sql("update market.session set seen_at = now() - interval '400 days' where account_id = $1", [
    late.account,
  ]);
  t.is((await late.graphql("{ viewer { name } }")).status, 404);
});

test.serial("an operation sent by another site is refused, whatever its headers claim", async (t) => {
  const send = (headers: Record<string, string>) =>
    fixture.call("POST", "/admin/graphql", {
      body: { query: "{ viewer { name } }" },
      headers: { cookie: moderator.cookie, ...headers },
    });
  t.is((await send(sameOrigin(fixture.url))).status, 200);
  for (const headers of [
    {},
    { origin: "https://evil.example" },
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { origin: "null" },
    { ...sameOrigin(fixture.url), "sec-fetch-site": "cross-site" },
    { ...sameOrigin(fixture.url), "sec-fetch-site": "same-site" },
  ])
    t.is((await send(headers)).status, 400, JSON.stringify(headers));
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
    t.is((await send({ ...sameOrigin(fixture.url), "content-type": type })).status, 415, type);
});

test.serial("operations are accepted by POST only", async (t) => {
  const headers = { cookie: moderator.cookie, ...sameOrigin(fixture.url) };
  for (const method of ["GET", "PUT", "DELETE"]) {
    const answer = await fixture.call(method, "/admin/graphql?query={viewer{name}}", { headers });
    t.is(answer.status, 405, method);
    t.is(answer.headers["allow"], "POST");
  }
});

test.serial("a list of operations is refused, and so is a malformed or large body", async (t) => {
  const headers = { cookie: moderator.cookie, ...sameOrigin(fixture.url) };
  const one = { query: "{ viewer { name } }" };
  for (const body of [[one, one], [], {}, { query: 1 }, { ...one, variables: [] }, { ...one, operationName: 3 }])
    t.is((await fixture.call("POST", "/admin/graphql", { body, headers })).status, 400, JSON.stringify(body));
  const large = { query: `{ viewer { name } } #${"x".repeat(110_000)}` };
  t.is((await fixture.call("POST", "/admin/graphql", { body: large, headers })).status, 413);
});

/** Many mutations of one operation. */
const MANY = Array.from({ length: 11 }, (_, n) => `a${n}: releaseCase(input: {}) { clientMutationId }`).join(" ");
const SIZED = "{ offers(first: $n) { nodes { id } } }";
const TOO_MANY = /at most 100 rows of offers/;

const REFUSALS: Record<string, [query: string, says: RegExp, variables?: object]> = {
  "a thousand aliases": [
    `{ ${Array.from({ length: 1000 }, (_, n) => `a${n}: viewer { name }`).join(" ")} }`,
    /more than 150 fields|token/i,
  ],
  "fragments nested in fragments": [
    `{ ${"...f9 ".repeat(2)} } ${Array.from({ length: 9 }, (_, n) => `fragment f${n + 1} on Query { ...f${n} ...f${n} ...f${n} ...f${n} }`).join(" ")} fragment f0 on Query { viewer { name } }`,
    /more than 150 fields|deeper/,
  ],
  "a fragment that contains itself": ["{ ...f } fragment f on Query { viewer { name } ...f }", /deeper/],
  "a deep query": [
    `{ offers(first: 1) { nodes ${"{ account { offers(first: 1) { nodes ".repeat(6)}{ id }${" } } }".repeat(6)} } }`,
    /deeper than 12 levels/,
  ],
  "a page of a thousand rows": ["{ offers(first: 1000) { nodes { id } } }", TOO_MANY],
  "a page of a thousand rows, by a variable": [`query($n: Int) ${SIZED}`, TOO_MANY, { n: 1000 }],
  "a page of a thousand rows, by a variable's default": [`query($n: Int = 1000) ${SIZED}`, TOO_MANY],
  "a page without a size": ["{ offers { nodes { id } } }", /Say how many rows of offers/],
  "a page whose size is a missing variable": [`query($n: Int) ${SIZED}`, /Say how many rows of offers/],
  "a page of negative size": ["{ offers(first: -1) { nodes { id } } }", /at most 100/],
  "pages within pages": [
    "{ accounts(first: 100) { nodes { offers(first: 100) { nodes { reports(first: 100) { nodes { id } } } } } } }",
    /5000 is the most/,
  ],
  "an offset of a million": ["{ offers(first: 1, offset: 1000000) { nodes { id } } }", /Skip at most/],
  "a deeply nested introspection": [
    "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }",
    /introspection depth/,
  ],
  "many mutations at once": [`mutation { ${MANY} }`, /at most 10 things/],
  "many mutations at once, in a fragment": [
    `mutation { ...f } fragment f on Mutation { ${MANY} }`,
    /at most 10 things/,
  ],
  "a query with a syntax error": ["{ viewer { name }", /Syntax Error/],
  "an unknown field": ["{ sessions { nodes { secretHash } } }", /Cannot query field "sessions"/],
  "two operations without operationName": ["query a { viewer { name } } query b { viewer { name } }", /operationName/],
  "no operation": ["fragment f on Query { viewer { name } }", /operationName/],
  "a subscription": ["subscription { viewer { name } }", /./],
};

for (const [what, [query, says, variables]] of Object.entries(REFUSALS)) {
  test.serial(`${what} is refused before it is executed`, async (t) => {
    const answer = await moderator.graphql(query, variables);
    t.is(answer.status, 400);
    t.regex(answer.errors[0]?.message ?? "", says);
    t.deepEqual(new Set(codes(answer)), new Set(["bad_request"]));
  });
}

test.serial("a malformed id is a bad request that reveals nothing of the database", async (t) => {
  const answer = await moderator.graphql('{ offer(id: "x") { title } }');
  t.deepEqual(codes(answer), ["bad_request"]);
  t.notRegex(JSON.stringify(answer.errors), /syntax|pg_|market\./);
});

test.serial("an operation that takes longer than three seconds is cancelled, in the database too", async (t) => {
  await fixture.sql(
    `create function market.sleepy() returns trigger language plpgsql as 'begin perform pg_sleep(20); return new; end'`,
  );
  const id = await fixture.publish(agent);
  await fixture.sql(
    "create trigger a_sleepy before update on market.offer for each row execute function market.sleepy()",
  );
  try {
    const start = performance.now();
    const answer = await moderator.decide("keepOffer", id);
    t.true(performance.now() - start < allowed(6_000));
    t.deepEqual(codes(answer), ["service_unavailable"]);
    t.regex(answer.errors[0]?.message ?? "", /longer than 3 seconds/);
    const [{ busy }] = await fixture.sql(
      "select count(*)::integer as busy from pg_stat_activity where query ~ 'keep_offer' and state = 'active' and pid <> pg_backend_pid() and datname = current_database()",
    );
    t.is(busy, 0);
  } finally {
    await fixture.sql("drop trigger a_sleepy on market.offer");
  }
});

test.serial("the introspection query of the IDE is answered", async (t) => {
  const { getIntrospectionQuery } = await import("postgraphile/graphql");
  const { status, data } = await moderator.graphql(getIntrospectionQuery());
  t.is(status, 200);
  t.true(data.__schema.types.length > 50);
});

test.serial("the schema has no field with a secret or personal contact detail", async (t) => {
  const { data } = await moderator.graphql("{ __schema { types { name fields { name } inputFields { name } } } }");
  const names = JSON.stringify(data);
  t.notRegex(names, /hash|token|secret|session|email|phone/i);
});

test.serial("an API process does not load the admin's GraphQL libraries before a moderator visits", async (t) => {
  const app = fileURLToPath(new URL("../../src/app.ts", import.meta.url));
  const admin = fileURLToPath(new URL("../../src/admin/admin.ts", import.meta.url));
  const script = `
    import { createRequire } from "node:module";
    await import(${JSON.stringify(app)}); await import(${JSON.stringify(admin)});
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(loaded.length, loaded.filter((file) => /node_modules\\/(postgraphile|grafast|graphql|ruru|graphile-build)\\//.test(file)).length);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  const [loaded, heavy] = stdout.trim().split(" ").map(Number);
  t.true((loaded ?? 0) > 50);
  t.is(heavy, 0);
});
