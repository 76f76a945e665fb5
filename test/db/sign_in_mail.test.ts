import { randomBytes } from "node:crypto";
import test from "ava";
import { type Answer, outcomeOf, refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";
import { type Attempt, type Begin, randomEmail } from "./signing.ts";

/**
 * Signing in by mail. The mail has a link and a code. Only one of them works, only once, and only in the browser that
 * began the sign-in. The number of tries is limited.
 */

const begin = (options?: Begin) => people.begin(options);
const status = (attempt: Attempt): Promise<Answer> => market.call(null, "get_sign_in", { flow_hash: attempt.flow });
const openMail = (link: Buffer, flow: Buffer | null): Promise<Answer> =>
  market.call(null, "get_mail_link", { link_hash: link, flow_hash: flow });
test.serial("a mailed link signs a new person in, with a new account", async (t) => {
  const email = randomEmail();
  const attempt = await begin({ email });
  t.deepEqual(await status(attempt), {
    method: "email",
    email,
    code_digits: 6,
    expires_in: 900,
    tries_left: 5,
    finished: false,
  });
  const { answer, session } = await people.finishMail(attempt, { link: attempt.link });
  t.deepEqual(answer, { label: email, display_name: null, new_account: true, purpose: "sign_in", added: true });
  t.deepEqual(await people.viewer(session), {
    display_name: null,
    label: email,
    methods: [{ method: "email", email }],
    signed_in_seconds_ago: 0,
  });
  const [account] = await market.sql`select claimed_at is not null as claimed from market.account
    where id = ${await people.accountOf(session)}`;
  t.true(account.claimed);
  t.true((await status(attempt)).finished);
});

test.serial("a mailed code signs in too, and the next sign-in gets the same account", async (t) => {
  const email = randomEmail();
  const first = await begin({ email });
  const { session } = await people.finishMail(first, { code: first.code });
  const second = await begin({ email: ` ${email.toUpperCase()}\n` });
  const again = await people.finishMail(second, { code: second.code });
  t.deepEqual(again.answer, { label: email, display_name: null, new_account: false, purpose: "sign_in", added: false });
  t.is(await people.accountOf(again.session), await people.accountOf(session));
});

test.serial("exactly one of link and code must be given", async (t) => {
  const attempt = await begin();
  for (const [link_hash, code_hash] of [
    [null, null],
    [attempt.link, attempt.code],
  ]) {
    const finish = market.call(null, "finish_mail_sign_in", {
      flow_hash: attempt.flow,
      link_hash: link_hash ?? null,
      code_hash: code_hash ?? null,
      session_hash: null,
      new_session_hash: randomBytes(32),
    });
    t.is(await refused(finish), "400 bad_request");
  }
});

for (const by of ["link", "code"] as const) {
  test.serial(`after the ${by} was used, neither link nor code works again`, async (t) => {
    const attempt = await begin();
    await people.finishMail(attempt, by === "link" ? { link: attempt.link } : { code: attempt.code });
    t.is(await refused(people.finishMail(attempt, { link: attempt.link })), "410 link_expired");
    t.is(await refused(people.finishMail(attempt, { code: attempt.code })), "410 link_expired");
    t.is(await refused(openMail(attempt.link, attempt.flow)), "410 link_expired");
  });
}

test.serial("a wrong code counts as a try, and after five neither the code nor the link works", async (t) => {
  const attempt = await begin();
  for (const tries_left of [4, 3, 2, 1, 0]) {
    t.deepEqual((await people.finishMail(attempt, { code: randomBytes(32) })).answer, { wrong_code: true, tries_left });
    t.is((await status(attempt)).tries_left, tries_left);
  }
  t.is(await refused(people.finishMail(attempt, { code: attempt.code })), "410 link_expired");
  t.is(await refused(people.finishMail(attempt, { link: attempt.link })), "410 link_expired");
  t.is(await refused(openMail(attempt.link, attempt.flow)), "410 link_expired");
});

test.serial("the fifth try may succeed", async (t) => {
  const attempt = await begin();
  for (let n = 0; n < 4; n += 1) await people.finishMail(attempt, { code: randomBytes(32) });
  t.true((await people.finishMail(attempt, { code: attempt.code })).answer.new_account);
});

test.serial("concurrent wrong codes are counted one by one", async (t) => {
  const attempt = await begin();
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, () => outcomeOf(people.finishMail(attempt, { code: randomBytes(32) }))),
  );
  t.deepEqual(outcomes.sort(), [...Array(5).fill("done"), ...Array(7).fill("link_expired")]);
});

