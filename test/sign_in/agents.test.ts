import test from "ava";
import { type Agent, connectAgent, eventually } from "../support/market.ts";
import { codeFrom } from "./mailbox.ts";
import { askForMail, labelOf, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";
import { formsOf, type Visitor, wordsOf } from "./visitor.ts";

/**
 * Who gets an account without a sign-in method, over the real pages: recovering it by an agent's link, choosing the
 * agents that go on, and leaving it by signing in to another account.
 */

let market: Market;
test.before(async () => {
  market = await startMarket();
});
test.after.always(() => market?.close());

const approve = async (person: Visitor, name: string): Promise<Agent> => {
  const agent = await connectAgent(market.url, name);
  await person.submit(await person.get(agent.link), "Approve");
  return agent;
};

const linkOf = async (agent: Agent): Promise<string> =>
  (await agent.call("POST", "/v1/me/verifications", { method: "email" })).body.url;

const me = async (agent: Agent) => (await agent.call("GET", "/v1/me")).body;

const sofa = (agent: Agent) =>
  agent.call("POST", "/v1/offers", { text: "Grey sofa for sale. 180 EUR, in Berlin. Write to lena@example.com" });

/** Ends every session of an agent's account, as 400 days without use do. */
const loseBrowser = async (agent: Agent): Promise<void> => {
  await row(market, "delete from market.session where account_id = $1", [(await me(agent)).id]);
};

const letterTo = (email: string, subject: string) =>
  eventually(
    async () => market.mail.letters.find(({ to, parsed }) => to.includes(email) && parsed.subject === subject),
    (letter) => letter !== undefined,
  );

test("the operator of one agent who recovers the account gains nothing that the agent did not have", async (t) => {
  const lena = stranger();
  const [tool, hers] = [await approve(lena, "Tool"), await approve(lena, "Hers")];
  await lena.submit(await lena.get(`${market.url}/settings/profile`), "display_name", {
    display_name: "Lena Secret",
    contact_email: "lena.secret@example.com",
    contact_phone: "+49 30 7654321",
  });
  const offer = (await sofa(hers)).body.offer_id;
  await loseBrowser(hers);

  const operator = stranger();
  const url = await linkOf(tool);
  const page = await operator.get(url);
  t.is(page.heading, "Your agent asks you to sign in");
  t.regex(wordsOf(page), /profile are erased, and every agent is disconnected/);
  t.notRegex(page.text, /Lena|lena\.secret|7654321|Hers/);
  t.true((await me(hers)).account.connected, "opening the link changes nothing");

  const sent = await operator.submit(page, "Send me a code", { email: "operator@example.com" });
  t.true((await me(hers)).account.connected, "asking for a code changes nothing");
  const after = await operator.submit(sent, "code", {
    code: codeFrom(await market.mail.next("operator@example.com")),
  });
  t.is(after.heading, "You have signed in");
  t.regex(wordsOf(after), /“ Tool ”.*Approve again.*Not mine/);
  t.regex(wordsOf(after), /“ Hers ”/);
  for (const agent of [tool, hers]) {
    t.false((await me(agent)).account.connected);
    t.like(await sofa(agent), { status: 403, body: { code: "verification_required" } });
  }
  for (const path of ["", "/market", "/activity", "/profile", "/methods", "/account"]) {
    const shown = await operator.get(`${market.url}/settings${path}`);
    t.is(shown.status, 200, path);
    t.notRegex(shown.text, /Lena Secret|lena\.secret|7654321/, path);
  }
  const exported = await operator.submit(await operator.get(`${market.url}/settings/account`), "Download my data");
  t.is(exported.status, 200);
  t.notRegex(exported.text, /Lena Secret|lena\.secret|7654321/);
  t.true(exported.text.includes(offer), "the agent could read the account's offers");

  const letter = await letterTo("operator@example.com", "Your account on Souk was recovered");
  for (const part of [letter?.parsed.text ?? "", letter?.parsed.html ?? ""]) {
    t.true(part.includes("Tool") && part.includes("Hers") && part.includes(`${market.url}/settings`), part);
    t.notRegex(part, /undefined|\[object|agt_/);
  }

  // The agents are approved again one by one, from the page of the link.
  const approved = await operator.submit(after, "Approve again");
  t.is(new URL(approved.url).pathname, "/settings");
  t.true(wordsOf(approved).includes("The agent acts for you again."));
  const connected = [(await me(tool)).account.connected, (await me(hers)).account.connected];
  t.is(connected.filter(Boolean).length, 1);
  const gone = await operator.submit(approved, "Not mine");
  t.true(wordsOf(gone).includes("The agent is removed."));
  const statuses = await Promise.all([tool, hers].map(async (agent) => (await agent.call("GET", "/v1/me")).status));
  t.deepEqual(statuses.sort(), [200, 401]);

  await letterTo("operator@example.com", "An agent now acts for you on Souk");
});

test("a link of a lost account works for the first of two persons only", async (t) => {
  const agent = await approve(stranger(), "Shared");
  await loseBrowser(agent);
  const url = await linkOf(agent);
  const persons = [stranger(), stranger()];
  const emails = ["one.of.two@example.com", "two.of.two@example.com"];
  const asked = await Promise.all(
    persons.map(async (person, index) =>
      person.submit(await person.get(url), "Send me a code", { email: emails[index] ?? "" }),
    ),
  );
  const codes = await Promise.all(emails.map(async (email) => codeFrom(await market.mail.next(email))));
  const answers = await Promise.all(
    persons.map((person, index) =>
      person.send(asked[index] as (typeof asked)[number], "code", { code: codes[index] ?? "" }),
    ),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
  const loser = persons[answers[0]?.status === 303 ? 1 : 0];
  t.is(loser && (await labelOf(market, loser)), null);
});

test("the page of a link lists the agents, and removes those that are left unchecked", async (t) => {
  const person = stranger();
  const [mine, theirs, third] = [
    await approve(person, "Mine"),
    await approve(person, "<i>Theirs</i>"),
    await approve(person, "Third"),
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
  const [mine, theirs] = [await approve(person, "Mine"), await approve(person, "Theirs")];
  const page = await person.get(`${market.url}/settings/methods`);
  const list = await person.submit(page, "Send the mail", { email: "first@example.com" });
  t.deepEqual([list.status, list.heading], [409, "Which agents are yours?"]);
  t.deepEqual(
    formsOf(list)[0]?.boxes.map(({ checked }) => checked),
    [false, false],
  );
  t.is(market.mail.letters.filter(({ to }) => to.includes("first@example.com")).length, 0);
  const sent = await person.submit(list, "Go on", { agent: [mine.id] });
  t.is(sent.heading, "Check your mail");
  await person.submit(sent, "code", { code: codeFrom(await market.mail.next("first@example.com")) });
  t.deepEqual((await me(mine)).account.verified, ["email"]);
  t.is((await theirs.call("GET", "/v1/me")).status, 401);
});

test("an agent that is approved while the page of a link is open is not taken over", async (t) => {
  const person = stranger();
  const mine = await approve(person, "Mine");
  const page = await person.get(await linkOf(mine));
  const late = await approve(person, "Late");
  const sent = await person.submit(page, "Send me a code", { email: "late.agent@example.com" });
  await person.submit(sent, "code", { code: codeFrom(await market.mail.next("late.agent@example.com")) });
  t.is((await late.call("GET", "/v1/me")).status, 401);
  t.true((await me(mine)).account.connected);
});

test("signing in to another account says what is lost, and adds the method to this account instead", async (t) => {
  const person = stranger();
  const mine = await approve(person, "Mine");
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

test("leaving an account without a method disconnects its agents, and only then", async (t) => {
  await signInByMail(market, stranger(), "elsewhere.home@example.com");
  const person = stranger();
  const mine = await approve(person, "Mine");
  const asked = await askForMail(market, person, "elsewhere.home@example.com");
  t.is(asked.heading, "You would lose an account");
  const sent = await person.submit(asked, "Leave it, and disconnect its agents");
  t.is(sent.heading, "Check your mail");
  t.true((await me(mine)).account.connected, "nothing is lost before the sign-in");
  await person.submit(sent, "code", {
    code: codeFrom(await market.mail.next("elsewhere.home@example.com")),
  });
  t.is((await mine.call("GET", "/v1/me")).status, 401);
  t.is(await labelOf(market, person), "elsewhere.home@example.com");
});

test("adding a method that opens another account is refused, and nothing is lost", async (t) => {
  await signInByMail(market, stranger(), "already.home@example.com");
  const person = stranger();
  const mine = await approve(person, "Mine");
  const asked = await askForMail(market, person, "already.home@example.com");
  const sent = await person.submit(asked, "Add it to this account", { agent: [] });
  const refused = await person.submit(sent, "code", {
    code: codeFrom(await market.mail.next("already.home@example.com")),
  });
  t.is(refused.status, 409);
  t.true(wordsOf(refused).includes("belongs to another account"));
  t.true((await me(mine)).account.connected);
});

test("programs get a Problem that says what to do", async (t) => {
  const person = stranger();
  await approve(person, "Mine");
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
  await approve(person, "Mine");
  t.regex(wordsOf(await person.get(`${market.url}/sign-out`)), /only by a link of one of its agents/);
  const kept = stranger();
  await signInByMail(market, kept, "kept@example.com");
  t.notRegex(wordsOf(await kept.get(`${market.url}/sign-out`)), /link of one of its agents/);
});
