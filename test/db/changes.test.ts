import { randomUUID } from "node:crypto";
import test from "ava";
import type { DatabaseError } from "pg";
import { withClient } from "../support/client.ts";
import { type Answer, askOf, type Caller, offerOf, openMarket, outcomeOf, refusal } from "./market.ts";

/**
 * Two changes of one text, in every order in which they can be read or run out of time, and at the same instant.
 *
 *   change   a PATCH that is admitted: a submission with its extraction
 *   step     what then happens to a change: it is read ("complete"), or its deadline passes ("withdraw")
 */

let market: Awaited<ReturnType<typeof openMarket>>;
let caller: Caller;

test.before(async () => {
  market = await openMarket(undefined, { patient: true });
  caller = await market.approved();
  await market.sql`insert into market.cap_override (account_id, action, cap)
    values (${caller.account}, 'create_ask', 10000)`;
  await market.sql`insert into market.cap_override (account_id, action, cap)
    values (${caller.account}, 'publish_offer', 10000)`;
});
test.after.always(() => market?.close());

type Step = "complete" | "withdraw";
type Kind = "ask" | "offer";
type Change = { submission: string; extraction: string };

const factsOf = (title: string) => ({ title: `${title} sofa` });

const thing = (kind: Kind): Promise<string> => market[kind](caller, factsOf("First"));

const change = async (kind: Kind, id: string, title: string): Promise<Change> => {
  const { text, extraction } = kind === "ask" ? askOf(factsOf(title)) : offerOf(factsOf(title));
  const { submission } = await market.call(caller, `update_${kind}`, { id, body: { text }, errors: [] });
  return { submission, extraction };
};

const take = (step: Step, { submission, extraction }: Change): Promise<unknown> =>
  step === "complete"
    ? market.work("complete_submission", submission, extraction)
    : market.call(caller, "withdraw_submission", { submission_id: submission });

const answerOf = async ({ submission }: Change): Promise<Answer> =>
  market.call(caller, "get_answer", { submission_id: submission });

const titleOf = async (kind: Kind, id: string): Promise<{ title: string | null; text: string }> => {
  const [row] = await market.sql(`select title, split_part(text, ' ', 1) as text from market.${kind} where id = $1`, [
    id,
  ]);
  return row;
};

const STEPS: readonly Step[] = ["complete", "withdraw"];
const SUPERSEDED = /A later change of this (ask|offer) came before this one was read/;

for (const kind of ["ask", "offer"] as const) {
  for (const earlierStep of STEPS) {
    for (const laterStep of STEPS) {
      for (const first of ["earlier", "later"] as const) {
        test(`of two changes of an ${kind} the later wins: ${earlierStep} and ${laterStep}, the ${first} first`, async (t) => {
          const id = await thing(kind);
          const [earlier, later] = [await change(kind, id, "Earlier"), await change(kind, id, "Later")];
          const steps = [() => take(earlierStep, earlier), () => take(laterStep, later)];
          for (const step of first === "earlier" ? steps : steps.toReversed()) await step();
          // A worker that read the text after its deadline comes late.
          await take("complete", earlier);

          const [one, other] = [await answerOf(earlier), await answerOf(later)];
          const counts = kind === "ask" || laterStep === "complete";
          t.is(other.status, counts ? 200 : 503);
          if (counts && first === "later") {
            t.deepEqual([one.status, one.body.code], [409, "invalid_state"]);
            t.regex(one.body.detail, SUPERSEDED);
          } else t.is(one.status, kind === "offer" && earlierStep === "withdraw" ? 503 : 200);
          // A withdrawn change of an offer was refused, so it neither counts nor makes the other one wait.
          const winner = counts ? "Later" : earlierStep === "complete" ? "Earlier" : "First";
          t.like(await titleOf(kind, id), { text: winner === "First" && kind === "ask" ? "Earlier" : winner });
          if (kind === "ask" && laterStep === "withdraw") {
            t.is((await titleOf(kind, id)).title, null, "the later text is not read yet");
            await take("complete", later);
          }
          t.is((await titleOf(kind, id)).title, `${winner} sofa`);
        });
      }
    }
  }

  test(`changes of an ${kind} that are read and withdrawn at the same instant leave the last one, without a deadlock`, async (t) => {
    const id = await thing(kind);
    for (let round = 0; round < 20; round++) {
      const changes: Change[] = [];
      for (const title of ["One", "Two", "Three", "Four"]) changes.push(await change(kind, id, title));
      const outcomes = await Promise.all(
        changes.flatMap((one, n) => [
          outcomeOf(take("complete", one)),
          // The last one is only read, so that it counts for an offer, too.
          ...(n < 3 ? [outcomeOf(take("withdraw", one))] : []),
        ]),
      );
      t.deepEqual([...new Set(outcomes)], ["done"]);
      t.is((await titleOf(kind, id)).title, "Four sofa", `round ${round}`);
      const answers = await Promise.all(changes.map(answerOf));
      t.is(answers.at(-1).status, 200);
      for (const { status } of answers) t.true([200, 409, 503].includes(status), `${status}`);
    }
  });
}

