import Validator from "@adobe/structured-data-validator";
import test from "ava";
import { SESSION_COOKIE } from "../../src/base/cookies.ts";
import { newVisitor, type View, type Visitor } from "../sign_in/visitor.ts";
import { openPage, screenshot, VIEWS } from "../support/browser.ts";
import { type Agent, type Answer, call, connectedAgent } from "../support/market.ts";
import { type Fixture, heading, openFixture, press } from "./fixture.ts";
import { type Script, servePages, servePagesBelow, type Teardown } from "./site.ts";
import { faults, invalidHtml, SOUND } from "./sound.ts";

/** Tests the page of an offer, against the real service: who sees what, and that no contact leaks. */

const TEXT = `Oak table for eight, used, in good condition. 180 EUR, pick up in Berlin-Neukölln.

Call Lena at 030 901820, or write to lena@example.com.
The shop is lena-moebel.example.com, the second number is 0176 9988 7766. <script>alert(1)</script>`;
const IMAGES = ["https://images.example.com/table.jpg"];
/** Every way in which the text says how to reach its author. */
const CONTACTS = /030 ?901820|4930901820|lena@example\.com|lena-moebel|9988 ?7766/;

let fixture: Fixture;
let seller: Agent;
test.before(async () => {
  fixture = await openFixture();
  seller = await connectedAgent(fixture.service.url, fixture.database, "Seller");
});
test.after.always(() => fixture?.end());

const publish = async (agent: Agent, text = TEXT): Promise<{ id: string; url: string }> => {
  const { status, body } = await agent.call("POST", "/v1/offers", { text, images: IMAGES });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { id: body.offer_id, url: body.web_url };
};

const open = (id: string, headers: Record<string, string> = {}): Promise<Answer> =>
  call(fixture.service.url, "GET", `/offers/${id}`, { headers });

/** The structured data of a page. */
const jsonLdOf = ({ text }: Answer): Record<string, unknown> =>
  JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text)?.[1] ?? "{}");

test("a visitor sees the offer without any contact, and machines read it in schema.org's words", async (t) => {
  const { id, url } = await publish(seller);
  const page = await open(id);
  t.is(page.status, 200);
  t.is(page.headers["cache-control"], "no-store");
  t.is(page.headers["x-robots-tag"], "noindex");
  t.notRegex(page.text, CONTACTS);
  t.true(page.text.includes("[…]"));
  t.regex(page.text, /180 EUR/);
  t.regex(page.text, /Berlin-Neukölln/);
  t.false(page.text.includes("<script>alert"));
  t.true(page.text.includes(`href="${IMAGES[0]}"`));
  t.true(page.text.includes(`<meta property="og:url" content="${url}">`));
  t.false(page.text.includes("Report this offer"));
  t.is(page.headers["set-cookie"], undefined, "nobody is recognized who only looks");
  t.deepEqual(await invalidHtml(page.text), []);
  t.false(page.text.includes("<img"));

  const data = jsonLdOf(page);
  t.like(data, {
    "@type": "Product",
    url,
    image: IMAGES,
    offers: {
      price: 180,
      priceCurrency: "EUR",
      itemCondition: "https://schema.org/UsedCondition",
      availableAtOrFrom: { "@type": "Place", address: { addressCountry: "DE", addressLocality: "Berlin" } },
    },
  });
  const issues = await new Validator().validate({ jsonld: { Product: [data] }, microdata: {}, rdfa: {} });
  t.deepEqual(
    issues.filter(({ severity }) => severity === "ERROR"),
    [],
  );
});

