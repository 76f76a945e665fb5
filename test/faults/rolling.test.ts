import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import { allowed } from "../support/busy.ts";
import { createDatabase } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Answer, connectedAgent, eventually } from "../support/market.ts";
import { reloadCode } from "../support/migrate.ts";
import { startPart } from "../support/service.ts";
import { sql } from "../support/sql.ts";

/** A deployment: the code in the database is loaded again while callers are served. */

const TEXT = "Grey three-seat sofa, good condition. 180 EUR, pick up in Berlin. Write to lena@example.com";

/** An outage is short if a client that tries again a few times, as Retry-After says, gets through. */
const SHORT_MS = 5_000;
/** Fewer texts than an agent's cap of 60 an hour, so that no call of the load is refused for that. */
const MAX_TEXTS = 50;
const PAUSE_MS = 100;

test("while the code is loaded again, callers see nothing worse than short 503s", async (t) => {
  const { url } = await createDatabase(t);
  await startPart("worker", { database: url }, t);
  const api = await startPart("api", { database: url }, t);
  const sellers = await Promise.all([1, 2].map(() => connectedAgent(api.url, url)));
  const buyer = await connectedAgent(api.url, url);
  const [first] = sellers;
  const known = await first?.call("POST", "/v1/offers", { text: TEXT });
  t.is(known?.status, 201, known?.text);

  const outcomes: { status: number; begun: number; ended: number; text: string; retryAfter: string }[] = [];
  let over = false;
  const keepCalling = async (call: (number: number) => Promise<Answer>) => {
    for (let number = 0; !over; number++) {
      const begun = performance.now();
      // A connection that is reset makes this throw, and the test fail.
      const { status, text, headers } = await call(number);
      outcomes.push({ status, begun, ended: performance.now(), text, retryAfter: headers["retry-after"] ?? "" });
      await sleep(PAUSE_MS);
    }
  };
  const made = new Set<string>();
  const load = [
    ...sellers.map((seller) =>
      keepCalling(async (number) => {
        if (number >= MAX_TEXTS) return seller.call("GET", "/v1/me");
        const answer = await seller.call("POST", "/v1/offers", { text: TEXT });
        if (answer.status === 201) made.add(answer.body.offer_id);
        return answer;
      }),
    ),
    keepCalling(() => buyer.call("GET", `/v1/offers/${known?.body.offer_id}`)),
    keepCalling(() => buyer.call("POST", "/v1/offers/search", { query: "sofa" })),
  ];
  const answered = (count: number) =>
    eventually(
      async () => outcomes.length,
      (made) => made >= count,
    );
  await answered(20);
  await reloadCode(url);
  await answered(outcomes.length + 20);
  over = true;
  await Promise.all(load);

  const errors = api
    .logs()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'))
    .join("\n");
  for (const { status, text, retryAfter } of outcomes) {
    t.true([200, 201, 503].includes(status), `${text}\n${errors}`);
    if (status === 503) t.regex(retryAfter, /^[1-9]\d*$/);
  }
  const successes = outcomes.filter(({ status }) => status < 300).toSorted((one, other) => one.ended - other.ended);
  const gaps = successes.slice(1).map(({ ended }, place) => ended - (successes[place]?.ended ?? ended));
  const longest = Math.max(...gaps);
  t.true(longest < allowed(SHORT_MS), `nobody was served for ${longest} ms`);
  const found = await sql<{ id: string }>(url, "select id from market.offer where id <> $1", [known?.body.offer_id]);
  t.deepEqual(found.map(({ id }) => id).sort(), [...made].sort(), "each 201 is there, and nothing else");
  await assertInvariants(t, url);
});
