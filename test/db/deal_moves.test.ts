import test from "ava";
import { withClient } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { termsOf } from "./deals.ts";
import { type Answer, type Caller, openMarket } from "./market.ts";

/**
 * Random sequences of moves end in no state that inspect.check() calls wrong, and make exactly the moves of market.move.
 * Two people haggle about offers of both. Their agents, they themselves, moderators and the clock move; most moves are
 * refused, because nothing else is possible in the state that they find.
 *
 *   DEAL_MOVES   how many moves, 10,000 if it is not set
 *   DEAL_SEED    the seed, 1 if it is not set; a failure names it
 */

const MOVES = Number(process.env["DEAL_MOVES"] ?? 10_000);
const SEED = Number(process.env["DEAL_SEED"] ?? 1);

/** After so many moves the accounts are deleted, and two other people go on. */
const MOVES_OF_A_PAIR = 500;

/** Numbers from 0 to 1 that depend on the seed only (mulberry32). */
const randomFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Writes down every move, and makes moves one after the other: each in a transaction of its own. */
const REFEREE = `
  create table public.seen (machine text, from_status text, to_status text, mover text);
  create function public.note_move() returns trigger language plpgsql security definer as $$
    begin
      insert into public.seen values (tg_table_name, case tg_op when 'INSERT' then '-' else to_jsonb(old) ->> 'status' end,
        new.status, current_setting('market.mover', true));
      return null;
    end $$;
  do $$ declare machine text; begin
    foreach machine in array '{conversation,proposal,agreement,confirmation}'::text[] loop
      execute format('create trigger seen_new after insert on market.%I for each row execute function public.note_move()',
        machine);
      execute format('create trigger seen after update on market.%I for each row when (old.status <> new.status)
        execute function public.note_move()', machine);
    end loop;
  end $$;
  create table public.refusal (sqlstate text, message text, move jsonb);
  -- A move {enter, hash, sql, conversation}: {c}, {p}, {n}, {d} stand for the conversation, its latest proposal, the
  -- latest confirmation of the mover, and the digest of its page.
  create procedure public.play(moves jsonb) language plpgsql as $$
    declare
      move jsonb;
      statement text;
      digest text;
    begin
      for move in select * from jsonb_array_elements(moves) loop
        begin
          statement := replace(move ->> 'sql', '{c}', coalesce((
            select c.id::text from market.conversation c where c.offer_id = (move ->> 'offer')::uuid
              and c.inquirer_id is not null order by c.id limit 1), gen_random_uuid()::text));
          statement := replace(statement, '{p}', coalesce((
            select p.id::text from market.proposal p join market.conversation c on c.id = p.conversation_id
            where c.offer_id = (move ->> 'offer')::uuid order by p.id desc limit 1), gen_random_uuid()::text));
          statement := replace(statement, '{n}', coalesce((
            select n.id::text from market.confirmation n join market.agreement a on a.id = n.agreement_id
            join market.conversation c on c.id = a.conversation_id
            where c.offer_id = (move ->> 'offer')::uuid and n.account_id = (move ->> 'account')::uuid
            order by n.id desc limit 1), gen_random_uuid()::text));
          if move ->> 'enter' is null then
            execute statement;
          else
            if statement ~ '{d}' then
              perform set_config('role', 'souk_api', true);
              execute format('with actor as materialized (select internal.%s(%L) as entered)
                select api.get_confirmation_page(%L) ->> ''digest'' from actor where entered',
                move ->> 'enter', decode(move ->> 'hash', 'hex'), substring(statement from '[0-9a-f-]{36}')) into digest;
              perform set_config('role', 'none', true);
              statement := replace(statement, '{d}', digest);
            end if;
            perform set_config('role', 'souk_api', true);
            execute format('with actor as materialized (select internal.%s(%L) as entered)
              select %s from actor where entered', move ->> 'enter', decode(move ->> 'hash', 'hex'), statement);
          end if;
        exception when others then
          perform set_config('role', 'none', true);
          insert into public.refusal values (sqlstate, sqlerrm, move);
        end;
        perform set_config('role', 'none', true);
        commit;
      end loop;
    end $$;
  -- No limit of calls, so that every move is possible at any time.
  update market.setting set max = 10000000 where name like '%\\_cap%' or name = 'offer_conversations';
  update market.setting set value = '1000000' where name in ('converse_cap', 'manage_cap', 'report_offer_cap',
    'open_conversation_cap', 'open_conversation_cap_unproved');`;

type Move = { enter: string | null; hash: string; sql: string; offer: string; account: string };

/** A side: its agent, its offer, and whether it is suspended. */
type Side = { who: Caller; offer: string; suspended: boolean };

const json = (value: unknown): string => `'${JSON.stringify(value)}'::jsonb`;

