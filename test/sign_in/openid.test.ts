import test from "ava";
import { labelOf, type Market, row, signInByMail, startMarket, stranger } from "./market.ts";
import { formsOf, type View, type Visitor, wordsOf } from "./visitor.ts";

/**
 * Tests signing in with real OpenID servers, one configured like Google and one like Apple. The tests are serial,
 * because a provider signs in one person at a time.
 */

let market: Market;
test.before(async () => {
  market = await startMarket();
});
test.after.always(() => market?.close());

const atGoogle = async (visitor: Visitor, back = ""): Promise<View> => {
  const page = await visitor.get(`${market.url}/sign-in${back}`);
  return visitor.submit(page, "Continue with Google");
};

/** Goes as far as Apple's page that makes the browser post its response. */
const toApple = async (visitor: Visitor): Promise<View> =>
  visitor.submit(await visitor.get(`${market.url}/sign-in`), "Continue with Apple");

const atApple = async (visitor: Visitor, user?: string): Promise<View> =>
  visitor.submit(await toApple(visitor), "code", user === undefined ? {} : { user });

const accountOf = (visitor: Visitor) =>
  row<{ id: string; display_name: string | null; methods: string[] }>(
    market,
    `select a.id, a.display_name, array(select method from market.proved_method p where p.account_id = a.id order by 1) as methods
     from market.account a join market.session s on s.account_id = a.id
     where s.secret_hash = sha256(convert_to($1, 'UTF8'))`,
    [visitor.cookie(market.url, "souk_session") ?? ""],
  );

// First, because this service has not seen the provider yet.
test.serial("if a provider is down, a 503 page says so; once it is back, signing in works again", async (t) => {
  const { google, url } = market;
  google.down = true;
  const person = stranger();
  const failed = await person.send(await person.get(`${url}/sign-in?return=/settings/methods`), "Continue with Google");
  t.is(failed.status, 503);
  t.is(failed.headers.get("retry-after"), "30");
  t.true(wordsOf(failed).includes("Google cannot be reached at the moment"));
  t.true(
    formsOf(failed).some(({ holds }) => holds.has("email")),
    "the other sign-in methods are still offered",
  );
  google.down = false;
  google.person = { sub: "later", email: "later@example.com", email_verified: true };
  let step = await person.send(failed, "Continue with Google");
  t.is(step.status, 303);
  // The provider goes down again, when the code is about to be exchanged.
  const next = () => new URL(step.headers.get("location") ?? "", step.url).href;
  while (!next().startsWith(url)) step = await person.get(next());
  google.down = true;
  const middle = await person.get(next());
  t.deepEqual([middle.status, middle.heading], [503, "Briefly unavailable"]);
  google.down = false;
  t.is((await person.get(next())).status, 303, "a reload then finishes the sign-in");
  t.is(await labelOf(market, person), "later@example.com");
});

test.serial("signing in with Google twice leads to the same account", async (t) => {
  market.google.person = { sub: "1", email: "Lena@Example.com", email_verified: true, name: "Lena" };
  const lena = stranger();
  const page = await lena.get(`${market.url}/sign-in?return=/settings/methods`);
  const sent = await lena.send(page, "Continue with Google");
  t.is(sent.status, 303);
  const asked = new URL(sent.headers.get("location") ?? "");
  t.is(asked.origin, market.google.issuer);
  t.like(Object.fromEntries(asked.searchParams), {
    scope: "openid email profile",
    response_type: "code",
    code_challenge_method: "S256",
    redirect_uri: `${market.url}/sign-in/google`,
  });
  for (const name of ["state", "nonce", "code_challenge"]) t.regex(asked.searchParams.get(name) ?? "", /^[\w-]{43}$/);
  const flow = lena.cookie(market.url, "souk_flow") ?? "";
  t.false(asked.search.includes(flow));
  const arrived = await lena.follow(sent);
  t.is(new URL(arrived.url).pathname, "/settings/methods");
  t.is(await labelOf(market, lena), "Lena (lena@example.com)");
  const { id } = await accountOf(lena);

  const again = stranger();
  await atGoogle(again);
  t.is((await accountOf(again)).id, id);
});

