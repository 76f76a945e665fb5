import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { z } from "zod";
import { codePoints, text } from "../../api/schemas/values.ts";
import { isProblem, type Problem, problem } from "../../base/problem.ts";
import { sendOutbound } from "../../base/safe_fetch.ts";
import { parseJson, withoutNulls } from "../../web/body.ts";

/**
 * Clients that publish a document about themselves (client id metadata documents). Their client_id is the https address
 * of the document. Whether what it allows is enough is decided by internal.find_client. Anybody can name an address, so it is fetched with care, and within limits of size and time.
 */

/** The members of a document that we use. */
type ClientDocument = {
  client_name: string;
  redirect_uris: string[];
  /** The methods by which the client may prove itself; the one that it prefers is among them. */
  auth_methods: string[];
  /** The algorithm by which it always signs, if it says so. */
  signing_alg?: string | undefined;
  jwks?: object | undefined;
  jwks_uri?: string | undefined;
};

/** Fetches a client's document. @throws Problem bad_request if there is no usable document */
export type FindDocument = (clientId: string) => Promise<ClientDocument>;

/** Twice the limit that the draft of the standard recommends, and ten times the size of published documents. */
const MAX_BYTES = 10 * 1024;
/** Twenty keys with their certificates. */
const MAX_KEY_BYTES = 64 * 1024;
/** A person waits for the page. A site that takes longer than this is down. */
const MAX_MS = 5_000;
/** Twice one address's requests in an hour, so that one address cannot keep others waiting with slow documents. */
const MAX_AT_ONCE = 60;

const unusable = (why: string): Problem =>
  problem(
    "bad_request",
    `The program that sent you here says that it describes itself at its client_id, but ${why}. So it gets no access. Tell its makers.`,
    { error: "invalid_client" },
  );

const documentOf = z.object({
  client_id: z.string(),
  client_name: codePoints(2_000, "A client_name").optional(),
  redirect_uris: z.array(text().max(2_000)).min(1).max(100),
  token_endpoint_auth_method: text().optional(),
  token_endpoint_auth_methods_supported: z.array(text()).optional(),
  token_endpoint_auth_signing_alg: text().optional(),
  jwks: z.looseObject({}).optional(),
  jwks_uri: text().max(2_000).optional(),
});

/** Whether an address may be a client_id or that of keys: https, with a path, and written as a browser would write it. */
const isClientId = (address: string, anyAddress: boolean): boolean => {
  if (!URL.canParse(address)) return false;
  const { protocol, pathname, username, password, hash, href } = new URL(address);
  const isSecure = protocol === "https:" || (anyAddress && protocol === "http:");
  return isSecure && pathname !== "/" && username === "" && password === "" && hash === "" && href === address;
};

/** Returns why a response cannot be a document, to end the sentence "... but"; null if it can. */
const flawOf = ({ statusCode, headers }: IncomingMessage): string | null => {
  if (statusCode !== 200) return `its status there is ${statusCode} and not 200`;
  return /^application\/([a-z0-9.+-]+\+)?json\b/i.test(headers["content-type"] ?? "")
    ? null
    : "what is there is not JSON";
};

/** Reads the body of a response; null if it is too large, and then the rest is not read. */
const readBody = async (response: AsyncIterable<Buffer>, maxBytes: number): Promise<string | null> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
  }
  return Buffer.concat(chunks).toString("utf8");
};

/** Fetches JSON. @throws an Error whose message ends the sentence "... but" */
const fetchJson = async (
  address: string,
  maxBytes: number,
  anyAddress: boolean,
  lookup?: LookupFunction,
): Promise<unknown> => {
  const signal = AbortSignal.timeout(MAX_MS);
  const fail = (): never => {
    if (signal.aborted) throw new Error(`nothing whole came from there within ${MAX_MS / 1_000} seconds`);
    // The error of a failed connection would show strangers what is in our network.
    throw new Error("it cannot be reached there from the internet");
  };
  const headers = { accept: "application/json" };
  const response = await sendOutbound(address, { anyAddress, lookup, headers, signal }).catch(fail);
  const flaw = flawOf(response);
  if (flaw !== null) {
    response.destroy();
    throw new Error(flaw);
  }
  const body = await readBody(response, maxBytes).catch(fail);
  if (body === null) throw new Error(`the document there has more than ${maxBytes / 1024} KB`);
  try {
    return withoutNulls(parseJson(body));
  } catch {
    throw new Error("what is there is not JSON");
  }
};

/** Makes a function that fetches JSON for one process. @throws its errors are those of fetchJson, or a Problem 503 */
const fetcher = (anyAddress: boolean, lookup?: LookupFunction) => {
  let fetching = 0;
  return async (address: string, maxBytes: number): Promise<unknown> => {
    if (fetching >= MAX_AT_ONCE)
      throw problem(
        "service_unavailable",
        "Too many programs are being introduced at the moment. Try again in a few seconds.",
        { retry_after: 2 },
      );
    fetching += 1;
    try {
      return await fetchJson(address, maxBytes, anyAddress, lookup);
    } finally {
      fetching -= 1;
    }
  };
};

const read = (clientId: string, json: unknown): ClientDocument => {
  const { success, data } = documentOf.safeParse(json);
  if (!success) throw new Error("the document there lacks client_id or redirect_uris, or they are malformed");
  if (data.client_id !== clientId) throw new Error("the document there names another client_id");
  const { token_endpoint_auth_method: preferred, token_endpoint_auth_methods_supported: others = [] } = data;
  const methods = preferred === undefined ? others : [preferred, ...others];
  return {
    client_name: data.client_name ?? new URL(clientId).host,
    redirect_uris: data.redirect_uris,
    auth_methods: methods.length === 0 ? ["none"] : methods,
    signing_alg: data.token_endpoint_auth_signing_alg,
    jwks: data.jwks,
    jwks_uri: data.jwks_uri,
  };
};

/**
 * Makes the function that fetches documents for one process.
 * @param anyAddress also http and addresses that are not public, for tests and closed networks
 * @param lookup resolves names; default: that of sendOutbound
 */
export const findDocuments = (anyAddress: boolean, lookup?: LookupFunction): FindDocument => {
  const fetchFrom = fetcher(anyAddress, lookup);
  return async (clientId) => {
    if (!isClientId(clientId, anyAddress))
      throw unusable("that is not an https address with a path, written in its usual form");
    try {
      return read(clientId, await fetchFrom(clientId, MAX_BYTES));
    } catch (error) {
      throw isProblem(error) ? error : unusable(error instanceof Error ? error.message : String(error));
    }
  };
};

/** Fetches the keys of a client, as they are now: a set of JSON Web Keys, and the algorithm that it always uses, if it says so. */
export type FindKeys = (clientId: string) => Promise<{ jwks: unknown; signing_alg: string | undefined }>;

/** Makes the function that fetches keys for one process, with the parameters of findDocuments. @throws as findDocuments */
export const findKeys = (anyAddress: boolean, lookup?: LookupFunction): FindKeys => {
  const find = findDocuments(anyAddress, lookup);
  const fetchFrom = fetcher(anyAddress, lookup);
  return async (clientId) => {
    const { jwks, jwks_uri = "", signing_alg } = await find(clientId);
    if (jwks !== undefined) return { jwks, signing_alg };
    if (!isClientId(jwks_uri, anyAddress)) throw unusable("its jwks_uri is not an https address with a path");
    return { jwks: await fetchFrom(jwks_uri, MAX_KEY_BYTES), signing_alg };
  };
};
