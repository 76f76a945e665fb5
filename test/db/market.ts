import { createHash, randomBytes } from "node:crypto";
import pg from "pg";
import { type Arguments, openDatabase, openPool } from "../../src/database/database.ts";
import { createDatabase, type Database, type Teardown } from "../support/database.ts";
import { numbered } from "../support/sql.ts";

/**
 * The market through SQL: functions in `api` called as souk_api with a token, functions in `jobs` as souk_worker, and
 * SQL of an operator. There is no HTTP and no extractor, so the tests provide the extractions.
 *
 *   caller   an agent with its account and the hashes of its token, its link and its person's session
 *   facts    what an offer or an ask is about; its text and its extraction are made from them
 *   refusal  an error that internal.raise_problem raised
 */

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape, and compare most of them whole.
export type Answer = any;

export type Refusal = { status: number; code: string; detail: string; extra: Answer };

export type Caller = { agent: string; account: string; token: Buffer; link: Buffer; session: Buffer };

type Value = string | number | boolean | Buffer | null | object;

/** Functions in `jobs` take positional arguments. */
const asParameter = (value: Value): string | number | boolean | Buffer | null =>
  typeof value === "object" && value !== null && !Buffer.isBuffer(value) ? JSON.stringify(value) : value;

/** As the tag of a template it makes each `${value}` a parameter: sql`select from market.offer where id = ${id}`. */
type Sql = {
  <Row extends pg.QueryResultRow = Answer>(text: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>;
  <Row extends pg.QueryResultRow = Answer>(text: string, values?: unknown[]): Promise<Row[]>;
};

export type Market = {
  url: string;
  /** Runs one statement as an operator, and returns its rows. */
  sql: Sql;
  /** Like `sql`, but returns the first column of the first row. */
  value: (text: TemplateStringsArray, ...values: unknown[]) => Promise<Answer>;
  /** Runs one statement with the role and the claims that requests of this caller have. */
  sqlAs: (role: "souk_agent" | "souk_person", caller: Caller, text: string, values?: unknown[]) => Promise<void>;
  /** Calls one function in `api` as an agent, or as a visitor. Arguments that are not given are those of USUAL. */
  call: (caller: Caller | null, name: string, args?: Arguments) => Promise<Answer>;
  /** Calls one function in `api` with the session of the person behind an agent. */
  callAsPerson: (caller: Caller, name: string, args?: Arguments) => Promise<Answer>;
  /** Calls one function in `jobs`. */
  work: (name: string, ...values: Value[]) => Promise<Answer>;
  /** Approves an agent by its link. `session` is the browser's session; a browser without one gets the session `fresh`. */
  approve: (caller: Caller, session?: Buffer | null, fresh?: Buffer) => Promise<Answer>;
  /** An agent without approval. */
  connect: (name?: string, address?: string) => Promise<Caller>;
  /** An agent with the approval of a new person. */
  approved: (name?: string) => Promise<Caller>;
  /** Another agent of a caller's account. */
  colleague: (caller: Caller) => Promise<Caller>;
  /** Submits a text and completes it with an extraction, as the worker does. Returns the response's status and body. */
  publish: (
    caller: Caller,
    text: string,
    extraction: string,
    body?: object,
  ) => Promise<{ status: number; body: Answer }>;
  /** Publishes an offer made from facts, ignoring the cap; embeds and matches it. Returns its id. */
  offer: (caller: Caller, facts?: OfferFacts) => Promise<string>;
  /** Updates an offer with new facts; embeds and matches it again. */
  change: (caller: Caller, id: string, facts: OfferFacts) => Promise<{ status: number; body: Answer }>;
  /** Creates an ask made from facts. Returns its id. */
  ask: (caller: Caller, facts?: AskFacts) => Promise<string>;
  /** Stores a vector of an offer or ask (null: it has none), then matches it, as the embedding job does. */
  embed: (kind: "offer" | "ask", id: string, vector?: string | null) => Promise<void>;
};

const TEXT: Arguments = { idempotency_key: null, request_hash: null, errors: [] };
const PAGE: Arguments = { page_size: 50, cursor: null };

/** What the API sends to a function of a caller who says nothing more. A caller with a token also sends it as its link's key. */
const USUAL: Record<string, Arguments> = {
  publish_offer: TEXT,
  create_ask: TEXT,
  open_conversation: TEXT,
  propose: TEXT,
  send_message: TEXT,
  preview_offer: { errors: [] },
  update_offer: { errors: [] },
  update_ask: { errors: [] },
  report_offer: { comment: null },
  get_me: { base_url: "" },
  approve_connection: { picked: "BCDF-GHJK" },
  start_verification: { base_url: "" },
  get_verification: { base_url: "" },
  search_offers: { extraction: null, embedding: null, model: null, notices: [] },
  list_offers: { status: null, ...PAGE },
  list_asks: { status: null, ...PAGE },
  list_matches: { since: null, ...PAGE },
  update_profile: { display_name: null, contact_email: null, contact_phone: null },
};

/** Enough connections for everything that a test of locks does at once. */
const PATIENT_POOL_SIZE = 24;

/** Longer than any wait for a connection on a busy machine. */
const CONNECTION_MS = 60_000;

/** Timeouts of a patient market's sessions. A busy machine does not reach them while two calls wait for each other. */
const BE_PATIENT = "set lock_timeout = '2min'; set statement_timeout = '2min'";

/**
 * Creates a market with a database of its own. With a test's `t` it is closed after that test; otherwise call `close`.
 * @param patient replaces the timeouts of the login roles by long ones, for tests of locks
 */
export const openMarket = async (
  t?: Teardown,
  { patient = false } = {},
): Promise<Market & { close: () => Promise<void> }> => {
  const database: Database = await createDatabase();
  const poolSize = patient ? PATIENT_POOL_SIZE : 8;
  const options = { url: database.url, poolSize, embedded: false, onError: () => {} };
  const api = openDatabase({ ...options, role: "souk_api" });
  const worker = openPool({ ...options, role: "souk_worker" }, database.url);
  for (const pool of [...Object.values(api.pools), worker]) {
    // All tests of a file start at once, so a connection may take longer than the two seconds that a caller waits.
    pool.options.connectionTimeoutMillis = CONNECTION_MS;
    if (patient) {
      const { onConnect } = pool.options;
      pool.options.onConnect = async (client) => {
        await onConnect?.(client);
        await client.query(BE_PATIENT);
      };
    }
  }
  const operator = new pg.Pool({ connectionString: database.url, max: 4 });
  operator.on("error", () => {});
  const close = async () => {
    await Promise.all([api.close(), worker.end(), operator.end()]);
    await database.drop();
  };
  t?.teardown(close);

  const sql: Sql = async (text: string | TemplateStringsArray, ...values: unknown[]) =>
    (typeof text === "string"
      ? await operator.query(text, values[0] as unknown[] | undefined)
      : await operator.query(numbered(text), values)
    ).rows;
  const value: Market["value"] = async (text, ...values) => Object.values((await sql(text, ...values))[0] ?? {})[0];
  const sqlAs: Market["sqlAs"] = async (role, caller, text, values = []) => {
    const client = await operator.connect();
    try {
      // Sets the role in a separate statement, because a statement that was planned as a superuser ignores policies.
      await client.query("begin");
      await client.query(
        `select set_config('market.agent_id', $1, true), set_config('market.account_id', $2, true),
           set_config('market.connected', 'true', true), set_config('role', $3, true)`,
        [role === "souk_agent" ? caller.agent : "", caller.account, role],
      );
      await client.query(text, values);
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    } finally {
      client.release();
    }
  };
  const usual = (caller: Caller | null, name: string): Arguments => {
    const { base_url, ...others } = USUAL[name] ?? {};
    return base_url === undefined ? others : { base_url, link_key: caller?.token ?? null, ...others };
  };
  const call: Market["call"] = async (caller, name, args = {}) =>
    JSON.parse(await api.call(caller ? { agent: caller.token } : "visitor", name, { ...usual(caller, name), ...args }));
  const work: Market["work"] = async (name, ...values) => {
    const places = values.map((_, place) => `$${place + 1}`).join(", ");
    const { rows } = await worker.query(`select jobs.${name}(${places}) as answer`, values.map(asParameter));
    return rows[0]?.answer;
  };

  const connect: Market["connect"] = async (name = "Test agent", address = randomAddress()) => {
    const [token, link, session] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    const answer = await call(null, "connect_agent", {
      name,
      token_hash: token,
      secret_hash: link,
      code: "BCDF-GHJK",
      address,
      connections_per_hour: 30,
      sandbox: null,
      sandbox_id: null,
    });
    return { agent: answer.agent_id, account: await accountOf(answer.agent_id), token, link, session };
  };
  const accountOf = async (agent: string): Promise<string> => {
    const [row] = await sql("select account_id from market.agent where id = $1", [agent]);
    return row.account_id;
  };
  const approve: Market["approve"] = (caller, session = null, fresh = caller.session) =>
    call(null, "approve_connection", { secret_hash: caller.link, session_hash: session, new_session_hash: fresh });
  const approved: Market["approved"] = async (name) => {
    const caller = await connect(name);
    await approve(caller);
    return caller;
  };

  const colleague: Market["colleague"] = async (caller) => {
    const other = await connect();
    await approve(other, caller.session);
    return { ...other, account: caller.account };
  };

  const settle = async (caller: Caller, submission: string, extraction: string) => {
    await work("complete_submission", submission, extraction);
    return call(caller, "get_answer", { submission_id: submission });
  };
  const publish: Market["publish"] = async (caller, text, extraction, body = {}) => {
    const { submission } = await call(caller, "publish_offer", { body: { text, ...body } });
    return settle(caller, submission, extraction);
  };
  const embed: Market["embed"] = async (kind, id, vector = null) => {
    await work(`store_${kind}_embedding`, id, vector, "builtin-meaning-1");
  };
  return {
    url: database.url,
    sql,
    value,
    sqlAs,
    call,
    callAsPerson: async (caller, name, args = {}) =>
      JSON.parse(await api.call({ person: caller.session }, name, { ...usual(caller, name), ...args })),
    work,
    approve,
    connect,
    approved,
    colleague,
    publish,
    embed,
    async offer(caller, facts = {}) {
      await sql("delete from market.rate_limit_hit where scope = 'agent:' || $1", [caller.agent]);
      const { text, extraction } = offerOf(facts);
      const { status, body } = await publish(caller, text, extraction, facts.images ? { images: facts.images } : {});
      if (status !== 201) throw new Error(`publishing gave ${status}: ${JSON.stringify(body)}`);
      await embed("offer", body.offer_id, facts.vector);
      return body.offer_id;
    },
    async change(caller, id, facts) {
      await sql("delete from market.rate_limit_hit where scope = 'agent:' || $1", [caller.agent]);
      const { text, extraction } = offerOf(facts);
      const { submission } = await call(caller, "update_offer", { id, body: { text } });
      const answer = await settle(caller, submission, extraction);
      await embed("offer", id, facts.vector);
      return answer;
    },
    async ask(caller, facts = {}) {
      await sql("delete from market.rate_limit_hit where scope = 'agent:' || $1", [caller.agent]);
      const { text, extraction } = askOf(facts);
      const { submission } = await call(caller, "create_ask", { body: { text, watch_enabled: facts.watch ?? true } });
      await work("complete_submission", submission, extraction, facts.vector ?? null, "builtin-meaning-1");
      const { status, body } = await call(caller, "get_answer", { submission_id: submission });
      if (status !== 201) throw new Error(`asking gave ${status}: ${JSON.stringify(body)}`);
      return body.id;
    },
    close,
  };
};

/** A random network for every agent, so that agents do not share a rate limit. */
const randomAddress = (): string => `10.${[...randomBytes(3)].join(".")}`;

/** The refusal of a call. @throws when the call was not refused, or failed in another way */
export const refusal = async (attempt: Promise<unknown>): Promise<Refusal> => {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code?.startsWith("PT")) {
      return {
        status: Number(error.code.slice(2)),
        code: error.message,
        detail: error.detail ?? "",
        extra: JSON.parse(error.hint ?? "{}"),
      };
    }
    throw error;
  }
  throw new Error("The call was not refused.");
};