test("a change of a text answers the changes before it at once, and their texts need not be read", async (t) => {
  for (const kind of ["ask", "offer"] as const) {
    const id = await thing(kind);
    const [earlier, later] = [await change(kind, id, "Earlier"), await change(kind, id, "Later")];
    await take("complete", later);
    t.is((await answerOf(earlier)).status, 409);
    t.is(await market.work("get_submission", earlier.submission), null);
  }
});

test("a change of an ask that is still being created wins, and the ask was created", async (t) => {
  const { text, extraction } = askOf(factsOf("First"));
  const { submission } = await market.call(caller, "create_ask", { body: { text } });
  const id = await market.value`select target_id from market.submission where id = ${submission}`;
  await take("complete", await change("ask", id, "Later"));
  await market.work("complete_submission", submission, extraction);
  const { status, body } = await answerOf({ submission, extraction });
  t.deepEqual([status, body.id, body.title], [201, id, "Later sofa"]);
  t.is((await titleOf("ask", id)).title, "Later sofa");
});

test("a change of the images keeps the text of an earlier change that is still being read, and the other way round", async (t) => {
  const images = ["https://example.com/sofa.jpg"];
  const id = await market.offer(caller, factsOf("First"));
  const texts = await change("offer", id, "Later");
  const { submission } = await market.call(caller, "update_offer", { id, body: { images } });
  await take("complete", { submission, extraction: texts.extraction });
  t.like(await titleOf("offer", id), { title: "Later sofa" });
  const [earlier, later] = [await answerOf(texts), await answerOf({ submission, extraction: "" })];
  t.is(earlier.status, 200, "its text is published, with the images of the later change");
  t.deepEqual(earlier, later);

  const emptied = await market.call(caller, "update_offer", { id, body: { images: [] } });
  await take("complete", await change("offer", id, "Last"));
  t.is((await answerOf({ submission: emptied.submission, extraction: "" })).status, 200);
  const [row] = await market.sql`select title, images from market.offer where id = ${id}`;
  t.deepEqual(row, { title: "Last sofa", images: [] });
});

test("of two changes the later wins, also if the earlier one's connection takes long to plan its statement", async (t) => {
  for (const kind of ["ask", "offer"] as const) {
    for (const read of ["before", "after"] as const) {
      const id = await thing(kind);
      const { text } = kind === "ask" ? askOf(factsOf("Earlier")) : offerOf(factsOf("Earlier"));
      const later = await withClient(market.url, async (slow) => {
        // The statement arrives now, and its functions begin when the later one has been admitted.
        await slow.query("begin");
        const admitted = await change(kind, id, "Later");
        if (read === "before") await take("complete", admitted);
        await slow.query("set local role souk_api");
        const earlier = slow.query(
          `with entered as materialized (select internal.enter_agent($1) as ok)
           select api.update_${kind}($2, $3, '[]') as answer from entered where ok`,
          [caller.token, id, { text }],
        );
        const refusal = await t.throwsAsync<DatabaseError>(earlier, { code: "PT409", message: "invalid_state" });
        t.regex(refusal.detail ?? "", SUPERSEDED);
        return admitted;
      });
      if (read === "after") await take("complete", later);
      t.is((await answerOf(later)).status, 200);
      t.like(await titleOf(kind, id), { title: "Later sofa" });
    }
  }
});

test("a change of text and images of which a later one replaces the images has not taken effect", async (t) => {
  const id = await market.offer(caller, factsOf("First"));
  const { text, extraction } = offerOf(factsOf("Later"));
  const update = async (body: object): Promise<Change> => {
    const { submission } = await market.call(caller, "update_offer", { id, body });
    return { submission, extraction };
  };
  const whole = await update({ text, images: ["https://example.com/one.jpg"] });
  const texts = await update({ text });
  const images = await update({ images: ["https://example.com/two.jpg"] });
  await take("complete", images);
  t.is((await answerOf(images)).status, 200);
  t.is((await answerOf(texts)).status, 200);
  t.deepEqual([(await answerOf(whole)).status, (await answerOf(whole)).body.code], [409, "invalid_state"]);
});

