import test from "ava";
import { type Answer, type Caller, refusal, refused } from "./market.ts";
import { market } from "./one_market.ts";

/** What persons see and decide about deals on pages, in mails, in the log and in the export. */

const POST = { idempotency_key: null, request_hash: null, errors: "[]" };
const TERMS = { price: { amount: 150, currency: "EUR" }, handover: { method: "pickup" } };

/** Lena's offer, and a conversation about it that Tom opened with a message and a proposal. */
const proposed = async (lena?: Caller, tom?: Caller) => {
  const [publisher, inquirer] = [lena ?? (await market.approved("lena")), tom ?? (await market.approved("tom"))];
  const offer = await market.offer(publisher);
  const { body } = await market.call(inquirer, "open_conversation", {
    id: offer,
    body: { text: "Is it still there?", proposal: TERMS, contact: "0151 23456789" },
    ...POST,
  });
  return { lena: publisher, tom: inquirer, offer, id: body.id as string, proposal: body.proposal.id as string };
};
const accepted = async (...of: Parameters<typeof proposed>) => {
  const made = await proposed(...of);
  const { agreement } = await market.call(made.lena, "accept_proposal", {
    id: made.id,
    proposal_id: made.proposal,
    body: {},
    errors: "[]",
  });
  return { ...made, agreement, confirmation: agreement.confirmation?.id as string };
};
const page = (who: Caller, id: string): Promise<Answer> => market.callAsPerson(who, "get_confirmation_page", { id });
const decide = (who: Caller, id: string, decision: string, digest: string | null = null): Promise<Answer> =>
  market.callAsPerson(who, "decide_confirmation", { id, decision, digest });
const prove = (who: Caller) =>
  market.sql`insert into market.proved_method (account_id, method, subject_hash, email)
    values (${who.account}, 'email', sha256(uuid_send(${who.account})), ${`${who.agent}@example.com`})`;
const withMail = async (name: string) => {
  const caller = await market.approved(name);
  await prove(caller);
  await market.sql`update market.session set signed_in_at = now() where account_id = ${caller.account}`;
  await market.callAsPerson(caller, "set_digest", { enabled: true });
  return caller;
};

test("a person confirms what the page showed, and nothing that has changed since", async (t) => {
  const { lena, offer, confirmation } = await accepted();
  const shown = await page(lena, confirmation);
  t.like(shown, {
    role: "publisher",
    pays: false,
    proposed_by: "counterpart",
    terms: TERMS,
    offer_changed: false,
    contact: { methods: [{ type: "email", value: "lena@example.com", preferred: true }] },
    counterpart: { verified: false },
    agreement_status: "awaiting",
  });
  await market.change(lena, offer, { price: "190 EUR" });
  t.is(
    (await refusal(decide(lena, confirmation, "confirm", shown.digest))).detail,
    "What was shown has changed. Look at it again, then decide.",
  );
  const again = await page(lena, confirmation);
  t.true(again.offer_changed);
  t.like(await decide(lena, confirmation, "confirm", again.digest), { confirmation: { status: "confirmed" } });
  t.is(await refused(decide(lena, confirmation, "refuse")), "409 invalid_state");
  t.is(await refused(page(await market.approved(), confirmation)), "404 not_found");
});

test("the publisher's page of a conversation has no contact of the inquirer before both have agreed", async (t) => {
  const { lena, tom, id } = await accepted();
  for (const [who, own] of [
    [lena, null],
    [tom, "0151 23456789"],
  ] as const) {
    const shown = await market.callAsPerson(who, "get_conversation_page", { id, before: null });
    t.like(shown, { own_contact: own, can_write: true, blocked: false, has_older: false });
    t.is(shown.conversation.contact, null);
  }
});

test("the page of a conversation has its latest messages, and those before", async (t) => {
  const { tom, id } = await proposed();
  await market.sql`insert into market.message (id, conversation_id, sender, text)
    select internal.first_uuid_v7(now() + n * interval '1 ms'), ${id}, 'publisher', 'No. ' || n
    from generate_series(1, 31) as n`;
  const read = (before: string | null) => market.callAsPerson(tom, "get_conversation_page", { id, before });
  const latest = await read(null);
  t.is(latest.messages.length, 30);
  t.is(latest.messages.at(-1).text, "No. 31");
  t.true(latest.has_older);
  const before = await read(latest.messages[0].id);
  t.deepEqual(
    before.messages.map(({ text }: { text: string }) => text),
    ["Is it still there?", "No. 1"],
  );
  t.false(before.has_older);
  const { unread } = await market.callAsPerson(tom, "read_conversation", { id, up_to: latest.up_to });
  t.is(unread, 0);
});

test("what a person allows on the approval page counts, and a ceiling that is missing approves nothing", async (t) => {
  const tom = await market.connect("tom");
  const approve = (powers: object[]) =>
    market.call(null, "approve_connection", {
      secret_hash: tom.link,
      session_hash: null,
      new_session_hash: tom.session,
      powers,
    });
  const agree = { power: "agree", allowed: "alone" };
  const missing = await refusal(approve([agree]));
  t.is(`${missing.status} ${missing.extra.errors[0].pointer}`, "400 /agree");
  t.is(await refused(approve([{ power: "pay", allowed: "alone" }])), "400 bad_request");
  await approve([
    { power: "publish", allowed: "never" },
    { power: "ask", allowed: "alone" },
    { ...agree, ceiling: { amount: 160, amount_24h: 160, currency: "EUR" } },
  ]);
  t.like(await refusal(market.call(tom, "publish_offer", { body: { text: "A sofa" } })), {
    code: "power_required",
    extra: { power: "publish" },
  });
  const rows = await market.sql`select power from market.power where agent_id = ${tom.agent} order by power`;
  t.deepEqual(rows, [{ power: "agree" }, { power: "publish" }], "what is as without a choice has no row");
  const { agreement } = await accepted(undefined, tom);
  t.deepEqual(agreement.awaiting, ["me"], "the inquirer's agent agreed alone");
  await market.callAsPerson(tom, "set_powers", {
    agent_id: tom.agent,
    powers: [{ power: "agree", allowed: "never" }],
  });
  t.is(await refused(proposed(undefined, tom)), "403 power_required");
});