/** The next move of a pair. */
const nextMove = (random: () => number, pair: readonly [Side, Side], moderator: Caller): Move[] => {
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
  // Most happens about the first offer, so that deals come about.
  const about = random() < 0.8 ? pair[0] : pair[1];
  const side = pick(pair);
  const { who } = side;
  const move = (enter: string | null, sql: string, hash: Buffer = who.token): Move => ({
    enter,
    hash: hash.toString("hex"),
    sql,
    offer: about.offer,
    account: who.account,
  });
  const agent = (sql: string) => [move("enter_agent", `api.${sql}`)];
  const person = (sql: string) => [move("enter_person", `api.${sql}`, who.session)];
  const either = (sql: string) => (random() < 0.3 ? person(sql) : agent(sql));
  const operator = (...statements: string[]) => statements.map((sql) => move(null, sql));
  const standing = (sql: string) =>
    operator(
      `do $do$ begin perform set_config('market.moderator_id', '${moderator.account}', true),
        set_config('role', 'souk_moderator', true); perform ${sql}; end $do$`,
      `select jobs.apply_standing('${who.account}')`,
    );
  const terms = json(termsOf(pick([5, 50, 500])));
  const powers = pick([
    { power: "agree", allowed: "ask_me" },
    { power: "agree", allowed: "never" },
    { power: "agree", allowed: "alone", ceiling: { amount: 60, amount_24h: 300, currency: "EUR" } },
  ]);
  const stranger = about === side ? (pair.find((other) => other !== side) as Side) : side;
  const choices: [weight: number, () => Move[]][] = [
    [
      4,
      () => [
        {
          ...move(
            "enter_agent",
            `api.open_conversation('${about.offer}', ${json({ text: "Hello" })}, null, null, '[]')`,
          ),
          hash: stranger.who.token.toString("hex"),
        },
      ],
    ],
    [3, () => either(`send_message('{c}', ${json({ text: "Well" })}, null, null, '[]')`)],
    [14, () => either(`propose('{c}', ${terms}, null, null, '[]')`)],
    [14, () => either(`accept_proposal('{c}', '{p}', ${json({ contact: "x" })}, '[]')`)],
    [2, () => either(`decline_proposal('{c}', '{p}')`)],
    [2, () => either(`withdraw_proposal('{c}', '{p}')`)],
    [1, () => either(`close_conversation('{c}')`)],
    [0.4, () => either(`block_conversation('{c}')`)],
    [2, () => person(`unblock('{c}')`)],
    [1, () => agent(`report_conversation('{c}', 'scam', null)`)],
    [2, () => either(`read_conversation('{c}', '{p}')`)],
    [10, () => person(`decide_confirmation('{n}', 'confirm', '{d}')`)],
    [2, () => person(`decide_confirmation('{n}', 'refuse', null)`)],
    [1, () => person(`set_powers('${who.agent}', ${json([powers])})`)],
    [
      0.7,
      () => [{ ...move("enter_agent", `api.archive_offer('${about.offer}')`), hash: about.who.token.toString("hex") }],
    ],
    [
      3,
      () => [
        { ...move("enter_agent", `api.republish_offer('${about.offer}')`), hash: about.who.token.toString("hex") },
      ],
    ],
    [
      1,
      () =>
        operator(`update market.offer set price_thousandths = price_thousandths + 1000 where id = '${about.offer}'`),
    ],
    [2, () => operator("update market.proposal set expires_at = now() where status = 'pending' and id = '{p}'")],
    [
      3,
      () =>
        operator(`with gone as (update market.agreement set expires_at = now() where status = 'awaiting'
            and proposal_id = '{p}' returning id)
          update market.confirmation set expires_at = now() where agreement_id in (select id from gone)`),
    ],
    [2, () => operator("select jobs.expire_deals()")],
    [0.2, () => operator("select jobs.forget_deals()")],
    [
      side.suspended ? 6 : 0.3,
      () => {
        side.suspended = !side.suspended;
        return standing(
          side.suspended
            ? `admin.suspend_account('${who.account}', 'scam')`
            : `admin.reinstate_account('${who.account}')`,
        );
      },
    ],
  ];
  let rest = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, moves] of choices) {
    rest -= weight;
    if (rest < 0) return moves();
  }
  return [];
};

test("random moves end in no wrong state, and are those of market.move, which are all possible", async (t) => {
  t.timeout(60_000 + MOVES * 20);
  const market = await openMarket(t);
  await withClient(market.url, (client) => client.query(REFEREE));
  const moderator = await market.approved("moderator");
  const random = randomFrom(SEED);
  const sideOf = async (name: string): Promise<Side> => {
    const who = await market.approved(name);
    return { who, offer: await market.offer(who), suspended: false };
  };
  await withClient(market.url, async (client) => {
    for (let made = 0; made < MOVES; made += MOVES_OF_A_PAIR) {
      const pair: [Side, Side] = [await sideOf("lena"), await sideOf("tom")];
      const moves = Array.from({ length: Math.min(MOVES_OF_A_PAIR, MOVES - made) }, () =>
        nextMove(random, pair, moderator),
      ).flat();
      await client.query("call public.play($1)", [JSON.stringify(moves)]);
      if (random() < 0.5) while (!(await market.callAsPerson(pair[0].who, "delete_account")).done);
    }
  });
  const failed: Answer[] = await market.sql("select * from public.refusal where sqlstate !~ '^PT' limit 3");
  t.deepEqual(failed, [], `seed ${SEED}`);
  await market.work("expire_deals");
  await assertInvariants(t, market.url);
  t.deepEqual(
    await market.sql("select distinct machine, from_status, to_status, mover from public.seen order by 1, 2, 3, 4"),
    await market.sql("select machine, from_status, to_status, mover from market.move order by 1, 2, 3, 4"),
    `seed ${SEED}`,
  );
});
