import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, call } from "../support/market.ts";
import { newPerson } from "../support/person.ts";

/**
 * A client of OAuth that is a program on the person's computer.
 *
 *   arrived   the parameters with which browsers came back to it
 */

export type Client = {
  /** Where the client listens: `http://127.0.0.1:41234/callback`. */
  redirectUri: string;
  /** The address of the document in which the client describes itself. */
  document: string;
  arrived: URLSearchParams[];
  /** Resolves with the parameters of the next browser that comes back. */
  next: () => Promise<URLSearchParams>;
};

/** The part of ava's `t` that registers a clean-up. */
type Teardown = { teardown: (clean: () => Promise<void>) => void };

/**
 * Starts a client that listens for browsers until the test ends.
 * @param onward where it redirects browsers to, as the sites of some assistants do; null: it shows a page
 */
export const startClient = async (t: Teardown, onward: string | null = null): Promise<Client> => {
  const arrived: URLSearchParams[] = [];
  const waiting: ((parameters: URLSearchParams) => void)[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://client");
    if (pathname === "/client.json") {
      const about = {
        client_id: `${origin}/client.json`,
        client_name: "Published client",
        redirect_uris: [`${origin}/callback`],
      };
      return void response.setHeader("content-type", "application/json").end(JSON.stringify(about));
    }
    if (pathname !== "/callback") return void response.writeHead(404).end();
    arrived.push(searchParams);
    if (onward === null)
      response
        .setHeader("content-type", "text/html")
        .end("<!DOCTYPE html><title>Back</title><h1>Back at the program</h1>");
    else response.writeHead(302, { location: onward }).end();
    waiting.shift()?.(searchParams);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectUri: `${origin}/callback`,
    document: `${origin}/client.json`,
    arrived,
    next: () => new Promise((resolve) => waiting.push(resolve)),
  };
};

/** Calls an endpoint with a form. */
export const sendForm = (
  url: string,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) =>
  call(url, "POST", path, {
    raw: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });

/** Registers a client. @throws an Error if the status is not 201 */
export const register = async (url: string, redirect_uris: string[], client_name = "Assistant"): Promise<string> => {
  const { status, body } = await call(url, "POST", "/oauth/register", { body: { client_name, redirect_uris } });
  if (status !== 201) throw new Error(`registering gave ${status}: ${JSON.stringify(body)}`);
  return body.client_id;
};

/** A secret of PKCE and its challenge. */
export const newVerifier = (): { verifier: string; challenge: string } => {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
};

/** The address to which a client sends the browser. A parameter that is null is left out. */
export const authorizeUrl = (url: string, parameters: Record<string, string | null>): string => {
  const all = {
    response_type: "code",
    code_challenge_method: "S256",
    state: "state of the client",
    scope: "market",
    resource: `${url}/mcp`,
    ...parameters,
  };
  const sent = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
  return `${url}/oauth/authorize?${new URLSearchParams(sent)}`;
};

/** The status of `GET /v1/me` with an access token. */
export const statusOf = async (url: string, token: string): Promise<number> =>
  (await call(url, "GET", "/v1/me", { headers: { authorization: `Bearer ${token}` } })).status;

/** Exchanges a code. */
export const exchange = (
  url: string,
  fields: { client_id: string; code: string; code_verifier: string; redirect_uri: string },
): Promise<Answer> => sendForm(url, "/oauth/token", { grant_type: "authorization_code", ...fields });

/** Opens the address to which a client sends the browser, like a browser without cookies. */
export const visit = (address: string, headers: Record<string, string> = {}): Promise<Answer> => {
  const { origin, pathname, search } = new URL(address);
  return call(origin, "GET", pathname + search, { headers: { accept: "text/html", ...headers } });
};

/** A new person approves the request behind a link. Returns the address to which the browser is sent back. */
export const approve = async (link: string): Promise<URL> => {
  const page = await newPerson().decide(link, "approve");
  return new URL((page.headers["refresh"] ?? "").replace(/^0; url=/, ""));
};

/** A client with its first tokens, which a new person has approved. */
export const grant = async (url: string) => {
  const redirect_uri = "https://assistant.example/callback";
  const client_id = await register(url, [redirect_uri]);
  const { verifier, challenge } = newVerifier();
  const { headers } = await visit(authorizeUrl(url, { client_id, redirect_uri, code_challenge: challenge }));
  const code = (await approve(headers["location"] ?? "")).searchParams.get("code") ?? "";
  const { body } = await exchange(url, { client_id, code, code_verifier: verifier, redirect_uri });
  return { client_id, code, verifier, access: String(body.access_token), refresh: String(body.refresh_token) };
};

/** Uses a refresh token. */
export const refresh = (url: string, client_id: string, refresh_token: string): Promise<Answer> =>
  sendForm(url, "/oauth/token", { grant_type: "refresh_token", client_id, refresh_token });
