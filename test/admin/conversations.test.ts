import test from "ava";
import { type Agent, SOFA } from "../support/market.ts";
import { type AdminFixture, codes, type Moderator, openAdminFixture, sameOrigin } from "./fixture.ts";

/** Reported conversations: they come before moderators, who read them only while they are reported. */

let fixture: AdminFixture;
let ana: Moderator;
test.before(async () => {
  fixture = await openAdminFixture();
  ana = await fixture.moderator("Ana");
});
test.after.always(() => fixture?.stop());

/** A conversation in which the inquirer wrote and proposed, and which the publisher has reported if it is told to. */
const talk = async (isReported = true): Promise<{ lena: Agent; tom: Agent; offer: string; id: string }> => {
  const [lena, tom] = [await fixture.agent("Lena's"), await fixture.agent("Tom's")];
  const offer = await fixture.publish(lena, SOFA);
  const opened = await tom.call("POST", `/v1/offers/${offer}/conversations`, {
    text: "Send me the code that you just got",
    proposal: { price: { amount: 150, currency: "EUR" }, handover: { method: "pickup", place: "Dark alley" } },
    contact: "tom, 0151 23456789",
  });
  const { id } = opened.body;
  if (isReported)
    await lena.call("POST", `/v1/conversations/${id}/report`, { reason: "scam", comment: "He wants a code." });
  return { lena, tom, offer, id };
};

const queuesOf = (offer: string) =>
  fixture.sql("select queue, causes from market.review_case where offer_id = $1 and closed_at is null", [offer]);
const page = async (path: string) => fixture.call("GET", `/admin${path}`, { headers: { cookie: ana.cookie } });

const READ = "mutation ($id: UUID!) { readConversation(input: { id: $id }) { conversationWord { kind sender text } } }";

test("a reported conversation is in the queue by its offer, until its report is settled", async (t) => {
  const { offer, id } = await talk();
  t.deepEqual((await queuesOf(offer))[0]?.causes.includes("reported_conversation"), true);
  const { text } = await page(`/offers/${offer}`);
  t.true(text.includes(`/admin/conversations/${id}`));
  // Who keeps the offer has not settled what the conversation is about.
  t.deepEqual((await ana.decide("keepOffer", offer)).errors, []);
  t.deepEqual(await queuesOf(offer), [{ queue: "reported_conversation", causes: ["reported_conversation"] }]);
  t.deepEqual(
    (await ana.mutate("settleConversation", { id, note: "Nothing to do" }, "decision { action }")).errors,
    [],
  );
  t.deepEqual(await queuesOf(offer), []);
  t.is((await page(`/conversations/${id}`)).status, 404);
  t.deepEqual(codes(await ana.graphql(READ, { id })), ["not_found"]);
});

test("moderators read a conversation only while it is reported, and the log says who did", async (t) => {
  const { lena, id } = await talk(false);
  t.is((await page(`/conversations/${id}`)).status, 404);
  t.deepEqual(codes(await ana.graphql(READ, { id })), ["not_found"]);
  await lena.call("POST", `/v1/conversations/${id}/report`, { reason: "scam", comment: "He wants a code." });
  const { text } = await page(`/conversations/${id}`);
  for (const words of ["He wants a code.", "Send me the code that you just got", "Dark alley"])
    t.true(text.includes(words), words);
  t.false(text.includes("0151"), "a contact is not shown");
  const { readConversation } = await ana.ask(READ, { id });
  t.deepEqual(readConversation.conversationWord, [
    { kind: "message", sender: "inquirer", text: "Send me the code that you just got" },
    { kind: "proposal", sender: "inquirer", text: "Dark alley" },
  ]);
  t.deepEqual(
    await fixture.sql(
      "select actor_type, account_id, action, table_name from market.audit_event where row_id = $1 and action like '%read'",
      [id],
    ),
    Array(2).fill({
      ...{ actor_type: "moderator", account_id: ana.account },
      ...{ action: "conversation.read", table_name: "conversation" },
    }),
  );
});

test("a moderator removes a message, which neither side sees any more", async (t) => {
  const { lena, tom, id } = await talk();
  const { text, headers } = await page(`/conversations/${id}`);
  const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? "";
  const message = hidden("message");
  const removed = await fixture.call("POST", `/admin/conversations/${id}`, {
    raw: new URLSearchParams({ token: hidden("token"), message, words: "" }).toString(),
    headers: {
      ...sameOrigin(fixture.url),
      cookie: `${ana.cookie}; ${/souk_csrf=[^;]+/.exec(headers["set-cookie"] ?? "")?.[0]}`,
      "content-type": "application/x-www-form-urlencoded",
    },
  });
  t.is(removed.status, 303, removed.text);
  for (const who of [lena, tom])
    t.is((await who.call("GET", `/v1/conversations/${id}/messages`)).body.results[0].text, null);
  t.like(
    (await fixture.sql("select action, reason, sentence from market.decision where conversation_id = $1", [id]))[0],
    {
      ...{ action: "remove_message", reason: null, sentence: null },
    },
  );
  const again = await ana.mutate("removeMessage", { conversationId: id, id: message }, "decision { action }");
  t.deepEqual(codes(again), ["not_found"]);
});
