import test, { type ExecutionContext } from "ava";
import { eventually } from "../support/market.ts";
import { type Caller, found, type Market, offerOf, openMarket, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";
import { readsOf } from "./reads.ts";
import { holdRows, watchWaits } from "./waits.ts";

/** The statuses of an offer, what its owner is told, and the publisher's account stats. */

const STATUSES = ["pending_review", "published", "rejected", "archived", "removed"] as const;
type Status = (typeof STATUSES)[number];

const MODERATORS_MOVES = [
  "pending_review -> archived",
  "pending_review -> published",
  "pending_review -> rejected",
  "published -> archived",
  "published -> removed",
  "archived -> published",
  "archived -> removed",
  "removed -> published",
];
const OWNERS_MOVES = ["pending_review -> archived", "published -> archived", "archived -> published"];

let caller: Caller;

test.beforeEach(async () => {
  caller = await market.approved();
});

/** Creates an offer in a status, or gives one a status, without the rules for moves. */
const inStatus = async (status: Status, offer?: string): Promise<string> => {
  const id = offer ?? (await market.offer(caller));
  await pastTheRules(`status = '${status}', removed_at = ${status === "removed" ? "now()" : "null"}`, id);
  return id;
};

/** Updates an offer with triggers off. */
const pastTheRules = (assignments: string, id: string) =>
  market.sql(
    `with off as materialized (select set_config('session_replication_role', 'replica', true))
     update market.offer set ${assignments} from off where id = $1`,
    [id],
  );

const statusOf = async (id: string): Promise<string> => {
  const [row] = await market.sql`select status from market.offer where id = ${id}`;
  return row.status;
};

/** Switches pre-moderation on until the test ends. */
const preModerated = async (t: ExecutionContext) => {
  const set = (value: boolean) =>
    market.sql`update market.setting set value = to_jsonb(${value}::boolean) where name = 'pre_moderation'`;
  t.teardown(() => set(false));
  await set(true);
};

/** The pairs of statuses between which `move` can move an offer. */
const movesBy = async (move: (id: string, status: Status) => Promise<unknown>): Promise<string[]> => {
  const done: string[] = [];
  const id = await market.offer(caller);
  for (const from of STATUSES) {
    for (const to of STATUSES) {
      if (from === to) continue;
      await inStatus(from, id);
      try {
        await move(id, to);
      } catch (error) {
        if (!/invalid_state/.test(String(error))) throw error;
      }
      if ((await statusOf(id)) === to) done.push(`${from} -> ${to}`);
    }
  }
  return done;
};

test.serial("a moderator can make eight moves, and all others are refused", async (t) => {
  const moves = await movesBy((id, status) => market.sql`update market.offer set status = ${status} where id = ${id}`);
  t.deepEqual(moves.sort(), MODERATORS_MOVES.toSorted());
});

for (const role of ["souk_agent", "souk_person"] as const) {
  test.serial(`${role} can make three moves, also by plain SQL`, async (t) => {
    const moves = await movesBy((id, status) =>
      market.sqlAs(role, caller, "update market.offer set status = $2 where id = $1", [id, status]),
    );
    t.deepEqual(moves.sort(), OWNERS_MOVES.toSorted());
  });
}

test.serial("archiving and republishing are idempotent", async (t) => {
  const id = await market.offer(caller);
  t.is((await market.call(caller, "archive_offer", { id })).status, "archived");
  const [once] = await market.sql`select updated_at from market.offer where id = ${id}`;
  t.is((await market.call(caller, "archive_offer", { id })).status, "archived");
  const [twice] = await market.sql`select updated_at from market.offer where id = ${id}`;
  t.deepEqual(twice, once);
  t.is((await market.call(caller, "republish_offer", { id })).status, "published");
  t.is((await market.call(caller, "republish_offer", { id })).status, "published");
});

test.serial("republishing counts as publishing, and republishing a live offer does not count", async (t) => {
  const used = async () => (await market.call(caller, "get_me")).limits.publish_offer.used;
  const id = await market.offer(caller);
  const before = await used();
  await market.call(caller, "archive_offer", { id });
  t.is(await used(), before);
  await market.call(caller, "republish_offer", { id });
  t.is(await used(), before + 1);
  await market.call(caller, "republish_offer", { id });
  t.is(await used(), before + 1);
});

test.serial("an owner cannot change, archive or republish a removed offer", async (t) => {
  const id = await inStatus("removed");
  const { text } = offerOf({ title: "Green sofa" });
  t.is(await refused(market.call(caller, "update_offer", { id, body: { text } })), "409 invalid_state");
  t.is(await refused(market.call(caller, "archive_offer", { id })), "409 invalid_state");
  t.is(await refused(market.call(caller, "republish_offer", { id })), "409 invalid_state");
  t.is(await statusOf(id), "removed");
});

test.serial("an offer that is removed while its new text is read does not change", async (t) => {
  const id = await market.offer(caller);
  const { text, extraction } = offerOf({ title: "Green sofa" });
  const { submission } = await market.call(caller, "update_offer", { id, body: { text } });
  await market.sql`update market.offer set status = 'removed' where id = ${id}`;
  await market.work("complete_submission", submission, extraction);
  const { status, body } = await market.call(caller, "get_answer", { submission_id: submission });
  t.deepEqual([status, body.code], [409, "invalid_state"]);
  const [row] = await market.sql`select title from market.offer where id = ${id}`;
  t.is(row.title, "Grey sofa");
});

test.serial("with pre-moderation a new offer is hidden from others until a moderator decides", async (t) => {
  await preModerated(t);
  const other = await market.approved();
  const { text, extraction } = offerOf({ title: "Waiting sofa" });
  const { status, body } = await market.publish(caller, text, extraction);
  t.deepEqual([status, body.status], [201, "pending_review"]);
  const id: string = body.offer_id;
  t.is(await refused(market.call(other, "get_offer", { id })), "404 not_found");
  const own = await market.call(caller, "get_offer", { id });
  t.deepEqual([own.status, own.visibility, own.published_at], ["pending_review", "owner_only", null]);
  t.is(own.review, "A moderator will look at this offer before it goes live; nothing has to be done.");
  t.is(await refused(market.call(caller, "republish_offer", { id })), "409 invalid_state");

  await market.sql`update market.offer set status = 'published' where id = ${id}`;
  t.is((await market.call(other, "get_offer", { id })).status, "published");

  const second = await market.publish(caller, text, extraction);
  await market.sql`update market.offer set status = 'rejected', review_note = 'Two of a kind.'
    where id = ${second.body.offer_id}`;
  const rejected = await market.call(caller, "get_offer", { id: second.body.offer_id });
  t.deepEqual([rejected.status, rejected.visibility, rejected.review], ["rejected", "owner_only", "Two of a kind."]);
  t.is(await refused(market.call(caller, "republish_offer", { id: rejected.id })), "409 invalid_state");
});

test.serial("an offer that waits for review does not go live by archiving and republishing", async (t) => {
  await preModerated(t);
  const { text, extraction } = offerOf({});
  const { body } = await market.publish(caller, text, extraction);
  await market.call(caller, "archive_offer", { id: body.offer_id });
  const { review } = await market.call(caller, "get_offer", { id: body.offer_id });
  t.is(review, "You took this offer down before a moderator looked at it. To offer it again, publish its text anew.");
  const republished = await refusal(market.call(caller, "republish_offer", { id: body.offer_id }));
  t.like(republished, {
    status: 409,
    code: "invalid_state",
    detail:
      "This offer was taken down before a moderator looked at it, so it cannot be republished. Publish its text as a new offer.",
  });
});

test.serial("an offer that its owner archives while the end of a suspension reaches it stays archived", async (t) => {
  const id = await market.offer(caller);
  await market.sql`update market.offer set status = 'archived', suspended_at = now() where id = ${id}`;
  const { status, review } = await market.call(caller, "archive_offer", { id });
  t.deepEqual([status, review], ["archived", "You took this offer down. It can be republished."]);
  await market.work("apply_standing", caller.account);
  t.is((await market.call(caller, "get_offer", { id })).status, "archived");
});

test.serial("a change of an offer clears its review", async (t) => {
  const id = await market.offer(caller);
  await market.sql`update market.offer set reviewed = true where id = ${id}`;
  t.true((await market.call(caller, "get_offer", { id })).reviewed);
  const { status } = await market.change(caller, id, { title: "Green sofa" });
  t.is(status, 200);
  const { reviewed, document, owner } = await market.call(caller, "get_offer", { id });
  t.deepEqual([reviewed, document.title, owner.id], [false, "Green sofa", id]);
});

test.serial("the day an offer went live is kept when it is archived, changed and removed", async (t) => {
  const id = await market.offer(caller);
  await pastTheRules("published_at = '2026-01-02T03:04:05Z'", id);
  await market.call(caller, "archive_offer", { id });
  await market.call(caller, "republish_offer", { id });
  await market.change(caller, id, { title: "Green sofa" });
  await market.sql`update market.offer set status = 'removed' where id = ${id}`;
  await market.sql`update market.offer set status = 'published' where id = ${id}`;
  t.is((await market.call(caller, "get_offer", { id })).posted, "2026-01-02");
});

const REVIEWS: Record<Status, { visibility: string; review: string }> = {
  pending_review: {
    visibility: "owner_only",
    review: "A moderator will look at this offer before it goes live; nothing has to be done.",
  },
  published: { visibility: "public", review: "This offer is live: anyone can find it." },
  rejected: { visibility: "owner_only", review: "A moderator decided that this offer does not go live." },
  archived: { visibility: "owner_only", review: "You took this offer down. It can be republished." },
  removed: { visibility: "owner_only", review: "Moderation took this offer down; it cannot be republished." },
};

for (const [status, told] of Object.entries(REVIEWS)) {
  test.serial(`the owner of an offer that is ${status} is told so`, async (t) => {
    const id = await inStatus(status as Status);
    const { results } = await market.call(caller, "list_offers", { status });
    const shown = results.find((offer: { id: string }) => offer.id === id);
    t.deepEqual({ visibility: shown?.visibility, review: shown?.review }, told);
  });
}

test.serial("an offer without a contact is refused, counts, and nothing is published", async (t) => {
  const { text, extraction } = offerOf({ title: "Mute sofa", contact: null });
  const { status, body } = await market.publish(caller, text, extraction);
  t.deepEqual([status, body.code], [400, "missing_contact"]);
  t.is((await market.call(caller, "get_me")).limits.publish_offer.used, 1, "the text was read");
  t.deepEqual(await market.sql("select from market.offer where title = 'Mute sofa'"), []);
});

test.serial("a text with nothing but a contact is refused, and a number without a country is warned of", async (t) => {
  const read = async (words: string, type: string, value: string) => {
    const { extraction } = offerOf({ contact: null });
    const [fields] = JSON.parse(extraction);
    const text = `${words} ${value} 🙂`;
    const contacts = [found(text, { type, value, preferred: false }, value)];
    const nothing = { price: null, location: null, title: found(text, words || value, words || value) };
    return await market.publish(caller, text, JSON.stringify([{ ...fields, ...nothing, contacts }]));
  };
  for (const words of ["", "Mail me:", "Ruf mich an:"]) {
    const { status, body } = await read(words, "email", "lena@example.com");
    t.deepEqual(
      [status, body.code, body.errors],
      [400, "bad_request", [{ pointer: "/text", detail: "Say what is offered." }]],
    );
  }
  const warned = await read("Red stool", "phone", "017612345678");
  t.is(warned.status, 201);
  t.regex(warned.body.warnings?.join() ?? "", /country code/);
  t.is((await read("Blue stool", "phone", "+4917612345678")).body.warnings, undefined);
});

test.serial("an extraction that is delivered twice publishes once", async (t) => {
  const { text, extraction } = offerOf({ title: "Single sofa" });
  const { submission } = await market.call(caller, "publish_offer", { body: { text } });
  const settled = await Promise.all([1, 2, 3].map(() => market.work("complete_submission", submission, extraction)));
  t.deepEqual(settled.sort(), [false, false, true]);
  t.is((await market.sql("select from market.offer where title = 'Single sofa'")).length, 1);
});

test.serial("an offer whose worker died before it stored the vector gets its vector by another job", async (t) => {
  const { text, extraction } = offerOf({ title: "Orphaned sofa" });
  const args = { body: { text }, idempotency_key: null, request_hash: null, errors: [] };
  const { submission } = await market.call(caller, "publish_offer", args);
  const jobs = () =>
    market.sql`select j.task_identifier as task from market.submission s
      join graphile_worker.jobs j on j.key in ('complete_submission:' || s.id, 'embed_offer:' || s.target_id)
      where s.id = ${submission} order by 1`;
  t.true(await market.work("complete_submission", submission, extraction, null, null, "[]", true));
  t.deepEqual(await jobs(), [{ task: "complete_submission" }], "the job that publishes also embeds");
  const missing = `select from inspect.check() c join market.submission s on c.object = 'offer ' || s.target_id
    where s.id = $1 and c.invariant = 'offer_has_vector'`;
  t.is((await market.sql(missing, [submission])).length, 0);

  t.is(await market.work("get_submission", submission, "builtin-meaning-1", false), null, "there is nothing to read");
  t.deepEqual(await jobs(), [{ task: "complete_submission" }, { task: "embed_offer" }]);
});

test.serial("a text that was withdrawn before it was read is never published", async (t) => {
  const { text, extraction } = offerOf({ title: "Late sofa" });
  const { submission } = await market.call(caller, "publish_offer", { body: { text } });
  const { status } = await market.call(caller, "withdraw_submission", { submission_id: submission });
  t.is(status, 503);
  t.false(await market.work("complete_submission", submission, extraction));
  t.deepEqual(await market.sql("select from market.offer where title = 'Late sofa'"), []);
});

test.serial("a text is not published if its agent was removed before it was read", async (t) => {
  const leaving = await market.approved();
  const { text, extraction } = offerOf({ title: "Orphan sofa" });
  const { submission } = await market.call(leaving, "publish_offer", { body: { text } });
  await market.call(leaving, "remove_own_agent");
  await market.work("complete_submission", submission, extraction);
  t.deepEqual(await market.sql("select from market.offer where title = 'Orphan sofa'"), []);
});

const countsOf = async (of: Market, account: string) => {
  const [row] = await of.sql`select jsonb_build_array(p.active, p.lifetime, p.removed) as kept, (
      select jsonb_build_array(count(*) filter (where status = 'published'),
        count(*) filter (where published_at is not null), count(*) filter (where status = 'removed'))
      from market.offer where account_id = ${account}) as counted
    from market.account_stats p where p.account_id = ${account}`;
  return row;
};

test.serial("account stats equal a recount after any sequence of moves", async (t) => {
  const publisher = await market.approved();
  const offers: string[] = [];
  for (let n = 0; n < 8; n += 1) offers.push(await market.offer(publisher));
  // Mulberry32 with a fixed seed, so that every run has the same sequence.
  let seed = 20_260_102;
  const random = (below: number): number => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
  const seen = new Set<string>();
  for (let n = 0; n < 120; n += 1) {
    const id = offers[random(offers.length)] ?? "";
    const status = STATUSES[random(STATUSES.length)] ?? "published";
    try {
      if (random(30) === 0 && offers.length > 3) {
        await market.sql`delete from market.offer where id = ${id}`;
        offers.splice(offers.indexOf(id), 1);
      } else {
        await market.sql`update market.offer set status = ${status} where id = ${id}`;
      }
    } catch (error) {
      if (!/invalid_state/.test(String(error))) throw error;
    }
    const { kept, counted } = await countsOf(market, publisher.account);
    seen.add(JSON.stringify(kept));
    t.deepEqual(kept, counted, `after step ${n}`);
  }
  t.true(seen.size > 10, "the sequence went through many states");
});

test.serial("an offer that never went live does not count as published", async (t) => {
  await preModerated(t);
  const publisher = await market.approved();
  const { text, extraction } = offerOf({});
  await market.publish(publisher, text, extraction);
  t.deepEqual((await countsOf(market, publisher.account)).kept, [0, 0, 0]);
});

test.serial("a report that waits while its offer is archived says that there is no such offer", async (t) => {
  const id = await market.offer(await market.approved());
  const waits = await watchWaits(market.url, t);
  const release = await holdRows(market.url, t, [
    "select from market.account where id = $1 for update",
    [caller.account],
  ]);
  const answer = refused(market.call(caller, "report_offer", { id, reason: "spam" }));
  await eventually(waits.count, (count) => count === 1);
  await pastTheRules("status = 'archived'", id);
  await release();
  t.is(await answer, "404 not_found");
});

test.serial("a list of one status does not read what has another status", async (t) => {
  const own = await openMarket(t);
  const owner = await own.approved();
  const [offer, ask] = [await own.offer(owner), await own.ask(owner)];
  await own.call(owner, "archive_offer", { id: offer });
  // Most are of many other accounts, as in a market.
  await own.sql`with off as materialized (select set_config('session_replication_role', 'replica', true)),
      accounts as materialized (
        select case when n <= 1000 then ${owner.account} else gen_random_uuid() end as id
          from off, generate_series(1, 6000) as n),
      a as (insert into market.ask (account_id, text, status) select id, 'Sofa', 'archived' from accounts)
    insert into market.offer (account_id, status, text, title, published_at)
    select id, 'published', 'Sofa', 'Sofa', now() from accounts`;
  await own.sql("vacuum analyze market.offer, market.ask");
  for (const [table, list, status, id] of [
    ["market.offer", "list_offers", "archived", offer],
    ["market.ask", "list_asks", "active", ask],
  ] as const) {
    const { rows } = await readsOf(own.url, table, owner.account, async (client) => {
      // Again and again, until PostgreSQL keeps one plan for all statuses.
      for (let times = 0; times < 8; times += 1) {
        const { rows: found } = await client.query(`select api.${list}($1, 20, null) as page`, [status]);
        t.is(found[0].page.results.length, 1);
        t.true(JSON.stringify(found).includes(id));
      }
    });
    t.true(rows < 100, `${list} ${rows}`);
  }
  for (const page of ["api.get_me('https://example.com', 'key')", "api.get_alerts()"]) {
    const { rows } = await readsOf(own.url, "market.ask", owner.account, (client) => client.query(`select ${page}`));
    t.true(rows < 100, `${page} ${rows}`);
  }
});

test.serial("an offer gets at most a thousand open reports, and twenty of unapproved agents", async (t) => {
  const id = await market.offer(caller);
  const open = async () =>
    market.value`select count(*)::integer from market.report
          where offer_id = ${id} and completed_at is null`;
  const report = async (reporter: Caller) =>
    t.is((await market.call(reporter, "report_offer", { id, reason: "spam" })).status, "received");
  for (let n = 0; n < 22; n += 1) await report(await market.connect());
  t.is(await open(), 20);
  await report(await market.approved());
  t.is(await open(), 21, "a report that counts");
  await market.sql`with off as materialized (select set_config('session_replication_role', 'replica', true))
      insert into market.report (offer_id, account_id, reason)
      select ${id}, gen_random_uuid(), 'spam' from off, generate_series(1, 979)`;
  await report(await market.approved());
  t.is(await open(), 1000);
});
