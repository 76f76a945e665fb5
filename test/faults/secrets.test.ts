import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import pg from "pg";
import { PROBLEMS } from "../../src/base/problem.ts";
import { hashSecret } from "../../src/base/tokens.ts";
import { authorizeUrl, exchange, newVerifier, refresh, register, approve as sendBack, visit } from "../oauth/client.ts";
import { hangs, type Provider, startProvider, status, well } from "../reader/provider.ts";
import { codeFrom, linkFrom, type MailServer, startMailServer, wrongOf } from "../sign_in/mailbox.ts";
import { newVisitor } from "../sign_in/visitor.ts";
import { assertInvariants } from "../support/invariants.ts";
import { call, connectAgent, eventually, wholeLog } from "../support/market.ts";
import { newPerson } from "../support/person.ts";
import type { Cluster } from "../support/postgres.ts";
import { startMarketCluster } from "../support/prepared.ts";
import { type Service, startService } from "../support/service.ts";
import { sql, sqlValue } from "../support/sql.ts";

/**
 * No log, job or dump contains a secret, and the login roles have no rights of their own.
 *
 *   secret   a token, the secret of a link or of a session. Only its holder knows it, so nothing may contain it, not
 *            even encoded
 *   private  a text, a contact, a code, the name of an agent. The database stores it, and no log may contain it
 *   error    what PostgreSQL logs of a statement that failed. The statements that this test has it log are no errors
 */

const run = promisify(execFile);

let cluster: Cluster;
let provider: Provider;
let mail: MailServer;
let service: Service;

/** As an operator would set it: nobody can guess it. */
const WEBHOOK_KEY = "5d3f1c9a7b2e4860a1c3e5f7092b4d6f";

test.before(async () => {
  [cluster, provider, mail] = await Promise.all([
    startMarketCluster({ log_min_duration_statement: "0" }),
    startProvider(),
    startMailServer(),
  ]);
  service = await startService({
    database: cluster.url,
    env: {
      LOG_LEVEL: "trace",
      EXTRACTION_DEADLINE_MS: "4000",
      OPENAI_BASE_URL: provider.baseURL,
      OPENAI_API_KEY: "sk-very-secret-provider-key",
      SMTP_URL: mail.url,
      MAIL_FROM: "souk@souk.example",
      WEBHOOK_KEYS: WEBHOOK_KEY,
    },
  });
});
test.after.always(async () => {
  await service?.stop();
  await Promise.all([provider?.close(), mail?.close()]);
  await cluster?.destroy();
});
test.afterEach("every invariant holds", (t) => assertInvariants(t, cluster.url));

const PRIVATE = {
  text: "Zwiebelfisch-Lampe, almost new, 77 EUR, in Potsdam. Write to zwiebelfisch.lampe@example.com",
  contact: "zwiebelfisch.lampe@example.com",
  words: "Zwiebelfisch",
  name: "Quittenbrot assistant",
  query: "Kaltmamsell soup ladle",
  ask: "Wanted: a Kaltmamsell in good order, up to 30 EUR",
};

/** The forms in which a string may appear: as it is, in hexadecimal (bytea), in base64, and encoded for a URL. */
const disguises = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, ""), encodeURIComponent(secret)];
};

const traces = (where: string, secrets: Record<string, string>): string[] =>
  Object.entries(secrets)
    .filter(([, secret]) => disguises(secret).some((disguise) => where.includes(disguise)))
    .map(([name]) => name);

/** Every row of every table, as text. `besides` are schemas or tables to leave out. */
const everyRow = async (besides: string[] = []): Promise<string[]> => {
  const rows: string[] = [];
  for (const { name, schema } of await tables("r")) {
    if (besides.includes(name) || besides.includes(schema)) continue;
    const found = await sql<{ row: string }>(cluster.url, `select t::text as row from ${name} t order by 1`);
    for (const { row } of found) rows.push(`${name} ${row}`);
  }
  return rows;
};

/** A dump of the whole database, including the schema and its settings. */
const dump = async (): Promise<string> => {
  const folder = await sqlValue<string>(cluster.url, "select setting from pg_config() where name = 'BINDIR'");
  const options = { maxBuffer: 256 * 1024 * 1024 };
  return (await run(join(folder, "pg_dump"), [cluster.url], options)).stdout;
};

