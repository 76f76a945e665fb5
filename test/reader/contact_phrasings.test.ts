import test from "ava";
import { CONTACTS } from "./phrasings.ts";
import { reached } from "./reading.ts";

for (const [rule, rows] of Object.entries(CONTACTS)) {
  test(rule, (t) => {
    t.deepEqual(
      rows.map(([text, country]) => [text, country, ...reached(text, country)]),
      rows,
    );
  });
}
