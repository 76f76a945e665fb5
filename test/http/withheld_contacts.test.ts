import test, { type ExecutionContext } from "ava";
import { type Agent, type Body, call, eventually, idleQueue } from "../support/market.ts";
import { answersTo } from "./answers_to.ts";
import { type Market, openMarket } from "./contract.ts";
import { publish } from "./offers.ts";

/** Offers whose contact not everybody sees: where it is withheld, from whom, and from when on. */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

/** In every form that the reader knows. Each has a mark by which it is found wherever it comes out. */
const CONTACTS: Record<string, string> = {
  "+49 1512 3456789": "3456789",
  "0176/83 24 91 57": "83 24 91",
  "zero seven seven zero zero nine zero zero three one eight": "zero nine zero",
  "Nele.Krumm@example.com": "nele.krumm@",
  "nele-shop [at] example [dot] org": "nele-shop",
  "nele.post @ example . com": "nele.post",
  "https://nelekrumm.example/kontakt": "nelekrumm.example",
  "t.me/nele_tele": "nele_tele",
  "https://wa.me/4915112223334": "12223334",
  "@nele_gram": "nele_gram",
  "Instagram: nele_insta77": "nele_insta77",
  "NeleDinge.de": "neledinge",
};
/** What a model may take from the text, and what was planted there. */
const NAME = "Nele Krumm-Petersen";
const MARKS = [...Object.values(CONTACTS), "krumm-petersen", "1512345678", "nele%40"];
const IMAGES = [
  "https://images.example/sofa.jpg",
  "https://images.example/by/nele%40example.com/1.jpg",
  "https://images.example/+4915123456789.jpg",
];

const textIn = (town: string): string =>
  `Grey three-seat sofa, good condition, 180 EUR, ${town}.\n${Object.keys(CONTACTS).join("\n")}\nThank you`;

/** The marks of contacts that come out in an answer. */
const leaksIn = (answer: string): string[] => MARKS.filter((mark) => answer.toLowerCase().includes(mark));

/** A sofa whose title, labels, attributes and party have contacts, too, as a model may read them. */
const publishSofa = async (seller: Agent, town: string, contact_visibility?: string): Promise<Body> => {
  const { body } = await publish(seller, { text: textIn(town), images: IMAGES, contact_visibility });
  await market.sql(
    `update market.offer set
       title = 'Grey sofa, call +49 1512-3456789 or nele.krumm@example.com',
       location_text = location_text || ', Nele.Krumm@example.com',
       metadata = metadata
         || jsonb_build_object('pricing', metadata -> 'pricing' || '{"label": "180 EUR (t.me/nele_tele)"}')
         || jsonb_build_object('location', metadata -> 'location' || '{"text": "${town} @nele_gram"}')
         || '{"features": ["soft, nele.post @ example . com"], "attributes": {"material": "oak, 0176/83 24 91 57"}}',
       contact = jsonb_set(contact, '{primary,name}', '"${NAME}"')
     where id = $1`,
    [body.offer_id],
  );
  return body;
};

const prove = async ({ id }: Agent): Promise<void> => {
  await market.sql(
    `insert into market.proved_method (account_id, method, subject_hash, email)
     select account_id, 'email', sha256(uuid_send(id)), id || '@example.net' from market.agent where id = $1`,
    [id],
  );
};

const page = async (offer: string, reader?: Agent): Promise<string> => {
  const headers = reader && { cookie: `souk_session=${(await market.person(reader)).cookie}` };
  return (await call(market.url, "GET", `/offers/${offer}`, headers ? { headers } : {})).text;
};

/** What a reader sees of the offer: its contact, and the marks that come out. */
const seen = async (reader: Agent, offer: string): Promise<[contact: Body, leaks: string[]]> => {
  const { body, text } = await reader.call("GET", `/v1/offers/${offer}`);
  return [body.content.contact, leaksIn(text)];
};

const withheld = (visibility: string) => [{ schema_version: 2, methods: [], withheld: visibility }, []];

const comesOutNowhere = async (t: ExecutionContext, reader: Agent, town: string, offer: Body, ask: string) => {
  const id: string = offer.offer_id;
  for (const [name, answer] of Object.entries(await answersTo(t, market, reader, { town, offer: id, ask })))
    t.deepEqual(leaksIn(answer), [], name);
  for (const shown of [await page(id), await page(id, reader)]) {
    t.deepEqual(leaksIn(shown), []);
    t.true(shown.includes("Grey sofa, call […] or […]"));
  }
  for (const word of ["3456789", "nele.krumm@example.com", "nele_gram", "neledinge"]) {
    const { body } = await reader.call("POST", "/v1/offers/search", { query: word });
    t.false(
      body.results.some((result: Body) => result.id === id),
      word,
    );
  }
  const [kept] = await market.sql(
    `select d.words::text || d.facets::text || d.facet_values::text || d.document || search.embedding_input(o) as words
     from market.offer o join search.document d on d.id = o.id where o.id = $1`,
    [id],
  );
  t.deepEqual(leaksIn(kept?.["words"]), []);
};

