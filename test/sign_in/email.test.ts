import test from "ava";
import { eventually, wholeLog } from "../support/market.ts";
import { codeFrom, linkFrom, smtpError, wrongOf } from "./mailbox.ts";
import { askForMail, labelOf, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";
import { formsOf, newVisitor, wordsOf } from "./visitor.ts";

/** Tests signing in with a code or a link sent by e-mail. */

let market: Market;
test.before(async () => {
  market = await startMarket();
});
test.after.always(() => market?.close());

const sessionsOf = (email: string) =>
  row<{ count: number }>(
    market,
    `select count(*)::integer as count from market.session s join market.proved_method p using (account_id)
     where p.method = 'email' and p.email = $1`,
    [email],
  );

test("the code from the mail signs in, and creates an account for a new e-mail address", async (t) => {
  const lena = stranger();
  const page = await askForMail(market, lena, "  Lena@Example.com ");
  t.is(page.heading, "Check your mail");
  t.true(wordsOf(page).includes("lena@example.com"));
  const letter = await market.mail.next("lena@example.com");
  t.is(letter.parsed.subject, "Sign in to Souk");
  t.deepEqual(letter.to, ["lena@example.com"]);
  t.is(letter.parsed.from?.address, "souk@souk.example");
  const code = codeFrom(letter);
  const arrived = await lena.send(page, "code", { code: `${code.slice(0, 3)} ${code.slice(3)}` });
  t.is(arrived.status, 303);
  t.is(arrived.headers.get("location"), "/settings");
  t.is(await labelOf(market, lena), "lena@example.com");
});

test("the link from the mail signs in after a button is pressed, in the browser that asked for it", async (t) => {
  const person = stranger();
  await askForMail(market, person, "button@example.com");
  const link = linkFrom(await market.mail.next("button@example.com"));
  const page = await person.get(link);
  t.is(page.heading, "One more step");
  t.is(await labelOf(market, person), null, "opening the link changed nothing");
  const arrived = await person.send(page, "Sign in");
  t.is(arrived.headers.get("location"), "/settings");
  t.is(await labelOf(market, person), "button@example.com");
});

test("the link opened in another browser shows the code and creates no session", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "phone@example.com");
  const letter = await market.mail.next("phone@example.com");
  const elsewhere = stranger();
  const page = await elsewhere.get(linkFrom(letter));
  t.is(page.heading, "Type this code where you started");
  t.true(wordsOf(page).replaceAll(" ", "").includes(codeFrom(letter)));
  t.deepEqual(formsOf(page), []);
  t.is(await labelOf(market, elsewhere), null);
  // A forged form with a valid token and an attempt of this other browser does not sign in either.
  const own = await askForMail(market, elsewhere, "someone.else@example.com");
  const form = formsOf(await elsewhere.get(linkFrom(await market.mail.next("someone.else@example.com"))))[0];
  const forged = await elsewhere.post(linkFrom(letter), { token: form?.fields["token"] ?? "" });
  t.is(forged.status, 400);
  t.is(own.status, 200);
  t.is(await labelOf(market, elsewhere), null);
  t.is(
    (await person.send(asked, "code", { code: codeFrom(letter) })).status,
    303,
    "the code still works in the browser that asked for it",
  );
});

test("opening or previewing the link of a sign-in changes nothing", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "preview@example.com");
  const letter = await market.mail.next("preview@example.com");
  const link = linkFrom(letter);
  const state = () =>
    row(market, "select to_jsonb(s) as attempt from market.sign_in s where email = 'preview@example.com'");
  const before = await state();
  for (const scanner of [stranger(), person]) {
    for (let times = 0; times < 3; times += 1) {
      t.is((await scanner.get(link)).status, 200);
      t.is((await fetch(link, { method: "HEAD" })).status, 200);
    }
  }
  t.deepEqual(await state(), before);
  t.is((await person.send(asked, "code", { code: codeFrom(letter) })).status, 303);
});

test("the link and the code of a mail work once: using one ends both", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "once@example.com");
  const letter = await market.mail.next("once@example.com");
  const flow = person.cookie(market.url, "souk_flow") ?? "";
  t.is((await person.send(asked, "code", { code: codeFrom(letter) })).status, 303);
  // A thief has the mail and even the cookie of the attempt, after the person signed out.
  await person.submit(await person.get(`${market.url}/sign-out`), "Sign out here");
  const thief = stranger();
  await thief.get(`${market.url}/sign-in`);
  thief.jar.get("127.0.0.1")?.set("souk_flow", flow);
  const spent = await thief.get(linkFrom(letter));
  t.is(spent.status, 410);
  t.is(spent.heading, "This has ended");
  const again = await thief.get(`${market.url}/sign-in/code`);
  t.is(again.status, 404);
  t.is(await labelOf(market, thief), null);
});

