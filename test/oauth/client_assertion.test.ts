import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import test from "ava";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { checkAssertions } from "../../src/assistants/oauth/client_assertion.ts";
import { findKeys } from "../../src/assistants/oauth/client_document.ts";
import { listenOn } from "../support/raw_server.ts";
import { type SharedService, sharedService } from "../support/shared.ts";
import { approve, authorizeUrl, newVerifier, sendForm, statusOf, visit } from "./client.ts";

/** Clients that sign: whose keys count, and the whole way over HTTP. The times of assertions are tested in test/db/oauth.test.ts. */

/** A key pair: its public half, and a function that signs an assertion for a client with it. */
const newKey = async (kid: string | undefined, alg = "RS256") => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const sign = (client: string, audience: string | string[], claims: object = {}) =>
    new SignJWT({ iss: client, sub: client, jti: randomBytes(8).toString("hex"), ...claims })
      .setProtectedHeader(kid === undefined ? { alg } : { alg, kid })
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime("2m")
      .sign(privateKey);
  return { jwk: { ...(await exportJWK(publicKey)), ...(kid === undefined ? {} : { kid }) } as JWK, sign };
};

type Teardown = Parameters<typeof listenOn>[0];

/** A client that publishes a document and keys, which may change. */
const startSigner = async (t: Teardown, keys: JWK[], changes: object = {}) => {
  const signer = { url: "", redirect: "", keys, fetched: 0, status: 200 };
  const server = createServer((request, response) => {
    const isKeys = request.url === "/jwks.json";
    signer.fetched += isKeys ? 1 : 0;
    const about = {
      client_id: signer.url,
      client_name: "Signer",
      redirect_uris: [signer.redirect],
      token_endpoint_auth_method: "private_key_jwt",
      jwks_uri: signer.url.replace("client", "jwks"),
      ...changes,
    };
    response.writeHead(isKeys ? signer.status : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(isKeys ? { keys: signer.keys } : about));
  });
  const port = await listenOn(t, server);
  signer.url = `http://127.0.0.1:${port}/client.json`;
  signer.redirect = `http://127.0.0.1:${port}/callback`;
  return signer;
};

/** "signed", or the error or code of the refusal. */
const outcomeOf = (checked: Promise<unknown>): Promise<string> =>
  checked.then(
    () => "signed",
    ({ code, members }: { code: string; members: { error?: string } }) => members.error ?? code,
  );

test("a signature counts by a key of the client, also without a kid, by a new key, and in the document itself", async (t) => {
  const [one, two, nameless, stranger] = await Promise.all([
    newKey("1"),
    newKey("2", "ES256"),
    newKey(undefined, "Ed25519"),
    newKey("1"),
  ]);
  const signer = await startSigner(t, [one.jwk]);
  const check = checkAssertions(findKeys(true));
  const outcome = async ({ sign }: typeof one) => outcomeOf(check(signer.url, await sign(signer.url, "x")));
  t.is(await outcome(one), "signed");
  t.is(await outcome(one), "signed");
  t.is(signer.fetched, 1, "keys are kept");
  signer.keys = [two.jwk, nameless.jwk, { ...nameless.jwk, x: stranger.jwk.n?.slice(0, 43) ?? "" }];
  t.is(await outcome(two), "signed", "a new key is fetched at once");
  t.is(signer.fetched, 2);
  t.is(await outcome(nameless), "signed");
  for (let n = 0; n < 5; n += 1) t.is(await outcome(stranger), "invalid_client");
  t.is(await outcome(one), "invalid_client", "the old key is withdrawn");
  t.is(signer.fetched, 2, "strangers cause no more requests");
  const inside = await startSigner(t, [], { jwks: { keys: [one.jwk] }, jwks_uri: undefined });
  t.is(await outcomeOf(check(inside.url, await one.sign(inside.url, "x"))), "signed");
});

