import pg from "pg";
import { hashSecret, newSecret } from "../base/tokens.ts";

/**
 * Appoints moderators: `npm run moderator -- add EMAIL|ACCOUNT_ID`, `remove EMAIL|ACCOUNT_ID`, `list`. The command
 * works on the database in DATABASE_URL, or on the embedded database while no service uses it. Its login must be able
 * to become souk_owner. The only other way to appoint a moderator is the first-start link (newModeratorLink).
 */

const HELP = `Usage: npm run moderator -- add EMAIL|ACCOUNT_ID
       npm run moderator -- remove EMAIL|ACCOUNT_ID
       npm run moderator -- list

  EMAIL       a mailbox that the person has proved by signing in
  ACCOUNT_ID  the id of the account, as GET /v1/me shows it
`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What the command prints at the end, and whether it succeeded. */
export type Outcome = { text: string; ok: boolean };

const done = (text: string): Outcome => ({ text: `${text}\n`, ok: true });
const failed = (text: string): Outcome => ({ text: `${text}\n`, ok: false });

/** The account with this e-mail address or id, or a sentence that says why there is none. */
const accountOf = async (client: pg.ClientBase, name: string): Promise<{ id: string } | { why: string }> => {
  if (UUID.test(name)) {
    const { rows } = await client.query<{ id: string; claimed: boolean }>(
      "select id, claimed_at is not null as claimed from market.account where id = $1",
      [name],
    );
    const [found] = rows;
    if (!found) return { why: `There is no account ${name}.` };
    // Whoever holds the link of its agent could still become its person.
    return found.claimed
      ? found
      : { why: `Nobody has approved an agent of the account ${name} yet, so it has no person.` };
  }
  const { rows } = await client.query<{ id: string }>(
    "select distinct account_id as id from market.proved_method where email = internal.clean_email($1)",
    [name],
  );
  const [account, ...others] = rows;
  if (others.length > 0)
    return {
      why: `${name} belongs to ${rows.length} accounts. Name one by its id: ${rows.map(({ id }) => id).join(", ")}.`,
    };
  return (
    account ?? { why: `Nobody has proved the mailbox ${name}. The person signs in with it first; then try again.` }
  );
};

const add = async (client: pg.ClientBase, name: string): Promise<Outcome> => {
  const account = await accountOf(client, name);
  if ("why" in account) return failed(account.why);
  const { rows } = await client.query("select from market.account where id = $1 and suspended_at is not null", [
    account.id,
  ]);
  if (rows.length > 0) return failed(`The account of ${name} is suspended. Have it reinstated first.`);
  const { rowCount } = await client.query(
    "insert into market.moderator (account_id, appointed_by) values ($1, session_user) on conflict do nothing",
    [account.id],
  );
  return done(rowCount ? `${name} is a moderator now: /admin, after signing in.` : `${name} was a moderator already.`);
};

const remove = async (client: pg.ClientBase, name: string): Promise<Outcome> => {
  const account = await accountOf(client, name);
  if ("why" in account) return failed(account.why);
  const { rowCount } = await client.query("delete from market.moderator where account_id = $1", [account.id]);
  return rowCount ? done(`${name} is no moderator any more.`) : failed(`${name} is no moderator.`);
};

const list = async (client: pg.ClientBase): Promise<Outcome> => {
  const { rows } = await client.query<{ line: string }>(
    `select concat_ws('  ', m.account_id, to_char(m.appointed_at at time zone 'UTC', 'YYYY-MM-DD'), 'by ' || m.appointed_by,
       a.display_name, (select string_agg(p.email, ', ') from market.proved_method p where p.account_id = a.id)) as line
     from market.moderator m join market.account a on a.id = m.account_id order by m.appointed_at`,
  );
  return done(rows.length > 0 ? rows.map(({ line }) => line).join("\n") : "There is no moderator.");
};

/** Runs `work` on one connection in the role souk_owner. @throws when the login may not become souk_owner */
const asOwner = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url, application_name: "souk_moderator" });
  // Without a listener a lost connection would end the process. The running query reports the loss anyway.
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
 * Executes the command line of `npm run moderator`.
 * @param url the database, with a login that may become souk_owner
 * @param args the words after the command's name
 * @throws when the database cannot be reached, or the login may not become souk_owner
 */
export const manageModerators = (url: string, args: readonly string[]): Promise<Outcome> | Outcome => {
  const [command, name, ...more] = args;
  if (command === "list" && name === undefined) return asOwner(url, list);
  if ((command !== "add" && command !== "remove") || name === undefined || more.length > 0) return failed(HELP);
  return asOwner(url, (client) => (command === "add" ? add : remove)(client, name));
};

/**
 * Makes a link by which a person becomes the first moderator. An earlier unused link stops working. The database stores
 * only the hash of its secret.
 * @param url the database, with a login that may become souk_owner
 * @returns null when there is a moderator already
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

/**
 * The command `npm run moderator`, on the database in DATABASE_URL, or on the embedded database while no service uses
 * it.
 * @throws as manageModerators
 */
export const runModeratorCommand = async (
  { databaseUrl, dataDir }: { databaseUrl: string | null; dataDir: string },
  args: readonly string[],
): Promise<Outcome> => {
  if (databaseUrl) return manageModerators(databaseUrl, args);
  const [{ startEmbeddedDatabase }, { migrate }] = await Promise.all([
    import("../database/embedded.ts"),
    import("../install/migrate.ts"),
  ]);
  const embedded = await startEmbeddedDatabase(dataDir);
  try {
    await migrate(embedded.url, { embedded: true });
    return await manageModerators(embedded.url, args);
  } finally {
    await embedded.close();
  }
};