test("a second click on Continue leads to the same page as the first", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "double@example.com", "/settings/methods");
  const code = codeFrom(await market.mail.next("double@example.com"));
  // Both clicks send the same cookies, as when the browser drops the first response.
  const before = new Map(person.jar.get("127.0.0.1"));
  const first = await person.send(asked, "code", { code });
  person.jar.set("127.0.0.1", before);
  const second = await person.send(asked, "code", { code });
  t.is(first.headers.get("location"), "/settings/methods");
  t.is(second.status, 303);
  t.is(second.headers.get("location"), "/settings/methods");
  t.is(await labelOf(market, person), "double@example.com");
  t.is((await sessionsOf("double@example.com")).count, 1);
});

test("after signing in, the back button leads to a page that names the account", async (t) => {
  const person = stranger();
  await signInByMail(market, person, "back@example.com");
  const page = await person.get(`${market.url}/sign-in/code`);
  t.is(page.status, 404);
  t.true(wordsOf(page).includes("You are signed in as back@example.com"));
  t.true(wordsOf(await person.get(`${market.url}/sign-in`)).includes("You are signed in as back@example.com"));
});

test("with two tabs, only the newer mail counts, and the older tab says so", async (t) => {
  const person = stranger();
  const older = await askForMail(market, person, "tabs@example.com");
  const first = await market.mail.next("tabs@example.com");
  const newer = await askForMail(market, person, "tabs@example.com");
  const second = await market.mail.next("tabs@example.com");
  const wrong = await person.send(older, "code", { code: codeFrom(first) });
  t.is(wrong.status, 400);
  t.true(wordsOf(wrong).includes("If you asked for several mails, only the newest counts."));
  t.is((await person.get(linkFrom(first))).heading, "Type this code where you started");
  t.is((await person.send(newer, "code", { code: codeFrom(second) })).status, 303);
});

test("five wrong codes end an attempt, and then the right code is refused, too", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "guess@example.com");
  const letter = await market.mail.next("guess@example.com");
  const wrong = wrongOf(letter);
  for (const left of ["4 times", "3 times", "2 times", "once"]) {
    const page = await person.send(asked, "code", { code: wrong });
    t.is(page.status, 400);
    t.true(wordsOf(page).includes(`You can try ${left} more.`), wordsOf(page));
    t.is(formsOf(page)[0]?.fields["code"], wrong, "the form keeps what was typed");
  }
  t.is((await person.send(asked, "code", { code: wrong })).status, 410);
  const late = await person.send(asked, "code", { code: codeFrom(letter) });
  t.is(late.status, 410);
  t.is((await person.get(linkFrom(letter))).status, 410);
  t.is(await labelOf(market, person), null);
});

test("wrong codes sent in parallel count like codes sent one by one", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "parallel@example.com");
  const letter = await market.mail.next("parallel@example.com");
  const guesses = Array.from({ length: 12 }, (_, index) =>
    person.send(asked, "code", {
      code: index === 11 ? wrongOf(letter) : String(100_000 + index * 7).replace(codeFrom(letter), "999999"),
    }),
  );
  for (const { status } of await Promise.all(guesses)) t.true(status === 400 || status === 410);
  const { tries } = await row<{ tries: number }>(
    market,
    "select tries from market.sign_in where email = 'parallel@example.com'",
  );
  t.is(tries, 5);
  t.is((await person.send(asked, "code", { code: codeFrom(letter) })).status, 410);
});

