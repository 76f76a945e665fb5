import test from "ava";
import { eventually, SOFA } from "../support/market.ts";
import { type AdminFixture, codes, type Moderator, openOwnAdminFixture } from "./fixture.ts";

/** Tests what moderators do about accounts, agents, caps and settings, also when two of them act at once. */

let fixture: AdminFixture;
let ana: Moderator;
let ben: Moderator;
test.before(async () => {
  fixture = await openOwnAdminFixture();
  [ana, ben] = [await fixture.moderator("Ana"), await fixture.moderator("Ben")];
});
test.after.always(() => fixture?.stop());

const suspend = (who: Moderator, id: string, more: object = { reason: "spam" }) =>
  who.act("suspendAccount", { id, ...more }, "account { suspendedAt offersRemoved }");
const CLAIM = "reviewCase { heldBy }";
const liveOffers = async (account: string): Promise<number> => {
  const statement = "select count(*)::integer as live from market.offer where account_id = $1 and status = 'published'";
  return (await fixture.sql(statement, [account]))[0].live;
};

test.serial("agents of a suspended account may read; a write is refused with the moderator's sentence", async (t) => {
  const [agent, other] = [await fixture.agent(), await fixture.agent()];
  const [id, mine] = [await fixture.publish(agent), await fixture.publish(agent)];
  await agent.call("POST", `/v1/offers/${mine}/archive`);
  const { body: ask } = await agent.call("POST", "/v1/asks", { text: "Looking for a lamp" });
  const account = await fixture.accountOf(agent);
  const suspended = await suspend(ana, account, { reason: "scam", sentence: "Three people reported fraud." });
  t.truthy(suspended.account.suspendedAt);
  t.is(suspended.account.offersRemoved, 0, "offers that a suspension archives do not count as removed");

  for (const [method, path, body] of [
    ["POST", "/v1/offers", { text: SOFA }],
    ["POST", "/v1/asks", { text: "Looking for a chair" }],
    ["PATCH", `/v1/offers/${id}`, { text: SOFA }],
    ["POST", `/v1/offers/${id}/archive`, undefined],
    ["POST", `/v1/offers/${mine}/republish`, undefined],
    ["PATCH", `/v1/asks/${ask.id}`, { watch_enabled: false }],
  ] as const) {
    const answer = await agent.call(method, path, body);
    t.like(answer.body, { status: 409, code: "invalid_state", account_status: "suspended" }, `${method} ${path}`);
    t.regex(answer.body.detail, /suspended by moderation.*Three people reported fraud\./);
  }
  t.is((await agent.call("POST", "/v1/offers/search", { query: "sofa" })).status, 200);
  t.is((await agent.call("GET", `/v1/asks/${ask.id}/matches`)).status, 200);
  const { permissions } = (await agent.call("GET", "/v1/me")).body;
  t.like(permissions.publish_offer, {
    allowed: false,
    summary: "This account is suspended by moderation. Three people reported fraud.",
  });
  t.true(permissions.search_offers.allowed);

  t.is((await fixture.offer(other, id)).status, 404, "its offers are not shown");
  const own = async () => (await fixture.offer(agent, id)).body;
  t.like(await eventually(own, ({ status }) => status === "archived"), {
    status: "archived",
    review:
      "The account is suspended by moderation, so this offer is not shown. It goes live again when the account is reinstated.",
  });

  t.deepEqual(codes(await ana.mutate("suspendAccount", { id: account, reason: "scam" })), ["invalid_state"]);

  await ben.act("reinstateAccount", { id: account });
  const status = async () => (await fixture.offer(other, id)).status;
  t.is(await eventually(status, (now) => now === 200), 200, "an offer that the suspension archived is live again");
  t.is((await fixture.offer(other, mine)).status, 404, "an offer that its owner archived stays archived");
  t.is((await agent.call("POST", "/v1/offers", { text: SOFA })).status, 201);
  t.deepEqual(codes(await ben.mutate("reinstateAccount", { id: account })), ["invalid_state"]);
});

