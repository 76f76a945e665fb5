import { randomBytes } from "node:crypto";
import test from "ava";
import { type Answer, column, outcomeOf, refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";
import { type Attempt, type Begin, type Identity, randomEmail } from "./signing.ts";

/** Signing in: an attempt works once, in the browser that began it, for one account, also under concurrency. */

const begin = (options?: Begin) => people.begin(options);
const signIn = (identity: Identity, options?: Begin) => people.signIn(identity, options);
const status = (attempt: Attempt): Promise<Answer> => market.call(null, "get_sign_in", { flow_hash: attempt.flow });
const openMail = (link: Buffer, flow: Buffer | null): Promise<Answer> =>
  market.call(null, "get_mail_link", { link_hash: link, flow_hash: flow });
const subject = (): string => randomBytes(8).toString("hex");
const methodsOf = (account: string | null): Promise<Answer[]> =>
  market.sql`select method, email from market.proved_method where account_id = ${account} order by method`;

test.serial("a provider's identity is accepted once, and only in the browser that began", async (t) => {
  const attempt = await begin({ method: "google" });
  t.is(await refused(people.finish({ flow: randomBytes(32) }, "google", { subject: subject() })), "409 invalid_state");
  t.true((await people.finish(attempt, "google", { subject: subject() })).answer.new_account);
  t.is(await refused(people.finish(attempt, "google", { subject: subject() })), "409 invalid_state");
});

test.serial("an attempt ends after fifteen minutes", async (t) => {
  const [mail, google] = [await begin(), await begin({ method: "google" })];
  for (const { flow } of [mail, google])
    await market.sql`update market.sign_in set expires_at = now() where flow_hash = ${flow}`;
  t.is(await refused(status(mail)), "404 not_found");
  t.is(await refused(openMail(mail.link, mail.flow)), "410 link_expired");
  t.is(await refused(people.finishMail(mail, { code: mail.code })), "410 link_expired");
  t.is(await refused(people.finish(google, "google", { subject: subject() })), "409 invalid_state");
});

test.serial("an attempt can be finished only with the method that it began with", async (t) => {
  const [mail, google] = [await begin(), await begin({ method: "google" })];
  t.is(await refused(people.finish(google, "apple", { subject: subject() })), "409 invalid_state");
  t.is(await refused(people.finish(mail, "email", { subject: "lena@example.com" })), "409 invalid_state");
  t.is(await refused(people.finish(mail, "google", { subject: subject() })), "409 invalid_state");
  t.is(await refused(people.finishMail(google, { code: google.code })), "410 link_expired");
  t.is(await refused(people.finish(google, "google", { subject: "" })), "400 bad_request");
});

test.serial("an unavailable method or an unknown purpose cannot begin an attempt", async (t) => {
  await market.call(null, "offer_methods", { methods: ["google", "email"] });
  const { status: code, code: slug, extra } = await refusal(begin({ method: "apple" }));
  t.deepEqual([code, slug, extra], [400, "unknown_method", { options: ["google", "email"] }]);
  t.is(await refused(begin({ purpose: "take_over" as "add" })), "400 bad_request");
  await market.call(null, "offer_methods", { methods: ["google", "apple", "email"] });
});

test.serial("a provider's subject keeps its account and original name, whatever its e-mail address", async (t) => {
  const lena = subject();
  const first = await signIn({ subject: lena, email: "Lena@Example.com", name: " Le\u202ena\u0007 " });
  t.deepEqual(first.answer, {
    label: "Lena (lena@example.com)",
    display_name: "Lena",
    new_account: true,
    purpose: "sign_in",
    added: true,
  });
  const second = await signIn({ subject: lena, email: "lena@new.example", name: "Somebody Else" });
  t.deepEqual(second.answer, {
    label: "Lena (lena@new.example)",
    display_name: "Lena",
    new_account: false,
    purpose: "sign_in",
    added: false,
  });
  t.is(await people.accountOf(second.session), await people.accountOf(first.session));
  const third = await signIn({ subject: lena, email: null });
  t.is(third.answer.label, "Lena", "an address that the provider no longer confirms is deleted");
  t.deepEqual(await methodsOf(await people.accountOf(third.session)), [{ method: "google", email: null }]);
});

test.serial("an account without a name and an e-mail address is labelled by its method", async (t) => {
  const { answer } = await signIn({ subject: subject(), name: "\u200b " }, { method: "apple" });
  t.deepEqual([answer.display_name, answer.label], [null, "the account that you sign in to with Apple"]);
});

test.serial("a name that is too long is cut, and an invalid address is not stored", async (t) => {
  const { answer, session } = await signIn({
    subject: subject(),
    name: "🛋".repeat(81),
    email: "a@b\r\nBcc: c@d.example",
  });
  t.is(answer.display_name, "🛋".repeat(80));
  t.deepEqual(await methodsOf(await people.accountOf(session)), [{ method: "google", email: null }]);
});

test.serial("equal e-mail addresses never join two accounts, nor do equal subjects of two providers", async (t) => {
  const [email, same] = [randomEmail(), subject()];
  const mail = await begin({ email });
  const accounts = [
    await people.finishMail(mail, { link: mail.link }),
    await signIn({ subject: same, email }),
    await signIn({ subject: same, email }, { method: "apple" }),
    await signIn({ subject: email, email }),
  ];
  for (const { answer } of accounts) t.true(answer.new_account);
  t.is(new Set(await Promise.all(accounts.map(({ session }) => people.accountOf(session)))).size, 4);
});

test.serial("a new person who finishes in several tabs gets one account", async (t) => {
  const identity = { subject: subject(), email: randomEmail() };
  const attempts = await Promise.all(Array.from({ length: 6 }, () => begin({ method: "google" })));
  const finished = await Promise.all(attempts.map((attempt) => people.finish(attempt, "google", identity)));
  t.is(finished.filter(({ answer }) => answer.new_account).length, 1);
  t.is(new Set(await Promise.all(finished.map(({ session }) => people.accountOf(session)))).size, 1);
});

test.serial("every sign-in creates a new session and ends the browser's former one", async (t) => {
  const identity = { subject: subject() };
  const first = await signIn(identity);
  const elsewhere = await signIn(identity);
  const second = await signIn(identity, { session: first.session });
  t.is(await people.viewer(first.session), null);
  t.truthy(await people.viewer(second.session));
  t.truthy(await people.viewer(elsewhere.session), "other browsers stay signed in");
  const planted = await market.approved();
  const victim = await signIn({ subject: subject() }, { session: planted.session, leave: true });
  t.true(victim.answer.new_account, "a new person gets a new account, whatever session the browser had");
  t.is(await people.viewer(planted.session), null);
  t.deepEqual(await methodsOf(planted.account), []);
});

test.serial("a person can add methods to their account", async (t) => {
  const google = { subject: subject(), email: randomEmail() };
  const first = await signIn({ ...google, name: "Lena" });
  const added = await signIn(
    { subject: subject(), email: randomEmail(), name: "Other Name" },
    { method: "apple", purpose: "add", session: first.session },
  );
  t.deepEqual(added.answer, {
    label: `Lena (${google.email})`,
    display_name: "Lena",
    new_account: false,
    purpose: "add",
    added: true,
  });
  t.is(await people.viewer(first.session), null, "adding a method also creates a new session");
  const email = randomEmail();
  const mail = await begin({ email, purpose: "add", session: added.session });
  const third = await people.finishMail(mail, { code: mail.code }, added.session);
  t.deepEqual(column((await people.viewer(third.session)).methods, "method"), ["google", "apple", "email"]);
  const again = await signIn({ ...google, email }, { purpose: "add", session: third.session });
  t.deepEqual([again.answer.added, again.answer.label], [false, `Lena (${email})`]);
});

test.serial("adding a method needs a recent sign-in when it begins and when it finishes", async (t) => {
  const { session } = await signIn({ subject: subject() });
  const mail = await begin({ purpose: "add", session });
  await people.grow(session);
  for (const act of [
    begin({ method: "apple", purpose: "add", session }),
    people.finishMail(mail, { code: mail.code }, session),
  ]) {
    const { status: code, extra } = await refusal(act);
    t.deepEqual([code, extra], [401, { sign_in_again: true }]);
  }
  const methods = (await people.viewer(session)).methods.map(({ method }: Answer) => method);
  t.deepEqual(methods, ["google"]);
});

test.serial("an account's first method ends its other sessions, and a second method does not", async (t) => {
  const caller = await market.approved();
  const second = randomBytes(32);
  await market.sql`insert into market.session (account_id, secret_hash) values (${caller.account}, ${second})`;
  const { session } = await signIn({ subject: subject() }, { purpose: "add", session: caller.session });
  t.is(await people.viewer(second), null, "a session from before the first method ends");
  await market.sql`insert into market.session (account_id, secret_hash) values (${caller.account}, ${second})`;
  await signIn({ subject: subject() }, { method: "apple", purpose: "add", session });
  t.truthy(await people.viewer(second));
});

test.serial("a finished attempt stores no e-mail address", async (t) => {
  const mail = await begin();
  await people.finishMail(mail, { code: mail.code });
  const [kept] = await market.sql`select email, finished_at is not null as finished from market.sign_in
    where flow_hash = ${mail.flow}`;
  t.deepEqual(kept, { email: null, finished: true });
  t.is(await refused(openMail(mail.link, mail.flow)), "410 link_expired", "its link is refused as expired");
});

test.serial("adding a method needs a session", async (t) => {
  t.is(await refused(begin({ purpose: "add" })), "401 unauthorized");
  t.is(await refused(begin({ purpose: "add", session: randomBytes(32) })), "401 unauthorized");
});

test.serial("a method of another account is refused with instructions, and nothing is merged", async (t) => {
  const taken = { subject: subject() };
  const owner = await signIn(taken);
  const other = await signIn({ subject: subject() }, { method: "apple" });
  const before = await market.sql("select * from market.proved_method order by account_id, method");
  const { status: code, code: slug, detail } = await refusal(signIn(taken, { purpose: "add", session: other.session }));
  t.deepEqual([code, slug], [409, "invalid_state"]);
  t.is(
    detail,
    "This Google sign-in belongs to another account. Sign in with it there and remove it from that account, or use another one here. Accounts are never merged.",
  );
  t.deepEqual(await market.sql("select * from market.proved_method order by account_id, method"), before);
  t.truthy(await people.viewer(other.session), "the person stays signed in");
  t.truthy(await people.viewer(owner.session));
});

test.serial("an account has only one subject of each provider", async (t) => {
  const { session } = await signIn({ subject: subject() });
  const second = await refusal(signIn({ subject: subject() }, { purpose: "add", session }));
  t.deepEqual([second.status, second.code], [409, "invalid_state"]);
  t.regex(second.detail, /has another Google sign-in already/);
});

test.serial("adding a method fails if the browser has signed out or changed accounts meanwhile", async (t) => {
  const first = await signIn({ subject: subject() });
  const account = await people.accountOf(first.session);
  const attempt = await begin({ method: "apple", purpose: "add", session: first.session });
  const other = await signIn({ subject: subject() });
  for (const session of [null, other.session, randomBytes(32)]) {
    t.is(await refused(people.finish(attempt, "apple", { subject: subject() }, session)), "409 invalid_state");
  }
  t.is((await methodsOf(account)).length, 1);
  t.true((await people.finish(attempt, "apple", { subject: subject() }, first.session)).answer.added);
});

test.serial("a subject that is added to several accounts at once is added to one of them", async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const identity = { subject: subject() };
    const attempts = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { session } = await signIn({ subject: subject() });
        return { session, attempt: await begin({ method: "apple", purpose: "add", session }) };
      }),
    );
    const outcomes = await Promise.all([
      ...attempts.map(({ attempt, session }) => outcomeOf(people.finish(attempt, "apple", identity, session))),
    ]);
    t.deepEqual(outcomes.sort(), ["done", "invalid_state", "invalid_state", "invalid_state"]);
  }
});

