import test from "ava";
import { type Agent, SOFA } from "../support/market.ts";
import { type AdminFixture, browserOf, codes, type GraphQl, type Moderator, openAdminFixture } from "./fixture.ts";

/**
 * Tests who may decide. A moderator may not decide in their own case, on an appeal against their own removal, or on an
 * offer that has changed since they opened it.
 *
 *   ana   a moderator whose account also has an agent that publishes offers
 */

let fixture: AdminFixture;
let ana: Moderator;
let ben: Moderator;
let agent: Agent;
test.before(async () => {
  fixture = await openAdminFixture();
  [ana, ben] = [await fixture.moderator("Ana"), await fixture.moderator("Ben")];
  agent = await fixture.agent("Agent of Ana");
  await fixture.sql("update market.agent set account_id = $1 where id = $2", [ana.account, agent.id]);
});
test.after.always(() => fixture?.stop());

const messages = ({ errors }: GraphQl) => errors.map(({ message }) => message).join();

const OWN = /It is your own, so another moderator decides\./;

test.serial("no moderator decides on their own offer or claims its case", async (t) => {
  const id = await fixture.publish(agent);
  for (const refused of [
    await ana.decide("keepOffer", id),
    await ana.decide("removeOffer", id, { reason: "spam" }),
    await ana.mutate("claimCase", { offerId: id }),
  ]) {
    t.deepEqual(codes(refused), ["invalid_state"]);
    t.regex(messages(refused), OWN);
  }
  t.regex((await ana.see(id, "obstacle")).obstacle, OWN);
  t.is((await ben.see(id, "obstacle")).obstacle, null);
  t.deepEqual((await ben.decide("keepOffer", id)).errors, []);
});

test.serial("no moderator takes a measure against their own account", async (t) => {
  const id = ana.account;
  const cap = await ana.mutate("overrideCap", { accountId: id, action: "publish_offer", cap: 100_000 });
  t.deepEqual(codes(cap), ["invalid_state"]);
  t.regex(messages(cap), OWN);
  t.deepEqual(codes(await ana.mutate("removeAgent", { id: agent.id })), ["invalid_state"]);
  await fixture.sql(
    "update market.account set suspended_at = now(), suspension_reason = 'spam', suspension_note = 'x' where id = $1",
    [id],
  );
  const reinstatement = await ana.mutate("reinstateAccount", { id });
  await fixture.sql(
    "update market.account set suspended_at = null, suspension_reason = null, suspension_note = null where id = $1",
    [id],
  );
  t.is(reinstatement.status, 404, "a suspended moderator has no access");
  t.deepEqual(await fixture.sql("select cap from market.cap_override where account_id = $1", [id]), []);
});

test.serial("the moderator who removed an offer cannot claim its appeal case and is told why", async (t) => {
  const owner = await fixture.agent();
  const id = await fixture.publish(owner);
  await ana.decide("removeOffer", id, { reason: "spam" });
  await owner.call("POST", `/v1/offers/${id}/appeal`, {});
  const claim = await ana.mutate("claimCase", { offerId: id });
  t.deepEqual(codes(claim), ["invalid_state"]);
  t.regex(messages(claim), /You took this offer down/);
  const pageFor = async ({ cookie }: Moderator) =>
    (await fixture.call("GET", `/admin/offers/${id}`, { headers: { cookie } })).text;
  const page = await pageFor(ana);
  t.regex(page, /You took this offer down, so another moderator decides on the appeal\./);
  t.notRegex(page, /value="(restore|uphold|claim)"/);
  const others = await pageFor(ben);
  t.regex(others, /value="restore"/);
  t.regex(others, /value="claim"/);
  t.deepEqual((await ben.decide("restoreOffer", id)).errors, []);
});

test.serial("a case claimed by a moderator who was dismissed is free again", async (t) => {
  const leaving = await fixture.moderator("Cleo");
  const id = await fixture.publish(await fixture.agent());
  await leaving.act("claimCase", { offerId: id });
  await fixture.sql("delete from market.moderator where account_id = $1", [leaving.account]);
  const { reviewCase } = await ana.see(id, "reviewCase { heldBy heldUntil }");
  t.deepEqual(reviewCase, { heldBy: null, heldUntil: null });
  t.deepEqual((await ana.decide("keepOffer", id)).errors, []);
});

test.serial("a decision is refused if a report has come in since the moderator opened the offer", async (t) => {
  const [owner, reporter] = [await fixture.agent(), await fixture.agent()];
  const id = await fixture.publish(owner);
  const { updatedAt: expectedUpdatedAt, reviewCase } = await ana.see(id, "updatedAt reviewCase { reports }");
  await reporter.call("POST", `/v1/offers/${id}/report`, { reason: "scam", comment: "They asked for a deposit." });
  const keep = (expectedReports: number) => ana.mutate("keepOffer", { id, expectedUpdatedAt, expectedReports });
  const refused = await keep(reviewCase.reports);
  t.deepEqual(codes(refused), ["invalid_state"]);
  t.regex(messages(refused), /reported/);
  t.deepEqual((await keep(1)).errors, []);
});

test.serial("the page of an offer sends the number of reports that it showed", async (t) => {
  const [owner, reporter] = [await fixture.agent(), await fixture.agent()];
  const id = await fixture.publish(owner);
  const browser = browserOf(fixture.url, ana);
  const page = await browser.get(`${fixture.url}/admin/offers/${id}`);
  await reporter.call("POST", `/v1/offers/${id}/report`, { reason: "scam" });
  const answer = await browser.send(page, "Keep");
  t.is(answer.status, 409);
  t.regex(answer.text, /reported/);
});

test.serial("an offer of a deleted account cannot be restored, and its case is closed", async (t) => {
  const owner = await fixture.agent();
  const account = await fixture.accountOf(owner);
  const [waiting, gone] = [await fixture.publish(owner), await fixture.publish(owner)];
  const reporter = await fixture.agent();
  await reporter.call("POST", `/v1/offers/${waiting}/report`, { reason: "spam" });
  await ana.decide("removeOffer", gone, { reason: "spam" });
  await owner.call("POST", `/v1/offers/${gone}/appeal`, {});
  await fixture.sql(
    `select set_config('market.account_id', $1, true), set_config('role', 'souk_person', true), internal.erase_account()`,
    [account],
  );
  for (const id of [waiting, gone]) t.is((await ben.see(id, "reviewCase { queue }")).reviewCase, null);
  t.deepEqual(
    await fixture.sql("select completed_at is null as open from market.report where offer_id = $1", [waiting]),
    [{ open: false }],
  );
  const refused = await ben.decide("restoreOffer", gone);
  t.deepEqual(codes(refused), ["invalid_state"]);
  t.regex(messages(refused), /account .* was deleted/);
});

test.serial("invisible characters are removed from a moderator's sentences", async (t) => {
  const owner = await fixture.agent();
  const id = await fixture.publish(owner);
  await ana.decide("removeOffer", id, { reason: "spam", sentence: "Not\u202e here,\n\u200bplease.\u0007" });
  t.is((await fixture.offer(owner, id)).body.review, "Not here, please.");
  const other = await fixture.agent();
  await fixture.publish(other, SOFA);
  const input = { id: await fixture.accountOf(other), reason: "spam", sentence: "\u2066Go\u2069 away." };
  await ana.act("suspendAccount", input);
  const { permissions } = (await other.call("GET", "/v1/me")).body;
  t.is(permissions.publish_offer.summary, "This account is suspended by moderation. Go away.");
});
