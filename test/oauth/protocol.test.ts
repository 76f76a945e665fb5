import test from "ava";
import { ASSERTION_ALGORITHMS } from "../../src/assistants/oauth/client_assertion.ts";
import { allowed } from "../support/busy.ts";
import { call, wholeLog } from "../support/market.ts";
import { startService } from "../support/service.ts";
import { type SharedService, sharedService } from "../support/shared.ts";
import {
  approve,
  authorizeUrl,
  exchange,
  grant,
  newVerifier,
  register,
  sendForm,
  statusOf,
  refresh as useRefresh,
  visit,
} from "./client.ts";

/** OAuth over HTTP: discovery, and the attacks that RFC 9700 lists. */

const REDIRECT = "https://assistant.example/callback";

let service: SharedService;
/** A service behind a proxy, whose BASE_URL has capital letters and a path. */
let proxied: SharedService;
const BASE = "https://Market.example/souk";

test.before(async () => {
  [service, proxied] = await Promise.all([sharedService(), sharedService({ env: { BASE_URL: BASE } })]);
});

const started = async (parameters: Record<string, string | null> = {}) => {
  const client_id = parameters["client_id"] ?? (await register(service.url, [REDIRECT]));
  const { verifier, challenge } = newVerifier();
  const address = authorizeUrl(service.url, {
    client_id,
    redirect_uri: REDIRECT,
    code_challenge: challenge,
    ...parameters,
  });
  return { client_id, verifier, address, answer: await visit(address) };
};

/** A person approves: returns the client with the parameters of the authorization response. */
const approved = async (parameters: Record<string, string | null> = {}) => {
  const { answer, ...request } = await started(parameters);
  const came = await approve(answer.headers["location"] ?? "");
  return { ...request, came, code: came.searchParams.get("code") ?? "" };
};

const granted = () => grant(service.url);

const SERVER = (base: string) => ({
  issuer: base,
  authorization_endpoint: `${base}/oauth/authorize`,
  token_endpoint: `${base}/oauth/token`,
  registration_endpoint: `${base}/oauth/register`,
  revocation_endpoint: `${base}/oauth/revoke`,
  scopes_supported: ["market"],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
  token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  revocation_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
  revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});
const RESOURCE = (base: string, resource: string) => ({
  resource,
  resource_name: "Souk",
  authorization_servers: [base],
  scopes_supported: ["market"],
  bearer_methods_supported: ["header"],
});

const DOCUMENTS: [path: string, document: (base: string) => object][] = [
  ["/.well-known/oauth-authorization-server", SERVER],
  ["/.well-known/oauth-authorization-server/mcp", SERVER],
  ["/.well-known/oauth-protected-resource", (base) => RESOURCE(base, base)],
  ["/.well-known/oauth-protected-resource/mcp", (base) => RESOURCE(base, `${base}/mcp`)],
];

for (const [path, document] of DOCUMENTS) {
  test(`${path} is for programs anywhere, and uses BASE_URL as written`, async (t) => {
    const own = await call(service.url, "GET", path);
    t.deepEqual([own.status, own.body], [200, document(service.url)]);
    t.is(own.headers["cache-control"], "public, max-age=300");
    t.deepEqual((await call(proxied.url, "GET", path)).body, document(BASE));
    const inserted = path.replace(/(oauth-(?:authorization-server|protected-resource))/, "$1/souk");
    t.deepEqual((await call(proxied.url, "GET", inserted)).body, document(BASE), "with the path of the base URL");
    t.is((await call(service.url, "GET", inserted)).status, 404);
    const refused = await call(service.url, "POST", path);
    t.deepEqual([refused.status, refused.headers["allow"]], [405, "GET, HEAD"]);
  });
}

test("a client registers without a secret, whatever it asks for", async (t) => {
  const { status, body, headers } = await call(service.url, "POST", "/oauth/register", {
    body: {
      client_name: "Assistant \u202eevil",
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["password"],
      unknown: true,
    },
  });
  const { client_id, client_id_issued_at, ...rest } = body;
  t.is(status, 201);
  t.regex(client_id, /^[0-9a-f-]{36}$/);
  t.true(Math.abs(client_id_issued_at - Date.now() / 1000) < 300);
  t.deepEqual(rest, {
    client_name: "Assistant evil",
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: "market",
  });
  t.is(headers["cache-control"], "no-store");
});

