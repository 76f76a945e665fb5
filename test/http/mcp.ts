import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as OlderInterface } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type Answer, type Body, type CallOptions, call } from "../support/market.ts";

/** Clients of /mcp: the official ones of each generation, and plain HTTP requests. */

/** What the tests use of a connected client. */
export type McpClient = {
  /** The revision of the protocol that client and service agreed on. */
  revision: string | undefined;
  instructions: string | undefined;
  listTools: () => Promise<Body[]>;
  callTool: (name: string, args: Record<string, unknown>) => Promise<Body>;
  close: () => Promise<void>;
};

const ABOUT = { name: "tests", version: "1.0.0" };
const sentWith = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

const connectClient =
  (mode: "legacy" | "auto") =>
  async (url: string, token: string): Promise<McpClient> => {
    const client = new Client(ABOUT, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), sentWith(token)));
    return {
      revision: client.getNegotiatedProtocolVersion(),
      instructions: client.getInstructions(),
      listTools: async () => (await client.listTools()).tools,
      callTool: (name, args) => client.callTool({ name, arguments: args }),
      close: () => client.close(),
    };
  };

const connectOlderClient = async (url: string, token: string): Promise<McpClient> => {
  const client = new OlderClient(ABOUT);
  const transport = new OlderTransport(new URL(`${url}/mcp`), sentWith(token));
  await client.connect(transport as OlderInterface);
  return {
    revision: transport.protocolVersion,
    instructions: client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
};

/** The official clients, by name, with the revision that each speaks with the service. */
export const CLIENTS = {
  "the client of 2026": { connect: connectClient("auto"), revision: "2026-07-28" },
  "the client of 2026, speaking as in 2025": { connect: connectClient("legacy"), revision: "2025-11-25" },
  "the client of 2025": { connect: connectOlderClient, revision: "2025-11-25" },
} as const;

/** The revision that the service speaks, other than those of 2025. */
const REVISION = "2026-07-28";

const META = {
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientInfo": ABOUT,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Returns a JSON-RPC request of 2026 with its headers. */
export const modern = (method: string, params: Record<string, unknown> = {}): CallOptions => ({
  body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } },
  headers: {
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": REVISION,
    "mcp-method": method,
    ...(typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {}),
  },
});

/** Returns a JSON-RPC request as clients of 2025 send it. */
export const legacy = (method: string, params?: Record<string, unknown>): CallOptions => ({
  body: { jsonrpc: "2.0", id: 1, method, ...(params ? { params } : {}) },
  headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" },
});

/** Returns the JSON-RPC message of an answer. */
export const messageOf = ({ body }: Answer): Body => body;

/** Sends a request to /mcp. */
export const post = (url: string, token: string | null, options: CallOptions): Promise<Answer> =>
  call(url, "POST", "/mcp", {
    ...options,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...options.headers },
  });

/** Calls a tool with a request of 2026. Returns the result. */
export const callTool = async (url: string, token: string, name: string, args: unknown = {}): Promise<Body> =>
  messageOf(await post(url, token, modern("tools/call", { name, arguments: args }))).result;
