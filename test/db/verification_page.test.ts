import { randomBytes } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, column, outcomeOf, refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";
import { type Begin, type Identity, randomEmail } from "./signing.ts";

/** What a person can do at an agent's verification link: read the page, prove the method, or cancel. */

const someone = (): Identity => ({ subject: randomBytes(8).toString("hex") });
const start = (caller: Caller, method = "google"): Promise<Answer> =>
  market.call(caller, "start_verification", { method, base_url: "https://souk.test" });
const read = (caller: Caller, id: string): Promise<Answer> =>
  market.call(caller, "get_verification", { id, base_url: "https://souk.test" });
const me = (caller: Caller): Promise<Answer> => market.call(caller, "get_me");
/** Starts a verification and returns the hash of the secret in its link. */
const linked = async (caller: Caller, method = "google"): Promise<{ id: string; link: Buffer }> => {
  const { id } = (await start(caller, method)).body;
  const [row] = await market.sql`select secret_hash from market.verification where id = ${id}`;
  return { id, link: row.secret_hash };
};
const look = (link: Buffer, session: Buffer | null = null): Promise<Answer> =>
  market.call(null, "get_verification_page", { secret_hash: link, session_hash: session });
const cancel = (link: Buffer, session: Buffer | null = null): Promise<Answer> =>
  market.call(null, "cancel_verification", { secret_hash: link, session_hash: session });
const goOn = (link: Buffer): Promise<Answer> => market.call(null, "continue_verification", { secret_hash: link });
const prove = (link: Buffer, identity: Identity = someone(), options: Begin = {}) =>
  people.signIn(identity, { ...options, verification: link });
const lapse = (id: string) => market.sql`update market.verification set expires_at = now() where id = ${id}`;
const row = async (id: string): Promise<Answer> =>
  (await market.sql`select * from market.verification where id = ${id}`)[0];

test.serial("the page shows which agent requests which method, and for which account", async (t) => {
  const caller = await market.connect("Helper");
  const { id, link } = await linked(caller);
  const before = await row(id);
  const { expires_in, ...page } = await look(link);
  t.deepEqual(page, {
    status: "pending",
    method: "google",
    agent_id: caller.agent,
    agent_name: "Helper",
    agent_removed: false,
    agent_connected: false,
    account_label: null,
    requires: "nothing",
    missing: null,
    mine: false,
    recovers: false,
  });
  t.true(expires_in > 1790 && expires_in <= 1800);
  t.deepEqual(await row(id), before, "looking changes nothing");
  t.is(await refused(look(randomBytes(32))), "404 not_found");
});

test.serial("proving the method completes the verification and signs the person in", async (t) => {
  const caller = await market.approved();
  const { id, link } = await linked(caller);
  const second = await market.connect();
  await market.approve(second, caller.session);
  const [sibling, other] = [await linked(second), await linked(second, "apple")];
  t.is((await me(caller)).limits.publish_offer.limit, 60);
  const { answer, session } = await prove(
    link,
    { ...someone(), email: "lena@example.com", name: "Lena" },
    { session: caller.session },
  );
  t.deepEqual(answer, {
    label: "lena@example.com",
    display_name: null,
    new_account: false,
    purpose: "add",
    added: true,
  });
  t.is(await people.accountOf(session), caller.account);
  const seen = await read(caller, id);
  t.deepEqual(seen, {
    id,
    method: "google",
    status: "completed",
    expires_in: 0,
    summary: "The method is proved. The limits of the account have risen.",
  });
  t.is((await read(second, sibling.id)).status, "completed", "a request of another agent completes too");
  t.is((await read(second, other.id)).status, "pending", "a request for another method stays pending");
  const { account, limits, pending_verifications } = await me(caller);
  t.deepEqual([account.verified, limits.publish_offer.limit], [["google"], 90]);
  t.deepEqual(column(pending_verifications, "method"), ["apple"]);
  t.deepEqual(await goOn(link), { status: "completed" });
});

test.serial("the link of an account with a method works only with that account's session", async (t) => {
  const caller = await market.connect();
  const { session } = await prove((await linked(caller)).link, { ...someone(), email: "lena@example.com" });
  const { link } = await linked(caller, "apple");
  const stranger = await people.signIn({ ...someone(), name: "Eve" });
  for (const other of [null, stranger.session, randomBytes(32)]) {
    const page = await look(link, other);
    t.deepEqual([page.requires, page.mine], ["session", false]);
    t.is(page.account_label, null, "the agent itself may open the page");
    t.is(await refused(prove(link, someone(), { method: "apple", session: other })), "401 unauthorized");
    t.is(await refused(cancel(link, other)), "401 unauthorized");
  }
  const page = await look(link, session);
  t.deepEqual([page.requires, page.mine, page.account_label], ["nothing", true, "lena@example.com"]);
  t.true((await prove(link, someone(), { method: "apple", session })).answer.added);
});

