import test, { type ExecutionContext } from "ava";
import { manageModerators } from "../../src/admin/moderator.ts";
import { hashSecret } from "../../src/base/tokens.ts";
import { codeFrom } from "../sign_in/mailbox.ts";
import { type Market, signInByMail, startMarket, stranger } from "../sign_in/market.ts";
import type { View, Visitor } from "../sign_in/visitor.ts";
import { withClient } from "../support/client.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, type Body, connectAgent, eventually, SOFA } from "../support/market.ts";
import { sql, sqlValue } from "../support/sql.ts";
import { literal } from "./fixture.ts";

/**
 * The audit log after a simulated day of work. Each step states the events that it must leave: who acted, on whose
 * row, in which request. The log must hold exactly these events.
 *
 *   step      one act, with the events that it must leave
 *   expected  [action, actor, owner of the row, request]. Actors and owners have the names that this file gives them
 *   witness   a second record of all changes, written by this test's own triggers
 */

type Event = [action: string, actor: string, subject: string, request: string];
type Pair = { name: string; agent: Agent; person: Visitor; account: string };

let market: Market;
test.before(async () => {
  market = await startMarket({ CONNECTIONS_PER_HOUR: "1000" });
});
test.after.always(() => market?.close());

const AUDITED =
  "offer ask agent account proved_method profile setting report moderator cap_override appeal decision".split(" ");

/** Creates the witness: triggers that record every change of the audited tables, without exceptions, in order. */
const watch = () =>
  withClient(market.database.url, (client) =>
    client.query(`
      create schema witness;
      create table witness.change (n bigserial, at timestamptz default clock_timestamp(), name text, row_id text, op text, was jsonb, becomes jsonb);
      create function witness.see() returns trigger language plpgsql security definer as $$
      declare
        was jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) - '{updated_at,hiding}'::text[] end;
        becomes jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) - '{updated_at,hiding}'::text[] end;
        one jsonb := coalesce(becomes, was);
      begin
        if was is distinct from becomes then
          insert into witness.change (name, row_id, op, was, becomes) values (tg_table_name, case tg_table_name
            when 'proved_method' then one ->> 'method' when 'setting' then one ->> 'name'
            when 'cap_override' then one ->> 'action' when 'profile' then one ->> 'account_id'
            when 'moderator' then one ->> 'account_id' when 'appeal' then one ->> 'offer_id' else one ->> 'id' end, tg_op, was, becomes);
        end if;
        return null;
      end $$;
      ${AUDITED.map((name) => `create trigger zz_witness after insert or update or delete on market.${name} for each row execute function witness.see();`).join("\n")}`),
  );

const accountOf = (agent: Agent): Promise<string> =>
  sqlValue(market.database.url, "select account_id from market.agent where id = $1", [agent.id]);

