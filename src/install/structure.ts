import { fileURLToPath } from "node:url";
import pg from "pg";
import { type Migration, readMigrations, runMigrations } from "./migrations.ts";
import { migrateQueue } from "./queue.ts";
import { codeHash, readSchema, SCHEMA, type Schema, structureHash } from "./schema_files.ts";

/**
 * Makes the structure of a new database from db/schema, and brings an older one up to date by the migrations in
 * db/migrations. There is no migration before release 1.0.0.
 */

/** Where the committed migrations are, in the layout of graphile-migrate. */
const MIGRATIONS = fileURLToPath(new URL("../../db/migrations", import.meta.url));

/**
 * PostgreSQL's message if another session has just changed the same row of its catalog. Roles belong to the whole
 * server, so two databases that are made at the same time may change the same role. One of them fails, and changes
 * nothing.
 */
const CHANGED_MEANWHILE = "tuple concurrently updated";
/** Each failure means that another database was prepared, so few failures follow each other. */
const MAX_TRIES = 5;

/** No migration leads from the database's structure to this one. */
const OTHER_STRUCTURE =
  "Another state of Souk made this database, and no migration leads from there to this one, because nothing before " +
  "release 1.0.0 was released. Make a new database: delete the folder .data (DATA_DIR) of the embedded database, or " +
  "name an empty database in DATABASE_URL. To keep what is in it, dump it and start the Souk that made it.";

/** The login may not create the missing roles. */
const UNPREPARED =
  "This database has not been prepared for this login. Either run db/schema/roles.sql and db/schema/logins.sql in it with " +
  "psql as a superuser, and then migrate as souk_migrator; or migrate the first time with a login that owns the database " +
  "and may create roles.";

/** Makes the roles, if the login may. @throws if the rights that souk_owner needs are still missing afterwards */
const prepareDatabase = async (client: pg.ClientBase, { administration }: Schema): Promise<void> => {
  const { rows: logins } = await client.query<{ administers: boolean }>(
    "select rolsuper or rolcreaterole as administers from pg_roles where rolname = current_user",
  );
  for (let tries = 1; logins[0]?.administers; tries++) {
    try {
      // Statements that are sent together are one transaction.
      await client.query(administration);
      break;
    } catch (error) {
      const isChanged = error instanceof pg.DatabaseError && error.message === CHANGED_MEANWHILE;
      if (tries === MAX_TRIES || !isChanged) throw error;
    }
  }
  const { rows: owners } = await client.query<{ prepared: boolean }>(
    `select has_database_privilege(oid, current_database(), 'create') and pg_has_role(current_user, oid, 'member') as prepared
     from pg_roles where rolname = 'souk_owner'`,
  );
  if (!owners[0]?.prepared) throw new Error(UNPREPARED);
};

/** Makes the structure and the code in an empty database, in one transaction, with all migrations recorded as done. */
const makeDatabase = async (client: pg.ClientBase, schema: Schema, committed: readonly Migration[]): Promise<void> => {
  await client.query("begin");
  try {
    await client.query(schema.sql);
    await client.query("set local role souk_owner");
    await client.query("insert into internal.loaded (name, hash) values ('structure', $1), ('code', $2)", [
      structureHash(schema),
      codeHash(schema),
    ]);
    for (const { name, hash, previous } of committed)
      await client.query(
        "insert into graphile_migrate.migrations (hash, previous_hash, filename) values ($1, $2, $3)",
        [hash, previous, name],
      );
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
};

/** The hash of the structure that the database has; null if the database is empty. */
const currentStructure = async (client: pg.ClientBase): Promise<string | null> => {
  const { rows } = await client.query<{ exists: boolean }>("select to_regnamespace('market') is not null as exists");
  if (!rows[0]?.exists) return null;
  // An early database has no such row, or not even the table.
  await client.query("begin; set local role souk_owner");
  const loaded = await client
    .query<{ hash: string }>("select hash from internal.loaded where name = 'structure'")
    .catch(() => null);
  await client.query("rollback");
  return loaded?.rows[0]?.hash ?? "";
};

/**
 * Makes a new database, or brings the structure of an older one up to date.
 * @param client a session with the login of connectionString, which may become souk_owner, or may create it
 * @param folders other folders of the same form, for tests
 * @throws if the structure is another one and no migration leads to this one; then nothing has changed
 */
export const applyStructure = async (
  client: pg.ClientBase,
  connectionString: string,
  { schema: schemaFolder = SCHEMA, migrations = MIGRATIONS } = {},
): Promise<void> => {
  const [schema, committed] = await Promise.all([readSchema(schemaFolder), readMigrations(migrations)]);
  const current = await currentStructure(client);
  if (current === null) {
    await prepareDatabase(client, schema);
    await migrateQueue(connectionString);
    return makeDatabase(client, schema, committed);
  }
  const hash = structureHash(schema);
  if (current === hash) return;
  const asOwner = async (sql: string, values?: unknown[]) => {
    await client.query("begin; set local role souk_owner");
    return client.query<{ name: string }>(sql, values).finally(() => client.query("commit"));
  };
  const applied = await asOwner("select filename as name from graphile_migrate.migrations").catch(() => null);
  if (applied === null || committed.every(({ name }) => applied.rows.some((row) => row.name === name)))
    throw new Error(OTHER_STRUCTURE);
  await runMigrations(
    connectionString,
    migrations,
    committed,
    applied.rows.map(({ name }) => name),
  );
  await asOwner("update internal.loaded set hash = $1, loaded_at = now() where name = 'structure'", [hash]);
};