/** Forgets all wrong codes, so that a test has the windows of a quiet day. */
const quietDay = () => market.sql("delete from market.rate_limit_hit where action like 'wrong_code%'");
/** Fills a window with wrong codes of others. */
const othersWrong = (scope: string, digits: number, n: number) =>
  market.sql`insert into market.rate_limit_hit (scope, action) select ${scope}, 'wrong_code_' || ${digits}::text
    from generate_series(1, ${n})`;
const networkScope = (address: string) => `address:${address}`;
const guess = (attempt: Attempt, address?: string) =>
  outcomeOf(people.finishMail(attempt, { code: randomBytes(32) }, null, address));
const digitsOf = async (attempt: Attempt): Promise<number> => (await status(attempt)).code_digits;
const tally = (outcomes: string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(outcomes, (one) => one)].map(([one, all]) => [one, all.length]));

test.serial("from one network exactly ten wrong six-digit codes are tried in a day, also concurrently", async (t) => {
  await quietDay();
  const address = "192.0.2.31";
  const attempts = await Promise.all(Array.from({ length: 16 }, () => begin()));
  const outcomes = await Promise.all(attempts.map((attempt) => guess(attempt, address)));
  t.deepEqual(tally(outcomes), { done: 10, rate_limited: 6 });
  const {
    status: code,
    detail,
    extra,
  } = await refusal(people.finishMail(attempts[0] as Attempt, { code: (attempts[0] as Attempt).code }, null, address));
  t.is(code, 429, "the right code is refused without being compared, so it cannot be told from a wrong one");
  t.true(detail.includes("Open the link from the message in this browser, or start again"), detail);
  t.true(extra.retry_after > 86_000 && extra.retry_after <= 86_400);
  t.is(await guess(attempts[1] as Attempt, "192.0.2.32"), "done", "other networks are not concerned");
});

test.serial("a person in an attacker's network signs in by the link, or by a new mail's longer code", async (t) => {
  await quietDay();
  const address = "192.0.2.33";
  const mine = await begin({ address });
  await othersWrong(networkScope(address), 6, 10);
  t.is(await outcomeOf(people.finishMail(mine, { code: mine.code }, null, address)), "rate_limited");
  t.is((await status(mine)).tries_left, 5, "a refused code is no try");
  t.is(await outcomeOf(people.finishMail(mine, { link: mine.link }, null, address)), "done");
  const next = await begin({ address });
  t.is(await digitsOf(next), 9);
  t.deepEqual((await people.finishMail(next, { code: randomBytes(32) }, null, address)).answer, {
    wrong_code: true,
    tries_left: 4,
  });
  t.is(await outcomeOf(people.finishMail(next, { code: next.code }, null, address)), "done");
});

test.serial("whoever guesses at a mailbox makes its next code longer, and does not lock its person out", async (t) => {
  await quietDay();
  const email = randomEmail();
  const attempts = await Promise.all(Array.from({ length: 6 }, () => begin({ email })));
  const own = await begin({ email });
  const outcomes = await Promise.all(attempts.flatMap((attempt) => Array.from({ length: 5 }, () => guess(attempt))));
  t.deepEqual(tally(outcomes), { done: 20, rate_limited: 10 });
  t.is(await outcomeOf(people.finishMail(own, { code: own.code })), "rate_limited");
  t.is(await outcomeOf(people.finishMail(own, { link: own.link })), "done");
  const next = await begin({ email });
  t.is(await digitsOf(next), 9);
  t.is(await outcomeOf(people.finishMail(next, { code: next.code })), "done");
  t.is(await digitsOf(await begin()), 6, "other mailboxes are not concerned");
});