/** The status and code of a refusal, which suffice for most tests. */
export const refused = async (attempt: Promise<unknown>): Promise<string> => {
  const { status, code } = await refusal(attempt);
  return `${status} ${code}`;
};

/** The values of one member of all rows or results. */
export const column = (rows: readonly Answer[], name: string): Answer[] => rows.map((row) => row[name]);

/** "done", or the message of the error, which is the code of a refusal. For concurrent calls. */
export const outcomeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => "done",
    (error: Error) => error.message,
  );

/** A value and its position in the text: offsets in code points, zero-based, end exclusive. */
export const found = (text: string, value: unknown, quote: string) => {
  const before = text.indexOf(quote);
  if (before < 0) throw new Error(`"${quote}" does not stand in the text.`);
  const start = [...text.slice(0, before)].length;
  return { value, quote, start, end: start + [...quote].length, basis: "stated", confidence: 1 };
};

export type OfferFacts = {
  title?: string;
  /** More words for the text. */
  words?: string;
  language?: string | null;
  domain?: string | null;
  category?: string | null;
  kind?: string | null;
  /** The price as the text states it, such as "180 EUR"; the amount is its digits. null means no price. */
  price?: string | null;
  period?: string | null;
  unit?: string;
  place?: string | null;
  city?: string;
  country?: string;
  condition?: string;
  attributes?: Record<string, string | number | boolean>;
  contact?: string | null;
  images?: string[];
  vector?: string;
};

