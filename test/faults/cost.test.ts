import { createHash } from "node:crypto";
import test from "ava";
import { newSecret } from "../../src/base/tokens.ts";
import {
  honestExtraction,
  type Provider,
  reads,
  slowly,
  startProvider,
  status,
  vectors,
  well,
  wrongTypes,
} from "../reader/provider.ts";
import { allowed } from "../support/busy.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import {
  type Agent,
  type Answer,
  call,
  connectAgent,
  connectedAgent,
  eventually,
  idleQueue,
} from "../support/market.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * What callers can make a provider cost. A scripted provider counts the requests; each is one that an operator pays.
 *
 *   reading   a request for a chat completion that contains a text
 *   vector    a request for an embedding that contains a text
 */

/** The upper limit of the deadline, even on a very busy machine. */
const LONGEST_DEADLINE_MS = 30_000;
const DEADLINE_MS = Math.min(allowed(4_000), LONGEST_DEADLINE_MS);

/** As internal.enqueue sets it. */
const MOST_ATTEMPTS = 8;

let database: Database;
let provider: Provider;
let service: Service;

const env = () => ({
  CONNECTIONS_PER_HOUR: "1000",
  EXTRACTION_DEADLINE_MS: String(DEADLINE_MS),
  OPENAI_BASE_URL: provider.baseURL,
  OPENAI_API_KEY: "scripted",
});

test.before(async () => {
  [database, provider] = await Promise.all([createDatabase(), startProvider()]);
  service = await startService({ database: database.url, env: env() });
  await sql(database.url, "update market.sign_in_method set available = true");
});
test.after.always(async () => {
  await service?.stop();
  await provider?.close();
  await database?.drop();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));
test.beforeEach(() => provider.reset());

const newAgent = () => connectedAgent(service.url, database.url);

const readings = (word: string): number => provider.requests.filter(({ text }) => text?.includes(word)).length;
const vectorsOf = (word: string): number =>
  provider.requests.filter(({ body }) => body.input?.some((input) => input.includes(word))).length;

/** Waits until no job is running or due. */
const idle = () => idleQueue(database.url);

/** Lets every job that waits for its next attempt run now. */
const runAgain = () =>
  sql(
    database.url,
    "update graphile_worker._private_jobs set run_at = now() where locked_at is null and attempts < max_attempts",
  );

const published = async (agent: Agent, text: string): Promise<string> => {
  const { status: code, body, text: answer } = await agent.call("POST", "/v1/offers", { text });
  if (code !== 201) throw new Error(answer);
  return body.offer_id;
};

// ── Readings ─────────────────────────────────────────────────────────────────────────────────────────────────────────

for (const [what, behaviour] of Object.entries({
  "answers 500": status(500),
  "breaks the schema": wrongTypes(),
})) {
  test.serial(`a model that ${what} gets a text twice at most, then the built-in extractor reads it`, async (t) => {
    const agent = await newAgent();
    provider.always((request, response) => (request.kind === null ? well() : behaviour)(request, response));
    const word = `kettle${what.length}`;
    const text = `Red ${word}, 25 EUR, Bremen. Write to ${word}@example.com`;
    t.is((await agent.call("POST", "/v1/offers/preview", { text: `Preview: ${text}` })).status, 200);
    t.is(readings("Preview"), 2);
    provider.requests.length = 0;
    const [offer, ask] = await Promise.all([
      agent.call("POST", "/v1/offers", { text }),
      agent.call("POST", "/v1/asks", { text: `Wanted: a ${word} up to 30 EUR` }),
    ]);
    t.is(offer.status, 201, offer.text);
    t.is(offer.body.contact, `${word}@example.com`);
    t.is(ask.body.criteria.price.max, 30, ask.text);
    t.is(readings("Red"), 2);
    t.is(readings("Wanted"), 2);
  });
}

