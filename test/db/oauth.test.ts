import { randomBytes } from "node:crypto";
import test from "ava";
import { hashSecret, newRefreshToken, newToken } from "../../src/base/tokens.ts";
import { type Answer, column, outcomeOf, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";

/** The rules of OAuth in SQL: clients, codes, refresh tokens, revoking, and what is deleted. */

const REDIRECT = "http://127.0.0.1/callback";
const CHALLENGE = "c".repeat(43);

const randomAddress = () => `10.${[...randomBytes(3)].join(".")}`;

const register = (
  redirect_uris: string[] = [REDIRECT],
  address = randomAddress(),
  name = "Assistant",
): Promise<Answer> =>
  market.call(null, "register_client", { name, redirect_uris, address, registrations_per_hour: 30 });

type Request = { client: string; link: Buffer; session: Buffer; code: Buffer; redirect: string };

const start = async (
  client?: string,
  { redirect = "http://127.0.0.1:4711/callback", address = randomAddress(), document = null as object | null } = {},
): Promise<Request> => {
  const client_id = client ?? (await register()).client_id;
  const [link, session, code] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  await market.call(null, "start_authorization", {
    client_id,
    document,
    redirect_uri: redirect,
    code_challenge: CHALLENGE,
    state: "xyz",
    secret_hash: link,
    code: "BCDF-GHJK",
    address,
    connections_per_hour: 30,
  });
  return { client: client_id, link, session, code, redirect };
};

const approve = ({ link, session, code }: Request): Promise<Answer> =>
  market.call(null, "approve_connection", {
    secret_hash: link,
    session_hash: null,
    new_session_hash: session,
    code_hash: code,
  });

/** Counts that an address names a client that publishes a document. */
const named = (client_id: string, address: string): Promise<Answer> =>
  market.call(null, "count_client_document", { address, documents_per_hour: 30, client_id });

type Tokens = { token: Buffer; family: Buffer; refresh: Buffer };
const newTokens = (family: Buffer = randomBytes(32)): Tokens => ({
  token: randomBytes(32),
  family,
  refresh: randomBytes(32),
});

const exchange = (request: Request, tokens = newTokens(), changed: object = {}): Promise<Answer> =>
  market.call(null, "exchange_code", {
    code_hash: request.code,
    client_id: request.client,
    redirect_uri: request.redirect,
    code_challenge: CHALLENGE,
    token_hash: tokens.token,
    family_hash: tokens.family,
    refresh_token_hash: tokens.refresh,
    proof: null,
    ...changed,
  });
const refresh = (
  client: string,
  { family, refresh: used }: Tokens,
  next: Tokens,
  proof: object | null = null,
): Promise<Answer> =>
  market.call(null, "refresh_token", {
    family_hash: family,
    refresh_token_hash: used,
    client_id: client,
    new_token_hash: next.token,
    new_refresh_token_hash: next.refresh,
    proof,
  });

/** A client that has its first tokens. */
const granted = async () => {
  const request = await start();
  const { agent_id } = await approve(request);
  const tokens = newTokens();
  t_expires(await exchange(request, tokens));
  return { request, agent: String(agent_id), tokens };
};
const t_expires = (answer: Answer): void => {
  if (answer.expires_in !== 3600) throw new Error(`no tokens: ${JSON.stringify(answer)}`);
};

/** "200", or the status and code of the refusal, of GET /v1/me with a token. */
const me = async (token: Buffer): Promise<string> =>
  market.call({ token } as Parameters<typeof market.call>[0], "get_me", { link_key: token }).then(
    () => "200",
    (error: Error & { code?: string }) => `${error.code?.slice(2)} ${error.message}`,
  );

const agentOf = async (id: string): Promise<Answer> =>
  (await market.sql`select * from market.agent where id = ${id}`)[0];

test("a request for authorization waits like a connection, and its agent has no token", async (t) => {
  const request = await start();
  const { agent_name, client, account } = await market.call(null, "get_connection", {
    secret_hash: request.link,
    session_hash: null,
  });
  t.deepEqual(
    [agent_name, client, account.is_new],
    ["Assistant", { client_id: request.client, redirect_uri: request.redirect }, true],
  );
  const [agent] = await market.sql`select a.token_hash, a.connected_at from market.agent a
    join market.connection c on c.agent_id = a.id where c.secret_hash = ${request.link}`;
  t.deepEqual(agent, { token_hash: null, connected_at: null });
  t.is((await exchange(request)).error, "invalid_grant", "nobody has approved it");
});

test("after approval the code gives tokens, and the access token is a token like any other", async (t) => {
  const request = await start();
  const approved = await approve(request);
  t.deepEqual(approved.client, { redirect_uri: request.redirect, state: "xyz" });
  const tokens = newTokens();
  t.deepEqual(await exchange(request, tokens), { expires_in: 3600, scope: "market" });
  t.is(await me(tokens.token), "200");
  const again = await approve(request);
  t.is(again.client, null, "a second click sends nobody back with a code that was used");
  t.is(again.agent_id, approved.agent_id);
});

test("an access token works for an hour", async (t) => {
  const { agent, tokens, request } = await granted();
  await market.sql`update market.agent set token_expires_at = now() where id = ${agent}`;
  t.is(await me(tokens.token), "401 unauthorized");
  const next = newTokens(tokens.family);
  t_expires(await refresh(request.client, tokens, next));
  t.is(await me(next.token), "200");
});

for (const [what, changed] of [
  ["of another client", { client_id: "01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0d" }],
  ["with another verifier", { code_challenge: "d".repeat(43) }],
  ["with another redirect URI", { redirect_uri: "http://127.0.0.1:4712/callback" }],
] as const) {
  test(`a code ${what} gives nothing, and ends the grant`, async (t) => {
    const request = await start();
    const { agent_id } = await approve(request);
    t.is((await exchange(request, newTokens(), changed)).error, "invalid_grant");
    t.truthy((await agentOf(agent_id)).removed_at);
    t.is((await exchange(request)).error, "invalid_grant", "not for its own client either");
  });
}

test("a code works for 60 seconds", async (t) => {
  const request = await start();
  const { agent_id } = await approve(request);
  const [grant] = await market.sql`select extract(epoch from g.code_expires_at - c.approved_at)::integer as seconds
    from market.oauth_grant g join market.connection c using (agent_id) where agent_id = ${agent_id}`;
  t.is(grant.seconds, 60);
  await market.sql`update market.oauth_grant set code_expires_at = now() where agent_id = ${agent_id}`;
  const answer = await exchange(request);
  t.is(answer.error, "invalid_grant");
  t.regex(answer.error_description, /60 seconds/);
});

test("a code that is used again gives nothing, and ends what it gave", async (t) => {
  const { request, agent, tokens } = await granted();
  t.is((await exchange(request)).error, "invalid_grant");
  t.is(await me(tokens.token), "401 unauthorized");
  t.is((await refresh(request.client, tokens, newTokens(tokens.family))).error, "invalid_grant");
  const [event] = await market.sql`select actor_type, agent_id from market.audit_event
    where action = 'agent.removed' and row_id = ${agent}`;
  t.deepEqual(event, { actor_type: "agent", agent_id: agent });
});

test("of parallel uses of one code, one gets tokens, and they end", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const request = await start();
    await approve(request);
    const tries = Array.from({ length: 6 }, () => newTokens());
    const answers = await Promise.all(tries.map((tokens) => exchange(request, tokens)));
    t.is(answers.filter(({ error }) => error === undefined).length, 1);
    t.deepEqual(new Set(await Promise.all(tries.map(({ token }) => me(token)))), new Set(["401 unauthorized"]));
  }
});

