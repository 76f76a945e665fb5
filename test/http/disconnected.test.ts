import test from "ava";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import type { Agent, Answer, Body } from "../support/market.ts";
import { type Market, OFFER, openOwnMarket, settled } from "./contract.ts";

/** What an agent reads that a recovery of its account has disconnected: what an agent reads that nobody has approved. */

let market: Market;
test.before(async () => {
  market = await openOwnMarket();
  await market.sql("update market.sign_in_method set available = true");
});
test.after.always(() => market?.stop());

/** An agent whose account has something of everything, and what it got before it was disconnected, by path. */
const disconnected = async (): Promise<{
  agent: Agent;
  paths: Record<string, string[]>;
  before: Map<string, Answer>;
}> => {
  const agent = await market.agent("Fox");
  const publish = async () => (await agent.call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
  const [archived, removed, waiting] = [await publish(), await publish(), await publish()];
  await market.sql("update market.setting set value = 'true' where name = 'pre_moderation'");
  await agent.call("PATCH", `/v1/offers/${waiting}`, { text: `${OFFER} Or call +49 30 1234567.` });
  await market.sql("update market.setting set value = 'false' where name = 'pre_moderation'");
  await agent.call("POST", `/v1/offers/${archived}/archive`);
  await market.sql("update market.offer set status = 'removed', review_note = 'Bad.' where id = $1", [removed]);
  await agent.call("POST", `/v1/offers/${removed}/appeal`, { comment: "No" });
  const ask = (await agent.call("POST", "/v1/asks", { text: "Looking for a sofa in Berlin, up to 250 EUR" })).body.id;
  const verification = (await agent.call("POST", "/v1/me/verifications", { method: "email" })).body.id;
  const [{ account }] = await market.sql("select account_id as account from market.agent where id = $1", [agent.id]);
  await market.sql("update market.account set display_name = 'Lena', created_at = '2020-01-01' where id = $1", [
    account,
  ]);
  await market.sql(
    "insert into market.proved_method (account_id, method, subject_hash) values ($1, 'google', sha256(uuid_send($1)))",
    [account],
  );
  const paths: Record<string, string[]> = {
    getMe: ["/v1/me"],
    getVerification: [`/v1/me/verifications/${verification}`],
    listOffers: ["/v1/offers", "/v1/offers?status=archived", "/v1/offers?status=published"],
    getOffer: [archived, removed, waiting].map((id) => `/v1/offers/${id}`),
    listAsks: ["/v1/asks", "/v1/asks?status=active"],
    getAsk: [`/v1/asks/${ask}`],
    listMatches: [`/v1/asks/${ask}/matches`],
    listWebhooks: ["/v1/webhooks"],
  };
  const before = new Map<string, Answer>();
  // Otherwise the comparison below would be of nothing.
  for (const path of Object.values(paths).flat()) before.set(path, await agent.call("GET", path));
  const { activity, pending_verifications } = before.get("/v1/me")?.body ?? {};
  if (
    activity.asks_active + activity.offers_published + activity.offers_pending_review + pending_verifications.length !==
    4
  )
    throw new Error(before.get("/v1/me")?.text);
  await market.sql("select internal.recover_account($1)", [account]);
  // The name that the person who recovered the account gives it.
  await market.sql("update market.account set display_name = 'Somebody' where id = $1", [account]);
  return { agent, paths, before };
};

const bare = ({ status, body }: Answer): Body => ({ status, body: settled(body, market.url) });

test.serial(
  "a disconnected agent reads what an agent reads that nobody has approved, until it is approved again",
  async (t) => {
    const { agent, paths, before } = await disconnected();
    t.deepEqual(
      ENDPOINTS.filter(({ method, auth }) => method === "get" && auth === "token").map(
        ({ operationId }) => operationId,
      ),
      [
        "getMe",
        "getVerification",
        "listOffers",
        "getOffer",
        "listAsks",
        "getAsk",
        "listMatches",
        "listEvents",
        "listWebhooks",
      ],
    );
    const stranger = await market.stranger("Fox");
    for (const [operation, list] of Object.entries(paths)) {
      // Its own link, and its own document, are compared below.
      if (operation === "getMe" || operation === "getVerification") continue;
      for (const path of list)
        t.deepEqual(bare(await agent.call("GET", path)), bare(await stranger.call("GET", path)), path);
    }
    const query = { query: "sofa", filters: { exclude_own: true } };
    const found = await agent.call("POST", "/v1/offers/search", query);
    t.is(found.body.results.length, 1, "no search tells which offers are the account's");
    t.deepEqual(bare(found), bare(await stranger.call("POST", "/v1/offers/search", query)));

    const me = (await agent.call("GET", "/v1/me")).body;
    const theirs = (await stranger.call("GET", "/v1/me")).body;
    t.is(me.display_name, "");
    t.deepEqual(me.account.verified, []);
    t.deepEqual(me.activity, { asks_active: 0, offers_published: 0, offers_pending_review: 0 });
    const {
      permissions: _permissions,
      next: _next,
      pending_verifications: _own,
      limits: _limits,
      ...rest
    } = settled(me);
    const { permissions: _1, next: _2, pending_verifications: _3, limits: _4, ...expected } = settled(theirs);
    t.deepEqual(rest, { ...expected, account: { ...expected.account, member_since: rest.account.member_since } });
    const [{ created_at }] = await market.sql("select created_at from market.agent where id = $1", [agent.id]);
    t.is(me.account.member_since, created_at.toISOString());
    for (const [action, { limit }] of Object.entries<Body>(me.limits)) t.is(limit, theirs.limits[action].limit, action);

    await market.sql("update market.agent set connected_at = now(), disconnected_at = null where id = $1", [agent.id]);
    for (const [path, answer] of before) {
      if (path === "/v1/me") continue;
      t.deepEqual(bare(await agent.call("GET", path)), bare(answer), path);
    }
    t.is((await agent.call("GET", "/v1/me")).body.display_name, "Somebody");
  },
);

test.serial(
  "a disconnected agent previews, reports and starts a verification as an agent does that nobody has approved",
  async (t) => {
    const { agent } = await disconnected();
    const foreign = (await (await market.agent("Other")).call("POST", "/v1/offers", { text: OFFER })).body.offer_id;
    const preview = await agent.call("POST", "/v1/offers/preview", { text: OFFER });
    t.is(preview.status, 200);
    for (const time of [1, 2])
      t.is((await agent.call("POST", `/v1/offers/${foreign}/report`, { reason: "spam" })).status, 200, `time ${time}`);
    // Whether the account has proved the method is none of its business.
    const { status, body } = await agent.call("POST", "/v1/me/verifications", { method: "google" });
    t.is(status, 201);
    t.deepEqual((await agent.call("GET", `/v1/me/verifications/${body.id}`)).body.status, "pending");
    t.is((await agent.call("DELETE", "/v1/me/agent")).status, 204);
  },
);
