import { ASSERTION_ALGORITHMS } from "./client_assertion.ts";

/**
 * The documents with which clients find out how to get access. Issuer, endpoints and resources are the base URL as the
 * operator wrote it, because clients compare them as strings.
 */

/** The only scope: to act on the market as an agent of the person. */
export const SCOPE = "market";

/** The scopes of the protected resource, and its authorization server (RFC 9728). */
const resourceMetadata = (baseUrl: string, resource: string): object => ({
  resource,
  resource_name: "Souk",
  authorization_servers: [baseUrl],
  scopes_supported: [SCOPE],
  bearer_methods_supported: ["header"],
});

/** How clients prove themselves where tokens are given and taken back. What most can do comes first. */
const AUTH_METHODS = ["none", "private_key_jwt"];

/** What this authorization server can do (RFC 8414). */
const serverMetadata = (baseUrl: string): object => ({
  issuer: baseUrl,
  authorization_endpoint: `${baseUrl}/oauth/authorize`,
  token_endpoint: `${baseUrl}/oauth/token`,
  registration_endpoint: `${baseUrl}/oauth/register`,
  revocation_endpoint: `${baseUrl}/oauth/revoke`,
  scopes_supported: [SCOPE],
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: AUTH_METHODS,
  token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  revocation_endpoint_auth_methods_supported: AUTH_METHODS,
  revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});

/** Only one slash: a pattern for several would take time that grows with the square of the text's length. */
const withoutSlash = (text: string): string => (text.endsWith("/") ? text.slice(0, -1) : text);

/**
 * Returns the discovery document at a path; null if there is none. A base URL may have a path of its own. RFC 8414 and
 * RFC 9728 put it at the end of the address, and older clients before `/.well-known`, where a proxy removes it.
 */
export const discoveryDocument = (baseUrl: string, path: string): object | null => {
  const [, name, rest = ""] =
    /^\/\.well-known\/(oauth-protected-resource|oauth-authorization-server)(\/.*)?$/.exec(path) ?? [];
  const own = new URL(baseUrl).pathname.replace(/\/$/, "");
  const suffix = own !== "" && rest.startsWith(own) ? rest.slice(own.length) : rest;
  const resource = withoutSlash(suffix);
  if (name === undefined || !["", "/mcp"].includes(resource)) return null;
  return name === "oauth-authorization-server"
    ? serverMetadata(baseUrl)
    : resourceMetadata(baseUrl, baseUrl + resource);
};

/** An address as a URL parser writes it, without a slash at its end. */
const plain = (address: string): string => withoutSlash(URL.canParse(address) ? new URL(address).href : address);

/**
 * Returns whether a client may ask for access to this resource (RFC 8707): the service, or its MCP endpoint. Many clients
 * name no resource, or write it as a URL parser does, or with a slash at its end. They mean this service.
 */
export const isOurResource = (baseUrl: string, resource: string): boolean =>
  ["", plain(baseUrl), plain(`${baseUrl}/mcp`)].includes(plain(resource));