test("a refresh token works once, and gives the next; the former access token ends", async (t) => {
  const { request, tokens } = await granted();
  const next = newTokens(tokens.family);
  t.deepEqual(await refresh(request.client, tokens, next), { expires_in: 3600, scope: "market" });
  t.is(await me(tokens.token), "401 unauthorized");
  t.is(await me(next.token), "200");
  const third = newTokens(tokens.family);
  t_expires(await refresh(request.client, next, third));
  t.is(await me(third.token), "200");
});

test("a refresh token that is used twice ends the grant, for the thief and for the client", async (t) => {
  const { request, tokens } = await granted();
  const thiefs = newTokens(tokens.family);
  t_expires(await refresh(request.client, tokens, thiefs));
  t.is((await refresh(request.client, tokens, newTokens(tokens.family))).error, "invalid_grant");
  t.is(await me(thiefs.token), "401 unauthorized");
  t.is((await refresh(request.client, thiefs, newTokens(tokens.family))).error, "invalid_grant");
});

test("of parallel uses of one refresh token, at most one gets tokens, and the grant ends", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { request, agent, tokens } = await granted();
    const tries = Array.from({ length: 6 }, () => newTokens(tokens.family));
    const answers = await Promise.all(tries.map((next) => refresh(request.client, tokens, next)));
    t.is(answers.filter(({ error }) => error === undefined).length, 1);
    t.truthy((await agentOf(agent)).removed_at);
    t.deepEqual(new Set(await Promise.all(tries.map(({ token }) => me(token)))), new Set(["401 unauthorized"]));
  }
});