test.serial("from all networks together exactly a hundred wrong six-digit codes are tried in a day", async (t) => {
  await quietDay();
  await othersWrong("service", 6, 49);
  t.is(await digitsOf(await begin()), 6);
  const attempts = await Promise.all(Array.from({ length: 12 }, () => begin()));
  const own = await begin();
  await othersWrong("service", 6, 42);
  t.is(await digitsOf(await begin()), 9, "new codes are longer before the present ones stop working");
  t.deepEqual(tally(await Promise.all(attempts.map((attempt) => guess(attempt)))), { done: 9, rate_limited: 3 });
  t.is(await outcomeOf(people.finishMail(own, { code: own.code })), "rate_limited");
  t.is(await outcomeOf(people.finishMail(own, { link: own.link })), "done");
  const next = await begin();
  t.is(await digitsOf(next), 9);
  t.is(await outcomeOf(people.finishMail(next, { code: next.code })), "done");
});

test.serial("after many wrong nine-digit codes a code has twelve, which the service never refuses", async (t) => {
  await quietDay();
  await othersWrong("service", 6, 100);
  const nine = await begin();
  await othersWrong("service", 9, 10_000);
  t.is(await outcomeOf(people.finishMail(nine, { code: nine.code })), "rate_limited");
  const twelve = await begin();
  t.is(await digitsOf(twelve), 12);
  t.is(await guess(twelve), "done");
  t.is(await outcomeOf(people.finishMail(twelve, { code: twelve.code })), "done");

  const address = "192.0.2.34";
  const crowded = await begin({ address });
  await othersWrong(networkScope(address), 12, 100);
  const { detail, extra } = await refusal(people.finishMail(crowded, { code: crowded.code }, null, address));
  t.regex(detail, /Open the link from the message in this browser, or try again in 60 minutes\./);
  t.true(extra.retry_after > 3_570 && extra.retry_after <= 3_600);
  t.is(await outcomeOf(people.finishMail(crowded, { link: crowded.link }, null, address)), "done");
  await quietDay();
});

test.serial("concurrent clicks on a link sign in once", async (t) => {
  const email = randomEmail();
  const attempt = await begin({ email });
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => outcomeOf(people.finishMail(attempt, { link: attempt.link }))),
  );
  t.deepEqual(outcomes.sort(), ["done", ...Array(5).fill("link_expired")]);
  const sessions = await market.sql`select from market.session s join market.proved_method p on p.account_id
    = s.account_id where p.email = ${email}`;
  t.is(sessions.length, 1);
});

test.serial("a link that is opened in another browser signs nobody in, and the response says so", async (t) => {
  const [mine, other] = [await begin(), await begin()];
  t.deepEqual(await openMail(mine.link, mine.flow), { same_browser: true, code_digits: 6, expires_in: 900 });
  for (const flow of [null, other.flow, randomBytes(32)])
    t.deepEqual(await openMail(mine.link, flow), { same_browser: false, code_digits: 6, expires_in: 900 });
  t.is(await refused(people.finishMail(other, { link: mine.link })), "410 link_expired");
  t.is(await refused(people.finishMail({ flow: randomBytes(32) }, { link: mine.link })), "410 link_expired");
  t.deepEqual((await people.finishMail(other, { code: mine.code })).answer, { wrong_code: true, tries_left: 4 });
  t.false((await status(mine)).finished);
  t.is(await refused(openMail(randomBytes(32), mine.flow)), "404 not_found");
});