const graphql = async (visitor: Visitor, query: string, variables: object): Promise<{ id: string; data: Body }> => {
  const cookie = [...(visitor.jar.get("127.0.0.1") ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");
  const answer = await fetch(`${market.url}/admin/graphql`, {
    method: "POST",
    body: JSON.stringify({ query, variables }),
    headers: { cookie, origin: market.url, "sec-fetch-site": "same-origin", "content-type": "application/json" },
  });
  const { data, errors } = (await answer.json()) as { data: Body; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return { id: answer.headers.get("request-id") ?? "none", data };
};

/** Starts a job that the worker's crontab would start. */
const runJob = (name: string) => sql(market.database.url, "select graphile_worker.add_job($1, job_key => $1)", [name]);

/** Makes rows older. The session runs as a replica, so no trigger fires. */
const age = (statement: string, values: unknown[]) =>
  withClient(market.database.url, async (client) => {
    await client.query("set session_replication_role = replica");
    await client.query(statement, values);
  });

const ok = <A extends Answer | View>(answer: A): A => {
  if (answer.status >= 400) throw new Error(`${answer.status}: ${answer.text.slice(0, 2000)}`);
  return answer;
};
const idOf = ({ headers }: Answer | View): string =>
  (headers instanceof Headers ? headers.get("request-id") : headers["request-id"]) ?? "none";

test("a day of work leaves each change once in the log, with its actor and its request", async (t) => {
  t.timeout(300_000);
  await watch();
  const { url, database } = market;
  const names = new Map<string, string>();
  let last = await sqlValue<string>(database.url, "select clock_timestamp()::text");

  /** Performs an act and compares the new events in the log with the expected ones. */
  const step = async <A>(title: string, act: () => Promise<A>, left: (did: A) => Event[]): Promise<A> => {
    const did = await act();
    const expected = left(did);
    const read = () =>
      sql<Body>(
        database.url,
        `select at::text as at, action, actor_type, account_id, agent_id, sql_role, row_id, subject_account_id, request_id
         from market.audit_event where at > $1::timestamptz order by at, id`,
        [last],
      );
    const events = await eventually(read, (found) => found.length >= expected.length);
    const nameOf = (id: string | null) => (id === null ? "-" : (names.get(id) ?? id));
    const found = events.map(
      (event): Event => [
        event.action,
        event.actor_type === "job" || event.actor_type === "dba"
          ? event.actor_type
          : `${event.actor_type} ${nameOf(event.actor_type === "agent" ? event.agent_id : event.account_id)}`,
        nameOf(event.subject_account_id),
        /^job \d+$/.test(event.request_id ?? "") ? "a job" : (event.request_id ?? "-"),
      ],
    );
    const sorted = (list: Event[]) => list.map((event) => event.join(" | ")).toSorted();
    t.deepEqual(sorted(found), sorted(expected), title);
    for (const event of events) {
      if (event.actor_type === "agent") t.is(nameOf(event.account_id), nameOf(event.subject_account_id), title);
      if (event.actor_type !== "agent") t.is(event.agent_id, null, title);
    }
    last = events.at(-1)?.at ?? last;
    return did;
  };

  const connects = async (name: string): Promise<Omit<Pair, "person">> => {
    let account = "";
    const agent = await step(
      `${name} connects`,
      async () => {
        const made = await connectAgent(url, name);
        account = await accountOf(made);
        names.set(account, name).set(made.id, `${name}'s agent`);
        return made;
      },
      (made) => [["agent.created", `agent ${name}'s agent`, name, made.request]],
    );
    return { name, agent, account };
  };
  /** Connects an agent, and approves it as a person in a browser of their own. */
  const newPair = async (name: string): Promise<Pair> => {
    const { agent, account } = await connects(name);
    const person = stranger();
    await step(
      `${name} approves`,
      async () => ok(await person.send(await person.get(agent.link), agent.code)),
      (page) => ["agent.connected", "account.claimed"].map((action) => [action, `person ${name}`, name, idOf(page)]),
    );
    return { name, agent, person, account };
  };
  /**
   * Performs a call of an agent. The expected events have the agent as actor. Request ids sent by the client are
   * ignored.
   */
  const calls = ({ name, agent }: Pair, method: string, path: string, body?: unknown, ...actions: string[]) =>
    step(
      `${name}: ${method} ${path}`,
      async () => ok(await agent.call(method, path, body, { "request-id": "mine", "x-request-id": "x".repeat(5000) })),
      (answer) => actions.map((action) => [action, `agent ${name}'s agent`, name, idOf(answer)]),
    );
  /** A person presses a button on a page. */
  const presses = (who: Pair, path: string, button: string, fields: Record<string, string>, ...actions: string[]) =>
    step(
      `${who.name} presses ${button}`,
      async () => ok(await who.person.send(await who.person.get(url + path), button, fields)),
      (page) => actions.map((action) => [action, `person ${who.name}`, who.name, idOf(page)]),
    );

  // The market opens: agents publish, ask and report.
  const seller = await newPair("Seller");
  const buyer = await newPair("Buyer");
  const published = await calls(seller, "POST", "/v1/offers", { text: SOFA }, "offer.published");
  const offer = published.body.offer_id;
  const offerPath = `/v1/offers/${offer}`;
  await calls(seller, "GET", offerPath);
  await calls(seller, "PATCH", offerPath, { text: SOFA.replace("180", "170") }, "offer.updated");
  await calls(seller, "POST", `${offerPath}/archive`, undefined, "offer.archived");
  await calls(seller, "POST", `${offerPath}/archive`);
  await calls(seller, "POST", `${offerPath}/republish`, undefined, "offer.published");
  const asked = await calls(buyer, "POST", "/v1/asks", { text: "Looking for a sofa in Berlin" }, "ask.created");
  const ask = `/v1/asks/${asked.body.id}`;
  await calls(buyer, "PATCH", ask, { text: "Looking for a sofa, up to 200 EUR" }, "ask.updated");
  await calls(buyer, "PATCH", ask, { watch_enabled: false }, "ask.updated");
  await calls(buyer, "POST", `${ask}/fulfill`, undefined, "ask.fulfilled");
  await calls(buyer, "POST", `${ask}/reopen`, undefined, "ask.reopened");
  await calls(buyer, "POST", "/v1/offers/search", { query: "sofa" });
  await calls(buyer, "POST", `${offerPath}/report`, { reason: "scam", comment: "Aardvark" }, "report.created");

  // Two people are appointed as moderators from the command line.
  const newModerator = async (name: string): Promise<Visitor> => {
    const visitor = stranger();
    const email = `${name.toLowerCase()}@example.com`;
    await step(
      `${name} signs in for the first time`,
      async () => {
        const page = ok(await signInByMail(market, visitor, email));
        const own = "select account_id from market.proved_method where email = $1";
        names.set(await sqlValue<string>(database.url, own, [email]), name);
        return page;
      },
      (page) => [["method.proved", `person ${name}`, name, idOf(page)]],
    );
    await step(
      `${name} is appointed`,
      async () => t.true((await manageModerators(database.url, ["add", email])).ok),
      () => [["moderator.created", "dba", name, "-"]],
    );
    return visitor;
  };
  const [mo, ann] = [await newModerator("Mo"), await newModerator("Ann")];
  /** Runs a mutation, as a moderator. Its events are of the mutation's request, or of a job that it enqueues. */
  const decides = (who: [string, Visitor], name: string, input: object, ...events: [string, string, "a job"?][]) =>
    step(
      `${who[0]}: ${name}`,
      () => graphql(who[1], `mutation { ${name}(input: ${literal(input)}) { __typename } }`, {}),
      ({ id }) => events.map(([action, subject, job]) => [action, `moderator ${who[0]}`, subject, job ?? id]),
    );

  // A removal, an appeal, and the decision of another moderator on the offer's page.
  const seen = async (id: string) => ({
    id,
    expectedUpdatedAt: (await graphql(mo, "query($id: UUID!) { offer(id: $id) { updatedAt } }", { id })).data.offer
      .updatedAt,
  });
  const byMo: [string, Visitor] = ["Mo", mo];
  const byAnn: [string, Visitor] = ["Ann", ann];
  await decides(
    byMo,
    "removeOffer",
    { ...(await seen(offer)), reason: "scam", sentence: "Aardvark." },
    ["offer.removed", "Seller"],
    ["report.updated", "Buyer"],
    ["decision.created", "Seller"],
  );
  await calls(seller, "POST", `${offerPath}/appeal`, { comment: "Aardvark" }, "appeal.created");
  for (const [button, subject, ...actions] of [
    ["Take for ten minutes", "-", "review_case.claimed"],
    ["Give back", "-", "review_case.released"],
    ["Restore", "Seller", "offer.restored", "appeal.decided", "decision.created"],
  ] as const)
    await step(
      `Ann presses ${button}`,
      async () => ok(await ann.send(await ann.get(`${url}/admin/offers/${offer}`), button)),
      (page) => actions.map((action) => [action, "moderator Ann", subject, idOf(page)]),
    );

  // Measures against accounts.
  const ofSeller = (...actions: string[]) => actions.map((action): [string, string] => [action, "Seller"]);
  const suspension = ofSeller("account.suspended", "decision.created");
  await decides(byMo, "suspendAccount", { id: seller.account, reason: "spam" }, ...suspension, [
    "offer.archived",
    "Seller",
    "a job",
  ]);
  const end = ofSeller("account.reinstated", "decision.created");
  await decides(byAnn, "reinstateAccount", { id: seller.account }, ...end, ["offer.published", "Seller", "a job"]);
  for (const [cap, action] of [
    [7, "cap_override.created"],
    [9, "cap_override.updated"],
    [null, "cap_override.deleted"],
  ] as const)
    await decides(
      byMo,
      "overrideCap",
      { accountId: buyer.account, action: "create_ask", cap },
      [action, "Buyer"],
      ["decision.created", "Buyer"],
    );
  const moderated = (value: boolean) => ({ name: "pre_moderation", value, expectedValue: !value });
  await decides(byMo, "changeSetting", moderated(true), ["setting.updated", "-"]);
  const waiting = await calls(seller, "POST", "/v1/offers", { text: SOFA }, "offer.pending_review");
  const rejection = { ...(await seen(waiting.body.offer_id)), reason: "spam", sentence: "Aardvark." };
  await decides(byAnn, "rejectOffer", rejection, ...ofSeller("offer.rejected", "decision.created"));
  await decides(byMo, "changeSetting", moderated(false), ["setting.updated", "-"]);

  // Acts of people on the settings pages.
  const profile = { display_name: "Aardvark", contact_email: "aardvark@example.com" };
  await presses(buyer, "/settings/profile", "Save", profile, "profile.updated", "profile.updated");
  await presses(seller, "/settings/market?status=published", "Archive", {}, "offer.archived");
  const list = await seller.person.submit(await seller.person.get(`${url}/settings/methods`), "Send the mail", {
    email: "aardvark@example.com",
  });
  const adding = await seller.person.submit(list, "Go on", { agent: [seller.agent.id] });
  await step(
    "Seller proves an e-mail address",
    async () => {
      const code = codeFrom(await market.mail.next("aardvark@example.com"));
      return ok(await seller.person.send(adding, "code", { code }));
    },
    (page) => [["method.proved", "person Seller", "Seller", idOf(page)]],
  );
  await presses(seller, "/settings/methods/email", "Remove e-mail", { confirmed: "yes" }, "method.removed");
  await presses(buyer, "/settings", "Remove this agent", {}, "agent.removed");

  // Another account publishes and asks, and then is deleted.
  const leaver = await newPair("Leaver");
  await calls(leaver, "POST", "/v1/offers", { text: SOFA }, "offer.published");
  await calls(leaver, "POST", "/v1/asks", { text: "Looking for a lamp" }, "ask.created");
  await calls(leaver, "DELETE", "/v1/me/agent", undefined, "agent.removed");
  const gone = ["offer.archived", "ask.deleted", "agent.deleted", "account.deleted"];
  await presses(leaver, "/settings/account/delete", "Delete my account", { confirmed: "yes" }, ...gone);

  // A week later, jobs purge an agent that nobody approved, and then its account.
  const { agent: nobody, account } = await connects("Nobody");
  await age("update market.agent set created_at = now() - interval '8 days' where id = $1", [nobody.id]);
  await age("update market.account_stats set last_active_at = now() - interval '8 days' where account_id = $1", [
    account,
  ]);
  await age("update market.account set created_at = now() - interval '8 days' where id = $1", [account]);
  await step(
    "its agent is purged",
    () => runJob("purge_agents"),
    () => [["agent.deleted", "job", "Nobody", "a job"]],
  );
  await step(
    "its account is purged",
    () => runJob("purge_keys"),
    () => [["account.deleted", "job", "Nobody", "a job"]],
  );
  for (const job of ["purge_sign_ins", "sweep_submissions", "keep_audit_partitions", "resume_reembedding"])
    await step(
      job,
      () => runJob(job),
      () => [],
    );

  // A DBA corrects a row by hand.
  await step(
    "a DBA corrects a row",
    () => sql(database.url, "update market.offer set category = null where id = $1", [offer]),
    () => [["offer.updated", "dba", "Seller", "-"]],
  );

  await eachChangeIsThereOnce(t);
  await noWordOfAPerson(t, [seller, buyer, leaver]);
  await assertInvariants(t, database.url);
});

/** Compares with the witness: the log has one event for each change of a row, apart from the documented exceptions. */
const eachChangeIsThereOnce = async (t: ExecutionContext) => {
  const changes = await sql<Body>(market.database.url, "select * from witness.change order by n");
  t.true(changes.length > 40);
  const counts = (rows: { name: string; row_id: string }[]): [row: string, changes: number][] => {
    const count: Record<string, number> = {};
    for (const { name, row_id } of rows) count[`${name} ${row_id}`] = (count[`${name} ${row_id}`] ?? 0) + 1;
    return Object.entries(count).toSorted();
  };
  const meant = changes.filter(({ name, op, was, becomes }) => {
    // The log leaves out the new account of each agent and the extraction of each ask: no actor does these on purpose.
    if (name === "account" && op === "INSERT") return false;
    return !(name === "ask" && op === "UPDATE" && was.read_at === null && was.text === becomes.text);
  });
  const log = await sql<{ name: string; row_id: string }>(
    market.database.url,
    "select table_name as name, row_id from market.audit_event where at > (select min(at) from witness.change)",
  );
  // The witness does not watch review_case. Of cases, the log records only that they were claimed or released.
  const lives = log.filter(({ name }) => name !== "review_case");
  t.deepEqual(counts(lives), counts(meant));
};

/** The log holds no name, e-mail address, sentence, comment, token or hash, neither as text nor in hexadecimal. */
const noWordOfAPerson = async (t: ExecutionContext, people: { agent: Agent; person: Visitor }[]) => {
  const log = await sqlValue<string>(
    market.database.url,
    "select lower(string_agg(concat_ws(' ', e.before, e.after, e.row_id, e.action), ' ')) as log from market.audit_event e",
  );
  t.true(log.length > 5_000);
  const secrets = people.flatMap(({ agent, person }) => [
    agent.token,
    agent.link.split("/").at(-1) ?? "",
    agent.code,
    ...[...(person.jar.get("127.0.0.1") ?? [])].map(([, value]) => value),
  ]);
  const hashes = secrets.map((secret) => hashSecret(secret).toString("hex"));
  for (const word of ["aardvark", "example.com", "lena@", "sofa", "grey", ...secrets, ...hashes])
    t.false(log.includes(word.toLowerCase()), word);
};
