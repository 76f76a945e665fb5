import test from "ava";
import { allowed } from "../support/busy.ts";
import { connectAgent, until } from "../support/market.ts";
import { type FakeProvider, startFakeProvider, type Told } from "./fake_provider.ts";
import { labelOf, type Market, startMarket, stranger } from "./market.ts";
import { formsOf, type View, type Visitor, wordsOf } from "./visitor.ts";

/** Tests dishonest responses of an OpenID provider. The tests are serial, because all share one provider. */

let market: Market;
let fake: FakeProvider;
test.before(async () => {
  fake = await startFakeProvider();
  market = await startMarket(fake.env);
});
test.after.always(async () => {
  await market?.close();
  await fake?.close();
});
test.beforeEach(() => {
  fake.told = {};
});

/** Starts a sign-in and returns from the provider. `told` changes the ID token, `answer` the callback's parameters. */
const comeBack = async (visitor: Visitor, told: Told, answer: Record<string, string> = {}): Promise<View> => {
  fake.told = told;
  const sent = await visitor.send(await visitor.get(`${market.url}/sign-in`), "Continue with Google");
  const asked = new URL(sent.headers.get("location") ?? "").searchParams;
  fake.nonce = asked.get("nonce") ?? "";
  const parameters = new URLSearchParams({ code: "code", state: asked.get("state") ?? "", ...answer });
  return visitor.get(`${market.url}/sign-in/google?${parameters}`);
};

test.serial("an honest response signs in, and the code is exchanged with the PKCE verifier", async (t) => {
  const person = stranger();
  const arrived = await comeBack(person, {});
  t.is(arrived.status, 303);
  t.is(await labelOf(market, person), "victim@example.com");
  t.like(Object.fromEntries(fake.asked.at(-1) ?? []), {
    code: "code",
    redirect_uri: `${market.url}/sign-in/google`,
    client_id: "souk-client",
  });
  t.regex(fake.asked.at(-1)?.get("code_verifier") ?? "", /^[\w-]{43}$/);
});

const now = () => Math.floor(Date.now() / 1000);

const json = (body: string, status = 200): Told => ({ answer: { status, type: "application/json", body } });
const DISHONEST: [string, () => Told][] = [
  ["the nonce of another attempt", () => ({ claims: { nonce: "other" } })],
  ["no nonce", () => ({ claims: { nonce: undefined } })],
  ["another issuer", () => ({ claims: { iss: "https://evil.example" } })],
  ["another audience", () => ({ claims: { aud: "another-client" } })],
  ["an azp of another client", () => ({ claims: { azp: "another", aud: ["souk-client", "another"] } })],
  ["an expired token", () => ({ claims: { exp: now() - 600, iat: now() - 900 } })],
  ["no expiry", () => ({ claims: { exp: undefined } })],
  ["no subject", () => ({ claims: { sub: undefined } })],
  ["an empty subject", () => ({ claims: { sub: "" } })],
  ["a subject with a control character", () => ({ claims: { sub: "a\u0000b" } })],
  ["a subject that is too long", () => ({ claims: { sub: "s".repeat(256) } })],
  ["a number for a subject", () => ({ claims: { sub: 7 } })],
  ["alg none", () => ({ signed: "none" })],
  ["a signature with the client secret", () => ({ signed: "with the client secret" })],
  ["a signature with a foreign key", () => ({ signed: "elsewhere" })],
  ["no ID token", () => json('{"access_token":"a","token_type":"Bearer"}')],
  ["a malformed ID token", () => json('{"access_token":"a","token_type":"Bearer","id_token":"a.b.c"}')],
  ["a used code", () => json('{"error":"invalid_grant"}', 400)],
];

for (const [what, told] of DISHONEST) {
  test.serial(`${what} is refused`, async (t) => {
    const person = stranger();
    const page = await comeBack(person, told());
    t.is(page.status, 400);
    t.is(page.heading, "You were not signed in");
    t.true(wordsOf(page).includes("is not valid, so you were not signed in."), wordsOf(page));
    t.is(person.cookie(market.url, "souk_session"), undefined);
    t.is(await labelOf(market, person), null);
  });
}

for (const [what, answer] of [
  ["another state", { state: "x".repeat(43) }],
  ["an empty state", { state: "" }],
  ["an iss parameter of another issuer", { iss: "https://evil.example" }],
] as [string, Record<string, string>][])
  test.serial(`${what} is refused without a request to the provider`, async (t) => {
    const person = stranger();
    const asked = fake.asked.length;
    t.is((await comeBack(person, {}, answer)).status, 400);
    t.is(fake.asked.length, asked);
    t.is(await labelOf(market, person), null);
  });