/**
 * The text of an offer, and its extractions as JSON, as a worker sends them. Facts that are not given make it a grey sofa
 * in Berlin.
 */
export const offerOf = (facts: OfferFacts): { text: string; extraction: string } => {
  const {
    title = "Grey sofa",
    domain = "home_garden",
    category = "furniture",
    kind = "sale",
    price = "180 EUR",
    place = "Berlin",
    contact = "lena@example.com",
  } = facts;
  const attributes = Object.entries(facts.attributes ?? {});
  const text = [
    title,
    facts.words,
    price && `Price: ${price}`,
    place && `Place: ${place}`,
    ...attributes.map(([name, value]) => `${name} ${value}`),
    contact && `Write to ${contact}`,
  ]
    .filter(Boolean)
    .join(". ");
  const quoted = (value: unknown, quote: string | null) => (value && quote ? found(text, value, quote) : null);
  return {
    text,
    extraction: JSON.stringify([
      {
        language: facts.language ?? "en",
        title: found(text, title, title),
        domain: quoted(domain, title),
        category: quoted(category, title),
        offer_kind: quoted(kind, title),
        price: price && found(text, { ...priceOf(price, facts.period ?? "one_time"), unit: facts.unit ?? null }, price),
        location: place && found(text, placeOf(place, facts), place),
        contacts: contact ? [found(text, { type: "email", value: contact, preferred: true }, contact)] : [],
        party: null,
        condition: quoted(facts.condition, title),
        space: null,
        features: [],
        attributes: attributes.map(([name, value]) => found(text, { name, value }, `${name} ${value}`)),
      },
    ]),
  };
};