const LEAKS: Record<string, [text: string, leaks: RegExp, images?: string[]]> = {
  "a number that is written twice": [
    "Oak table, 50 €. Tel: 0176 12345678, mobil 0176/12345678, or 0176-123-456-78",
    /1234567|345678|456-78/,
  ],
  "a number without its beginning": [
    "Eichentisch, 50 €, Berlin. Tel. 030 901820, oder einfach 90 18 20",
    /901820|90 18 20/,
  ],
  "a site with capitals in the title": [
    "Lena-Moebel.de: oak table, 180 EUR, Berlin. LENA-MOEBEL.DE, see www.lena-moebel.de or https://lena-moebel.de/",
    /lena-moebel/i,
  ],
  "a picture on the publisher's own site": [
    "Oak table, 180 EUR, Berlin. See https://www.lena-moebel.example/",
    /lena-moebel/,
    ["https://lena-moebel.example/table.jpg", "https://pictures.example/a.jpg?to=lena-moebel.example"],
  ],
  "links of pictures with an address and a number": [
    "Oak table, 180 EUR, Berlin. lena@example.com or 0176 12345678",
    /lena|56-78/i,
    [
      "https://pictures.example/Lena%40example.com/1.jpg",
      "https://pictures.example/call-0176-12-34-56-78.jpg",
      `https://pictures.example/${"17".repeat(900)}.jpg`,
    ],
  ],
  "an address that the end of the title cuts": [
    `${"Very solid oak table with four chairs and a bench ".repeat(2)}please write to: lenaweber@example.com 180 EUR`,
    /lenaw|@exa/,
  ],
  "a number in digits of another script": [
    "Oak table, 180 EUR, Berlin. lena@example.com or ٠١٧١ ٢٣٤٥٦٧٨, ०१७१ २३४५६७८, ０１７１２３４５６７８",
    /[٢३３]/,
  ],
  "a name at a messenger": [
    "Oak table, 180 EUR, Berlin. lena@example.com, Telegram @lena_sofa (or @Lena.Sofa)",
    /lena/i,
  ],
  "an address with gaps, and numbers with odd signs between their digits": [
    "Oak table, 180 EUR, Berlin. kim@example.com or lena @ example . com, +49·170·1234567, 0170_123_4567, 0170|1234567",
    /lena|example|123/i,
  ],
  "an address in capitals, and one in words": [
    "Oak table, 180 EUR, Berlin. lena@example.com, LENA@EXAMPLE.COM, lena (at) example (dot) com",
    /lena|example/i,
  ],
};

for (const [what, [text, leaks, images = []]] of Object.entries(LEAKS)) {
  test(`a visitor is not told the contact: ${what}`, async (t) => {
    const agent = await connectedAgent(fixture.service.url, fixture.database, "Leaky");
    const { status, body } = await agent.call("POST", "/v1/offers", { text, images });
    t.is(status, 201);
    const [, shown = ""] = /<title>(.*)<\/body>/s.exec((await open(body.offer_id)).text) ?? [];
    t.notRegex(shown, leaks);
    t.regex(shown, /[Oo]ak table|Eichentisch/);
    t.is(
      shown.includes("171717"),
      images.some((link) => link.includes("171717")),
      "a link without a contact is shown",
    );
  });
}

