import type { ExecutionContext } from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { endpointName } from "../../src/assistants/mcp/definitions.ts";
import { TOOLS } from "../../src/assistants/mcp/tools.ts";
import type { Agent, Body } from "../support/market.ts";
import type { Market } from "./contract.ts";
import { callTool } from "./mcp.ts";

/** What a caller can ask about an offer of somebody else. */

/** An offer of a grey sofa in a town, and an ask of the reader that it matches. */
type Asked = { town: string; offer: string; ask: string };

const FACETS = ["category", "offer_kind", "price", "condition", "location"];

/** Whatever the offer's readers can call, and how: endpoints that are missing here are in OWN. */
const readsOf = (
  { town, offer: offerId, ask: askId }: Asked,
  conversationId: string,
): Record<string, [path: string, body?: Body]> => ({
  "POST /v1/offers/search": ["/v1/offers/search", { query: "grey sofa", filters: { location: town }, facets: FACETS }],
  "GET /v1/offers/{id}": [`/v1/offers/${offerId}`],
  "GET /v1/asks": ["/v1/asks"],
  "GET /v1/asks/{id}": [`/v1/asks/${askId}`],
  "GET /v1/asks/{id}/matches": [`/v1/asks/${askId}/matches`],
  "GET /v1/conversations": ["/v1/conversations"],
  "GET /v1/conversations/{id}": [`/v1/conversations/${conversationId}`],
  "GET /v1/conversations/{id}/messages": [`/v1/conversations/${conversationId}/messages`],
  "GET /v1/events": ["/v1/events"],
  "GET /v1/me": ["/v1/me"],
  "GET /v1/taxonomy": ["/v1/taxonomy"],
  "GET /v1": ["/v1"],
  "GET /v1/offers": ["/v1/offers"],
  "GET /v1/webhooks": ["/v1/webhooks"],
  "POST /v1/offers/{id}/report": [`/v1/offers/${offerId}/report`, { reason: "spam" }],
});

/** Endpoints that answer with nothing but what their caller sends, owns or may not have. */
const OWN = [
  "POST /v1/offers/{id}/conversations",
  "GET /v1/offers/{id}/proposals",
  "GET /v1/me/confirmations/{id}",
  "POST /v1/conversations/{id}",
  "POST /v1/conversations/{id}/messages",
  "POST /v1/conversations/{id}/read",
  "POST /v1/conversations/{id}/close",
  "POST /v1/conversations/{id}/block",
  "POST /v1/conversations/{id}/report",
  "POST /v1/conversations/{id}/proposals",
  "POST /v1/conversations/{id}/proposals/{proposal_id}/accept",
  "POST /v1/conversations/{id}/proposals/{proposal_id}/decline",
  "POST /v1/conversations/{id}/proposals/{proposal_id}/withdraw",
  "GET /v1/openapi.json",
  "POST /v1/connect",
  "DELETE /v1/me/agent",
  "POST /v1/me/verifications",
  "GET /v1/me/verifications/{id}",
  "POST /v1/offers",
  "POST /v1/offers/preview",
  "PATCH /v1/offers/{id}",
  "POST /v1/offers/{id}/archive",
  "POST /v1/offers/{id}/republish",
  "POST /v1/offers/{id}/confirm",
  "POST /v1/offers/{id}/appeal",
  "POST /v1/asks",
  "PATCH /v1/asks/{id}",
  "POST /v1/asks/{id}/archive",
  "POST /v1/asks/{id}/fulfill",
  "POST /v1/asks/{id}/reopen",
  "POST /v1/webhooks",
  "DELETE /v1/webhooks/{id}",
  "POST /v1/webhooks/{id}/challenge",
  "POST /v1/webhooks/{id}/test",
];

/** The arguments with which each tool that reads is called. */
const argumentsOf = ({ town, offer: offerId, ask: askId }: Asked, conversationId: string): Record<string, Body> => ({
  get_me: {},
  search_offers: { query: "grey sofa", filters: { location: town } },
  get_offer: { offer_id: offerId },
  preview_offer: { text: "A lamp" },
  list_matches: { ask_id: askId },
  list_mine: { what: "asks" },
  get_events: {},
  list_conversations: {},
  get_conversation: { conversation_id: conversationId },
});

/**
 * Every answer of the endpoints and MCP tools that show something of an offer to somebody else. Fails if there is an
 * endpoint or tool that is not listed here, or an answer is a refusal.
 */
export const answersTo = async (
  t: ExecutionContext,
  market: Market,
  reader: Agent,
  asked: Asked,
): Promise<Record<string, string>> => {
  const answers: Record<string, string> = {};
  const opened = await reader.call("POST", `/v1/offers/${asked.offer}/conversations`, { text: "Hello" });
  answers["POST /v1/offers/{id}/conversations"] = opened.text;
  const reads = readsOf(asked, opened.body.id);
  t.deepEqual(ENDPOINTS.map(endpointName).toSorted(), [...Object.keys(reads), ...OWN].toSorted());
  for (const [name, [path, body]] of Object.entries(reads)) {
    const answer = await reader.call(name.split(" ")[0] ?? "", path, body);
    t.true(answer.status < 300, name);
    answers[name] = answer.text;
  }
  const tools = argumentsOf(asked, opened.body.id);
  t.deepEqual(
    TOOLS.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name),
    Object.keys(tools),
  );
  for (const [name, args] of Object.entries(tools)) {
    const result = await callTool(market.url, reader.token, name, args);
    t.false(result.isError ?? false, name);
    answers[name] = JSON.stringify(result);
  }
  return answers;
};
