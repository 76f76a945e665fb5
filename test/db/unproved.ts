import { randomBytes } from "node:crypto";
import type { Answer, Caller, Market } from "./market.ts";
import { type Begin, type Identity, randomEmail, signing } from "./signing.ts";

/**
 * Accounts that have no sign-in method, and the persons who prove a first one.
 *
 *   lost   agents of one account without a method, whose only session has ended
 */

/** A new identity that a provider confirms. */
export const someone = (): Identity => ({ subject: randomBytes(8).toString("hex"), email: randomEmail() });

/** The calls of `signing`, and those that these tests share. */
export const unproved = (market: Market) => {
  const people = signing(market);

  /** Approves one more agent with the session of a caller's person. */
  const another = async (owner: Caller, name: string): Promise<Caller> => {
    const caller = await market.connect(name);
    await market.approve(caller, owner.session);
    return { ...caller, account: owner.account, session: owner.session };
  };

  const linked = async (caller: Caller, method = "google"): Promise<Buffer> => {
    const { body } = await market.call(caller, "start_verification", { method });
    const [row] = await market.sql`select secret_hash from market.verification where id = ${body.id}`;
    return row.secret_hash;
  };

  const look = (link: Buffer, session: Buffer | null = null): Promise<Answer> =>
    market.call(null, "get_verification_page", { secret_hash: link, session_hash: session });

  const prove = (link: Buffer, options: Begin = {}, identity = someone()) =>
    people.signIn(identity, { ...options, verification: link });

  const me = (caller: Caller): Promise<Answer> => market.call(caller, "get_me");

  const asPerson = (session: Buffer, name: string, args = {}): Promise<Answer> =>
    market.callAsPerson({ agent: "", account: "", token: session, link: session, session }, name, args);

  const agentsOf = async (session: Buffer): Promise<Record<string, string>> => {
    const { agents } = await asPerson(session, "list_agents");
    return Object.fromEntries(
      agents.map(({ name, removed_at, disconnected_at, connected_at }: Answer) => [
        name,
        removed_at ? "removed" : disconnected_at ? "waiting" : connected_at ? "acting" : "none",
      ]),
    );
  };

  const loseBrowser = (account: string) => market.sql`delete from market.session where account_id = ${account}`;

  const lost = async (): Promise<{ first: Caller; second: Caller }> => {
    const first = await market.approved("First");
    const second = await another(first, "Second");
    await asPerson(first.session, "update_profile", {
      display_name: "Lena",
      contact_email: "lena@example.com",
      contact_phone: "+4930123456",
    });
    await loseBrowser(first.account);
    return { first, second };
  };

  return { ...people, another, linked, look, prove, me, asPerson, agentsOf, loseBrowser, lost };
};
