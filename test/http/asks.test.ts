import test from "ava";
import { type Agent, type Answer, type Body, eventually } from "../support/market.ts";
import { type Market, OFFER, openMarket, settled } from "./contract.ts";
import { KEPT_NOWHERE, published, rated, SHOWN, whole } from "./offers.ts";

/** How an ask is read, moves between statuses and is matched. */

let market: Market;
test.before(async () => {
  market = await openMarket();
});
test.after.always(() => market?.stop());

const WANTED = "Wanted: sofa in Berlin, up to 250 EUR";

const ASK = {
  id: "<id>",
  status: "active",
  watch_enabled: true,
  text: WANTED,
  title: "sofa",
  domain: "home_garden",
  category: "furniture",
  ask_kind: "buy",
  criteria: {
    keywords: ["sofa"],
    must: [] as string[],
    exclude: [] as string[],
    price: { max: 250, currency: "EUR" },
    location: {
      text: "Berlin",
      city: "Berlin",
      country: "DE",
      region: "Berlin",
      point: { lat: 52.524, lon: 13.411 },
      remote: false,
    },
    condition: null,
    attributes: {},
  },
  created_at: "<time>",
  updated_at: "<time>",
};

const counted = (remaining: number) => rated(120, remaining);

const ask = async (agent: Agent, body: Body = { text: WANTED }): Promise<string> => {
  const answer = await agent.call("POST", "/v1/asks", body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.id;
};

const idsOf = (answer: Answer): string[] => answer.body.results.map(({ id }: Body) => id);

test("an ask is active at once, and the response says how its text was understood", async (t) => {
  const agent = await market.agent();
  const answer = await agent.call("POST", "/v1/asks", { text: WANTED });
  t.deepEqual(whole(market, answer), { status: 201, headers: counted(119), body: ASK });
  t.deepEqual(whole(market, await agent.call("GET", `/v1/asks/${answer.body.id}`)), {
    status: 200,
    headers: KEPT_NOWHERE,
    body: ASK,
  });
  const quiet = await agent.call("POST", "/v1/asks", { text: WANTED, watch_enabled: false });
  t.deepEqual(whole(market, quiet), { status: 201, headers: counted(118), body: { ...ASK, watch_enabled: false } });
});

test("an unclear text becomes an ask with nulls", async (t) => {
  const agent = await market.agent();
  const id = await ask(agent, { text: "Hmm" });
  const { body } = await agent.call("GET", `/v1/asks/${id}`);
  t.deepEqual([body.status, body.domain, body.category, body.ask_kind], ["active", null, null, null]);
  const matches = await agent.call("GET", `/v1/asks/${id}/matches`);
  t.deepEqual(settled(matches.body), {
    ask_id: "<id>",
    status: "active",
    watch_enabled: true,
    results: [],
    since: "<cursor>",
    page: { next_cursor: null, has_more: false },
    next: [
      {
        summary: "The text does not say clearly what is wanted. Send a clearer one.",
        method: "PATCH",
        path: "/v1/asks/<id>",
      },
    ],
  });
});

test("a new text is read under the same id and counts; a new watch_enabled does not count", async (t) => {
  const agent = await market.agent();
  const id = await ask(agent);
  const text = "Wanted: sofa in Hamburg, up to 300 EUR";
  const read = await agent.call("PATCH", `/v1/asks/${id}`, { text });
  const expected = {
    ...ASK,
    text,
    criteria: {
      ...ASK.criteria,
      price: { max: 300, currency: "EUR" },
      location: {
        text: "Hamburg",
        city: "Hamburg",
        country: "DE",
        region: "Hamburg",
        point: { lat: 53.551, lon: 9.993 },
        remote: false,
      },
    },
  };
  t.deepEqual(whole(market, read), { status: 200, headers: counted(118), body: expected });
  t.is(read.body.id, id);
  const quiet = await agent.call("PATCH", `/v1/asks/${id}`, { watch_enabled: false });
  t.deepEqual(whole(market, quiet), {
    status: 200,
    headers: counted(118),
    body: { ...expected, watch_enabled: false },
  });
  const empty = await agent.call("PATCH", `/v1/asks/${id}`, {});
  t.deepEqual(
    [empty.status, empty.body.errors],
    [400, [{ pointer: "", detail: "Send a new text, watch_enabled, or both." }]],
  );
  const wrong = await agent.call("PATCH", `/v1/asks/${id}`, { text: "", watch_enabled: true });
  t.deepEqual(
    [wrong.status, wrong.body.errors],
    [
      400,
      [{ pointer: "/text", detail: "The text is empty. Say in it, in plain language, what is offered or wanted." }],
    ],
  );
  t.deepEqual((await agent.call("GET", `/v1/asks/${id}`)).body, quiet.body, "a refused change has no effect");
});

test("an account's asks are listed page by page, newest first, each once", async (t) => {
  const agent = await market.agent();
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) ids.unshift(await ask(agent));
  await agent.call("POST", `/v1/asks/${ids[1]}/fulfill`);
  const first = await agent.call("GET", "/v1/asks?limit=2");
  t.deepEqual(whole(market, first), {
    status: 200,
    headers: KEPT_NOWHERE,
    body: {
      results: [ASK, { ...ASK, status: "fulfilled" }],
      page: { next_cursor: "<cursor>", has_more: true },
    },
  });
  const second = await agent.call("GET", `/v1/asks?limit=2&cursor=${first.body.page.next_cursor}`);
  t.deepEqual([...idsOf(first), ...idsOf(second)], ids);
  t.deepEqual(second.body.page, { next_cursor: null, has_more: false });
  t.deepEqual(idsOf(await agent.call("GET", "/v1/asks?status=fulfilled")), [ids[1]]);
  t.deepEqual(idsOf(await agent.call("GET", "/v1/asks?status=draft")), []);
  const foreign = await agent.call("GET", `/v1/asks?status=active&cursor=${first.body.page.next_cursor}`);
  t.deepEqual([foreign.status, foreign.body.errors[0].pointer], [400, "/cursor"]);
  const { body } = await agent.call("GET", "/v1/offers?limit=2");
  t.deepEqual(body.results, []);
  const other = await agent.call("GET", `/v1/offers?cursor=${first.body.page.next_cursor}`);
  t.deepEqual([other.status, other.body.errors[0].pointer], [400, "/cursor"]);
});

