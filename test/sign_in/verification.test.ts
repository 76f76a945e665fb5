import test from "ava";
import { type Agent, call, connectAgent, eventually } from "../support/market.ts";
import { codeFrom } from "./mailbox.ts";
import { askForMail, labelOf, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";
import { formsOf, type Visitor, wordsOf } from "./visitor.ts";

/**
 * How an agent asks its person to prove a sign-in method: the agent's call, the page, the proof, and the effects. And who
 * keeps an account that has no method yet. Which link works for whom is tested in test/db/verification_page.test.ts and
 * test/db/recovery.test.ts.
 */

let market: Market;
test.before(async () => {
  market = await startMarket();
});
test.after.always(() => market?.close());

/** Connects an agent and approves it as this visitor, who then has a session. */
const approved = async (person: Visitor, name = "Claude"): Promise<Agent> => {
  const agent = await connectAgent(market.url, name);
  await person.submit(await person.get(agent.link), "Approve");
  return agent;
};

const start = async (agent: Agent, method = "email"): Promise<{ id: string; url: string }> => {
  const { status, body } = await agent.call("POST", "/v1/me/verifications", { method });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
};

const statusOf = async (agent: Agent, id: string): Promise<string> =>
  (await agent.call("GET", `/v1/me/verifications/${id}`)).body.status;

const askThere = async (visitor: Visitor, url: string, email: string) =>
  visitor.submit(await visitor.get(url), "Send me a code", { email });

test("proving an e-mail address completes the verification and raises the limits", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const before = (await agent.call("GET", "/v1/me")).body;
  t.deepEqual(before.account.available_methods, ["google", "apple", "email"]);
  t.deepEqual(before.account.verified, []);
  const { id, url } = await start(agent);
  t.is((await agent.call("GET", "/v1/me")).body.pending_verifications.length, 1);

  const page = await person.get(url);
  t.is(page.heading, "Your agent asks you to sign in");
  t.true(wordsOf(page).includes("“ Claude ”"));
  t.is(await statusOf(agent, id), "pending");
  const asked = await person.submit(page, "Send me a code", { email: "proof@example.com" });
  t.is(asked.heading, "Check your mail");
  t.is(await statusOf(agent, id), "pending");
  const arrived = await person.submit(asked, "code", { code: codeFrom(await market.mail.next("proof@example.com")) });
  t.is(arrived.url, url);
  t.is(arrived.heading, "You have signed in");

  t.is(await statusOf(agent, id), "completed");
  t.is((await agent.call("GET", `/v1/me/verifications/${id}`)).body.url, undefined);
  const { body: me } = await agent.call("GET", "/v1/me");
  t.deepEqual(me.account.verified, ["email"]);
  t.deepEqual(me.pending_verifications, []);
  t.true(me.limits.publish_offer.limit > before.limits.publish_offer.limit);
  t.is(JSON.stringify(me).includes("proof@example.com"), false, "the agent does not see the address");
  t.is(await labelOf(market, person), "proof@example.com");
  t.like(await agent.call("POST", "/v1/me/verifications", { method: "email" }), {
    status: 200,
    body: { status: "completed" },
  });
});

test.serial("a provider proves its method in the same way", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const { id, url } = await start(agent, "google");
  market.google.person = { sub: "verifier", email: "verifier@gmail.example", email_verified: true, name: "Vera" };
  const page = await person.get(url);
  t.is(formsOf(page)[0]?.holds.has("email"), false);
  const arrived = await person.submit(page, "Continue with Google");
  t.is(arrived.heading, "You have signed in");
  t.is(await statusOf(agent, id), "completed");
  t.deepEqual((await agent.call("GET", "/v1/me")).body.account.verified, ["google"]);
});

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

test("an unknown link is a 404, and HTML in an agent's name is escaped", async (t) => {
  t.is((await stranger().get(`${market.url}/verify/${"0".repeat(64)}`)).status, 404);
  const agent = await approved(stranger(), "<script>alert(1)</script>\u202E");
  const page = await stranger().get((await start(agent)).url);
  t.true(page.text.includes("&lt;script&gt;alert(1)&lt;/script&gt;"));
  t.notRegex(page.text, /<script|\u202E/);
});

