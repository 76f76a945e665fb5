import test from "ava";
import type { Actor } from "../support/database.ts";
import type { Caller } from "./market.ts";
import { client, market } from "./operator.ts";

/**
 * Callers with something that others may not have, made by a hook that this adds to the test file that imports it.
 *
 *   A, B         approved agents of two accounts, each with a row in every table that can have one
 *   C            an agent without approval
 *   entered(A)   the role and the claims that internal.enter_agent sets for a request of A
 */

export { client, market };
export let A: Caller;
export let B: Caller;
export let C: Caller;
export const offers = { A: "", B: "", archivedOfB: "" };
export const asks = { A: "", B: "" };

test.before(async () => {
  await market.sql("update market.sign_in_method set available = true");
  [A, B, C] = [await market.approved("A"), await market.approved("B"), await market.connect("C")];
  for (const [name, caller] of [
    ["A", A],
    ["B", B],
  ] as const) {
    asks[name] = await market.ask(caller);
    offers[name] = await market.offer(caller);
    await market.call(caller, "start_verification", { method: "email" });
  }
  offers.archivedOfB = await market.offer(B);
  await market.call(B, "archive_offer", { id: offers.archivedOfB });
  await market.sql("update market.setting set value = 'true' where name = 'pre_moderation'");
  await market.change(B, offers.B, { title: "Changed sofa" });
  await market.sql("update market.setting set value = 'false' where name = 'pre_moderation'");
  const removed = await market.offer(B);
  await market.sql`update market.offer set status = 'removed' where id = ${removed}`;
  await market.call(B, "appeal_offer", { id: removed, comment: null });
  await market.call(B, "report_offer", { id: offers.A, reason: "spam" });
  await market.callAsPerson(B, "update_profile", { display_name: "B", contact_email: "b@example.com" });
  await market.sql`insert into market.proved_method (account_id, method, subject_hash)
    values (${B.account}, 'google', sha256('b'))`;
  await market.callAsPerson(B, "set_digest", { enabled: false });
  const { body: webhook } = await market.call(B, "create_webhook", {
    url: "https://agent.example.com/",
    types: null,
    encrypted_secret: `01234567.${"x".repeat(104)}`,
    private_allowed: false,
  });
  // Two others write to B: one gets an agreement that awaits both persons, and the other is blocked.
  for (const how of ["accept_proposal", "block_conversation"]) {
    const offer = await market.offer(B);
    const { body: opened } = await market.call(await market.approved(), "open_conversation", {
      id: offer,
      body: { text: "Hello", contact: "me", proposal: { price: { amount: 9, currency: "EUR" } } },
    });
    const proposal = { proposal_id: opened.proposal.id, body: {}, errors: [] };
    await market.call(B, how, { id: opened.id, ...(how === "accept_proposal" ? proposal : {}) });
  }
  await market.sql`insert into market.power (agent_id, power, allowed) values (${B.agent}, 'agree', 'never')`;
  await market.sql`update market.webhook set verified_at = now() where id = ${webhook.id}`;
  await market.call(B, "test_webhook", { id: webhook.id });
});
/** The role and the claims of an agent's requests. */
export const entered = (caller: Caller, connected = true): Actor => ({
  role: "souk_agent",
  claims: {
    "market.agent_id": caller.agent,
    "market.account_id": caller.account,
    "market.connected": String(connected),
  },
});

/** The role and the claims of the requests of an agent's person. */
export const enteredAsPerson = (caller: Caller): Actor => ({
  role: "souk_person",
  claims: { "market.agent_id": "", "market.account_id": caller.account, "market.connected": "true" },
});
