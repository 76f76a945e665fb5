import { withClient } from "../support/client.ts";
import type { Answer, Caller, OfferFacts, openMarket } from "./market.ts";

/** Conversations and deals through the functions of SQL, for tests. */

type Market = Awaited<ReturnType<typeof openMarket>>;

/** An agent of the publisher and one of the inquirer, the offer, and their conversation about it. */
export type Talk = { lena: Caller; tom: Caller; offer: string; id: string };

const POST = { idempotency_key: null, request_hash: null, errors: "[]" };

/** The terms of a proposal in euros. */
export const termsOf = (amount: number, more: object = {}): object => ({
  price: { amount, currency: "EUR" },
  handover: { method: "pickup" },
  contact: "tom, 0151 23456789",
  ...more,
});

/** What the two sides of a conversation do in a market. */
export const dealsIn = (market: Market) => {
  const open = (who: Caller, offer: string, body: object = { text: "Is it still there?" }): Promise<Answer> =>
    market.call(who, "open_conversation", { id: offer, body, ...POST });
  const answer = (how: string, who: Caller, id: string, proposal: string): Promise<Answer> =>
    market.call(who, `${how}_proposal`, {
      id,
      proposal_id: proposal,
      ...(how === "accept" ? { body: {}, errors: "[]" } : {}),
    });
  return {
    open,
    /** Two persons with agents, an offer of Lena, and a conversation about it that Tom opened. */
    talk: async (facts: OfferFacts = {}): Promise<Talk> => {
      const [lena, tom] = [await market.approved("lena"), await market.approved("tom")];
      const offer = await market.offer(lena, facts);
      const { body } = await open(tom, offer);
      return { lena, tom, offer, id: body.id };
    },
    say: (who: Caller, id: string, text: string): Promise<Answer> =>
      market.call(who, "send_message", { id, body: { text }, ...POST }),
    /** Proposes a price, and returns the id of the proposal. */
    propose: async (who: Caller, id: string, amount: number, more: object = {}): Promise<string> =>
      (await market.call(who, "propose", { id, body: termsOf(amount, more), ...POST })).body.id,
    accept: (who: Caller, id: string, proposal: string) => answer("accept", who, id, proposal),
    decline: (who: Caller, id: string, proposal: string) => answer("decline", who, id, proposal),
    withdraw: (who: Caller, id: string, proposal: string) => answer("withdraw", who, id, proposal),
    close: (who: Caller, id: string): Promise<Answer> => market.call(who, "close_conversation", { id }),
    block: (who: Caller, id: string): Promise<Answer> => market.call(who, "block_conversation", { id }),
    report: (who: Caller, id: string): Promise<Answer> =>
      market.call(who, "report_conversation", { id, reason: "scam", comment: "He wants a code." }),
    see: (who: Caller, id: string): Promise<Answer> => market.call(who, "get_conversation", { id }),
    /** The person behind an agent decides what the page of the confirmation shows. */
    decide: async (who: Caller, confirmation: string, decision: "confirm" | "refuse"): Promise<Answer> => {
      const { digest } = await market.callAsPerson(who, "get_confirmation_page", { id: confirmation });
      return market.callAsPerson(who, "decide_confirmation", { id: confirmation, decision, digest });
    },
    /** Lets agents agree alone, up to a ceiling for one agreement and one for a day, in euros. */
    trust: async (agents: readonly Caller[], most = 1000, daily = most): Promise<void> => {
      await market.sql`insert into market.power (agent_id, power, allowed, ceiling_thousandths,
          daily_ceiling_thousandths, ceiling_currency)
        select a, 'agree', 'alone', ${most}::bigint * 1000, ${daily}::bigint * 1000, 'EUR'
        from unnest(${agents.map(({ agent }) => agent)}::uuid[]) as a
        on conflict on constraint power_pkey do update set allowed = excluded.allowed,
          ceiling_thousandths = excluded.ceiling_thousandths,
          daily_ceiling_thousandths = excluded.daily_ceiling_thousandths,
          ceiling_currency = excluded.ceiling_currency, updated_at = clock_timestamp()`;
    },
    /** Runs one statement as a moderator, as the moderators' GraphQL does. */
    moderate: async (moderator: Caller, text: string, values: unknown[]): Promise<Answer[]> =>
      withClient(market.url, async (client) => {
        await client.query("begin");
        await client.query(
          "select set_config('market.moderator_id', $1, true), set_config('role', 'souk_moderator', true)",
          [moderator.account],
        );
        const { rows } = await client.query(text, values);
        await client.query("commit");
        return rows;
      }),
  };
};
