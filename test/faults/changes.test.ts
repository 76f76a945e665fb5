import { setTimeout as sleep } from "node:timers/promises";
import test from "ava";
import pg from "pg";
import { type Provider, startProvider, well } from "../reader/provider.ts";
import { createDatabase, type Database } from "../support/database.ts";
import { assertInvariants } from "../support/invariants.ts";
import { type Agent, type Answer, connectedAgent, eventually } from "../support/market.ts";
import { type Service, startPart, startService } from "../support/service.ts";
import { sqlValue } from "../support/sql.ts";

/**
 * Changes of one text over HTTP, on two processes, where the reader takes much longer for one of them.
 *
 *   held   a text with one of these words is read only when the test releases the word
 */

const WORDS = ["alpha", "omega"] as const;
type Word = (typeof WORDS)[number];

let database: Database;
let provider: Provider;
let services: [Service, Service];
const held = new Map<Word, PromiseWithResolvers<void>>();
const release = (word: Word) => held.get(word)?.resolve();

test.before(async () => {
  [database, provider] = await Promise.all([createDatabase(), startProvider()]);
  const options = {
    database: database.url,
    env: {
      CONNECTIONS_PER_HOUR: "1000",
      OPENAI_BASE_URL: provider.baseURL,
      OPENAI_API_KEY: "scripted",
      // The longest that is allowed: what is held here is never withdrawn.
      EXTRACTION_DEADLINE_MS: "60000",
    },
  };
  services = [await startService(options), await startPart("api", options)];
  const read = well();
  provider.always(async (request, response) => {
    const word = WORDS.find((known) => request.text?.includes(known));
    if (word !== undefined) await held.get(word)?.promise;
    await read(request, response);
  });
});
test.after.always(async () => {
  for (const word of WORDS) release(word);
  await Promise.all((services ?? []).map((service) => service.stop()));
  await provider?.close();
  await database?.drop();
});
test.beforeEach(() => {
  for (const word of WORDS) held.set(word, Promise.withResolvers());
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, database.url));

const textOf = (kind: string, title: string): string =>
  kind === "asks" ? `Wanted: ${title} sofa up to 250 EUR` : `${title} sofa, 180 EUR, Berlin. Write to lena@example.com`;

/** Waits until so many changes of an offer or ask are admitted and not answered yet. */
const waiting = (id: string, count: number) =>
  eventually(
    () =>
      sqlValue<number>(
        database.url,
        "select count(*)::integer from market.submission where target_id = $1 and completed_at is null",
        [id],
      ),
    (waits) => waits === count,
  );

/** Creates an ask or publishes an offer. Returns its id and path. */
const make = async (agent: Agent, kind: "asks" | "offers"): Promise<{ id: string; path: string }> => {
  const { body } = await agent.call("POST", `/v1/${kind}`, { text: textOf(kind, "First") });
  const id: string = body.offer_id ?? body.id;
  return { id, path: `/v1/${kind}/${id}` };
};

const textNow = async (agent: Agent, path: string): Promise<string> => {
  const { body } = await agent.call("GET", path);
  return body.text ?? body.description ?? body.document.description;
};

for (const kind of ["asks", "offers"] as const) {
  test.serial(`of two changes of ${kind} the later stays, also if it is read first`, async (t) => {
    const agent = await connectedAgent(services[0].url, database.url);
    const { id, path } = await make(agent, kind);
    const text = textOf(kind, "Later");
    const earlier = agent.at(services[0].url)("PATCH", path, { text: textOf(kind, `Earlier and longer alpha`) });
    await waiting(id, 1);
    const later = await agent.at(services[1].url)("PATCH", path, { text });
    t.is(later.status, 200, later.text);
    // Its caller is told at once, and not only when the text has been read.
    const { status, body } = await earlier;
    t.deepEqual([status, body.code, body.retryable], [409, "invalid_state", false]);
    t.regex(
      body.detail,
      /^A later change of this (ask|offer) came before this one was read, and the later one counts\./,
    );
    release("alpha");
    await idle();
    t.is(await textNow(agent, path), text);
  });

  test.serial(`of two changes of ${kind} the later stays, also if it is read much later`, async (t) => {
    const agent = await connectedAgent(services[0].url, database.url);
    const { id, path } = await make(agent, kind);
    const text = textOf(kind, "Later omega");
    const earlier = agent.at(services[0].url)("PATCH", path, { text: textOf(kind, "Earlier and longer alpha") });
    await waiting(id, 1);
    const later = agent.at(services[1].url)("PATCH", path, { text });
    await waiting(id, 2);
    release("alpha");
    t.is((await earlier).status, 200);
    t.regex(await textNow(agent, path), /Earlier/);
    release("omega");
    t.is((await later).status, 200);
    t.is(await textNow(agent, path), text);
  });
}

