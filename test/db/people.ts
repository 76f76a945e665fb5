import test from "ava";
import { market } from "./one_market.ts";
import { unproved } from "./unproved.ts";

/** The market of the test file that imports this, in which every sign-in method is available, and people who sign in. */

export { market };
export let people: ReturnType<typeof unproved>;

test.before(async () => {
  people = unproved(market);
  await market.sql("update market.sign_in_method set available = true");
});
