import test from "ava";
import { type Answer, type Caller, offerOf, openMarket, refusal } from "./market.ts";

/**
 * Who sees the contact of an offer: what its owner, the account and the operator choose, and which of two choices counts.
 * What others see instead is in test/http/withheld_contacts.test.ts.
 */

type Open = Awaited<ReturnType<typeof openMarket>>;

const { text, extraction } = offerOf({ contact: "lena@example.com" });

const publish = async (market: Open, seller: Caller, contact_visibility?: string): Promise<Answer> =>
  (await market.publish(seller, text, extraction, contact_visibility === undefined ? {} : { contact_visibility })).body;

/** What is withheld of an offer from a reader; undefined if they see the contact. */
const withheld = async (market: Open, reader: Caller, id: string): Promise<string | undefined> =>
  (await market.call(reader, "get_offer", { id })).content.contact.withheld;

const setOperator = (market: Open, name: string, value: string) =>
  market.sql`update market.setting set value = to_jsonb(${value}::text) where name = ${name}`;

test("the operator's least holds for what is chosen, for what nobody chose, and for what was published before", async (t) => {
  const market = await openMarket(t);
  const [seller, stranger] = [await market.approved(), await market.approved()];
  const { offer_id: before } = await publish(market, seller);
  await setOperator(market, "contact_visibility", "approved");
  t.is((await publish(market, seller)).contact_visibility, "approved");

  await setOperator(market, "least_contact_visibility", "agreement");
  t.is((await publish(market, seller)).contact_visibility, "agreement");
  const { status, extra } = await refusal(publish(market, seller, "approved"));
  t.deepEqual(
    [status, extra.errors],
    [
      400,
      [
        {
          pointer: "/contact_visibility",
          detail:
            'This market shows contacts to fewer: choose "agreement" or a later one of public, approved, agreement.',
        },
      ],
    ],
  );
  const [job] = await market.sql`select count(*)::integer as jobs from graphile_worker.jobs
    where task_identifier = 'build_documents'`;
  t.is(job["jobs"], 1);
  await market.work("build_documents", "00000000-0000-0000-0000-000000000000", 100);
  t.is(await withheld(market, stranger, before), "agreement");
  t.is(await withheld(market, seller, before), undefined);
});

test("a person chooses for new offers, and agents for each", async (t) => {
  const market = await openMarket(t);
  const seller = await market.approved();
  const profile = { display_name: null, contact_email: null, contact_phone: null };
  const told = await market.callAsPerson(seller, "update_profile", { ...profile, contact_visibility: "agreement" });
  t.is(told.contact_visibility, "agreement");
  t.is((await publish(market, seller)).contact_visibility, "agreement");
  t.is((await publish(market, seller, "public")).contact_visibility, "public");
  t.is((await market.callAsPerson(seller, "update_profile", profile)).contact_visibility, null);
  t.is((await publish(market, seller)).contact_visibility, "public");
});

test("of two choices the later one counts, whichever is read first", async (t) => {
  const market = await openMarket(t);
  const [seller, stranger] = [await market.approved(), await market.approved()];
  const { offer_id: id } = await publish(market, seller);
  const { submission } = await market.call(seller, "update_offer", {
    id,
    body: { text, contact_visibility: "public" },
  });
  const { status, body } = await market.call(seller, "update_offer", { id, body: { contact_visibility: "approved" } });
  t.deepEqual([status, body.contact_visibility], [200, "approved"]);
  await market.work("complete_submission", submission, extraction);
  t.is(await withheld(market, stranger, id), "approved");
});

test("while a change waits for a moderator, its contact is hidden at once, and shown only with it", async (t) => {
  const market = await openMarket(t);
  const [seller, stranger] = [await market.approved(), await market.approved()];
  const { offer_id: id } = await publish(market, seller);
  await market.sql`update market.setting set value = 'true' where name = 'pre_moderation'`;
  const change = async (contact_visibility: string) => {
    const other = offerOf({ contact: "lena@example.com", title: `Sofa for ${contact_visibility}` });
    const { submission } = await market.call(seller, "update_offer", {
      id,
      body: { text: other.text, contact_visibility },
    });
    await market.work("complete_submission", submission, other.extraction);
  };
  await change("agreement");
  t.is(await withheld(market, stranger, id), "agreement");
  await change("public");
  t.is(await withheld(market, stranger, id), "agreement");
  t.is(
    (await market.sql`select contact_visibility from market.offer_change where offer_id = ${id}`)[0][
      "contact_visibility"
    ],
    "public",
  );
});
