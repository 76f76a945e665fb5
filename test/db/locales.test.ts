import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { createDatabase, createEmptyDatabase } from "../support/database.ts";
import { programsFor } from "../support/programs.ts";
import { sql } from "../support/sql.ts";

/**
 * What identifies a person, an address or a host is the same in a database of any locale. In a Turkish one, lower('I') is
 * 'ı', and in that of "C" only A to Z have lower case.
 */

const run = promisify(execFile);

/** An offer with this contact, as a literal. */
const offer = (type: string, value: string): string =>
  `jsonb_populate_record(null::market.offer, '${JSON.stringify({
    contact: { methods: [{ type, value }] },
    extraction: { contact: [{ quote: value }] },
  })}')`;

const MAIL = offer("email", "info@site.example");
const LINK = offer("url", "https://info.example/");

/** Expressions, and their values in every locale. */
const VALUES: [string, unknown][] = [
  // Only A to Z have another case in an address: which letter of another alphabet is the same depends on the language.
  ["internal.mailbox_of(E'\\u00a0INFO+I@EXAMPLE.com ')", "info+i@example.com"],
  ["internal.mailbox_of('Ince.Çığ@İÜ.example')", "ince.Çığ@İÜ.example"],
  ["internal.mailbox_of(E'two\\u2003words@example.com')", null],
  ["internal.clean_phone(E'0049\\u200930\\u20031234567')", "+49301234567"],
  ["internal.visible_sentence(E'one\\u2003\\u00a0two')", "one two"],
  ["internal.method_name('google')", "Google"],
  ["internal.has_suspicious_link('See FILE:x')", true],
  ["internal.has_suspicious_link('See HTTP://BIT.LY/Iı')", true],
  ["internal.redirect_uri_fault('FILE:/x') = internal.redirect_uri_fault('file:/x')", true],
  [
    `jsonb_path_query_array(internal.image_errors(
       '["HTTPS://I.example/I", "DATA:image", "https://a.example/\\u2003b"]'), '$.pointer')`,
    ["/images/1", "/images/2"],
  ],
  ["internal.image_warnings('{HTTP://I.example/}') <> '{}'", true],
  [`internal.names_contact('INFO desk', '{"name": "info"}')`, true],
  ["internal.names_contact('WWW.I.EXAMPLE', '{}')", true],
  [`internal.without_contact('Ask INFO@SITE.EXAMPLE, or INFO@', ${MAIL})`, "Ask […], or […]"],
  [`internal.without_contact('See HTTPS://WWW.INFO.EXAMPLE now', ${LINK})`, "See […] now"],
  [
    `search.facets_of(jsonb_populate_record(null::search.document, '{"country": "IT"}'), null, null, null)
       @@ search.place_query('it')`,
    true,
  ],
  ["(select string_agg(f.title, ' ' order by f.title) from admin.find('iris') as f)", "IRIS IRIS II"],
];

test("what identifies is the same in a database of any locale", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "souk-locales-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const dump = join(folder, "dump");
  const { url } = await createDatabase(t);
  const env = await programsFor(url);
  await run("pg_dump", ["--format=custom", "--schema-only", "--no-acl", `--file=${dump}`, url], { env });
  const locales = await sql<{ locale: string }>(
    url,
    `select case collprovider when 'i' then format('locale_provider icu icu_locale %L locale %L', left(collname, 2), 'C')
       else format('locale %L', collname) end as locale
     from pg_collation
     where collprovider = 'i' and collname in ('tr-x-icu', 'de-x-icu')
       or collprovider = 'c' and collname in ('C', 'tr_TR.utf8', 'de_DE.utf8')`,
  );
  t.true(locales.length > 0);
  await Promise.all(
    locales.map(async ({ locale }) => {
      const database = await createEmptyDatabase(t, `encoding utf8 ${locale}`);
      await run("pg_restore", ["--no-owner", `--dbname=${database.url}`, dump], { env });
      await sql(database.url, "insert into market.account (display_name) values ('IRIS'), ('IRIS II')");
      const columns = VALUES.map(([expression], n) => `${expression} as "${n}"`);
      const [row] = await sql(database.url, `select ${columns.join(", ")}`);
      const values = VALUES.map(([expression], n) => [expression, row?.[n]]);
      t.deepEqual(values, VALUES, locale);
    }),
  );
});
