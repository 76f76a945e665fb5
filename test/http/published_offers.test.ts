import test from "ava";
import type { Answer, Body } from "../support/market.ts";
import { type Market, OFFER, openMarket, settled } from "./contract.ts";
import { ARCHIVED, KEPT_NOWHERE, OWNED, PUBLISHED, published, rated, SHOWN, whole } from "./offers.ts";

/** A published offer is read, listed, changed, archived, republished, confirmed and reported. */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

test("everyone sees the same published offer, and its owner sees more", async (t) => {
  const [owner, other] = [await market.agent(), await market.stranger()];
  const id = await published(owner);
  t.deepEqual(whole(market, await other.call("GET", `/v1/offers/${id}`)), {
    status: 200,
    headers: KEPT_NOWHERE,
    body: SHOWN,
  });
  t.deepEqual(whole(market, await owner.call("GET", `/v1/offers/${id}`)), {
    status: 200,
    headers: KEPT_NOWHERE,
    body: { ...SHOWN, owner: OWNED },
  });
  t.is((await owner.call("GET", `/v1/offers/${id.toUpperCase()}`)).status, 200);
});

test("an archived offer is visible only to its owner, who can republish it", async (t) => {
  const [owner, other] = [await market.agent(), await market.stranger()];
  const id = await published(owner);
  const archived = await owner.call("POST", `/v1/offers/${id}/archive`);
  t.deepEqual(whole(market, archived), { status: 200, headers: KEPT_NOWHERE, body: ARCHIVED });
  t.deepEqual((await owner.call("POST", `/v1/offers/${id}/archive`)).body, archived.body);
  t.deepEqual((await owner.call("GET", `/v1/offers/${id}`)).body, archived.body);
  t.is((await other.call("GET", `/v1/offers/${id}`)).status, 404);
  t.is((await other.call("POST", `/v1/offers/${id}/report`, { reason: "spam" })).status, 404);

  const again = await owner.call("POST", `/v1/offers/${id}/republish`);
  t.deepEqual(whole(market, again), { status: 200, headers: KEPT_NOWHERE, body: OWNED });
  t.is(again.body.published_at, archived.body.published_at);
  t.deepEqual((await owner.call("POST", `/v1/offers/${id}/republish`)).body, again.body);
  t.is((await other.call("GET", `/v1/offers/${id}`)).status, 200);
  const { body: me } = await owner.call("GET", "/v1/me");
  t.is(me.limits.publish_offer.used, 2, "publishing and republishing count once each");
});

test("an owner confirms a published offer, and nobody else can", async (t) => {
  const [owner, other] = [await market.agent(), await market.agent()];
  const id = await published(owner);
  const before = (await owner.call("GET", `/v1/offers/${id}`)).body.owner;
  const confirmed = await owner.call("POST", `/v1/offers/${id}/confirm`);
  t.deepEqual(whole(market, confirmed), { status: 200, headers: KEPT_NOWHERE, body: OWNED });
  t.true(confirmed.body.confirmed_at > before.confirmed_at);
  t.is(confirmed.body.updated_at, before.updated_at, "a confirmation is no change");
  t.is((await other.call("POST", `/v1/offers/${id}/confirm`)).status, 404);
  await owner.call("POST", `/v1/offers/${id}/archive`);
  const refused = await owner.call("POST", `/v1/offers/${id}/confirm`);
  t.deepEqual(
    [refused.status, refused.body.code, refused.body.detail],
    [
      409,
      "invalid_state",
      "This offer is archived, so there is nothing to confirm. If it is available again, republish it.",
    ],
  );
});

test("a new text is read under the same id, and the offer is no longer reviewed", async (t) => {
  const owner = await market.agent();
  const id = await published(owner, { text: OFFER, images: ["https://images.example/a.jpg"] });
  await market.sql("update market.offer set reviewed = true where id = $1", [id]);
  t.true((await owner.call("GET", `/v1/offers/${id}`)).body.reviewed);
  const text = OFFER.replace("180", "150");
  const changed = await owner.call("PATCH", `/v1/offers/${id}`, { text });
  t.deepEqual(whole(market, changed), {
    status: 200,
    headers: rated(60, 58),
    body: { ...PUBLISHED, price: "150 EUR" },
  });
  t.is(changed.body.offer_id, id);
  const { body } = await owner.call("GET", `/v1/offers/${id}`);
  t.deepEqual(
    [body.reviewed, body.document.description, body.metadata.pricing.amount, body.content.images],
    [false, text, 150, [{ url: "https://images.example/a.jpg" }]],
  );
});