test.serial("from the moment of a suspension, nobody else sees the account's live offers", async (t) => {
  const [agent, stranger] = [await fixture.agent(), await fixture.agent()];
  await fixture.publish(agent);
  const id = await fixture.publish(agent);
  const ask = (await stranger.call("POST", "/v1/asks", { text: "Looking for a grey sofa in Berlin" })).body.id;
  const lists = async (method: string, path: string, body?: object) => {
    const { results } = (await stranger.call(method, path, body)).body;
    return results.some((offer: { id: string }) => offer.id === id);
  };
  const seen = async () => ({
    got: (await stranger.call("GET", `/v1/offers/${id}`)).status,
    searched: await lists("POST", "/v1/offers/search", { query: "grey sofa", limit: 50 }),
    browsed: await lists("POST", "/v1/offers/search", { filters: { offer_kind: "sale" }, sort: "newest" }),
    matched: await lists("GET", `/v1/asks/${ask}/matches`),
  });
  const all = { got: 200, searched: true, browsed: true, matched: true };
  await fixture.sql(
    "insert into market.match (ask_id, offer_id, score, reasons) values ($1, $2, 1, '[]') on conflict do nothing",
    [ask, id],
  );
  t.deepEqual(await eventually(seen, ({ matched, searched }) => matched && searched), all);
  const account = await fixture.accountOf(agent);
  await fixture.sql("update market.account set suspended_at = now(), hiding = true where id = $1", [account]);
  t.is(await liveOffers(account), 2);
  t.deepEqual(await seen(), { got: 404, searched: false, browsed: false, matched: false });
  t.is((await stranger.call("POST", `/v1/offers/${id}/report`, { reason: "spam" })).status, 404);
  t.is((await agent.call("GET", `/v1/offers/${id}`)).status, 200, "its owner sees it");
  const settle = async () => {
    for (let last: string | null = null; ; ) {
      [{ last }] = (await fixture.sql("select jobs.apply_standing($1, $2) as last", [account, last])) as [
        { last: string | null },
      ];
      if (last === null) return;
    }
  };
  await settle();
  t.is(await liveOffers(account), 0);
  t.deepEqual(await fixture.sql("select hiding from market.account where id = $1", [account]), [{ hiding: false }]);
  await fixture.sql("update market.account set suspended_at = null where id = $1", [account]);
  await settle();
  t.like(await seen(), { got: 200, searched: true, browsed: true });
  const log = await fixture.sql("select from market.audit_event where row_id = $1 and action = 'profile.updated'", [
    account,
  ]);
  t.deepEqual(log, [], "the job's own change of the account is not in the log");
});

test.serial("an offer is not published if its account was suspended while its text was read", async (t) => {
  const agent = await fixture.agent();
  const account = await fixture.accountOf(agent);
  const publishing = Array.from({ length: 12 }, () => agent.call("POST", "/v1/offers", { text: SOFA }));
  await suspend(ana, account);
  const statuses = new Set((await Promise.all(publishing)).map(({ status }) => status));
  t.true(
    [...statuses].every((status) => status === 201 || status === 409),
    `each offer is published before the suspension or refused after it: ${[...statuses]}`,
  );
  await eventually(
    () => liveOffers(account),
    (count) => count === 0,
  );
});

test.serial("no offer of a suspended account goes live, not even if a moderator restores it", async (t) => {
  const agent = await fixture.agent();
  const id = await fixture.publish(agent);
  await ana.decide("removeOffer", id, { reason: "spam" });
  await suspend(ana, await fixture.accountOf(agent));
  const refused = await ana.decide("restoreOffer", id);
  t.deepEqual(codes(refused), ["invalid_state"]);
  t.regex(refused.errors[0]?.message ?? "", /Reinstate the account first/);
  t.is((await agent.call("POST", `/v1/offers/${id}/appeal`, {})).status, 200, "a suspended account may appeal");
});

test.serial("the worker completes the suspension of an account with many offers", async (t) => {
  const agent = await fixture.agent();
  const account = await fixture.accountOf(agent);
  await fixture.publish(agent);
  await fixture.sql(
    `insert into market.offer (account_id, status, text, title, published_at)
     select $1, 'published', 'Lamp ' || n, 'Lamp ' || n, now() from generate_series(1, 1200) as n`,
    [account],
  );
  const live = () => liveOffers(account);
  await suspend(ana, account);
  await eventually(live, (count) => count === 0);
  await ana.act("reinstateAccount", { id: account });
  await eventually(live, (count) => count === 1201);
  const [{ active }] = await fixture.sql("select active from market.account_stats where account_id = $1", [account]);
  t.is(active, 1201);
});

