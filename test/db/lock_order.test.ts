import { randomBytes } from "node:crypto";
import test, { type ExecutionContext } from "ava";
import { withClient } from "../support/client.ts";
import { eventually } from "../support/market.ts";
import { type Answer, askOf, type Caller, offerOf, openMarket, outcomeOf, vectorOf } from "./market.ts";
import { signing } from "./signing.ts";
import { someone } from "./unproved.ts";
import { holdRows, watchWaits } from "./waits.ts";

/**
 * The order of locks (db/schema/internal/platform/locks.sql), tested with two calls at a time. The test locks a row that the
 * first call needs. The second call starts and also stops, and then the test releases the row. If the calls took locks
 * in different orders, they would now wait for each other, and PostgreSQL would cancel one of them.
 */

type Meeting = {
  /** A statement that locks the row at which the first call stops. */
  hold: [string, unknown[]];
  first: () => Promise<unknown>;
  second: () => Promise<unknown>;
};

let market: Awaited<ReturnType<typeof openMarket>>;
let people: ReturnType<typeof signing>;

test.before(async () => {
  market = await openMarket(undefined, { patient: true });
  people = signing(market);
  await market.sql("update market.sign_in_method set available = true");
});
test.after.always(() => market?.close());

const meet = (title: string, prepare: () => Promise<Meeting>) =>
  test.serial(`no deadlock between ${title}`, async (t: ExecutionContext) => {
    const { hold, first, second } = await prepare();
    const waits = await watchWaits(market.url, t);
    const release = await holdRows(market.url, t, hold);
    let over = 0;
    const run = (call: () => Promise<unknown>) =>
      outcomeOf(call()).finally(() => {
        over += 1;
      });
    const outcomes = [run(first)];
    await eventually(waits.count, (count) => count === 1);
    t.is(over, 0, "the first call waits for the locked row");
    outcomes.push(run(second));
    await eventually(waits.count, (count) => count + over === 2);
    await release();
    const [won, other] = await Promise.all(outcomes);
    t.is(won, "done", `${other}\n${waits.told()}`);
    t.notRegex(other ?? "", /deadlock|violates|timeout/, waits.told());
  });

const person = async () => {
  const caller = await market.approved();
  const add = await people.begin({ method: "google", purpose: "add", session: caller.session });
  const { session } = await people.finish(
    add,
    "google",
    { subject: caller.agent, email: "lena@example.com" },
    caller.session,
  );
  return { ...caller, session };
};

const verify = async (caller: Caller, method: string): Promise<{ id: string; link: Buffer }> => {
  const { body } = await market.call(caller, "start_verification", { method });
  const [row] = await market.sql`select secret_hash from market.verification where id = ${body.id}`;
  return { id: body.id, link: row.secret_hash };
};

/** Submits a text that no worker reads. All calls use the same key. */
const submit = (caller: Caller): Promise<Answer> =>
  market.call(caller, "publish_offer", {
    body: { text: offerOf({}).text },
    idempotency_key: "sofa",
    request_hash: randomBytes(32),
  });

const AGENT = "select from market.agent where id = $1 for update";

meet("requesting a verification again and proving another one", async () => {
  const caller = await market.connect();
  const [held, old] = [await verify(caller, "apple"), await verify(caller, "google")];
  const proof = await people.begin({ method: "apple", verification: held.link });
  await market.sql`update market.verification set expires_at = now() where id = ${old.id}`;
  return {
    hold: ["select from market.verification where id = $1 for update", [held.id]],
    first: () => people.finish(proof, "apple", someone()),
    second: () => verify(caller, "google"),
  };
});

meet("removing an agent and proving a method that it requested", async () => {
  const caller = await market.connect();
  const [one, other] = [await verify(caller, "google"), await verify(caller, "apple")];
  const proof = await people.begin({ method: "google", verification: one.link });
  return {
    hold: ["select from market.verification where id = $1 for update", [other.id]],
    first: () => market.call(caller, "remove_own_agent"),
    second: () => people.finish(proof, "google", someone()),
  };
});

meet("removing an agent and recovering its account by the link of another one", async () => {
  const [caller, other] = [await market.approved(), await market.connect()];
  await market.approve(other, caller.session);
  const [one, pending] = [await verify(other, "google"), await verify(caller, "apple")];
  await market.sql`delete from market.session where account_id = ${caller.account}`;
  const proof = await people.begin({ method: "google", verification: one.link });
  return {
    hold: ["select from market.verification where id = $1 for update", [pending.id]],
    first: () => market.call(caller, "remove_own_agent"),
    second: () => people.finish(proof, "google", someone()),
  };
});

