import test from "ava";
import { ENDPOINTS } from "../../src/http/endpoints.ts";
import { newSecret } from "../../src/http/tokens.ts";
import type { Agent, Body } from "../support/market.ts";
import { call } from "../support/market.ts";
import { type Market, NOTHING, OFFER, openMarket, type Person } from "./contract.ts";

/**
 * A person in a browser calls the same endpoints as an agent. Calls need a session and must come from the service's
 * pages, and they have no cap.
 */

let market: Market;
let agent: Agent;
let person: Person;

test.before(async () => {
  market = await openMarket();
  await market.sql("update market.sign_in_method set available = true");
  agent = await market.agent();
  person = await market.person(agent);
});
test.after.always(() => market?.stop());

const rateHeaders = (headers: Record<string, string>) =>
  Object.keys(headers).filter((name) => name.startsWith("ratelimit-"));

/** What a person sends to each endpoint, and the status of the response. */
const CALLS: Record<string, { path?: (ids: Record<string, string>) => string; status: number }> = {
  getMe: { status: 200 },
  removeOwnAgent: { status: 409 },
  startVerification: { status: 409 },
  getVerification: { path: ({ verification }) => `/v1/me/verifications/${verification}`, status: 200 },
  searchOffers: { status: 200 },
  publishOffer: { status: 201 },
  previewOffer: { status: 200 },
  listOffers: { status: 200 },
  getOffer: { path: ({ offer }) => `/v1/offers/${offer}`, status: 200 },
  updateOffer: { path: ({ offer }) => `/v1/offers/${offer}`, status: 200 },
  archiveOffer: { path: ({ offer }) => `/v1/offers/${offer}/archive`, status: 200 },
  republishOffer: { path: ({ offer }) => `/v1/offers/${offer}/republish`, status: 200 },
  // An account cannot report its own offer.
  reportOffer: { path: ({ offer }) => `/v1/offers/${offer}/report`, status: 409 },
  // A published offer cannot be appealed.
  appealOffer: { path: ({ offer }) => `/v1/offers/${offer}/appeal`, status: 409 },
  createAsk: { status: 201 },
  listAsks: { status: 200 },
  getAsk: { path: ({ ask }) => `/v1/asks/${ask}`, status: 200 },
  updateAsk: { path: ({ ask }) => `/v1/asks/${ask}`, status: 200 },
  archiveAsk: { path: ({ ask }) => `/v1/asks/${ask}/archive`, status: 200 },
  reopenAsk: { path: ({ ask }) => `/v1/asks/${ask}/reopen`, status: 200 },
  fulfillAsk: { path: ({ ask }) => `/v1/asks/${ask}/fulfill`, status: 200 },
  listMatches: { path: ({ ask }) => `/v1/asks/${ask}/matches`, status: 200 },
};
const OF_CALLERS = ENDPOINTS.filter(({ auth }) => auth === "token");