for (const [what, body, error] of [
  ["without redirect URIs", { client_name: "x" }, "invalid_redirect_uri"],
  ["with a NUL", { redirect_uris: ["https://x.example/\0"] }, "invalid_redirect_uri"],
  ["with a number as its name", { client_name: 1, redirect_uris: [REDIRECT] }, "invalid_client_metadata"],
] as const) {
  test(`a registration ${what} is refused by OAuth's own error`, async (t) => {
    const answer = await call(service.url, "POST", "/oauth/register", { body });
    t.deepEqual([answer.status, answer.body.error], [400, error]);
    t.regex(answer.body.error_description, /\w/);
    t.is(answer.headers["content-type"], "application/json; charset=utf-8");
  });
}

test("a name of any characters registers", async (t) => {
  for (const client_name of ["", "<b>&\u202e", "x".repeat(2_000), "🛋".repeat(100), "\u0958".repeat(80)])
    t.is(typeof (await register(service.url, [REDIRECT], client_name)), "string");
});

test("a sound request leads to the approval page, and the response says who sent it, against mix-up", async (t) => {
  const { answer } = await started();
  t.is(answer.status, 303);
  const link = answer.headers["location"] ?? "";
  t.regex(link, new RegExp(`^${service.url}/connect/[\\w-]{43}$`));
  t.true((await visit(link)).text.includes("assistant.example"));
  const came = await approve(link);
  t.is(`${came.origin}${came.pathname}`, REDIRECT);
  t.deepEqual([...came.searchParams.keys()], ["code", "state", "iss"]);
  t.deepEqual([came.searchParams.get("iss"), came.searchParams.get("state")], [service.url, "state of the client"]);
});

test("the client's own parameters and address stay as they were registered", async (t) => {
  const redirect = `${REDIRECT}?Tenant=a%20b+c&empty`;
  const client_id = await register(service.url, [redirect]);
  const { came } = await approved({ client_id, redirect_uri: redirect, state: null });
  t.true(came.href.startsWith(`${redirect}&code=`), came.href);
  t.false(came.searchParams.has("state"));
});

for (const [what, redirect_uri] of [
  ["another host", "https://evil.example/callback"],
  ["a host in the user's place", "https://assistant.example@evil.example/callback"],
  ["a script", "javascript:alert(1)"],
] as const) {
  test(`open redirect: a browser is not sent to ${what}`, async (t) => {
    const { answer } = await started({ redirect_uri });
    t.is(answer.status, 400);
    t.is(answer.headers["location"], undefined);
    t.is(answer.headers["refresh"], undefined);
    t.false(/href="(https:\/\/evil|javascript)/.test(answer.text));
  });
}

test("a program on the person's computer cannot break the person's page by an impossible port", async (t) => {
  const client_id = await register(service.url, ["http://127.0.0.1:7777/callback"]);
  const redirect_uri = "http://127.0.0.1:99999/callback";
  const answer = await visit(
    authorizeUrl(service.url, { client_id, redirect_uri, code_challenge: newVerifier().challenge }),
  );
  t.is(answer.status, 400);
  t.regex(answer.text, /that no browser can open/);
});

test("open redirect: a mistake in a request sends no browser to an address that anybody can register", async (t) => {
  const { answer } = await started({ response_type: "token" });
  t.is(answer.status, 400);
  t.is(answer.headers["location"], undefined);
  t.is(answer.headers["refresh"], undefined);
  t.true(answer.text.includes(`href="${REDIRECT}?error=unsupported_response_type`));
});

for (const [what, parameters, error] of [
  ["without PKCE", { code_challenge: null, code_challenge_method: null }, "invalid_request"],
  ["with the method plain", { code_challenge_method: "plain" }, "invalid_request"],
  ["without a method, which would mean plain", { code_challenge_method: null }, "invalid_request"],
  ["with a challenge that is no SHA-256", { code_challenge: "short" }, "invalid_request"],
  ["for an implicit token", { response_type: "token" }, "unsupported_response_type"],
  ["for another resource", { resource: "https://other.example/mcp" }, "invalid_target"],
  ["for another scope", { scope: "admin" }, "invalid_scope"],
  ["with a state of a megabyte's kind", { state: "x".repeat(4_001) }, "invalid_request"],
] as const) {
  test(`a request ${what} is refused (PKCE cannot be downgraded)`, async (t) => {
    const { address } = await started(parameters);
    const answer = await visit(address, { accept: "application/json" });
    t.deepEqual([answer.status, answer.body.error], [400, error]);
    t.regex(answer.body.detail, /The program that sent you here made a mistake/);
  });
}

test("a parameter that is sent twice is refused", async (t) => {
  const { address } = await started();
  const answer = await visit(`${address}&state=other`, { accept: "application/json" });
  t.deepEqual([answer.status, answer.body.error], [400, "invalid_request"]);
});

test("either resource is accepted, and both in one request, also with a slash at the end, and none means this service", async (t) => {
  const { url } = service;
  for (const resource of [url, `${url}/`, `${url}/mcp`, `${url}/mcp/`, "", null])
    t.is((await started({ resource })).answer.status, 303, String(resource));
  const { address } = await started();
  t.is((await visit(`${address}&resource=${encodeURIComponent(url)}`)).status, 303);
});

test("of slashes at the end one is ignored; many take no time and are another address", async (t) => {
  const { url } = service;
  t.is((await started({ resource: `${url}/mcp//` })).answer.status, 400);
  for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
    t.is((await call(url, "GET", `${path}/`)).body.resource, (await call(url, "GET", path)).body.resource);
    t.is((await call(url, "GET", `${path}//`)).status, 404);
  }
  for (const path of ["/llms.txt", "/.well-known/agent-skills/index.json", "/.well-known/mcp/server-card.json"])
    t.is((await call(url, "GET", `${path}/`)).text, (await call(url, "GET", path)).text);
  // Before, each of these kept the event loop for 0.1 to 0.8 seconds.
  const many = "/".repeat(15_000);
  const began = performance.now();
  for (let n = 0; n < 10; n += 1)
    t.is((await call(url, "GET", `/.well-known/oauth-protected-resource${many}x`)).status, 404);
  t.true(performance.now() - began < allowed(700));
});

