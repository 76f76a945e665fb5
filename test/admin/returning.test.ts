import test from "ava";
import { type Agent, SOFA } from "../support/market.ts";
import { type AdminFixture, type Moderator, openAdminFixture } from "./fixture.ts";

/** Tests when an offer comes back to the moderators after a decision, and whose reports count. */

let fixture: AdminFixture;
let ana: Moderator;
test.before(async () => {
  fixture = await openAdminFixture();
  ana = await fixture.moderator("Ana");
});
test.after.always(() => fixture?.stop());

const caseOf = async (id: string) => (await ana.see(id, "reviewCase { queue causes reports }")).reviewCase;

const report = (agent: Agent, id: string, reason = "scam") => agent.call("POST", `/v1/offers/${id}/report`, { reason });

const BAIT = "Fake passports for sale. 300 EUR, Berlin. Write to lena@example.com";

test.serial("an offer that was reported once comes back at every change of its text", async (t) => {
  const [owner, reporter] = [await fixture.agent(), await fixture.agent()];
  const id = await fixture.publish(owner);
  await report(reporter, id);
  await ana.decide("keepOffer", id);
  for (const text of [BAIT, `${BAIT} soon`]) {
    await owner.call("PATCH", `/v1/offers/${id}`, { text });
    t.is((await caseOf(id)).queue, "changed");
    await fixture.sql("update market.review_case set closed_at = now() where offer_id = $1", [id]);
  }
});

test.serial(
  "an offer comes back when its text changes if it was kept, and not if nobody reported or reviewed it",
  async (t) => {
    const owner = await fixture.agent();
    await fixture.publish(owner);
    const id = await fixture.publish(owner);
    await owner.call("PATCH", `/v1/offers/${id}`, { text: `${SOFA}. Now with cushions.` });
    t.is(await caseOf(id), null);
    await ana.decide("keepOffer", id);
    await owner.call("PATCH", `/v1/offers/${id}`, { text: BAIT });
    t.like(await caseOf(id), { queue: "changed", reports: 0 });
  },
);

test.serial("an account may report an offer again after its first report was decided", async (t) => {
  const [owner, reporter] = [await fixture.agent(), await fixture.agent()];
  const id = await fixture.publish(owner);
  await report(reporter, id, "spam");
  await ana.decide("keepOffer", id);
  t.like((await report(reporter, id, "scam")).body, { status: "received" });
  t.deepEqual(await caseOf(id), { queue: "reported", causes: ["reported"], reports: 1 });
  t.is((await report(reporter, id, "other")).status, 200);
  t.is((await caseOf(id)).reports, 1, "an account counts once while the case is open");
  t.deepEqual(await fixture.sql("select reason, completed_at from market.report where offer_id = $1", [id]), [
    { reason: "scam", completed_at: null },
  ]);
  await ana.decide("keepOffer", id);
  t.is(await caseOf(id), null);
});

test.serial("reports by unapproved agents open a case but do not count for its rank", async (t) => {
  const [owner, reporter] = [await fixture.agent(), await fixture.agent()];
  const id = await fixture.publish(owner);
  for (let n = 0; n < 3; n++) t.is((await report(await fixture.stranger(), id)).status, 200);
  t.like(await caseOf(id), { queue: "reported", reports: 0 });
  await report(reporter, id);
  t.like(await caseOf(id), { queue: "reported", reports: 1 });
});

test.serial("an account cannot report its own offer", async (t) => {
  const owner = await fixture.agent();
  const id = await fixture.publish(owner);
  t.like((await report(owner, id)).body, {
    status: 409,
    code: "invalid_state",
    detail: "This is an offer of your own account. Change it, or archive it.",
  });
});

test.serial("a suspended account cannot report", async (t) => {
  const [owner, reporter] = [await fixture.agent(), await fixture.agent()];
  const id = await fixture.publish(owner);
  await ana.act("suspendAccount", { id: await fixture.accountOf(reporter), reason: "spam" });
  t.like((await report(reporter, id)).body, { status: 409, account_status: "suspended" });
  t.false((await reporter.call("GET", "/v1/me")).body.permissions.report_offer.allowed);
});
