import test from "ava";
import { openMarket } from "./market.ts";

/** The market of all tests of the file that imports it. It adds its hooks to that file, which run before its other hooks. */

export let market: Awaited<ReturnType<typeof openMarket>>;

test.serial.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.close());