test.serial("a response of one provider does not finish an attempt at another", async (t) => {
  const person = stranger();
  const sent = await person.send(await person.get(`${market.url}/sign-in`), "Continue with Apple");
  const state = new URL(sent.headers.get("location") ?? "").searchParams.get("state") ?? "";
  t.is((await person.get(`${market.url}/sign-in/google?code=code&state=${state}`)).status, 400);
  t.is(await labelOf(market, person), null);
});

test.serial("a malformed e-mail address from a provider is not stored", async (t) => {
  for (const [index, email] of [
    "a@b.example\r\nBcc: eve@evil.example",
    "x".repeat(300),
    7,
    "a, b@c.example",
    null,
  ].entries()) {
    const person = stranger();
    t.is((await comeBack(person, { claims: { sub: `odd-${index}`, email } })).status, 303);
    t.is(await labelOf(market, person), "the account that you sign in to with Google");
  }
});

test.serial("a name with HTML, with control characters or of great length does no harm", async (t) => {
  const names = ["<script>alert(1)</script>", "Lena\u202E\u0000\r\nBcc: x", "W".repeat(5000), { a: 1 }, "\uD800"];
  for (const [index, name] of names.entries()) {
    const person = stranger();
    t.is(
      (await comeBack(person, { claims: { sub: `name-${index}`, email: undefined, name } })).status,
      303,
      String(name),
    );
    const page = await person.get(`${market.url}/sign-out`);
    t.is(page.status, 200);
    t.notRegex(page.text, /<script|\u202E|\r|W{81}|\[object/);
  }
});

for (const [what, told] of [
  ["a server error", { answer: { status: 500, type: "text/plain", body: "no" } }],
  ["a server error in JSON", { answer: { status: 502, type: "application/json", body: '{"error":"server_error"}' } }],
  ["a page instead of JSON", { answer: { status: 200, type: "text/html", body: "<h1>Maintenance</h1>" } }],
  ["silence", { silent: true }],
] as [string, Told][]) {
  test.serial(`${what} from the token endpoint gives a 503 page within seconds`, async (t) => {
    const person = stranger();
    const sent = await person.send(await person.get(`${market.url}/sign-in`), "Continue with Google");
    const state = new URL(sent.headers.get("location") ?? "").searchParams.get("state") ?? "";
    fake.told = told;
    const start = Date.now();
    const page = await person.get(`${market.url}/sign-in/google?code=code&state=${state}`);
    t.is(page.status, 503, wordsOf(page));
    t.true(Date.now() - start < allowed(8_000));
    t.is((await fetch(`${market.url}/healthz`)).status, 200);
  });
}

// ── A service whose provider does not work, and that has no mail server ──────────────────────────────────────────────

let failing: FakeProvider;
let other: Market;
test.before(async () => {
  failing = await startFakeProvider();
  failing.metadata = { authorization_endpoint: "https://elsewhere.example/authorize" };
  other = await startMarket({ ...failing.env, SMTP_URL: "", MAIL_FROM: "" });
});
test.after.always(async () => {
  await other?.close();
  await failing?.close();
});

test.serial("a method that the operator has not configured is not available", async (t) => {
  const agent = await connectAgent(other.url);
  const { account } = (await agent.call("GET", "/v1/me")).body;
  t.deepEqual([account.available_methods, account.unavailable_methods], [["google", "apple"], ["email"]]);
  const refused = await agent.call("POST", "/v1/me/verifications", { method: "email" });
  t.like(refused, { status: 400, body: { code: "unknown_method" } });
  const forms = formsOf(await stranger().get(`${other.url}/sign-in`));
  t.deepEqual(
    forms.flatMap(({ buttons }) => [...buttons.keys()]),
    ["Continue with Google", "Continue with Apple"],
  );
});

const beginAtFailing = async (): Promise<View> => {
  const person = stranger();
  return person.send(await person.get(`${other.url}/sign-in`), "Continue with Google");
};

test.serial("an authorization endpoint at another origin is not used, and the log says why", async (t) => {
  t.is((await beginAtFailing()).status, 503);
  // The line may still be on its way from the process.
  await until(() => other.service.logs().includes("has its sign-in page at another origin"));
});

test.serial("stopping the service does not wait for a silent provider, and the person gets a 503", async (t) => {
  failing.told = { silent: true };
  const sending = beginAtFailing();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const start = Date.now();
  const [answer] = await Promise.all([sending, other.service.stop()]);
  t.is(answer.status, 503);
  t.true(Date.now() - start < allowed(9_000));
});