const ADDRESSES: readonly [given: string | null, kept: string | null][] = [
  [" Lena@Example.COM\r\n", "lena@example.com"],
  ["lena+souk@mail.example.co.uk", "lena+souk@mail.example.co.uk"],
  ["o'neill@example.com", "o'neill@example.com"],
  ["jo\u0308rg@mu\u0308ller.de", "jörg@müller.de"],
  ["x@y.io", "x@y.io"],
  [null, null],
  ["", null],
  ["lena", null],
  ["lena@example", null],
  ["@example.com", null],
  ["lena@.com", null],
  ["lena@example..com", null],
  ["lena@example.com.", null],
  ["lena@example.com, eve@example.com", null],
  ["lena@example.com\nBcc: eve@example.com", null],
  ["lena@example.com\u0007", null],
  ["Lena <lena@example.com>", null],
  ["le na@example.com", null],
  ["lena@exam\u200bple.com", null],
  ["\u202elena@example.com", null],
  [`${"x".repeat(65)}@example.com`, null],
  [`x@${"y".repeat(250)}.com`, null],
];
for (const [given, kept] of ADDRESSES) {
  test.serial(`${JSON.stringify(given)?.slice(0, 50)} is ${kept === null ? "no address" : kept}`, async (t) => {
    const email = await market.value`select internal.mailbox_of(${given})`;
    t.is(email, kept);
  });
}

test.serial("an invalid e-mail address is refused, and the error points to it", async (t) => {
  const { status: code, code: slug, extra } = await refusal(begin({ email: "lena" }));
  t.deepEqual([code, slug], [400, "bad_request"]);
  t.deepEqual(extra.errors, [{ pointer: "/email", detail: "Enter an e-mail address, such as name@example.com." }]);
});

/** Asks for a mail from a region (IPv4 /16) of its own. */
const ask = (email: string, region: number) => outcomeOf(begin({ email, address: `172.${region}.0.1` }));
const quiet = () => market.sql("delete from market.rate_limit_hit where action in ('sign_in', 'sign_in_mail')");

test.serial("mails that others request for an address do not stop its owner from requesting one", async (t) => {
  for (const others of [(n: number) => `172.16.${n}.1`, (n: number) => `2001:db8:${n}::1`]) {
    const email = randomEmail();
    const outcomes = [];
    for (let n = 0; n < 40; n += 1) outcomes.push(await outcomeOf(begin({ email, address: others(n % 20) })));
    t.deepEqual(tally(outcomes), { done: 5, rate_limited: 35 }, "one region, whatever its sites");
    t.is(await ask(email, 2), "done");
  }
});

for (const [addresses, is] of [
  [(n: number, x: string) => `victor${x}+${n}@example.net`, "its tags"],
  [
    (n: number, x: string) => `vic${x}${".".repeat(n % 2)}tor+${n}@${n % 3 ? "gmail" : "googlemail"}.com`,
    "Gmail's dots",
  ],
] as const) {
  test.serial(`a mailbox gets no more mails by ${is}`, async (t) => {
    await quiet();
    const x = randomBytes(4).toString("hex");
    const outcomes = [];
    for (let n = 0; n < 24; n += 1) outcomes.push(await ask(addresses(n, x), 50 + n));
    t.deepEqual(tally(outcomes), { done: 20, rate_limited: 4 });
    t.is(await ask(addresses(0, `${x}.`), 90), is === "its tags" ? "done" : "rate_limited");
  });
}

