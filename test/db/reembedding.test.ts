import test from "ava";
import { withClient } from "../support/client.ts";
import { type Answer, column, openMarket, vectorOf } from "./market.ts";

/**
 * A change of the embedding model: everything is embedded again in batches. The work can stop and resume after any
 * batch.
 */

const NEW = "text-embedding-3-small";

type Open = Awaited<ReturnType<typeof openMarket>>;

const underWay = async (market: Open): Promise<string> => {
  const [row] = await market.sql("select id from market.reembedding where finished_at is null");
  return row?.id;
};

/** Runs at most `most` batches, as the worker does. Returns the ids in each batch, and the last progress. */
const work = async (market: Open, id: string, size: number, most = 100) => {
  const taken: string[][] = [];
  let progress: Answer = null;
  for (let n = 0; n < most; n++) {
    const batch = await market.work("take_batch", id, size, true);
    if (batch === null) break;
    taken.push(batch.items.map((item: Answer) => item.id));
    progress = await market.work(
      "store_batch",
      id,
      batch.items.map((item: Answer) => ({
        kind: item.kind,
        id: item.id,
        embedding: vectorOf(item.words.split("\n")[0]),
      })),
    );
    if (progress.finished) break;
  }
  return { taken, progress };
};

const jobs = async (market: Open): Promise<number> =>
  (await market.sql("select from graphile_worker.jobs where task_identifier = 'reembed'")).length;

test("a change of model embeds every offer and then every ask again once, and reports progress", async (t) => {
  const market = await openMarket(t);
  const [seller, buyer] = [await market.approved(), await market.approved()];
  const offers: string[] = [];
  for (let n = 0; n < 5; n++)
    offers.push(await market.offer(seller, { title: `Grey sofa ${n}`, vector: vectorOf("old") }));
  const ask = await market.ask(buyer, { vector: vectorOf("old") });
  const archived = await market.offer(seller, { title: "Grey sofa", vector: vectorOf("old") });
  await market.call(seller, "archive_offer", { id: archived });

  await market.work("use_embedding_model", NEW);
  const id = await underWay(market);
  t.is(await jobs(market), 1);
  await market.work("use_embedding_model", NEW);
  t.is(await underWay(market), id, "a second worker starts no other run");
  t.is(await jobs(market), 1);

  const { taken: begun } = await work(market, id, 2, 1);
  const [progress] = await market.sql`select r.model, r.total, r.done, r.failed, p.percent::float, p.expected_at is not
    null as expected
    from market.reembedding r join inspect.embedding_progress p on p.model = r.model and p.kind = 'offer'`;
  t.deepEqual(progress, { model: NEW, total: 6, done: 2, failed: 0, percent: 40, expected: true });
  const { taken: rest, progress: last } = await work(market, id, 2);
  t.deepEqual([...begun, ...rest].flat(), [...offers.toSorted(), ask]);
  t.deepEqual(last, { model: NEW, done: 6, total: 6, failed: 0, finished: true });
  t.deepEqual(
    await market.sql`select model, count(*)::integer from (select model
      from market.offer_embedding o join market.offer p on p.id = o.offer_id and p.status = 'published' union all
      select model from market.ask_embedding) as e group by 1`,
    [{ model: NEW, count: 6 }],
  );
  t.is(await market.work("take_batch", id, 2, true), null);
});

test("matches stay while offers and asks are embedded again, and do not count as new afterwards", async (t) => {
  const market = await openMarket(t);
  const [seller, buyer] = [await market.approved(), await market.approved()];
  const offer = await market.offer(seller, { title: "Grey sofa", vector: vectorOf("x") });
  const ask = await market.ask(buyer, { keywords: ["hammock"], vector: vectorOf("x") });
  const matches = (since: string | null = null): Promise<Answer> =>
    market.call(buyer, "list_matches", { id: ask, since, page_size: 10 });
  const before = await matches();
  t.deepEqual(column(before.results, "id"), [offer]);
  await market.work("use_embedding_model", NEW);
  const id = await underWay(market);
  t.is((await matches()).results.length, 1);
  await market.work("store_batch", id, [{ kind: "offer", id: offer, embedding: vectorOf("y") }]);
  t.is((await matches()).results.length, 1, "the ask has no vector of the new model yet");
  await market.work("store_batch", id, [{ kind: "ask", id: ask, embedding: vectorOf("y") }]);
  t.is((await matches()).results.length, 1);
  t.deepEqual((await matches(before.since)).results, []);
});

