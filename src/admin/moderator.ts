import pg from "pg";
import type { Config } from "../config.ts";
import { hashSecret, newSecret } from "../http/tokens.ts";

/**
 * Appointing moderators: `npm run moderator -- add EMAIL|ACCOUNT_ID`, `remove EMAIL|ACCOUNT_ID`, `list`. Works on the
 * database in DATABASE_URL, or on the embedded one while no service uses it, and needs a login that may act for the
 * schema's owner: nobody is appointed through the API.
 */

const HELP = `Usage: npm run moderator -- add EMAIL|ACCOUNT_ID
       npm run moderator -- remove EMAIL|ACCOUNT_ID
       npm run moderator -- list

  EMAIL       a mailbox that the person has proved by signing in
  ACCOUNT_ID  the id of the account, as GET /v1/me shows it
`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What a person reads at the end, and whether it went well. */
export type Outcome = { text: string; ok: boolean };

const done = (text: string): Outcome => ({ text: `${text}\n`, ok: true });
const impossible = (text: string): Outcome => ({ text: `${text}\n`, ok: false });

/** The account that a mailbox or an id names, or why there is none. */
const accountOf = async (client: pg.ClientBase, who: string): Promise<{ id: string } | { why: string }> => {
  if (UUID.test(who)) {
    const { rows } = await client.query<{ id: string }>("select id from market.account where id = $1", [who]);
    return rows[0] ?? { why: `There is no account ${who}.` };
  }
  const { rows } = await client.query<{ id: string }>(
    "select distinct account_id as id from market.proved_method where email = lower(btrim(normalize($1, NFC)))",
    [who],
  );
  const [account, ...others] = rows;
  if (others.length > 0)
    return {
      why: `${who} belongs to ${rows.length} accounts. Name one by its id: ${rows.map(({ id }) => id).join(", ")}.`,
    };
  return account ?? { why: `Nobody has proved the mailbox ${who}. The person signs in with it first; then try again.` };
};

const add = async (client: pg.ClientBase, who: string): Promise<Outcome> => {
  const account = await accountOf(client, who);
  if ("why" in account) return impossible(account.why);
  const { rows } = await client.query("select from market.account where id = $1 and suspended_at is not null", [
    account.id,
  ]);
  if (rows.length > 0) return impossible(`The account of ${who} is suspended. Have it reinstated first.`);
  const { rowCount } = await client.query(
    "insert into market.moderator (account_id, appointed_by) values ($1, session_user) on conflict do nothing",
    [account.id],
  );
  return done(rowCount ? `${who} is a moderator now: /admin, after signing in.` : `${who} was a moderator already.`);
};

const remove = async (client: pg.ClientBase, who: string): Promise<Outcome> => {
  const account = await accountOf(client, who);
  if ("why" in account) return impossible(account.why);
  const { rowCount } = await client.query("delete from market.moderator where account_id = $1", [account.id]);
  return rowCount ? done(`${who} is no moderator any more.`) : impossible(`${who} is no moderator.`);
};

const list = async (client: pg.ClientBase): Promise<Outcome> => {
  const { rows } = await client.query<{ line: string }>(
    `select concat_ws('  ', m.account_id, to_char(m.appointed_at at time zone 'UTC', 'YYYY-MM-DD'), 'by ' || m.appointed_by,
       a.display_name, (select string_agg(p.email, ', ') from market.proved_method p where p.account_id = a.id)) as line
     from market.moderator m join market.account a on a.id = m.account_id order by m.appointed_at`,
  );
  return done(rows.length > 0 ? rows.map(({ line }) => line).join("\n") : "There is no moderator.");
};

/** One connection that acts for the schema's owner. @throws when the login may not */
const asOwner = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url, application_name: "souk_moderator" });
  // Without a listener a server that goes away would end the process; the query in flight reports it.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("set role souk_owner");
    return await work(client);
  } finally {
    await client.end();
  }
};

/**
 * Does what the command says.
 * @param url a login that may become souk_owner
 */
export const manageModerators = (url: string, args: readonly string[]): Promise<Outcome> | Outcome => {
  const [command, who, ...more] = args;
  if (command === "list" && who === undefined) return asOwner(url, list);
  if ((command !== "add" && command !== "remove") || who === undefined || more.length > 0) return impossible(HELP);
  return asOwner(url, (client) => (command === "add" ? add : remove)(client, who));
};

/**
 * A link that makes the person who opens it a moderator, in place of one that was printed before and not used; null when
 * somebody moderates already. Only its hash is kept.
 */
export const newModeratorLink = (url: string, baseUrl: string): Promise<string | null> =>
  asOwner(url, async (client) => {
    const secret = newSecret();
    const { rowCount } = await client.query(
      `with spent as (delete from market.moderator_link)
       insert into market.moderator_link (secret_hash) select $1 where not exists (select from market.moderator)`,
      [hashSecret(secret)],
    );
    return rowCount ? `${baseUrl}/moderator/${secret}` : null;
  });

/** The command `moderator`: on the database in DATABASE_URL, or on the embedded one while no service uses it. */
export const runModeratorCommand = async (config: Config, args: readonly string[]): Promise<Outcome> => {
  if (config.databaseUrl) return manageModerators(config.databaseUrl, args);
  const [{ startEmbeddedDatabase }, { migrate }] = await Promise.all([
    import("../database/embedded.ts"),
    import("../database/migrate.ts"),
  ]);
  const embedded = await startEmbeddedDatabase(config.dataDir);
  try {
    await migrate(embedded.url, true);
    return await manageModerators(embedded.url, args);
  } finally {
    await embedded.close();
  }
};