test.serial("one region uses up neither the service's mails nor those of the others", async (t) => {
  await quiet();
  const crowd = async (networkOf: (n: number) => string) =>
    tally(await Promise.all(Array.from({ length: 120 }, (_, n) => outcomeOf(begin({ address: networkOf(n) })))));
  t.deepEqual(await crowd((n) => `2001:db8:${n % 18}:${n}::1`), { done: 91, rate_limited: 29 });
  t.deepEqual(await crowd((n) => `172.17.${n % 18}.${n}`), { done: 83, rate_limited: 37 });
  // Other regions leave 5 mails of the thousand.
  await market.sql`insert into market.rate_limit_hit (scope, action)
    select 'service', 'sign_in_mail' from generate_series(1, ${995 - 91 - 83})`;
  const outcomes = [];
  for (const region of [20, 20, 21, 21, 22]) outcomes.push(await ask(randomEmail(), region));
  t.deepEqual(outcomes, ["done", "rate_limited", "done", "rate_limited", "done"], "the last ones are for newcomers");
  await quiet();
});

test.serial("an e-mail address gets at most twenty mails an hour and sixty a day from all networks", async (t) => {
  const email = randomEmail();
  await quiet();
  const outcomes = await Promise.all(Array.from({ length: 25 }, (_, n) => ask(email, 10 + n)));
  t.deepEqual(outcomes.sort(), [...Array(20).fill("done"), ...Array(5).fill("rate_limited")]);
  const anHourLater = () =>
    market.sql`update market.rate_limit_hit set called_at = called_at - interval '61 minutes'
      where action = 'sign_in_mail'`;
  for (const round of [1, 2]) {
    await anHourLater();
    for (let n = 0; n < 20; n += 1) t.is(await ask(email, 40 * round + n), "done");
  }
  await anHourLater();
  const { status: code, detail, extra } = await refusal(begin({ email }));
  t.is(code, 429);
  t.true(extra.retry_after > 20 * 3600 && extra.retry_after < 24 * 3600);
  t.true(detail.includes("a code works only in the browser that asked for it"));
  t.is(await ask(randomEmail(), 200), "done");
});

test.serial("a mail that could not be sent does not count, and its code does not work", async (t) => {
  const email = randomEmail();
  const address = "198.51.100.250";
  const cancel = ({ flow }: Pick<Attempt, "flow">) => market.call(null, "cancel_sign_in", { flow_hash: flow, address });
  const counted = async () =>
    (await market.sql("select from market.rate_limit_hit where action = 'sign_in_mail'")).length;
  const kept = await begin({ email, address });
  const before = await counted();
  for (let n = 0; n < 6; n += 1) {
    const attempt = await begin({ email, address });
    t.deepEqual([await cancel(attempt), await cancel(attempt)], [{}, {}]);
    t.is(await refused(people.finishMail(attempt, { code: attempt.code })), "410 link_expired");
  }
  t.is(await counted(), before);
  await people.finishMail(kept, { code: randomBytes(32) });
  await cancel(kept);
  t.is(await counted(), before, "a mail stays counted after a try of its code");
  await people.finishMail(kept, { code: kept.code });
  await cancel(kept);
  await cancel({ flow: randomBytes(32) });
  t.is(await counted(), before);
});

test.serial("one site can request five mails an hour for one e-mail address, also concurrently", async (t) => {
  const email = randomEmail();
  const address = "192.0.2.80";
  const outcomes = await Promise.all(Array.from({ length: 9 }, () => outcomeOf(begin({ email, address }))));
  t.deepEqual(outcomes.sort(), [...Array(5).fill("done"), ...Array(4).fill("rate_limited")]);
  const { status: code, extra } = await refusal(begin({ email: email.toUpperCase(), address }));
  t.is(code, 429);
  t.true(extra.retry_after > 3570 && extra.retry_after <= 3600);
  await t.notThrowsAsync(begin());
  await market.sql`update market.rate_limit_hit set called_at = called_at - make_interval(secs => ${extra.retry_after})
    where scope like 'mailbox%'`;
  await t.notThrowsAsync(begin({ email, address }), "a caller that waits as told is admitted");
});