test.serial(
  "of two changes the later stays, also if the earlier one waits in its process for a connection",
  async (t) => {
    const env = { DATABASE_POOL_SIZE: "1" };
    const slow = await startPart("api", { database: database.url, env }, t);
    const agent = await connectedAgent(services[0].url, database.url);
    const other = await connectedAgent(services[0].url, database.url);
    const { path } = await make(agent, "asks");
    const text = textOf("asks", "Later");
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    t.teardown(() => holder.end());
    await holder.query("begin");
    await holder.query("select internal.lock_window('agent:' || $1::text, 'create_ask')", [other.id]);
    // The only connection of the slow process waits for this lock, and the earlier change for the connection.
    const holding = other.at(slow.url)("POST", "/v1/asks", { text: textOf("asks", "Another") });
    await eventually(
      () => sqlValue<number>(database.url, "select count(*)::integer from pg_locks where not granted"),
      (waits) => waits > 0,
    );
    const earlier = agent.at(slow.url)("PATCH", path, { text: textOf("asks", "Earlier and longer") });
    await sleep(100);
    const later = await agent.at(services[0].url)("PATCH", path, { text });
    t.is(later.status, 200, later.text);
    await holder.query("rollback");
    t.is((await holding).status, 201);
    const { status, body } = await earlier;
    t.deepEqual([status, body.code], [409, "invalid_state"]);
    t.is(await textNow(agent, path), text);
  },
);

test.serial(
  "of two changes at once, one of the text and one of the images, both are published and answered",
  async (t) => {
    const agent = await connectedAgent(services[0].url, database.url);
    for (let round = 0; round < 12; round += 1) {
      const { path } = await make(agent, "offers");
      const text = textOf("offers", `Round ${round}`);
      const images = [`https://images.example/${round}.jpg`];
      const bodies = round % 2 === 0 ? [{ text }, { images }] : [{ images }, { text }];
      const answers = await Promise.all(
        bodies.map((body, n) => agent.at(services[n % 2 === 0 ? 0 : 1].url)("PATCH", path, body)),
      );
      t.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
        answers.map((answer) => answer.text).join("\n"),
      );
      const { body } = await agent.call("GET", path);
      t.is(body.document.description, text);
      t.deepEqual(body.content.images, [{ url: images[0] }]);
    }
  },
);

/** Waits until every job has run. */
const idle = () =>
  eventually(
    () =>
      sqlValue<number>(database.url, "select count(*)::integer from graphile_worker.jobs where locked_at is not null"),
    (busy) => busy === 0,
  );

test.serial("a change that is being read neither undoes an archive or a republish, nor is lost", async (t) => {
  const agent = await connectedAgent(services[0].url, database.url);
  const { id, path } = await make(agent, "offers");
  const change = async (word: Word, move: string): Promise<Answer> => {
    const changing = agent.at(services[0].url)("PATCH", path, { text: textOf("offers", `Changed ${word}`) });
    await waiting(id, 1);
    t.is((await agent.at(services[1].url)("POST", `${path}/${move}`)).status, 200);
    release(word);
    return changing;
  };
  t.is((await change("alpha", "archive")).body.status, "archived");
  t.is(await textNow(agent, path), textOf("offers", "Changed alpha"));
  t.is((await change("omega", "republish")).body.status, "published");
  t.is(await textNow(agent, path), textOf("offers", "Changed omega"));
});