test("a refresh token works only for its own client, which keeps it", async (t) => {
  const { request, tokens } = await granted();
  const other = (await register()).client_id;
  t.is((await refresh(other, tokens, newTokens(tokens.family))).error, "invalid_grant");
  t_expires(await refresh(request.client, tokens, newTokens(tokens.family)));
});

test("removing the agent while its client refreshes leaves no token that works", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { request, agent, tokens } = await granted();
    const next = newTokens(tokens.family);
    await Promise.all([
      refresh(request.client, tokens, next),
      market
        .call({ token: tokens.token } as Parameters<typeof market.call>[0], "remove_own_agent")
        .catch(() => market.sql`update market.agent set removed_at = now() where id = ${agent} and removed_at is null`),
    ]);
    t.is(await me(tokens.token), "401 unauthorized");
    t.is(await me(next.token), "401 unauthorized");
    t.is((await refresh(request.client, next, newTokens(tokens.family))).error, "invalid_grant");
  }
});

test("the person removes the agent in the settings, and all its tokens end", async (t) => {
  const { request, agent, tokens } = await granted();
  const person = { session: request.session } as Parameters<typeof market.callAsPerson>[0];
  const { agents } = await market.callAsPerson(person, "list_agents");
  t.deepEqual(
    agents.map(({ id, name }: Answer) => [id, name]),
    [[agent, "Assistant"]],
  );
  await market.callAsPerson(person, "remove_agent", { agent_id: agent });
  t.is(await me(tokens.token), "401 unauthorized");
  t.is((await refresh(request.client, tokens, newTokens(tokens.family))).error, "invalid_grant");
});

test("the export of an account says to which client its agent belongs, and nothing secret", async (t) => {
  const { request, agent } = await granted();
  const person = { session: request.session } as Parameters<typeof market.callAsPerson>[0];
  const { items } = await market.callAsPerson(person, "export_account", { part: "agents" });
  const [{ id, client_id, redirect_uri, ...rest }] = items;
  t.deepEqual([id, client_id, redirect_uri], [agent, request.client, request.redirect]);
  t.deepEqual(Object.keys(rest).sort(), ["address", "connected_at", "created_at", "name", "powers", "removed_at"]);
});

test("revoking the access token ends it alone; revoking the refresh token ends the grant", async (t) => {
  const { request, agent, tokens } = await granted();
  const revoke = (args: object) =>
    market.call(null, "revoke_token", {
      token_hash: tokens.token,
      family_hash: null,
      client_id: null,
      proof: null,
      ...args,
    });
  await revoke({ client_id: "another" });
  t.is(await me(tokens.token), "200", "not by another client");
  await revoke({});
  t.is(await me(tokens.token), "401 unauthorized");
  const next = newTokens(tokens.family);
  t_expires(await refresh(request.client, tokens, next));
  await revoke({ token_hash: next.refresh, family_hash: tokens.family, client_id: request.client });
  t.is(await me(next.token), "401 unauthorized");
  t.truthy((await agentOf(agent)).removed_at);
});