test("ten wrong codes from one network later, the page names two ways out, and both sign in", async (t) => {
  const address = "10.77.0.1";
  const here = newVisitor(address);
  const asked = await askForMail(market, here, "neighbour@example.com");
  const letter = await market.mail.next("neighbour@example.com");
  t.is(codeFrom(letter).length, 6);
  const attacks = [];
  for (const email of ["first.guess@example.com", "second.guess@example.com"]) {
    const attacker = newVisitor(address);
    const guessed = await askForMail(market, attacker, email);
    const wrong = wrongOf(await market.mail.next(email));
    attacks.push(() => attacker.send(guessed, "code", { code: wrong }));
  }
  for (const attack of attacks) {
    for (const status of [400, 400, 400, 400, 410]) t.is((await attack()).status, status);
  }
  const refused = await here.send(asked, "code", { code: codeFrom(letter) });
  t.is(refused.status, 429);
  t.true(Number(refused.headers.get("retry-after")) > 86_000);
  t.is(refused.heading, "Check your mail");
  t.true(wordsOf(refused).includes("Open the link from the message in this browser, or start again"));
  t.is((await here.send(await here.get(linkFrom(letter)), "Sign in")).headers.get("location"), "/settings");

  const again = await askForMail(market, here, "neighbour@example.com");
  const longer = codeFrom(await market.mail.next("neighbour@example.com"));
  t.is(longer.length, 9);
  t.true(wordsOf(again).includes("Nine-digit code"));
  t.is((await here.send(again, "code", { code: `${longer.slice(0, 6)} ${longer.slice(6)}` })).status, 303);
  t.is(await labelOf(market, here), "neighbour@example.com");
});

test("a malformed code is refused without counting as a try", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "typo@example.com");
  for (const code of ["", "12345", "1234567", "abcdef", "１２３４５６", "12 34 5"]) {
    const page = await person.send(asked, "code", { code });
    t.is(page.status, 400, code);
    t.true(wordsOf(page).includes("Enter all the digits of the code in the mail."), code);
    t.true(page.text.includes('aria-describedby="code-wrong code-note"'));
  }
  const { tries } = await row<{ tries: number }>(
    market,
    "select tries from market.sign_in where email = 'typo@example.com'",
  );
  t.is(tries, 0);
});

test("a code of another person's attempt does not work", async (t) => {
  const [one, other] = [stranger(), stranger()];
  const asked = await askForMail(market, one, "victim@example.com");
  await askForMail(market, other, "attacker@example.com");
  const code = codeFrom(await market.mail.next("attacker@example.com"));
  t.is((await one.send(asked, "code", { code })).status, 400);
});

test("one address can ask for five messages an hour to an e-mail address, then gets a 429", async (t) => {
  const person = stranger();
  for (let times = 0; times < 5; times += 1) {
    t.is((await askForMail(market, person, "flooded@example.com")).heading, "Check your mail");
  }
  const page = await askForMail(market, person, "flooded@example.com", "/settings/methods");
  t.is(page.status, 429);
  t.true(Number(page.headers.get("retry-after")) > 3000);
  t.true(wordsOf(page).includes("Too many sign-in messages were asked for."));
  const form = formsOf(page).find(({ holds }) => holds.has("email"));
  t.like(form?.fields, { email: "flooded@example.com", return: "/settings/methods" }, "the form keeps the input");
  t.is(market.mail.letters.filter(({ to }) => to.includes("flooded@example.com")).length, 5);
  const owner = await askForMail(market, stranger(), "flooded@example.com");
  t.is(owner.heading, "Check your mail", "a request from another address still sends a mail");
});

test("a message goes to the normalized e-mail address", async (t) => {
  await askForMail(market, stranger(), " JO\u0308RG@Example.com\u00a0");
  t.deepEqual((await market.mail.next("jörg@example.com")).to, ["jörg@example.com"]);
});

test("one address can ask for twenty messages an hour", async (t) => {
  const person = stranger();
  const statuses: number[] = [];
  for (let times = 0; times < 21; times += 1) {
    statuses.push((await askForMail(market, person, `many${times}@example.com`)).status);
  }
  t.deepEqual(statuses, [...Array(20).fill(200), 429]);
});

test("a known and an unknown e-mail address get the same response", async (t) => {
  await signInByMail(market, stranger(), "known@example.com");
  const answers = [];
  for (const email of ["known@example.com", "unknwn@example.com"]) {
    const person = stranger();
    const page = await person.get(`${market.url}/sign-in`);
    const sent = await person.send(page, "email", { email });
    const form = await person.follow(sent);
    const token = /name="token" value="([^"]+)"/.exec(form.text)?.[1] ?? "";
    answers.push({
      status: sent.status,
      location: sent.headers.get("location"),
      cookies: sent.headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{20,}/, "=")),
      page: form.text.replaceAll(email, "EMAIL").replaceAll(token, "TOKEN"),
    });
  }
  t.deepEqual(answers[0], answers[1]);
});