test.serial("a person calls every endpoint with a session, and no response has RateLimit headers", async (t) => {
  t.deepEqual(OF_CALLERS.map(({ operationId }) => operationId).toSorted(), Object.keys(CALLS).toSorted());
  const ids: Record<string, string> = {
    offer: (await person.call("POST", "/v1/offers", { text: OFFER })).body.offer_id,
    ask: (await person.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body.id,
    verification: (await agent.call("POST", "/v1/me/verifications", { method: "google" })).body.id,
  };
  for (const [operationId, { path, status }] of Object.entries(CALLS)) {
    const endpoint = OF_CALLERS.find((one) => one.operationId === operationId);
    if (!endpoint) throw new Error(operationId);
    const body = operationId === "publishOffer" ? { text: OFFER } : endpoint.body?.example;
    const sent = operationId === "updateOffer" ? { text: `${OFFER} or Tom` } : body;
    const answer = await person.call(endpoint.method.toUpperCase(), path ? path(ids) : endpoint.path, sent);
    t.is(answer.status, status, `${operationId}: ${answer.text}`);
    t.deepEqual(rateHeaders(answer.headers), [], operationId);
  }
  const [{ calls }] = await market.sql(
    "select count(*)::int as calls from market.rate_limit_hit where action <> 'connect'",
  );
  t.is(calls, 0, "no call was counted");
  const written = await market.sql(
    `select agent_id from market.offer where id = $1 union all select agent_id from market.ask where id = $2
     union all select agent_id from market.report union all select agent_id from market.submission where target_id = $1`,
    [ids["offer"], ids["ask"]],
  );
  t.true(written.length >= 4);
  for (const { agent_id } of written) t.is(agent_id, null);
});

test.serial("an endpoint only for agents refuses a person, and the detail says where a person does this", async (t) => {
  const verification = await person.call("POST", "/v1/me/verifications", { method: "email" });
  t.is(verification.body.code, "invalid_state");
  t.regex(verification.body.detail, new RegExp(`${market.url}/settings`));
  const removal = await person.call("DELETE", "/v1/me/agent");
  t.is(removal.body.code, "invalid_state");
  t.regex(removal.body.detail, /You are not an agent.*settings/);
});

test.serial("a person's GET /v1/me has no agent and no limits, and allows everything", async (t) => {
  const { body } = await person.call("GET", "/v1/me");
  t.is(body.agent, undefined);
  t.deepEqual(body.limits, {});
  t.true(body.account.connected);
  for (const [name, { allowed }] of Object.entries<Body>(body.permissions)) t.true(allowed, name);
  t.deepEqual(Object.keys(body.permissions), Object.keys((await agent.call("GET", "/v1/me")).body.permissions));
  t.is(body.id, (await agent.call("GET", "/v1/me")).body.id);
  for (const { path } of body.next) t.not(path, "/v1/me/agent");
});

test.serial("a person sees their e-mail address and phone number, and their agents do not", async (t) => {
  const own = await market.agent();
  const behind = await market.person(own);
  const contact = async () => {
    const { email, phone } = (await behind.call("GET", "/v1/me")).body;
    return { email, phone };
  };
  t.deepEqual(await contact(), { email: undefined, phone: undefined });
  await market.sql(
    `insert into market.proved_method (account_id, method, subject_hash, email)
     select account_id, 'google', sha256('p'), 'proved@example.org' from market.agent where id = $1`,
    [own.id],
  );
  t.deepEqual(await contact(), { email: "proved@example.org", phone: undefined });
  await market.sql(
    `insert into market.profile (account_id, contact_email, contact_phone)
     select account_id, 'told@example.org', '+4930123456' from market.agent where id = $1`,
    [own.id],
  );
  t.deepEqual(await contact(), { email: "told@example.org", phone: "+4930123456" });
  const unapproved = await market.stranger();
  for (const [who, token] of Object.entries({ own: own.token, unapproved: unapproved.token })) {
    for (const headers of [{}, { cookie: `souk_session=${behind.cookie}` }]) {
      const { text, body } = await market.call("GET", "/v1/me", {
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      t.truthy(body.agent, who);
      for (const secret of ["example.org", "+4930123456", '"email":"', '"phone"'])
        t.false(text.includes(secret), secret);
    }
  }
});

test.serial("a person is not capped, and a person's calls do not count for the agents", async (t) => {
  const own = await market.agent();
  const behind = await market.person(own);
  const published = [];
  for (let batch = 0; batch < 7; batch += 1) {
    published.push(
      ...(await Promise.all(
        Array.from({ length: 10 }, (_, n) => behind.call("POST", "/v1/offers", { text: `${OFFER} ${batch}-${n}` })),
      )),
    );
  }
  t.deepEqual(
    published.map(({ status }) => status),
    Array.from({ length: 70 }, () => 201),
  );
  const { limits } = (await own.call("GET", "/v1/me")).body;
  t.is(limits.publish_offer.used, 0);
});

test.serial("a person's idempotency keys belong to the account, and are separate from those of agents", async (t) => {
  const key = { "idempotency-key": "the same" };
  const first = await person.call("POST", "/v1/offers", { text: OFFER }, key);
  const elsewhere = await market.person(agent);
  const again = await elsewhere.call("POST", "/v1/offers", { text: OFFER }, key);
  t.is(again.headers["idempotency-replayed"], "true");
  t.deepEqual(again.body, first.body);
  t.is((await person.call("POST", "/v1/offers", { text: `${OFFER}.` }, key)).body.code, "idempotency_key_reused");
  const byAgent = await agent.call("POST", "/v1/offers", { text: OFFER }, key);
  t.is(byAgent.status, 201);
  t.is(byAgent.headers["idempotency-replayed"], undefined);
  t.not(byAgent.body.offer_id, first.body.offer_id);
  const another = await market.person(await market.agent());
  t.not((await another.call("POST", "/v1/offers", { text: OFFER }, key)).body.offer_id, first.body.offer_id);
});

test.serial("a refusal of a person's offer has no RateLimit headers", async (t) => {
  const { status, body, headers } = await person.call("POST", "/v1/offers", { text: "Grey sofa for sale, 180 EUR" });
  t.is(`${status} ${body.code}`, "400 missing_contact");
  t.deepEqual(rateHeaders(headers), []);
  for (const [sent, contentType] of [
    ["{", "application/json"],
    ["x", "text/plain"],
  ] as const) {
    const unread = await call(market.url, "POST", "/v1/offers", {
      raw: sent,
      headers: { cookie: `souk_session=${person.cookie}`, origin: market.url, "content-type": contentType },
    });
    t.true([400, 415].includes(unread.status));
    t.deepEqual(rateHeaders(unread.headers), []);
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
  const before = await market.sql("select count(*)::int as n, max(updated_at) as latest from market.offer");
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
  t.deepEqual(await market.sql("select count(*)::int as n, max(updated_at) as latest from market.offer"), before);
});

test.serial("a form on another site, which cannot send JSON, is refused", async (t) => {
  const { status } = await call(market.url, "POST", "/v1/asks", {
    raw: '{"text":"Wanted: x="}',
    headers: { cookie: `souk_session=${person.cookie}`, origin: "https://evil.example", "content-type": "text/plain" },
  });
  t.is(status, 401);
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

test.serial("reading with a session needs no Origin, and caches and other sites do not get the response", async (t) => {
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await market.call(method, "/v1/me", {
      headers: { cookie: `souk_session=${person.cookie}` },
    });
    t.is(status, 200);
    t.is(headers["cache-control"], "no-store");
    t.is(headers["access-control-allow-origin"], undefined);
    t.is(headers["cross-origin-resource-policy"], "same-origin");
  }
});

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
  await market.sql("update market.session set expires_at = now() where secret_hash = sha256(convert_to($1, 'UTF8'))", [
    ended.cookie,
  ]);
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
  const secure = await openMarket({ BASE_URL: "https://souk.example.com" });
  try {
    const { cookie } = await secure.person(await secure.agent());
    const as = async (name: string, headers: Record<string, string> = {}) =>
      (
        await call(secure.url, "POST", "/v1/offers/search", {
          body: { query: "x" },
          headers: { cookie: `${name}=${cookie}`, ...headers },
        })
      ).status;
    t.is(await as("__Host-souk_session", { origin: "https://souk.example.com" }), 200);
    t.is(await as("__Host-souk_session", { origin: "http://souk.example.com" }), 401);
    t.is(await as("souk_session", { origin: "https://souk.example.com" }), 401);
    const { body } = await call(secure.url, "GET", "/v1/openapi.json");
    t.like(body.components.securitySchemes.session, { type: "apiKey", in: "cookie", name: "__Host-souk_session" });
  } finally {
    await secure.stop();
  }
});

test.serial("the secret of a session is not in the log", (t) => {
  t.false(market.logs().includes(person.cookie));
});