test("a person with a session sees the contact, and can report the offer", async (t) => {
  const { id } = await publish(seller);
  const { page, account } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/offers/${id}`);
  const text = (await page.locator("main").textContent()) ?? "";
  t.regex(text, /030 901820/);
  t.regex(text, /lena-moebel/);
  t.deepEqual(
    await page.locator("section.card a").evaluateAll((links) => links.map((link) => (link as { href: string }).href)),
    ["tel:+4930901820", "mailto:lena@example.com", "https://lena-moebel.example.com/", "tel:+4917699887766"],
  );
  t.is(await page.locator('script[type="application/ld+json"]').count(), 0, "no machine has a session");
  await page.getByText("Report this offer").click();
  t.deepEqual(await faults(page), SOUND);
  await page.getByLabel("What is wrong with it").selectOption("scam");
  await page.getByLabel("A word for the moderator").fill("He wants the money first.");
  await press(page, "Report it");
  t.is(await page.getByRole("status").textContent(), "Thank you. A moderator will look at this offer.");
  t.deepEqual(await fixture.sql("select reason, comment, account_id from market.report where offer_id = $1", [id]), [
    { reason: "scam", comment: "He wants the money first.", account_id: account },
  ]);
});

test("the report of a person who signed out meanwhile leads to the sign-in, and a refused one keeps the words", async (t) => {
  const { id } = await publish(seller);
  const { page, account } = await fixture.newPerson(t);
  const report = async (): Promise<void> => {
    await page.goto(`${fixture.service.url}/offers/${id}`);
    await page.getByText("Report this offer").click();
    await page.getByLabel("What is wrong with it").selectOption("spam");
    await page.getByLabel("A word for the moderator").fill("Seen elsewhere.");
  };
  await report();
  await fixture.sql("update market.account set suspended_at = now() where id = $1", [account]);
  await press(page, "Report it");
  t.regex((await page.getByRole("alert").textContent()) ?? "", /suspended/);
  t.is(await page.getByRole("status").count(), 0);
  t.is(await page.getByLabel("A word for the moderator").inputValue(), "Seen elsewhere.");
  t.deepEqual(await faults(page), SOUND);
  await report();
  await fixture.sql("delete from market.session where account_id = $1", [account]);
  await press(page, "Report it");
  t.regex(page.url(), /\/sign-in\?return=/);
  t.deepEqual(await fixture.sql("select from market.report where offer_id = $1", [id]), []);
});

test("an offer that is not live has no page, except for its owner, whom it tells why", async (t) => {
  const { page, agent, account } = await fixture.newPerson(t);
  const { id, url } = await publish(agent);
  t.is((await agent.call("POST", `/v1/offers/${id}/archive`)).status, 200);
  t.is((await open(id)).status, 404);
  await page.goto(url);
  t.regex((await page.locator(".notice").textContent()) ?? "", /You took this offer down/);
  t.is(await page.getByText("Report this offer").count(), 0);
  t.deepEqual(await faults(page), SOUND);

  t.is((await agent.call("POST", `/v1/offers/${id}/republish`)).status, 200);
  t.is((await open(id)).status, 200);
  await fixture.sql("update market.account set hiding = true, suspended_at = now() where id = $1", [account]);
  t.is((await open(id)).status, 404);
  // No moderator did it, so no job archives the offer.
  await fixture.sql("update market.account set hiding = false, suspended_at = null where id = $1", [account]);
  for (const unknown of ["0190c7a4-0000-7000-8000-00000000000a", "x", "%00", "..%2f"])
    t.is((await open(unknown)).status, 404, unknown);
  t.is((await call(fixture.service.url, "DELETE", `/offers/${id}`)).status, 405);
});

const SHOWN = {
  signed_in: false,
  sees_contact: false,
  contact_visibility: "public",
  title: "Grey three-seat sofa",
  text: "A sofa.",
  price: "180 EUR",
  location: "Berlin",
  language: "en",
  offer_kind: "sale",
  pricing: { type: "fixed", amount: 180, currency: "EUR" },
  place: { country: "DE", city: "Berlin" },
  condition: "used_good",
  images: [],
  published_at: "2026-03-04T14:03:22.000Z",
  confirmed_at: "2026-03-04T14:03:22.000Z",
  publisher: {
    verified: true,
    member_since: "2026-02",
    offers: { active: 1, lifetime: 1, removed: 0 },
  },
  contact: null,
  owner: null,
  reasons: null,
  indexed: false,
};
const ID = "0190c7a4-0000-7000-8000-00000000000a";

for (const path of ["", "/souk"]) {
  const below = path === "" ? "" : `, also below ${path}`;
  const serve = (t: Teardown, shown: object) => {
    const script: Script = {
      get_offer_page: { ...SHOWN, ...shown },
      get_viewer: { viewer: null },
      start_sign_in: { email: "lena@example.com", code_digits: 6 },
      get_sign_in: { method: "email", email: "lena@example.com", expires_in: 873, tries_left: 5, finished: false },
      finish_mail_sign_in: { label: "lena@example.com" },
    };
    return path === "" ? servePages(t, script) : servePagesBelow(t, path, script);
  };
  /** Returns the page that a person sees after signing in on this page. */
  const signInOn = async (visitor: Visitor, page: View): Promise<string> => {
    const code = await visitor.submit(page, "email", { email: "lena@example.com" });
    const arrived = await visitor.follow(await visitor.send(code, "code", { code: "123456" }));
    return `${arrived.status} ${arrived.url}`;
  };

  test(`a person who signs in to see the contact comes back to the offer${below}`, async (t) => {
    const site = await serve(t, {});
    const visitor = newVisitor();
    const offer = await visitor.get(`${site.url}/offers/${ID}`);
    const link = /href="([^"]*)">Sign in to see it</.exec(offer.text)?.[1] ?? "";
    t.is(link, `${path}/sign-in?return=%2Foffers%2F${ID}`);
    const page = await visitor.get(new URL(link, site.url).href);
    t.is(await signInOn(visitor, page), `200 ${site.url}/offers/${ID}`);
  });

  test(`a person whose session ended before a report signs in and comes back to the offer${below}`, async (t) => {
    const site = await serve(t, { signed_in: true, reasons: [{ code: "spam", summary: "Spam" }] });
    const visitor = newVisitor();
    const offer = await visitor.get(`${site.url}/offers/${ID}?done=reported`);
    const page = await visitor.submit(offer, "Report it", { reason: "spam" });
    t.is(page.url, `${site.url}/sign-in?return=%2Foffers%2F${ID}`);
    t.is(await signInOn(visitor, page), `200 ${site.url}/offers/${ID}`);
  });
}

test("whatever strangers wrote stays text, and only links to sites can be followed", async (t) => {
  const hostile = `</script><b>" onload='x'<!--`;
  const site = await servePages(t);
  const read = (shown: object) => {
    site.script["get_offer_page"] = { ...SHOWN, ...shown };
    return call(site.url, "GET", `/offers/${ID}`, { headers: { cookie: `${SESSION_COOKIE}=x` } });
  };
  const methods = [
    { type: "url", value: "javascript:alert(1)", preferred: false },
    { type: "whatsapp", value: "+491760000000", preferred: true },
  ];
  const images = [{ url: "javascript:alert(1)" }, { url: "https://ok.example/a.png" }];
  const contact = { methods, primary: { name: hostile } };
  const seen = await read({
    signed_in: true,
    sees_contact: true,
    title: hostile,
    text: hostile,
    price: hostile,
    images,
    contact,
  });
  t.is(seen.text.match(/<script/g), null);
  t.notRegex(seen.text, /href="javascript/);
  t.true(seen.text.includes('href="https://wa.me/491760000000"'));
  const hidden = await read({
    signed_in: true,
    sees_contact: true,
    text: "18\u200b0 EUR \u202eliam-e\u{e0041} 👩‍🔧\nmore",
  });
  t.regex(hidden.text, />180 EUR liam-e 👩‍🔧\nmore</);
  const visited = await read({ title: hostile, text: hostile });
  t.is(visited.text.match(/<script/g)?.length, 1, "only the structured data");
  t.is((jsonLdOf(visited) as { name: string }).name, hostile);
  for (const { text } of [seen, visited]) t.deepEqual(await invalidHtml(text), []);
});

test("prices by time, ranges and services are described as schema.org does", async (t) => {
  const site = await servePages(t, {});
  const described = async (change: object) => {
    site.script["get_offer_page"] = { ...SHOWN, ...change };
    return jsonLdOf(await call(site.url, "GET", `/offers/${ID}`));
  };
  t.like(
    await described({
      offer_kind: "rental",
      pricing: { type: "fixed", amount: 900, currency: "EUR", period: "month" },
    }),
    { "@type": "Product", offers: { priceSpecification: { price: 900, unitCode: "MON" } } },
  );
  t.like(await described({ pricing: { type: "free" } }), { "@type": "Product", offers: { price: 0 } });
  t.like(
    await described({
      offer_kind: "service_offer",
      condition: null,
      pricing: { type: "range", amount: 20, amount_max: 30, currency: "EUR", period: "hour" },
    }),
    { "@type": "Offer", name: "Grey three-seat sofa", priceSpecification: { minPrice: 20, maxPrice: 30 } },
  );
  t.like(await described({ pricing: { type: "from", amount: 20, currency: "EUR" } }), {
    "@type": "Offer",
    priceSpecification: { minPrice: 20 },
  });
  const bare = await described({ pricing: null, place: null, location: null, condition: null });
  t.deepEqual(Object.keys(bare).sort(), ["@context", "@type", "availability", "description", "name", "url"]);
});

test("the page fits every screen in both colours", async (t) => {
  const { id } = await publish(seller);
  for (const view of VIEWS) {
    const page = await openPage(fixture.browser, view, t);
    await page.goto(`${fixture.service.url}/offers/${id}`);
    t.regex((await heading(page)) ?? "", /table/i);
    t.deepEqual(await faults(page), SOUND, view.name);
    await screenshot(page, `offer-${view.name}`);
  }
  const { page } = await fixture.newPerson(t);
  await page.goto(`${fixture.service.url}/offers/${id}`);
  await page.getByText("Report this offer").click();
  await screenshot(page, "offer-session");
});