test.serial(
  "a reading that the database cannot store is paid once, and the caller gets the built-in one",
  async (t) => {
    const agent = await newAgent();
    provider.always((request, response) =>
      (request.kind === null ? well() : reads((kind, text) => ({ ...honestExtraction(kind, text), language: "xq" })))(
        request,
        response,
      ),
    );
    for (const table of ["offer", "ask"])
      await sql(database.url, `alter table market.${table} add constraint no_xq check (language <> 'xq') not valid`);
    try {
      const offer = await agent.call("POST", "/v1/offers", {
        text: "Blue tandem, 120 EUR, Bonn. Write to tandem@example.com",
      });
      t.is(offer.status, 201, offer.text);
      t.regex(offer.body.price, /120/);
      const ask = await agent.call("POST", "/v1/asks", { text: "Looking for a tandem up to 150 EUR" });
      t.is(ask.status, 201, ask.text);
      t.is(ask.body.criteria.price.max, 150);
      t.is(readings("Blue tandem"), 1);
      t.is(readings("for a tandem"), 1);
    } finally {
      for (const table of ["offer", "ask"])
        await sql(database.url, `alter table market.${table} drop constraint no_xq`);
    }
  },
);

test.serial(
  "while the database stores no reading of an ask, its text is sent to the model twice, however often it is swept",
  async (t) => {
    const agent = await newAgent();
    await sql(
      database.url,
      `create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
     create trigger refuse before update on market.ask for each row when (new.read_at is not null)
     execute function public.refuse()`,
    );
    let id: string;
    try {
      const asked = await agent.call("POST", "/v1/asks", { text: "Looking for a samovar up to 90 EUR" });
      t.is(asked.status, 201, asked.text);
      t.is(asked.body.title, null, "the answer came without a reading");
      id = asked.body.id;
      const job = `key = (select 'complete_submission:' || id from market.submission where target_id = '${id}')`;
      const attempts = () =>
        sqlValue<number | undefined>(database.url, `select attempts::int from graphile_worker.jobs where ${job}`);
      for (let round = 0; round < 8; round += 1) {
        await idle();
        const before = await attempts();
        await sql(database.url, "select jobs.sweep_submissions()");
        const after = (await attempts()) ?? -1;
        if (before !== undefined && before < MOST_ATTEMPTS)
          t.true(after >= before, "a job that will be tried keeps its attempts");
        else
          t.true(after >= 0 && after < MOST_ATTEMPTS, "a job that permanently failed, or was lost, is enqueued again");
        await runAgain();
        await idle();
        if (round % 4 === 1)
          await sql(database.url, `update graphile_worker._private_jobs set attempts = ${MOST_ATTEMPTS} where ${job}`);
        if (round % 4 === 3) await sql(database.url, `delete from graphile_worker._private_jobs where ${job}`);
      }
      t.is(readings("samovar"), 2);
      t.true(vectorsOf("samovar") <= 8, `${vectorsOf("samovar")} vectors`);
    } finally {
      await sql(database.url, "drop trigger refuse on market.ask; drop function public.refuse()");
    }
    await sql(database.url, "select jobs.sweep_submissions()");
    await runAgain();
    const { body } = await eventually(
      () => agent.call("GET", `/v1/asks/${id}`),
      (answer) => answer.body.title !== null,
    );
    t.is(body.criteria.price.max, 90, "the built-in extractor reads it when it can be stored");
    await idle();
    t.is(readings("samovar"), 2);
  },
);

test.serial("a repeated request with the same key is paid once", async (t) => {
  const agent = await newAgent();
  const send = () =>
    agent.call(
      "POST",
      "/v1/offers",
      { text: "One gramophone, 60 EUR, Ulm. Write to gramophone@example.com" },
      { "idempotency-key": "g" },
    );
  const answers = await Promise.all(Array.from({ length: 20 }, send));
  t.is(answers.filter(({ status: code }) => code === 201 || code === 409).length, 20);
  for (let again = 0; again < 5; again += 1) t.is((await send()).headers["idempotency-replayed"], "true");
  await idle();
  t.is(readings("gramophone"), 1);
  t.is(vectorsOf("gramophone"), 1);
});

