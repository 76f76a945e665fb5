import test from "ava";
import { column, openMarket } from "./market.ts";

/** In which order the worker takes texts: accounts take turns, and none occupies more than half of the slots. */

const TURNS = `
  select case s.account_id when $1 then 'busy' else 'other' end as account, j.priority, j.queue_name as queue
  from graphile_worker.jobs j join market.submission s on j.key = 'complete_submission:' || s.id
  order by j.priority, j.run_at, j.id`;

type Job = { account: string; priority: number; queue: string | null };

test("accounts take turns: the first text of an account is read before the second text of any", async (t) => {
  const market = await openMarket(t);
  const [busy, other] = [await market.approved("Busy"), await market.approved("Other")];
  const publish = (caller: typeof busy, n: number) =>
    market.call(caller, "publish_offer", { body: { text: `Grey sofa number ${n}, 180 EUR, lena@example.com` } });
  for (let n = 0; n < 12; n += 1) await publish(busy, n);
  for (let n = 0; n < 2; n += 1) await publish(other, n);

  const jobs = await market.sql<Job>(TURNS, [busy.account]);
  t.deepEqual(column(jobs, "account"), ["busy", "other", "busy", "other", ...Array(10).fill("busy")]);
  const queues = jobs.filter(({ account }) => account === "busy").map(({ queue }) => queue);
  t.deepEqual(queues.slice(0, 2), [null, null], "texts of a quiet account wait for no other text");
  t.is(new Set(queues.slice(2)).size, 2, "a queue runs one job at a time, so at most four of eight slots are occupied");
  t.false(queues.slice(2).includes(null));
});

test("previews of agents that nobody approved are read after everything else that waits", async (t) => {
  const market = await openMarket(t);
  const stranger = await market.connect();
  const body = { text: "Lamp, 5 EUR, lamp@example.com" };
  for (let n = 0; n < 3; n += 1) await market.call(stranger, "preview_offer", { body });
  for (let n = 0; n < 2; n += 1) {
    const agent = await market.approved();
    for (const name of ["publish_offer", "preview_offer"]) await market.call(agent, name, { body });
  }
  const jobs = await market.sql`select s.agent_id = ${stranger.agent} as stranger
    from graphile_worker.jobs j join market.submission s on j.key = 'complete_submission:' || s.id
    order by j.priority, j.run_at, j.id`;
  t.deepEqual(column(jobs, "stranger"), [...Array(4).fill(false), ...Array(3).fill(true)]);
});

test("asks that were answered but not read keep their account's turn, also when a sweep enqueues them again", async (t) => {
  const market = await openMarket(t);
  const [busy, other] = [await market.approved("Busy"), await market.approved("Other")];
  const ask = async (caller: typeof busy): Promise<string> => {
    const { submission } = await market.call(caller, "create_ask", { body: { text: "Wanted: a grey sofa in Berlin" } });
    return submission;
  };
  const answered = async (caller: typeof busy) =>
    market.call(caller, "withdraw_submission", { submission_id: await ask(caller) });
  const order = async () =>
    (await market.sql<Job>(TURNS, [busy.account])).map(({ account, priority }) => `${account} ${priority}`);

  for (let n = 0; n < 4; n += 1) await answered(busy);
  await answered(other);
  const waiting = ["busy 0", "other 0", "busy 1", "busy 2", "busy 3"];
  t.deepEqual(await order(), waiting, "an answer does not move the next ask forward");

  // No worker runs for three days, and the jobs are lost.
  await market.sql("update market.submission set created_at = created_at - interval '3 days'");
  await market.work("purge_keys");
  await market.sql("select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))");
  t.deepEqual(await order(), []);
  await market.work("sweep_submissions");
  t.deepEqual((await order()).toSorted(), waiting.toSorted());
  await ask(other);
  const last = await order();
  t.true(last.includes("other 1"), "its own unread ask comes first");
  t.true(last.indexOf("other 1") < last.indexOf("busy 2"), "and then it comes before the third text of a busy account");
});