test("further scopes are ignored, and none means the only one", async (t) => {
  t.is((await started({ scope: "openid market offline_access" })).answer.status, 303);
  t.is((await started({ scope: null })).answer.status, 303);
});

test("downgrade at the token endpoint: a code without its verifier gives nothing", async (t) => {
  const { client_id, code, verifier } = await approved();
  const without = await sendForm(service.url, "/oauth/token", {
    grant_type: "authorization_code",
    client_id,
    code,
    redirect_uri: REDIRECT,
  });
  t.deepEqual([without.status, without.body.error], [400, "invalid_request"]);
  const given = await exchange(service.url, { client_id, code, code_verifier: verifier, redirect_uri: REDIRECT });
  t.is(given.status, 200, "a request that is incomplete uses nothing up");
});

test("a refresh token that was mistyped is refused without a query, and ends nothing", async (t) => {
  const { client_id, refresh, access } = await granted();
  const mistyped = `${refresh.slice(0, -1)}${refresh.endsWith("x") ? "y" : "x"}`;
  for (const refresh_token of [mistyped, access, "nonsense", `rft_${"x".repeat(92)}`]) {
    const answer = await useRefresh(service.url, client_id, refresh_token);
    t.deepEqual([answer.status, answer.body.error], [400, "invalid_grant"]);
  }
  t.is(await statusOf(service.url, access), 200);
});

test("revoking takes any token, and answers 200 for each", async (t) => {
  const { client_id, refresh, access } = await granted();
  for (const token of ["nonsense", `agt_${"x".repeat(49)}`, `rft_${"x".repeat(92)}`])
    t.is((await sendForm(service.url, "/oauth/revoke", { token, client_id })).status, 200);
  t.is(await statusOf(service.url, access), 200);
  t.is((await sendForm(service.url, "/oauth/revoke", { token: access, client_id })).status, 200);
  t.is(await statusOf(service.url, access), 401);
  t.is(
    (await sendForm(service.url, "/oauth/revoke", { token: refresh, token_type_hint: "refresh_token" })).status,
    200,
  );
  const late = await useRefresh(service.url, client_id, refresh);
  t.is(late.body.error, "invalid_grant");
  t.is((await sendForm(service.url, "/oauth/revoke", {})).body.error, "invalid_request");
});