test.serial("after an approval the link works only in the approving browser, while it has a session", async (t) => {
  const caller = await market.connect();
  const { link } = await linked(caller);
  const early = await people.begin({ method: "google", verification: link });
  await market.approve(caller);
  const { missing, requires } = await look(link);
  t.deepEqual([missing, requires], ["browser", "session"]);
  for (const act of [prove(link), cancel(link), people.finish(early, "google", someone())]) {
    const { status, detail } = await refusal(act);
    t.is(status, 409);
    t.regex(detail, /in the browser in which you approved/);
  }
  t.deepEqual((await me(caller)).account.verified, []);
  const { missing: nothing, mine } = await look(link, caller.session);
  t.deepEqual([nothing, mine], [null, true]);
  t.true((await prove(link, someone(), { session: caller.session })).answer.added);
});

test.serial("a link does not sign a person out of another account", async (t) => {
  const caller = await market.connect();
  const { link } = await linked(caller);
  const attempt = await people.begin({ method: "google", verification: link });
  const person = await people.signIn(someone());
  const page = await look(link, person.session);
  t.deepEqual([page.requires, page.missing, page.mine], ["session", "sign_out", false]);
  for (const act of [
    prove(link, someone(), { session: person.session }),
    cancel(link, person.session),
    people.finish(attempt, "google", someone(), person.session),
  ]) {
    const { status, detail } = await refusal(act);
    t.is(status, 409);
    t.regex(detail, /signed in to another account.*Sign out/);
  }
  t.truthy(await people.viewer(person.session), "the person stays signed in");
  t.true((await prove(link)).answer.added);
});

test.serial("proving through a link needs a recent sign-in, as in the settings", async (t) => {
  const caller = await market.connect();
  const { session } = await prove((await linked(caller)).link);
  const { link } = await linked(caller, "apple");
  await people.grow(session);
  const { status, extra } = await refusal(prove(link, someone(), { method: "apple", session }));
  t.deepEqual([status, extra], [401, { sign_in_again: true }]);
});

test.serial("an attempt begun before the account had a method needs the account's session to finish", async (t) => {
  const caller = await market.connect();
  const [google, apple] = [await linked(caller), await linked(caller, "apple")];
  const attempt = await people.begin({ method: "apple", verification: apple.link });
  const { session } = await prove(google.link);
  t.is(await refused(people.finish(attempt, "apple", someone())), "401 unauthorized");
  t.true((await people.finish(attempt, "apple", someone(), session)).answer.added);
});

test.serial("a method that proves another account is refused, and the link stays open", async (t) => {
  const taken = someone();
  await people.signIn(taken);
  const caller = await market.connect();
  const { id, link } = await linked(caller);
  const { status, detail } = await refusal(prove(link, taken));
  t.is(status, 409);
  t.regex(detail, /belongs to another account\. Sign in with it there and remove it/);
  t.is((await read(caller, id)).status, "pending");
  t.true((await prove(link)).answer.added);
});

test.serial("a link proves only the method that the agent requested", async (t) => {
  const { link } = await linked(await market.connect());
  const { status, detail } = await refusal(people.begin({ method: "apple", verification: link }));
  t.deepEqual([status, detail], [400, "Your agent asked for Google. Continue with that."]);
});

test.serial("a link can be proved by mail, but not after the link has expired", async (t) => {
  const caller = await market.connect();
  const { id, link } = await linked(caller, "email");
  await market.sql`update market.verification set expires_at = now() + interval '2 minutes' where id = ${id}`;
  const email = randomEmail();
  const attempt = await people.begin({ email, verification: link });
  const { expires_in } = await market.call(null, "get_sign_in", { flow_hash: attempt.flow });
  t.true(expires_in <= 120);
  await people.finishMail(attempt, { code: attempt.code });
  t.is((await read(caller, id)).status, "completed");
  t.deepEqual((await me(caller)).account.verified, [], "nobody has approved the agent, so it learns no more than that");
});

