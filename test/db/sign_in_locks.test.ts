import { randomBytes } from "node:crypto";
import test from "ava";
import { type Answer, type Caller, type Market, openMarket, outcomeOf } from "./market.ts";
import { type Attempt, signing } from "./signing.ts";
import { watchWaits } from "./waits.ts";

/**
 * Calls that end sessions, delete, approve, remove or sign in take locks in the same order. Concurrent calls wait for
 * each other, and none fails with PostgreSQL's "deadlock detected".
 */

const JOBS = ["purge_sign_ins", "purge_agents", "purge_keys", "sweep_submissions"];

const startVerification = (market: Market, caller: Caller): Promise<Answer> =>
  market.call(caller, "start_verification", { method: "google", base_url: "", link_key: caller.token });

/**
 * An agent that is eight days old and not approved, so the next purge removes it. Its verification link was opened in
 * time.
 */
const aged = async (
  market: Market,
  people: ReturnType<typeof signing>,
): Promise<{ caller: Caller; proof: Attempt }> => {
  const caller = await market.connect();
  const { body } = await startVerification(market, caller);
  const [link] = await market.sql("select secret_hash from market.verification where id = $1", [body.id]);
  const proof = await people.begin({ method: "google", verification: link.secret_hash });
  await market.sql(
    `with its as (select a.id, a.account_id from market.agent a where a.id = $1),
       agent as (update market.agent a set created_at = now() - interval '8 days' from its where a.id = its.id),
       record as (update market.account_stats p set last_active_at = now() - interval '8 days' from its where p.account_id = its.account_id),
       attempt as (update market.sign_in s set expires_at = now() - interval '8 days' from its where s.account_id = its.account_id)
     update market.verification v set created_at = now() - interval '8 days', expires_at = now() - interval '8 days'
     from its where v.agent_id = its.id`,
    [caller.agent],
  );
  return { caller, proof };
};

/** Rounds of each of the three loops. With this many, each order of calls occurs. */
const ROUNDS = 20;

test("signing in and out, approving, removing, deleting and purging at the same time never deadlock", async (t) => {
  const market = await openMarket(t, { patient: true });
  const people = signing(market);
  await market.sql("update market.sign_in_method set available = true");
  const outcomes = new Map<string, number>();
  const note = async (name: string, attempt: Promise<unknown>) => {
    const key = `${name}: ${await outcomeOf(attempt)}`;
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  };
  const waits = await watchWaits(market.url, t);
  const meet = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const identity = { subject: randomBytes(8).toString("hex") };
      const first = await people.signIn(identity);
      const account = (await people.accountOf(first.session)) ?? "";
      const [waiting, moved] = [await market.connect(), await market.connect()];
      const { body } = await startVerification(market, waiting);
      const [link] = await market.sql("select secret_hash from market.verification where id = $1", [body.id]);
      const proof = await people.begin({ method: "google", verification: link.secret_hash });
      const second = await people.signIn(identity);
      const again = await people.begin({ method: "google" });
      const as = (session: Buffer, caller: Caller = waiting): Caller => ({ ...caller, session, account });
      const abandoned = await aged(market, people);
      // A browser leaves its account, while another one recovers an account whose browser is lost.
      const [left, lost] = [await market.approved(), await market.approved()];
      const leaving = await people.begin({ method: "google", session: left.session, leave: true });
      const { body: asked } = await startVerification(market, lost);
      await market.sql("delete from market.session where account_id = $1", [lost.account]);
      const [way] = await market.sql("select secret_hash from market.verification where id = $1", [asked.id]);
      const recovery = await people.begin({ method: "google", verification: way.secret_hash, kept: null });
      // The next use of these sessions is due to be written, and a third session is due to be purged.
      const idle = await people.signIn(identity);
      await market.sql(
        `update market.session set seen_at = now() - case when secret_hash = $2 then interval '8 days' else interval '2 hours' end
         where account_id = $1`,
        [account, idle.session],
      );
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
        note("leave", people.finish(leaving, "google", identity, left.session)),
        note("delete the left account", market.callAsPerson(left, "delete_account")),
        note("remove itself there", market.call(left, "remove_own_agent")),
        note("recover", people.finish(recovery, "google", { subject: randomBytes(8).toString("hex") })),
        note("ask while it is recovered", startVerification(market, lost)),
        note("remove itself meanwhile", market.call(lost, "remove_own_agent")),
        note("remove itself", market.call(moved, "remove_own_agent")),
        note("prove too late", people.finish(abandoned.proof, "google", identity, idle.session)),
        note("ask for a verification", startVerification(market, waiting)),
        note("ask for one again", startVerification(market, abandoned.caller)),
        ...JOBS.map((job) => note(job, market.work(job))),
      ]);
    }
  };
  await Promise.all([meet(), meet(), meet()]);
  const kinds = [...outcomes.keys()];
  t.deepEqual(
    kinds.filter((kind) => /deadlock|violates|timeout/.test(kind)),
    [],
    `${JSON.stringify([...outcomes])}\n${waits.told()}`,
  );
  for (const name of ["leave", "recover", "approve", "sign in", "sign out everywhere", "delete", "prove", ...JOBS])
    t.true(outcomes.has(`${name}: done`), name);
});
