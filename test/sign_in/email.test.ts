import test from "ava";
import { type Agent, connectAgent, eventually, wholeLog } from "../support/market.ts";
import { codeFrom, linkFrom } from "./mailbox.ts";
import { askForMail, labelOf, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";
import { formsOf, newVisitor, type Visitor, wordsOf } from "./visitor.ts";

/**
 * Signing in with a code or a link sent by e-mail; and proving a mailbox because an agent asks for it, which decides who keeps
 * an account without a method. Which link works for whom is tested in test/db/verification_page.test.ts and
 * test/db/recovery.test.ts.
 */

let market: Market;
test.before(async () => {
  market = await startMarket();
});
test.after.always(() => market?.close());

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
  // The second click of a double click may come when the first one has signed the person in.
  const second = await person.send(page, "Sign in");
  t.deepEqual([second.status, second.headers.get("location")], [303, "/settings"]);
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

test("a malformed code is refused without counting as a try", async (t) => {
  const person = stranger();
  const asked = await askForMail(market, person, "typo@example.com");
  for (const code of ["", "12345", "abcdef", "１２３４５６"]) {
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

test("a malformed e-mail address is refused at its field, which keeps what was typed", async (t) => {
  const person = stranger();
  const bad = [
    ...["lena", "lena@example", "lena@example.com, eve@evil.example", "Lena <lena@example.com>"],
    ...["lena@example.com\r\nBcc: eve@evil.example", "lena\u0000@example.com", "lena@exam\u202Eple.com"],
    `lena@${"e".repeat(250)}.com`,
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
      "souk_browser=…; Max-Age=34560000; Path=/; HttpOnly; SameSite=Lax",
      "souk_csrf=…; Path=/; HttpOnly; SameSite=Lax",
      "souk_flow=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
      "souk_return=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
    ],
  );
  const [again] = (await person.get(`${market.url}/settings`)).headers.getSetCookie();
  t.regex(again ?? "", /^souk_session=[\w-]{43}; Max-Age=34560000;/, "each use keeps the cookie for 400 days more");
});

test("a person whom strangers' requests would lock out signs in where she signed in before", async (t) => {
  const [person, email] = [stranger(), "locked@example.com"];
  await signInByMail(market, person, email);
  for (let n = 0; n < 19; n += 1) await askForMail(market, stranger(), email);
  const page = await askForMail(market, stranger(), email);
  t.is(page.status, 429);
  t.regex(wordsOf(page), /in a browser in which you signed in with this e-mail address before/);
  for (let n = 0; n < 19; n += 1) await market.mail.next(email);
  // Signing out leaves the cookie, which signs nobody in.
  await person.submit(await person.get(`${market.url}/sign-out`), "Sign out here");
  await person.follow(await signInByMail(market, person, email));
  t.is(await labelOf(market, person), email);
});

test("the secrets of a sign-in are neither stored nor logged, and the address is not logged", async (t) => {
  const person = newVisitor("198.51.100.201");
  const asked = await askForMail(market, person, "secret@example.com");
  const letter = await market.mail.next("secret@example.com");
  const flow = person.cookie(market.url, "souk_flow") ?? "";
  await person.send(asked, "code", { code: codeFrom(letter) });
  const session = person.cookie(market.url, "souk_session") ?? "";
  const browser = person.cookie(market.url, "souk_browser") ?? "";
  const { kept } = await row<{ kept: string }>(
    market,
    `select (select json_agg(s) from market.sign_in s)::text || (select json_agg(s) from market.session s)::text
       || (select json_agg(b) from market.known_browser b)::text
       || coalesce((select json_agg(j) from graphile_worker._private_jobs j)::text, '') as kept`,
  );
  const logs = await wholeLog(market.service);
  const secrets = [flow, session, browser, linkFrom(letter).split("/").at(-1) ?? ""];
  for (const secret of secrets) {
    t.regex(secret, /^[\w-]{43}$/);
    t.false(kept.includes(secret) || logs.includes(secret));
    t.false(kept.includes(Buffer.from(secret).toString("hex")));
  }
  // Any six digits may be a part of some UUID.
  t.notRegex(logs, new RegExp(`(?<![\\w.])${codeFrom(letter)}(?!\\w)`));
  t.false(logs.includes("secret@example.com") || logs.includes("198.51.100."));
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

// ── Proving a mailbox for an agent ───────────────────────────────────────────────────────────────────────────────────

/** Connects an agent and approves it as this visitor, who then has a session. */
const approved = async (person: Visitor, name = "Claude"): Promise<Agent> => {
  const agent = await connectAgent(market.url, name);
  await person.submit(await person.get(agent.link), agent.code);
  return agent;
};

const start = async (agent: Agent, method = "email"): Promise<{ id: string; url: string }> => {
  const { status, body } = await agent.call("POST", "/v1/me/verifications", { method });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
};

const statusOf = async (agent: Agent, id: string): Promise<string> =>
  (await agent.call("GET", `/v1/me/verifications/${id}`)).body.status;

test("continuing before signing in is a 409 verification_incomplete", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const { id, url } = await start(agent);
  const page = await person.get(url);
  const early = await person.send(page, "Continue");
  t.is(early.status, 409);
  t.true(wordsOf(early).includes("You have not signed in yet."));
  t.true(formsOf(early)[0]?.holds.has("email"), "the form is still there");
  const token = formsOf(page)[0]?.fields["token"] ?? "";
  const asProgram = await person.post(url, { token, decision: "continue" }, { accept: "application/json" });
  t.is(asProgram.status, 409);
  t.like(JSON.parse(asProgram.text), { code: "verification_incomplete", status: 409, retryable: true });
  t.is(await statusOf(agent, id), "pending");

  const asked = await person.submit(early, "Send me a code", { email: "early@example.com" });
  const other = await person.get(url);
  await person.submit(asked, "code", { code: codeFrom(await market.mail.next("early@example.com")) });
  t.is((await person.submit(other, "Continue")).heading, "You have signed in", "the page that was left open works");
});

test("“Not now” cancels the verification, also when pressed twice", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const { id, url } = await start(agent);
  const page = await person.get(url);
  for (let times = 0; times < 2; times += 1) {
    t.is((await person.submit(page, "Not now")).heading, "You said “Not now”");
  }
  t.is(await statusOf(agent, id), "cancelled");
  t.is((await person.send(page, "Send me a code", { email: "late@example.com" })).status, 409);
  t.not((await start(agent)).id, id);
});

test("an unknown link is a 404", async (t) => {
  t.is((await stranger().get(`${market.url}/verify/${"0".repeat(64)}`)).status, 404);
});

// ── Accounts without a method ────────────────────────────────────────────────────────────────────────────────────────

const me = async (agent: Agent) => (await agent.call("GET", "/v1/me")).body;

const sofa = (agent: Agent) =>
  agent.call("POST", "/v1/offers", { text: "Grey sofa for sale. 180 EUR, in Berlin. Write to lena@example.com" });

const letterTo = (email: string, subject: string) =>
  eventually(
    async () => market.mail.letters.find(({ to, parsed }) => to.includes(email) && parsed.subject === subject),
    (letter) => letter !== undefined,
  );

test("the page of a link lists the agents, and removes those that are left unchecked", async (t) => {
  const person = stranger();
  const [mine, theirs, third] = [
    await approved(person, "Mine"),
    await approved(person, "<i>Theirs</i>"),
    await approved(person, "Third"),
  ];
  const { url } = await start(mine);
  const page = await person.get(url);
  const form = formsOf(page)[0];
  const boxes = form?.boxes ?? [];
  t.deepEqual(boxes.map(({ value }) => value).sort(), [mine.id, theirs.id, third.id].sort());
  t.deepEqual(
    boxes.filter(({ checked }) => checked).map(({ value }) => value),
    [mine.id],
    "only the agent whose link it is",
  );
  t.true(page.text.includes("&lt;i&gt;Theirs"));

  // A typing error keeps what was checked.
  const wrong = await person.submit(page, "Send me a code", { email: "nothing", agent: [mine.id, third.id] });
  t.deepEqual(
    formsOf(wrong)[0]
      ?.boxes.filter(({ checked }) => checked)
      .map(({ value }) => value)
      .sort(),
    [mine.id, third.id].sort(),
  );
  const sent = await person.submit(wrong, "Send me a code", { email: "chooser@example.com" });
  t.true((await me(theirs)).account.connected, "nothing is removed before the proof");
  const done = await person.submit(sent, "code", { code: codeFrom(await market.mail.next("chooser@example.com")) });
  t.is(done.heading, "You have signed in");
  t.is((await theirs.call("GET", "/v1/me")).status, 401);
  for (const agent of [mine, third]) t.true((await me(agent)).account.connected);

  const letter = await letterTo("chooser@example.com", "A way to sign in to Souk was added");
  t.regex(
    letter?.parsed.text ?? "",
    /act for you, as before:\s+Mine\s+Third\s+These agents were removed.*\s+<i>Theirs<\/i>/,
  );
  t.true(letter?.parsed.html?.includes("&lt;i&gt;Theirs&lt;/i&gt;"));
});

test("signing in to another account says what is lost, and adds the method to this account instead", async (t) => {
  const person = stranger();
  const mine = await approved(person, "Mine");
  await sofa(mine);
  const asked = await askForMail(market, person, "instead@example.com", "/settings/methods");
  t.deepEqual([asked.status, asked.heading], [409, "You would lose an account"]);
  t.regex(wordsOf(asked), /nobody can open it again/);
  t.regex(wordsOf(asked), /1 agent, 1 published offer, 0 active asks, and the profile/);
  t.is(market.mail.letters.filter(({ to }) => to.includes("instead@example.com")).length, 0);
  t.true((await me(mine)).account.connected);
  const sent = await person.submit(asked, "Add it to this account", { agent: [mine.id] });
  const done = await person.submit(sent, "code", { code: codeFrom(await market.mail.next("instead@example.com")) });
  t.is(new URL(done.url).pathname, "/settings/methods");
  t.deepEqual((await me(mine)).account, { ...(await me(mine)).account, connected: true, verified: ["email"] });
  t.is(await labelOf(market, person), "instead@example.com");
});

test("programs get a Problem that says what to do", async (t) => {
  const person = stranger();
  await approved(person, "Mine");
  const page = await person.get(`${market.url}/sign-in`);
  const token = formsOf(page)[0]?.fields["token"] ?? "";
  const fields = { token, method: "email", email: "program@example.com", purpose: "sign_in" };
  const answer = await person.post(`${market.url}/sign-in`, fields, { accept: "application/json" });
  t.is(answer.status, 409);
  t.like(JSON.parse(answer.text), { code: "invalid_state", leaves: true });
});

test("signing out of an account without a method says what that means", async (t) => {
  const person = stranger();
  await approved(person, "Mine");
  t.regex(wordsOf(await person.get(`${market.url}/sign-out`)), /only by a link of one of its agents/);
  const kept = stranger();
  await signInByMail(market, kept, "kept@example.com");
  t.notRegex(wordsOf(await kept.get(`${market.url}/sign-out`)), /link of one of its agents/);
});