test.serial("of several subjects of a provider that are added to one account at once, one is added", async (t) => {
  const { session } = await signIn({ subject: subject() });
  const account = await people.accountOf(session);
  const attempts = await Promise.all(
    Array.from({ length: 4 }, () => begin({ method: "apple", purpose: "add", session })),
  );
  const outcomes = await Promise.all(
    attempts.map((attempt) => outcomeOf(people.finish(attempt, "apple", { subject: subject() }, session))),
  );
  t.is(outcomes.filter((outcome) => outcome === "done").length, 1, outcomes.join());
  t.is((await methodsOf(account)).length, 2);
});

test.serial("a sign-in during the deletion of its account gets a new account or a refusal", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const identity = { subject: subject() };
    const { session } = await signIn(identity);
    const account = await people.accountOf(session);
    const [back, add] = [await begin({ method: "google" }), await begin({ method: "apple", purpose: "add", session })];
    const [, signedIn, added, begun] = await Promise.all([
      market.sql`delete from market.account where id = ${account}`,
      outcomeOf(people.finish(back, "google", identity)),
      outcomeOf(people.finish(add, "apple", { subject: subject() }, session)),
      outcomeOf(begin({ method: "apple", purpose: "add", session })),
    ]);
    t.is(signedIn, "done");
    t.true(["done", "invalid_state"].includes(added), added);
    t.true(["done", "unauthorized"].includes(begun), begun);
    t.deepEqual(await market.sql`select from market.proved_method where account_id = ${account}`, []);
    t.is(await people.viewer(session), null);
  }
});

