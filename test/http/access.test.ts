import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import type { Agent, Answer, Body } from "../support/market.ts";
import { EVERYTHING } from "../support/shared.ts";
import { OFFER as BERLIN, type Market, NOTHING, openMarket, type Person } from "./contract.ts";

/** A request for something of another account gets the same response as for something that does not exist. */

/** In a town where other tests have nothing. */
const OFFER = BERLIN.replace("Berlin", "Trier");

let market: Market;
/** The agent that owns things. */
let owner: Agent;
/** The agent that tries to reach them. */
let other: Agent;
/** The person of `other`, in a browser. */
let person: Person;
/** An agent without a person's approval. */
let stranger: Agent;
/** The ids of the owner's offers, asks and other objects. */
let ids: Record<
  | "published"
  | "archived"
  | "removed"
  | "ask"
  | "fulfilled"
  | "verification"
  | "account"
  | "agent"
  | "conversation"
  | "confirmation",
  string
>;

test.before(async () => {
  market = await openMarket(EVERYTHING);
  [owner, other, stranger] = [await market.agent("Owner"), await market.agent("Other"), await market.stranger()];
  person = await market.person(other);
  // A person changes a text only with a proved method.
  await market.sql(
    `insert into market.proved_method (account_id, method, subject_hash)
     select account_id, 'google', sha256(uuid_send(account_id)) from market.agent where id = $1`,
    [other.id],
  );
  const publish = async () => (await owner.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
  const ask = async () => (await owner.call("POST", "/v1/asks", { text: "Looking for a sofa" })).body.id;
  ids = {
    published: await publish(),
    archived: await publish(),
    removed: await publish(),
    ask: await ask(),
    fulfilled: await ask(),
    verification: (await owner.call("POST", "/v1/me/verifications", { method: "email" })).body.id,
    account: (await owner.call("GET", "/v1/me")).body.id,
    agent: owner.id,
    conversation: NOTHING,
    confirmation: NOTHING,
  };
  const inquirer = await market.agent("Inquirer");
  const proposal = { handover: { method: "pickup" } };
  const opened = await inquirer.call("POST", `/v1/offers/${ids.published}/conversations`, { proposal, contact: "Tom" });
  ids.conversation = opened.body.id;
  const path = `/v1/conversations/${ids.conversation}/proposals/${opened.body.proposal.id}/accept`;
  ids.confirmation = (await owner.call("POST", path)).body.agreement.confirmation.id;
  await owner.call("POST", `/v1/offers/${ids.archived}/archive`);
  await owner.call("POST", `/v1/asks/${ids.fulfilled}/fulfill`);
  await market.sql("update market.offer set status = 'removed' where id = $1", [ids.removed]);
});
test.after.always(() => market?.stop());

/** A response without the headers and members that differ with each request. */
const bare = ({ status, headers, body }: Answer): Body => {
  const { "request-id": _id, date: _date, ...kept } = headers;
  return { status, headers: kept, body: { ...body, request_id: "" } };
};

const WITH_ID = ENDPOINTS.filter(({ path }) => path.includes("{id}"));
/** Every caller may read and report a published offer. */
const OPEN = ["getOffer published", "reportOffer published"];
/** Every caller may open a conversation about it, which is counted: the next refusal would have other figures. */
const COUNTED = "openConversation published";

for (const { operationId, method, path, body: { example } = {} } of WITH_ID) {
  const tries = (what: string, caller: () => Pick<Agent, "call">) =>
    test(`${operationId} gives ${what} the same response for another account's id and an unknown id`, async (t) => {
      const attempt = (id: string) =>
        caller().call(method.toUpperCase(), path.replace("{id}", id).replace("{proposal_id}", NOTHING), example);
      const nothing = await attempt(NOTHING);
      t.is(nothing.status, 404);
      t.is(nothing.body.code, "not_found");
      for (const [what, id] of Object.entries(ids)) {
        if (`${operationId} ${what}` === COUNTED) continue;
        const answer = await attempt(id);
        if (OPEN.includes(`${operationId} ${what}`)) t.is(answer.status, 200, what);
        else t.deepEqual(bare(answer), bare(nothing), what);
      }
      t.deepEqual(bare(await attempt("00000000-0000-0000-0000-000000000000")), bare(nothing));
      // What is no id is said to be none.
      const none = await attempt("x");
      t.like(none, { status: 404, body: { code: "not_found" } });
      for (const id of [`{${NOTHING}}`, `${NOTHING}0`, "%00", "..%2f..%2fme", "a".repeat(4000)])
        t.deepEqual(bare(await attempt(id)), bare(none), id);
    });
  tries("an agent", () => other);
  tries("a person", () => person);
}

test("the attempts of another account have changed nothing", async (t) => {
  const statuses = await market.sql(
    `with own as (select account_id from market.agent where id = $1)
     select id, status from market.offer join own using (account_id)
     union all select id, status from market.ask join own using (account_id)`,
    [owner.id],
  );
  t.deepEqual(Object.fromEntries(statuses.map(({ id, status }) => [id, status])), {
    [ids.published]: "published",
    [ids.archived]: "archived",
    [ids.removed]: "removed",
    [ids.ask]: "active",
    [ids.fulfilled]: "fulfilled",
  });
});

test("a published offer shows its contact and its publisher's record, and not who published it", async (t) => {
  const { body, text } = await other.call("GET", `/v1/offers/${ids.published}`);
  t.is(body.owner, undefined);
  t.deepEqual(body.publisher.offers, { active: 1, lifetime: 3, removed: 1 });
  for (const secret of [ids.account, ids.agent, "Owner"]) t.false(text.includes(secret), secret);
  const search = await other.call("POST", "/v1/offers/search", { query: "sofa", filters: { location: "Trier" } });
  t.deepEqual(
    search.body.results.map(({ id }: Body) => id),
    [ids.published],
  );
  for (const secret of [ids.account, ids.agent, "Owner"]) t.false(search.text.includes(secret), secret);
});

test("an origin_ask_id or a cursor of another account's ask is refused", async (t) => {
  const submit = async (id: string) =>
    bare(await other.call("POST", "/v1/offers/preview", { text: OFFER, origin_ask_id: id }));
  const [theirs, none] = [await submit(ids.ask), await submit(NOTHING)];
  t.is(theirs.status, 400);
  for (const answer of [theirs, none]) delete answer.headers["ratelimit-reset"];
  t.deepEqual(theirs, none);
  const { body } = await owner.call("GET", `/v1/asks/${ids.ask}/matches`);
  t.is((await other.call("GET", `/v1/asks/${ids.ask}/matches?since=${body.since}`)).status, 404);
});

test("lists contain nothing of another account", async (t) => {
  for (const agent of [other, stranger, person]) {
    for (const path of ["/v1/offers", "/v1/asks", "/v1/conversations"]) {
      t.deepEqual((await agent.call("GET", path)).body.results, [], path);
    }
    const { body } = await agent.call("GET", "/v1/me");
    t.false(body.pending_verifications.some(({ id }: Body) => id === ids.verification));
    t.deepEqual(body.pending_confirmations, []);
    t.not(body.id, ids.account);
  }
});

test("an agent without approval can do everything that only reads", async (t) => {
  const open = ENDPOINTS.filter(({ auth, permission }) => auth === "token" && !permission);
  const sent: Record<string, Body> = {
    startVerification: { method: "google" },
    searchOffers: { query: "sofa" },
    previewOffer: { text: OFFER },
    reportOffer: { reason: "duplicate" },
    reportConversation: { reason: "spam" },
  };
  const statuses: Record<string, number> = {};
  for (const { operationId, method, path } of open) {
    if (operationId === "removeOwnAgent") continue;
    const answer = await stranger.call(
      method.toUpperCase(),
      path.replace("{id}", path.includes("/offers/") ? ids.published : NOTHING),
      sent[operationId],
    );
    statuses[operationId] = answer.status;
  }
  t.deepEqual(statuses, {
    getMe: 200,
    startVerification: 201,
    getVerification: 404,
    searchOffers: 200,
    previewOffer: 200,
    listOffers: 200,
    getOffer: 200,
    reportOffer: 200,
    listAsks: 200,
    getAsk: 404,
    listMatches: 404,
    listProposals: 404,
    listConversations: 200,
    getConversation: 404,
    listMessages: 404,
    reportConversation: 404,
    getConfirmation: 404,
    listEvents: 200,
    listWebhooks: 200,
  });
});
