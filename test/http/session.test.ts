import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { newSecret } from "../../src/base/tokens.ts";
import type { Agent, Body } from "../support/market.ts";
import { call } from "../support/market.ts";
import { EVERYTHING } from "../support/shared.ts";
import { type Market, NOTHING, OFFER, openMarket, type Person } from "./contract.ts";

/**
 * A person in a browser calls the same endpoints as an agent. Calls need a session and must come from the service's
 * pages. A person with a proved sign-in method has no cap, unless a moderator sets one. Publishing, previewing and asking
 * need such a method; otherwise scripts could use sessions to get around the caps.
 */

let market: Market;
let agent: Agent;
let person: Person;

test.before(async () => {
  market = await openMarket(EVERYTHING);
  agent = await market.agent();
  person = await market.person(agent);
  await prove(agent);
});

/** Proves a sign-in method for the account of an agent. */
const prove = (behind: Agent, method = "apple", email: string | null = null, where = market): Promise<Body[]> =>
  where.sql(
    `insert into market.proved_method (account_id, method, subject_hash, email)
     select account_id, $2, sha256(convert_to(id::text, 'UTF8')), $3 from market.agent where id = $1`,
    [behind.id, method, email],
  );

test.after.always(() => market?.stop());

const rateHeaders = (headers: Record<string, string>) =>
  Object.keys(headers).filter((name) => name.startsWith("ratelimit-"));

const OF_CALLERS = ENDPOINTS.filter(({ auth }) => auth === "token");

test.serial("the refusal of a person's offer has no RateLimit headers", async (t) => {
  const refused = await person.call("POST", "/v1/offers", { text: "Grey sofa for sale, 180 EUR" });
  t.is(refused.body.code, "missing_contact");
  t.deepEqual(rateHeaders(refused.headers), []);
});

test.serial("an endpoint only for agents refuses a person, and the detail says where a person does this", async (t) => {
  const verification = await person.call("POST", "/v1/me/verifications", { method: "email" });
  t.is(verification.body.code, "invalid_state");
  t.regex(verification.body.detail, new RegExp(`${market.url}/settings`));
  const removal = await person.call("DELETE", "/v1/me/agent");
  t.is(removal.body.code, "invalid_state");
  t.regex(removal.body.detail, /You are not an agent.*settings/);
});

test.serial(
  "a person's GET /v1/me has no agent and no limits but that of messages, and allows everything",
  async (t) => {
    const { body } = await person.call("GET", "/v1/me");
    t.is(body.agent, undefined);
    t.deepEqual(Object.keys(body.limits), ["converse"]);
    t.true(body.account.connected);
    for (const [name, { allowed }] of Object.entries<Body>(body.permissions)) t.true(allowed, name);
    t.deepEqual(Object.keys(body.permissions), Object.keys((await agent.call("GET", "/v1/me")).body.permissions));
    t.is(body.id, (await agent.call("GET", "/v1/me")).body.id);
    for (const { path } of body.next) t.not(path, "/v1/me/agent");
  },
);