/** What PostgreSQL has logged, without the statements with their parameters that this test has it log. */
const errorsOf = (log: string): string =>
  log
    .split(/^(?=\d{4}-\d\d-\d\d .* \[\d+\] (?:LOG|WARNING|ERROR|FATAL|PANIC): )/m)
    .filter((entry) => !/^.* \[\d+\] LOG: /.test(entry))
    .join("");

/** A refusal in PostgreSQL's log. */
const REFUSED = new RegExp(`ERROR:  (${Object.keys(PROBLEMS).join("|")})\n`);

const tables = (kinds = "rvmp") =>
  sql<{ name: string; schema: string }>(
    cluster.url,
    `select format('%I.%I', n.nspname, c.relname) as name, n.nspname as schema
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where position(c.relkind::text in $1) > 0
       and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') order by 1`,
    [kinds],
  );

test.serial("no log, job or dump contains a secret, and no log private data, whatever fails", async (t) => {
  const secrets: Record<string, string> = { "the provider's key": "sk-very-secret-provider-key" };
  const codes: Record<string, string> = {};
  const jobs: string[] = [];
  const keepJobs = async () => {
    const rows = await sql<{ row: string }>(cluster.url)`select j::text as row from graphile_worker._private_jobs j`;
    jobs.push(...rows.map(({ row }) => row));
  };

  const seller = await connectAgent(service.url, PRIVATE.name);
  const person = newPerson();
  await person.open(seller.link);
  const approved = await person.press(seller.code);
  t.is(approved.status, 200);
  const [, session] = /souk_session=([\w-]+)/.exec(approved.headers["set-cookie"] ?? "") ?? [];
  t.regex(session ?? "", /^[\w-]{43}$/);
  secrets["the session"] = session ?? "";
  const buyer = await connectAgent(service.url, PRIVATE.name);
  const buyerPerson = newPerson();
  await buyerPerson.decide(buyer.link, buyer.code);
  const stranger = await connectAgent(service.url, PRIVATE.name);
  await newPerson().decide(stranger.link, "decline");
  for (const [name, agent] of Object.entries({ seller, buyer, stranger })) {
    secrets[`the token of ${name}`] = agent.token;
    secrets[`the link of ${name}`] = agent.link.split("/").at(-1) ?? "";
    codes[`the code of ${name}`] = agent.code;
  }

  // Publishing and asking, with a provider that fails and repeats the request, hangs, and works.
  const publish = (text: string, key: string) =>
    seller.call("POST", "/v1/offers", { text }, { "idempotency-key": key });
  provider.always(status(500));
  t.is((await publish(PRIVATE.text, "one")).status, 201);
  await keepJobs();
  provider.always(hangs());
  const slow = publish(`${PRIVATE.text}, today`, "two");
  await eventually(keepJobs, () => jobs.some((job) => job.includes("complete_submission")));
  t.is((await slow).status, 201);
  provider.always(well());
  t.is((await publish(`${PRIVATE.text}, tomorrow`, "three")).status, 201);
  await keepJobs();
  await buyer.call("POST", "/v1/offers/search", { query: PRIVATE.query });
  const asked = await buyer.call("POST", "/v1/asks", { text: PRIVATE.ask });
  t.is(asked.status, 201);
  await buyer.call("GET", `/v1/asks/${asked.body.id}/matches`);

  // Requests that fail, with the same words.
  await publish("Zwiebelfisch without a contact", "four");
  // A token that was pasted into a text. A PostgreSQL log with parameters contains the text, and so that token.
  await publish(`${PRIVATE.text} ${stranger.token}`, "five");
  await seller.call("POST", "/v1/offers", { text: PRIVATE.text, images: ["Zwiebelfisch"] });
  await call(service.url, "POST", `/v1/offers?token=${seller.token}`, {
    raw: `{"text": "${PRIVATE.text}`,
    headers: { authorization: `Bearer ${seller.token}` },
  });
  await call(service.url, "GET", `/v1/me?authorization=${seller.token}`, {
    headers: { authorization: `Bearer ${stranger.token}` },
  });
  await newPerson().decide(seller.link, seller.code);
  await person.open(`${seller.link}x`);
  await call(service.url, "POST", new URL(buyer.link).pathname, {
    headers: { authorization: `Bearer ${buyer.token}` },
  });
  // A database error in a statement whose parameters contain the private text.
  const lock = new pg.Client({ connectionString: cluster.url });
  await lock.connect();
  await lock.query("begin; lock table market.submission in access exclusive mode");
  t.is((await publish(PRIVATE.text, "six")).status, 503);
  await lock.query("rollback");
  await lock.end();
  await seller.call("DELETE", "/v1/me/agent");
  await keepJobs();

  const logs = await wholeLog(service);
  t.true(logs.includes("publishOffer"));
  t.true(logs.includes("read"));
  const serverLog = await cluster.log();
  t.true(serverLog.includes("api.publish_offer"), "the server logs statements in this test");
  t.deepEqual(traces(logs, { ...secrets, ...PRIVATE, ...codes }), [], "the service's log");
  const { "the token of stranger": _, ...unpasted } = secrets;
  t.deepEqual(traces(serverLog, unpasted), [], "the log of the database, with every statement and its parameters");
  const errors = errorsOf(serverLog);
  t.true(errors.includes("ERROR:  canceling statement due to lock timeout"), "a failure is found in the log");
  t.notRegex(errors, REFUSED, "a refusal is not: callers could fill the disk");
  t.deepEqual(traces(errors, { ...secrets, ...PRIVATE, ...codes }), [], "the errors in the log of the database");
  t.deepEqual(traces(jobs.join("\n"), { ...secrets, ...PRIVATE, ...codes }), [], "jobs");
  const everything = `${await dump()}\n${(await everyRow()).join("\n")}`;
  t.true(everything.includes(PRIVATE.contact), "the dump contains the rows, with the contact");
  t.deepEqual(traces(everything, secrets), [], "a dump of the database");
});