test("of a change and a removal, an archive or a deletion at the same instant, neither undoes the other", async (t) => {
  for (let round = 0; round < 10; round++) {
    const owner = await market.approved();
    const id = await market.offer(owner, factsOf("First"));
    const { text, extraction } = offerOf(factsOf("Later"));
    const { submission } = await market.call(owner, "update_offer", { id, body: { text } });
    const complete = () => outcomeOf(market.work("complete_submission", submission, extraction));
    const [changed, archived] = await Promise.all([complete(), outcomeOf(market.call(owner, "archive_offer", { id }))]);
    t.deepEqual([changed, archived], ["done", "done"]);
    const [first] = await market.sql`select title, status from market.offer where id = ${id}`;
    t.deepEqual(first, { title: "Later sofa", status: "archived" });

    const next = await market.call(owner, "update_offer", { id, body: { text } });
    const [, republished] = await Promise.all([
      outcomeOf(market.work("complete_submission", next.submission, extraction)),
      outcomeOf(market.call(owner, "republish_offer", { id })),
      market.sql`update market.offer set status = 'removed' where id = ${id}`,
    ]);
    t.true(["done", "invalid_state"].includes(republished), republished);
    const [second] = await market.sql`select status from market.offer where id = ${id}`;
    // A removal that comes first refuses the republishing; otherwise it takes down what was republished.
    t.is(second.status, "removed");
    const late = await market.call(owner, "get_answer", { submission_id: next.submission });
    t.true([200, 409].includes(late.status));

    const other = await market.offer(owner, factsOf("First"));
    const last = await market.call(owner, "update_offer", { id: other, body: { text } });
    const [read] = await Promise.all([
      outcomeOf(market.work("complete_submission", last.submission, extraction)),
      market.callAsPerson(owner, "delete_account"),
    ]);
    t.is(read, "done");
    const [erased] = await market.sql`select title, account_id from market.offer where id = ${other}`;
    t.deepEqual(erased, { title: "Deleted offer", account_id: null });
  }
});

test.serial("an export contains the change that waits, and the deletion of the account erases it", async (t) => {
  const owner = await market.approved();
  const id = await market.offer(owner, factsOf("First"));
  await market.sql("update market.setting set value = 'true' where name = 'pre_moderation'");
  t.teardown(() => market.sql("update market.setting set value = 'false' where name = 'pre_moderation'"));
  await market.change(owner, id, factsOf("Later"));
  const { items } = await market.callAsPerson(owner, "export_account", { part: "offers", cursor: null });
  t.like(items[0], { id, title: "First sofa", change: { status: "waiting", title: "Later sofa" } });
  t.is(items[0].change.extraction.title.quote, "Later sofa");
  t.is(items[0].change.agent_id, owner.agent);

  const { activity } = await market.callAsPerson(owner, "list_activity", { page_size: 10, cursor: null });
  t.like(activity[0], { action: "offer_change.created", target: { type: "offer", id, title: "First sofa" } });

  await market.callAsPerson(owner, "delete_account");
  t.deepEqual(await market.sql`select from market.offer_change where offer_id = ${id}`, []);
  const kept = "select from market.audit_event where row_id = $1 and (before is not null or after is not null)";
  t.deepEqual(await market.sql(kept, [id]), []);
});

const IMAGE = "https://example.com/sofa.jpg";
const looks = async (id: string) =>
  (await market.sql`select title, images, split_part(text, '.', 1) as text from market.offer where id = ${id}`)[0];

test("a change of the images leaves the text that another agent has changed meanwhile", async (t) => {
  const id = await thing("offer");
  const other = await market.colleague(caller);
  const first = offerOf(factsOf("First")).extraction;
  const text = await change("offer", id, "Second");
  const { submission } = await market.call(other, "update_offer", { id, body: { images: [IMAGE] } });
  t.true(await market.work("complete_submission", text.submission, text.extraction));
  // The worker has read the first text. It reads the second one before it answers.
  t.false(await market.work("complete_submission", submission, first));
  t.deepEqual(await market.call(other, "get_answer", { submission_id: submission }), {});
  const [job] = await market.sql`select attempts from graphile_worker.jobs
    where key = ${`complete_submission:${submission}`}`;
  t.deepEqual(job, { attempts: 0 });
  t.true(await market.work("complete_submission", submission, text.extraction));
  t.is((await market.call(other, "get_answer", { submission_id: submission })).status, 200);
  t.deepEqual(await looks(id), { title: "Second sofa", images: [IMAGE], text: "Second sofa" });
});

test("a change of the text leaves the images that another agent has changed meanwhile", async (t) => {
  const id = await thing("offer");
  const other = await market.colleague(caller);
  const first = offerOf(factsOf("First")).extraction;
  const { submission } = await market.call(other, "update_offer", { id, body: { images: [IMAGE] } });
  const text = await change("offer", id, "Second");
  t.true(await market.work("complete_submission", submission, first));
  t.true(await market.work("complete_submission", text.submission, text.extraction));
  t.is((await answerOf(text)).status, 200);
  t.deepEqual(await looks(id), { title: "Second sofa", images: [IMAGE], text: "Second sofa" });
});

test("who asks for the answer to a text that a crash has lost, or that is another's, is told that it is not there", async (t) => {
  const id = await thing("offer");
  const theirs = await change("offer", id, "Theirs");
  for (const submission of [randomUUID(), theirs.submission])
    t.like(await refusal(market.call(await market.connect(), "get_answer", { submission_id: submission })), {
      status: 503,
      code: "service_unavailable",
      detail: "The market lost this text before it was read, so nothing was done. Send it again.",
      extra: { retry_after: 1 },
    });
});