test.serial('"Not now" cancels a verification for good, and is idempotent', async (t) => {
  const caller = await market.connect();
  const { id, link } = await linked(caller);
  const attempt = await people.begin({ method: "google", verification: link });
  t.is(await refused(goOn(link)), "409 verification_incomplete");
  t.deepEqual([await cancel(link), await cancel(link)], [{}, {}]);
  t.is((await read(caller, id)).status, "cancelled");
  t.deepEqual(await goOn(link), { status: "cancelled" });
  t.is(await refused(prove(link)), "409 invalid_state");
  t.is(await refused(people.finish(attempt, "google", someone())), "409 invalid_state");
  t.deepEqual((await me(caller)).account.verified, []);
  t.is((await start(caller)).status, 201, "the agent may ask again");
});

test.serial("an expired link can neither prove nor cancel", async (t) => {
  const caller = await market.connect();
  const { id, link } = await linked(caller);
  const attempt = await people.begin({ method: "google", verification: link });
  await lapse(id);
  t.deepEqual([(await look(link)).status, (await look(link)).expires_in], ["expired", 0]);
  for (const act of [prove(link), cancel(link), people.finish(attempt, "google", someone())])
    t.is(await refused(act), "410 link_expired");
  t.deepEqual(await goOn(link), { status: "expired" });
  t.is(await refused(cancel(randomBytes(32))), "404 not_found");
  t.is(await refused(goOn(randomBytes(32))), "404 not_found");
  t.is(await refused(prove(randomBytes(32))), "404 not_found");
});

test.serial("proving the method elsewhere completes pending verifications, and leaves expired ones", async (t) => {
  const caller = await market.approved();
  const [google, apple] = [await linked(caller), await linked(caller, "apple")];
  await lapse(apple.id);
  const added = await people.signIn(someone(), { purpose: "add", session: caller.session });
  await people.signIn(someone(), { method: "apple", purpose: "add", session: added.session });
  t.deepEqual(
    [(await read(caller, google.id)).status, (await read(caller, apple.id)).status],
    ["completed", "expired"],
  );
  t.is(await refused(prove(google.link)), "409 invalid_state");
});

test.serial("of cancelling and proving at the same time only one takes effect", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const caller = await market.connect();
    const { id, link } = await linked(caller);
    const attempt = await people.begin({ method: "google", verification: link });
    const outcomes = await Promise.all([
      outcomeOf(cancel(link)),
      outcomeOf(people.finish(attempt, "google", someone())),
    ]);
    t.is(outcomes.filter((outcome) => outcome === "done").length, 1, outcomes.join());
    const proved = await market.sql`select method from market.proved_method where account_id = ${caller.account}`;
    t.deepEqual(
      [(await read(caller, id)).status, proved],
      outcomes[0] === "done" ? ["cancelled", []] : ["completed", [{ method: "google" }]],
    );
  }
});

test.serial("removing an agent cancels its pending links, and expired ones stay expired", async (t) => {
  const caller = await market.approved();
  const [google, apple] = [await linked(caller), await linked(caller, "apple")];
  await lapse(apple.id);
  await market.callAsPerson(caller, "remove_agent", { agent_id: caller.agent });
  t.deepEqual([(await row(google.id)).status, (await row(apple.id)).status], ["cancelled", "expired"]);
  t.is(await refused(prove(google.link)), "409 invalid_state");
});

test.serial("a request for a method that is already proved returns a stored completed verification", async (t) => {
  const caller = await market.approved();
  await people.signIn(someone(), { purpose: "add", session: caller.session });
  const answers = [await start(caller), await start(caller)];
  const { id } = answers[0].body;
  for (const { status, body } of answers) {
    t.is(status, 200);
    t.deepEqual(body, {
      id,
      method: "google",
      status: "completed",
      expires_in: 0,
      summary: "The account has proved this method already.",
    });
    const { summary, ...found } = await read(caller, body.id);
    t.deepEqual({ ...found, summary: body.summary }, body);
    t.regex(summary, /^The method is proved/);
  }
  t.is((await market.sql`select from market.verification where agent_id = ${caller.agent}`).length, 1);
});

test.serial("a request while the method is being proved leaves no pending verification", async (t) => {
  for (let round = 0; round < 12; round += 1) {
    const caller = await market.connect();
    const { link } = await linked(caller);
    const attempt = await people.begin({ method: "google", verification: link });
    const [{ status, body }] = await Promise.all([start(caller), people.finish(attempt, "google", someone())]);
    t.true([200, 201].includes(status));
    t.is((await read(caller, body.id)).status, "completed");
    t.deepEqual((await me(caller)).pending_verifications, []);
  }
});