test("searches use words while offers are embedded again", async (t) => {
  const market = await openMarket(t);
  const [seller, buyer] = [await market.approved(), await market.approved()];
  const offer = await market.offer(seller, { title: "Grey sofa", vector: vectorOf("x") });
  await market.work("use_embedding_model", NEW);
  const { results } = await market.call(buyer, "search_offers", {
    request: { query: "couch" },
    embedding: vectorOf("x"),
    model: NEW,
  });
  t.deepEqual(column(results, "id"), [offer]);
});

test("an invalid vector is counted as failed and not tried again", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const offer = await market.offer(seller, { title: "Grey sofa", vector: vectorOf("x") });
  await market.work("use_embedding_model", NEW);
  const id = await underWay(market);
  const progress = await market.work("store_batch", id, [{ kind: "offer", id: offer, embedding: "[1, 2]" }]);
  t.deepEqual([progress.done, progress.failed], [1, 1]);
  t.deepEqual((await market.work("take_batch", id, 10, true)).items, [], "it is not tried again");
});

test("another change of model ends the running one, and going back embeds only what had changed", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  for (let n = 0; n < 3; n++) await market.offer(seller, { title: `Grey sofa ${n}`, vector: vectorOf("x") });
  await market.work("use_embedding_model", NEW);
  const first = await underWay(market);
  await work(market, first, 1, 1);
  await market.work("use_embedding_model", "builtin-meaning-1");
  t.is(await market.work("take_batch", first, 1, true), null);
  t.is(await market.work("store_batch", first, []), null);
  const { taken, progress } = await work(market, await underWay(market), 10);
  t.is(taken.flat().length, 1);
  t.true(progress.finished);
});

test("a worker that starts looks at no offer, and begins nothing if the model is in use", async (t) => {
  const market = await openMarket(t);
  await market.offer(await market.approved(), { title: "Grey sofa" });
  await market.sql("delete from graphile_worker._private_jobs");
  await withClient(market.url, async (other) => {
    await other.query("begin; lock table market.offer, market.ask");
    await market.work("use_embedding_model", "builtin-meaning-1");
    t.is(await jobs(market), 0);
    await market.work("use_embedding_model", NEW);
    t.is(await jobs(market), 1);
    await other.query("rollback");
  });
});

test("resume_reembedding adds the job again if it was lost", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  await market.offer(seller, { vector: vectorOf("x") });
  await market.work("use_embedding_model", NEW);
  await market.sql("delete from graphile_worker._private_jobs where key like 'reembed:%'");
  t.is(await jobs(market), 0);
  t.is(await market.work("resume_reembedding"), 1);
  t.is(await jobs(market), 1);
});

test("an offer or ask gets its vector after a long outage of the provider", async (t) => {
  const market = await openMarket(t);
  const offer = await market.offer(await market.approved(), { title: "Grey sofa" });
  const ask = await market.ask(await market.approved());
  const attempt = async (kind: string, id: string): Promise<boolean> => {
    if ((await market.work("get_embedding_input", id, NEW, true)) === null) return false;
    await market.work(`store_${kind}_embedding`, id, null, NEW, "words");
    return true;
  };
  for (const [kind, id] of [
    ["offer", offer],
    ["ask", ask],
  ] as const) {
    const key = `embed_${kind}:${id}`;
    await market.sql("delete from graphile_worker._private_jobs");
    await market.sql`select internal.enqueue(${`embed_${kind}`}, ${id})`;
    await market.sql("update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'down'");
    t.is(await market.work("resume_reembedding"), 1);
    const again = "select key, attempts::int, last_error, payload ->> 'id' as id from graphile_worker._private_jobs";
    t.deepEqual(await market.sql(again), [{ key, attempts: 0, last_error: null, id }], "it has eight attempts again");

    for (let n = 0; n < 8; n++) t.true(await attempt(kind, id));
    t.false(await attempt(kind, id), "each of them may have been paid for");
    await market.sql("update graphile_worker._private_jobs set attempts = max_attempts");
    t.is(await market.work("resume_reembedding"), 0, "and eight of them are enough for a day");
    await market.sql`update market.rate_limit_hit set called_at = called_at - interval '1 day' where action = 'embed'`;
    t.is(await market.work("resume_reembedding"), 1);
  }
});

