import type { IncomingHttpHeaders } from "node:http";
import {
  classifyInboundRequest,
  isSpecType,
  type RequestId,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";

/**
 * The fast path of /mcp: a call of a tool, or a request for the list of tools, with nothing unusual about it. The SDK
 * makes a server and a transport for each request and checks each message several times, which costs more than the
 * endpoint's own work. Here it only says to which generation of the protocol a request belongs, and whether its form is
 * right. The answer is written as the SDK writes it. All other requests are left to the SDK. A test compares the answers
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

type Params = { name?: string; arguments?: Record<string, unknown> | undefined; _meta?: object | undefined };

/** The members of params that need nothing from the SDK. */
const USUAL = { "tools/call": ["name", "arguments", "_meta"], "tools/list": ["_meta"] } as const;

/** Returns the generation of the protocol by whose rules the headers and the message are right, otherwise null. */
const eraOf = (headers: IncomingHttpHeaders, message: { method: string }, name: string | undefined) => {
  const { accept, "mcp-protocol-version": version, "mcp-method": method, "mcp-name": named } = headers;
  if (version !== undefined && typeof version !== "string") return null;
  const { kind, ...route } = classifyInboundRequest({
    httpMethod: "POST",
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    body: message,
  });
  if (kind === "modern")
    // The headers that a request of 2026 must have, in their plain form. The message names the same revision.
    return version === MODERN && method === message.method && named === name ? "modern" : null;
  const takesEvents = accept?.includes("application/json") && accept.includes("text/event-stream");
  const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version);
  return kind === "legacy" && "reason" in route && route.reason === "no-claim" && takesEvents && isKnown
    ? "legacy"
    : null;
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
  const isCall = isSpecType.CallToolRequest(message);
  if (!isCall && !isSpecType.ListToolsRequest(message)) return null;
  const params: Params = message.params ?? {};
  const usual: readonly string[] = USUAL[message.method];
  if (Object.keys(params).some((member) => !usual.includes(member))) return null;
  const { name } = params;
  if (isCall && (name === undefined || !isTool(name))) return null;
  const era = eraOf(headers, message, name);
  if (era === null || !("id" in message)) return null;
  return { era, id: message.id as RequestId, call: name === undefined ? null : { name, args: params.arguments ?? {} } };
};

/**
 * Returns how an answer is written.
 * @param members the members of the result in JSON, without braces
 * @param more members that only a result of 2026 has
 */
export const writerFor =
  (server: { name: string; title: string; version: string }) =>
  ({ era, id }: FastRequest, members: string | Buffer, more = ""): { type: string; body: string | Buffer } => {
    const isModern = era === "modern";
    const meta = JSON.stringify({ [SERVER_INFO_META_KEY]: server });
    const before = `${isModern ? "" : "event: message\ndata: "}{"result":{`;
    const extra = isModern ? `,"resultType":"complete"${more},"_meta":${meta}` : "";
    const after = `${extra}},"jsonrpc":"2.0","id":${JSON.stringify(id)}}${isModern ? "" : "\n\n"}`;
    return {
      type: isModern ? "application/json" : "text/event-stream",
      body:
        typeof members === "string"
          ? before + members + after
          : Buffer.concat([Buffer.from(before), members, Buffer.from(after)]),
    };
  };