test.serial("agents that nobody approved, and sessions without a proved method, cause no paid call", async (t) => {
  const strangers = await Promise.all(Array.from({ length: 12 }, () => connectAgent(service.url)));
  const approved = await newAgent();
  const cookie = newSecret();
  await sql(
    database.url,
    "insert into market.session (account_id, secret_hash) select account_id, $2 from market.agent where id = $1",
    [approved.id, createHash("sha256").update(cookie).digest()],
  );
  const session: Pick<Agent, "call"> = {
    call: (method, path, body) =>
      call(service.url, method, path, {
        body,
        headers: { cookie: `souk_session=${cookie}`, origin: service.url },
      }),
  };
  const previews: Answer[] = [];
  for (const caller of [...strangers, session]) {
    const text = "One zither, 60 EUR, Ulm. Write to zither@example.com";
    for (const [path, body] of [
      ["/v1/offers/preview", { text }],
      ["/v1/offers", { text }],
      ["/v1/asks", { text: "Looking for a zither" }],
    ] as const) {
      const answer = await caller.call("POST", path, body);
      if (caller !== session && path.endsWith("preview")) previews.push(answer);
      else t.is(answer.body.code, "verification_required", answer.text);
    }
    if (caller !== session) await caller.call("POST", "/v1/offers/search", { query: `a zither ${Math.random()}` });
  }
  t.deepEqual(
    [...new Set(previews.map(({ status: code, body }) => `${code} ${body.contact}`))],
    ["200 zither@example.com"],
  );
  await idle();
  t.is(readings("zither") + vectorsOf("zither"), 0);
});

test.serial("previews of agents that nobody approved are read after everything else that waits", async (t) => {
  await service.stop();
  const api = await startPart("api", { database: database.url, env: { ...env(), EXTRACTION_DEADLINE_MS: "60000" } }, t);
  const stranger = await connectAgent(api.url);
  // One text of each account, because an account with more gets only a part of the worker.
  const agents = await Promise.all(Array.from({ length: 6 }, () => connectedAgent(api.url, database.url)));
  const previews = Array.from({ length: 30 }, (_, n) =>
    stranger.call("POST", "/v1/offers/preview", { text: `Lamp ${n}, 5 EUR, lamp@example.com` }),
  );
  const waiting = (count: number) =>
    eventually(
      () => sqlValue<number>(database.url, "select count(*)::int from market.submission where completed_at is null"),
      (found) => found === count,
    );
  await waiting(30);
  const [first, ...others] = agents;
  const offers = others.map((agent, n) =>
    agent.call("POST", "/v1/offers", { text: `Desk ${n}, 50 EUR, Kiel. Write to desk@example.com` }),
  );
  const own = first?.call("POST", "/v1/offers/preview", { text: "Chair, 5 EUR, chair@example.com" });
  await waiting(36);
  // The texts of agents that somebody approved go to the provider.
  const begun: number[] = [];
  provider.always((request, response) => {
    if (request.kind !== null) begun.push(Date.now());
    return well()(request, response);
  });
  const worker = await startPart("worker", { database: database.url, env: env() }, t);
  t.deepEqual(
    [...new Set((await Promise.all([...offers, ...previews, own])).map((answer) => answer?.status))].toSorted(),
    [200, 201],
  );
  const read = await sqlValue<number>(
    database.url,
    "select count(*)::int from market.submission where agent_id = $1 and completed_at < $2",
    [stranger.id, new Date(Math.max(...begun))],
  );
  await worker.stop();
  await api.stop();
  service = await startService({ database: database.url, env: env() });
  t.is(begun.length, 6);
  // A worker runs eight jobs at once, and the six are the first of them.
  t.true(read < 8, `${read} previews were read before`);
});

// ── Vectors ──────────────────────────────────────────────────────────────────────────────────────────────────────────

test.serial("archiving, reopening and watching in a loop buy no vector", async (t) => {
  const agent = await newAgent();
  const offer = await published(agent, "Brass telescope, 70 EUR, Jena. Write to telescope@example.com");
  const { body: ask } = await agent.call("POST", "/v1/asks", { text: "Looking for a periscope up to 80 EUR" });
  await idle();
  for (let round = 0; round < 5; round += 1) {
    for (const [method, path, body] of [
      ["POST", `/v1/offers/${offer}/archive`],
      ["POST", `/v1/offers/${offer}/republish`],
      ["POST", `/v1/offers/${offer}/confirm`],
      ["POST", `/v1/asks/${ask.id}/archive`],
      ["POST", `/v1/asks/${ask.id}/reopen`],
      ["POST", `/v1/asks/${ask.id}/fulfill`],
      ["POST", `/v1/asks/${ask.id}/reopen`],
      ["PATCH", `/v1/asks/${ask.id}`, { watch_enabled: false }],
      ["PATCH", `/v1/asks/${ask.id}`, { watch_enabled: true }],
    ] as const) {
      t.is((await agent.call(method, path, body)).status, 200, path);
    }
    await idle();
  }
  t.is(vectorsOf("telescope"), 1);
  t.is(vectorsOf("periscope"), 1);

  // The same text again costs no vector, another text costs one.
  t.is((await agent.call("PATCH", `/v1/asks/${ask.id}`, { text: "Looking for a periscope up to 80 EUR" })).status, 200);
  await idle();
  t.is(vectorsOf("periscope"), 1);
  t.is((await agent.call("PATCH", `/v1/asks/${ask.id}`, { text: "Looking for a periscope up to 95 EUR" })).status, 200);
  await idle();
  t.is(vectorsOf("periscope"), 2);
  t.is(await sqlValue(database.url, "select count(*)::int from market.ask_embedding where ask_id = $1", [ask.id]), 1);
});

