-- Examples of asks and offers, from which the built-in reader learns to tell kinds and categories apart.
-- reading.vocabulary holds what single words say. An example shows what a whole sentence says ("two strong people and a
-- truck, Saturday").

create table reading.ask_example (
  id bigint generated always as identity constraint ask_example_pkey primary key,
  ask_kind text not null,
  category text,
  text text not null constraint ask_example_text_key unique,
  origin text not null default 'operator',
  constraint ask_example_kind_fkey foreign key (ask_kind) references market.ask_kind on delete restrict,
  constraint ask_example_kind_length check (char_length(ask_kind) <= 40),
  constraint ask_example_category_form check (category ~ '^[a-z_]{1,40}/[a-z_]{1,40}$'),
  constraint ask_example_category_length check (char_length(category) <= 81),
  constraint ask_example_text_length check (char_length(text) between 3 and 400),
  constraint ask_example_origin_known check (origin in ('shipped', 'operator'))
);
create index ask_example_kind_idx on reading.ask_example (ask_kind);

alter table reading.ask_example enable row level security;
alter table reading.ask_example force row level security;
create policy "the owner sees all" on reading.ask_example to souk_owner using (true) with check (true);

create trigger note_change after insert or update or delete or truncate on reading.ask_example
  for each statement execute function reading.note_change();

create table reading.offer_example (
  id bigint generated always as identity constraint offer_example_pkey primary key,
  offer_kind text not null,
  category text,
  text text not null constraint offer_example_text_key unique,
  origin text not null default 'operator',
  constraint offer_example_kind_length check (char_length(offer_kind) <= 40),
  constraint offer_example_kind_form check (offer_kind ~ '^[a-z_]{1,40}$'),
  constraint offer_example_category_form check (category ~ '^[a-z_]{1,40}/[a-z_]{1,40}$'),
  constraint offer_example_category_length check (char_length(category) <= 81),
  constraint offer_example_text_length check (char_length(text) between 8 and 1000),
  constraint offer_example_origin_known check (origin in ('shipped', 'operator'))
);

alter table reading.offer_example enable row level security;
alter table reading.offer_example force row level security;
create policy "the owner sees all" on reading.offer_example to souk_owner using (true) with check (true);

create trigger note_change after insert or update or delete or truncate on reading.offer_example
  for each statement execute function reading.note_change();

create policy "a dba reads all" on reading.ask_example for select to souk_dba using (true);
create policy "a dba reads all" on reading.offer_example for select to souk_dba using (true);

create trigger forget_deletion after insert on reading.ask_example referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('text');
create trigger keep_origin before update or delete on reading.ask_example
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('text', 'ask_kind,category');
create trigger remember_truncate before truncate on reading.ask_example
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('text');

create trigger forget_deletion after insert on reading.offer_example referencing new table as added
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.forget_deletion('text');
create trigger keep_origin before update or delete on reading.offer_example
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('text', 'offer_kind,category');
create trigger remember_truncate before truncate on reading.offer_example
  for each statement when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.remember_truncate('text');

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.ask_example is
  'One row is one text and the kind of ask that it is. A worker trains on all rows within a minute of a change '
  '(reading.classifier). Add texts that were read wrong, in several wordings and about several things.';
comment on column reading.ask_example.id is 'The id of the row.';
comment on column reading.ask_example.ask_kind is 'The kind of ask.';
comment on column reading.ask_example.category is
  'DOMAIN/CATEGORY of an offer that answers the ask; null to teach the kind alone.';
comment on column reading.ask_example.text is
  'The ask, or the query of a search, as somebody would write it, without real people or contacts.';
comment on column reading.ask_example.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
comment on table reading.offer_example is
  'One row is one text and the kind of offer that it is. A worker trains on all rows within a minute of a change '
  '(reading.classifier). Add texts that were read wrong, in several wordings and about several things.';
comment on column reading.offer_example.id is 'The id of the row.';
comment on column reading.offer_example.offer_kind is 'The kind of offer; training ignores an unknown kind.';
comment on column reading.offer_example.category is 'DOMAIN/CATEGORY of the offer; null to teach the kind alone.';
comment on column reading.offer_example.text is
  'The offer, as somebody would write it, without real people or contacts.';
comment on column reading.offer_example.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select on reading.ask_example to souk_dba;
grant select on reading.offer_example to souk_dba;
