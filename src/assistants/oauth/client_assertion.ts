import { compactVerify, createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload } from "jose";
import { z } from "zod";
import { text } from "../../api/schemas/values.ts";
import { createMemory } from "../../base/lru.ts";
import { isProblem, type Problem, problem } from "../../base/problem.ts";
import type { FindKeys } from "./client_document.ts";

/**
 * Client assertions (RFC 7523): a client proves itself by a JWT that it signs with a key of the document that it publishes.
 * Here only the signature is checked. What the JWT has to say is decided by internal.assertion_fault, by the database's
 * clock.
 */

/** The algorithms by which clients may sign. None of them works with a secret that both sides know. */
export const ASSERTION_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** The only client_assertion_type. */
export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Keys are fetched again after this time. A key that its client withdrew works for no longer. */
const KEPT_MS = 5 * 60_000;
/** A client whose keys could not be fetched is asked again after this time. */
const FAILED_MS = 10_000;
/** An assertion that no key fits has the keys fetched before their time, this often at most: the client may have new ones. */
const AGAIN_MS = 60_000;

const refusal = (detail: string): Problem => problem("bad_request", detail, { error: "invalid_client" });

const NO_JWT = "The client_assertion is not a JWT with iss, sub, aud, exp and jti, of which aud is one text.";
const NO_KEY = `The client_assertion is not signed with a key of the client. Sign it with one of those in the jwks of its document or at its jwks_uri, name its kid, and use the document's token_endpoint_auth_signing_alg or one of: ${ASSERTION_ALGORITHMS.join(", ")}.`;

const claimsOf = z.object({
  iss: text(),
  sub: text(),
  // With a second audience, somebody else could use the assertion here.
  aud: z.union([text(), z.tuple([text()]).transform(([only]) => only)]),
  exp: z.number(),
  iat: z.number().optional(),
  nbf: z.number().optional(),
  jti: text().min(1),
});

/** What a client says of itself by an assertion with a valid signature. */
export type Claims = z.infer<typeof claimsOf>;

const decode = (assertion: string): JWTPayload => {
  try {
    return decodeJwt(assertion);
  } catch {
    throw refusal(NO_JWT);
  }
};

/** Returns the client that an assertion names, of which nothing is checked yet. @throws Problem if it is no JWT */
export const namedIn = (assertion: string): string => {
  const { sub } = decode(assertion);
  if (typeof sub !== "string") throw refusal(NO_JWT);
  return sub;
};

type Verify = (assertion: string) => Promise<void>;

const verifierOf = ({ jwks, signing_alg }: Awaited<ReturnType<FindKeys>>): Verify => {
  const keyOf = createLocalJWKSet(jwks as JSONWebKeySet);
  const algorithms = ASSERTION_ALGORITHMS.filter((alg) => signing_alg === undefined || alg === signing_alg);
  return async (assertion) => {
    try {
      await compactVerify(assertion, keyOf, { algorithms });
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // It names no kid, so any of them may be the one.
      for await (const key of error) if (await compactVerify(assertion, key, { algorithms }).catch(() => null)) return;
      throw error;
    }
  };
};

/** Checks that a client signed an assertion. @throws Problem with the error invalid_client if it did not, or 503 */
export type CheckAssertion = (clientId: string, assertion: string) => Promise<Claims>;

/** Makes the function that checks assertions for one process, and keeps the keys of clients for a while. */
export const checkAssertions = (findKeys: FindKeys): CheckAssertion => {
  const kept = createMemory<{ verifier: Promise<Verify>; until: number; againAt: number }>();

  const verifierFor = (clientId: string, again: boolean): Promise<Verify> => {
    const now = performance.now();
    const last = kept.get(clientId);
    if (last && now < (again ? last.againAt : last.until)) return last.verifier;
    const entry = {
      verifier: findKeys(clientId).then(verifierOf),
      until: now + KEPT_MS,
      againAt: again ? now + AGAIN_MS : (last?.againAt ?? now),
    };
    entry.verifier.catch(() => {
      entry.until = performance.now() + FAILED_MS;
    });
    kept.set(clientId, entry);
    // A set of keys may be large, and most clients prove themselves once an hour.
    setTimeout(() => kept.get(clientId) === entry && kept.delete(clientId), KEPT_MS).unref();
    return entry.verifier;
  };

  const isSigned = async (clientId: string, assertion: string, again: boolean): Promise<boolean> => {
    let verify: Verify;
    try {
      verify = await verifierFor(clientId, again);
    } catch (error) {
      if (isProblem(error) && error.code === "service_unavailable") throw error;
      // It may be so for a moment only, and a client that is refused for good gives its tokens up.
      throw problem(
        "service_unavailable",
        "The keys of this client cannot be fetched, or are no keys, so that its client_assertion cannot be checked. Its client_id has to be the address of its document, and the document has jwks or a jwks_uri. Nothing was done; try again in a minute.",
        { retry_after: 60 },
      );
    }
    return verify(assertion).then(
      () => true,
      () => false,
    );
  };

  return async (clientId, assertion) => {
    const { success, data } = claimsOf.safeParse(decode(assertion));
    if (!success) throw refusal(NO_JWT);
    for (const again of [false, true]) if (await isSigned(clientId, assertion, again)) return data;
    throw refusal(NO_KEY);
  };
};