meet("leaving an account and removing one of its agents", async () => {
  const caller = await market.approved();
  const { id } = await verify(caller, "apple");
  const attempt = await people.begin({ method: "google", session: caller.session, leave: true });
  return {
    hold: ["select from market.verification where id = $1 for update", [id]],
    first: () => people.finish(attempt, "google", someone(), caller.session),
    second: () => market.call(caller, "remove_own_agent"),
  };
});

meet("deleting an account and leaving it", async () => {
  const caller = await market.approved();
  const attempt = await people.begin({ method: "google", session: caller.session, leave: true });
  return {
    hold: [AGENT, [caller.agent]],
    first: () => market.callAsPerson(caller, "delete_account"),
    second: () => people.finish(attempt, "google", someone(), caller.session),
  };
});

meet("publishing and recovering the account", async () => {
  const [caller, other] = [await market.approved(), await market.connect()];
  await market.approve(other, caller.session);
  const { link } = await verify(caller, "google");
  await market.sql`delete from market.session where account_id = ${caller.account}`;
  const proof = await people.begin({ method: "google", verification: link });
  return {
    hold: [AGENT, [other.agent]],
    first: () => people.finish(proof, "google", someone()),
    second: () => submit(other),
  };
});

meet("approving an agent again and removing it", async () => {
  const caller = await market.approved();
  const { link } = await verify(caller, "google");
  await market.sql`delete from market.session where account_id = ${caller.account}`;
  const { session } = await people.signIn(someone(), { verification: link });
  return {
    hold: [AGENT, [caller.agent]],
    first: () => market.callAsPerson({ ...caller, session }, "approve_agent", { agent_id: caller.agent }),
    second: () => market.call(caller, "remove_own_agent"),
  };
});

meet("deleting an account and signing in to another one in the same browser", async () => {
  const owner = await person();
  await market.sql("update market.session set seen_at = now() - interval '2 hours'");
  // The account has this address but did not prove it by mail, so the attempt belongs to another account.
  const attempt = await people.begin({ email: "lena@example.com" });
  return {
    hold: [AGENT, [owner.agent]],
    first: () => market.callAsPerson(owner, "delete_account"),
    second: () => people.finishMail(attempt, { code: attempt.code }, owner.session),
  };
});

/** A job stores a vector anew, for a new text or a new model, while its offer or ask changes. */
const storeVector = (kind: "offer" | "ask", id: string) => () => market.embed(kind, id, vectorOf("new"));

meet("archiving an offer and storing its vector", async () => {
  const owner = await market.approved();
  const id = await market.offer(owner, { vector: vectorOf("old") });
  return {
    hold: ["select from market.account_stats where account_id = $1 for update", [owner.account]],
    first: () => market.call(owner, "archive_offer", { id }),
    second: storeVector("offer", id),
  };
});

meet("reopening an ask and storing its vector", async () => {
  const owner = await market.approved();
  const id = await market.ask(owner, { vector: vectorOf("old") });
  await market.call(owner, "archive_ask", { id });
  return {
    hold: ["select from graphile_worker._private_jobs where key = 'embed_ask:' || $1 for update", [id]],
    first: () => market.call(owner, "reopen_ask", { id }),
    second: storeVector("ask", id),
  };
});

const meetDeletion = (
  title: string,
  prepare: (owner: Caller) => Promise<{ hold?: [string, unknown[]]; second: () => Promise<unknown> }>,
) =>
  meet(`deleting an account and ${title}`, async () => {
    const owner = await person();
    const { hold, second } = await prepare(owner);
    return { hold: hold ?? [AGENT, [owner.agent]], first: () => market.callAsPerson(owner, "delete_account"), second };
  });

meetDeletion("republishing one of its offers", async (owner) => {
  const id = await market.offer(owner);
  await market.call(owner, "archive_offer", { id });
  return { second: () => market.call(owner, "republish_offer", { id }) };
});

meetDeletion("changing one of its offers", async (owner) => {
  const id = await market.offer(owner);
  return {
    second: () => market.call(owner, "update_offer", { id, body: { text: offerOf({ price: "170 EUR" }).text } }),
  };
});

meetDeletion("changing one of its asks", async (owner) => {
  const id = await market.ask(owner);
  const body = { text: askOf({ max: "90 EUR" }).text, watch_enabled: false };
  return { second: () => market.call(owner, "update_ask", { id, body }) };
});

meetDeletion("reporting one of its offers", async (owner) => {
  const id = await market.offer(owner);
  return { second: () => market.call(owner, "report_offer", { id, reason: "spam" }) };
});