test("only tokens of OAuth are revoked", async (t) => {
  const caller = await market.connect();
  await market.call(null, "revoke_token", {
    token_hash: caller.token,
    family_hash: null,
    client_id: null,
    proof: null,
  });
  t.is(await me(caller.token), "200");
});

test("the rotation of tokens is not in the audit log, and approval and removal are", async (t) => {
  const { request, agent, tokens } = await granted();
  t_expires(await refresh(request.client, tokens, newTokens(tokens.family)));
  const events = await market.sql`select action from market.audit_event where row_id = ${agent} order by id`;
  t.deepEqual(column(events, "action"), ["agent.created", "agent.connected"]);
});

test("a refresh does not reconnect an agent that an account's recovery disconnected", async (t) => {
  const { request, agent, tokens } = await granted();
  await market.sql`update market.agent set connected_at = null, disconnected_at = now() where id = ${agent}`;
  const next = newTokens(tokens.family);
  t_expires(await refresh(request.client, tokens, next));
  const found = await market.call({ token: next.token } as Parameters<typeof market.call>[0], "get_me", {
    link_key: next.token,
  });
  t.false(found.agent.connected);
});

test("after a refresh, starting the pending verification again gives a link that works", async (t) => {
  await market.sql("update market.sign_in_method set available = true");
  const { request, tokens } = await granted();
  const as = (token: Buffer) => ({ token }) as Parameters<typeof market.call>[0];
  const start = (token: Buffer) => market.call(as(token), "start_verification", { method: "email", link_key: token });
  const first = (await start(tokens.token)).body;
  const next = newTokens(tokens.family);
  t_expires(await refresh(request.client, tokens, next));
  const read = await market.call(as(next.token), "get_verification", { id: first.id, link_key: next.token });
  t.deepEqual([read.status, read.url], ["pending", undefined], "no link is shown that would not work");
  const { status, body } = await start(next.token);
  t.deepEqual([status, body.id], [200, first.id]);
  const [row] = await market.sql`select secret_hash from market.verification where id = ${first.id}`;
  t.deepEqual(row.secret_hash, hashSecret(body.url.split("/").at(-1)));
  t.not(body.url, first.url);
});

for (const uri of [
  "https://client.example/callback",
  "https://client.example:8443/callback?x=1",
  "http://localhost:8080/",
  "http://[::1]:8080/callback",
  "cursor://anysphere.cursor-retrieval/oauth/callback",
  "com.example.app:/callback",
  "com.firefoxfans.app:/callback",
]) {
  test(`a client may register ${uri}`, async (t) => {
    t.deepEqual((await register([uri])).redirect_uris, [uri]);
  });
}

for (const uri of [
  "",
  "callback",
  "http://client.example/callback",
  "http://localhost.evil.example/",
  "http://localhost@evil.example/",
  "http://127.0.0.1:1@evil.example/",
  "https://good.example@evil.example/",
  "https://good.example\\@evil.example/",
  "https://good.example/#fragment",
  "https://good.example/ space",
  "https://",
  "javascript://x/%0aalert(1)",
  "JavaScript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "intent://scan/",
  "jar:https://good.example/a.jar!/",
  "ms-settings:/privacy",
  "search-ms:/x",
  "chrome-extension://abc/x",
  // Another browser, which would open whatever address follows.
  "googlechromes://evil.example/",
  "firefox-focus://open-url?url=https://evil.example",
  "x-safari-https://evil.example/",
  "Puffins://evil.example/cb",
  "unheard-of:/https://evil.example/cb",
  "unheard-of://open?url=https%253A%252F%252Fevil.example",
  "brave://open-url?url=https%3A%2F%2Fevil.example",
  `https://client.example/${"x".repeat(2000)}`,
]) {
  test(`a client may not register ${uri.slice(0, 60) || "nothing"}`, async (t) => {
    const { status, extra } = await refusal(register([uri]));
    t.deepEqual([status, extra.error], [400, "invalid_redirect_uri"]);
  });
}

