import { isConnectionLost, problem } from "../../base/problem.ts";
import { callFunction } from "../arguments.ts";
import type { Context, Handler } from "../endpoint.ts";
import { answerOf, type Envelope, UNKNOWN_OUTCOME } from "../response.ts";

/** The members of a body in which one side writes to the other. */
const WORDS: ReadonlySet<string> = new Set(["text", "note", "place", "contact"]);

/** Removes what gives orders to software from words; null while the service starts. */
type WithoutOrders = Context["withoutOrders"];

/**
 * Removes orders to software from the WORDS of a body, at any depth. `changed`: whether there were any. Orders are found by
 * the trained reader, which runs in this process and not in the database.
 */
const cleaned = (withoutOrders: WithoutOrders, value: unknown): { value: unknown; changed: boolean } => {
  if (typeof value !== "object" || value === null) return { value, changed: false };
  let changed = false;
  const entries = Object.entries(value).map(([name, member]) => {
    if (!WORDS.has(name) || typeof member !== "string") {
      const inner = cleaned(withoutOrders, member);
      changed ||= inner.changed;
      return [name, inner.value];
    }
    const words = withoutOrders(member);
    if (words === null)
      throw problem("service_unavailable", "The service has just started. Nothing was sent.", { retry_after: 2 });
    changed ||= words !== member;
    return [name, words];
  });
  return { value: Object.fromEntries(entries), changed };
};

/**
 * Returns a body whose words have no orders to software, and `addresses_agents` if there were any.
 * @throws Problem service_unavailable while the service starts
 */
export const cleanWords = (withoutOrders: WithoutOrders, body: object): object => {
  const { value, changed } = cleaned(withoutOrders, body);
  return { ...(value as object), ...(changed ? { addresses_agents: true } : {}) };
};

/**
 * Handles a request with words for the other side of a conversation: passages that give orders to software are left out,
 * and the function decides status, headers and body of the response.
 */
export const sendWords: Handler = async (context, call) => {
  const make = async () => ({ body: cleanWords(context.withoutOrders, call.body) });
  const answered = await callFunction(context, call, "write", make).catch((error: unknown) => {
    throw isConnectionLost(error) ? UNKNOWN_OUTCOME : error;
  });
  const envelope = JSON.parse(answered) as Envelope;
  return answerOf(envelope, envelope.headers ?? {});
};
