import type { Request, Response } from "express";
import { addressOf, siteOf } from "../base/address.ts";
import { currentRequest } from "../base/request.ts";
import type { Callers } from "../database/callers.ts";
import { createTurns, type EndTurn } from "../database/turns.ts";
import { credentialOf } from "./authenticate.ts";

/**
 * The entrance of requests: finds out who shares in fair use, and lets callers begin in turn. Even a request that needs
 * no connection of the database, such as one with an invented token, takes processor time. If two hundred of them were
 * answered in one go, all other requests would wait meanwhile. So in one turn of the event loop at most 8 requests of a
 * caller begin. A call that finds too many of its caller's waiting here is refused as by a full queue for the database
 * (src/database/turns.ts). The request keeps the refusal, so that its endpoint can add rate limit headers.
 */

/** In one turn of the event loop this many requests begin. They take about ten milliseconds. */
const AT_ONCE = 64;

/** Returns a function that makes a signal, once, which aborts when the client hangs up before the response. */
export const goneFrom = (response: Response): (() => AbortSignal) => {
  let signal: AbortSignal | null = null;
  return () => {
    if (signal !== null) return signal;
    const controller = new AbortController();
    const check = (): void => {
      if (!response.writableFinished) controller.abort();
    };
    if (response.destroyed) check();
    else response.once("close", check);
    signal = controller.signal;
    return signal;
  };
};

/** Makes the function through which all requests pass that may take turns. It never fails. */
export const entrance = (callers: Callers, baseUrl: () => string): ((request: Request) => Promise<void>) => {
  const turns = createTurns({ pools: { entrance: AT_ONCE }, lanes: { entrance: { pool: "entrance" } } });
  /** The turns that end with this turn of the event loop. */
  let ending: EndTurn[] = [];
  const endTogether = (): void => {
    const ended = ending;
    ending = [];
    for (const end of ended) end();
  };
  return async (request) => {
    const current = currentRequest();
    if (current === undefined) throw new Error("The request has to be known before it enters.");
    const hash = credentialOf(request, baseUrl())?.hash ?? null;
    current.caller = callers.callerOf(hash, () => siteOf(addressOf(request)));
    try {
      const end = await turns.take(current.caller, "entrance", { gone: current.gone });
      if (ending.push(end) === 1) setImmediate(endTogether);
    } catch (error) {
      current.refusal = error;
    }
  };
};
