import { randomInt } from "node:crypto";
import test from "ava";
import pg from "pg";
import { withClient } from "../support/client.ts";
import { type Answer, column } from "./market.ts";
import { buyer, market, matches, seller } from "./two_sides.ts";

/** Cursors while many transactions are open: they stay short, and whoever reads on misses nothing and gets nothing twice. */

/** The lengths that requests may have (src/api/schemas). */
const CURSOR = 1000;
const EVENTS_CURSOR = 2000;

type Snapshot = { text: string; running: number[]; latest: number };

/** A snapshot in which some transactions run, in runs and alone. */
const snapshotOf = (count: number): Snapshot => {
  const running: number[] = [];
  let next = 5_000_000_000 + randomInt(1_000_000);
  while (running.length < count) {
    running.push(next);
    next += randomInt(3) === 0 ? randomInt(1, 2_000) : randomInt(1, 3);
  }
  const [earliest = next] = running;
  return { text: `${earliest}:${next}:${running}`, running, latest: next };
};

test("a horizon is at most 500 characters long, and says of what was found and what runs whether it is read", async (t) => {
  const client = new pg.Client({ connectionString: market.url });
  await client.connect();
  t.teardown(() => client.end());
  const isBeyond = async (horizon: string, xids: number[]): Promise<boolean[]> => {
    const { rows } = await client.query("select x <@ internal.beyond($1) as beyond from unnest($2::bigint[]) as x", [
      horizon,
      xids,
    ]);
    return column(rows, "beyond");
  };
  for (const count of [0, 1, 2, 30, 100, 300, 900]) {
    const { text, running, latest } = snapshotOf(count);
    const [earliest = latest] = running;
    const { rows } = await client.query("select internal.horizon_of($1) as horizon", [text]);
    const exact: string | null = rows[0].horizon;
    if (exact !== null) {
      t.true(exact.length <= 500, exact);
      const all = Array.from({ length: 400 }, () => randomInt(earliest - 5, latest + 5)).concat(running);
      t.deepEqual(
        await isBeyond(exact, all),
        all.map((xid) => xid >= latest || running.includes(xid)),
      );
    }
    if (count <= 30) t.truthy(exact);
    if (count >= 300) t.is(exact, null);
    // What was found of finished transactions; a few, or so many that the horizon ends early.
    for (const [some, endsEarly] of [
      [0, false],
      [20, false],
      [2000, count >= 300],
    ] as const) {
      const found = Array.from({ length: some }, () => randomInt(earliest, latest + 1))
        .filter((xid) => xid < latest && !running.includes(xid))
        .sort((one, other) => one - other);
      const { rows: made } = await client.query("select internal.horizon_of($1, $2::text[]::xid8[]) as horizon", [
        text,
        found,
      ]);
      const { horizon } = made[0];
      t.true(horizon.length <= 500, horizon);
      t.deepEqual(new Set(await isBeyond(horizon, [...running, latest])), new Set([true]), "what runs is not read");
      const left = (await isBeyond(horizon, found)).indexOf(true);
      if (!endsEarly) t.is(left, -1, "all that was found is read");
      else t.true(left > 20, "the earliest that were found are read");
    }
  }
});

for (const writers of [40, 300]) {
  test.serial(
    `with ${writers} transactions open, pages and what is new come once, and cursors stay short`,
    async (t) => {
      const ask = await market.ask(buyer);
      const offers: string[] = [];
      for (let n = 0; n < 12; n += 1) offers.push(await market.offer(seller));
      await market.sql`delete from market.match where ask_id = ${ask}`;
      const events = async (after: string, limit = 100): Promise<Answer> =>
        market.call(buyer, "list_events", { after, page_size: limit, wait: 0 });
      const match = (client: Pick<pg.Client, "query">, offer: string | undefined) =>
        client.query("insert into market.match (ask_id, offer_id, score, reasons) values ($1, $2, 0.5, '[]')", [
          ask,
          offer,
        ]);
      const clients = await Promise.all(
        Array.from({ length: writers }, async () => {
          const client = new pg.Client({ connectionString: market.url });
          client.on("error", () => {});
          await client.connect();
          await client.query("begin");
          return client;
        }),
      );
      t.teardown(async () => {
        await Promise.all(clients.map((client) => client.end()));
      });
      const told: string[] = [];
      const found: string[] = [];
      let after: string = (await events("now")).cursor;
      let { since } = await matches(ask);
      const readOn = async (): Promise<void> => {
        for (let more = true; more; ) {
          const page = await events(after, 2);
          told.push(...page.events.map(({ data }: Answer) => data.offer_id));
          after = page.cursor;
          more = page.has_more;
          t.true(after.length <= EVENTS_CURSOR);
        }
        let cursor: string | undefined;
        let next = since;
        do {
          const page = await matches(ask, { since, limit: 2, ...(cursor === undefined ? {} : { cursor }) });
          found.push(...column(page.results, "id"));
          if (cursor === undefined) next = page.since;
          cursor = page.page.next_cursor ?? undefined;
          t.true((cursor ?? "").length <= CURSOR && page.since.length <= CURSOR);
        } while (cursor !== undefined);
        since = next;
      };
      // Every second transaction ends before its neighbours; of each half, four write matches, and four more have theirs.
      const matching = new Map(offers.slice(0, 8).map((offer, n) => [Math.floor((n * writers) / 8), offer]));
      for (const [n, client] of clients.entries()) {
        await client.query("select pg_current_xact_id()");
        if (matching.has(n)) await match(client, matching.get(n));
        if (n % Math.floor(writers / 4) === 1)
          await withClient(market.url, (other) => match(other, offers[8 + Math.floor(n / Math.floor(writers / 4))]));
      }
      await readOn();
      t.deepEqual(told.toSorted(), offers.slice(8).toSorted(), "what is there is told, although others are open");
      t.deepEqual(found.toSorted(), offers.slice(8).toSorted());
      for (const [n, client] of clients.entries()) if (n % 2 === 0) await client.query("commit");
      await readOn();
      for (const [n, client] of clients.entries()) if (n % 2 === 1) await client.query("commit");
      await readOn();
      t.deepEqual(told.toSorted(), offers.toSorted());
      t.deepEqual(found.toSorted(), offers.toSorted());
    },
  );
}