test.serial("a person sees their e-mail address and phone number, and their agents do not", async (t) => {
  const own = await market.agent();
  const behind = await market.person(own);
  await prove(own, "google", "proved@example.org");
  t.is((await behind.call("GET", "/v1/me")).body.email, "proved@example.org");
  await market.sql(
    `insert into market.profile (account_id, contact_email, contact_phone)
     select account_id, 'told@example.org', '+4930123456' from market.agent where id = $1`,
    [own.id],
  );
  const { email, phone } = (await behind.call("GET", "/v1/me")).body;
  t.deepEqual([email, phone], ["told@example.org", "+4930123456"]);
  for (const headers of [{}, { cookie: `souk_session=${behind.cookie}` }]) {
    const { text, body } = await own.call("GET", "/v1/me", undefined, headers);
    t.truthy(body.agent);
    t.notRegex(text, /example\.org|\+4930123456|"email":"|"phone"/);
  }
});

const METHODS = ["google", "apple", "email"];

/** What the refusal of a person without a proved method says, without the members of every problem. */
const refusalOf = (permission: string) => ({
  permission,
  connected: true,
  verified: [],
  accepted_methods: METHODS,
  options: [
    ["google", "Google"],
    ["apple", "Apple"],
    ["email", "e-mail"],
  ].map(([method, name]) => ({
    method,
    summary: `Open this page in the browser and add ${name}.`,
    call: { method: "GET", path: "/settings/methods" },
  })),
  next: [
    {
      summary: "On this page, add a way to sign in. Then send the call again.",
      method: "GET",
      path: "/settings/methods",
    },
  ],
});

const ADVICE =
  "To publish, preview or create an ask in the browser, an account needs a proved sign-in method. Add a way to sign in at " +
  "/settings/methods, or let an agent of yours do it.";

const withoutCommon = ({ type, title, status, code, detail, request_id, retryable, ...rest }: Body): Body => rest;

test.serial(
  "a person without a proved method cannot publish, preview or ask, and is told where to add one",
  async (t) => {
    const own = await market.agent();
    const behind = await market.person(own);
    const { offer_id: offer } = (await own.call("POST", "/v1/offers", { text: OFFER })).body;
    const { id: ask } = (await own.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body;
    const refused: [string, string, string, Body][] = [
      ["publish_offer", "POST", "/v1/offers", { text: OFFER }],
      ["publish_offer", "POST", "/v1/offers/preview", { text: OFFER }],
      ["create_ask", "POST", "/v1/asks", { text: "Looking for a table" }],
      // A changed text is read as a new one is.
      ["publish_offer", "PATCH", `/v1/offers/${offer}`, { text: `${OFFER} or Tom` }],
      ["create_ask", "PATCH", `/v1/asks/${ask}`, { text: "Looking for a table", watch_enabled: false }],
    ];
    const submissions = () =>
      market.sql(
        "select count(*)::int from market.submission where account_id = (select account_id from market.agent where id = $1)",
        [own.id],
      );
    const before = await submissions();
    for (const [permission, method, path, body] of refused) {
      const answer = await behind.call(method, path, body);
      t.is(`${answer.status} ${answer.body.code}`, "403 verification_required", path);
      t.is(answer.body.detail, ADVICE);
      t.deepEqual(withoutCommon(answer.body), refusalOf(permission), path);
      t.deepEqual(rateHeaders(answer.headers), [], path);
    }
    for (const [, , path] of refused.slice(0, 3)) {
      const wrong = await behind.call("POST", path, { text: 7 });
      t.is(wrong.body.code, "verification_required", "the refusal comes before errors of the body");
    }
    t.deepEqual(await submissions(), before);

    const me = (await behind.call("GET", "/v1/me")).body;
    const lacking = { allowed: false, accepted_methods: METHODS, summary: ADVICE };
    t.deepEqual([me.permissions.publish_offer, me.permissions.create_ask], [lacking, lacking]);
    t.deepEqual([me.permissions.manage_offers, me.permissions.manage_asks], [{ allowed: true }, { allowed: true }]);
    t.deepEqual(Object.keys(me.limits).toSorted(), ["converse", "manage", "report_offer"]);
    t.deepEqual(me.next[0], { summary: ADVICE, method: "GET", path: "/settings/methods" });
    t.true((await own.call("GET", "/v1/me")).body.permissions.publish_offer.allowed, "its agents publish");

    // What reads no text stays.
    for (const [method, path, body] of [
      ["PATCH", `/v1/asks/${ask}`, { watch_enabled: false }],
      ["POST", `/v1/asks/${ask}/archive`],
      ["POST", `/v1/offers/${offer}/archive`],
      ["POST", `/v1/offers/${offer}/republish`],
      ["POST", `/v1/offers/${offer}/confirm`],
      ["POST", "/v1/offers/search", { query: "sofa" }],
    ] as const) {
      t.is((await behind.call(method, path, body)).status, 200, path);
    }

    // A script could otherwise report without end.
    const foreign = (await agent.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
    const report = () => behind.call("POST", `/v1/offers/${foreign}/report`, { reason: "spam" });
    const reports = await Promise.all(Array.from({ length: 33 }, report));
    t.is(reports.filter(({ status }) => status === 429).length, 3);

    await prove(own);
    t.not((await report()).status, 429, "a person with a proved method has no limit");
    t.is((await behind.call("POST", "/v1/offers", { text: OFFER })).status, 201);
    t.is((await behind.call("POST", "/v1/offers/preview", { text: OFFER })).status, 200);
    t.is((await behind.call("POST", "/v1/asks", { text: "Looking for a table" })).status, 201);
    t.true((await behind.call("GET", "/v1/me")).body.permissions.publish_offer.allowed);
  },
);

test.serial("where no method is offered, a person without one is told to let an agent publish", async (t) => {
  const bare = await openMarket();
  try {
    const own = await bare.agent();
    const behind = await bare.person(own);
    const { status, body } = await behind.call("POST", "/v1/offers", { text: OFFER });
    t.is(`${status} ${body.code}`, "403 verification_required");
    t.regex(body.detail, /this market offers no way to prove one\. Let an agent do it: .* POST \/v1\/connect/);
    t.deepEqual([body.accepted_methods, body.options, body.connected], [[], [], true]);
    t.deepEqual(body.next, [
      {
        summary: "Create an agent, approve it at its link, and let it publish and ask.",
        method: "POST",
        path: "/v1/connect",
      },
    ]);
    const me = (await behind.call("GET", "/v1/me")).body;
    t.deepEqual(me.permissions.publish_offer, { allowed: false, accepted_methods: [], summary: body.detail });
    t.deepEqual(me.next[0], { summary: body.detail, method: "POST", path: "/v1/connect" });
    t.is((await own.call("POST", "/v1/offers", { text: OFFER })).status, 201, "agents publish as before");
    await prove(own, "apple", null, bare);
    const { status: proved } = await behind.call("POST", "/v1/offers", { text: OFFER });
    t.is(proved, 201, "a method that was proved earlier counts");
  } finally {
    await bare.stop();
  }
});

test.serial("a cap that a moderator sets holds for all sessions of the account together", async (t) => {
  const own = await market.agent();
  await prove(own);
  await market.sql(
    `insert into market.cap_override (account_id, action, cap) select account_id, 'publish_offer', 3 from market.agent where id = $1`,
    [own.id],
  );
  const browsers = [await market.person(own), await market.person(own)];
  const publish = (n: number) => browsers[n % 2]?.call("POST", "/v1/offers", { text: `${OFFER} ${n}` });
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => publish(n)));
  t.deepEqual(answers.map((answer) => answer?.status).toSorted(), [...Array(3).fill(201), ...Array(9).fill(429)]);
  for (const answer of answers) t.is(answer?.headers["ratelimit-limit"], "3");
  const refused = answers.find((answer) => answer?.status === 429);
  t.regex(
    refused?.body.detail,
    /^This account has used its 3 calls of this hour under the limit "publish_offer" \(limits in GET \/v1\/me\)\. Wait \d+ seconds, then try again\.$/,
  );
  t.is(refused?.headers["retry-after"], String(refused?.body.retry_after));
  const me = (await browsers[0]?.call("GET", "/v1/me"))?.body;
  t.deepEqual([Object.keys(me.limits).toSorted(), me.limits.publish_offer.used], [["converse", "publish_offer"], 3]);
  t.is((await own.call("GET", "/v1/me")).body.limits.publish_offer.used, 0, "its agents have windows of their own");
  t.is((await browsers[0]?.call("POST", "/v1/asks", { text: "Looking for a sofa" }))?.status, 201, "no other cap");
  await market.sql("update market.cap_override set cap = 0 where account_id = $1", [me.id]);
  t.regex((await publish(1))?.body.detail, /^Moderation has set the limit "publish_offer" to 0/);
});

test.serial("a person's idempotency keys belong to the account, and are separate from those of agents", async (t) => {
  const key = { "idempotency-key": "the same" };
  const publish = (who: Pick<Agent, "call">) => who.call("POST", "/v1/offers", { text: OFFER }, key);
  const first = await publish(person);
  const again = await publish(await market.person(agent));
  t.deepEqual([again.headers["idempotency-replayed"], again.body], ["true", first.body]);
  const neighbour = await market.agent();
  await prove(neighbour);
  for (const other of [agent, await market.person(neighbour)]) {
    const { status, headers, body } = await publish(other);
    t.deepEqual([status, headers["idempotency-replayed"]], [201, undefined]);
    t.not(body.offer_id, first.body.offer_id);
  }
});

const UNSAFE = OF_CALLERS.filter(({ method }) => method !== "get");
const FOREIGN: Record<string, Record<string, string>> = {
  "no Origin": {},
  "another site": { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  "an opaque origin": { origin: "null" },
  "another port": { origin: "http://127.0.0.1:1" },
  "another origin of the same site": { origin: "http://a.127.0.0.1", "sec-fetch-site": "same-site" },
  "our Origin, from another site": { origin: "SELF", "sec-fetch-site": "cross-site" },
  "a request that no site caused": { "sec-fetch-site": "none" },
};

test.serial("a session can change something only from the service's own pages", async (t) => {
  t.true(UNSAFE.length > 10);
  const offers = async () => (await person.call("GET", "/v1/offers?limit=50")).body.results;
  const before = await offers();
  for (const { operationId, method, path, body } of UNSAFE) {
    for (const [what, headers] of Object.entries(FOREIGN)) {
      const origin = headers["origin"] === "SELF" ? { origin: market.url } : {};
      const answer = await market.call(method.toUpperCase(), path.replace("{id}", NOTHING), {
        ...(body ? { body: body.example } : {}),
        headers: { cookie: `souk_session=${person.cookie}`, ...headers, ...origin },
      });
      t.is(`${answer.status} ${answer.body.code}`, "401 unauthorized", `${operationId}, ${what}`);
      t.regex(answer.body.detail, /did not come from/, `${operationId}, ${what}`);
    }
  }
  t.deepEqual(await offers(), before);
});

test.serial("a request with no Origin or the Origin null is accepted if Sec-Fetch-Site is same-origin", async (t) => {
  for (const headers of [{ "sec-fetch-site": "same-origin" }, { origin: "null", "sec-fetch-site": "same-origin" }]) {
    const { status } = await call(market.url, "POST", "/v1/offers/search", {
      body: { query: "sofa" },
      headers: { cookie: `souk_session=${person.cookie}`, ...headers },
    });
    t.is(status, 200);
  }
});

test.serial(
  "reading with a session needs no Origin, and caches and pages of other sites get nothing by it",
  async (t) => {
    for (const method of ["GET", "HEAD"]) {
      const { status, headers } = await market.call(method, "/v1/me", {
        headers: { cookie: `souk_session=${person.cookie}` },
      });
      t.is(status, 200);
      t.is(headers["cache-control"], "no-store");
      t.is(headers["access-control-allow-credentials"], undefined);
      t.is(headers["cross-origin-resource-policy"], "same-origin");
      for (const elsewhere of [
        { origin: "https://evil.example" },
        { origin: "null" },
        { "sec-fetch-site": "cross-site", "sec-fetch-dest": "empty" },
      ]) {
        const cookie = { cookie: `souk_session=${person.cookie}` };
        t.is((await market.call(method, "/v1/me", { headers: { ...cookie, ...elsewhere } })).status, 401);
      }
    }
  },
);

test.serial("a token takes precedence over a session, and a wrong token is refused even with a session", async (t) => {
  const cookie = { cookie: `souk_session=${person.cookie}` };
  const both = await market.call("GET", "/v1/me", { headers: { ...cookie, authorization: `Bearer ${agent.token}` } });
  t.is(both.body.agent.id, agent.id);
  const written = await market.call("POST", "/v1/offers", {
    body: { text: OFFER },
    headers: { ...cookie, authorization: `Bearer ${agent.token}` },
  });
  t.is(written.status, 201, "an agent needs no Origin");
  for (const authorization of ["", "Bearer", "Bearer agt_wrong", `Basic ${agent.token}`]) {
    const { status } = await market.call("GET", "/v1/me", { headers: { ...cookie, authorization } });
    t.is(status, 401, authorization);
  }
});

test.serial("a session that has ended or never existed is refused", async (t) => {
  const ended = await market.person(agent);
  t.is((await ended.call("GET", "/v1/me")).status, 200);
  // This browser has not signed in, so its session ends 400 days after its last use.
  await market.sql(
    "update market.session set seen_at = now() - interval '400 days' where secret_hash = sha256(convert_to($1, 'UTF8'))",
    [ended.cookie],
  );
  t.is((await ended.call("GET", "/v1/me")).status, 401);
  t.is((await ended.call("POST", "/v1/offers", { text: OFFER })).status, 401);
  for (const value of [newSecret(), "", "x", `${person.cookie}x`, `"${person.cookie}"x`, "%00", "a".repeat(5000)]) {
    const { status, body } = await market.call("GET", "/v1/me", { headers: { cookie: `souk_session=${value}` } });
    t.is(`${status} ${body.code}`, "401 unauthorized", value.slice(0, 50));
  }
  const { status } = await market.call("GET", "/v1/me", {
    headers: { cookie: `__Host-souk_session=${person.cookie}` },
  });
  t.is(status, 401, "the cookie with the __Host- prefix is not accepted over http");
});

test.serial("over https only the cookie with the __Host- prefix is accepted", async (t) => {
  const secure = await openMarket({ env: { BASE_URL: "https://Market.example/souk" } });
  try {
    const { cookie } = await secure.person(await secure.agent());
    const as = async (name: string, headers: Record<string, string> = {}) =>
      (
        await call(secure.url, "POST", "/v1/offers/search", {
          body: { query: "x" },
          headers: { cookie: `${name}=${cookie}`, ...headers },
        })
      ).status;
    t.is(await as("__Host-souk_session", { origin: "https://market.example" }), 200);
    t.is(await as("__Host-souk_session", { origin: "http://market.example" }), 401);
    t.is(await as("souk_session", { origin: "https://market.example" }), 401);
    const { body } = await call(secure.url, "GET", "/v1/openapi.json");
    t.like(body.components.securitySchemes.session, { type: "apiKey", in: "cookie", name: "__Host-souk_session" });
  } finally {
    await secure.stop();
  }
});
