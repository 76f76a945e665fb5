import type { IncomingHttpHeaders } from "node:http";
import {
  classifyInboundRequest,
  isSpecType,
  type RequestId,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { createMemory } from "../../base/lru.ts";

/**
 * The fast path of /mcp: an ordinary call of a tool, or request for the list of tools. The SDK makes a server and a
 * transport for each request and checks each message several times, which costs more than the endpoint's own work. Here
 * it only says to which generation of the protocol a request belongs, and whether its form is right. The answer is
 * written as the SDK writes it. The SDK answers all other requests. A test compares the answers
 * (test/http/mcp_fast_path.test.ts).
 */

/** A request that the fast path can answer. */
export type FastRequest = {
  /** The generation of the protocol: the revision of 2026, or one of 2025. */
  era: "modern" | "legacy";
  id: RequestId;
  /** The tool to call; null to list them. */
  call: { name: string; args: Record<string, unknown> } | null;
};

/** The only revision of the newer generation. */
const MODERN = "2026-07-28";

/** The members of params that need nothing from the SDK. */
const USUAL = { "tools/call": ["name", "arguments", "_meta"], "tools/list": ["_meta"] } as const;

const MEMBERS = ["jsonrpc", "id", "method", "params"];

/** Longer descriptions of clients are not remembered, so that all of them take a few megabytes at most. */
const REMEMBERED_CHARACTERS = 500;

const eras = createMemory<FastRequest["era"] | "other">();

/** Returns how the SDK judges the header with the revision and the client's description of itself (`_meta`). */
const judge = (version: string | undefined, meta: unknown): FastRequest["era"] | "other" => {
  const params = meta === undefined ? {} : { _meta: meta };
  const body = { jsonrpc: "2.0", id: 0, method: "tools/list", params };
  if (!isSpecType.ListToolsRequest(body)) return "other";
  const header = version === undefined ? {} : { protocolVersionHeader: version };
  const { kind, ...route } = classifyInboundRequest({ httpMethod: "POST", ...header, body });
  if (kind === "modern") return version === MODERN ? "modern" : "other";
  const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version);
  return kind === "legacy" && "reason" in route && route.reason === "no-claim" && isKnown ? "legacy" : "other";
};

/** The same as `judge`. A client's description does not change, so the SDK is mostly asked once. */
const judgeOnce = (version: string | undefined, meta: unknown): FastRequest["era"] | "other" => {
  const key = JSON.stringify([version, meta]);
  const remembered = eras.get(key);
  if (remembered) return remembered;
  const era = judge(version, meta);
  if (key.length <= REMEMBERED_CHARACTERS) eras.set(key, era);
  return era;
};

type Members = Record<string, unknown>;

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const hasOnly = (value: Members, members: readonly string[]): boolean =>
  Object.keys(value).every((member) => members.includes(member));

/** Returns the generation of the protocol by whose rules the headers and the message are right, otherwise null. */
const eraOf = (headers: IncomingHttpHeaders, message: { method: string; name?: string | undefined; meta: unknown }) => {
  const { "mcp-protocol-version": version, "mcp-method": method, "mcp-name": name } = headers;
  if (version !== undefined && typeof version !== "string") return null;
  const era = judgeOnce(version, message.meta);
  // The headers that a request of 2026 must have, in their plain form.
  if (era === "modern") return method === message.method && name === message.name ? era : null;
  return era === "legacy" ? era : null;
};

/**
 * Returns the request that the fast path can answer; null if the SDK has to.
 * @param isTool whether there is a tool with this name
 */
export const fastRequestOf = (
  headers: IncomingHttpHeaders,
  message: unknown,
  isTool: (name: string) => boolean,
): FastRequest | null => {
  if (headers["content-type"] !== "application/json") return null;
  if (!isObject(message) || !hasOnly(message, MEMBERS)) return null;
  const { jsonrpc, id, method, params = {} } = message;
  if (jsonrpc !== "2.0" || (typeof id !== "string" && !Number.isSafeInteger(id))) return null;
  if (method !== "tools/call" && method !== "tools/list") return null;
  if (!isObject(params) || !hasOnly(params, USUAL[method])) return null;
  const { name, ["arguments"]: args = {}, _meta: meta } = params;
  const call = typeof name === "string" && isTool(name) && isObject(args) ? { name, args } : null;
  if (method === "tools/call" && call === null) return null;
  const era = eraOf(headers, { method, name: call?.name, meta });
  return era && { era, id: id as RequestId, call };
};

/**
 * Returns a function for the JSON around the members of a result in an answer.
 * @param server how the service describes itself
 */
export const framesFor = (server: { name: string; title: string; version: string }) => {
  const meta = `,"_meta":${JSON.stringify({ [SERVER_INFO_META_KEY]: server })}`;
  /** @param more members that only a result of 2026 has */
  return ({ era, id }: FastRequest, more: string): { before: string; after: string } => ({
    before: '{"result":{',
    after: `${era === "modern" ? `,"resultType":"complete"${more}${meta}` : ""}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`,
  });
};