test.serial("a sign-in during the removal of its method gets the old account or a new one", async (t) => {
  for (let round = 0; round < 8; round += 1) {
    const identity = { subject: subject() };
    const { session } = await signIn(identity);
    const account = await people.accountOf(session);
    const attempt = await begin({ method: "google" });
    const [, { answer }] = await Promise.all([
      market.sql`delete from market.proved_method where account_id = ${account}`,
      people.finish(attempt, "google", identity),
    ]);
    t.is(answer.new_account, answer.added);
  }
});

test.serial("a flow can begin only once", async (t) => {
  const flow = randomBytes(32);
  const start = () =>
    market.call(null, "start_sign_in", {
      flow_hash: flow,
      method: "google",
      purpose: "sign_in",
      session_hash: null,
      verification_hash: null,
      email: null,
      link_hash: null,
      code_hashes: null,
      address: "192.0.2.1",
    });
  await start();
  t.is(await refused(start()), "409 invalid_state");
});

test.serial("offer_methods makes exactly the given methods available, also under concurrency", async (t) => {
  const offered = async () =>
    (await market.sql("select method from market.sign_in_method where available order by position")).map(
      ({ method }) => method,
    );
  const offer = (methods: string[]) => market.call(null, "offer_methods", { methods });
  for (const methods of [["email"], [], ["google", "apple"], ["google", "apple", "email"]]) {
    t.deepEqual(await offer(methods), {});
    t.deepEqual(await offered(), methods);
  }
  const versions = () => market.sql("select xmin::text, ctid::text from market.sign_in_method order by method");
  const before = await versions();
  await offer(["email", "apple", "google"]);
  t.deepEqual(await versions(), before, "nothing is written when nothing changes");
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 6 }, () => offer(round % 2 ? ["google", "apple", "email"] : ["apple"])));
  }
  t.deepEqual(await offered(), ["apple"]);
  t.is(await refused(offer(["email", "facebook"])), "400 unknown_method");
  t.deepEqual(await offered(), ["apple"]);
  await offer(["google", "apple", "email"]);
});