test("clickjacking: no page of the way can be framed, and forms go nowhere else", async (t) => {
  const policy = "default-src 'none';style-src 'self';form-action 'self';frame-ancestors 'none';base-uri 'none'";
  for (const { answer } of [await started(), await started({ response_type: "token" })])
    t.like(answer.headers, {
      "x-frame-options": "DENY",
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
});

test("the authorization endpoint is for a person's browser", async (t) => {
  const { address } = await started();
  const { pathname, search } = new URL(address);
  const head = await call(service.url, "HEAD", pathname + search);
  t.deepEqual([head.status, head.headers["location"]], [200, undefined], "a link scanner starts nothing");
  t.is((await visit(address, { authorization: "Bearer x" })).status, 400);
  for (const destination of ["image", "iframe", "script", "empty"]) {
    const loaded = await visit(address, { "sec-fetch-site": "cross-site", "sec-fetch-dest": destination });
    t.is(loaded.status, 400, `another site's page starts nothing as ${destination}`);
  }
  t.is((await visit(address, { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" })).status, 303);
  t.is((await call(service.url, "POST", pathname + search)).status, 405);
  const bare = await visit(`${service.url}/oauth/authorize`);
  t.is(bare.status, 400);
  t.true(bare.text.includes("This page is for programs that connect to the market"));
});

test("registration flood: an address that registers too much waits, and others do not", async (t) => {
  const flooded = await startService({ database: service.database, env: { TRUST_PROXY: "loopback" } }, t);
  const from = (address: string) => {
    const headers = { "x-forwarded-for": address };
    return call(flooded.url, "POST", "/oauth/register", { body: { redirect_uris: [REDIRECT] }, headers });
  };
  const answers = await Promise.all(Array.from({ length: 40 }, () => from("198.51.100.7")));
  t.is(answers.filter(({ status }) => status === 201).length, 30);
  const refused = answers.find(({ status }) => status === 429);
  t.is(refused?.body.error, "temporarily_unavailable");
  t.true(Number(refused?.headers["retry-after"]) > 3500);
  t.is((await from("198.51.100.8")).status, 201);
});

test("a document on this machine is not fetched", async (t) => {
  const { answer } = await started({ client_id: "https://127.0.0.1:1/client.json" });
  t.deepEqual([answer.status, answer.headers["location"]], [400, undefined]);
  t.regex(answer.text, /cannot be reached there from the internet/);
});

for (const [what, fields, error] of [
  ["nothing", {}, "invalid_request"],
  ["another grant", { grant_type: "password", username: "x", password: "x" }, "unsupported_grant_type"],
  ["no client", { grant_type: "authorization_code", code: "x", code_verifier: "x" }, "invalid_request"],
  ["no code", { grant_type: "authorization_code", client_id: "x", code_verifier: "x" }, "invalid_request"],
  [
    "an invented code",
    { grant_type: "authorization_code", client_id: "x", code: "x", code_verifier: "x" },
    "invalid_grant",
  ],
  ["a NUL", { grant_type: "refresh_token", client_id: "\0", refresh_token: "x" }, "invalid_request"],
  ["another resource", { grant_type: "refresh_token", resource: "https://other.example" }, "invalid_target"],
] as const) {
  test(`the token endpoint answers ${what} by OAuth's own error`, async (t) => {
    const answer = await sendForm(service.url, "/oauth/token", { ...fields } as Record<string, string>);
    t.deepEqual([answer.status, answer.body.error], [400, error]);
    t.is(answer.headers["content-type"], "application/json; charset=utf-8");
  });
}

test("bodies that are no form, or too large, are refused", async (t) => {
  const json = await call(service.url, "POST", "/oauth/token", { body: { grant_type: "refresh_token" } });
  t.deepEqual([json.status, json.body.error], [415, "invalid_request"]);
  t.regex(json.body.error_description, /application\/x-www-form-urlencoded/);
  const large = await sendForm(service.url, "/oauth/token", { grant_type: "x".repeat(33 * 1024) });
  t.deepEqual([large.status, large.body.error], [413, "invalid_request"]);
  const marks = await sendForm(service.url, "/oauth/token", { client_id: "\u0f73".repeat(31) });
  t.deepEqual([marks.status, /combining marks/.test(marks.body.detail)], [400, true]);
  const twice = await call(service.url, "POST", "/oauth/token", {
    raw: "grant_type=refresh_token&grant_type=authorization_code",
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  t.deepEqual([twice.status, twice.body.error], [400, "invalid_request"]);
});

test("no code, token, state or secret is in the log", async (t) => {
  const { code, verifier, access, refresh } = await granted();
  const logs = await wholeLog(service);
  t.true(logs.includes('"operation":"token"'));
  for (const secret of [code, verifier, access, refresh, "state of the client"]) t.false(logs.includes(secret));
});

test("an agent of OAuth does what other agents do, and disconnects itself", async (t) => {
  const { access, client_id, refresh } = await granted();
  const headers = { authorization: `Bearer ${access}` };
  const { body } = await call(service.url, "GET", "/v1/me", { headers });
  t.deepEqual(
    [body.agent.name, body.account.connected, body.permissions.publish_offer.allowed],
    ["Assistant", true, true],
  );
  t.is((await call(service.url, "DELETE", "/v1/me/agent", { headers })).status, 204);
  const late = await useRefresh(service.url, client_id, refresh);
  t.is(late.body.error, "invalid_grant");
  const refused = await call(service.url, "GET", "/v1/me", { headers });
  t.deepEqual([refused.status, refused.headers["www-authenticate"]], [401, 'Bearer realm="souk"']);
});