test("what is no assertion proves nothing, nor what is signed by another algorithm than the client's", async (t) => {
  const [rsa, curve] = await Promise.all([newKey("1"), newKey("2", "ES256")]);
  const signer = await startSigner(t, [rsa.jwk, curve.jwk], { token_endpoint_auth_signing_alg: "RS256" });
  const check = checkAssertions(findKeys(true));
  const [header, body] = (await rsa.sign(signer.url, "x")).split(".");
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  for (const assertion of [
    "nonsense",
    "a.b.c",
    `${none}.${body}.`,
    `${header}.${body}.AAAA`,
    await curve.sign(signer.url, "x"),
    await rsa.sign(signer.url, ["x", "y"]),
    await rsa.sign(signer.url, "x", { jti: undefined }),
    await rsa.sign(signer.url, "x", { jti: "\0" }),
  ])
    t.is(await outcomeOf(check(signer.url, assertion)), "invalid_client", assertion);
  t.is(await outcomeOf(check(signer.url, await rsa.sign(signer.url, ["x"]))), "signed");
});

test("a client whose keys cannot be had at the moment may try again", async (t) => {
  const key = await newKey("1");
  const signer = await startSigner(t, [key.jwk]);
  signer.status = 500;
  const check = checkAssertions(findKeys(true));
  t.is(await outcomeOf(check(signer.url, await key.sign(signer.url, "x"))), "service_unavailable");
  t.is(await outcomeOf(check("not an address", await key.sign(signer.url, "x"))), "service_unavailable");
});

let service: SharedService;
test.before(async () => {
  service = await sharedService({ env: { CLIENT_METADATA_PRIVATE: "allow" } });
});

/** A person approves a client: returns the fields of its first request for tokens, without a proof. */
const approved = async ({ url, redirect }: { url: string; redirect: string }) => {
  const { verifier, challenge } = newVerifier();
  const sent = { client_id: url, redirect_uri: redirect, code_challenge: challenge };
  const { headers } = await visit(authorizeUrl(service.url, sent));
  const code = (await approve(headers["location"] ?? "")).searchParams.get("code") ?? "";
  return { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirect };
};

const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

test("a client that has to sign gets tokens, renews and revokes them, and nobody does so without its key", async (t) => {
  const [key, stranger] = await Promise.all([newKey("1"), newKey("1")]);
  const signer = await startSigner(t, [key.jwk]);
  const fields = await approved(signer);
  const send = (path: string, sent: Record<string, string>, assertion: string) =>
    sendForm(service.url, path, { ...sent, client_assertion: assertion, client_assertion_type: TYPE });
  const foreign = await key.sign(signer.url, "https://other.example");
  for (const [answer, why] of [
    [await sendForm(service.url, "/oauth/token", { ...fields, client_id: signer.url }), /has to sign/],
    [await send("/oauth/token", fields, await stranger.sign(signer.url, service.url)), /not signed with a key/],
    [await send("/oauth/token", fields, foreign), /whose aud is the issuer/],
    [
      await sendForm(service.url, "/oauth/token", { ...fields, client_id: signer.url, client_assertion: foreign }),
      /client_assertion_type=/,
    ],
  ] as const) {
    t.deepEqual([answer.status, answer.body.error], [400, "invalid_client"]);
    t.regex(answer.body.error_description, why);
  }
  const assertion = await key.sign(signer.url, service.url);
  const { status, body } = await send("/oauth/token", fields, assertion);
  t.deepEqual([status, await statusOf(service.url, body.access_token)], [200, 200]);
  const again = { grant_type: "refresh_token", refresh_token: body.refresh_token, client_id: signer.url };
  t.regex((await send("/oauth/token", again, assertion)).body.error_description, /used before/);
  const renewed = await send("/oauth/token", again, await key.sign(signer.url, `${service.url}/oauth/token`));
  t.is(renewed.status, 200);
  const token = { token: renewed.body.refresh_token };
  t.is((await sendForm(service.url, "/oauth/revoke", token)).body.error, "invalid_client");
  t.is((await send("/oauth/revoke", token, await key.sign(signer.url, service.url))).status, 200);
  t.is(await statusOf(service.url, renewed.body.access_token), 401);
});

test("a client that need not sign is served when its keys cannot be fetched, as PKCE is enough", async (t) => {
  const key = await newKey("1");
  const signer = await startSigner(t, [key.jwk], {
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
  });
  signer.status = 404;
  const assertion = await key.sign(signer.url, service.url);
  const sent = { ...(await approved(signer)), client_assertion: assertion, client_assertion_type: TYPE };
  t.is((await sendForm(service.url, "/oauth/token", sent)).status, 200);
});