test("a changed text does not wait for the next day when the eighth request of its offer or ask succeeds", async (t) => {
  const market = await openMarket(t);
  const offer = await market.offer(await market.approved(), { title: "Grey sofa" });
  const ask = await market.ask(await market.approved());
  await market.sql("delete from graphile_worker._private_jobs");
  for (const [kind, id] of [
    ["offer", offer],
    ["ask", ask],
  ] as const) {
    for (let n = 0; n < 8; n++) t.truthy(await market.work("get_embedding_input", id, NEW, true));
    t.is(await market.work("get_embedding_input", id, NEW, true), null, "the job of the changed text waits");
    const waiting = () =>
      market.sql`select key from graphile_worker.jobs where key = ${`embed_${kind}:${id}`} and run_at > now()`;
    t.is((await waiting()).length, 1);
    await market.work(`store_${kind}_embedding`, id, vectorOf("grey sofa"), NEW, "words");
    t.deepEqual(await waiting(), []);
  }
});

test("a text that a provider fails to embed eight times a day does not hold up a change of model", async (t) => {
  const market = await openMarket(t);
  const offer = await market.offer(await market.approved(), { title: "Grey sofa", vector: vectorOf("old") });
  const ask = await market.ask(await market.approved(), { vector: vectorOf("old") });
  await market.sql("delete from graphile_worker._private_jobs");
  await market.work("use_embedding_model", NEW);
  const id = await underWay(market);
  for (let n = 0; n < 4; n++) {
    // The provider fails in both: the run's own job, and the one after a change of the offer.
    t.truthy((await market.work("take_batch", id, 10, true)).items[0].words);
    t.truthy(await market.work("get_embedding_input", offer, NEW, true));
  }
  const refused = await market.work("take_batch", id, 10, true);
  t.deepEqual(refused.items, [{ kind: "offer", id: offer, words: null }]);
  t.is(await market.work("get_embedding_input", offer, NEW, true), null);
  const waiting = await market.sql(
    `select task_identifier as task, key, attempts::int, round(extract(epoch from run_at - now()) / 3600)::int as hours
     from graphile_worker.jobs where task_identifier like 'embed\\_%'`,
  );
  t.deepEqual(waiting, [{ task: "embed_offer", key: `embed_offer:${offer}`, attempts: 0, hours: 24 }]);
  const stored = await market.work("store_batch", id, [{ ...refused.items[0], embedding: null }]);
  t.deepEqual([stored.done, stored.failed], [1, 1]);
  await work(market, id, 10);
  t.deepEqual(await market.sql("select ask_id, model from market.ask_embedding"), [{ ask_id: ask, model: NEW }]);
  await market.sql("update graphile_worker._private_jobs set created_at = created_at - interval '3 hours'");
  t.deepEqual(await market.sql("select * from inspect.check()"), [], "the job that waits will make the vector");
});