test("redirect URIs match exactly, except for the port on the person's computer", async (t) => {
  const { client_id } = await register(["https://client.example/cb", "http://localhost/cb", "http://127.0.0.1:1/x"]);
  const fits = (redirect: string) =>
    market.call(null, "check_client", { client_id, document: null, redirect_uri: redirect }).then(
      () => true,
      () => false,
    );
  for (const uri of [
    "https://client.example/cb",
    "http://localhost:9/cb",
    "http://localhost/cb",
    "http://127.0.0.1:7/x",
  ])
    t.true(await fits(uri), uri);
  for (const uri of [
    "https://client.example/cb/",
    "https://client.example/cb?x=1",
    "https://client.example:444/cb",
    "https://client.example.evil.example/cb",
    "https://CLIENT.example/cb",
    "http://127.0.0.1:9/cb",
    "http://localhost:9/cb/..",
    "http://localhost:9@evil.example/cb",
    "https://localhost/cb",
  ])
    t.false(await fits(uri), uri);
});

test("a client that is unknown, or whose document names other addresses, starts nothing", async (t) => {
  t.is((await refusal(start("01979e5b-1c2d-7a3b-8c4d-5e6f7a8b9c0d"))).extra.error, "invalid_client");
  t.is((await refusal(start("nonsense"))).extra.error, "invalid_client");
  const document = { client_name: "Editor", redirect_uris: ["https://editor.example/cb"] };
  t.is((await refusal(start("https://editor.example/client", { document }))).extra.error, "invalid_request");
  await start("https://editor.example/client", { document, redirect: "https://editor.example/cb" });
  // Some characters become two when they are normalized.
  const long = { ...document, client_name: "\u0958".repeat(80) };
  await start("https://editor.example/client", { document: long, redirect: "https://editor.example/cb" });
  // A document may contain anything.
  const odd = { client_name: "Editor", redirect_uris: ["javascript:alert(1)"] };
  t.is(
    (await refusal(start("https://editor.example/client", { document: odd, redirect: "javascript:alert(1)" }))).extra
      .error,
    "invalid_request",
  );
});

const SIGNS = { client_name: "Signer", redirect_uris: [REDIRECT], auth_methods: ["private_key_jwt"], can_sign: true };
const ISSUER = "https://market.example";

/** What a client proves by an assertion for this service, with changes. Times are in seconds from now. */
const proofOf = (client_id: string, changes: object = {}, times: Record<string, number> = {}) => {
  const at = (seconds: number) => Date.now() / 1000 + seconds;
  const moved = Object.fromEntries(Object.entries({ exp: 300, iat: 0, ...times }).map(([name, s]) => [name, at(s)]));
  const claims = { iss: client_id, sub: client_id, aud: ISSUER, jti: randomBytes(8).toString("hex"), ...moved };
  return { issuer: ISSUER, claims: { ...claims, ...changes } };
};

test("a client is served by PKCE alone if its document allows that, and has to sign if it allows only that", async (t) => {
  const methods = (auth_methods: string[] | undefined, can_sign: boolean) =>
    start(`https://${randomBytes(8).toString("hex")}.example/client`, {
      document: { ...SIGNS, auth_methods, can_sign },
    });
  for (const [allowed, can_sign, signs] of [
    [undefined, false, false],
    [["private_key_jwt", "none"], true, false],
    [["none", "client_secret_basic"], false, false],
    [["client_secret_post", "private_key_jwt"], true, true],
  ] as const) {
    const { client } = await methods(allowed && [...allowed], can_sign);
    const [grant] = await market.sql`select signs from market.oauth_grant where client_id = ${client}`;
    t.is(grant.signs, signs, String(allowed));
  }
  for (const [allowed, can_sign] of [
    [["private_key_jwt"], false],
    [["client_secret_basic"], true],
  ] as const) {
    const { detail, extra } = await refusal(methods([...allowed], can_sign));
    t.is(extra.error, "invalid_client");
    t.regex(detail, /allows no way to prove itself/);
  }
});

