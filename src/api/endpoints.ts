import type { Endpoint } from "./endpoint.ts";
import { ABOUT_ENDPOINTS } from "./endpoints/about.ts";
import { ASKS_ENDPOINTS } from "./endpoints/asks.ts";
import { CONNECTION_ENDPOINTS } from "./endpoints/connection.ts";
import { CONVERSATIONS_ENDPOINTS } from "./endpoints/conversations.ts";
import { EVENTS_ENDPOINTS } from "./endpoints/events.ts";
import { OFFERS_ENDPOINTS } from "./endpoints/offers.ts";
import { SEARCH_ENDPOINTS } from "./endpoints/search.ts";
import { WEBHOOKS_ENDPOINTS } from "./endpoints/webhooks.ts";

/** The table of endpoints, in the order of GET /v1. If two paths match a request, the first one is used. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...ABOUT_ENDPOINTS,
  ...CONNECTION_ENDPOINTS,
  ...SEARCH_ENDPOINTS,
  ...OFFERS_ENDPOINTS,
  ...ASKS_ENDPOINTS,
  ...CONVERSATIONS_ENDPOINTS,
  ...EVENTS_ENDPOINTS,
  ...WEBHOOKS_ENDPOINTS,
];
