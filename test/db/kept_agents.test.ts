import { randomBytes } from "node:crypto";
import test from "ava";
import { refusal, refused } from "./market.ts";
import { market, people } from "./people.ts";
import { someone } from "./unproved.ts";

/** Which agents go on when a person proves a first sign-in method, and what the person is told of it. */

test.serial("a first method is not proved before the person says which agents go on", async (t) => {
  const first = await market.approved("Mine");
  await people.another(first, "Of somebody else");
  const add = { purpose: "add", session: first.session, kept: null } as const;
  const { status, extra } = await refusal(people.signIn(someone(), add));
  t.deepEqual([status, extra], [409, { choose_agents: true }]);
  const link = await people.linked(first);
  t.deepEqual((await refusal(people.prove(link, { session: first.session, kept: null }))).extra, {
    choose_agents: true,
  });
  t.deepEqual((await people.me(first)).account.verified, []);

  const free = await market.connect();
  t.true(
    (await people.prove(await people.linked(free), { kept: null })).answer.added,
    "no agent acts for this account yet",
  );
});

test.serial("agents that are left unchecked are removed in the transaction that proves the method", async (t) => {
  for (const way of ["link", "settings"]) {
    const mine = await market.approved("Mine");
    const theirs = await people.another(mine, "Of somebody else");
    const pending = await people.linked(theirs, "apple");
    const options = { session: mine.session, kept: [mine.agent] };
    const attempt = await people.begin({
      ...options,
      method: "google",
      ...(way === "link" ? { verification: await people.linked(mine) } : { purpose: "add" as const }),
    });
    t.true((await people.me(theirs)).account.connected, "nothing happens before the proof");
    const late = await people.another(mine, "Approved later");
    const { session } = await people.finish(attempt, "google", someone(), mine.session);
    t.deepEqual(await people.agentsOf(session), {
      Mine: "acting",
      "Of somebody else": "removed",
      "Approved later": "removed",
    });
    t.is(await refused(people.me(theirs)), "401 unauthorized");
    t.is(await refused(people.me(late)), "401 unauthorized");
    t.is((await people.look(pending, session)).status, "cancelled");
    t.truthy(await market.ask(mine));
  }
});

test.serial("with no agent checked, all are removed, also the one whose link it was", async (t) => {
  const mine = await market.approved();
  const link = await people.linked(mine);
  const { session } = await people.prove(link, { session: mine.session, kept: [] });
  t.like(await people.look(link, session), { status: "completed", agent_removed: true, mine: true });
  t.is(await refused(people.me(mine)), "401 unauthorized");
});

test.serial("ids of other accounts' agents among the checked ones change nothing", async (t) => {
  const [mine, foreign] = [await market.approved("Mine"), await market.approved()];
  const { session } = await people.prove(await people.linked(mine), {
    session: mine.session,
    kept: [mine.agent, foreign.agent, "no id", randomBytes(16).toString("hex")],
  });
  t.deepEqual(await people.agentsOf(session), { Mine: "acting" });
  t.true((await people.me(foreign)).account.connected);
});

test.serial("a later method that is added in the settings needs no choice and removes no agent", async (t) => {
  const mine = await market.approved("Mine");
  const first = await people.prove(await people.linked(mine), { session: mine.session });
  await people.signIn(someone(), { method: "apple", purpose: "add", session: first.session, kept: null });
  t.true((await people.me(mine)).account.connected);
  t.deepEqual((await people.me(mine)).account.verified, ["apple", "google"]);
});
