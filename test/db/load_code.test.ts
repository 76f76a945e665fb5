import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import type pg from "pg";
import { loadCode } from "../../src/install/load_code.ts";
import { withClient } from "../support/client.ts";
import { createDatabase } from "../support/database.ts";
import { eventually } from "../support/market.ts";
import { sqlValue } from "../support/sql.ts";
import { DB } from "../support/sql_files.ts";
import { openMarket } from "./market.ts";

/**
 * The code of the database is loaded again when a file of db/schema has changed.
 *
 *   release  a copy of db/schema, in which a test edits files as the next release would
 */

type Release = {
  folder: string;
  /** Appends to a file. */
  add: (file: string, sql: string) => Promise<void>;
  /** Replaces text in a file. Throws if the file does not contain it. */
  edit: (file: string, from: string, to: string) => Promise<void>;
};

const nextRelease = async (t: { teardown: (clean: () => Promise<void>) => void }): Promise<Release> => {
  const folder = await mkdtemp(join(tmpdir(), "souk-schema-"));
  t.teardown(() => rm(folder, { recursive: true }));
  await cp(join(DB, "schema"), folder, { recursive: true });
  return {
    folder,
    add: (file, sql) => appendFile(join(folder, file), sql),
    edit: async (file, from, to) => {
      const text = await readFile(join(folder, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} does not say ${from}`);
      await writeFile(join(folder, file), text.replace(from, to));
    },
  };
};

const functionsNamed = async (client: pg.ClientBase, name: string): Promise<string[]> =>
  (
    await client.query<{ name: string }>(
      "select oid::regprocedure::text as name from pg_proc where proname = $1 order by 1",
      [name],
    )
  ).rows.map((row) => row.name);

const EXTRA = `
create or replace function internal.next_release() returns integer language sql immutable as $$ select 1 $$;
comment on function internal.next_release() is 'One.';
grant execute on function internal.next_release() to souk_agent;
`;

test("a release drops, replaces and grants what its files say, and unchanged code is not loaded again", async (t) => {
  const { url } = await createDatabase(t);
  const release = await nextRelease(t);
  await release.add("internal/platform/setting.sql", EXTRA);
  // Adds an argument to a function that a view calls, and reorders the columns of a view whose rows a function returns.
  await release.edit(
    "internal/platform/setting.sql",
    "internal.setting(name text) returns jsonb",
    "internal.setting(name text, otherwise jsonb default null) returns jsonb",
  );
  await release.edit(
    "internal/platform/setting.sql",
    "comment on function internal.setting(text)",
    "comment on function internal.setting(text, jsonb)",
  );
  await release.edit(
    "internal/platform/setting.sql",
    "function internal.setting(text) to",
    "function internal.setting(text, jsonb) to",
  );
  await release.edit("admin/settings.sql", "s.value, s.summary, s.min", "s.summary, s.value, s.min");
  await release.edit("market/match.sql", "grant select on market.match to souk_agent, souk_person;", "");
  await withClient(url, async (client) => {
    const agentReads = async () =>
      (await client.query("select has_table_privilege('souk_agent', 'market.match', 'select') as may")).rows[0].may;
    t.is(await loadCode(client), null);
    t.true(await agentReads());

    t.deepEqual(await loadCode(client, release.folder), []);
    t.deepEqual(await functionsNamed(client, "next_release"), ["internal.next_release()"]);
    t.deepEqual(await functionsNamed(client, "setting"), ["internal.setting(text,jsonb)"]);
    t.false(await agentReads(), "a grant that no file gives any more is revoked");

    t.deepEqual(await loadCode(client), ["function internal.next_release()"], "no file creates it any more");
    t.deepEqual(await functionsNamed(client, "next_release"), []);
    t.deepEqual(await functionsNamed(client, "setting"), ["internal.setting(text)"], "the old one is replaced");
    t.true(await agentReads());
  });
});

test("a statement that began before code is loaded still finds the functions that the new code has no more", async (t) => {
  const { url } = await createDatabase(t);
  const release = await nextRelease(t);
  await release.add("internal/platform/setting.sql", EXTRA);
  await release.add(
    "inspect/requests.sql",
    `\ncreate or replace view inspect.next_release with (security_invoker = true) as select 1 as one;\n`,
  );
  await withClient(url, async (client) => {
    await loadCode(client, release.folder);
    const loaded = () => sqlValue<string>(url, "select hash from internal.loaded where name = 'code'");
    const before = await loaded();
    await withClient(url, async (caller) => {
      await caller.query("begin; set local role souk_agent; select 1");
      const loading = loadCode(client);
      await eventually(loaded, (hash) => hash !== before);
      t.deepEqual((await caller.query("select internal.next_release() as one")).rows, [{ one: 1 }]);
      await caller.query("commit");
      t.deepEqual(await loading, ["view inspect.next_release", "function internal.next_release()"]);
    });
    t.deepEqual(await functionsNamed(client, "next_release"), []);
  });
});

test("a statement that began before code is loaded may call a function that has got another argument", async (t) => {
  const { url } = await createDatabase(t);
  const [earlier, later] = [await nextRelease(t), await nextRelease(t)];
  const called = (args: string, body: string) => `
create or replace function internal.called(${args}) returns text language plpgsql as $$ begin return ${body}; end $$;
`;
  await earlier.add(
    "internal/platform/setting.sql",
    `${called("a integer", "'earlier'")}
create or replace function internal.caller() returns text language plpgsql as $$
begin
  return internal.called(1);
end
$$;
grant execute on function internal.called(integer), internal.caller() to souk_agent;
`,
  );
  await later.add(
    "internal/platform/setting.sql",
    `${called("a integer, b integer default 2", "'later'")}
grant execute on function internal.called(integer, integer) to souk_agent;
`,
  );
  await withClient(url, async (client) => {
    await loadCode(client, earlier.folder);
    const loaded = () => sqlValue<string>(url, "select hash from internal.loaded where name = 'code'");
    const before = await loaded();
    await withClient(url, async (caller) => {
      await caller.query("begin; set local role souk_agent; select 1");
      const loading = loadCode(client, later.folder);
      await eventually(loaded, (hash) => hash !== before);
      t.is((await caller.query("select internal.caller() as by")).rows[0].by, "later");
      await caller.query("commit");
      t.deepEqual(await loading, ["function internal.called(integer)", "function internal.caller()"]);
    });
    t.deepEqual(await functionsNamed(client, "called"), ["internal.called(integer,integer)"]);
    t.is(await sqlValue(url, "select count(*)::int from pg_proc where proname like 'outdated%'"), 0);
  });
});

test("a function that a table needs is not dropped: nothing changes, and the error names it", async (t) => {
  const { url } = await createDatabase(t);
  const release = await nextRelease(t);
  await release.edit("reading/fold.sql", "reading.plain_words(words text)", "reading.plain_words(said text)");
  await withClient(url, async (client) => {
    await t.throwsAsync(loadCode(client, release.folder), {
      message: /function reading\.plain_words\(text\) has other arguments.* but a table needs it/,
    });
    t.is(await loadCode(client), null, "the old code is unchanged");
  });
});

test("loading the code again writes no right and no comment of a table, and waits for no vacuum or new index", async (t) => {
  const { url } = await createDatabase(t);
  const state = () =>
    sqlValue<string>(
      url,
      `select jsonb_object_agg(o.what, o.state order by o.what) from (
        select c.oid::regclass::text as what, c.xmin::text || ' ' || coalesce(string_agg(a.xmin::text, ' ' order by a.attnum)
          || ' ' || max(obj_description(c.oid)), '') as state
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = any ('{market,internal,reading,search,graphile_worker,graphile_migrate}'::regnamespace[])
          and c.relkind in ('r', 'p') group by c.oid
        union all
        select 'comments', string_agg(d.xmin::text, ' ' order by d.objoid, d.objsubid) from pg_description d
        join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass and c.relkind in ('r', 'p')
        union all
        select p.oid::regprocedure::text, p.proacl::text from pg_proc p where p.pronamespace = 'internal'::regnamespace
        union all
        select n.nspname, n.xmin::text from pg_namespace n where n.nspname in ('market', 'internal', 'graphile_worker')) as o`,
    );
  const before = await state();
  await withClient(url, async (vacuum) => {
    const { rows } = await vacuum.query(
      "select string_agg(oid::regclass::text, ', ') as tables from pg_class where relnamespace = any ('{market,internal,reading}'::regnamespace[]) and relkind in ('r', 'p')",
    );
    // The lock that a vacuum takes, and `create index concurrently`.
    await vacuum.query(`begin; lock table ${rows[0].tables} in share update exclusive mode`);
    await withClient(url, async (client) => {
      await client.query(
        "set lock_timeout = '2s'; update internal.loaded set hash = repeat('0', 64) where name = 'code'",
      );
      t.deepEqual(await loadCode(client), []);
    });
    await vacuum.query("rollback");
  });
  t.deepEqual(await state(), before);
});

test("a file that cannot be loaded changes nothing", async (t) => {
  const { url } = await createDatabase(t);
  const release = await nextRelease(t);
  await release.add("internal/platform/setting.sql", EXTRA);
  await release.add("admin/settings.sql", "\nselect nonsense;\n");
  await withClient(url, async (client) => {
    await t.throwsAsync(loadCode(client, release.folder), {
      message: /^db\/schema\/admin\/settings\.sql could not be loaded:/,
    });
    t.deepEqual(await functionsNamed(client, "next_release"), []);
    t.is(await loadCode(client), null);
  });
});

test("calls succeed, with short waits, while code is loaded", async (t) => {
  const market = await openMarket(t);
  const release = await nextRelease(t);
  await release.add("internal/platform/setting.sql", EXTRA);
  const [seller, buyer] = [await market.approved(), await market.approved()];
  const offer = await market.offer(seller);
  let loading = true;
  let calls = 0;
  const callOn = async (call: () => Promise<unknown>) => {
    while (loading) {
      await call();
      calls += 1;
    }
  };
  const callers = [
    callOn(() => market.call(buyer, "get_offer", { id: offer })),
    callOn(() => market.call(buyer, "get_me", { base_url: "http://souk.example", link_key: null })),
    callOn(() => market.call(buyer, "list_asks", { page_size: 10 })),
    callOn(() => market.offer(seller)),
    callOn(() => market.call(buyer, "search_offers", { request: { query: "sofa" } })),
  ];
  await withClient(market.url, async (client) => {
    for (let times = 0; times < 4; times += 1) {
      const dropped = await loadCode(client, times % 2 === 0 ? release.folder : undefined);
      t.deepEqual(dropped, times % 2 === 0 ? [] : ["function internal.next_release()"]);
    }
  });
  loading = false;
  // A call that failed rejects its promise, and fails the test here.
  await Promise.all(callers);
  t.true(calls > 50, `${calls} calls`);
});