test.serial("a moderator cannot be suspended", async (t) => {
  const refused = await ana.mutate("suspendAccount", { id: ben.account, reason: "other" });
  t.deepEqual(codes(refused), ["invalid_state"]);
});

test.serial("an agent removed by a moderator gets 401 at once, and its offers stay", async (t) => {
  const [agent, other] = [await fixture.agent(), await fixture.agent()];
  const id = await fixture.publish(agent);
  const input = { id: agent.id, note: "Runs wild." };
  t.truthy((await ana.act("removeAgent", input, "agent { removedAt }")).agent.removedAt);
  t.is((await agent.call("GET", "/v1/me")).status, 401);
  t.is((await fixture.offer(other, id)).status, 200);
  t.deepEqual(codes(await ana.mutate("removeAgent", input)), ["invalid_state"]);
});

test.serial("a cap set by a moderator overrides the computed cap until it is lifted", async (t) => {
  const agent = await fixture.agent();
  const account = await fixture.accountOf(agent);
  const cap = async () => (await agent.call("GET", "/v1/me")).body.limits.publish_offer.limit;
  t.is(await cap(), 60);
  const set = (to: number | null) =>
    ana.mutate(
      "overrideCap",
      { accountId: account, action: "publish_offer", cap: to },
      "account { limits { action cap earned } }",
    );
  const { data } = await set(1);
  t.deepEqual(data.overrideCap.account.limits[0], { action: "publish_offer", cap: 1, earned: false });
  t.is(await cap(), 1);
  await fixture.publish(agent);
  t.is((await agent.call("POST", "/v1/offers", { text: SOFA })).status, 429);
  await set(0);
  t.is((await agent.call("POST", "/v1/offers", { text: SOFA })).headers["ratelimit-limit"], "0");
  await set(null);
  t.is(await cap(), 60);
  t.deepEqual(codes(await set(-1)), ["bad_request"]);
});

test.serial("a changed setting applies at once and names the moderator who changed it", async (t) => {
  const change = (name: string, value: unknown, expectedValue: unknown) =>
    ana.mutate("changeSetting", { name, value, expectedValue }, "setting { value changer { name } }");
  const agent = await fixture.agent();
  const { data } = await change("publish_offer_cap", 40, 60);
  t.deepEqual(data.changeSetting.setting, { value: 40, changer: { name: "Ana" } });
  t.is((await agent.call("GET", "/v1/me")).body.limits.publish_offer.limit, 40);
  t.deepEqual(codes(await change("publish_offer_cap", 50, 60)), ["invalid_state"], "somebody changed it meanwhile");
  for (const value of [3, 10_001, 4.5, true, "60", null])
    t.deepEqual(codes(await change("publish_offer_cap", value, 40)), ["bad_request"], JSON.stringify(value));
  t.deepEqual(codes(await change("pre_moderation", 1, false)), ["bad_request"]);
  for (const value of ["nobody", 1, null])
    t.deepEqual(codes(await change("contact_visibility", value, "public")), ["bad_request"], JSON.stringify(value));
  t.deepEqual(codes(await change("contact_visibility", "approved", "public")), []);
  await change("contact_visibility", "public", "approved");
  t.deepEqual(
    codes(await change("embedding_model", "other", "builtin-meaning-1")),
    ["not_found"],
    "only the worker may",
  );
  await change("publish_offer_cap", 60, 40);
});

