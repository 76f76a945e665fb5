import test from "ava";
import { hashSecret } from "../../src/base/tokens.ts";
import { CONFIRMATION, DEAL_ID, SESSION, serveSettings } from "./settings_site.ts";
import { raised, type Script, type Site, type Teardown } from "./site.ts";

/** The page of a confirmation over HTTP, with a fake database that gives scripted answers. */

const PATH = `/confirmations/${DEAL_ID}`;
const PERSON = { Cookie: `souk_session=${SESSION}` };

type Opened = { site: Site; html: string; cookie: string; fields: Record<string, string> };

const open = async (t: Teardown, script: Script = {}): Promise<Opened> => {
  const site = await serveSettings(t, script);
  const answer = await fetch(site.url + PATH, { headers: PERSON });
  const html = await answer.text();
  const field = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(html)?.[1] ?? "";
  const csrf = answer.headers.getSetCookie().find((cookie) => cookie.startsWith("souk_csrf=")) ?? "";
  site.calls.length = 0;
  return {
    site,
    html,
    cookie: `${csrf.split(";")[0]}; souk_session=${SESSION}`,
    fields: { token: field("token"), digest: field("digest") },
  };
};

const send = ({ site, cookie, fields }: Opened, more: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(site.url + PATH, {
    method: "POST",
    redirect: "manual",
    headers: { Cookie: cookie, Origin: site.url, "Sec-Fetch-Site": "same-origin", ...headers },
    body: new URLSearchParams({ ...fields, ...more }),
  });

const names = (site: Site): string[] => site.calls.map(({ name }) => name);

test("without a session nothing is shown or asked for: the person signs in and comes back", async (t) => {
  const site = await serveSettings(t);
  const answer = await fetch(site.url + PATH, { redirect: "manual" });
  t.is(answer.status, 303);
  t.is(answer.headers.get("location"), `/sign-in?${new URLSearchParams({ return: PATH })}`);
  const back = await (await fetch(`${site.url}${answer.headers.get("location")}`)).text();
  t.true(back.includes(`value="${PATH}"`), "the sign-in page leads back");
  t.false(names(site).includes("get_confirmation_page"));
  const problem = await fetch(site.url + PATH, { headers: { Accept: "application/json" } });
  t.is(problem.status, 401);
});

test("opening the page changes nothing, and is not cached", async (t) => {
  const site = await serveSettings(t);
  const answer = await fetch(site.url + PATH, { headers: PERSON });
  t.is(answer.headers.get("cache-control"), "no-store");
  await fetch(site.url + PATH, { method: "HEAD", headers: PERSON });
  t.deepEqual(new Set(names(site)), new Set(["get_confirmation_page"]));
  t.deepEqual(site.calls[0]?.actor, { person: hashSecret(SESSION) });
});

test("the page says what is agreed, who pays, and what follows", async (t) => {
  const { html } = await open(t);
  for (const words of [
    "The other side proposed this, and your side accepted it.",
    "Grey three-seat sofa, good condition",
    "Its price: <bdi>180 EUR</bdi>",
    '<dt>You get</dt><dd class="sum">170 EUR</dd>',
    "6 March 2026, 17:00</time> UTC",
    "A stranger’s words:",
    "Where: <bdi>Kreuzberg, by the canal</bdi>",
    "lena@example.com",
    "As soon as both sides have, it is agreed, and both get each other’s contact. Nothing is paid through the market",
    "Without an answer, that happens by itself in 47 hours.",
  ])
    t.true(html.includes(words), words);
});

for (const decision of ["confirm", "refuse"]) {
  test(`${decision}: the answer goes with the digest of what was shown, and leads to the page again`, async (t) => {
    const opened = await open(t);
    const answer = await send(opened, { decision });
    t.is(answer.status, 303);
    t.is(answer.headers.get("location"), PATH);
    t.deepEqual(
      opened.site.calls.map(({ name, args }) => [name, args]),
      [["decide_confirmation", { id: DEAL_ID, decision, digest: CONFIRMATION.digest }]],
    );
  });
}

test("if what was shown has changed, the page shows what it is now, with an alert", async (t) => {
  const detail = "What was shown has changed. Look at it again, then decide.";
  const opened = await open(t, { decide_confirmation: raised(409, "invalid_state", detail) });
  opened.site.script["get_confirmation_page"] = { ...CONFIRMATION, offer_changed: true, digest: "d2" };
  const answer = await send(opened, { decision: "confirm" });
  t.is(answer.status, 409);
  const html = await answer.text();
  t.true(html.includes(`role="alert">${detail}</p>`));
  t.true(html.includes("You have changed the offer since this was proposed."));
  t.true(html.includes('name="digest" value="d2"'));
  const problem = await send(opened, { decision: "confirm" }, { Accept: "application/json" });
  t.like(await problem.json(), { status: 409, code: "invalid_state", detail });
});

for (const [title, more, headers] of [
  ["another token", { decision: "confirm", token: "A".repeat(43) }, {}],
  ["another page", { decision: "confirm" }, { Origin: "https://evil.example" }],
  ["an agent's token", { decision: "confirm" }, { Authorization: `Bearer agt_${"0".repeat(49)}` }],
  ["another answer", { decision: "maybe" }, {}],
] as const) {
  test(`with ${title}, nothing is decided`, async (t) => {
    const opened = await open(t);
    t.is((await send(opened, more, headers as Record<string, string>)).status, 400);
    t.deepEqual(names(opened.site), []);
  });
}

test("a question to another account, or none, is not found, without a word about it", async (t) => {
  const unknown = raised(404, "not_found", "You have no such confirmation.");
  const site = await serveSettings(t, { get_confirmation_page: unknown });
  const answer = await fetch(site.url + PATH, { headers: PERSON });
  t.is(answer.status, 404);
  t.true((await answer.text()).includes("Nothing is here for this account"));
  site.calls.length = 0;
  t.is((await fetch(`${site.url}/confirmations/1`, { headers: PERSON })).status, 404);
  t.deepEqual(site.calls, []);
});

test("a stranger's words are escaped, marked and without effect", async (t) => {
  const evil = "<script>alert(1)</script> \u202Etxet";
  const { html } = await open(t, {
    get_confirmation_page: {
      ...CONFIRMATION,
      role: "inquirer",
      offer: { ...CONFIRMATION.offer, title: evil, price_label: evil },
      terms: { handover: { method: "pickup", place: evil }, note: evil },
    },
  });
  t.notRegex(html, /<script>|\u202E/);
  t.is(html.match(/&lt;script&gt;/g)?.length, 4);
});