test("each of five confirmations of a day has a mail, and then one mail lists what waits", async (t) => {
  const lena = await withMail("lena");
  const jobs = () => market.sql`select j.task_identifier as task, j.run_at > now() + interval '50 minutes' as later
    from graphile_worker.jobs j join graphile_worker._private_jobs p using (id)
    where p.payload ->> 'id' in (select n.id::text from market.confirmation n where n.account_id = ${lena.account}
      union all select ${lena.account}::text) and j.task_identifier like 'send_confirmation%' order by j.id`;
  const asked: string[] = [];
  for (let n = 0; n < 7; n += 1) asked.push((await accepted(lena)).confirmation);
  t.deepEqual(await jobs(), [
    ...Array.from({ length: 5 }, () => ({ task: "send_confirmation_notice", later: false })),
    { task: "send_confirmation_list", later: true },
  ]);
  const [first = "", second = ""] = asked;
  t.deepEqual(await market.work("get_confirmation_notice", first), {
    email: `${lena.agent}@example.com`,
    up_to: first,
    confirmations: [{ id: first, title: "Grey sofa" }],
  });
  await market.work("mark_confirmation_notice", first, first);
  t.is(await market.work("get_confirmation_notice", first), null, "told once");
  await decide(lena, second, "refuse");
  t.is(await market.work("get_confirmation_notice", second), null, "decided");
  const list = await market.work("get_confirmation_list", lena.account);
  t.deepEqual(
    list.confirmations.map(({ id }: { id: string }) => id),
    asked.filter((id) => id !== second),
  );
  await market.work("mark_confirmation_list", lena.account, list.up_to);
  t.is(await market.work("get_confirmation_list", lena.account), null);
  await market.callAsPerson(lena, "set_digest", { enabled: false });
  const { confirmation } = await accepted(lena);
  t.is(await market.work("get_confirmation_notice", confirmation), null, "mail is switched off");
});

test("the digest names conversations with something unread, each once, without a stranger's words", async (t) => {
  const lena = await withMail("lena");
  const { tom, id } = await proposed(lena);
  const digest = await market.work("begin_digest", lena.account);
  t.deepEqual(digest.conversations, [{ id, title: "Grey sofa", unread: 2 }]);
  t.deepEqual(digest.asks, []);
  await market.work("finish_digest", lena.account, true);
  await market.sql`update market.digest set sent_at = sent_at - interval '1 day', told_at = now() + interval '1 minute'
    where account_id = ${lena.account}`;
  t.is(await market.work("begin_digest", lena.account), null, "told once");
  await market.sql`update market.digest set told_at = now() where account_id = ${lena.account}`;
  await market.call(tom, "send_message", { id, body: { text: "Hello?" }, ...POST });
  t.is((await market.work("begin_digest", lena.account)).conversations[0].unread, 3);
});

test("the activity has what a person confirmed or refused, and changed powers", async (t) => {
  const lena = await market.approved("lena");
  const [one, other] = [await accepted(lena), await accepted(lena)];
  await decide(lena, one.confirmation, "confirm", (await page(lena, one.confirmation)).digest);
  await decide(lena, other.confirmation, "refuse");
  const powers = [{ power: "converse", allowed: "never" }];
  for (let n = 0; n < 2; n += 1) await market.callAsPerson(lena, "set_powers", { agent_id: lena.agent, powers });
  const { activity } = await market.callAsPerson(lena, "list_activity", { page_size: 10, cursor: null });
  t.deepEqual(
    activity.slice(0, 3).map(({ action, agent, target }: Answer) => [action, agent, target.title]),
    [
      ["power.changed", null, "lena"],
      ["confirmation.refused", null, "Grey sofa"],
      ["confirmation.confirmed", null, "Grey sofa"],
    ],
  );
});

test("the export has the conversations of both sides, and every message once", async (t) => {
  const lena = await market.approved("lena");
  const { id, tom } = await accepted(lena);
  const { id: second } = await proposed(undefined, lena);
  await market.sql`insert into market.message (conversation_id, sender, text)
    select ${id}, 'publisher', 'No. ' || n from generate_series(1, 250) as n`;
  await market.callAsPerson(lena, "block_conversation", { id });
  const exported = async (part: string): Promise<Answer[]> => {
    const items: Answer[] = [];
    for (let cursor: string | null = null; ; ) {
      const piece: Answer = await market.callAsPerson(lena, "export_account", { part, cursor });
      items.push(...piece.items);
      cursor = piece.next_cursor;
      if (cursor === null) return items;
    }
  };
  const conversations = await exported("conversations");
  t.deepEqual(
    conversations.map((one) => [one.id, one.role, one.proposals.length, one.agreements.length, one.own_contact]),
    [
      [second, "inquirer", 1, 0, "0151 23456789"],
      [id, "publisher", 1, 1, null],
    ],
  );
  const messages = await exported("messages");
  t.is(messages.length, 252);
  t.is(new Set(messages.map((message) => message.id)).size, 252);
  const { items: account } = await market.callAsPerson(lena, "export_account", { part: "account", cursor: null });
  t.deepEqual(
    account.blocks.map(({ conversation_id }: Answer) => conversation_id),
    [id],
  );
  t.is((await market.callAsPerson(tom, "list_blocks")).blocks.length, 0, "nobody learns that they are blocked");
});