test("a method that the operator has not configured is not available", async (t) => {
  const own = await startMarket({ GOOGLE_CLIENT_ID: "", GOOGLE_CLIENT_SECRET: "", SMTP_URL: "", MAIL_FROM: "" });
  t.teardown(own.close);
  const agent = await connectAgent(own.url);
  const { body: me } = await agent.call("GET", "/v1/me");
  t.deepEqual([me.account.available_methods, me.account.unavailable_methods], [["apple"], ["google", "email"]]);
  t.like(await agent.call("POST", "/v1/me/verifications", { method: "email" }), {
    status: 400,
    body: { code: "unknown_method" },
  });
  const page = await stranger().get(`${own.url}/sign-in`);
  t.deepEqual(
    formsOf(page).flatMap(({ buttons }) => [...buttons.keys()]),
    ["Continue with Apple"],
  );
  t.is((await stranger().get(`${own.url}/sign-in/google?code=a&state=b`)).status, 404);
  t.is((await call(own.url, "GET", "/healthz")).status, 200);
});

test("an attempt for one purpose does not serve another", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const account = (await agent.call("GET", "/v1/me")).body.id;
  const { id, url } = await start(agent);
  // A plain sign-in that starts later in the same browser replaces the verification's attempt.
  await askThere(person, url, "first@example.com");
  const asked = await askForMail(market, person, "second@example.com");
  const plain = await person.submit(asked, "Leave it, and disconnect its agents");
  await person.submit(plain, "code", { code: codeFrom(await market.mail.next("second@example.com")) });
  const [verification, methods] = await Promise.all([
    row(market, "select status from market.verification where id = $1", [id]),
    row(market, "select count(*)::integer as count from market.proved_method where account_id = $1", [account]),
  ]);
  t.deepEqual([verification, methods], [{ status: "cancelled" }, { count: 0 }]);
});

// ── Accounts without a method ────────────────────────────────────────────────────────────────────────────────────────

const linkOf = async (agent: Agent): Promise<string> =>
  (await agent.call("POST", "/v1/me/verifications", { method: "email" })).body.url;

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
  const url = await linkOf(mine);
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

test("a first method in the settings comes after the list of agents", async (t) => {
  const person = stranger();
  const [mine, theirs] = [await approved(person, "Mine"), await approved(person, "Theirs")];
  const page = await person.get(`${market.url}/settings/methods`);
  const list = await person.submit(page, "Send the mail", { email: "first.method@example.com" });
  t.deepEqual([list.status, list.heading], [409, "Which agents are yours?"]);
  t.deepEqual(
    formsOf(list)[0]?.boxes.map(({ checked }) => checked),
    [false, false],
  );
  t.is(market.mail.letters.filter(({ to }) => to.includes("first.method@example.com")).length, 0);
  const sent = await person.submit(list, "Go on", { agent: [mine.id] });
  t.is(sent.heading, "Check your mail");
  await person.submit(sent, "code", { code: codeFrom(await market.mail.next("first.method@example.com")) });
  t.deepEqual((await me(mine)).account.verified, ["email"]);
  t.is((await theirs.call("GET", "/v1/me")).status, 401);
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

test("a browser keeps the session's cookie for 400 days after each use", async (t) => {
  const person = stranger();
  const agent = await connectAgent(market.url, "Mine");
  const lasting = /souk_session=[\w-]{43}; Max-Age=34560000;/;
  const cookiesOf = ({ headers }: { headers: Headers }) => headers.getSetCookie().join("\n");
  t.regex(cookiesOf(await person.send(await person.get(agent.link), "Approve")), lasting);
  const secret = person.cookie(market.url, "souk_session");
  t.regex(cookiesOf(await person.get(`${market.url}/settings`)), lasting);
  const second = await connectAgent(market.url, "Second");
  t.regex(cookiesOf(await person.send(await person.get(second.link), "Approve")), lasting);
  t.is(person.cookie(market.url, "souk_session"), secret);
});

test("signing out of an account without a method says what that means", async (t) => {
  const person = stranger();
  await approved(person, "Mine");
  t.regex(wordsOf(await person.get(`${market.url}/sign-out`)), /only by a link of one of its agents/);
  const kept = stranger();
  await signInByMail(market, kept, "kept@example.com");
  t.notRegex(wordsOf(await kept.get(`${market.url}/sign-out`)), /link of one of its agents/);
});