test("new images do not change the text", async (t) => {
  const owner = await market.agent();
  const id = await published(owner, { text: OFFER, images: ["https://images.example/a.jpg"] });
  const changed = await owner.call("PATCH", `/v1/offers/${id}`, { images: ["https://images.example/b.jpg"] });
  t.deepEqual(whole(market, changed), { status: 200, headers: rated(60, 58), body: PUBLISHED });
  const { body } = await owner.call("GET", `/v1/offers/${id}`);
  t.deepEqual([body.document.description, body.content.images], [OFFER, [{ url: "https://images.example/b.jpg" }]]);
});

test("a change without members, or to a text without a contact, changes nothing", async (t) => {
  const owner = await market.agent();
  const id = await published(owner);
  const before = await owner.call("GET", `/v1/offers/${id}`);
  const empty = await owner.call("PATCH", `/v1/offers/${id}`, {});
  t.deepEqual(
    [empty.status, empty.body.code, empty.body.errors],
    [400, "bad_request", [{ pointer: "", detail: "Send a new text, new images, or who sees the contact." }]],
  );
  const mute = await owner.call("PATCH", `/v1/offers/${id}`, { text: "Grey sofa for sale, 180 EUR, Berlin" });
  t.deepEqual([mute.status, mute.body.code], [400, "missing_contact"]);
  const after = await owner.call("GET", `/v1/offers/${id}`);
  t.deepEqual(after.body, before.body);
});

test("an account can report an offer once, and the report is not visible to others", async (t) => {
  const [owner, other] = [await market.agent(), await market.stranger()];
  const id = await published(owner);
  const RECEIVED = {
    status: 200,
    headers: KEPT_NOWHERE,
    body: {
      offer_id: "<id>",
      status: "received",
      summary: "A moderator will look at this offer. Reporting it again before that changes nothing.",
    },
  };
  const sent = { reason: "scam", comment: "  Asks for payment first.  " };
  t.deepEqual(whole(market, await other.call("POST", `/v1/offers/${id}/report`, sent)), RECEIVED);
  t.deepEqual(whole(market, await other.call("POST", `/v1/offers/${id}/report`, { reason: "spam" })), RECEIVED);
  t.deepEqual(await market.sql("select reason, comment from market.report where offer_id = $1", [id]), [
    { reason: "scam", comment: "Asks for payment first." },
  ]);
  t.deepEqual(settled((await owner.call("GET", `/v1/offers/${id}`)).body, market.url), { ...SHOWN, owner: OWNED });
});

test("an account's offers are listed page by page, newest first, each once", async (t) => {
  const owner = await market.agent();
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.unshift(await published(owner));
  await owner.call("POST", `/v1/offers/${ids[1]}/archive`);
  const list = (query: string) => owner.call("GET", `/v1/offers?${query}`);
  const idsOf = ({ body }: Answer) => body.results.map(({ id }: Body) => id);
  const first = await list("limit=1");
  t.deepEqual(whole(market, first), {
    status: 200,
    headers: KEPT_NOWHERE,
    body: { results: [OWNED], page: { next_cursor: "<cursor>", has_more: true } },
  });
  const cursor = first.body.page.next_cursor;
  const rest = await list(`limit=2&cursor=${cursor}`);
  t.deepEqual([...idsOf(first), ...idsOf(rest)], ids);
  t.deepEqual(rest.body.page, { next_cursor: null, has_more: false });
  t.deepEqual(idsOf(await list("")), ids);
  t.deepEqual(idsOf(await list("status=archived")), [ids[1]]);
  for (const query of [`status=archived&cursor=${cursor}`, "cursor=x", "cursor=e30"]) {
    const { status, body } = await list(query);
    t.deepEqual([status, body.errors[0].pointer], [400, "/cursor"], query);
  }
});
