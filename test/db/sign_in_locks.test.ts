import { randomBytes } from "node:crypto";
import test from "ava";
import { type Caller, openMarket, outcomeOf } from "./market.ts";
import { signing } from "./signing.ts";

/**
 * Whoever ends sessions, deletes, approves, removes or signs in takes locks in one order: however these meet, they wait
 * for each other and none is thrown out. PostgreSQL calls what must not happen "deadlock detected".
 */

/** Long enough for some dozens of meetings of all ten. */
const MEETING_MS = 4_000;

test("signing in and out, approving, removing and deleting at once never wait for each other in a circle", async (t) => {
  const market = await openMarket(t);
  const people = signing(market);
  await market.sql("update market.sign_in_method set available = true");
  const outcomes = new Map<string, number>();
  const note = async (name: string, attempt: Promise<unknown>) => {
    const key = `${name}: ${await outcomeOf(attempt)}`;
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  };
  const end = Date.now() + MEETING_MS;
  const meet = async (): Promise<void> => {
    while (Date.now() < end) {
      const identity = { subject: randomBytes(8).toString("hex") };
      const first = await people.signIn(identity);
      const account = (await people.accountOf(first.session)) ?? "";
      const [waiting, moved] = [await market.connect(), await market.connect()];
      const { body } = await market.call(waiting, "start_verification", {
        method: "google",
        base_url: "",
        link_key: waiting.token,
      });
      const [link] = await market.sql("select secret_hash from market.verification where id = $1", [body.id]);
      const proof = await people.begin({ method: "google", verification: link.secret_hash });
      const second = await people.signIn(identity);
      const again = await people.begin({ method: "google" });
      const as = (session: Buffer, caller: Caller = waiting): Caller => ({ ...caller, session, account });
      // Due to be written by whoever enters.
      await market.sql("update market.session set seen_at = now() - interval '2 hours' where account_id = $1", [
        account,
      ]);
      const approve = (caller: Caller, session: Buffer | null) =>
        market.call(null, "approve_connection", {
          secret_hash: caller.link,
          session_hash: session,
          new_session_hash: caller.session,
        });
      await Promise.all([
        note("approve", approve(moved, first.session)),
        note("approve another", approve(waiting, second.session)),
        note("prove", people.finish(proof, "google", { subject: randomBytes(8).toString("hex") })),
        note("begin", people.begin({ method: "google", verification: link.secret_hash })),
        note("sign in", people.finish(again, "google", identity, second.session)),
        note("sign out everywhere", market.callAsPerson(as(first.session), "sign_out_everywhere")),
        note(
          "remove method",
          market.callAsPerson(as(second.session), "remove_method", { method: "google", confirmed: true }),
        ),
        note("delete", market.callAsPerson(as(first.session), "delete_account")),
        note("delete too", market.callAsPerson(as(second.session), "delete_account")),
        note("remove itself", market.call(moved, "remove_own_agent")),
      ]);
    }
  };
  await Promise.all([meet(), meet(), meet()]);
  const kinds = [...outcomes.keys()];
  t.deepEqual(
    kinds.filter((kind) => /deadlock|violates|timeout/.test(kind)),
    [],
    JSON.stringify([...outcomes]),
  );
  for (const name of ["approve", "sign in", "sign out everywhere", "delete", "prove"])
    t.true(outcomes.has(`${name}: done`), name);
});
