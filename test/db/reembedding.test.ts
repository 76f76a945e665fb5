import test from "ava";
import { type Answer, openMarket, vectorOf } from "./market.ts";

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
    const batch = await market.work("take_batch", id, size);
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
  const [progress] = await market.sql(
    `select r.model, r.total, r.done, r.failed, p.percent::float, p.expected_at is not null as expected
     from market.reembedding r join inspect.embedding_progress p on p.model = r.model and p.kind = 'offer'`,
  );
  t.deepEqual(progress, { model: NEW, total: 6, done: 2, failed: 0, percent: 40, expected: true });
  const { taken: rest, progress: last } = await work(market, id, 2);
  t.deepEqual([...begun, ...rest].flat(), [...offers.toSorted(), ask]);
  t.deepEqual(last, { model: NEW, done: 6, total: 6, failed: 0, finished: true });
  t.deepEqual(
    await market.sql(
      "select model, count(*)::integer from (select model from market.offer_embedding o join market.offer p on p.id = o.offer_id and p.status = 'published' union all select model from market.ask_embedding) as e group by 1",
    ),
    [{ model: NEW, count: 6 }],
  );
  t.is(await market.work("take_batch", id, 2), null);
});

test("matches stay while offers and asks are embedded again, and do not count as new afterwards", async (t) => {
  const market = await openMarket(t);
  const [seller, buyer] = [await market.approved(), await market.approved()];
  const offer = await market.offer(seller, { title: "Grey sofa", vector: vectorOf("x") });
  const ask = await market.ask(buyer, { keywords: ["hammock"], vector: vectorOf("x") });
  const matches = (since: string | null = null): Promise<Answer> =>
    market.call(buyer, "list_matches", { id: ask, since, page_size: 10, cursor: null });
  const before = await matches();
  t.deepEqual(
    before.results.map((result: Answer) => result.id),
    [offer],
  );
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
    extraction: null,
    embedding: vectorOf("x"),
    model: NEW,
    notices: [],
  });
  t.deepEqual(
    results.map((result: Answer) => result.id),
    [offer],
  );
});

test("an invalid vector is counted as failed and not tried again", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const offer = await market.offer(seller, { title: "Grey sofa", vector: vectorOf("x") });
  await market.work("use_embedding_model", NEW);
  const id = await underWay(market);
  const progress = await market.work("store_batch", id, [{ kind: "offer", id: offer, embedding: "[1, 2]" }]);
  t.deepEqual([progress.done, progress.failed], [1, 1]);
  t.deepEqual((await market.work("take_batch", id, 10)).items, [], "it is not tried again");
});

test("another change of model ends the running one, and going back embeds only what had changed", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  for (let n = 0; n < 3; n++) await market.offer(seller, { title: `Grey sofa ${n}`, vector: vectorOf("x") });
  await market.work("use_embedding_model", NEW);
  const first = await underWay(market);
  await work(market, first, 1, 1);
  await market.work("use_embedding_model", "builtin-meaning-1");
  t.is(await market.work("take_batch", first, 1), null);
  t.is(await market.work("store_batch", first, []), null);
  const { taken, progress } = await work(market, await underWay(market), 10);
  t.is(taken.flat().length, 1);
  t.true(progress.finished);
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