test("a client that has to sign gets, renews and revokes tokens by a fresh assertion for this service", async (t) => {
  const client = `https://${randomBytes(8).toString("hex")}.example/client`;
  const request = await start(client, { document: SIGNS });
  await approve(request);
  const tokens = newTokens();
  for (const [proof, why] of [
    [null, /has to sign: its document lists no "none"/],
    [proofOf(client, { iss: "https://other.example/c" }), /iss and its sub/],
    [proofOf(client, { sub: "https://other.example/c" }), /iss and its sub/],
    [proofOf(client, { aud: "https://other.example" }), /whose aud is the issuer/],
    [proofOf(client, {}, { exp: -90 }), /has expired/],
    [proofOf(client, {}, { exp: 4000 }), /times .* cannot be right/],
    [proofOf(client, {}, { iat: 90 }), /times .* cannot be right/],
    [proofOf(client, {}, { iat: -4000 }), /times .* cannot be right/],
    [proofOf(client, {}, { nbf: 90 }), /times .* cannot be right/],
    [proofOf(client, { exp: 1e300 }), /times .* cannot be right/],
  ] as const) {
    const { error, error_description } = await exchange(request, tokens, { proof });
    t.is(error, "invalid_client");
    t.regex(error_description, why);
  }
  const first = proofOf(client, { aud: `${ISSUER}/oauth/token` }, { exp: -30 });
  t_expires(await exchange(request, tokens, { proof: first }));
  const next = newTokens(tokens.family);
  t.regex((await refresh(client, tokens, next, first)).error_description, /used before/);
  t.is((await refresh(client, tokens, next)).error, "invalid_client", "which ends nothing");
  const proof = proofOf(client);
  const raced = await Promise.all([1, 2, 3].map(() => refresh(client, tokens, next, proof)));
  t.deepEqual(raced.map(({ error }) => error ?? "done").sort(), ["done", "invalid_client", "invalid_client"]);
  const revoke = (sent: object | null) =>
    market.call(null, "revoke_token", { token_hash: next.token, family_hash: null, client_id: client, proof: sent });
  t.is((await revoke(null)).error, "invalid_client");
  t.is(await me(next.token), "200");
  t.deepEqual(await revoke(proofOf(client, { aud: `${ISSUER}/` })), {});
  t.is(await me(next.token), "401 unauthorized");
});

test("what a client sends that need not sign is checked as well", async (t) => {
  const { request, tokens } = await granted();
  const foreign = await refresh(
    request.client,
    tokens,
    newTokens(tokens.family),
    proofOf(request.client, { aud: "x" }),
  );
  t.is(foreign.error, "invalid_client");
  t_expires(await refresh(request.client, tokens, newTokens(tokens.family), proofOf(request.client)));
});

test("an address registers 30 clients an hour, starts 30 authorizations, and names 30 documents", async (t) => {
  const address = randomAddress();
  const { client_id } = await register([REDIRECT], address);
  const attempts: [string, () => Promise<unknown>, number][] = [
    ["register_client", () => register([REDIRECT], address), 29],
    ["connect", () => start(client_id, { address }), 30],
    ["client_document", () => named(`https://${address}.example/client`, address), 30],
  ];
  for (const [name, attempt, left] of attempts) {
    const outcomes = await Promise.all(Array.from({ length: left + 5 }, () => outcomeOf(attempt())));
    t.is(outcomes.filter((outcome) => outcome === "done").length, left, name);
    const { status, code, extra } = await refusal(attempt());
    t.deepEqual([status, code], [429, "rate_limited"]);
    t.true(extra.retry_after > 3500 && extra.retry_after <= 3600);
  }
  t.is(await refused(market.connect("Agent", address)), "429 rate_limited", "both ways to connect share the limit");
});

