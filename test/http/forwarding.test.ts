import test from "ava";
import type { Log } from "../../src/base/log.ts";
import { warnOfProxy } from "../../src/web/forwarding.ts";

test("a proxy that the process was not told of is named once, with what to set", (t) => {
  const warnings: unknown[][] = [];
  const look = warnOfProxy({ warn: (...said: unknown[]) => warnings.push(said) } as unknown as Log, ["TRUST_PROXY"]);
  for (const headers of [{ host: "souk.example" }, { "x-forwarded-for": "192.0.2.1" }, { forwarded: "for=192.0.2.1" }])
    look(headers);
  t.is(warnings.length, 1);
  t.deepEqual(warnings[0]?.[0], { header: "x-forwarded-for", unset: ["TRUST_PROXY"] });
  t.regex(String(warnings[0]?.[1]), /TRUST_PROXY is not set: set BASE_URL/);
});