test.serial("an offer that is republished matches the asks of the meantime without a new vector", async (t) => {
  const [seller, buyer] = [await newAgent(), await newAgent()];
  const offer = await published(
    seller,
    "Grey astrolabe sofa for sale, good condition. 180 EUR, Berlin. Write to astro@example.com",
  );
  await idle();
  t.is((await seller.call("POST", `/v1/offers/${offer}/archive`)).status, 200);
  const { body: ask } = await buyer.call("POST", "/v1/asks", {
    text: "Looking for an astrolabe sofa in Berlin up to 250 EUR",
  });
  const matches = async () => (await buyer.call("GET", `/v1/asks/${ask.id}/matches`)).body.results.length;
  t.is(await matches(), 0);
  t.is((await seller.call("POST", `/v1/offers/${offer}/republish`)).status, 200);
  await eventually(matches, (count) => count === 1);
  t.is(vectorsOf("Grey astrolabe"), 1);
});

test.serial("an embedder that answers with invalid vectors gets a text eight times a day at most", async (t) => {
  const agent = await newAgent();
  // Offers of the tests before, whose service was stopped, may wait for their vectors, also all together (reembed).
  provider.reset();
  await runAgain();
  await idle();
  provider.always((request, response) =>
    (request.kind === null ? vectors((texts) => texts.map(() => [0.6, 0.8])) : well())(request, response),
  );
  const offer = await published(agent, "Walnut metronome, 40 EUR, Gera. Write to metronome@example.com");
  const { body: ask } = await agent.call("POST", "/v1/asks", { text: "Looking for a tambourine up to 40 EUR" });
  for (let round = 0; round < 15; round += 1) {
    await agent.call("POST", `/v1/offers/${offer}/archive`);
    await agent.call("POST", `/v1/offers/${offer}/republish`);
    await agent.call("POST", `/v1/asks/${ask.id}/archive`);
    await agent.call("POST", `/v1/asks/${ask.id}/reopen`);
    // As a worker that starts again does, which then embeds what lacks a vector.
    if (round % 5 === 2) await sql(database.url, "select jobs.use_embedding_model('text-embedding-3-small')");
    await runAgain();
    await idle();
  }
  t.is(vectorsOf("metronome"), 8);
  t.is(vectorsOf("tambourine"), 8);
  await assertInvariants(t, database.url);

  // A day later it gets a vector.
  provider.reset();
  await sql(
    database.url,
    "update market.rate_limit_hit set called_at = called_at - interval '1 day' where action = 'embed'",
  );
  for (const path of [
    `/v1/offers/${offer}/archive`,
    `/v1/offers/${offer}/republish`,
    `/v1/asks/${ask.id}/archive`,
    `/v1/asks/${ask.id}/reopen`,
  ])
    t.is((await agent.call("POST", path)).status, 200, path);
  await eventually(
    () =>
      sqlValue<number>(
        database.url,
        `select (select count(*) from market.offer_embedding where offer_id = $1)::int
           + (select count(*) from market.ask_embedding where ask_id = $2)::int`,
        [offer, ask.id],
      ),
    (found) => found === 2,
  );
  await idle();
  t.is(vectorsOf("metronome"), 1);
  t.is(vectorsOf("tambourine"), 1);
});

// ── Searches ─────────────────────────────────────────────────────────────────────────────────────────────────────────