test("of a job that was replaced while it ran, nothing is left when its worker is gone", async (t) => {
  const market = await openMarket(t);
  await market.offer(await market.approved(), { title: "Grey sofa", vector: vectorOf("old") });
  for (const [gone, ...args] of [
    ["deregister", "dead"],
    ["heartbeat", "alive", false],
  ] as const) {
    await market.work("use_embedding_model", `${NEW}-${gone}`);
    const id = await underWay(market);
    await market.sql`update graphile_worker._private_jobs
      set attempts = 1, locked_by = 'dead', locked_at = now() - interval '1 minute'
      where key = 'reembed:' || ${id}`;
    // Storing the batch enqueues the next one. The worker dies before it can mark its own job as done.
    await work(market, id, 2, 1);
    t.is(await jobs(market), 2);
    await market.work(gone, ...args);
    t.deepEqual(
      await market.sql`select key, attempts::int, locked_by from graphile_worker.jobs
        where task_identifier = 'reembed'`,
      [{ key: `reembed:${id}`, attempts: 0, locked_by: null }],
    );
    await work(market, id, 2);
    await market.sql("delete from graphile_worker._private_jobs");
  }
});

test("of a job that was replaced while it ran and then failed, nothing is left after a heartbeat", async (t) => {
  const market = await openMarket(t);
  const offer = await market.offer(await market.approved(), { title: "Grey sofa" });
  await market.sql("delete from graphile_worker._private_jobs");
  await market.sql`select internal.enqueue('embed_offer', ${offer})`;
  const [running] = await market.sql<{ id: string }>`update graphile_worker._private_jobs
    set attempts = 1, locked_by = 'alive', locked_at = now()
    returning id::text`;
  await market.sql`select internal.enqueue('embed_offer', ${offer})`;
  await market.work("heartbeat", "alive", false);
  t.is((await market.sql("select from graphile_worker.jobs")).length, 2, "the worker may yet succeed");
  // As graphile-worker does when a job fails.
  await market.sql`update graphile_worker._private_jobs set last_error = 'down', locked_by = null, locked_at = null
    where id = ${running?.id}`;
  await market.work("heartbeat", "alive", false);
  t.deepEqual(await market.sql("select key, attempts::int, last_error from graphile_worker.jobs"), [
    { key: `embed_offer:${offer}`, attempts: 0, last_error: null },
  ]);
});

test("a queue is free again after its job was ended by a worker that had been taken for dead", async (t) => {
  const market = await openMarket(t);
  const offers = [];
  const seller = await market.approved();
  // Four queues embed, so two of five offers share one.
  for (let n = 0; n < 5; n++) offers.push(await market.offer(seller, { title: `Grey sofa ${n}` }));
  await market.sql("delete from graphile_worker._private_jobs");
  for (const offer of offers) await market.sql`select internal.enqueue('embed_offer', ${offer})`;
  // As graphile-worker does when it takes a job, but the job has been ended by another worker since.
  const [queue] = await market.sql<{ id: number }>`update graphile_worker._private_job_queues
    set locked_by = 'alive', locked_at = now()
    where id = (select job_queue_id from graphile_worker._private_jobs group by 1 having count(*) > 1 limit 1)
    returning id`;
  const lock = "select locked_by from graphile_worker._private_job_queues where id = $1";
  await market.work("heartbeat", "alive", false);
  t.deepEqual(await market.sql(lock, [queue?.id]), [{ locked_by: "alive" }], "it may just have been locked");

  const old = "update graphile_worker._private_job_queues set locked_at = now() - interval '1 minute' where id = $1";
  await market.sql(old, [queue?.id]);
  const running = await market.sql<{ id: string }>`update graphile_worker._private_jobs
    set locked_by = 'alive', locked_at = now()
    where id = (select min(id) from graphile_worker._private_jobs
      where job_queue_id = ${queue?.id}) returning id::text`;
  await market.work("heartbeat", "alive", false);
  t.deepEqual(await market.sql(lock, [queue?.id]), [{ locked_by: "alive" }], "a job runs in it");

  await market.sql`delete from graphile_worker._private_jobs where id = ${running[0]?.id}`;
  await market.work("heartbeat", "another", false);
  t.deepEqual(await market.sql(lock, [queue?.id]), [{ locked_by: null }]);
});