test("a host is asked for sixty documents an hour, and for those of clients that somebody connected", async (t) => {
  const site = `https://${randomBytes(8).toString("hex")}.example`;
  const known = await start(`${site}/known`, { document: { redirect_uris: [REDIRECT] } });
  const flooded = `https://${randomBytes(8).toString("hex")}.example`;
  const flood = Array.from({ length: 65 }, (_, n) => outcomeOf(named(`${flooded}/${n}`, `203.0.${n}.1`)));
  t.is((await Promise.all(flood)).filter((outcome) => outcome === "done").length, 45);
  t.deepEqual(await named(`${flooded}/mine`, "198.51.100.1"), {}, "one provider leaves a quarter to all others");
  const outcomes = await Promise.all(
    Array.from({ length: 65 }, (_, n) => outcomeOf(named(`${site}:${8000 + n}/${n}`, randomAddress()))),
  );
  t.is(outcomes.filter((outcome) => outcome === "done").length, 60);
  t.is(await refused(named(known.client, randomAddress())), "429 rate_limited");
  await approve(known);
  await exchange(known);
  t.deepEqual(await named(known.client, randomAddress()), {});
});

test("clients that registered and vanished leave nothing behind, and those that finished stay", async (t) => {
  const ids = await Promise.all(Array.from({ length: 100 }, async () => (await register()).client_id));
  const requests = await Promise.all(ids.slice(0, 50).map((id) => start(id)));
  await Promise.all(requests.slice(0, 10).map((request) => approve(request)));
  const { request } = await granted();
  const all = [...ids, request.client];
  const links = [...requests, request].map(({ link }) => link);
  const count = async () => ({
    clients: (await market.sql`select from market.oauth_client where id = any (${all}::uuid[])`).length,
    grants: (await market.sql`select from market.oauth_grant where client_id = any (${all})`).length,
    links: (await market.sql`select from market.connection where secret_hash = any (${links})`).length,
  });
  await market.work("purge_oauth");
  t.deepEqual(await count(), { clients: 101, grants: 51, links: 51 }, "within a day, nothing is deleted");
  await market.sql`update market.oauth_client set created_at = created_at - interval '24 hours'
    where id = any (${all}::uuid[])`;
  await market.sql`update market.oauth_grant set created_at = created_at - interval '24 hours'
    where client_id = any (${all})`;
  await market.sql`update market.account a set created_at = a.created_at - interval '24 hours'
    from market.agent g join market.oauth_grant o on o.agent_id = g.id
    where g.account_id = a.id and o.client_id = any (${all})`;
  const accounts = await market.sql`select distinct g.account_id as id from market.agent g
    join market.oauth_grant o on o.agent_id = g.id where o.client_id = any (${ids}) and g.connected_at is null`;
  t.is(accounts.length, 40);
  const assertions = [randomBytes(32), randomBytes(32)];
  await market.sql`insert into market.used_assertion (hash, expires_at)
    values (${assertions[0]}, now()), (${assertions[1]}, now() + interval '1 hour')`;
  await market.work("purge_oauth");
  t.deepEqual(await count(), { clients: 1, grants: 1, links: 1 });
  const used = await market.sql`select hash from market.used_assertion where hash = any (${assertions})`;
  t.deepEqual(used, [{ hash: assertions[1] }], "used assertions are kept while they count");
  await market.work("purge_keys");
  t.deepEqual(
    await market.sql`select from market.account where id = any (${accounts.map(({ id }) => id)}::uuid[])`,
    [],
  );
});

test("declining ends the request, and says where the client learns it", async (t) => {
  const request = await start();
  const { client } = await market.call(null, "decline_connection", { secret_hash: request.link });
  t.deepEqual(client, { redirect_uri: request.redirect, state: "xyz" });
  t.is(await refused(approve(request)), "410 connection_expired");
  t.is((await exchange(request)).error, "invalid_grant");
});

test("at rest there are only hashes", async (t) => {
  const { request, tokens } = await granted();
  const [row] = await market.sql`select * from market.oauth_grant where code_hash = ${request.code}`;
  t.deepEqual([row.family_hash, row.refresh_token_hash, row.state], [tokens.family, tokens.refresh, null]);
  for (const value of Object.values(row)) if (Buffer.isBuffer(value)) t.is(value.length, 32);
});

test("a text with an access token or a refresh token is refused, as one with an agent's token is", async (t) => {
  for (const token of [newToken(), newRefreshToken()]) {
    const [row] = await market.sql`select internal.contains_secret('My token is ' || ${token} || '.') as why`;
    t.is(row.why, "text_contains_token");
  }
});
