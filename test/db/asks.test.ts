import test from "ava";
import { statementOf } from "../../src/database/database.ts";
import { withClient } from "../support/client.ts";
import { askOf, type Caller, refused } from "./market.ts";
import { buyer, market, matches, matching, seller } from "./two_sides.ts";
import { begun, blocked } from "./waits.ts";

/**
 * The statuses of an ask, its watch_enabled, and changes of its text.
 */

const STATUSES = ["active", "fulfilled", "archived"] as const;
const MOVES = ["active -> fulfilled", "active -> archived", "fulfilled -> active", "archived -> active"];
const statusOf = async (id: string): Promise<string> => {
  const [row] = await market.sql`select status from market.ask where id = ${id}`;
  return row.status;
};

for (const role of ["souk_agent", "souk_person"] as const) {
  test.serial(`as ${role} an ask can make exactly the moves of the contract, also by plain SQL`, async (t) => {
    const done: string[] = [];
    const id = await market.ask(buyer);
    for (const from of STATUSES) {
      for (const to of STATUSES) {
        if (from === to) continue;
        await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
          update market.ask set status = ${from} from off where id = ${id}`;
        try {
          await market.sqlAs(role, buyer, "update market.ask set status = $2 where id = $1", [id, to]);
        } catch (error) {
          if (!/invalid_state/.test(String(error))) throw error;
        }
        if ((await statusOf(id)) === to) done.push(`${from} -> ${to}`);
      }
    }
    t.deepEqual(done, MOVES);
  });
}

test.serial("archiving, fulfilling and reopening an ask are idempotent", async (t) => {
  const id = await market.ask(buyer);
  for (const [name, status] of [
    ["archive_ask", "archived"],
    ["reopen_ask", "active"],
    ["fulfill_ask", "fulfilled"],
  ] as const) {
    t.is((await market.call(buyer, name, { id })).status, status);
    t.is((await market.call(buyer, name, { id })).status, status);
  }
  t.is(await refused(market.call(buyer, "archive_ask", { id })), "409 invalid_state");
});

test.serial("another account's ask cannot be read, matched or moved", async (t) => {
  const id = await market.ask(seller);
  for (const name of ["get_ask", "archive_ask", "fulfill_ask", "reopen_ask"]) {
    t.is(await refused(market.call(buyer, name, { id })), "404 not_found", name);
  }
  t.is(await refused(matches(id)), "404 not_found");
  t.is(await refused(market.call(buyer, "update_ask", { id, body: {} })), "404 not_found");
});

const queued = async (task: string, id: string): Promise<boolean> =>
  (await market.sql`select from graphile_worker.jobs where key = ${`${task}:${id}`}`).length > 0;

test.serial("an archived ask keeps its matches, gets no new ones, and catches up when it is reopened", async (t) => {
  const first = await market.offer(seller);
  const ask = await market.ask(buyer);
  // The ask has a job since it was read (internal.complete_ask).
  await market.sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
    where key = ${`embed_ask:${ask}`}`;
  await market.call(buyer, "archive_ask", { id: ask });
  const second = await market.offer(seller);
  await market.embed("offer", first);
  t.deepEqual(await matching(ask), [first]);
  t.false(await queued("embed_ask", ask));
  await market.call(buyer, "reopen_ask", { id: ask });
  t.true(await queued("embed_ask", ask));
  await market.embed("ask", ask);
  t.deepEqual(await matching(ask), [first, second].sort());
});

test.serial("with watch_enabled off an ask keeps its first matches, and gets missed ones when it is on", async (t) => {
  const first = await market.offer(seller);
  const ask = await market.ask(buyer, { watch: false });
  const second = await market.offer(seller);
  // The first offer is embedded again, as after a change of the embedding model.
  await market.embed("offer", first);
  t.deepEqual(await matching(ask), [first]);
  await market.call(buyer, "update_ask", { id: ask, body: { watch_enabled: true } });
  t.true(await queued("embed_ask", ask));
  await market.embed("ask", ask);
  t.deepEqual(await matching(ask), [first, second].sort());
});

test.serial("more than a hundred matches stay while their offers still answer the ask", async (t) => {
  const ask = await market.ask(buyer);
  for (let number = 0; number < 104; number++) await market.offer(seller);
  const matched = () => market.sql`select offer_id from market.match where ask_id = ${ask} order by offer_id`;
  const before = await matched();
  t.is(before.length, 104);
  for (const watch_enabled of [false, true])
    await market.call(buyer, "update_ask", { id: ask, body: { watch_enabled } });
  await market.embed("ask", ask);
  await market.call(buyer, "fulfill_ask", { id: ask });
  await market.call(buyer, "reopen_ask", { id: ask });
  await market.embed("ask", ask);
  t.deepEqual(await matched(), before);
  t.deepEqual(
    await market.sql`select from market.event where type = 'match.withdrawn' and data ->> 'ask_id' = ${ask}`,
    [],
  );
});

test.serial("an ask with a new text keeps its id and gets the matches of the new text", async (t) => {
  const sofa = await market.offer(seller);
  const phone = await market.offer(seller, { title: "Old phone", domain: "electronics", category: "phones" });
  const ask = await market.ask(buyer);
  t.deepEqual(await matching(ask), [sofa]);
  const { text, extraction } = askOf({
    title: "Wanted: phone",
    domain: "electronics",
    category: "phones",
    keywords: ["phone"],
  });
  const { submission } = await market.call(buyer, "update_ask", { id: ask, body: { text } });
  t.deepEqual(await matching(ask), [sofa], "the old matches stay until the new text is read");
  await market.work("complete_submission", submission, extraction);
  t.deepEqual(await matching(ask), [phone]);
});

test.serial("an ask whose text was not read in time is active, and is filled in later", async (t) => {
  const offer = await market.offer(seller);
  const { text, extraction } = askOf({});
  const { submission } = await market.call(buyer, "create_ask", { body: { text } });
  const { status, body } = await market.call(buyer, "withdraw_submission", { submission_id: submission });
  t.deepEqual([status, body.status, body.title, body.domain, body.ask_kind], [201, "active", null, null, null]);
  const waiting = await matches(body.id);
  t.deepEqual([waiting.results, waiting.next[0].path], [[], `/v1/asks/${body.id}/matches`]);
  t.true(await market.work("complete_submission", submission, extraction));
  t.deepEqual(await matching(body.id), [offer]);
  t.false(await market.work("complete_submission", submission, extraction));
});

test.serial("an ask whose changed text was not read in time keeps nothing that the former text said", async (t) => {
  const { submission } = await market.call(buyer, "create_ask", { body: { text: "Looking for a sofa" } });
  const created = (await market.call(buyer, "withdraw_submission", { submission_id: submission })).body.id;
  const changed = await market.ask(buyer, { max: "90 EUR", place: "Berlin", exclude: ["leather"], must: ["grey"] });
  await market.sql`update market.ask set latitude = 52.5, longitude = 13.4, radius_km = 20 where id = ${changed}`;
  const change = await market.call(buyer, "update_ask", { id: changed, body: { text: "Looking for a sofa" } });
  await market.call(buyer, "withdraw_submission", { submission_id: change.submission });
  const [one, other] = await market.sql`select to_jsonb(a) - '{id,created_at,updated_at}'::text[] as ask
    from market.ask a where id = any (${[created, changed]}) order by id`;
  t.deepEqual(other, one);
});

test.serial("of two agents that change an ask at the same moment, the one that called first is told so", async (t) => {
  const ask = await market.ask(buyer);
  const body = { text: "Looking for a chair" };
  const names = ["id", "body", "errors"];
  const text = statementOf("agent", "update_ask", names, "write", ["waited"]);
  const change = ({ token }: Caller, waited: number) => [token, waited, ask, JSON.stringify(body), "[]"];
  const colleague = await market.colleague(buyer);
  const later = await begun(market.url, text, change(buyer, 1));
  const earlier = withClient(market.url, (client) => client.query(text, change(colleague, 60_000)));
  await blocked(market, "update_ask", earlier);
  await later.end();
  t.is(await refused(earlier), "409 invalid_state");
});

test.serial("an ask to sell or to let matches nothing, and next says to publish with origin_ask_id", async (t) => {
  await market.offer(seller);
  for (const kind of ["sell", "lease_out"]) {
    const { results, next } = await matches(await market.ask(buyer, { kind }));
    t.deepEqual(
      [results, next],
      [
        [],
        [
          {
            summary: "Nothing matches an ask to sell or to let. Publish an offer, with origin_ask_id set to this ask.",
            method: "POST",
            path: "/v1/offers",
          },
        ],
      ],
    );
  }
});