test.serial("Apple posts its response, gets a signed client secret, and sends the name only once", async (t) => {
  market.apple.person = { sub: "2", email: "max@privaterelay.example", email_verified: "true" };
  const max = stranger();
  const form = await toApple(max);
  t.is(new URL(form.url).origin, market.apple.issuer);
  const before = max.cookie(market.url, "souk_session");
  const user = JSON.stringify({ name: { firstName: "Max", lastName: "<b>Muster</b>" }, email: "forged@example.com" });
  const posted = await max.send(form, "code", { user });
  t.is(posted.status, 303, "the post from Apple's page only gets a redirect");
  t.true(posted.headers.get("location")?.startsWith("/sign-in/apple?code="));
  t.deepEqual(posted.headers.getSetCookie(), []);
  t.is(max.cookie(market.url, "souk_session"), before);
  await max.follow(posted);
  t.is(await labelOf(market, max), "Max &lt;b&gt;Muster&lt;/b&gt; (max@privaterelay.example)");
  const [secret] = market.apple.clientSecrets;
  t.like(secret, { iss: "TEAM123456", sub: "souk-client", aud: market.apple.issuer, kid: "KEY1234567" });
  t.is(Number(secret?.["exp"]) - Number(secret?.["iat"]), 300);

  const again = stranger();
  await atApple(again);
  t.is((await accountOf(again)).id, (await accountOf(max)).id);
  t.is((await accountOf(again)).display_name, "Max <b>Muster</b>", "the name stays, although it is not sent again");
});

test.serial("a malformed name from Apple is ignored", async (t) => {
  for (const [index, user] of [
    "{",
    "null",
    '{"name":7}',
    '{"name":{"firstName":{"a":1}}}',
    "x".repeat(3000),
  ].entries()) {
    market.apple.person = { sub: `odd-${index}` };
    const person = stranger();
    await atApple(person, user);
    t.is((await accountOf(person)).display_name, null, user.slice(0, 40));
  }
});

test.serial("an unverified e-mail address from a provider is not stored and opens no other account", async (t) => {
  const owner = stranger();
  await signInByMail(market, owner, "owner@example.com");
  for (const [index, email_verified] of [false, "false", undefined].entries()) {
    market.google.person = {
      sub: `unverified-${index}`,
      email: "owner@example.com",
      ...(email_verified === undefined ? {} : { email_verified }),
    };
    const person = stranger();
    await atGoogle(person);
    t.not((await accountOf(person)).id, (await accountOf(owner)).id);
    t.is(await labelOf(market, person), "the account that you sign in to with Google");
  }
});

test.serial("a person who cancels at the provider is told that nothing was changed", async (t) => {
  const person = stranger();
  const sent = await person.send(await person.get(`${market.url}/sign-in`), "Continue with Google");
  const state = new URL(sent.headers.get("location") ?? "").searchParams.get("state");
  const back = new URLSearchParams({ error: "access_denied", state: state ?? "", iss: market.google.issuer });
  const page = await person.get(`${market.url}/sign-in/google?${back}`);
  t.is(page.status, 400);
  t.true(wordsOf(page).includes("Google did not sign you in, or you cancelled there. Nothing was changed."));
  t.is((await person.follow(await person.get(`${market.url}/sign-in`))).status, 200);
});

test.serial("a reload signs in if the first response was lost", async (t) => {
  market.google.person = { sub: "lost", email: "lost@example.com", email_verified: true };
  const person = stranger();
  let step = await person.send(
    await person.get(`${market.url}/sign-in?return=/settings/agents`),
    "Continue with Google",
  );
  const before = new Map(person.jar.get("127.0.0.1"));
  while (!step.url.startsWith(`${market.url}/sign-in/google`)) {
    step = await person.get(new URL(step.headers.get("location") ?? "", step.url).href);
  }
  person.jar.set("127.0.0.1", before);
  const again = await person.get(step.url);
  t.is(again.headers.get("location"), "/settings/agents");
  t.is(await labelOf(market, person), "lost@example.com");
});

test.serial(
  "from one address exactly sixty sign-ins an hour are started, and the page says what to do next",
  async (t) => {
    const crowd = stranger();
    const page = await crowd.get(`${market.url}/sign-in`);
    const begin = (n: number) => crowd.send(page, n % 2 === 0 ? "Continue with Google" : "Continue with Apple");
    const begun = await Promise.all(Array.from({ length: 75 }, (_, n) => begin(n)));
    const refused = begun.filter(({ status }) => status === 429);
    t.deepEqual([begun.filter(({ status }) => status === 303).length, refused.length], [60, 15]);
    for (const view of [...refused, await crowd.send(page, "email", { email: "crowd@example.com" })]) {
      t.regex(wordsOf(view), /Too many sign-ins were started from your network\. Try again in 60 minutes, or now from/);
      t.true(formsOf(view).length > 0, "the page has its form again");
      const wait = Number(view.headers.get("retry-after"));
      t.true(wait > 3_400 && wait <= 3_600, `Retry-After: ${wait}`);
    }
    const neighbour = stranger();
    t.is((await neighbour.send(await neighbour.get(`${market.url}/sign-in`), "Continue with Google")).status, 303);
  },
);