test("a malformed e-mail address is refused at its field, which keeps what was typed", async (t) => {
  const person = stranger();
  const bad = [
    "lena",
    "lena@example",
    "@example.com",
    "lena@example.com, eve@evil.example",
    "lena@example.com;eve@evil.example",
    "Lena <lena@example.com>",
    "lena@example.com\r\nBcc: eve@evil.example",
    "lena@example.com\nX: y",
    "lena\u0000@example.com",
    '"lena, eve"@example.com',
    `${"l".repeat(65)}@example.com`,
    `lena@${"e".repeat(250)}.com`,
    "lena@exam\u202Eple.com",
  ];
  for (const email of bad) {
    const page = await askForMail(market, person, email);
    t.is(page.status, 400, email);
    t.true(wordsOf(page).includes("Enter an e-mail address, such as name@example.com."), email);
    t.true(page.text.includes('aria-invalid="true" aria-describedby="email-wrong email-note"'), email);
  }
  t.is(
    formsOf(await askForMail(market, person, "lena@<b>")).find(({ holds }) => holds.has("email"))?.fields["email"],
    "lena@<b>",
  );
  t.deepEqual(
    market.mail.letters.filter(({ raw }) => /eve@|lena,|X: y/.test(raw)),
    [],
  );
});

test("a form whose token is no longer valid is shown again with what was typed", async (t) => {
  const person = stranger();
  const page = await person.get(`${market.url}/sign-in?return=/settings/methods`);
  person.jar.clear();
  const again = await person.send(page, "email", { email: "kept@example.com" });
  t.is(again.status, 400);
  t.true(wordsOf(again).includes("The page was open for too long"));
  t.like(formsOf(again).find(({ holds }) => holds.has("email"))?.fields, {
    email: "kept@example.com",
    return: "/settings/methods",
  });
  const asked = await person.submit(again, "email");
  t.is(asked.heading, "Check your mail");
  const stale = await person.send(asked, "code", { token: "old", code: "123456" });
  t.is(stale.status, 400);
  t.is(formsOf(stale)[0]?.fields["code"], "123456");
});

test.serial("if the mail server is down, a 503 page keeps what was typed and the log names no address", async (t) => {
  market.mail.refuse = smtpError(451, "4.7.1 <unlucky@example.com>: try later");
  t.teardown(async () => {
    market.mail.refuse = null;
  });
  const person = stranger();
  for (let times = 0; times < 5; times += 1) {
    t.is((await askForMail(market, person, "unlucky@example.com")).status, 503);
  }
  const page = await askForMail(market, person, "unlucky@example.com");
  t.is(page.status, 503, "a mail that was not sent does not count");
  t.is(page.headers.get("retry-after"), "60");
  t.true(wordsOf(page).includes("The mail could not be sent."));
  t.is(formsOf(page).find(({ holds }) => holds.has("email"))?.fields["email"], "unlucky@example.com");
  const knocking = "198.51.100.7";
  market.mail.refuse = smtpError(550, "5.1.1 <nobody@example.com>: no such user");
  const unknown = await askForMail(market, newVisitor(knocking), "nobody@example.com");
  t.is(unknown.status, 400);
  t.true(wordsOf(unknown).includes("The mail server does not know this address."));
  const counted = "select count(*)::integer as count from market.rate_limit_hit where scope = 'address:' || $1";
  t.is((await row<{ count: number }>(market, counted, [knocking])).count, 1, "a mail to a refused address counts");
  // The line may still be on its way from the process.
  await eventually(
    async () => market.service.logs(),
    (logs) => logs.includes("a mail was not sent"),
  );
  t.notRegex(market.service.logs(), /@example\.com/);
});

test("signing in replaces the session, and a session cookie planted by somebody else is worthless", async (t) => {
  const planted = "A".repeat(43);
  const person = stranger();
  await person.get(`${market.url}/sign-in`);
  person.jar.get("127.0.0.1")?.set("souk_session", planted);
  await signInByMail(market, person, "fixed@example.com");
  const first = person.cookie(market.url, "souk_session");
  t.not(first, planted);
  const attacker = stranger();
  await attacker.get(`${market.url}/sign-in`);
  attacker.jar.get("127.0.0.1")?.set("souk_session", planted);
  t.is(await labelOf(market, attacker), null);
  // A second sign-in also ends a real session.
  await signInByMail(market, person, "fixed@example.com");
  t.not(person.cookie(market.url, "souk_session"), first);
  attacker.jar.get("127.0.0.1")?.set("souk_session", first ?? "");
  t.is(await labelOf(market, attacker), null);
  t.is((await sessionsOf("fixed@example.com")).count, 1);
});

