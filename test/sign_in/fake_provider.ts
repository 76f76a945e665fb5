import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";

/**
 * An OpenID provider whose responses a test can make dishonest.
 *
 *   told   how the next ID token or response differs from an honest one
 */

/** How the next response differs from an honest one. */
export type Told = {
  claims?: Record<string, unknown>;
  /** Signs with a foreign key, with no key, or with the client's secret instead of the provider's key. */
  signed?: "elsewhere" | "none" | "with the client secret";
  /** Sent instead of the normal response of the token endpoint. */
  answer?: { status: number; type: string; body: string };
  /** Never responds to any request. */
  silent?: boolean;
};

/** A running fake provider. */
export type FakeProvider = {
  issuer: string;
  env: Record<string, string>;
  told: Told;
  /** Members that override those of the provider's metadata document. */
  metadata: Record<string, unknown>;
  /** The parameters of all requests to the token endpoint. */
  asked: URLSearchParams[];
  /** The nonce of the last authorization request, which an honest provider copies into the ID token. */
  nonce: string;
  close: () => Promise<void>;
};

const CLIENT_ID = "souk-client";
const CLIENT_SECRET = "a secret that is long enough to sign with it, as some libraries allow";

/** Starts a fake provider on a free port. */
export const startFakeProvider = async (): Promise<FakeProvider> => {
  const [own, foreign] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
  const http = createServer();
  http.listen(0, "localhost");
  await once(http, "listening");
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
  const fake: FakeProvider = {
    issuer,
    env: { GOOGLE_CLIENT_ID: CLIENT_ID, GOOGLE_CLIENT_SECRET: CLIENT_SECRET, GOOGLE_ISSUER: issuer },
    told: {},
    metadata: {},
    asked: [],
    nonce: "",
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };

  const idToken = async (): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const claims: Record<string, unknown> = {
      iss: issuer,
      aud: CLIENT_ID,
      sub: "the victim",
      nonce: fake.nonce,
      iat: now,
      exp: now + 300,
      email: "victim@example.com",
      email_verified: true,
      ...fake.told.claims,
    };
    for (const [name, value] of Object.entries(claims)) if (value === undefined) delete claims[name];
    if (fake.told.signed === "none") return new UnsecuredJWT(claims).encode();
    if (fake.told.signed === "with the client secret") {
      return new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(CLIENT_SECRET));
    }
    const { privateKey } = fake.told.signed === "elsewhere" ? foreign : own;
    return new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "own" }).sign(privateKey);
  };

  http.on("request", async (request, response) => {
    if (fake.told.silent) return;
    const send = (body: object, status = 200) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const { pathname } = new URL(request.url ?? "/", issuer);
    if (pathname === "/.well-known/openid-configuration") {
      send({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
        ...fake.metadata,
      });
    } else if (pathname === "/keys") {
      send({ keys: [{ ...(await exportJWK(own.publicKey)), kid: "own", use: "sig", alg: "RS256" }] });
    } else if (pathname === "/token") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      fake.asked.push(new URLSearchParams(Buffer.concat(chunks).toString("utf8")));
      const { answer } = fake.told;
      if (answer) response.writeHead(answer.status, { "content-type": answer.type }).end(answer.body);
      else send({ access_token: "unused", token_type: "Bearer", id_token: await idToken() });
    } else response.writeHead(404).end();
  });
  return fake;
};