test("a withheld contact comes out nowhere, in whatever form and place it is written", async (t) => {
  const town = "Slagelse";
  const [seller, stranger] = [await market.agent(), await market.agent()];
  const { body: ask } = await stranger.call("POST", "/v1/asks", {
    text: `I want to buy a grey oak sofa in ${town}, up to 300 EUR`,
  });
  const offer = await publishSofa(seller, town, "approved");
  t.is(offer.contact_visibility, "approved");
  await idleQueue(market.databaseUrl);
  await eventually(
    () => stranger.call("GET", `/v1/asks/${ask.id}/matches`),
    ({ body }) => body.results.length > 0,
  );

  t.deepEqual(await seen(stranger, offer.offer_id), withheld("approved"));
  await comesOutNowhere(t, stranger, town, offer, ask.id);
  const { body: shown } = await stranger.call("GET", `/v1/offers/${offer.offer_id}`);
  t.is(shown.document.title, "Grey sofa, call […] or […]");
  t.is(
    shown.document.description,
    `Grey three-seat sofa, good condition, 180 EUR, ${town}.\n[…]\nInstagram: […]\nThank you`,
  );
  t.deepEqual(
    shown.content.images.map(({ url }: Body) => url),
    IMAGES.slice(0, 1),
  );
  t.deepEqual(shown.metadata.attributes, { material: "oak, […]" });
  t.deepEqual(shown.metadata.features, ["soft, […]"]);
  t.is(shown.metadata.pricing.label, "180 EUR ([…])");

  // The owner sees all, and so does who has proved a sign-in method.
  const { owner, content } = (await seller.call("GET", `/v1/offers/${offer.offer_id}`)).body;
  t.deepEqual([owner.description, owner.contact_visibility], [textIn(town), "approved"]);
  t.is(content.contact.primary.name, NAME);
  await prove(stranger);
  const [contact, found] = await seen(stranger, offer.offer_id);
  t.deepEqual([contact, found.toSorted()], [content.contact, MARKS.toSorted().filter((mark) => found.includes(mark))]);
  t.true(found.length >= Object.keys(CONTACTS).length);
  t.true((await page(offer.offer_id, stranger)).includes("mailto:nele.krumm@example.com"));
  t.deepEqual(leaksIn(await page(offer.offer_id)), []);
});

test("a change of who sees the contact holds at once, for what is shown, found and matched", async (t) => {
  const town = "Ringsted";
  const [seller, stranger] = [await market.agent(), await market.agent()];
  const { body: ask } = await stranger.call("POST", "/v1/asks", {
    text: `I want to buy a grey oak sofa in ${town}, up to 300 EUR`,
  });
  const offer = await publishSofa(seller, town);
  t.is(offer.contact_visibility, "public");
  await idleQueue(market.databaseUrl);
  await eventually(
    () => stranger.call("GET", `/v1/asks/${ask.id}/matches`),
    ({ body }) => body.results.length > 0,
  );
  const path = `/v1/offers/${offer.offer_id}`;
  t.true((await seen(stranger, offer.offer_id))[1].length > 0);

  const change = await seller.call("PATCH", path, { contact_visibility: "agreement" });
  t.deepEqual([change.status, change.body.contact_visibility, change.body.web_url], [200, "agreement", offer.web_url]);
  t.deepEqual(await seen(stranger, offer.offer_id), withheld("agreement"));
  await comesOutNowhere(t, stranger, town, offer, ask.id);
  // A proved method is no agreement.
  await prove(stranger);
  t.deepEqual(await seen(stranger, offer.offer_id), withheld("agreement"));
  const [digest] = await market.sql(
    `insert into market.digest (account_id, enabled, changed_at)
     select account_id, true, now() - interval '1 hour' from market.agent where id = $1 returning account_id`,
    [stranger.id],
  );
  const [mail] = await market.sql("select jobs.begin_digest($1)::text as mail", [digest?.["account_id"]]);
  t.true(mail?.["mail"].includes(offer.offer_id));
  t.deepEqual(leaksIn(mail?.["mail"]), []);

  await seller.call("PATCH", path, { contact_visibility: "public" });
  t.true((await seen(stranger, offer.offer_id))[1].length > 0);
  // A new text keeps who sees the contact, and can change it.
  await seller.call("PATCH", path, { contact_visibility: "approved" });
  const text = `Grey sofa, 170 EUR, ${town}, nele.krumm@example.com`;
  t.is((await seller.call("PATCH", path, { text })).body.contact_visibility, "approved");
  t.is((await seller.call("PATCH", path, { text, contact_visibility: "public" })).body.contact_visibility, "public");
});

test("without a word about it, the account's choice counts, and then the operator's", async (t) => {
  const seller = await market.agent();
  const text = "Grey sofa, 170 EUR, Nakskov, nele.krumm@example.com";
  t.is((await publish(seller, { text })).body.contact_visibility, "public");
  await market.sql(
    `insert into market.profile (account_id, contact_visibility)
     select account_id, 'agreement' from market.agent where id = $1`,
    [seller.id],
  );
  t.is((await publish(seller, { text })).body.contact_visibility, "agreement");
  t.is((await publish(seller, { text, contact_visibility: "approved" })).body.contact_visibility, "approved");
});