test("signing in and signing out both end the validity of older forms", async (t) => {
  const person = stranger();
  const secret = () => person.cookie(market.url, "souk_csrf");
  const first = await person.get(`${market.url}/sign-in`);
  const before = secret();
  await signInByMail(market, person, "renewed@example.com");
  const during = secret();
  t.notDeepEqual(during, before);
  t.is((await person.send(first, "email", { email: "renewed@example.com" })).status, 400);
  await person.submit(await person.get(`${market.url}/sign-out`), "Sign out here");
  t.notDeepEqual(secret(), during);
  t.regex(secret() ?? "", /^[\w-]{43}$/);
});

test("the cookies of a sign-in are HttpOnly and SameSite=Lax, and are removed when it ends", async (t) => {
  const person = stranger();
  const page = await person.get(`${market.url}/sign-in`);
  const sent = await person.send(page, "email", { email: "cookies@example.com" });
  t.deepEqual(
    sent.headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{4,}/, "=…")),
    [
      "souk_flow=…; Max-Age=900; Path=/; HttpOnly; SameSite=Lax",
      "souk_return=…; Max-Age=900; Path=/; HttpOnly; SameSite=Lax",
    ],
  );
  const form = await person.follow(sent);
  const arrived = await person.send(form, "code", { code: codeFrom(await market.mail.next("cookies@example.com")) });
  t.deepEqual(
    arrived.headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{4,}/, "=…")),
    [
      "souk_session=…; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax",
      "souk_csrf=…; Path=/; HttpOnly; SameSite=Lax",
      "souk_flow=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
      "souk_return=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
    ],
  );
});

test("the secrets of a sign-in are neither stored nor logged", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "secret@example.com");
  const letter = await market.mail.next("secret@example.com");
  const flow = person.cookie(market.url, "souk_flow") ?? "";
  await person.send(asked, "code", { code: codeFrom(letter) });
  const session = person.cookie(market.url, "souk_session") ?? "";
  const { kept } = await row<{ kept: string }>(
    market,
    `select (select json_agg(s) from market.sign_in s)::text || (select json_agg(s) from market.session s)::text
       || coalesce((select json_agg(j) from graphile_worker._private_jobs j)::text, '') as kept`,
  );
  const logs = await wholeLog(market.service);
  const secrets = [flow, session, linkFrom(letter).split("/").at(-1) ?? ""];
  for (const secret of secrets) {
    t.regex(secret, /^[\w-]{43}$/);
    t.false(kept.includes(secret) || logs.includes(secret));
    t.false(kept.includes(Buffer.from(secret).toString("hex")));
  }
  // Any six digits may be a part of some UUID.
  t.notRegex(logs, new RegExp(`(?<![\\w.])${codeFrom(letter)}(?!\\w)`));
  t.false(logs.includes("secret@example.com"));
});

test("signing out ends the session at once, here or everywhere, and a second click is harmless", async (t) => {
  const [phone, desk] = [stranger(), stranger()];
  for (const browser of [phone, desk]) await signInByMail(market, browser, "out@example.com");
  const kept = phone.cookie(market.url, "souk_session") ?? "";
  const page = await phone.get(`${market.url}/sign-out`);
  t.is((await phone.submit(page, "Sign out here")).heading, "You are signed out");
  t.is((await phone.submit(page, "Sign out here")).heading, "You are signed out");
  t.is(phone.cookie(market.url, "souk_session"), undefined);
  phone.jar.get("127.0.0.1")?.set("souk_session", kept);
  t.is(await labelOf(market, phone), null);
  t.is(await labelOf(market, desk), "out@example.com");

  await signInByMail(market, phone, "out@example.com");
  const stale = await phone.send(await phone.get(`${market.url}/sign-out`), "Sign out everywhere", { token: "old" });
  t.is(stale.status, 400);
  t.is(await labelOf(market, phone), "out@example.com", "a form with a wrong token does nothing");
  t.is((await phone.submit(stale, "Sign out everywhere")).heading, "You are signed out");
  for (const browser of [phone, desk]) t.is(await labelOf(market, browser), null);
});