test.serial("a network can request twenty mails an hour, also concurrently", async (t) => {
  const outcomes = await Promise.all(
    Array.from({ length: 25 }, (_, n) => outcomeOf(begin({ address: `2001:db8:5:6::${n}` }))),
  );
  t.deepEqual(outcomes.sort(), [...Array(20).fill("done"), ...Array(5).fill("rate_limited")]);
  await t.notThrowsAsync(begin({ method: "google", address: "2001:db8:5:6::1" }));
  await t.notThrowsAsync(begin({ address: "2001:db8:5:7::1" }));
  const counted = await market.sql("select from market.rate_limit_hit where scope = 'address:2001:db8:5:6::/64'");
  t.is(counted.length, 20, "refused requests are not counted");
});

test.serial("a site, IPv6 or IPv4, can request sixty mails an hour from all its networks", async (t) => {
  for (const networkOf of [(n: number) => `2001:db8:77:${n}::1`, (n: number) => `203.0.113.${n}`]) {
    await quiet();
    const asked = (from: number) => outcomeOf(begin({ address: networkOf(from) }));
    const outcomes = await Promise.all(Array.from({ length: 64 }, (_, n) => asked(n)));
    t.deepEqual(tally(outcomes), { done: 60, rate_limited: 4 });
  }
  const many = await outcomeOf(begin({ method: "google", address: "2001:db8:78:1::1" }));
  await market.sql`insert into market.rate_limit_hit (scope, action)
    select 'sign_in:2001:db8:78::/48', 'sign_in' from generate_series(1, 599)`;
  t.deepEqual(
    [many, await outcomeOf(begin({ method: "google", address: "2001:db8:78:2::1" }))],
    ["done", "rate_limited"],
  );
});

test.serial("all strangers together can request a thousand mails an hour, and the metrics show how many", async (t) => {
  const figures = async () => (await market.value`select inspect.state() -> 'sign_in_mails'`) as Answer;
  const before = await figures();
  t.is(before.limit, 1000);
  await market.sql`insert into market.rate_limit_hit (scope, action)
    select 'service', 'sign_in_mail' from generate_series(1, ${999 - before.strangers})`;
  t.is(await outcomeOf(begin()), "done");
  t.is((await figures()).strangers, 1000);
  t.is(await outcomeOf(begin()), "rate_limited");
  await market.sql("delete from market.rate_limit_hit where scope = 'service' and action = 'sign_in_mail'");
});

/** Signs in to a mailbox, in a browser that knows nothing or has this cookie. */
const signedIn = async (email: string, known: Buffer | null = null) =>
  people.finishMail(...(await begun(email, known)), null, undefined, known);
const begun = async (email: string, browser: Buffer | null): Promise<[Attempt, { code: Buffer }]> => {
  const attempt = await begin({ email, browser });
  return [attempt, { code: attempt.code }];
};
/** Strangers use up every window of a mailbox, of a network and of the service. */
const floodOf = async (email: string, address: string) =>
  market.sql`insert into market.rate_limit_hit (scope, action) select w.scope, w.action
    from (select scope, 'sign_in_mail' as action from internal.sign_in_mail_windows(${email}, ${address}, null)
      union select 'sign_in:' || internal.network_of(${address}), 'sign_in') as w, generate_series(1, 1000)`;

test.serial("a browser that signed in to a mailbox gets its mails, however many strangers asked for", async (t) => {
  await quiet();
  const [email, address] = [randomEmail(), "192.0.2.120"];
  const { browser } = await signedIn(email);
  await floodOf(email, address);
  t.is(await outcomeOf(begin({ email, address })), "rate_limited");
  t.is(await outcomeOf(begin({ email, address, browser: randomBytes(32) })), "rate_limited");
  t.is(await outcomeOf(begin({ email: randomEmail(), address, browser })), "rate_limited", "of no other mailbox");
  const mine = await Promise.all(Array.from({ length: 12 }, () => outcomeOf(begin({ email, address, browser }))));
  t.deepEqual(tally(mine), { done: 10, rate_limited: 2 });
  await market.sql("delete from market.rate_limit_hit where scope like 'browser:%'");
  const attempt = await begin({ email, address, browser });
  await market.call(null, "cancel_sign_in", { flow_hash: attempt.flow, address, browser_hash: browser });
  t.deepEqual(await market.sql("select from market.rate_limit_hit where scope like 'browser:%'"), []);
  await quiet();
});