test.serial("nor does any contain a secret of signing in, of OAuth or of webhooks", async (t) => {
  const secrets: Record<string, string> = { "the key of webhooks": WEBHOOK_KEY };
  const codes: Record<string, string> = {};
  const jobs: string[] = [];
  const keepJobs = async () => {
    const rows = await sql<{ row: string }>(cluster.url, "select j::text as row from graphile_worker._private_jobs j");
    jobs.push(...rows.map(({ row }) => row));
  };
  const keepCookies = (who: string, visitor: ReturnType<typeof newVisitor>) => {
    for (const cookies of visitor.jar.values())
      for (const [name, value] of cookies)
        if (value.length >= 40) secrets[`${name} of ${who}, ${value.length}`] = value;
  };

  // A person signs in by a code, after a wrong one, and by a link, which another browser opens, too.
  const person = newVisitor();
  const ask = async (address: string) =>
    person.submit(await person.get(`${service.url}/sign-in`), "email", { email: address });
  let page = await ask("zimtschnecke@example.com");
  keepCookies("the person", person);
  const first = await mail.next("zimtschnecke@example.com");
  codes["the code"] = codeFrom(first);
  secrets["the link of the first mail"] = linkFrom(first).split("/").at(-1) ?? "";
  page = await person.submit(page, "code", { code: wrongOf(first) });
  await person.submit(page, "code", { code: codeFrom(first) });
  keepCookies("the person, signed in", person);
  const other = newVisitor();
  await other.submit(await other.get(`${service.url}/sign-in`), "email", { email: "mohnkuchen@example.com" });
  const second = await mail.next("mohnkuchen@example.com");
  codes["the second code"] = codeFrom(second);
  secrets["the link of the second mail"] = linkFrom(second).split("/").at(-1) ?? "";
  await newVisitor().get(linkFrom(second));
  await other.submit(await other.get(linkFrom(second)), "Sign in");
  keepCookies("the other person", other);
  t.is(await sqlValue(cluster.url, "select count(*)::int from market.proved_method"), 2);

  // An agent asks for a proof, and adds a webhook.
  const agent = await connectAgent(service.url);
  await person.submit(await person.get(agent.link), agent.code);
  secrets["the token"] = agent.token;
  const hook = await agent.call("POST", "/v1/webhooks", { url: "https://receiver.invalid/souk" });
  t.is(hook.status, 201, hook.text);
  secrets["the secret of the webhook"] = String(hook.body.secret).replace("whsec_", "");
  await agent.call("POST", `/v1/webhooks/${hook.body.id}/test`);
  const stranger = await connectAgent(service.url);
  const asked = await stranger.call("POST", "/v1/me/verifications", { method: "email" });
  t.is(asked.status, 201, asked.text);
  secrets["the link of the verification"] = asked.body.url.split("/").at(-1);
  await newVisitor().get(asked.body.url);
  await keepJobs();

  // A client of OAuth: a flow that succeeds, a code that is used twice, and a refresh token that is used twice.
  const redirect_uri = "https://assistant.example/callback";
  const client_id = await register(service.url, [redirect_uri]);
  for (const round of ["first", "second"]) {
    const { verifier, challenge } = newVerifier();
    const state = `state of the ${round} client`;
    const started = await visit(
      authorizeUrl(service.url, { client_id, redirect_uri, state, code_challenge: challenge }),
    );
    const link = started.headers["location"] ?? "";
    const code = (await sendBack(link)).searchParams.get("code") ?? "";
    const fields = { client_id, code, code_verifier: verifier, redirect_uri };
    const { body } = await exchange(service.url, fields);
    const next = await refresh(service.url, client_id, body.refresh_token);
    t.is(next.status, 200, next.text);
    Object.assign(secrets, {
      [`the link of the ${round} request`]: link.split("/").at(-1),
      [`the ${round} code`]: code,
      [`the ${round} verifier`]: verifier,
      [`the ${round} access token`]: body.access_token,
      [`the ${round} refresh token`]: body.refresh_token,
      [`the next access token of the ${round}`]: next.body.access_token,
      [`the next refresh token of the ${round}`]: next.body.refresh_token,
    });
    const misused =
      round === "first"
        ? await exchange(service.url, fields)
        : await refresh(service.url, client_id, body.refresh_token);
    t.is(misused.status, 400, "the access ends");
  }
  await keepJobs();
  for (const [name, secret] of Object.entries(secrets)) t.true(secret.length >= 32, name);

  const logs = await wholeLog(service);
  t.true(logs.includes('"operation":"token"'));
  t.deepEqual(
    traces(logs, { ...secrets, address: "zimtschnecke", state: "state of the first client" }),
    [],
    "the service's log",
  );
  const serverLog = await cluster.log();
  t.deepEqual(traces(serverLog, secrets), [], "the log of the database, with every parameter");
  t.notRegex(errorsOf(serverLog), REFUSED, "no refusal is in the log of the database");
  t.deepEqual(traces(errorsOf(serverLog), { ...secrets, address: "zimtschnecke" }), [], "nor an address in its errors");
  t.deepEqual(traces(jobs.join("\n"), { ...secrets, address: "zimtschnecke" }), [], "jobs");
  const everything = `${await dump()}\n${(await everyRow()).join("\n")}`;
  t.true(everything.includes("zimtschnecke@example.com"), "the dump contains the rows");
  t.deepEqual(traces(everything, secrets), [], "a dump of the database");
  // A few digits stand in many numbers. What must not be there is what anybody can find out by trying all of them.
  const tried = Object.fromEntries(
    Object.entries(codes).map(([name, code]) => [name, createHash("sha256").update(code).digest("hex")]),
  );
  t.deepEqual(traces(everything, tried), [], "a code that can be tried out");
  // Six digits also stand in a hundredth of all logs as a part of some UUID, and behind the point of a time.
  for (const code of Object.values(codes))
    t.notRegex(`${logs}\n${jobs.join("\n")}`, new RegExp(`(?<![\\w.])${code}(?!\\w)`));
});

test.serial(
  "where no superuser keeps refusals out of PostgreSQL's log, they are there without an address",
  async (t) => {
    await sql(cluster.url, "revoke set on parameter log_min_messages from souk_owner");
    const { link } = await connectAgent(service.url);
    const person = newVisitor();
    await person.submit(await person.get(`${service.url}/sign-in`), "email", { email: "rumkugel@example.com" });
    await person.submit(await person.get(linkFrom(await mail.next("rumkugel@example.com"))), "Sign in");
    const before = (await cluster.log()).length;
    // The page that the person approves on was shown before the person signed in.
    const secrets = [link.split("/").at(-1), person.cookie(service.url, "souk_session")];
    const approving = sql(
      cluster.url,
      "select api.approve_connection($1, $2, $2, 'no account')",
      secrets.map((secret) => hashSecret(secret ?? "")),
    );
    await t.throwsAsync(approving, { message: "invalid_state" });
    const errors = errorsOf((await cluster.log()).slice(before));
    t.regex(errors, REFUSED);
    t.regex(errors, /DETAIL: {2}You are now signed in to another account\./);
    t.deepEqual(traces(errors, { address: "rumkugel" }), []);
  },
);
