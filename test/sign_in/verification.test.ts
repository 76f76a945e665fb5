import test from "ava";
import { type Agent, call, connectAgent } from "../support/market.ts";
import { codeFrom, linkFrom } from "./mailbox.ts";
import { askForMail, labelOf, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";
import { formsOf, type Visitor, wordsOf } from "./visitor.ts";

/**
 * Tests how an agent asks its person to prove a sign-in method: the agent's call, the page, the proof, and the effects.
 *
 *   proved   an agent whose account has proved an e-mail address, and the visitor who is signed in to the account
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

const proved = async (email: string): Promise<{ agent: Agent; visitor: Visitor }> => {
  const visitor = stranger();
  const agent = await approved(visitor);
  const { url } = await start(agent);
  const page = await askThere(visitor, url, email);
  await visitor.submit(page, "code", { code: codeFrom(await market.mail.next(email)) });
  // The message that a method was proved comes next.
  await market.mail.next(email);
  return { agent, visitor };
};

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

test("the publisher of an offer is shown as verified after the proof", async (t) => {
  const { agent } = await proved("publisher@example.com");
  const text = "Grey three-seat sofa for sale, good condition. 180 EUR, pick up in Berlin. Write to lena@example.com";
  const published = await agent.call("POST", "/v1/offers", { text });
  t.is(published.status, 201);
  const { body } = await agent.call("GET", `/v1/offers/${published.body.offer_id ?? published.body.id}`);
  t.is(body.publisher?.verified, true, JSON.stringify(body));
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

test("opening or previewing the link changes nothing", async (t) => {
  const agent = await approved(stranger());
  const { id, url } = await start(agent);
  const state = () => row(market, "select to_jsonb(v) as row from market.verification v where id = $1", [id]);
  const before = await state();
  for (const method of ["GET", "HEAD"]) t.is((await fetch(url, { method })).status, 200);
  t.deepEqual(await state(), before);
});

test("the link works only in the browser that approved the agent, and says so in any other", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const { id, url } = await start(agent);
  const page = await stranger().get(url);
  t.is(page.heading, "Open this in the browser in which you approved");
  t.deepEqual(formsOf(page), []);
  t.is((await person.get(url)).heading, "Your agent asks you to sign in");

  const own = await connectAgent(market.url);
  const other = await start(own);
  const switched = await person.get(other.url);
  t.is(switched.heading, "You are signed in to another account");
  t.true(switched.text.includes('href="/sign-out"'));
  t.deepEqual([await statusOf(agent, id), await statusOf(own, other.id)], ["pending", "pending"]);
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

test("an expired link says so, and a proof that comes too late counts for nothing", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const { id, url } = await start(agent);
  const page = await person.get(url);
  const asked = await person.submit(page, "Send me a code", { email: "slow@example.com" });
  await row(market, "update market.verification set expires_at = now() - interval '1 second' where id = $1", [id]);
  const late = await person.send(asked, "code", { code: codeFrom(await market.mail.next("slow@example.com")) });
  t.is(late.status, 410);
  t.is(await statusOf(agent, id), "expired");
  t.is((await person.get(url)).heading, "This link has ended");
  t.is((await person.send(page, "Send me a code", { email: "slow@example.com" })).status, 410);
  t.deepEqual((await agent.call("GET", "/v1/me")).body.account.verified, []);
});

test("a method of another account is refused with advice, and accounts are not merged", async (t) => {
  const owner = await proved("taken@example.com");
  const person = stranger();
  const agent = await approved(person);
  const { id, url } = await start(agent);
  const asked = await askThere(person, url, "taken@example.com");
  const refused = await person.send(asked, "code", { code: codeFrom(await market.mail.next("taken@example.com")) });
  t.is(refused.status, 409);
  t.true(wordsOf(refused).includes("belongs to another account"), wordsOf(refused));
  t.is(await statusOf(agent, id), "pending");
  t.deepEqual((await agent.call("GET", "/v1/me")).body.account.verified, []);
  t.deepEqual((await owner.agent.call("GET", "/v1/me")).body.account.verified, ["email"]);
  t.is(await labelOf(market, person), "a new account without a sign-in method");
  // A proof with another address still completes the verification.
  const again = await askThere(person, url, "free@example.com");
  await person.submit(again, "code", { code: codeFrom(await market.mail.next("free@example.com")) });
  t.is(await statusOf(agent, id), "completed");
});

test.serial("once the account has a method, the link works only for the person of the account", async (t) => {
  const { agent, visitor } = await proved("own@example.com");
  const { id, url } = await start(agent, "google");
  const other = stranger();
  await signInByMail(market, other, "curious@example.com");
  for (const who of [stranger(), other]) {
    const page = await who.get(url);
    t.is(page.heading, "Sign in first");
    t.false(page.text.includes("own@example.com"), "the page does not show the address");
    t.true(page.text.includes(`href="/sign-in?return=${encodeURIComponent(new URL(url).pathname)}"`));
    const token = formsOf(await who.get(`${market.url}/sign-out`))[0]?.fields["token"] ?? "";
    const forced = await who.post(url, { token, decision: "sign_in" });
    t.true([303, 400, 401].includes(forced.status));
    t.false((forced.headers.get("location") ?? "").startsWith("http"));
  }
  // After signing out, signing in again leads back to the link, which then works.
  await visitor.submit(await visitor.get(`${market.url}/sign-out`), "Sign out here");
  const back = await visitor.follow(await signInByMail(market, visitor, "own@example.com", new URL(url).pathname));
  t.is(back.heading, "Your agent asks you to sign in");
  market.google.person = { sub: "own", email: "own@gmail.example", email_verified: true };
  t.is((await visitor.submit(back, "Continue with Google")).heading, "You have signed in");
  t.is(await statusOf(agent, id), "completed");
});

test("the link in the mail completes a verification, too, in the browser that asked for it", async (t) => {
  const person = stranger();
  const agent = await approved(person);
  const { id, url } = await start(agent);
  await askThere(person, url, "bylink@example.com");
  const link = linkFrom(await market.mail.next("bylink@example.com"));
  const arrived = await person.submit(await person.get(link), "Sign in");
  t.is(arrived.url, url);
  t.is(await statusOf(agent, id), "completed");
});

test.serial("adding the method in the settings completes a pending verification of it", async (t) => {
  const { agent, visitor } = await proved("elsewhere@example.com");
  const { id } = await start(agent, "google");
  market.google.person = { sub: "elsewhere", email: "elsewhere@gmail.example", email_verified: true };
  const page = await visitor.get(`${market.url}/settings/methods`);
  await visitor.submit(page, "Add Google");
  t.is(await statusOf(agent, id), "completed");
});

test("a form whose token is no longer valid is shown again with what was typed", async (t) => {
  const agent = await connectAgent(market.url);
  const { url } = await start(agent);
  const person = stranger();
  const page = await person.get(url);
  person.jar.clear();
  const again = await person.send(page, "Send me a code", { email: "stale@example.com" });
  t.is(again.status, 400);
  t.is(formsOf(again)[0]?.fields["email"], "stale@example.com");
  t.is((await person.submit(again, "Send me a code")).heading, "Check your mail");
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
