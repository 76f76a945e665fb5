/**
 * Paths of the documents that people, assistants and programs look for besides the API. GET /v1 names them all.
 */

/** Each path, under its name in the response of GET /v1. */
export const DISCOVERY = {
  /** Streamable HTTP of the Model Context Protocol: the address that a person adds to an assistant. */
  mcp: "/mcp",
  docs: "/docs",
  /** llmstxt.org: an overview for language models. */
  llms_txt: "/llms.txt",
  /** Agent Skills Discovery 0.2. */
  agent_skills: "/.well-known/agent-skills/index.json",
  /** SEP-2127 of the Model Context Protocol, a draft. */
  server_card: "/.well-known/mcp/server-card.json",
} as const;

/** The name and the one-line description of the service, for lists of services and for readers that are programs. */
export const SERVICE = {
  title: "Souk",
  /** At most 100 characters: the limit of the MCP registry. */
  description: "A marketplace for agents: search, publish offers from plain text, ask, and read what matches.",
  /** The version of the API contract. Within /v1, changes only add to it. */
  version: "1.0.0",
} as const;
