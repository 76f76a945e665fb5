import { performance } from "node:perf_hooks";
import type pg from "pg";
import { hashSecret } from "../../src/base/tokens.ts";
import { statementOf } from "../../src/database/database.ts";
import { CHECK_OFFERS, CHECK_REPLICAS } from "../../src/database/replicas.ts";
import { urlOf, withClient } from "../support/client.ts";
import { sql } from "../support/sql.ts";
import { readyTemplate } from "../support/template.ts";

/**
 * `npm run bench -- --machines`: what more than one machine costs the primary (db/SCALING.md). Each figure is the median
 * time of a statement on one connection, beyond that of an empty one.
 */

const ACCOUNTS = 10_000;
/** Of the last five minutes, at 200 publications a second and some transactions each. */
const NOTES = 100_000;
const ROUNDS = 3;
const CALLS = 1_000;

const median = (times: number[]): number =>
  times.toSorted((one, other) => one - other)[times.length >> 1] ?? Number.NaN;

const timeOf = async (call: (i: number) => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const begun = performance.now();
    await call(i);
    times.push(performance.now() - begun);
  }
  return median(times);
};

const fill = async (client: pg.Client): Promise<void> => {
  await client.query("set session_replication_role = replica");
  await client.query(
    `with account as (
       insert into market.account (claimed_at) select now() from generate_series(1, $1) returning id),
     numbered as (select id, row_number() over () as number from account),
     agents as (
       insert into market.agent (account_id, name, token_hash, connected_at)
       select id, 'Agent', sha256(convert_to('agent ' || number, 'UTF8')), now() from numbered),
     sessions as (
       insert into market.session (account_id, secret_hash)
       select id, sha256(convert_to('session ' || number, 'UTF8')) from numbered)
     insert into market.account_stats (account_id) select id from numbered`,
    [ACCOUNTS],
  );
  await client.query(
    `insert into internal.recent_write (account_id, xid)
     select a.id, (900000000 + n)::text::xid8
     from generate_series(1, $1) as n
     join (select id, row_number() over () as number from market.account) as a on a.number = 1 + n % $2`,
    [NOTES, ACCOUNTS],
  );
  await client.query("reset session_replication_role");
  await client.query("vacuum analyze");
};

const measure = async (owner: pg.Client, api: pg.Client): Promise<Map<string, number>> => {
  const figures = new Map<string, number>();
  const bare = await timeOf((i) => api.query({ name: "bare", text: "select $1::int as i", values: [i] }));
  const note = (name: string, time: number) => figures.set(name, time - bare);
  const hashOf = (i: number) => hashSecret(`agent ${1 + (i % ACCOUNTS)}`);
  const ask = (callers: number) => (i: number) =>
    api.query({
      name: "check_replicas",
      text: CHECK_REPLICAS,
      values: [
        Array.from({ length: callers }, (_, n) => hashOf(i * callers + n)),
        Array(callers).fill(1),
        ["900000000:900000000:"],
      ],
    });
  for (const callers of [0, 1, 16]) note(`asking for ${callers} callers`, await timeOf(ask(callers)));
  // Ids of no offer take the same look into the index.
  const offers = (i: number) =>
    Array.from({ length: 10 }, (_, n) => `00000000-0000-7000-8000-${String(10 * i + n).padStart(12, "0")}`);
  note(
    "asking whether 10 offers were taken down",
    await timeOf((i) => api.query({ name: "check_offers", text: CHECK_OFFERS, values: [offers(i)] })),
  );
  const text = statementOf("agent", "get_me", ["base_url", "link_key"], "read");
  const me = (name?: string) => (i: number) =>
    api.query({ text, values: [hashOf(i), "https://example.org", Buffer.alloc(32)], ...(name ? { name } : {}) });
  note("GET /v1/me, a named statement", await timeOf(me("me")));
  note("GET /v1/me, parsed anew", await timeOf(me()));
  const touch = (i: number) =>
    owner.query({
      name: "touch",
      text: "update market.session set seen_at = now() where secret_hash = $1",
      values: [hashSecret(`session ${1 + (i % ACCOUNTS)}`)],
    });
  note("a small write, noted", await timeOf(touch));
  await owner.query("alter table market.session disable trigger note_write");
  note("a small write, not noted", await timeOf(touch));
  await owner.query("alter table market.session enable trigger note_write");
  return figures;
};

/**
 * Fills a server and measures. Takes a minute.
 * @param server an empty server, for a superuser
 * @returns lines to print
 */
export const measureMachines = async (server: string): Promise<string[]> => {
  const template = await readyTemplate(server);
  await sql(server, `create database souk template ${template}`);
  const url = new URL(urlOf(server, "souk"));
  const rounds: Map<string, number>[] = [];
  await withClient(url.href, async (owner) => {
    await fill(owner);
    url.username = "souk_api";
    await withClient(url.href, async (api) => {
      for (let i = 0; i < ROUNDS; i++) rounds.push(await measure(owner, api));
    });
  });
  const names = [...(rounds[0]?.keys() ?? [])];
  const timesOf = (name: string) => rounds.map((round) => round.get(name) ?? Number.NaN);
  return names.map((name) => `${name}: ${median(timesOf(name)).toFixed(3)} ms`);
};
