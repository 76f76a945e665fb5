import test from "ava";
import { migrationProblems } from "./migrations.ts";

const closes = [
  "create index offer_title_idx on market.offer (title);",
  "create index concurrently if not exists offer_title_idx on market.offer (title);",
  "--! no-transaction\ncreate index concurrently offer_title_idx on market.offer (title);",
  "--! no-transaction\ncreate index concurrently if not exists a on market.offer (title);\nselect 1;",
  "alter table market.offer add constraint offer_title_short check (char_length(title) < 100);",
  "alter table market.offer add constraint offer_seen_fkey foreign key (seen) references market.agent;",
  "alter table market.offer add constraint offer_title_key unique (title);",
  "alter table market.offer add column seen uuid references market.agent;",
  "alter table market.offer add column seen uuid default gen_random_uuid();",
  "alter table market.offer add column seen text generated always as (title) stored;",
  "alter table market.offer alter column price_thousandths type numeric;",
  "alter table market.offer alter title set not null;",
  "update market.offer set title = 'x';",
  "alter table market.offer add constraint a check (true) not valid;\nalter table market.offer validate constraint a;",
  "lock table market.offer;",
];

const isOpen = [
  "alter table market.offer add column seen_at timestamptz;",
  "alter table market.offer add column seen boolean not null default false;",
  "--! no-transaction\ncreate unique index concurrently if not exists offer_title_idx on market.offer (title);",
  "--! no-transaction\ndrop index concurrently if exists market.offer_title_idx;",
  "alter table market.offer add constraint offer_title_short check (char_length(title) < 100) not valid;",
  "set local role souk_owner;\nalter table market.offer validate constraint offer_title_short;",
  "alter table market.offer add constraint offer_title_key unique using index offer_title_idx;",
  "-- quick: offer_title_present was validated\nalter table market.offer alter column title set not null;",
  "create table market.view (id uuid primary key);\ncreate index view_id_idx on market.view (id);",
];

test("a migration that would keep callers out is refused, with what to write instead", (t) => {
  for (const sql of closes) t.is(migrationProblems(sql).length, 1, sql);
  for (const sql of isOpen) t.deepEqual(migrationProblems(sql), [], sql);
});