test.serial("an account's agents and sessions together have 600 new queries embedded an hour", async (t) => {
  const [agent, neighbour] = [await newAgent(), await newAgent()];
  const account = await sqlValue<string>(database.url, "select account_id from market.agent where id = $1", [agent.id]);
  const cookie = newSecret();
  await sql(database.url, "insert into market.session (account_id, secret_hash) values ($1, $2)", [
    account,
    createHash("sha256").update(cookie).digest(),
  ]);
  const first = await call(service.url, "POST", "/v1/offers/search", {
    body: { query: "unproved abacus" },
    headers: { cookie: `souk_session=${cookie}`, origin: service.url },
  });
  t.is(first.body.notices[0]?.code, "lexical_only", "a session without a proved method buys no vector");
  await sql(
    database.url,
    "insert into market.proved_method (account_id, method, subject_hash) values ($1, 'google', sha256(uuid_send($1)))",
    [account],
  );
  const search = (query: string, by: Agent | null = agent): Promise<Answer> =>
    by
      ? by.call("POST", "/v1/offers/search", { query })
      : call(service.url, "POST", "/v1/offers/search", {
          body: { query },
          headers: { cookie: `souk_session=${cookie}`, origin: service.url },
        });
  t.deepEqual((await search("first abacus")).body.notices, []);
  await sql(
    database.url,
    `insert into market.rate_limit_hit (scope, action)
     select 'account:' || $1, 'embed_query' from generate_series(1, 589)`,
    [account],
  );
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) => search(`abacus number ${n}`, n % 2 === 0 ? agent : null)),
  );
  t.deepEqual([...new Set(answers.map(({ status: code }) => code))], [200]);
  const compared = answers.filter(({ body }) => body.notices.length === 0);
  const byWords = answers.filter(({ body }) => body.notices[0]?.code === "lexical_only");
  t.deepEqual([compared.length, byWords.length], [10, 30]);
  t.is(vectorsOf("abacus number"), 10);
  t.regex(
    byWords[0]?.body.notices[0].summary,
    /^Searched by words only: this account has sent 600 new queries within an hour, .* Repeat an earlier query, or search again in \d+ seconds\.$/,
  );
  await eventually(
    () =>
      sqlValue<number>(
        database.url,
        "select count(*)::int from market.query_embedding where query_hash = sha256('first abacus')",
      ),
    (kept) => kept === 1,
  );
  t.deepEqual((await search("first abacus")).body.notices, [], "a query that was sent before is compared");
  t.deepEqual((await search("an abacus for the neighbour", neighbour)).body.notices, []);
});

test.serial("searches that wait for the same new query at the same time buy its vector once", async (t) => {
  const agents = await Promise.all([newAgent(), newAgent()]);
  const counted = () =>
    sqlValue<number>(database.url, "select count(*)::int from market.rate_limit_hit where action = 'embed_query'");
  const search = (n: number) => agents[n % 2]?.call("POST", "/v1/offers/search", { query: "one shared sextant" });
  const before = await counted();
  provider.always(slowly(500));
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => search(n)));
  t.deepEqual(
    answers.map((answer) => answer?.body.notices),
    Array(8).fill([]),
  );
  t.is(vectorsOf("sextant"), 1);
  t.is(await counted(), before + 1, "it counts for the account that caused it");
  t.deepEqual((await search(0))?.body.notices, []);
  t.is(vectorsOf("sextant"), 1);
});

test.serial("a caller whose purchase is refused does not keep another from buying the same vector", async (t) => {
  const [spent, other] = await Promise.all([newAgent(), newAgent()]);
  await sql(
    database.url,
    `insert into market.rate_limit_hit (scope, action)
     select 'account:' || account_id, 'embed_query' from market.agent, generate_series(1, 600) where id = $1`,
    [spent.id],
  );
  const search = (agent: Agent) => agent.call("POST", "/v1/offers/search", { query: "one refused quadrant" });
  const [refused, ...answers] = await Promise.all([search(spent), search(other), search(other)]);
  // Another caller's vector may come while the first one waits; it costs nobody anything.
  t.is(refused?.status, 200);
  t.deepEqual(
    answers.map(({ body }) => body.notices),
    [[], []],
  );
  t.is(vectorsOf("quadrant"), 1);
});
