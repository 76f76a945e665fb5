import { setTimeout as sleep } from "node:timers/promises";
import { sameOrigin } from "../admin/fixture.ts";
import { type Calls, type Household, RETRY_MS, type Told } from "./calls.ts";
import type { Random } from "./random.ts";
import { idOf } from "./texts.ts";

/** Moderators: they remove and restore offers, and suspend accounts for a moment. */

/** The acts of moderators. */
export type Moderators = {
  /** Removes an offer, or restores it. */
  moderate: (random: Random) => Promise<void>;
  /** Suspends the account of a household, and reinstates it. */
  suspend: (random: Random) => Promise<void>;
};

/**
 * Makes these acts.
 * @param cookie the Cookie header of a moderator
 * @param households those that act at present
 */
export const moderatorsOf = (
  { ledger, apis, send }: Calls,
  cookie: string,
  households: readonly Household[],
): Moderators => {
  const graphql = (query: string, variables: object): Promise<Told | null> => {
    const [first] = apis();
    return send("moderate", "POST", "/admin/graphql", {
      body: { query, variables },
      headers: { cookie, ...sameOrigin(first?.url ?? "") },
      apis: first ? [first] : [],
    });
  };

  const moderate: Moderators["moderate"] = async (random) => {
    const offers = ledger.texts.filter(({ kind, verdict }) => kind === "offer" && verdict === "made");
    if (offers.length === 0) return;
    const id = idOf(random.pick(offers));
    const seen = await graphql("query($id: UUID!) { offer(id: $id) { status updatedAt } }", { id });
    const offer = seen?.answer.body.data?.offer;
    if (!offer) return;
    const [act, further] = offer.status === "removed" ? ["restoreOffer", ""] : ["removeOffer", ', reason: "spam"'];
    await graphql(
      `mutation($id: UUID!, $at: Datetime!) { ${act}(input: {id: $id, expectedUpdatedAt: $at${further}}) { offer { status } } }`,
      { id, at: offer.updatedAt },
    );
  };

  const suspend: Moderators["suspend"] = async (random) => {
    if (households.length === 0) return;
    const household = random.pick(households);
    const id = household.callers[0]?.account;
    if (!id) return;
    household.suspended = true;
    await graphql(
      'mutation($id: UUID!) { suspendAccount(input: {id: $id, reason: "spam", sentence: "For the soak."}) { account { suspendedAt } } }',
      { id },
    );
    await sleep(random.whole(500, 3_000));
    for (let tries = 0; tries < 120; tries++) {
      const told = await graphql(
        "mutation($id: UUID!) { reinstateAccount(input: {id: $id}) { account { suspendedAt } } }",
        { id },
      );
      // GraphQL answers 200 with errors, for example while the database is read-only.
      if (told?.answer.status === 200 && told.answer.body.errors === undefined) return;
      await sleep(RETRY_MS);
    }
  };

  return { moderate, suspend };
};
