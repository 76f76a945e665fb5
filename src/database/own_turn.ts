import { currentRequest } from "../base/request.ts";
import { createTurns } from "./turns.ts";

const turns = createTurns({ pools: { "event loop": 1 }, lanes: { work: { pool: "event loop" } } });

/**
 * Waits for a turn of the event loop without other work of milliseconds, such as reading a query or a text, or parsing a
 * large body. So between two of these, other callers' requests begin and end. Callers take turns; the jobs of a worker
 * are one of them.
 * @throws if the client hangs up meanwhile
 */
export const ownTurn = async (): Promise<void> => {
  const request = currentRequest();
  setImmediate(await turns.take(request?.caller ?? "nobody", "work", { isStarted: true, gone: request?.gone }));
};
