import test from "ava";
import { type Answer, type Caller, openMarket } from "./market.ts";

/**
 * What every test file about asks and their matches begins with: a market of its own, and for each test no offers and two
 * new agents. It adds its hooks to the test file that imports it.
 */

export let market: Awaited<ReturnType<typeof openMarket>>;
/** Agents of two accounts, new ones for every test. */
export let seller: Caller;
export let buyer: Caller;

test.before(async () => {
  market = await openMarket();
});

test.after.always(() => market?.close());

test.beforeEach(async () => {
  // A new ask is matched with at most a hundred offers. Those of earlier tests must not take the places.
  await market.sql("delete from market.offer");
  seller = await market.approved("seller");
  buyer = await market.approved("buyer");
});

/** Reads a page of the matches of the buyer's ask. */
export const matches = (id: string, page: { since?: string; cursor?: string; limit?: number } = {}): Promise<Answer> =>
  market.call(buyer, "list_matches", {
    id,
    since: page.since ?? null,
    page_size: page.limit ?? 50,
    cursor: page.cursor ?? null,
  });

/** Returns the ids of the offers that match the buyer's ask, sorted. */
export const matching = async (id: string): Promise<string[]> =>
  (await matches(id)).results.map((result: Answer) => result.id).sort();
