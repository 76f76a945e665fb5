import test from "ava";
import { openMarket } from "./market.ts";

/**
 * While a deployment rolls, processes of the first release go on calling a database that is newer. What they call has to
 * be there, by the names of arguments that they know.
 */

/** The functions of the first release whose arguments have changed since, with what it gives them. */
const CALLS: readonly [name: string, args: string, answer: RegExp][] = [
  ["get_connection", "secret_hash => $1", /not_found/],
  ["approve_connection", "secret_hash => $1, session_hash => $1, new_session_hash => $1", /not_found/],
];

test("what the first release calls still resolves", async (t) => {
  const market = await openMarket(t);
  for (const [name, args, message] of CALLS) {
    await t.throwsAsync(market.sql(`select api.${name}(${args})`, [Buffer.alloc(32)]), { message }, name);
  }
});

test("a form of the first release approves the account of its session, as it did", async (t) => {
  const market = await openMarket(t);
  const person = await market.approved();
  const second = await market.connect();
  await market.sql("select api.approve_connection(secret_hash => $1, session_hash => $2, new_session_hash => $3)", [
    second.link,
    person.session,
    second.session,
  ]);
  const [agent] = await market.sql("select account_id from market.agent where id = $1", [second.agent]);
  t.is(agent.account_id, person.account);
});
