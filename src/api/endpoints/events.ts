import { endpointsOf } from "../entry.ts";
import { ASK_ID } from "../examples.ts";
import { listEvents } from "../handlers/list_events.ts";
import * as shape from "../schemas/events.ts";

/** The endpoint of the feed of events. */
export const EVENTS_ENDPOINTS = endpointsOf("Events", [
  {
    operationId: "listEvents",
    call: "GET /v1/events",
    summary: "What happened to the account",
    description:
      "Matches of asks that watch, decisions about offers, approvals and the like, oldest first. Send the cursor of the last answer as `after` and wait=25, again and again: then an event arrives within a second, and none is missed or repeated. At most 8 calls of a caller may wait.",
    handler: listEvents,
    query: shape.eventsQuery,
    answers: {
      200: {
        description: "The events after the cursor.",
        schema: shape.eventList,
        example: {
          events: [
            {
              id: "01981d0e-7a00-7000-8000-000000000009",
              type: "match.created",
              occurred_at: "2026-06-01T10:00:00.000Z",
              data: { ask_id: ASK_ID, offer_id: "01979e5c-9b1a-7f3e-8b4d-5c2d1e0f9a55", score: 0.9 },
            },
          ],
          cursor: "eyJsaXN0IjoiZXZlbnRzIn0",
          has_more: false,
        },
      },
    },
  },
]);