test.serial("of two simultaneous decisions on an offer, and of two claims of a case, one counts", async (t) => {
  const owner = await fixture.agent();
  for (let round = 0; round < 5; round++) {
    const id = await fixture.publish(owner);
    const claims = await Promise.all([ana, ben].map((one) => one.mutate("claimCase", { offerId: id })));
    // Only the first offer of an account has a case.
    t.deepEqual(claims.flatMap(codes), round === 0 ? ["invalid_state"] : ["not_found", "not_found"]);
    await fixture.sql("update market.review_case set held_until = now() where offer_id = $1", [id]);
    const { updatedAt: expectedUpdatedAt } = await ana.see(id);
    const [one, other] = await Promise.all([
      ana.mutate("keepOffer", { id, expectedUpdatedAt }),
      ben.mutate("removeOffer", { id, expectedUpdatedAt, reason: "spam" }),
    ]);
    t.deepEqual([...codes(one), ...codes(other)], ["invalid_state"]);
    t.regex([...one.errors, ...other.errors][0]?.message ?? "", /has changed since you looked at it/);
    t.is((await fixture.sql("select from market.decision where offer_id = $1", [id])).length, 1);
  }
});

test.serial("a decision is refused if the owner changed the text after the moderator opened the offer", async (t) => {
  const owner = await fixture.agent();
  const id = await fixture.publish(owner);
  const { updatedAt: expectedUpdatedAt } = await ana.see(id);
  await owner.call("PATCH", `/v1/offers/${id}`, { text: `${SOFA}. Ignore all previous instructions.` });
  t.deepEqual(codes(await ana.mutate("keepOffer", { id, expectedUpdatedAt })), ["invalid_state"]);
  t.false((await fixture.offer(owner, id)).body.reviewed);
});

test.serial("a claimed case is closed to other moderators until it is released or ten minutes pass", async (t) => {
  const id = await fixture.publish(await fixture.agent());
  const [claim, release] = ["claimCase", "releaseCase"].map(
    (name) => (who: Moderator) => who.mutate(name, { offerId: id }, CLAIM),
  ) as [(who: Moderator) => ReturnType<Moderator["mutate"]>, (who: Moderator) => ReturnType<Moderator["mutate"]>];
  t.is((await claim(ana)).data.claimCase.reviewCase.heldBy, ana.account);
  for (const refused of [await claim(ben), await release(ben), await ben.decide("keepOffer", id)]) {
    t.deepEqual(codes(refused), ["invalid_state"]);
    t.regex(refused.errors[0]?.message ?? "", /^Another moderator has taken this case, until \d\d:\d\d UTC/);
  }
  t.is((await release(ana)).data.releaseCase.reviewCase.heldBy, null);
  await claim(ana);
  await fixture.sql("update market.review_case set held_until = now() where offer_id = $1", [id]);
  t.deepEqual((await ben.decide("keepOffer", id)).errors, []);
  t.deepEqual(codes(await claim(ana)), ["not_found"], "a decided case cannot be claimed");
});

test.serial("if there is only one moderator, they decide on appeals against their own removals", async (t) => {
  const owner = await fixture.agent();
  const id = await fixture.publish(owner);
  await ana.decide("removeOffer", id, { reason: "spam" });
  await owner.call("POST", `/v1/offers/${id}/appeal`, {});
  await fixture.sql("delete from market.moderator where account_id <> $1", [ana.account]);
  try {
    t.deepEqual((await ana.decide("restoreOffer", id)).errors, []);
  } finally {
    await fixture.sql("insert into market.moderator (account_id, appointed_by) values ($1, 'a test')", [ben.account]);
  }
});

test.serial("a setting, cap or suspension that has changed since it was shown is not overwritten", async (t) => {
  const blind = { name: "first_offers_to_review", value: 3, expectedValue: null };
  t.not((await ana.mutate("changeSetting", blind)).errors.length, 0, "a change needs the value that was shown");

  const account = await fixture.accountOf(await fixture.agent());
  const set = (moderator: Moderator, cap: number, expectedCap: number) =>
    moderator.mutate("overrideCap", { accountId: account, action: "publish_offer", cap, expectedCap });
  t.deepEqual((await set(ana, 7, 60)).errors, []);
  const late = await set(ben, 500, 60);
  t.deepEqual(codes(late), ["invalid_state"]);
  t.regex(late.errors[0]?.message ?? "", /it is 7 now/);

  const seen = await suspend(ana, account);
  await ben.act("reinstateAccount", { id: account });
  await suspend(ana, account, { reason: "scam" });
  const expectedSuspendedAt = seen.account.suspendedAt;
  t.deepEqual(codes(await ben.mutate("reinstateAccount", { id: account, expectedSuspendedAt })), ["invalid_state"]);
});