/** Two agents in a sandbox of their own, in which no offer of another test matches. */
const pair = async (): Promise<[Agent, Agent]> => {
  const connect = async (more: object): Promise<Agent & { sandbox_id: string }> => {
    const { body } = await market.call("POST", "/v1/connect", { body: { sandbox: true, ...more } });
    const headers = { authorization: `Bearer ${body.agent_token}` };
    const call: Agent["call"] = (method, path, sent) =>
      market.call(method, path, { headers, ...(sent === undefined ? {} : { body: sent }) });
    return { ...body, id: body.agent_id, call };
  };
  const one = await connect({});
  return [one, await connect({ sandbox_id: one.sandbox_id })];
};

test("matches come best first with reasons, page by page, and since selects only newer ones", async (t) => {
  const [owner, seeker] = await pair();
  const id = await ask(seeker);
  const read = (query = "") => seeker.call("GET", `/v1/asks/${id}/matches${query}`);
  const none = await read();
  t.deepEqual(settled(none.body), {
    ask_id: "<id>",
    status: "active",
    watch_enabled: true,
    results: [],
    since: "<cursor>",
    page: { next_cursor: null, has_more: false },
    next: [
      {
        summary: "Nothing new matches. Look again later with the since of this answer.",
        method: "GET",
        path: "/v1/asks/<id>/matches",
      },
    ],
  });

  const sofa = await published(owner);
  const first = await eventually(read, ({ body }) => body.results.length === 1);
  const {
    // Nobody sees an offer of a sandbox on a page.
    web_url: _page,
    status: _status,
    domain: _domain,
    category: _category,
    offer_kind: _kind,
    updated_at: _at,
    ...shown
  } = SHOWN;
  const SOFA_MATCH = {
    ...shown,
    score: "<score>",
    rank: 1,
    match: {
      first_matched_at: "<time>",
      reasons: [
        { criterion: "kind", verdict: "met", wanted: "buy", found: "sale" },
        { criterion: "category", verdict: "met", wanted: "home_garden/furniture", found: "home_garden/furniture" },
        { criterion: "keywords", verdict: "met", wanted: ["sofa"], found: "Grey three-seat sofa" },
        { criterion: "price", verdict: "met", wanted: { max: 250, currency: "EUR" }, found: "180 EUR" },
        { criterion: "location", verdict: "met", wanted: "Berlin", found: "Berlin" },
      ],
    },
  };
  t.deepEqual(whole(market, first), {
    status: 200,
    headers: KEPT_NOWHERE,
    body: {
      ask_id: "<id>",
      status: "active",
      watch_enabled: true,
      results: [SOFA_MATCH],
      since: "<cursor>",
      page: { next_cursor: null, has_more: false },
      next: [
        {
          summary: "Show the person what matches. When one of them is taken, mark the ask as fulfilled.",
          method: "POST",
          path: "/v1/asks/<id>/fulfill",
        },
      ],
    },
  });

  // A sofa in another city that can be sent has a lower score. A sofa that is too expensive does not match.
  const elsewhere = await published(owner, {
    text: OFFER.replace("pick up in Berlin", "in Hamburg, shipping possible"),
  });
  await published(owner, { text: OFFER.replace("180", "380") });
  await published(seeker);
  const both = await eventually(read, ({ body }) => body.results.length >= 2);
  t.deepEqual(idsOf(both), [sofa, elsewhere]);
  const [better, worse] = both.body.results;
  t.true(better.score > worse.score);
  t.deepEqual(
    worse.match.reasons.find(({ criterion }: Body) => criterion === "location"),
    { criterion: "location", verdict: "violated", wanted: "Berlin", found: "Hamburg" },
  );
  const page = await read("?limit=1");
  t.deepEqual([idsOf(page), page.body.page.has_more], [[sofa], true]);
  const second = await read(`?limit=1&cursor=${page.body.page.next_cursor}`);
  t.deepEqual([idsOf(second), second.body.results[0].rank, second.body.since], [[elsewhere], 2, page.body.since]);
  t.deepEqual(idsOf(await read(`?since=${first.body.since}`)), [elsewhere]);
  t.deepEqual(idsOf(await read(`?since=${both.body.since}`)), []);
});