meetDeletion("reusing an idempotency key of the day before", async (owner) => {
  await submit(owner);
  await market.sql("update market.idempotency_key set created_at = now() - interval '25 hours'");
  return { second: () => submit(owner) };
});

for (const [title, withdrawing] of [
  [
    "withdrawing one of its submissions",
    (owner: Caller, id: string) => market.call(owner, "withdraw_submission", { submission_id: id }),
  ],
  ["sweeping one of its submissions", () => market.work("sweep_submissions")],
] as const)
  meetDeletion(title, async (owner) => {
    const offer = await market.offer(owner);
    const { submission } = await submit(owner);
    await market.sql`update market.submission set created_at = now() - interval '11 minutes' where id = ${submission}`;
    return {
      // When the deletion waits for this row, it has locked the agents' keys, but not yet the keys' submissions.
      hold: ["select from market.offer where id = $1 for update", [offer]],
      second: () => withdrawing(owner, submission),
    };
  });

/** Runs one statement as a moderator, as the moderators' GraphQL API does. */
const asModerator = (statement: string, values: unknown[]) => () =>
  withClient(market.url, async (client) => {
    await client.query("begin");
    const moderator = await market.approved();
    await client.query(
      "select set_config('market.moderator_id', $1, true), set_config('role', 'souk_moderator', true)",
      [moderator.account],
    );
    await client.query(statement, values);
    await client.query("commit");
  });

meetDeletion("removing one of its agents as a moderator", async (owner) => {
  const other = await market.connect();
  await market.approve(other, owner.session, randomBytes(32));
  return { second: asModerator("select admin.remove_agent($1)", [other.agent]) };
});

meetDeletion("restoring one of its offers as a moderator", async (owner) => {
  const id = await market.offer(owner);
  await market.sql`update market.offer set status = 'removed', review_reason = 'spam' where id = ${id}`;
  return {
    second: asModerator("select admin.restore_offer($1, (select updated_at from admin.offer where id = $1))", [id]),
  };
});

const JOBS = ["purge_sign_ins", "purge_agents", "sweep_submissions", "purge_keys"];

/** Moves every time in these tables into the past. */
const age = async (by: string): Promise<void> => {
  for (const [table, columns] of [
    ["agent", ["created_at"]],
    ["account", ["created_at"]],
    ["account_stats", ["last_active_at"]],
    ["verification", ["created_at", "expires_at"]],
    ["sign_in", ["created_at", "expires_at"]],
    ["session", ["created_at", "expires_at", "seen_at"]],
    ["submission", ["created_at"]],
    ["idempotency_key", ["created_at"]],
  ] as const) {
    const changes = columns.map((column) => `${column} = ${column} - $1::interval`).join(", ");
    await market.sql(`update market.${table} set ${changes}`, [by]);
  }
};

for (const table of ["account", "agent", "verification", "sign_in", "session", "submission", "idempotency_key"])
  test.serial(`scheduled jobs skip locked rows of the table ${table}, and process them later`, async (t) => {
    // An agent without approval, whose verification link was opened.
    const abandoned = await market.connect();
    const { flow } = await people.begin({
      method: "google",
      verification: (await verify(abandoned, "google")).link,
    });
    // An agent that moved to a person's account, left its own behind, and then submitted a text.
    const [moved, owner] = [await market.connect(), await person()];
    await market.approve(moved, owner.session, randomBytes(32));
    const { submission } = await submit(moved);
    await market.sql`update market.submission set account_id = ${moved.account} where id = ${submission}`;
    const { link } = await verify(moved, "apple");
    await people.begin({ method: "apple", verification: link, session: owner.session });
    await age("40 days");

    const waits = await watchWaits(market.url, t);
    const release = await holdRows(market.url, t, [`select from market.${table} for update`, []]);
    for (const job of JOBS) t.is(await outcomeOf(market.work(job)), "done", `${job}: ${waits.told()}`);
    await release();

    // Two runs: a submission is purged only after it was withdrawn, and the rows that depend on it only after that.
    for (const job of [...JOBS, ...JOBS]) await market.work(job);
    t.deepEqual(await market.sql`select id from market.agent where id = ${abandoned.agent}`, []);
    t.deepEqual(await market.sql`select id from market.sign_in where flow_hash = ${flow}`, []);
    const agents = [abandoned.agent, moved.agent];
    t.deepEqual(await market.sql`select id from market.verification where agent_id = any (${agents})`, []);
    t.deepEqual(await market.sql`select id from market.account where id = ${moved.account}`, []);
  });
