-- One row is one ask: what somebody wants.

create table market.ask (
  id uuid default market.uuid_v7() constraint ask_pkey primary key,
  account_id uuid not null constraint ask_account_fkey references market.account on delete cascade,
  agent_id uuid constraint ask_agent_fkey references market.agent on delete set null,
  status text not null default 'active',
  text text not null,
  watch_enabled boolean not null default true,
  language text,
  title text,
  domain text,
  category text,
  ask_kind text,
  criteria jsonb not null default '{}',
  keywords_query tsquery,
  exclude_query tsquery,
  place_query tsquery,
  price_max_hundredths bigint,
  price_currency text,
  read_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  must_query tsquery,
  constraint ask_category_fkey foreign key (domain, category) references market.category on delete restrict,
  constraint ask_domain_fkey foreign key (domain) references market.domain on delete restrict,
  constraint ask_kind_fkey foreign key (ask_kind) references market.ask_kind on delete restrict,
  constraint ask_status_known check (status in ('draft', 'active', 'fulfilled', 'archived')),
  constraint ask_text_length check (char_length(text) between 1 and 4000),
  constraint ask_language_length check (char_length(language) between 2 and 20),
  constraint ask_title_length check (char_length(title) between 1 and 120),
  constraint ask_domain_length check (char_length(domain) <= 40),
  constraint ask_category_length check (char_length(category) <= 40),
  constraint ask_category_has_domain check (category is null or domain is not null),
  constraint ask_kind_length check (char_length(ask_kind) <= 40),
  constraint ask_price_currency_form check (price_currency ~ '^[A-Z]{3}$')
);
comment on table market.ask is 'One row is one ask.';
comment on column market.ask.id is 'UUIDv7.';
comment on column market.ask.account_id is 'Who wants it.';
comment on column market.ask.agent_id is 'Which agent asked; null when its person did.';
comment on column market.ask.status is 'draft, active, fulfilled or archived.';
comment on column market.ask.text is 'The text as sent, NFC.';
comment on column market.ask.watch_enabled is 'Whether offers published later are matched too.';
comment on column market.ask.language is 'Language of the text, BCP 47.';
comment on column market.ask.title is 'Read from the text, null until read.';
comment on column market.ask.domain is 'Where a matching offer would be filed.';
comment on column market.ask.category is 'Category of the domain.';
comment on column market.ask.ask_kind is 'buy, rent, sell, lease_out, hire, offer_service, dating, friendship or general.';
comment on column market.ask.criteria is 'keywords, must, exclude, price, location, condition, attributes, as read.';
comment on column market.ask.keywords_query is 'Any of the things that the keywords name, whatever they are called; made once: every new offer is held against it.';
comment on column market.ask.exclude_query is 'Any of the words that are not wanted.';
comment on column market.ask.place_query is 'Any of the cities that would do, else the words of the place.';
comment on column market.ask.price_max_hundredths is 'Stated ceiling in hundredths of the major unit.';
comment on column market.ask.price_currency is 'ISO 4217.';
comment on column market.ask.read_at is 'When its present text was read; null while it waits.';
comment on column market.ask.created_at is 'When it was made.';
comment on column market.ask.updated_at is 'When it last changed.';
comment on column market.ask.must_query is 'All of the words that an offer has to hold to meet what must be.';

create index ask_account_id_idx on market.ask (account_id, id desc);
create index ask_agent_id_idx on market.ask (agent_id);
create index ask_domain_category_idx on market.ask (domain, category);
create index ask_kind_idx on market.ask (ask_kind);
-- Asks that were answered before their text was read.
create index ask_unread_idx on market.ask (id) where read_at is null;

create or replace function market.lexemes_of(query tsquery) returns text[]
  language plpgsql immutable parallel safe
  -- A hundred times what PostgreSQL expects of a function: to be read from an index, not computed.
  cost 10000
as $$
begin
  return case when query is null then array['*'] else array(
    select distinct regexp_replace(replace(m.lexeme[1], '''''', ''''), '\\(.)', '\1', 'g')
    from regexp_matches(query::text, '''((?:[^'']|'''')+)''', 'g') as m (lexeme)) end;
end
$$;
comment on function market.lexemes_of(tsquery) is 'The lexemes in a query, whatever stands between them; * for no query.';
grant execute on function market.lexemes_of(tsquery) to souk_agent, souk_person;
-- What a new offer is held against: asks that share a word and the place with it.
create index ask_words_idx on market.ask using gin (market.lexemes_of(keywords_query), market.lexemes_of(place_query))
  with (fastupdate = off) where status = 'active';

-- Moderators find asks by their words.
create index ask_text_idx on market.ask using gin (to_tsvector('simple', market.fold(text)));

alter table market.ask enable row level security;
alter table market.ask force row level security;
create policy "the owner sees all" on market.ask to souk_owner using (true) with check (true);
create policy "an account sees its own asks" on market.ask for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "a connected caller asks for its account" on market.ask for insert to souk_agent, souk_person
  with check (account_id = (select market.account_id()) and agent_id is not distinct from (select market.agent_id())
    and status = 'active' and (select market.connected()));
create policy "a connected caller changes asks of its account" on market.ask for update to souk_agent, souk_person
  using (account_id = (select market.account_id()) and (select market.connected()))
  with check (account_id = (select market.account_id()));
grant select on market.ask to souk_agent, souk_person;
grant insert (id, account_id, agent_id, text, watch_enabled) on market.ask to souk_agent, souk_person;
grant update (status, watch_enabled, updated_at) on market.ask to souk_agent, souk_person;

create or replace function market.move_ask() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> new.status and (old.status, new.status) not in (
    ('active', 'archived'), ('archived', 'active'), ('active', 'fulfilled'), ('fulfilled', 'active'), ('draft', 'active'))
  then
    perform market.fail(409, 'invalid_state', format('This ask is %s, so it cannot become %s.', old.status, new.status));
  end if;
  return new;
end
$$;
comment on function market.move_ask() is 'Lets an ask move only as the contract says: active to archived or fulfilled, and back.';
grant execute on function market.move_ask() to souk_agent, souk_person;
create or replace trigger move_ask before update of status on market.ask for each row execute function market.move_ask();

create or replace function market.refresh_ask() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform market.enqueue('embed_ask', new.id);
  return null;
end
$$;
comment on function market.refresh_ask() is 'An ask that is active again, or watches again, catches up with the offers it missed.';
create or replace trigger refresh_ask after update on market.ask for each row
  when (new.status = 'active' and new.read_at is not null
    and (old.status <> 'active' or new.watch_enabled and not old.watch_enabled))
  execute function market.refresh_ask();