test.serial("each sign-in by mail gives the browser another secret, for all mailboxes that know it", async (t) => {
  await quiet();
  const [email, other, address] = [randomEmail(), randomEmail(), "192.0.2.121"];
  const planted = (await signedIn(other)).browser;
  const { browser } = await signedIn(email, planted);
  await floodOf(email, address);
  await floodOf(other, address);
  const reaches = async (of: string, by: Buffer) =>
    (await outcomeOf(begin({ email: of, address, browser: by }))) === "done";
  t.deepEqual(
    await Promise.all([
      reaches(email, browser),
      reaches(other, browser),
      reaches(email, planted),
      reaches(other, planted),
    ]),
    [true, true, false, false],
  );
  await quiet();
});

test.serial("a mailbox knows its ten newest browsers, and none once it proves no account any more", async (t) => {
  await quiet();
  const email = randomEmail();
  const known = async () =>
    (
      await market.sql`select k.secret_hash from market.known_browser k
      where k.subject_hash = internal.subject_hash('email', ${email})`
    ).map(({ secret_hash }) => secret_hash.toString("hex"));
  const browsers = [];
  for (let n = 0; n < 11; n += 1) {
    browsers.push(await signedIn(email));
    await market.sql("delete from market.rate_limit_hit where action = 'sign_in_mail'");
  }
  t.deepEqual(
    (await known()).sort(),
    browsers
      .slice(1)
      .map(({ browser }) => browser.toString("hex"))
      .sort(),
  );
  const { session } = browsers.at(-1) as { session: Buffer };
  await market.callAsPerson({ agent: "", account: "", token: session, link: session, session }, "remove_method", {
    method: "email",
    confirmed: true,
  });
  t.deepEqual(await known(), []);
});

test.serial("the response is the same for addresses with and without an account", async (t) => {
  const email = randomEmail();
  const first = await begin({ email });
  await people.finishMail(first, { link: first.link });
  const answer = (address: string): Promise<Answer> =>
    market.call(null, "start_sign_in", {
      flow_hash: randomBytes(32),
      method: "email",
      purpose: "sign_in",
      session_hash: null,
      verification_hash: null,
      email: address,
      link_hash: randomBytes(32),
      code_hashes: { 6: randomBytes(32).toString("hex") },
      address: "192.0.2.77",
    });
  const other = randomEmail();
  t.deepEqual(
    [await answer(email), await answer(` ${other.toUpperCase()} `)],
    [
      { email, code_digits: 6 },
      { email: other, code_digits: 6 },
    ],
  );
});

test.serial(
  "the rate limit of an e-mail address is stored so that nobody can find it by trying addresses",
  async (t) => {
    const email = randomEmail();
    const windows = () =>
      market.value`with gone as (delete from market.rate_limit_hit where scope like 'mailbox%' returning scope)
      select string_agg(distinct scope, ' ' order by scope) from gone`;
    const address = "192.0.2.90";
    await windows();
    await begin({ email, address });
    const first = await windows();
    t.regex(first, /^mailbox:[0-9a-f]{32} mailbox_at:[0-9a-f]{32}$/);
    await begin({ email, address });
    t.is(await windows(), first);
    await market.sql`update market.hash_key set key = sha256('another key')`;
    await begin({ email, address });
    const keyed = (await windows()).split(" ");
    t.false(
      keyed.some((scope: string) => first.includes(scope)),
      "the database's key, which no DBA sees, makes the hash",
    );
  },
);