const priceOf = (price: string, period: string | null) => ({
  amount: Number(price.replace(/[^\d.]/g, "")),
  amount_max: null,
  currency: price.replace(/[^A-Z]/g, "") || null,
  period,
  type: "fixed",
  negotiable: false,
  deposit: null,
  label: price,
});

const placeOf = (place: string, facts: { city?: string; country?: string }) => ({
  text: place,
  country: facts.country ?? null,
  region: null,
  city: facts.city ?? null,
  district: null,
  postal_code: null,
  remote: false,
  point: null,
});

export type AskFacts = {
  title?: string;
  domain?: string | null;
  category?: string | null;
  kind?: string | null;
  /** The limits, such as "200 EUR". */
  min?: string;
  max?: string;
  period?: string | null;
  unit?: string;
  place?: string;
  city?: string;
  country?: string;
  keywords?: string[];
  must?: string[];
  exclude?: string[];
  condition?: string;
  attributes?: Record<string, string | number | boolean>;
  watch?: boolean;
  vector?: string;
};

/**
 * The text of an ask, and its extractions as JSON, as a worker sends them. Facts that are not given make it an ask for a
 * grey sofa.
 */
export const askOf = (facts: AskFacts): { text: string; extraction: string } => {
  const { title = "Wanted: grey sofa", domain = "home_garden", category = "furniture", kind = "buy" } = facts;
  const attributes = Object.entries(facts.attributes ?? {});
  const price = [facts.min && `at least ${facts.min}`, facts.max && `at most ${facts.max}`]
    .filter(Boolean)
    .join(" and ");
  const text = [
    title,
    facts.keywords?.join(", "),
    price,
    facts.place && `in ${facts.place}`,
    ...(facts.must ?? []),
    ...(facts.exclude ?? []).map((words) => `not ${words}`),
    ...attributes.map(([name, value]) => `${name} ${value}`),
  ]
    .filter(Boolean)
    .join(". ");
  const quoted = (value: unknown) => (value ? found(text, value, title) : null);
  const amountOf = (limit: string | undefined) => (limit ? priceOf(limit, null).amount : null);
  return {
    text,
    extraction: JSON.stringify([
      {
        language: "en",
        title: found(text, title, title),
        domain: quoted(domain),
        category: quoted(category),
        ask_kind: quoted(kind),
        price: price
          ? found(
              text,
              {
                min: amountOf(facts.min),
                max: amountOf(facts.max),
                currency: priceOf(facts.max ?? facts.min ?? "", null).currency,
                period: facts.period ?? null,
                unit: facts.unit ?? null,
              },
              price,
            )
          : null,
        location: facts.place ? found(text, placeOf(facts.place, facts), facts.place) : null,
        condition: quoted(facts.condition),
        keywords: facts.keywords ?? ["sofa"],
        must: (facts.must ?? []).map((words) => found(text, words, words)),
        exclude: (facts.exclude ?? []).map((words) => found(text, words, words)),
        attributes: attributes.map(([name, value]) => found(text, { name, value }, `${name} ${value}`)),
      },
    ]),
  };
};

/**
 * A unit vector of 512 numbers that depends only on its name. With `near`, the vector of that other name is mixed in;
 * `share`, from 0 to 1, is the weight of the other vector.
 */
export const vectorOf = (name: string, near?: { name: string; share: number }): string => {
  const own = directionOf(name);
  const other = near ? directionOf(near.name) : own;
  const share = near?.share ?? 0;
  const mixed = own.map((value, place) => (1 - share) * value + share * (other[place] ?? 0));
  const length = Math.hypot(...mixed);
  return JSON.stringify(mixed.map((value) => value / length));
};

const directionOf = (name: string): number[] => {
  const bytes = Buffer.concat(
    Array.from({ length: 16 }, (_, part) => createHash("sha256").update(`${part} ${name}`).digest()),
  );
  const values = [...bytes].map((byte) => byte - 127.5);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
};
