--! Previous: -
--! Hash: sha1:bd26ec47684f3bb4ded7700027daa60e128f962a
--! Message: the market

--! Included index.sql
-- Every file of the schema in reading order: the table of contents. Runs as one transaction.

--! Included roles.sql
-- Who may do what. Roles belong to the whole cluster, so they may exist already.
--
--   souk_owner   owns every object; nobody logs in as it
--   souk_queue   owns graphile-worker's schema
--   souk_api     login of the HTTP layer: may call functions of schema api, and reads no table
--   souk_agent   what souk_api becomes for the one statement of an agent's request
--   souk_person  what souk_api becomes for the one statement of a person's request
--   souk_worker  login of the worker: may call functions of schema jobs, and work the queue
--
-- The login roles get no password here: an operator sets one (`alter role souk_api password ...`).

do $$
begin
  if not exists (select from pg_roles where rolname = 'souk_owner') then
    create role souk_owner nologin;
  end if;
  if not exists (select from pg_roles where rolname = 'souk_queue') then
    create role souk_queue nologin;
  end if;
  if not exists (select from pg_roles where rolname = 'souk_agent') then
    create role souk_agent nologin;
  end if;
  if not exists (select from pg_roles where rolname = 'souk_person') then
    create role souk_person nologin;
  end if;
  -- noinherit: membership lets it enter a role, and gives it nothing before.
  if not exists (select from pg_roles where rolname = 'souk_api') then
    create role souk_api login noinherit;
  end if;
  if not exists (select from pg_roles where rolname = 'souk_worker') then
    create role souk_worker login;
  end if;
end
$$;

grant souk_agent, souk_person to souk_api;
grant souk_queue to souk_owner, souk_worker;
-- The migrating role hands objects to the owner, and a process started with the migrator's address becomes these.
grant souk_owner, souk_queue, souk_api, souk_worker to current_user;

-- No statement of a request takes seconds; one that does must not hold others up. lock_timeout is the shorter, so that
-- a locked table is told apart from a slow statement.
alter role souk_api set statement_timeout = '5s';
alter role souk_api set lock_timeout = '2s';
alter role souk_api set idle_in_transaction_session_timeout = '5s';
alter role souk_worker set statement_timeout = '60s';
alter role souk_worker set lock_timeout = '10s';
alter role souk_worker set idle_in_transaction_session_timeout = '60s';

create extension if not exists vector;

create schema market authorization souk_owner;
create schema api authorization souk_owner;
create schema jobs authorization souk_owner;
comment on schema market is 'The tables of the market with their rules, and the helpers that functions share.';
comment on schema api is 'One function an endpoint: what the HTTP layer may call, and nothing else.';
comment on schema jobs is 'What the worker may call. Every function is idempotent, since jobs run at least once.';

revoke create on schema public from public;
grant usage on schema market to souk_api, souk_agent, souk_person;
grant usage on schema api to souk_api, souk_agent, souk_person;
grant usage on schema jobs to souk_worker;

alter default privileges for role souk_owner revoke execute on functions from public;

set local role souk_owner;
--! EndIncluded roles.sql

-- The market: helpers that tables need
--! Included market/uuid_v7.sql
-- Ids are UUIDv7 (RFC 9562, 5.7): 48 bits of milliseconds, then random bits. PostgreSQL has uuidv7() only from 18 on.

create function market.uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select encode(
    set_bit(set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6
      ), 52, 1), 53, 1),
    'hex')::uuid
$$;
comment on function market.uuid_v7() is 'A new UUIDv7: sorts by the time it was made.';
grant execute on function market.uuid_v7() to souk_agent, souk_person;
--! EndIncluded market/uuid_v7.sql
--! Included market/fold.sql
-- Words are compared without case and accents.

create function market.fold(words text) returns text
  language sql immutable parallel safe
as $$
  select translate(
    replace(replace(replace(
      regexp_replace(normalize(lower(words), NFKD), '[\u0300-\u036f]', '', 'g'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    'łøđðıþ', 'loddit')
$$;
comment on function market.fold(text) is 'Words as they are compared: lower case, compatibility forms resolved, no accents.';
grant execute on function market.fold(text) to souk_agent, souk_person;

create function market.search_config(language text) returns regconfig
  language sql immutable parallel safe
as $$
  select case split_part(language, '-', 1)
    when 'de' then 'pg_catalog.german'::regconfig
    when 'en' then 'pg_catalog.english'::regconfig
    when 'es' then 'pg_catalog.spanish'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig
    when 'pt' then 'pg_catalog.portuguese'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$$;
comment on function market.search_config(text) is 'The stemmer of a language (BCP 47); simple where PostgreSQL has none, as for Polish.';
--! EndIncluded market/fold.sql
--! Included market/claims.sql
-- Who is calling: claims set by market.enter_agent or market.enter_person for one transaction, null outside of one.

create function market.agent_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.agent_id', true), '')::uuid $$;
comment on function market.agent_id() is 'The calling agent, null when the caller is not an agent.';

create function market.account_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.account_id', true), '')::uuid $$;
comment on function market.account_id() is 'The account that is acted for, null outside a request.';

create function market.connected() returns boolean
  language sql stable parallel safe
as $$ select coalesce(nullif(current_setting('market.connected', true), '')::boolean, false) $$;
comment on function market.connected() is 'Whether a person approved the caller; false outside a request.';

grant execute on function market.agent_id(), market.account_id(), market.connected() to souk_agent, souk_person;
--! EndIncluded market/claims.sql
--! Included market/fail.sql
-- A refusal is an exception that src/problem.ts turns into a Problem: SQLSTATE PT + status, the code as message, the
-- sentence as detail, further members as JSON in the hint. Any other error is a bug, and answered as a 500.

create function market.fail(status integer, code text, detail text, extra jsonb default '{}') returns void
  language plpgsql volatile
as $$
begin
  raise exception using
    errcode = 'PT' || fail.status,
    message = fail.code,
    detail = fail.detail,
    hint = fail.extra::text;
end
$$;
comment on function market.fail(integer, text, text, jsonb) is
  'Refuses the request: status and code of the contract, a sentence fit to be read aloud, and further members of the Problem (headers apart, under "headers").';
grant execute on function market.fail(integer, text, text, jsonb) to souk_api, souk_agent, souk_person;
--! EndIncluded market/fail.sql
--! Included market/setting.sql
-- The operator's switches: one row a switch.

create table market.setting (
  name text constraint setting_pkey primary key,
  value jsonb not null,
  summary text not null,
  constraint setting_name_length check (char_length(name) between 1 and 60),
  constraint setting_summary_length check (char_length(summary) between 1 and 300)
);
comment on table market.setting is 'The operator''s switches, one row a switch; change a value with update.';
comment on column market.setting.name is 'The switch.';
comment on column market.setting.value is 'Its value.';
comment on column market.setting.summary is 'What it does.';

alter table market.setting enable row level security;
alter table market.setting force row level security;
create policy "the owner sees all" on market.setting to souk_owner using (true) with check (true);
create policy "everyone reads the switches" on market.setting for select to souk_agent, souk_person using (true);
grant select on market.setting to souk_agent, souk_person;

insert into market.setting (name, value, summary) values
  ('pre_moderation', 'false', 'When true, a new offer waits as pending_review until a moderator publishes it.'),
  ('embedding_model', '"builtin-hash-1"', 'The model in force: only its vectors are compared. Set by the worker at its start.');

create function market.setting(name text) returns jsonb
  language sql stable
as $$ select s.value from market.setting s where s.name = $1 $$;
comment on function market.setting(text) is 'The value of a switch.';
grant execute on function market.setting(text) to souk_agent, souk_person;
--! EndIncluded market/setting.sql
--! Included market/taxonomy.sql
-- The taxonomy: domains, the kinds of offer each allows, its categories; and which kinds of offer answer an ask.

create table market.domain (
  domain text constraint domain_pkey primary key,
  kinds text[] not null,
  position smallint not null,
  constraint domain_domain_form check (domain ~ '^[a-z_]{1,40}$'),
  constraint domain_kinds_known check (
    kinds <@ array['sale', 'rental', 'service_offer', 'project_hire', 'dating', 'friendship'] and cardinality(kinds) > 0)
);
comment on table market.domain is 'One row a domain of the taxonomy.';
comment on column market.domain.domain is 'The name clients see.';
comment on column market.domain.kinds is 'The kinds of offer that this domain allows.';
comment on column market.domain.position is 'Where it stands in lists.';

create table market.category (
  domain text not null constraint category_domain_fkey references market.domain on delete restrict,
  category text not null,
  position smallint not null,
  constraint category_pkey primary key (domain, category),
  constraint category_domain_form check (domain ~ '^[a-z_]{1,40}$'),
  constraint category_category_form check (category ~ '^[a-z_]{1,40}$')
);
comment on table market.category is 'One row a category of a domain.';
comment on column market.category.domain is 'The domain it belongs to.';
comment on column market.category.category is 'The name clients see; unique within its domain.';
comment on column market.category.position is 'Where it stands in lists.';

create table market.ask_kind (
  ask_kind text constraint ask_kind_pkey primary key,
  answered_by text[] not null,
  constraint ask_kind_form check (ask_kind ~ '^[a-z_]{1,40}$')
);
comment on table market.ask_kind is 'One row a kind of ask, with the kinds of offer that can answer it.';
comment on column market.ask_kind.ask_kind is 'The name clients see.';
comment on column market.ask_kind.answered_by is 'Kinds of offer; empty for sell and lease_out, which are better published as offers.';

alter table market.domain enable row level security;
alter table market.domain force row level security;
alter table market.category enable row level security;
alter table market.category force row level security;
alter table market.ask_kind enable row level security;
alter table market.ask_kind force row level security;
create policy "the owner sees all" on market.domain to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.category to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.ask_kind to souk_owner using (true) with check (true);
create policy "everyone reads the taxonomy" on market.domain for select to souk_agent, souk_person using (true);
create policy "everyone reads the taxonomy" on market.category for select to souk_agent, souk_person using (true);
create policy "everyone reads the taxonomy" on market.ask_kind for select to souk_agent, souk_person using (true);
grant select on market.domain, market.category, market.ask_kind to souk_agent, souk_person;

insert into market.domain (domain, kinds, position) values
  ('electronics', '{sale,rental}', 1),
  ('vehicles', '{sale,rental}', 2),
  ('real_estate', '{sale,rental}', 3),
  ('home_garden', '{sale,rental}', 4),
  ('fashion', '{sale,rental}', 5),
  ('hobbies', '{sale,rental}', 6),
  ('family_pets', '{sale,rental,service_offer}', 7),
  ('services', '{service_offer}', 8),
  ('jobs_projects', '{project_hire}', 9),
  ('community', '{dating,friendship}', 10);

insert into market.category (domain, category, position)
select d.domain, c.category, c.position
from (values
  ('electronics', '{phones,computers,audio,photo_video,gaming,tv,wearables,components,other_electronics}'),
  ('vehicles', '{cars,motorcycles,bicycles,boats,trucks_vans,caravans,parts,other_vehicles}'),
  ('real_estate', '{apartments,houses,rooms,land,commercial,vacation,parking_storage}'),
  ('home_garden', '{furniture,appliances,decor,garden,tools,kitchen,other_home}'),
  ('fashion', '{clothing,shoes,bags,jewelry_watches,accessories}'),
  ('hobbies', '{books,music_instruments,sports,collectibles,art,toys_games,tickets,other_hobbies}'),
  ('family_pets', '{baby_kids,pets,pet_supplies}'),
  ('services', '{repair,cleaning,moving,tutoring,beauty_wellness,events,legal_finance,it_design,care,construction,transport,other_services}'),
  ('jobs_projects', '{software,design,writing,marketing,construction_work,hospitality,office,education,logistics,other_work}'),
  ('community', '{dating,friendship,activities}')
) as d (domain, categories),
lateral unnest(d.categories::text[]) with ordinality as c (category, position);

insert into market.ask_kind (ask_kind, answered_by) values
  ('buy', '{sale}'),
  ('rent', '{rental}'),
  ('hire', '{service_offer}'),
  ('offer_service', '{project_hire}'),
  ('dating', '{dating}'),
  ('friendship', '{friendship}'),
  ('general', '{sale,rental,service_offer,project_hire,dating,friendship}'),
  ('sell', '{}'),
  ('lease_out', '{}');
--! EndIncluded market/taxonomy.sql
--! Included market/vocabulary.sql
-- The words by which the built-in reader understands a text: data that the operator edits, never code.

create table market.vocabulary (
  id bigint generated always as identity constraint vocabulary_pkey primary key,
  term text not null,
  language text,
  sense text not null,
  weight real not null,
  constraint vocabulary_term_sense_key unique nulls not distinct (term, language, sense),
  constraint vocabulary_term_length check (char_length(term) between 1 and 80),
  constraint vocabulary_term_folded check (term = btrim(regexp_replace(market.fold(term), '\s+', ' ', 'g'))),
  constraint vocabulary_language_length check (char_length(language) = 2),
  constraint vocabulary_language_form check (language ~ '^[a-z]{2}$'),
  constraint vocabulary_sense_length check (char_length(sense) between 3 and 100),
  constraint vocabulary_sense_form check (
    sense ~ '^(category:[a-z_]+/[a-z_]+|(domain|kind|ask_kind|condition|feature):[a-z_]+|(place|region|country):[A-Z]{2})$'),
  constraint vocabulary_weight_range check (weight > 0 and weight <= 5)
);
comment on table market.vocabulary is
  'What words say to the built-in reader, one row a term and sense. Senses: category:DOMAIN/CATEGORY and domain:DOMAIN (the thing it names), kind:OFFER_KIND, ask_kind:ASK_KIND (what is wanted), condition:CONDITION, feature:NAME (the words themselves are the feature), place:XX, region:XX and country:XX (a city, a part of a country, a country, by ISO 3166-1 code). A word may have several senses. Changes hold from the next start of the worker.';
comment on column market.vocabulary.id is 'Tells rows apart.';
comment on column market.vocabulary.term is
  'The word or phrase, folded as by market.fold, single spaces; usual plurals and cases need no row of their own, nor do German and Dutch compounds that end in it.';
comment on column market.vocabulary.language is 'The language it belongs to (ISO 639-1); null for names, brands and models, which are the same everywhere.';
comment on column market.vocabulary.sense is 'What it says.';
comment on column market.vocabulary.weight is 'How surely it says so: 1 a hint, 2 usually, 3 as good as certainly.';

alter table market.vocabulary enable row level security;
alter table market.vocabulary force row level security;
create policy "the owner sees all" on market.vocabulary to souk_owner using (true) with check (true);
--! EndIncluded market/vocabulary.sql
--! Included market/vocabulary_data.sql

--! EndIncluded market/vocabulary_data.sql

-- Who: accounts, agents, how they connect, and what they proved
--! Included market/account.sql
-- One row is one account: a person, or, until a person approves its agent, the promise of one (provisional).

create table market.account (
  id uuid default market.uuid_v7() constraint account_pkey primary key,
  display_name text,
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  constraint account_display_name_length check (char_length(display_name) between 1 and 80)
);
comment on table market.account is 'One row is one account that agents act for.';
comment on column market.account.id is 'UUIDv7.';
comment on column market.account.display_name is 'What the person wants to be called, null until told.';
comment on column market.account.claimed_at is 'When a person made it theirs by approving an agent; null while provisional.';
comment on column market.account.created_at is 'Member since.';

alter table market.account enable row level security;
alter table market.account force row level security;
create policy "the owner sees all" on market.account to souk_owner using (true) with check (true);
create policy "a caller sees the account it acts for" on market.account for select to souk_agent, souk_person
  using (id = (select market.account_id()));
grant select on market.account to souk_agent, souk_person;
--! EndIncluded market/account.sql
--! Included market/publisher.sql
-- One row is the market record of one account: raw counts, kept by triggers on market.offer, never a score.

create table market.publisher (
  account_id uuid constraint publisher_pkey primary key
    constraint publisher_account_fkey references market.account on delete cascade,
  active integer not null default 0,
  lifetime integer not null default 0,
  removed integer not null default 0,
  last_active_at timestamptz not null default now(),
  constraint publisher_counts_not_negative check (active >= 0 and lifetime >= 0 and removed >= 0)
);
comment on table market.publisher is 'The record of an account: what others see beside its offers.';
comment on column market.publisher.account_id is 'Whose record; never shown.';
comment on column market.publisher.active is 'Offers published now.';
comment on column market.publisher.lifetime is 'Offers ever published.';
comment on column market.publisher.removed is 'Offers taken down by moderation now.';
comment on column market.publisher.last_active_at is 'Latest write by the account; shown as a month.';

alter table market.publisher enable row level security;
alter table market.publisher force row level security;
create policy "the owner sees all" on market.publisher to souk_owner using (true) with check (true);
create policy "everyone reads the records" on market.publisher for select to souk_agent, souk_person using (true);
grant select on market.publisher to souk_agent, souk_person;

create function market.open_record() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into market.publisher (account_id) values (new.id);
  return new;
end
$$;
comment on function market.open_record() is 'Gives every account its record.';
create trigger open_record after insert on market.account for each row execute function market.open_record();

create function market.note_activity() returns void
  language sql volatile security definer set search_path = ''
as $$
  -- Shown as a month, so once a day is enough, and the row is not contended.
  update market.publisher p set last_active_at = now()
  where p.account_id = market.account_id() and p.last_active_at < now() - interval '1 day'
$$;
comment on function market.note_activity() is 'Remembers that the account acted for wrote to the market today.';
grant execute on function market.note_activity() to souk_agent, souk_person;
--! EndIncluded market/publisher.sql
--! Included market/agent.sql
-- One row is one agent: who calls with a token.

create table market.agent (
  id uuid default market.uuid_v7() constraint agent_pkey primary key,
  account_id uuid not null constraint agent_account_fkey references market.account on delete cascade,
  name text not null,
  token_hash bytea not null constraint agent_token_hash_key unique,
  created_at timestamptz not null default now(),
  connected_at timestamptz,
  removed_at timestamptz,
  constraint agent_name_length check (char_length(name) between 1 and 80),
  constraint agent_token_hash_is_sha256 check (octet_length(token_hash) = 32)
);
create index agent_account_id_idx on market.agent (account_id);
comment on table market.agent is 'One row is one agent. Its token is known to it alone; here is only the hash.';
comment on column market.agent.id is 'UUIDv7.';
comment on column market.agent.account_id is 'The account it acts for; provisional until a person approves.';
comment on column market.agent.name is 'What it calls itself.';
comment on column market.agent.token_hash is 'SHA-256 of the token.';
comment on column market.agent.created_at is 'When it called POST /v1/connect.';
comment on column market.agent.connected_at is 'When a person approved it; null until then.';
comment on column market.agent.removed_at is 'When it was removed; its token is refused from that moment.';

alter table market.agent enable row level security;
alter table market.agent force row level security;
create policy "the owner sees all" on market.agent to souk_owner using (true) with check (true);
create policy "an agent sees itself" on market.agent for select to souk_agent
  using (id = (select market.agent_id()));
create policy "a person sees the agents of the account" on market.agent for select to souk_person
  using (account_id = (select market.account_id()));
create policy "an agent removes itself" on market.agent for update to souk_agent
  using (id = (select market.agent_id()));
create policy "a person removes agents of the account" on market.agent for update to souk_person
  using (account_id = (select market.account_id()));
grant select (id, account_id, name, created_at, connected_at, removed_at) on market.agent to souk_agent, souk_person;
grant update (removed_at) on market.agent to souk_agent, souk_person;

create function market.settle_removed_agent() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- The next call is refused on every replica that synchronous_standby_names lists; without standbys this changes nothing.
  perform set_config('synchronous_commit', 'remote_apply', true);
  update market.connection set declined_at = now() where agent_id = new.id and approved_at is null and declined_at is null;
  delete from market.idempotency_key where agent_id = new.id;
  return new;
end
$$;
comment on function market.settle_removed_agent() is 'What dies with a removed agent: its open link and its keys.';
create trigger settle_removed_agent after update of removed_at on market.agent
  for each row when (old.removed_at is null and new.removed_at is not null)
  execute function market.settle_removed_agent();
--! EndIncluded market/agent.sql
--! Included market/connection.sql
-- One row is one connection link: works once, for 30 minutes, and whoever approves first is the person acted for.

create table market.connection (
  agent_id uuid constraint connection_pkey primary key
    constraint connection_agent_fkey references market.agent on delete cascade,
  secret_hash bytea not null constraint connection_secret_hash_key unique,
  code text not null,
  address text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 minutes',
  approved_at timestamptz,
  declined_at timestamptz,
  constraint connection_secret_hash_is_sha256 check (octet_length(secret_hash) = 32),
  constraint connection_code_form check (code ~ '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$'),
  constraint connection_address_length check (char_length(address) between 1 and 50),
  constraint connection_decided_once check (approved_at is null or declined_at is null)
);
comment on table market.connection is 'One row is the link by which a person approves an agent.';
comment on column market.connection.agent_id is 'The agent to be approved.';
comment on column market.connection.secret_hash is 'SHA-256 of the secret in the link.';
comment on column market.connection.code is 'What the person compares; never in the link.';
comment on column market.connection.address is 'The network that asked: IPv4 /32 or IPv6 /64.';
comment on column market.connection.created_at is 'When the agent asked.';
comment on column market.connection.expires_at is 'When the link stops working.';
comment on column market.connection.approved_at is 'When a person approved.';
comment on column market.connection.declined_at is 'When a person said "Not mine", or the agent was removed.';

alter table market.connection enable row level security;
alter table market.connection force row level security;
create policy "the owner sees all" on market.connection to souk_owner using (true) with check (true);
--! EndIncluded market/connection.sql
--! Included market/session.sql
-- One row is one browser in which a person is signed in. The cookie holds the secret, here is only its hash.

create table market.session (
  id uuid default market.uuid_v7() constraint session_pkey primary key,
  account_id uuid not null constraint session_account_fkey references market.account on delete cascade,
  secret_hash bytea not null constraint session_secret_hash_key unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days',
  constraint session_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
create index session_account_id_idx on market.session (account_id);
comment on table market.session is 'One row is one signed-in browser.';
comment on column market.session.id is 'UUIDv7.';
comment on column market.session.account_id is 'Who is signed in.';
comment on column market.session.secret_hash is 'SHA-256 of what the cookie holds.';
comment on column market.session.created_at is 'When the person signed in or approved.';
comment on column market.session.expires_at is 'When the cookie stops working.';

alter table market.session enable row level security;
alter table market.session force row level security;
create policy "the owner sees all" on market.session to souk_owner using (true) with check (true);
--! EndIncluded market/session.sql
--! Included market/verification.sql
-- Sign-in methods, what accounts have proved by them, and the verifications under way.

create table market.sign_in_method (
  method text constraint sign_in_method_pkey primary key,
  available boolean not null default false,
  position smallint not null,
  constraint sign_in_method_known check (method in ('google', 'apple', 'email'))
);
comment on table market.sign_in_method is 'One row a method the contract names.';
comment on column market.sign_in_method.method is 'google, apple or email.';
comment on column market.sign_in_method.available is 'Whether the operator has configured its provider.';
comment on column market.sign_in_method.position is 'Where it stands in lists.';
insert into market.sign_in_method (method, position) values ('google', 1), ('apple', 2), ('email', 3);

create table market.proved_method (
  account_id uuid not null constraint proved_method_account_fkey references market.account on delete cascade,
  method text not null constraint proved_method_method_fkey references market.sign_in_method on delete restrict,
  subject_hash bytea not null,
  proved_at timestamptz not null default now(),
  constraint proved_method_pkey primary key (account_id, method),
  constraint proved_method_subject_key unique (method, subject_hash),
  constraint proved_method_method_form check (method in ('google', 'apple', 'email')),
  constraint proved_method_subject_hash_is_sha256 check (octet_length(subject_hash) = 32)
);
comment on table market.proved_method is 'One row is one method that an account has proved; a subject proves one account only.';
comment on column market.proved_method.account_id is 'Who proved.';
comment on column market.proved_method.method is 'By what.';
comment on column market.proved_method.subject_hash is 'SHA-256 of who the provider says it is.';
comment on column market.proved_method.proved_at is 'When.';

create table market.verification (
  id uuid default market.uuid_v7() constraint verification_pkey primary key,
  account_id uuid not null constraint verification_account_fkey references market.account on delete cascade,
  agent_id uuid not null constraint verification_agent_fkey references market.agent on delete cascade,
  method text not null constraint verification_method_fkey references market.sign_in_method on delete restrict,
  secret_hash bytea not null constraint verification_secret_hash_key unique,
  status text not null default 'pending',
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 minutes',
  constraint verification_method_form check (method in ('google', 'apple', 'email')),
  constraint verification_status_known check (status in ('pending', 'completed', 'expired', 'cancelled')),
  constraint verification_secret_hash_is_sha256 check (octet_length(secret_hash) = 32)
);
create index verification_account_id_idx on market.verification (account_id);
create index verification_method_idx on market.verification (method);
-- One open link for each agent and method; asking again finds it.
create unique index verification_one_pending on market.verification (agent_id, method) where status = 'pending';
create index verification_agent_id_idx on market.verification (agent_id);
comment on table market.verification is 'One row is one request of an agent that its person proves a method.';
comment on column market.verification.id is 'UUIDv7.';
comment on column market.verification.account_id is 'Whose method is to be proved.';
comment on column market.verification.agent_id is 'Who asked; its link key makes the link.';
comment on column market.verification.method is 'google, apple or email.';
comment on column market.verification.secret_hash is 'SHA-256 of the secret in the link.';
comment on column market.verification.status is 'pending, then completed, expired or cancelled for good. A pending row past expires_at counts as expired.';
comment on column market.verification.created_at is 'When the agent asked.';
comment on column market.verification.expires_at is 'When the link stops working.';

alter table market.sign_in_method enable row level security;
alter table market.sign_in_method force row level security;
alter table market.proved_method enable row level security;
alter table market.proved_method force row level security;
alter table market.verification enable row level security;
alter table market.verification force row level security;
create policy "the owner sees all" on market.sign_in_method to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.proved_method to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.verification to souk_owner using (true) with check (true);
create policy "everyone reads the methods" on market.sign_in_method for select to souk_agent, souk_person using (true);
create policy "a caller sees what its account proved" on market.proved_method for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "a caller sees the verifications of its account" on market.verification for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "an agent asks for its account" on market.verification for insert to souk_agent
  with check (account_id = (select market.account_id()) and agent_id = (select market.agent_id()) and status = 'pending');
create policy "an agent notes that a link ran out" on market.verification for update to souk_agent
  using (account_id = (select market.account_id()) and status = 'pending' and expires_at <= now())
  with check (status = 'expired');
grant select on market.sign_in_method to souk_agent, souk_person;
grant select (account_id, method, proved_at) on market.proved_method to souk_agent, souk_person;
grant select on market.verification to souk_agent, souk_person;
grant insert (id, account_id, agent_id, method, secret_hash), update (status) on market.verification to souk_agent;

create function market.keep_final_verification() returns trigger
  language plpgsql
as $$
begin
  if old.status <> 'pending' then
    perform market.fail(409, 'invalid_state', format('This verification is %s, and that is final.', old.status));
  end if;
  return new;
end
$$;
comment on function market.keep_final_verification() is 'completed, expired and cancelled are final.';
create trigger keep_final_verification before update of status on market.verification
  for each row when (old.status is distinct from new.status) execute function market.keep_final_verification();

create function market.verification_secret(link_key bytea, verification_id uuid) returns text
  language sql immutable parallel safe
as $$
  -- Made from a key that only the agent's token yields, so the same link can be given again and is stored nowhere.
  select encode(sha256(verification_secret.link_key || uuid_send(verification_secret.verification_id)), 'hex')
$$;
comment on function market.verification_secret(bytea, uuid) is
  'The secret in a verification''s link: SHA-256 over the agent''s link key and the verification''s id, in hex.';

create function market.verification_document(verification market.verification, base_url text, link_key bytea) returns jsonb
  language plpgsql stable
as $$
declare
  status text := case when verification.status = 'pending' and verification.expires_at <= now()
    then 'expired' else verification.status end;
begin
  return jsonb_build_object(
    'id', verification.id,
    'method', verification.method,
    'status', status,
    'expires_in', greatest(ceil(extract(epoch from verification.expires_at - now())), 0)::integer,
    'summary', case status
      when 'pending' then 'Give this link to the person you act for and do not open it yourself. Then read this verification until its status is no longer pending.'
      when 'completed' then 'The method is proved. The limits of the account have risen.'
      when 'expired' then 'The link ran out of time. Start a new verification when the person is ready.'
      else 'The person cancelled. Ask before you start a new one.'
    end)
    -- Another agent of the account sees the verification, but cannot make its link.
    || case when status = 'pending' and verification.agent_id = market.agent_id() then jsonb_build_object('url',
      verification_document.base_url || '/verify/' || market.verification_secret(link_key, verification.id))
      else '{}' end;
end
$$;
comment on function market.verification_document(market.verification, text, bytea) is
  'A verification as clients see it; the link only while pending.';
grant execute on function market.keep_final_verification(), market.verification_secret(bytea, uuid),
  market.verification_document(market.verification, text, bytea) to souk_agent, souk_person;

create function market.methods(available boolean) returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(m.method order by m.position), '[]')
  from market.sign_in_method m where m.available = methods.available
$$;
comment on function market.methods(boolean) is 'The sign-in methods that can be started now, or those that cannot.';

create function market.verified_methods() returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(p.method order by p.method), '[]')
  from market.proved_method p where p.account_id = (select market.account_id())
$$;
comment on function market.verified_methods() is 'The methods that the account acted for has proved.';
grant execute on function market.methods(boolean), market.verified_methods() to souk_agent, souk_person;
--! EndIncluded market/verification.sql
--! Included market/enter.sql
-- Entering: the first thing in every request's one statement. Sets the claims and the role for this transaction, which
-- is this statement. An invoker function, because the role cannot be set inside a security definer one.

create function market.find_agent(token_hash bytea)
  returns table (agent_id uuid, account_id uuid, connected boolean)
  language sql stable security definer set search_path = ''
as $$
  select a.id, a.account_id, a.connected_at is not null
  from market.agent a
  where a.token_hash = find_agent.token_hash and a.removed_at is null
$$;
comment on function market.find_agent(bytea) is 'The agent whose token has this SHA-256; no row when unknown or removed.';
grant execute on function market.find_agent(bytea) to souk_api;

create function market.enter_agent(token_hash bytea) returns boolean
  language plpgsql volatile
as $$
declare
  agent record;
begin
  select * into agent from market.find_agent(enter_agent.token_hash);
  if not found then
    perform market.fail(401, 'unauthorized',
      'This token is unknown or was removed. Call POST /v1/connect once to create a new agent, and keep the token it returns.');
  end if;
  perform set_config('market.agent_id', agent.agent_id::text, true),
    set_config('market.account_id', agent.account_id::text, true),
    set_config('market.connected', agent.connected::text, true),
    set_config('role', 'souk_agent', true);
  return true;
end
$$;
comment on function market.enter_agent(bytea) is
  'Makes the rest of the statement run as the agent with this token hash, or fails with 401. Writes nothing.';
grant execute on function market.enter_agent(bytea) to souk_api;

create function market.find_session(secret_hash bytea) returns uuid
  language sql stable security definer set search_path = ''
as $$
  select s.account_id from market.session s
  where s.secret_hash = find_session.secret_hash and s.expires_at > now()
$$;
comment on function market.find_session(bytea) is 'The account of the session whose secret has this SHA-256, or null.';
grant execute on function market.find_session(bytea) to souk_api;

create function market.enter_person(secret_hash bytea) returns boolean
  language plpgsql volatile
as $$
declare
  account_id uuid := market.find_session(enter_person.secret_hash);
begin
  if account_id is null then
    perform market.fail(401, 'unauthorized', 'You are not signed in, or your session has ended.');
  end if;
  perform set_config('market.agent_id', '', true),
    set_config('market.account_id', account_id::text, true),
    set_config('market.connected', 'true', true),
    set_config('role', 'souk_person', true);
  return true;
end
$$;
comment on function market.enter_person(bytea) is
  'Makes the rest of the statement run as the person with this session, or fails with 401. Writes nothing.';
grant execute on function market.enter_person(bytea) to souk_api;
--! EndIncluded market/enter.sql
--! Included market/permission.sql
-- What an agent may do: everything that only reads, and everything else once a person has approved it.

create function market.require_connected(permission text, headers jsonb default '{}') returns void
  language plpgsql stable
as $$
begin
  if not market.connected() then
    perform market.fail(403, 'verification_required',
      'No person has approved this agent yet. Ask the person you act for to open the connection link and compare the code; then try again.',
      jsonb_build_object(
        'headers', headers,
        'permission', permission,
        'connected', false,
        'verified', market.verified_methods(),
        -- No permission requires a method at present, so no method would lift the refusal.
        'accepted_methods', '[]'::jsonb,
        'options', '[]'::jsonb,
        'next', jsonb_build_array(jsonb_build_object(
          'summary', 'Ask the person to open the connection link you were given, then read your permissions.',
          'method', 'GET', 'path', '/v1/me'))));
  end if;
end
$$;
comment on function market.require_connected(text, jsonb) is
  'Refuses with 403 verification_required, naming the permission, until a person has approved the agent.';
grant execute on function market.require_connected(text, jsonb) to souk_agent, souk_person;
--! EndIncluded market/permission.sql

-- What: offers, asks, what answers what
--! Included market/offer.sql
-- One row is one offer.

create table market.offer (
  id uuid default market.uuid_v7() constraint offer_pkey primary key,
  account_id uuid constraint offer_account_fkey references market.account on delete set null,
  agent_id uuid constraint offer_agent_fkey references market.agent on delete set null,
  origin_ask_id uuid,
  status text not null,
  text text not null,
  images text[] not null default '{}',
  language text,
  title text not null,
  domain text,
  category text,
  offer_kind text,
  price_hundredths bigint,
  price_currency text,
  price_period text,
  location_text text,
  metadata jsonb not null default '{}',
  contact jsonb not null default '{}',
  extraction jsonb not null default '{}',
  missing_fields text[] not null default '{}',
  warnings text[] not null default '{}',
  reviewed boolean not null default false,
  review_note text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  published_at timestamptz,
  removed_at timestamptz,
  search tsvector not null generated always as (
    setweight(to_tsvector('simple', market.fold(title)), 'A')
    || setweight(to_tsvector(market.search_config(language), market.fold(title)), 'A')
    || setweight(to_tsvector('simple', replace(coalesce(category, '') || ' ' || coalesce(domain, ''), '_', ' ')), 'B')
    || setweight(to_tsvector('simple', market.fold(text)), 'C')
    || setweight(to_tsvector(market.search_config(language), market.fold(text)), 'C')) stored,
  place tsvector not null generated always as (
    to_tsvector('simple', market.fold(coalesce(location_text, '') || ' '
      || coalesce(metadata -> 'location' ->> 'city', '') || ' '
      || coalesce(metadata -> 'location' ->> 'region', '') || ' '
      || coalesce(metadata -> 'location' ->> 'country', '')))) stored,
  constraint offer_category_fkey foreign key (domain, category) references market.category on delete restrict,
  constraint offer_domain_fkey foreign key (domain) references market.domain on delete restrict,
  constraint offer_status_known
    check (status in ('draft', 'pending_review', 'published', 'rejected', 'archived', 'removed')),
  constraint offer_text_length check (char_length(text) between 1 and 4000),
  constraint offer_images_count check (cardinality(images) <= 16),
  constraint offer_language_length check (char_length(language) between 2 and 20),
  constraint offer_title_length check (char_length(title) between 1 and 120),
  constraint offer_domain_length check (char_length(domain) <= 40),
  constraint offer_category_length check (char_length(category) <= 40),
  constraint offer_category_has_domain check (category is null or domain is not null),
  constraint offer_kind_known
    check (offer_kind in ('sale', 'rental', 'service_offer', 'project_hire', 'dating', 'friendship')),
  constraint offer_price_currency_form check (price_currency ~ '^[A-Z]{3}$'),
  constraint offer_price_period_known
    check (price_period in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')),
  constraint offer_location_text_length check (char_length(location_text) between 1 and 200),
  constraint offer_review_note_length check (char_length(review_note) between 1 and 500),
  constraint offer_published_has_day check (status <> 'published' or published_at is not null),
  constraint offer_removed_has_time check (status <> 'removed' or removed_at is not null)
);
comment on table market.offer is 'One row is one offer, as the market shows it and as its text was read.';
comment on column market.offer.id is 'UUIDv7.';
comment on column market.offer.account_id is 'Whose offer; null when the account no longer exists.';
comment on column market.offer.agent_id is 'Which agent published it.';
comment on column market.offer.origin_ask_id is 'The ask it grew from, when its agent said so.';
comment on column market.offer.status is 'draft, pending_review, published, rejected, archived or removed.';
comment on column market.offer.text is 'The text as sent, NFC; shown as the description.';
comment on column market.offer.images is 'Links to images; never fetched by this service.';
comment on column market.offer.language is 'Language of the text, BCP 47.';
comment on column market.offer.title is 'Made of words of the text.';
comment on column market.offer.domain is 'Domain of the taxonomy, null when not confident.';
comment on column market.offer.category is 'Category of the domain, null when not confident.';
comment on column market.offer.offer_kind is 'sale, rental, service_offer, project_hire, dating or friendship.';
comment on column market.offer.price_hundredths is 'Asking price in hundredths of the major unit of any currency: a bigint compares leakproof and exactly.';
comment on column market.offer.price_currency is 'ISO 4217.';
comment on column market.offer.price_period is 'What the price is for.';
comment on column market.offer.location_text is 'The place as written.';
comment on column market.offer.metadata is 'pricing, location, space, features, condition, attributes: each absent when not stated.';
comment on column market.offer.contact is 'The contact object of the contract, schema_version 2.';
comment on column market.offer.extraction is 'Per field the value, its quote with start and end in code points, basis and confidence.';
comment on column market.offer.missing_fields is 'What the text left unclear.';
comment on column market.offer.warnings is 'Sentences for the agent.';
comment on column market.offer.reviewed is 'Whether a moderator looked at it and kept it up.';
comment on column market.offer.review_note is 'A moderator''s sentence for the owner.';
comment on column market.offer.created_at is 'When it was submitted.';
comment on column market.offer.updated_at is 'When it last changed.';
comment on column market.offer.published_at is 'When it first went live.';
comment on column market.offer.removed_at is 'When moderation last took it down.';
comment on column market.offer.search is 'Words and stems for lexical search: title A, classification B, text C.';
comment on column market.offer.place is 'Words of the place, for the location filter.';

-- Lists of one's own; and what caps count.
create index offer_account_id_idx on market.offer (account_id, id desc);
create index offer_agent_id_idx on market.offer (agent_id);
create index offer_domain_category_idx on market.offer (domain, category);
-- Browsing what is live, newest first, bare and by classification; and by price.
create index offer_published_idx on market.offer (published_at desc, id desc) where status = 'published';
create index offer_published_by_class_idx on market.offer (domain, offer_kind, category, published_at desc, id desc)
  where status = 'published';
create index offer_published_by_price_idx on market.offer (price_currency, price_hundredths, id) where status = 'published';
create index offer_search_idx on market.offer using gin (search) with (fastupdate = off) where status = 'published';
create index offer_place_idx on market.offer using gin (place) with (fastupdate = off) where status = 'published';

alter table market.offer enable row level security;
alter table market.offer force row level security;
create policy "the owner sees all" on market.offer to souk_owner using (true) with check (true);
create policy "everyone sees published offers and an account its own" on market.offer for select
  to souk_agent, souk_person
  using (status = 'published' or account_id = (select market.account_id()));
create policy "a connected caller moves offers of its account" on market.offer for update to souk_agent, souk_person
  using (account_id = (select market.account_id()) and (select market.connected()))
  with check (account_id = (select market.account_id()));
grant select on market.offer to souk_agent, souk_person;
grant update (status) on market.offer to souk_agent, souk_person;
--! EndIncluded market/offer.sql
--! Included market/ask.sql
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
  price_max_hundredths bigint,
  price_currency text,
  read_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
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
comment on column market.ask.agent_id is 'Which agent asked.';
comment on column market.ask.status is 'draft, active, fulfilled or archived.';
comment on column market.ask.text is 'The text as sent, NFC.';
comment on column market.ask.watch_enabled is 'Whether offers published later are matched too.';
comment on column market.ask.language is 'Language of the text, BCP 47.';
comment on column market.ask.title is 'Read from the text, null until read.';
comment on column market.ask.domain is 'Where a matching offer would be filed.';
comment on column market.ask.category is 'Category of the domain.';
comment on column market.ask.ask_kind is 'buy, rent, sell, lease_out, hire, offer_service, dating, friendship or general.';
comment on column market.ask.criteria is 'keywords, must, exclude, price, location, condition, attributes, as read.';
comment on column market.ask.price_max_hundredths is 'Stated ceiling in hundredths of the major unit.';
comment on column market.ask.price_currency is 'ISO 4217.';
comment on column market.ask.read_at is 'When its present text was read; null while it waits.';
comment on column market.ask.created_at is 'When it was made.';
comment on column market.ask.updated_at is 'When it last changed.';

create index ask_account_id_idx on market.ask (account_id, id desc);
create index ask_agent_id_idx on market.ask (agent_id);
create index ask_domain_category_idx on market.ask (domain, category);
create index ask_kind_idx on market.ask (ask_kind);
-- What a new offer is held against.
create index ask_watching_idx on market.ask (ask_kind, domain, category) where status = 'active' and watch_enabled;

alter table market.ask enable row level security;
alter table market.ask force row level security;
create policy "the owner sees all" on market.ask to souk_owner using (true) with check (true);
create policy "an account sees its own asks" on market.ask for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "a connected agent asks for its account" on market.ask for insert to souk_agent
  with check (account_id = (select market.account_id()) and agent_id = (select market.agent_id())
    and status = 'active' and (select market.connected()));
create policy "a connected caller changes asks of its account" on market.ask for update to souk_agent, souk_person
  using (account_id = (select market.account_id()) and (select market.connected()))
  with check (account_id = (select market.account_id()));
grant select on market.ask to souk_agent, souk_person;
grant insert (id, account_id, agent_id, text, watch_enabled) on market.ask to souk_agent;
grant update (status, watch_enabled, updated_at) on market.ask to souk_agent, souk_person;

create function market.move_ask() returns trigger
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
create trigger move_ask before update of status on market.ask for each row execute function market.move_ask();

create function market.refresh_ask() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform market.enqueue('embed_ask', new.id);
  return null;
end
$$;
comment on function market.refresh_ask() is 'An ask that is active again, or watches again, catches up with the offers it missed.';
create trigger refresh_ask after update on market.ask for each row
  when (new.status = 'active' and new.read_at is not null
    and (old.status <> 'active' or new.watch_enabled and not old.watch_enabled))
  execute function market.refresh_ask();
--! EndIncluded market/ask.sql
--! Included market/embedding.sql
-- Vectors, each with the model that made it: only vectors of the model in force are ever compared.

create table market.embedding_model (
  model text constraint embedding_model_pkey primary key,
  search_floor real not null default 0.25,
  match_floor real not null default 0.35,
  constraint embedding_model_model_length check (char_length(model) between 1 and 100),
  constraint embedding_model_floors check (search_floor between 0 and 1 and match_floor between 0 and 1)
);
comment on table market.embedding_model is 'One row is one model, with the cosine similarities below which its vectors say nothing.';
comment on column market.embedding_model.model is 'The name that stands beside each vector.';
comment on column market.embedding_model.search_floor is 'An offer less similar to a query is not found by its vector.';
comment on column market.embedding_model.match_floor is 'An offer less similar to an ask does not match it by its vector.';
insert into market.embedding_model (model, search_floor, match_floor) values
  ('builtin-hash-1', 0.20, 0.20),
  ('text-embedding-3-small', 0.30, 0.40),
  ('text-embedding-3-large', 0.30, 0.40);

create table market.offer_embedding (
  offer_id uuid constraint offer_embedding_pkey primary key
    constraint offer_embedding_offer_fkey references market.offer on delete cascade,
  model text not null constraint offer_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512) not null,
  constraint offer_embedding_model_length check (char_length(model) <= 100)
);
create index offer_embedding_model_idx on market.offer_embedding (model);
create index offer_embedding_hnsw_idx on market.offer_embedding using hnsw (embedding public.halfvec_cosine_ops);
comment on table market.offer_embedding is 'One row is the vector of one offer.';
comment on column market.offer_embedding.offer_id is 'The offer.';
comment on column market.offer_embedding.model is 'Who made the vector.';
comment on column market.offer_embedding.embedding is 'Unit length, 512 dimensions.';

create table market.ask_embedding (
  ask_id uuid constraint ask_embedding_pkey primary key
    constraint ask_embedding_ask_fkey references market.ask on delete cascade,
  model text not null constraint ask_embedding_model_fkey references market.embedding_model on delete restrict,
  embedding public.halfvec(512) not null,
  constraint ask_embedding_model_length check (char_length(model) <= 100)
);
create index ask_embedding_model_idx on market.ask_embedding (model);
comment on table market.ask_embedding is 'One row is the vector of one ask.';
comment on column market.ask_embedding.ask_id is 'The ask.';
comment on column market.ask_embedding.model is 'Who made the vector.';
comment on column market.ask_embedding.embedding is 'Unit length, 512 dimensions.';

alter table market.embedding_model enable row level security;
alter table market.embedding_model force row level security;
alter table market.offer_embedding enable row level security;
alter table market.offer_embedding force row level security;
alter table market.ask_embedding enable row level security;
alter table market.ask_embedding force row level security;
create policy "the owner sees all" on market.embedding_model to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.offer_embedding to souk_owner using (true) with check (true);
create policy "the owner sees all" on market.ask_embedding to souk_owner using (true) with check (true);

create function market.unit_vector(embedding text) returns public.halfvec
  language plpgsql immutable set search_path = ''
as $$
declare
  vector public.halfvec(512);
begin
  if embedding is null then
    return null;
  end if;
  -- The type itself refuses another size, NaN and infinity.
  vector := embedding::public.halfvec(512);
  if public.l2_norm(vector) < 0.5 or public.l2_norm(vector) > 1.5 then
    return null;
  end if;
  return vector;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
comment on function market.unit_vector(text) is
  'A vector of 512 finite numbers and about unit length, or null: what is not one is never stored or compared.';
--! EndIncluded market/embedding.sql
--! Included market/match.sql
-- One row says that an offer answers an ask.

create table market.match (
  ask_id uuid not null constraint match_ask_fkey references market.ask on delete cascade,
  offer_id uuid not null constraint match_offer_fkey references market.offer on delete cascade,
  sequence bigint generated always as identity,
  score real not null,
  reasons jsonb not null,
  first_matched_at timestamptz not null default clock_timestamp(),
  constraint match_pkey primary key (ask_id, offer_id),
  constraint match_score_range check (score between 0 and 1)
);
create index match_offer_id_idx on market.match (offer_id);
create index match_best_idx on market.match (ask_id, score desc, offer_id);
comment on table market.match is 'One row says that an offer answers an ask, how well and why.';
comment on column market.match.ask_id is 'The ask.';
comment on column market.match.offer_id is 'The offer.';
comment on column market.match.sequence is 'Grows with each new match of an ask, in the order of commits: what "since" compares.';
comment on column market.match.score is '0 to 1.';
comment on column market.match.reasons is 'Per criterion the verdict: met, violated or unknown, with what was wanted and found.';
comment on column market.match.first_matched_at is 'When it was first found.';

alter table market.match enable row level security;
alter table market.match force row level security;
create policy "the owner sees all" on market.match to souk_owner using (true) with check (true);
create policy "an account sees the matches of its asks" on market.match for select to souk_agent, souk_person
  using (exists (select from market.ask a where a.id = ask_id));
grant select on market.match to souk_agent, souk_person;
--! EndIncluded market/match.sql
--! Included market/report.sql
-- One row is one report: an account asks a moderator to look at an offer.

create table market.report (
  id uuid default market.uuid_v7() constraint report_pkey primary key,
  offer_id uuid not null constraint report_offer_fkey references market.offer on delete cascade,
  account_id uuid not null constraint report_account_fkey references market.account on delete cascade,
  agent_id uuid constraint report_agent_fkey references market.agent on delete set null,
  reason text not null,
  comment text,
  created_at timestamptz not null default now(),
  -- One voice an account, however often it calls.
  constraint report_once unique (offer_id, account_id),
  constraint report_reason_known check (reason in ('prohibited_item', 'scam', 'spam', 'duplicate', 'wrong_category',
    'personal_data', 'adult_content', 'minor_safety', 'hate', 'counterfeit', 'addresses_agents', 'other')),
  constraint report_comment_length check (char_length(comment) between 1 and 1000)
);
create index report_account_id_idx on market.report (account_id);
create index report_agent_id_idx on market.report (agent_id);
comment on table market.report is 'One row is one report of an offer to the moderators.';
comment on column market.report.id is 'UUIDv7.';
comment on column market.report.offer_id is 'What is reported.';
comment on column market.report.account_id is 'By whom.';
comment on column market.report.agent_id is 'Through which agent.';
comment on column market.report.reason is 'Why, as a code.';
comment on column market.report.comment is 'Why, in words.';
comment on column market.report.created_at is 'When.';

alter table market.report enable row level security;
alter table market.report force row level security;
create policy "the owner sees all" on market.report to souk_owner using (true) with check (true);
create policy "an account sees its reports" on market.report for select to souk_agent, souk_person
  using (account_id = (select market.account_id()));
create policy "an agent reports what it can see" on market.report for insert to souk_agent
  with check (account_id = (select market.account_id()) and agent_id = (select market.agent_id())
    and exists (select from market.offer o where o.id = offer_id and o.status = 'published'));
grant select, insert (id, offer_id, account_id, agent_id, reason, comment) on market.report to souk_agent;
--! EndIncluded market/report.sql

-- Limits, keys, and texts on their way
--! Included market/call.sql
-- The rolling window: one row is one counted call. A call is admitted under an advisory lock of its scope and action, so
-- that two hundred at once never pass the cap by one. All time is the database's.

create table market.call (
  id bigint generated always as identity constraint call_pkey primary key,
  scope text not null,
  action text not null,
  called_at timestamptz not null default clock_timestamp(),
  constraint call_scope_length check (char_length(scope) between 1 and 60),
  constraint call_action_length check (char_length(action) between 1 and 40)
);
create index call_scope_action_called_at_idx on market.call (scope, action, called_at);
create index call_called_at_idx on market.call (called_at);
comment on table market.call is 'One row is one counted call within the last day: the rolling windows count these.';
comment on column market.call.id is 'Order of admission.';
comment on column market.call.scope is 'Whose window: agent:<id> or address:<network>.';
comment on column market.call.action is 'publish_offer, create_ask, preview_offer, connect or decline.';
comment on column market.call.called_at is 'When it was admitted.';

alter table market.call enable row level security;
alter table market.call force row level security;
create policy "the owner sees all" on market.call to souk_owner using (true) with check (true);

create function market.window_figures(scope text, action text, cap integer, span interval default '1 hour')
  returns jsonb
  language sql volatile security definer set search_path = ''
as $$
  -- resets_in is until the oldest counted call leaves, rounded up: whoever waits that long finds a slot.
  select jsonb_build_object(
    'limit', window_figures.cap,
    'used', count(*),
    'remaining', greatest(window_figures.cap - count(*), 0),
    'resets_in', greatest(coalesce(ceil(extract(epoch from
      min(c.called_at) + window_figures.span - clock_timestamp())), 0), 0)::integer)
  from market.call c
  where c.scope = window_figures.scope and c.action = window_figures.action
    and c.called_at > clock_timestamp() - window_figures.span
$$;
comment on function market.window_figures(text, text, integer, interval) is
  'What a window holds now: limit, used, remaining, and resets_in, the whole seconds until its oldest call leaves it.';

create function market.lock_window(scope text, action text) returns void
  language sql volatile
as $$ select pg_advisory_xact_lock(hashtextextended(lock_window.scope || ' ' || lock_window.action, 0)) $$;
comment on function market.lock_window(text, text) is
  'Makes calls of one scope and action wait for each other until the transaction ends.';

create function market.rate_headers(figures jsonb) returns jsonb
  language sql immutable
as $$
  select jsonb_build_object(
    'RateLimit-Limit', figures -> 'limit',
    'RateLimit-Remaining', figures -> 'remaining',
    'RateLimit-Reset', figures -> 'resets_in')
$$;
comment on function market.rate_headers(jsonb) is 'The figures of a window as the response headers of the contract.';
--! EndIncluded market/call.sql
--! Included market/call_cap.sql
-- How many calls an hour an account's agents have: caps rise with the record and fall with removals.

create function market.call_cap(account_id uuid, action text) returns integer
  language sql stable security definer set search_path = ''
as $$
  with terms as (
    -- base: offers cost readers' attention, asks only machine time, hence twice as many, and every term doubled.
    select case call_cap.action when 'publish_offer' then 60 else 120 end as base,
      case call_cap.action when 'publish_offer' then 1 else 2 end as factor,
      (select count(*) from (
        select from market.offer o
        where o.account_id = call_cap.account_id and o.status in ('published', 'archived')
          and o.published_at <= now() - interval '72 hours'
        limit 60) as settled) as settled,
      (select count(*) from market.proved_method m where m.account_id = call_cap.account_id) as proved,
      (select a.created_at <= now() - interval '30 days' from market.account a where a.id = call_cap.account_id) as old,
      (select count(*) from (
        select from market.offer o
        where o.account_id = call_cap.account_id and o.status = 'removed' and o.removed_at > now() - interval '30 days'
        limit 10) as removals) as removed
  )
  select greatest(
    least(base + factor * (4 * settled + 30 * proved + case when old then 60 else 0 end), 10 * base) / 2 ^ removed,
    base / 4)::integer
  from terms
$$;
comment on function market.call_cap(uuid, text) is
  'Calls an hour: base + 4 x min(settled offers, 60) + 30 x proved methods + 60 after 30 days, at most 10 x base; each removal of the last 30 days halves it, not below base / 4. Terms are doubled for asks and previews.';
grant execute on function market.call_cap(uuid, text) to souk_agent, souk_person;
--! EndIncluded market/call_cap.sql
--! Included market/own_figures.sql
-- The caller's own windows: the same figures in GET /v1/me and in the headers.

create function market.own_figures(action text) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if market.agent_id() is null then
    perform market.fail(401, 'unauthorized', 'Call as an agent.');
  end if;
  return market.window_figures('agent:' || market.agent_id(), own_figures.action,
    market.call_cap(market.account_id(), own_figures.action));
end
$$;
comment on function market.own_figures(text) is 'limit, used, remaining and resets_in of the calling agent for an action.';
grant execute on function market.own_figures(text) to souk_agent;
--! EndIncluded market/own_figures.sql
--! Included market/submission.sql
-- One row is one request whose text is read by the worker: it waits here, and its answer is kept here. With it the
-- idempotency keys: the row that holds a key is the lock, and its answer is its submission's.

create table market.submission (
  id uuid default market.uuid_v7() constraint submission_pkey primary key,
  kind text not null,
  account_id uuid not null constraint submission_account_fkey references market.account on delete cascade,
  agent_id uuid not null constraint submission_agent_fkey references market.agent on delete cascade,
  target_id uuid,
  origin_ask_id uuid,
  text text not null,
  images text[] not null default '{}',
  created_at timestamptz not null default now(),
  settled_at timestamptz,
  status smallint,
  body jsonb,
  constraint submission_kind_known
    check (kind in ('publish_offer', 'update_offer', 'preview_offer', 'create_ask', 'update_ask')),
  constraint submission_text_length check (char_length(text) between 1 and 4000),
  constraint submission_images_count check (cardinality(images) <= 16),
  constraint submission_answer_whole check ((settled_at is null) = (status is null)),
  constraint submission_status_form check (status between 200 and 599)
);
create index submission_account_id_idx on market.submission (account_id);
create index submission_agent_id_idx on market.submission (agent_id);
create index submission_created_at_idx on market.submission (created_at);
comment on table market.submission is 'One row is one text being read, or read within the last day, with the answer its caller got.';
comment on column market.submission.id is 'UUIDv7; the worker''s job carries only this.';
comment on column market.submission.kind is 'What is to become of the text.';
comment on column market.submission.account_id is 'Whose text.';
comment on column market.submission.agent_id is 'Who sent it.';
comment on column market.submission.target_id is 'The offer or ask that is created or changed.';
comment on column market.submission.origin_ask_id is 'The ask that an offer answers.';
comment on column market.submission.text is 'The text, NFC.';
comment on column market.submission.images is 'Image links of an offer.';
comment on column market.submission.created_at is 'When it was admitted.';
comment on column market.submission.settled_at is 'When its answer was decided; null while it waits to be read.';
comment on column market.submission.status is 'HTTP status of the answer; 503 when it was withdrawn.';
comment on column market.submission.body is 'Body of the answer; of a Problem, the members that the database knows.';

alter table market.submission enable row level security;
alter table market.submission force row level security;
create policy "the owner sees all" on market.submission to souk_owner using (true) with check (true);
create policy "an agent sees its submissions" on market.submission for select to souk_agent
  using (agent_id = (select market.agent_id()));
create policy "a connected agent submits for its account" on market.submission for insert to souk_agent
  with check (agent_id = (select market.agent_id()) and account_id = (select market.account_id())
    and settled_at is null and ((select market.connected()) or kind = 'preview_offer'));
grant select on market.submission to souk_agent;
grant insert (id, kind, account_id, agent_id, target_id, origin_ask_id, text, images) on market.submission to souk_agent;

create table market.idempotency_key (
  agent_id uuid not null constraint idempotency_key_agent_fkey references market.agent on delete cascade,
  key text not null,
  request_hash bytea not null,
  submission_id uuid constraint idempotency_key_submission_fkey references market.submission on delete cascade,
  created_at timestamptz not null default now(),
  constraint idempotency_key_pkey primary key (agent_id, key),
  constraint idempotency_key_form check (key ~ '^[\x20-\x7e]{1,255}$'),
  constraint idempotency_key_request_hash_is_sha256 check (octet_length(request_hash) = 32)
);
create index idempotency_key_submission_id_idx on market.idempotency_key (submission_id);
create index idempotency_key_created_at_idx on market.idempotency_key (created_at);
comment on table market.idempotency_key is 'One row is one Idempotency-Key of the last 24 hours.';
comment on column market.idempotency_key.agent_id is 'Whose key; two agents with the same key do not meet.';
comment on column market.idempotency_key.key is 'The key as sent.';
comment on column market.idempotency_key.request_hash is 'SHA-256 of method, path and body: the same key with another request is refused.';
comment on column market.idempotency_key.submission_id is 'Whose answer a retry replays.';
comment on column market.idempotency_key.created_at is 'Forgotten 24 hours later.';

alter table market.idempotency_key enable row level security;
alter table market.idempotency_key force row level security;
create policy "the owner sees all" on market.idempotency_key to souk_owner using (true) with check (true);
--! EndIncluded market/submission.sql
--! Included market/admit.sql
-- Admitting a call that costs: the key first (a replay or a conflict is not counted), then the cap, then what is wrong
-- with the fields, and only then it counts.

create function market.admit(action text, idempotency_key text, request_hash bytea, errors jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  caller uuid := market.agent_id();
  scope text := 'agent:' || caller;
  cap integer;
  figures jsonb;
  held record;
begin
  if caller is null then
    perform market.fail(401, 'unauthorized', 'Call as an agent.');
  end if;
  cap := market.call_cap(market.account_id(), admit.action);

  if admit.idempotency_key is not null then
    delete from market.idempotency_key k
    where k.agent_id = caller and k.key = admit.idempotency_key and k.created_at <= now() - interval '24 hours';
    insert into market.idempotency_key (agent_id, key, request_hash)
    values (caller, admit.idempotency_key, admit.request_hash)
    on conflict do nothing;
    if not found then
      figures := market.window_figures(scope, admit.action, cap);
      select k.request_hash, s.status, s.body into held
      from market.idempotency_key k left join market.submission s on s.id = k.submission_id
      where k.agent_id = caller and k.key = admit.idempotency_key;
      if held.request_hash is distinct from admit.request_hash then
        perform market.fail(409, 'idempotency_key_reused',
          'This Idempotency-Key was used with another request. Use a new key for a new request, or repeat the first one exactly.',
          jsonb_build_object('headers', market.rate_headers(figures)));
      elsif held.status is null then
        perform market.fail(409, 'idempotency_in_flight',
          'The first request with this Idempotency-Key is still being answered. Repeat it with the same key in a second.',
          jsonb_build_object('retry_after', 1, 'headers', market.rate_headers(figures)));
      end if;
      return jsonb_build_object('status', held.status, 'body', held.body,
        'headers', market.rate_headers(figures) || '{"Idempotency-Replayed": "true"}');
    end if;
  end if;

  perform market.lock_window(scope, admit.action);
  figures := market.window_figures(scope, admit.action, cap);
  if (figures ->> 'remaining')::integer = 0 then
    perform market.fail(429, 'rate_limited',
      format('This agent has used its %s calls of this hour. Wait %s seconds, then try again.',
        cap, greatest((figures ->> 'resets_in')::integer, 1)),
      jsonb_build_object('retry_after', greatest((figures ->> 'resets_in')::integer, 1),
        'headers', market.rate_headers(figures)));
  end if;
  if jsonb_array_length(admit.errors) > 0 then
    perform market.fail_fields(admit.errors, market.rate_headers(figures));
  end if;
  insert into market.call (scope, action) values (scope, admit.action);
  return jsonb_build_object('headers', market.rate_headers(market.window_figures(scope, admit.action, cap)));
end
$$;
comment on function market.admit(text, text, bytea, jsonb) is
  'Counts a call of the entered agent, or refuses it (409, 429, 400 in this order), or gives the answer to replay: status, body. Always gives headers.';
grant execute on function market.admit(text, text, bytea, jsonb) to souk_agent;

create function market.fail_fields(errors jsonb, headers jsonb default '{}') returns void
  language plpgsql volatile
as $$
begin
  perform market.fail(400, 'bad_request',
    case when jsonb_array_length(errors) = 1 then errors -> 0 ->> 'detail'
      else format('%s members of the request need fixing: %s', jsonb_array_length(errors),
        (select string_agg(e ->> 'detail', ' ') from jsonb_array_elements(errors) with ordinality as t (e, n) where n <= 3)) end,
    jsonb_build_object('errors', errors, 'headers', headers));
end
$$;
comment on function market.fail_fields(jsonb, jsonb) is
  'Refuses with 400 bad_request and the given errors: [{pointer, detail}].';
grant execute on function market.fail_fields(jsonb, jsonb) to souk_api, souk_agent, souk_person;

create function market.hold_answer(idempotency_key text, submission_id uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  update market.idempotency_key k set submission_id = hold_answer.submission_id
  where k.agent_id = market.agent_id() and k.key = hold_answer.idempotency_key and k.submission_id is null
    and exists (select from market.submission s where s.id = hold_answer.submission_id and s.agent_id = market.agent_id());
end
$$;
comment on function market.hold_answer(text, uuid) is 'Ties the caller''s key to the submission whose answer it replays.';
grant execute on function market.hold_answer(text, uuid) to souk_agent;
--! EndIncluded market/admit.sql
--! Included market/enqueue.sql
-- Work for the worker: jobs carry ids and nothing else, and the same work asked twice is one job.

create function market.enqueue(task text, id uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- Eight attempts with graphile-worker's exponential backoff are about an hour.
  perform graphile_worker.add_job(enqueue.task, json_build_object('id', enqueue.id),
    job_key => enqueue.task || ':' || enqueue.id, max_attempts => 8);
end
$$;
comment on function market.enqueue(text, uuid) is 'Gives the worker a job about one row. For the market''s own functions.';

create function market.enqueue_reading() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform market.enqueue('read_submission', new.id);
  return new;
end
$$;
comment on function market.enqueue_reading() is 'Every submission is read.';
create trigger enqueue_reading after insert on market.submission
  for each row execute function market.enqueue_reading();
--! EndIncluded market/enqueue.sql
--! Included market/offer_moves.sql
-- The moves of an offer, and what follows from each.
--
--   published        -> archived, removed
--   archived         -> published, removed
--   removed          -> published                       (a moderator restores)
--   pending_review   -> published, rejected, archived

create function market.move_offer() returns trigger
  language plpgsql volatile
as $$
begin
  if old.status <> new.status and (old.status, new.status) not in (
    ('published', 'archived'), ('published', 'removed'),
    ('archived', 'published'), ('archived', 'removed'),
    ('removed', 'published'),
    ('pending_review', 'published'), ('pending_review', 'rejected'), ('pending_review', 'archived'))
    -- Only a moderator restores, publishes what waits, takes down or rejects.
    or old.status <> new.status and current_user in ('souk_agent', 'souk_person') and (old.status, new.status) not in (
      ('published', 'archived'), ('archived', 'published'), ('pending_review', 'archived'))
    -- What never passed review does not go live by way of the archive.
    or old.status = 'archived' and new.status = 'published' and old.published_at is null
  then
    perform market.fail(409, 'invalid_state',
      format('This offer is %s, so it cannot become %s.', old.status, new.status));
  end if;
  new.updated_at := now();
  if new.status = 'published' then
    new.published_at := coalesce(old.published_at, now());
  elsif new.status = 'removed' and old.status <> 'removed' then
    new.removed_at := now();
  end if;
  return new;
end
$$;
comment on function market.move_offer() is 'Lets an offer move only as the contract says, and keeps its times.';
grant execute on function market.move_offer() to souk_agent, souk_person;
create trigger move_offer before update on market.offer for each row execute function market.move_offer();

create function market.count_offer() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  was market.offer := case when tg_op <> 'INSERT' then old end;
  becomes market.offer := case when tg_op <> 'DELETE' then new end;
begin
  update market.publisher p set
    active = p.active + coalesce((becomes.status = 'published')::integer, 0) - coalesce((was.status = 'published')::integer, 0),
    lifetime = p.lifetime + coalesce((becomes.published_at is not null)::integer, 0) - coalesce((was.published_at is not null)::integer, 0),
    removed = p.removed + coalesce((becomes.status = 'removed')::integer, 0) - coalesce((was.status = 'removed')::integer, 0),
    last_active_at = case when market.account_id() = p.account_id or tg_op = 'INSERT' then now() else p.last_active_at end
  where p.account_id = coalesce(becomes.account_id, was.account_id);
  return null;
end
$$;
comment on function market.count_offer() is 'Keeps the publisher''s record equal to a count of its offers.';
create trigger count_new_offer after insert or delete on market.offer for each row execute function market.count_offer();
create trigger count_moved_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.published_at is distinct from new.published_at)
  execute function market.count_offer();

create function market.refresh_offer() returns trigger
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if new.status = 'published' then
    perform market.enqueue('embed_offer', new.id);
  else
    delete from market.match m where m.offer_id = new.id;
  end if;
  return null;
end
$$;
comment on function market.refresh_offer() is 'A live offer is embedded and matched; one that is not live matches nothing.';
create trigger refresh_new_offer after insert on market.offer for each row execute function market.refresh_offer();
create trigger refresh_changed_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.text is distinct from new.text or old.title is distinct from new.title)
  execute function market.refresh_offer();
--! EndIncluded market/offer_moves.sql

-- Rules of reading, showing, finding and matching
--! Included market/page.sql
-- Lists are read page by page; a cursor is opaque to clients and holds the sort key of the last row shown.

create function market.cursor_of(place jsonb) returns text
  language sql immutable parallel safe
as $$
  select translate(encode(convert_to(place::text, 'UTF8'), 'base64'), E'+/=\n', '-_')
$$;
comment on function market.cursor_of(jsonb) is 'A position in a list as an opaque cursor (base64url).';

create function market.position_of(cursor text, list text) returns jsonb
  language plpgsql stable
as $$
declare
  found jsonb;
begin
  if cursor is null then
    return null;
  end if;
  begin
    found := convert_from(decode(
      translate(cursor, '-_', '+/') || repeat('=', (4 - length(cursor) % 4) % 4), 'base64'), 'UTF8')::jsonb;
  exception when others then
    found := null;
  end;
  if jsonb_typeof(found) is distinct from 'object' or found ->> 'list' is distinct from position_of.list then
    perform market.fail_fields(jsonb_build_array(jsonb_build_object('pointer', '/cursor',
      'detail', 'The cursor does not belong to this list. Send the next_cursor of an answer to the same request, or none to start.')));
  end if;
  return found;
end
$$;
comment on function market.position_of(text, text) is
  'What a cursor of this list holds; 400 when it is not one. The list is named by what must stay the same between pages.';

create function market.page(cursor jsonb, more boolean) returns jsonb
  language sql immutable parallel safe
as $$
  select jsonb_build_object('next_cursor', case when more then to_jsonb(market.cursor_of(cursor)) else 'null' end,
    'has_more', more)
$$;
comment on function market.page(jsonb, boolean) is 'The page member of an answer: {next_cursor, has_more}.';
grant execute on function market.cursor_of(jsonb), market.position_of(text, text), market.page(jsonb, boolean)
  to souk_agent, souk_person;
--! EndIncluded market/page.sql
--! Included market/documents.sql
-- Offers and asks as clients see them.

create function market.utc(moment timestamptz) returns text
  language sql stable parallel safe
as $$ select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
comment on function market.utc(timestamptz) is 'RFC 3339 in UTC with Z.';

create function market.utc_month(moment timestamptz) returns text
  language sql stable parallel safe
as $$ select to_char(moment at time zone 'UTC', 'YYYY-MM') $$;
comment on function market.utc_month(timestamptz) is 'The month in UTC.';

create function market.publisher_record(account_id uuid) returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'verified', exists (select from market.proved_method m where m.account_id = p.account_id),
    'member_since', market.utc_month(a.created_at),
    'last_active', market.utc_month(p.last_active_at),
    'offers', jsonb_build_object('active', p.active, 'lifetime', p.lifetime, 'removed', p.removed))
  from market.publisher p join market.account a on a.id = p.account_id
  where p.account_id = publisher_record.account_id
$$;
comment on function market.publisher_record(uuid) is
  'What an account has done, as others see it: never who it is; null when the account no longer exists.';

create function market.preview(offer market.offer) returns jsonb
  language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'headline', offer.title,
    'snippet', left(regexp_replace(offer.text, '\s+', ' ', 'g'), 200),
    'price_label', offer.metadata -> 'pricing' -> 'label',
    'location_label', offer.location_text))
$$;
comment on function market.preview(market.offer) is 'An offer in four lines: headline, snippet, price_label, location_label.';

create function market.search_result(offer market.offer) returns jsonb
  language sql stable
as $$
  select jsonb_build_object(
    'id', offer.id,
    'document', jsonb_build_object('title', offer.title, 'description', offer.text,
      'location', offer.location_text, 'language', offer.language),
    'metadata', nullif(offer.metadata, '{}'),
    'content', jsonb_build_object(
      'preview', market.preview(offer),
      'contact', offer.contact,
      'images', (select coalesce(jsonb_agg(jsonb_build_object('url', i.url) order by i.n), '[]')
        from unnest(offer.images) with ordinality as i (url, n))),
    'reviewed', offer.reviewed)
    || coalesce(jsonb_build_object('posted', to_char(offer.published_at at time zone 'UTC', 'YYYY-MM-DD')), '{}')
    || coalesce(jsonb_build_object('publisher', p.record), '{}')
  from (select market.publisher_record(offer.account_id) as record) p
$$;
comment on function market.search_result(market.offer) is 'A published offer as a SearchResult, without score and rank.';

create function market.owner_offer(offer market.offer) returns jsonb
  language sql stable
as $$
  select jsonb_build_object(
    'id', offer.id,
    'status', offer.status,
    'visibility', case offer.status when 'published' then 'public' else 'owner_only' end,
    'review', coalesce(offer.review_note, case offer.status
      when 'published' then 'This offer is live: anyone can find it.'
      when 'pending_review' then 'A moderator will look at this offer before it goes live; nothing has to be done.'
      when 'rejected' then 'A moderator decided that this offer does not go live.'
      when 'archived' then 'You took this offer down. It can be republished.'
      when 'removed' then 'Moderation took this offer down; it cannot be republished.'
      else 'This offer is not finished.' end),
    'title', offer.title,
    'description', offer.text,
    'domain', offer.domain,
    'category', offer.category,
    'offer_kind', offer.offer_kind,
    'metadata', offer.metadata,
    'preview', market.preview(offer),
    'contact', offer.contact,
    'images', (select coalesce(jsonb_agg(jsonb_build_object('url', i.url) order by i.n), '[]')
      from unnest(offer.images) with ordinality as i (url, n)),
    'missing_fields', to_jsonb(offer.missing_fields),
    'published_at', market.utc(offer.published_at),
    'created_at', market.utc(offer.created_at),
    'updated_at', market.utc(offer.updated_at))
$$;
comment on function market.owner_offer(market.offer) is 'An offer as its owner sees it.';

create function market.ask_document(ask market.ask) returns jsonb
  language sql stable
as $$
  select jsonb_build_object(
    'id', ask.id,
    'status', ask.status,
    'watch_enabled', ask.watch_enabled,
    'text', ask.text,
    'title', ask.title,
    'domain', ask.domain,
    'category', ask.category,
    'ask_kind', ask.ask_kind,
    'criteria', ask.criteria,
    'created_at', market.utc(ask.created_at),
    'updated_at', market.utc(ask.updated_at))
$$;
comment on function market.ask_document(market.ask) is 'An ask as its owner sees it.';

grant execute on function market.utc(timestamptz), market.utc_month(timestamptz), market.publisher_record(uuid),
  market.preview(market.offer), market.search_result(market.offer), market.owner_offer(market.offer),
  market.ask_document(market.ask) to souk_agent, souk_person;
--! EndIncluded market/documents.sql
--! Included market/grounding.sql
-- Nothing is published that the text does not say: a value counts only when its quote stands in the text, where the
-- reading says it stands, and states the value. Both makers' readings are held to this.

create function market.is_quoted(text text, field jsonb) returns boolean
  language sql immutable
as $$
  select coalesce(
    substr(text, (field ->> 'start')::integer, (field ->> 'end')::integer - (field ->> 'start')::integer)
      = field ->> 'quote', false)
$$;
comment on function market.is_quoted(text, jsonb) is 'Whether substr(text, start, end - start) = quote: offsets in code points, start counted from 1, end exclusive.';

create function market.states_amount(quote text, amount numeric) returns boolean
  language sql immutable
as $$
  -- The digits of the quote, separators taken out, are the amount, or it in hundredths or tenths ("1,5"), or, beside a
  -- word for thousands or millions, it without its zeros.
  select amount = 0 and quote !~ '[1-9]' or exists (
    select
    from regexp_matches(quote, '\d(?:[\d.,''’   ]*\d)?', 'g') as m (number),
    lateral (select regexp_replace(m.number[1], '\D', '', 'g') as joined) as j,
    lateral unnest(array[j.joined] || regexp_split_to_array(m.number[1], '\D+')) as d (digits)
    where d.digits <> '' and length(d.digits) <= 15 and (
      d.digits::numeric in (amount, amount * 10, amount * 100)
      or quote ~* '\d\s*(k|grand|m|mil|mille|mila|mln|mio|million|millions|tsd|tausend|duizend|tys|thousand|lakh|lac)\M'
        and amount > 0 and rtrim(d.digits, '0') <> ''
        and ltrim(rtrim(d.digits, '0'), '0') = ltrim(rtrim(replace(amount::text, '.', ''), '0'), '0')))
$$;
comment on function market.states_amount(text, numeric) is 'Whether a quote states an amount: its digits, with k, grand, mil and the like as factors; no digits for 0.';

create function market.states_contact(quote text, method jsonb) returns boolean
  language sql immutable
as $$
  select case
    when method ->> 'type' = 'email' then
      not exists (
        select from regexp_split_to_table(market.fold(method ->> 'value'), '[^[:alnum:]]+') as piece
        where position(piece in market.fold(quote)) = 0)
    when method ->> 'type' = 'url' then
      position(rtrim(regexp_replace(lower(method ->> 'value'), '^https?://(www\.)?', ''), '/') in lower(quote)) > 0
    else
      length(regexp_replace(method ->> 'value', '\D', '', 'g')) >= 5
      and position(right(regexp_replace(method ->> 'value', '\D', '', 'g'), 6)
        in regexp_replace(quote, '\D', '', 'g')) > 0
  end
$$;
comment on function market.states_contact(text, jsonb) is
  'Whether a quote states a way to be reached: every piece of an e-mail address, the address of a link, the last six digits of a number.';

create function market.states_title(text text, title text) returns boolean
  language sql immutable
as $$
  select not exists (
    select from regexp_split_to_table(market.fold(title), '[^[:alnum:]]+') as word
    where word <> '' and position(word in market.fold(text)) = 0)
$$;
comment on function market.states_title(text, text) is 'Whether every word of a title stands in the text.';

create function market.contains_secret(text text) returns text
  language plpgsql immutable
as $$
declare
  digits text;
  total integer;
begin
  if text ~ 'agt_[0-9A-Za-z]{49}' then
    return 'The text contains an agent token. Take it out, and since it has been shown, remove that agent and connect a new one.';
  end if;
  -- Card numbers: 15 digits of American Express or 16 of the others, in groups or not, right by Luhn's formula (ISO/IEC 7812-1).
  for digits in
    select regexp_replace(m[1], '\D', '', 'g')
    from regexp_matches(text, '(?<![\d+])(\d(?:[ -]?\d){14,15})(?![ -]?\d)', 'g') as m
  loop
    if digits ~ '^(3[47]\d{13}|4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|6(011|5\d\d)\d{12}|35\d{14})$' then
      select sum(case when n % 2 = 1 then d else d * 2 - case when d > 4 then 9 else 0 end end) into total
      from (select substr(reverse(digits), n, 1)::integer as d, n from generate_series(1, length(digits)) as n) as luhn;
      if total % 10 = 0 then
        return 'The text contains a payment card number. Take it out, and tell the person to have the card replaced.';
      end if;
    end if;
  end loop;
  return null;
end
$$;
comment on function market.contains_secret(text) is
  'What to do about a secret pasted into a text (an agent token, a payment card number), or null when there is none.';
grant execute on function market.contains_secret(text) to souk_agent;
--! EndIncluded market/grounding.sql
--! Included market/image_links.sql
-- Images are links; this service never fetches them.

create function market.image_errors(images jsonb) returns jsonb
  language sql immutable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', '/images/' || (i.n - 1), 'detail', i.wrong) order by i.n), '[]')
  from (
    select n, case
        when url ~* '^data:' then 'Images are links: put the image on the web and send its https address instead of its data.'
        when url !~* '^https?://[^\s/?#@:]+(:\d{1,5})?([/?#]\S*)?$' then 'An image must be an absolute https link without spaces.'
        when char_length(url) > 2048 then 'A link may have at most 2,048 characters.'
      end as wrong
    from jsonb_array_elements_text(images) with ordinality as t (url, n)) as i
  where i.wrong is not null
$$;
comment on function market.image_errors(jsonb) is 'What is wrong with image links: [{pointer, detail}].';

create function market.image_links(images jsonb) returns text[]
  language sql immutable
as $$
  select coalesce(array_agg(first.url order by first.n), '{}')
  from (select url, min(n) as n from jsonb_array_elements_text(images) with ordinality as t (url, n) group by url) as first
$$;
comment on function market.image_links(jsonb) is 'The links in order, duplicates dropped.';

create function market.image_warnings(images text[]) returns text[]
  language sql immutable
as $$
  select case when exists (select from unnest(images) as url where url ~* '^http:')
    then array['An image link uses http; many clients will not show it. Use https.'] else '{}' end
$$;
comment on function market.image_warnings(text[]) is 'What is not wrong with image links but should be better.';
grant execute on function market.image_errors(jsonb), market.image_links(jsonb), market.image_warnings(text[]) to souk_agent;
--! EndIncluded market/image_links.sql
--! Included market/questions.sql
-- What to ask the person about a text that leaves something unclear, in the language of the text where we speak it.

create table market.question (
  field text not null,
  language text not null,
  question text not null,
  constraint question_pkey primary key (field, language),
  constraint question_field_length check (char_length(field) between 1 and 40),
  constraint question_language_length check (char_length(language) between 2 and 20),
  constraint question_question_length check (char_length(question) between 1 and 300)
);
comment on table market.question is 'One row is one question about a field, in one language.';
comment on column market.question.field is 'A member of missing_fields.';
comment on column market.question.language is 'BCP 47.';
comment on column market.question.question is 'The question, for the person.';
alter table market.question enable row level security;
alter table market.question force row level security;
create policy "the owner sees all" on market.question to souk_owner using (true) with check (true);

insert into market.question (field, language, question) values
  ('contact', 'en', 'How can people reach you: by phone, e-mail or a link?'),
  ('price', 'en', 'What does it cost, and in which currency?'),
  ('location', 'en', 'Where is it?'),
  ('offer_kind', 'en', 'Is it for sale, for rent, a service, a job, or a meeting?'),
  ('category', 'en', 'What exactly is it?'),
  ('domain', 'en', 'What is it about?'),
  ('contact', 'de', 'Wie sind Sie erreichbar: per Telefon, E-Mail oder Link?'),
  ('price', 'de', 'Was kostet es, und in welcher Währung?'),
  ('location', 'de', 'Wo ist es?'),
  ('offer_kind', 'de', 'Wird es verkauft, vermietet, ist es eine Dienstleistung, eine Stelle oder ein Treffen?'),
  ('category', 'de', 'Was genau ist es?'),
  ('domain', 'de', 'Worum geht es?'),
  ('contact', 'fr', 'Comment vous joindre : par téléphone, e-mail ou lien ?'),
  ('price', 'fr', 'Combien cela coûte-t-il, et dans quelle monnaie ?'),
  ('location', 'fr', 'Où cela se trouve-t-il ?'),
  ('offer_kind', 'fr', 'Est-ce à vendre, à louer, un service, un emploi ou une rencontre ?'),
  ('category', 'fr', 'Qu''est-ce exactement ?'),
  ('domain', 'fr', 'De quoi s''agit-il ?'),
  ('contact', 'es', '¿Cómo se le puede contactar: por teléfono, correo o enlace?'),
  ('price', 'es', '¿Cuánto cuesta y en qué moneda?'),
  ('location', 'es', '¿Dónde está?'),
  ('offer_kind', 'es', '¿Se vende, se alquila, es un servicio, un empleo o un encuentro?'),
  ('category', 'es', '¿Qué es exactamente?'),
  ('domain', 'es', '¿De qué se trata?'),
  ('contact', 'it', 'Come si può contattarla: telefono, e-mail o link?'),
  ('price', 'it', 'Quanto costa, e in quale valuta?'),
  ('location', 'it', 'Dove si trova?'),
  ('offer_kind', 'it', 'È in vendita, in affitto, un servizio, un lavoro o un incontro?'),
  ('category', 'it', 'Che cos''è esattamente?'),
  ('domain', 'it', 'Di che cosa si tratta?'),
  ('contact', 'pt', 'Como pode ser contactado: por telefone, e-mail ou link?'),
  ('price', 'pt', 'Quanto custa, e em que moeda?'),
  ('location', 'pt', 'Onde fica?'),
  ('offer_kind', 'pt', 'É para vender, alugar, um serviço, um emprego ou um encontro?'),
  ('category', 'pt', 'O que é exatamente?'),
  ('domain', 'pt', 'De que se trata?'),
  ('contact', 'nl', 'Hoe bent u bereikbaar: per telefoon, e-mail of link?'),
  ('price', 'nl', 'Wat kost het, en in welke valuta?'),
  ('location', 'nl', 'Waar is het?'),
  ('offer_kind', 'nl', 'Is het te koop, te huur, een dienst, een baan of een ontmoeting?'),
  ('category', 'nl', 'Wat is het precies?'),
  ('domain', 'nl', 'Waar gaat het over?'),
  ('contact', 'pl', 'Jak można się z Państwem skontaktować: telefon, e-mail czy link?'),
  ('price', 'pl', 'Ile to kosztuje i w jakiej walucie?'),
  ('location', 'pl', 'Gdzie to jest?'),
  ('offer_kind', 'pl', 'Czy to sprzedaż, wynajem, usługa, praca czy spotkanie?'),
  ('category', 'pl', 'Co to dokładnie jest?'),
  ('domain', 'pl', 'Czego to dotyczy?');

create function market.questions(missing_fields text[], language text) returns jsonb
  language sql stable
as $$
  -- What it is about covers what exactly it is.
  select coalesce(jsonb_agg(coalesce(own.question, english.question) order by f.n), '[]')
  from unnest(case when 'domain' = any (missing_fields) then array_remove(missing_fields, 'category') else missing_fields end)
    with ordinality as f (field, n)
  left join market.question own on own.field = f.field and own.language = split_part(questions.language, '-', 1)
  join market.question english on english.field = f.field and english.language = 'en'
$$;
comment on function market.questions(text[], text) is 'One question for each missing field, in the language of the text or in English.';
--! EndIncluded market/questions.sql
--! Included market/read_offer.sql
-- From a grounded reading to the columns of an offer: verified, classified within the taxonomy, and what is missing said.

create function market.read_offer(text text, reading jsonb) returns market.offer
  language plpgsql stable security definer set search_path = ''
as $$
declare
  offer market.offer;
  price jsonb := reading -> 'price';
  place jsonb := reading -> 'location';
  contacts jsonb;
  methods jsonb;
begin
  offer.text := read_offer.text;
  offer.language := reading ->> 'language';
  offer.title := left(reading -> 'title' ->> 'value', 120);
  if coalesce(offer.title, '') = '' or not market.states_title(offer.text, offer.title) then
    offer.title := left(btrim(regexp_replace(split_part(btrim(offer.text), E'\n', 1), '\s+', ' ', 'g')), 120);
    offer.extraction := '{}';
  else
    offer.extraction := jsonb_build_object('title', reading -> 'title');
  end if;

  -- A domain, category or kind outside the taxonomy is as good as none.
  select d.domain into offer.domain from market.domain d where d.domain = reading -> 'domain' ->> 'value';
  select c.category into offer.category from market.category c
  where c.domain = offer.domain and c.category = reading -> 'category' ->> 'value';
  offer.offer_kind := reading -> 'offer_kind' ->> 'value';
  if offer.domain is not null and offer.offer_kind is not null
    and not exists (select from market.domain d where d.domain = offer.domain and offer.offer_kind = any (d.kinds)) then
    offer.offer_kind := null;
  end if;
  select offer.extraction || coalesce(jsonb_object_agg(f.name, reading -> f.name), '{}') into offer.extraction
  from (values ('domain', offer.domain), ('category', offer.category), ('offer_kind', offer.offer_kind)) as f (name, value)
  where f.value is not null and market.is_quoted(offer.text, reading -> f.name);

  offer.metadata := '{}';
  if market.is_quoted(offer.text, price)
    and (price -> 'value' ->> 'amount' is null or market.states_amount(price ->> 'quote', (price -> 'value' ->> 'amount')::numeric))
    and (price -> 'value' ->> 'amount_max' is null or market.states_amount(price ->> 'quote', (price -> 'value' ->> 'amount_max')::numeric))
  then
    -- The label is the words as stated, whatever the maker calls them; a deposit may be stated elsewhere, so it must be said.
    price := jsonb_set(price, '{value,label}', to_jsonb(left(price ->> 'quote', 200)));
    if price -> 'value' ->> 'deposit' is not null
      and not market.states_amount(offer.text, (price -> 'value' ->> 'deposit')::numeric) then
      price := price #- '{value,deposit}';
    end if;
    offer.extraction := offer.extraction || jsonb_build_object('price', price);
    offer.metadata := jsonb_build_object('pricing', jsonb_strip_nulls(price -> 'value'));
    offer.price_hundredths := round((price -> 'value' ->> 'amount')::numeric * 100);
    offer.price_currency := price -> 'value' ->> 'currency';
    offer.price_period := price -> 'value' ->> 'period';
  end if;
  if market.is_quoted(offer.text, place)
    and position(market.fold(place -> 'value' ->> 'text') in market.fold(place ->> 'quote')) > 0 then
    offer.extraction := offer.extraction || jsonb_build_object('location', place);
    offer.metadata := offer.metadata || jsonb_build_object('location', jsonb_strip_nulls(place -> 'value'));
    offer.location_text := left(place -> 'value' ->> 'text', 200);
  end if;

  select coalesce(jsonb_agg(c.field order by c.n), '[]') into contacts
  from jsonb_array_elements(coalesce(reading -> 'contacts', '[]')) with ordinality as c (field, n)
  where market.is_quoted(offer.text, c.field) and market.states_contact(c.field ->> 'quote', c.field -> 'value');
  select coalesce(jsonb_agg(c -> 'value'), '[]') into methods from jsonb_array_elements(contacts) as c;
  offer.extraction := offer.extraction || jsonb_build_object('contact', contacts);
  offer.contact := jsonb_build_object('schema_version', 2, 'methods', methods, 'additional', '[]'::jsonb,
    'primary', jsonb_build_object('methods', methods)
      || case when market.is_quoted(offer.text, reading -> 'party')
          and market.states_title(offer.text, reading -> 'party' -> 'value' ->> 'name')
        then jsonb_strip_nulls(reading -> 'party' -> 'value') else '{}' end);

  if market.is_quoted(offer.text, reading -> 'condition') then
    offer.metadata := offer.metadata || jsonb_build_object('condition', reading -> 'condition' -> 'value');
  end if;
  if market.is_quoted(offer.text, reading -> 'space') and jsonb_strip_nulls(reading -> 'space' -> 'value') <> '{}' then
    offer.metadata := offer.metadata || jsonb_build_object('space', jsonb_strip_nulls(reading -> 'space' -> 'value'));
  end if;
  offer.metadata := offer.metadata
    || coalesce((select jsonb_build_object('features', jsonb_agg(f -> 'value'))
      from jsonb_array_elements(coalesce(reading -> 'features', '[]')) as f
      where market.is_quoted(offer.text, f) and market.states_title(offer.text, f ->> 'value')
      having count(*) > 0), '{}')
    || coalesce((select jsonb_build_object('attributes', jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value'))
      from jsonb_array_elements(coalesce(reading -> 'attributes', '[]')) as a
      where market.is_quoted(offer.text, a)
      having count(*) > 0), '{}');

  offer.missing_fields := array_remove(array[
    case when offer.domain is null then 'domain' end,
    case when offer.category is null then 'category' end,
    case when offer.offer_kind is null then 'offer_kind' end,
    case when offer.metadata -> 'pricing' is null then 'price' end,
    case when offer.location_text is null then 'location' end,
    case when methods = '[]' then 'contact' end], null);
  offer.warnings := '{}';
  return offer;
end
$$;
comment on function market.read_offer(text, jsonb) is
  'What of a grounded reading may be published: an offer with every column that the text decides, and nothing else set.';

create function market.understood(offer market.offer) returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
      'title', offer.title, 'domain', offer.domain, 'category', offer.category, 'offer_kind', offer.offer_kind,
      'extraction', offer.extraction)
    || jsonb_strip_nulls(jsonb_build_object(
      'price', offer.metadata -> 'pricing' -> 'label',
      'location', offer.location_text,
      'contact', (
        select c -> 'quote' from jsonb_array_elements(offer.extraction -> 'contact') with ordinality as t (c, n)
        order by (c -> 'value' ->> 'preferred')::boolean desc, n limit 1)))
    || case when offer.missing_fields <> '{}' then jsonb_build_object('missing_fields', offer.missing_fields) else '{}' end
    || case when offer.warnings <> '{}' then jsonb_build_object('warnings', offer.warnings) else '{}' end
$$;
comment on function market.understood(market.offer) is 'How a text was understood: the members that OfferPublished and a preview share.';
--! EndIncluded market/read_offer.sql
--! Included market/passes.sql
-- The visibility rule and the hard filters of a search, in one place for every way of finding candidates. Written to be
-- inlined by the planner, so that each condition can use an index.

create function market.text_array(filter jsonb) returns text[]
  language sql immutable parallel safe
as $$
  select case jsonb_typeof(filter)
    when 'string' then array[filter #>> '{}']
    when 'array' then array(select jsonb_array_elements_text(filter))
  end
$$;
comment on function market.text_array(jsonb) is 'A string or an array of strings as text[]; null when absent.';

create function market.is_verified(account_id uuid) returns boolean
  language plpgsql stable
as $$
begin
  -- A function and not a subselect, since PostgreSQL inlines no SQL function that holds a subselect.
  return exists (select from market.proved_method m where m.account_id = is_verified.account_id);
end
$$;
comment on function market.is_verified(uuid) is 'Whether an account has proved a sign-in method.';

create function market.passes(
  offer market.offer, as_of timestamptz, domains text[], categories text[], kinds text[],
  price_min bigint, price_max bigint, currency text, period text, place tsquery, filters jsonb, account_id uuid
) returns boolean
  language sql stable
as $$
  select offer.status = 'published' and offer.published_at <= as_of
    and (domains is null or offer.domain = any (domains))
    and (categories is null or offer.category = any (categories))
    and (kinds is null or offer.offer_kind = any (kinds))
    and (price_min is null or offer.price_hundredths >= price_min)
    and (price_max is null or offer.price_hundredths <= price_max)
    and (currency is null or offer.price_currency = currency or offer.price_hundredths = 0)
    and (period is null or offer.price_period = period)
    and (place is null or offer.place @@ place)
    and (filters ->> 'posted_since' is null
      or offer.published_at >= (filters ->> 'posted_since')::date::timestamp at time zone 'UTC')
    and (filters ->> 'reviewed' is null or offer.reviewed = (filters ->> 'reviewed')::boolean)
    and (filters ->> 'has_images' is null or (cardinality(offer.images) > 0) = (filters ->> 'has_images')::boolean)
    and (not coalesce((filters ->> 'exclude_own')::boolean, false) or offer.account_id is distinct from account_id)
    and (filters ->> 'verified_publisher' is null or (filters ->> 'verified_publisher')::boolean
      = market.is_verified(offer.account_id))
$$;
comment on function market.passes(market.offer, timestamptz, text[], text[], text[], bigint, bigint, text, text, tsquery, jsonb, uuid) is
  'Whether an offer is live, as of a moment, and passes every filter that is there.';
--! EndIncluded market/passes.sql
--! Included market/search.sql
-- Finding offers. Filters are hard, the rest ranks: candidates by words and candidates by vector are capped, ranked each
-- on its own, and fused by reciprocal rank (Cormack, Clarke and Buettcher 2009, k = 60).
--
-- These run as their owner, because text search and vector operators are not leakproof: under row-level security
-- PostgreSQL would not use their indexes. So each states the visibility rule itself: status = 'published'.

create function market.search_terms(query text) returns text[]
  language sql immutable
as $$
  -- Per word its alternatives: itself and its stem in each language we know, since nobody says which one a query is in.
  -- Words that are stop words somewhere tell little, and are kept only when there is nothing else. At most 16 words count.
  with words as (
    select w.word, min(w.n) as n
    from unnest(tsvector_to_array(to_tsvector('simple', market.fold(query)))) with ordinality as w (word, n)
    group by w.word
  ), alternatives as (
    select w.word, w.n,
      array(select distinct l.lexeme
        from unnest(array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch']) as c (config),
          lateral (
            select unnest(tsvector_to_array(to_tsvector(('pg_catalog.' || c.config)::regconfig, w.word))) as lexeme
            union all select w.word) as l) as lexemes,
      exists (
        select from unnest(array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch']) as c (config)
        where to_tsvector(('pg_catalog.' || c.config)::regconfig, w.word) = '') as stops
    from words w
  ), kept as (
    select a.* from alternatives a
    where not a.stops or not exists (select from alternatives b where not b.stops)
    order by a.n limit 16
  )
  select coalesce(array_agg(
    '(' || (select string_agg('''' || replace(replace(l, '\', '\\'), '''', '''''') || '''', ' | ') from unnest(k.lexemes) as l) || ')'), '{}')
  from kept k
$$;
comment on function market.search_terms(text) is 'The words of a query, each as a tsquery of its forms: join them with & or |.';

create function market.search_offers(
  query text,
  filters jsonb,
  embedding public.halfvec,
  model text,
  as_of timestamptz,
  account_id uuid,
  candidates integer
)
  returns table (offer_id uuid, score double precision)
  language plpgsql stable security definer set search_path = ''
  -- Scan on until enough pass the filters, else HNSW returns too few without saying so.
  set hnsw.iterative_scan = 'relaxed_order'
  set hnsw.ef_search = 100
  -- The plan depends on which filters are there.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  terms text[] := market.search_terms(coalesce(query, ''));
  every tsquery := nullif(array_to_string(terms, ' & '), '')::tsquery;
  any_of tsquery := nullif(array_to_string(terms, ' | '), '')::tsquery;
  place tsquery := case when filters ? 'location' then
    plainto_tsquery('simple', market.fold(filters ->> 'location')) end;
  domains text[] := market.text_array(filters -> 'domain');
  categories text[] := market.text_array(filters -> 'category');
  kinds text[] := market.text_array(filters -> 'offer_kind');
  price jsonb := coalesce(filters -> 'price', '{}');
  price_min bigint := round((price ->> 'min')::numeric * 100);
  price_max bigint := round((price ->> 'max')::numeric * 100);
  floor real := (select m.search_floor from market.embedding_model m where m.model = search_offers.model);
  depth integer := least(greatest(candidates, 100), 1000);
begin
  return query
  with every_word as materialized (
    select o.id, o.search from market.offer o
    where every is not null and o.search @@ every and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
      price ->> 'currency', price ->> 'period', place, filters, account_id)
    limit 2 * depth
  ), some_word as materialized (
    select o.id, o.search from market.offer o
    where any_of is not null and cardinality(terms) > 1 and o.search @@ any_of
      -- Only when too few have every word, since many offers have some word of a query.
      and (select count(*) from every_word) < 20
      and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', place, filters, account_id)
    limit 2 * depth
  ), worded as (
    select c.id, row_number() over (order by c.complete desc, c.weight desc, c.id desc) as rank
    from (
      select w.id, w.complete, pg_catalog.ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, any_of, 1) as weight
      from (
        select e.id, e.search, true as complete from every_word e
        union all
        select s.id, s.search, false from some_word s where not exists (select from every_word e where e.id = s.id)) as w) as c
    order by rank limit depth
  ), near as materialized (
    select e.offer_id, e.embedding operator(public.<=>) search_offers.embedding as distance
    from market.offer_embedding e join market.offer o on o.id = e.offer_id
    where search_offers.embedding is not null and e.model = search_offers.model
      and market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', place, filters, account_id)
    order by e.embedding operator(public.<=>) search_offers.embedding
    limit 100
  ), similar_to as (
    select n.offer_id as id, row_number() over (order by n.distance, n.offer_id desc) as rank
    from near n where 1 - n.distance >= floor
  )
  select coalesce(w.id, s.id),
    -- 0 to 1: first in both lists is 1.
    (coalesce(1.0 / (60 + w.rank), 0) + coalesce(1.0 / (60 + s.rank), 0))::double precision / (2.0 / 61)
  from worded w full join similar_to s on s.id = w.id;
end
$$;
comment on function market.search_offers(text, jsonb, public.halfvec, text, timestamptz, uuid, integer) is
  'Published offers that pass the filters and answer the query by words or by meaning, with a relevance of 0 to 1. At most `candidates` by words and 100 by vector.';

create function market.browse_offers(
  filters jsonb, as_of timestamptz, account_id uuid, sort text, after jsonb, candidates integer
)
  returns table (offer_id uuid, sort_key numeric)
  language plpgsql stable security definer set search_path = ''
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  place tsquery := case when filters ? 'location' then
    plainto_tsquery('simple', market.fold(filters ->> 'location')) end;
  domains text[] := market.text_array(filters -> 'domain');
  categories text[] := market.text_array(filters -> 'category');
  kinds text[] := market.text_array(filters -> 'offer_kind');
  price jsonb := coalesce(filters -> 'price', '{}');
  price_min bigint := round((price ->> 'min')::numeric * 100);
  price_max bigint := round((price ->> 'max')::numeric * 100);
  after_id uuid := (after ->> 'id')::uuid;
  after_time timestamptz := (after ->> 'time')::timestamptz;
  after_price bigint := (after ->> 'price')::bigint;
begin
  if sort = 'newest' then
    return query
    select o.id, extract(epoch from o.published_at) from market.offer o
    where market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', place, filters, account_id)
      and (after is null or (o.published_at, o.id) < (after_time, after_id))
    order by o.published_at desc, o.id desc limit candidates;
  elsif sort = 'price_asc' then
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', place, filters, account_id)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) > (after_price, after_id))
    order by o.price_hundredths, o.id limit candidates;
  else
    return query
    select o.id, o.price_hundredths::numeric from market.offer o
    where market.passes(o, as_of, domains, categories, kinds, price_min, price_max,
        price ->> 'currency', price ->> 'period', place, filters, account_id)
      and o.price_hundredths is not null
      and (after is null or (o.price_hundredths, o.id) < (after_price, after_id))
    order by o.price_hundredths desc, o.id desc limit candidates;
  end if;
end
$$;
comment on function market.browse_offers(jsonb, timestamptz, uuid, text, jsonb, integer) is
  'Published offers that pass the filters, without a query, in the order asked for, after a position.';
--! EndIncluded market/search.sql
--! Included market/matching.sql
-- Which offers answer an ask, and why. Computed from the ask's criteria and the columns of the offer, never by a model.
-- Kind, price and exclusions are hard; so is the place where one has to be there. The subject has to agree too: by
-- category, by words or by vector.

create function market.judge(ask market.ask, offer market.offer, similarity real, floor real) returns table (score real, reasons jsonb)
  language plpgsql stable
as $$
declare
  kinds text[] := (select k.answered_by from market.ask_kind k where k.ask_kind = ask.ask_kind);
  keywords tsquery := market.words_query(ask.criteria -> 'keywords');
  excluded tsquery := market.words_query(ask.criteria -> 'exclude');
  place tsquery := market.words_query(jsonb_build_array(ask.criteria -> 'location' ->> 'text', ask.criteria -> 'location' ->> 'city'));
  wanted_country text := ask.criteria -> 'location' ->> 'country';
  found_country text := offer.metadata -> 'location' ->> 'country';
  by_category text;
  by_words text;
  by_place text;
  by_price text;
  by_condition text;
begin
  -- Without a kind or a subject an ask matches nothing: better no answer than a wrong one.
  if offer.offer_kind is null or not coalesce(offer.offer_kind = any (kinds), false) or ask.domain is null then
    return;
  end if;

  by_price := case
    when ask.price_max_hundredths is null then null
    when offer.price_hundredths is null then 'unknown'
    when offer.price_hundredths = 0 then 'met'
    -- Converted never: another currency cannot be compared.
    when offer.price_currency is distinct from ask.price_currency then 'unknown'
    when offer.price_hundredths <= ask.price_max_hundredths then 'met'
    else 'violated' end;
  if by_price = 'violated' or excluded is not null and offer.search @@ excluded then
    return;
  end if;

  by_place := case
    when place is null then null
    when offer.location_text is null then 'unknown'
    when offer.place @@ place then 'met'
    -- A country alone is wanted: the same country will do.
    when wanted_country is not null and wanted_country = found_country
      and ask.criteria -> 'location' ->> 'city' is null then 'met'
    else 'violated' end;
  if by_place = 'violated' and (offer.domain in ('real_estate', 'services', 'community', 'jobs_projects')
    or offer.offer_kind = 'rental') then
    return;
  end if;

  by_category := case
    when ask.category is null or offer.category is null then 'unknown'
    when (ask.domain, ask.category) = (offer.domain, offer.category) then 'met'
    else 'violated' end;
  by_words := case
    when keywords is null then null
    when offer.search @@ keywords then 'met'
    else 'violated' end;
  -- The subject: in the right category, a shared word or a near vector; elsewhere both have to agree.
  if (case by_category
    when 'met' then coalesce(by_words, 'met') = 'violated' and coalesce(similarity, 0) < floor
    when 'unknown' then coalesce(by_words, 'violated') = 'violated' and coalesce(similarity, 0) < 1.5 * floor
    else coalesce(by_words, 'violated') = 'violated' or coalesce(similarity, 0) < 1.5 * floor
      or ask.domain is distinct from offer.domain end) then
    return;
  end if;

  by_condition := case
    when ask.criteria ->> 'condition' is null then null
    when offer.metadata ->> 'condition' is null then 'unknown'
    when offer.metadata ->> 'condition' = ask.criteria ->> 'condition' then 'met'
    else 'violated' end;

  score := least(1, 0.35 + 0.3 * least(coalesce(similarity, 0) / 0.6, 1)
    + case by_category when 'met' then 0.15 else 0 end
    + case by_words when 'met' then 0.1 else 0 end
    + case by_place when 'met' then 0.05 when 'violated' then -0.2 else 0 end
    + case by_price when 'met' then 0.05 else 0 end
    + case by_condition when 'violated' then -0.1 else 0 end);
  reasons := (
    select jsonb_agg(jsonb_build_object('criterion', r.criterion, 'verdict', r.verdict, 'wanted', r.wanted, 'found', r.found) order by r.n)
    from (values
      (1, 'kind', 'met', to_jsonb(ask.ask_kind), to_jsonb(offer.offer_kind)),
      (2, 'category', by_category, to_jsonb(concat_ws('/', ask.domain, ask.category)), to_jsonb(concat_ws('/', offer.domain, offer.category))),
      (3, 'keywords', by_words, ask.criteria -> 'keywords', to_jsonb(offer.title)),
      (4, 'price', by_price, ask.criteria -> 'price', offer.metadata -> 'pricing' -> 'label'),
      (5, 'location', by_place, ask.criteria -> 'location' -> 'text', to_jsonb(offer.location_text)),
      (6, 'condition', by_condition, ask.criteria -> 'condition', offer.metadata -> 'condition'),
      (7, 'exclude', case when excluded is not null then 'met' end, ask.criteria -> 'exclude', null)
    ) as r (n, criterion, verdict, wanted, found)
    where r.verdict is not null);
  return next;
end
$$;
comment on function market.judge(market.ask, market.offer, real, real) is
  'Whether and how well an offer answers an ask: no row when it does not, else a score of 0 to 1 and the verdict on every criterion.';

create function market.words_query(phrases jsonb) returns tsquery
  language sql immutable
as $$
  -- Any of the phrases; within a phrase the forms of every word.
  select string_agg('(' || array_to_string(terms, ' & ') || ')', ' | ')::tsquery
  from jsonb_array_elements_text(phrases) as phrase, lateral market.search_terms(phrase) as terms
  where cardinality(terms) > 0
$$;
comment on function market.words_query(jsonb) is 'A tsquery for any of several phrases, in all their word forms; null when there is none.';

create function market.store_match(ask_id uuid, offer_id uuid, score real, reasons jsonb) returns void
  language sql volatile
as $$
  insert into market.match as m (ask_id, offer_id, score, reasons)
  values (store_match.ask_id, store_match.offer_id, store_match.score, store_match.reasons)
  on conflict on constraint match_pkey do update set score = excluded.score, reasons = excluded.reasons
  where (m.score, m.reasons) is distinct from (excluded.score, excluded.reasons)
$$;
comment on function market.store_match(uuid, uuid, real, jsonb) is 'Remembers a match; one that was known keeps its sequence and first_matched_at.';

create function market.match_ask(ask_id uuid) returns void
  language plpgsql volatile
as $$
declare
  ask market.ask;
  vector record;
  answered uuid[];
  candidate record;
begin
  -- The row is the lock: matches of one ask are written one after another, so sequences grow in the order of commits.
  select * into ask from market.ask a where a.id = match_ask.ask_id for no key update;
  if ask.id is null or ask.status <> 'active' or ask.read_at is null then
    return;
  end if;
  select e.embedding, e.model, m.match_floor into vector
  from market.ask_embedding e join market.embedding_model m on m.model = e.model
  where e.ask_id = ask.id and to_jsonb(e.model) = market.setting('embedding_model');
  for candidate in
    select o.id, j.score, j.reasons
    from market.search_offers(
      concat_ws(' ', (select string_agg(k, ' ') from jsonb_array_elements_text(ask.criteria -> 'keywords') as k), ask.title),
      jsonb_build_object('offer_kind', (select to_jsonb(k.answered_by) from market.ask_kind k where k.ask_kind = ask.ask_kind))
        || case when ask.domain is not null then jsonb_build_object('domain', ask.domain) else '{}' end,
      vector.embedding, vector.model, 'infinity', null, 200) as s
    join market.offer o on o.id = s.offer_id
    left join market.offer_embedding e on e.offer_id = o.id and e.model = vector.model
    cross join lateral market.judge(ask, o,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
    where o.account_id is distinct from ask.account_id
    order by j.score desc, o.id
    limit 100
  loop
    perform market.store_match(ask.id, candidate.id, candidate.score, candidate.reasons);
    answered := array_append(answered, candidate.id);
  end loop;
  -- What a changed text no longer wants is forgotten.
  delete from market.match m where m.ask_id = ask.id and m.offer_id <> all (coalesce(answered, '{}'));
end
$$;
comment on function market.match_ask(uuid) is 'Holds one ask against the market; its matches are then exactly the best hundred offers that answer it.';

create function market.match_offer(offer_id uuid) returns void
  language plpgsql volatile
as $$
declare
  offer market.offer;
  vector record;
  answered uuid[];
  candidate record;
  ask market.ask;
  verdict record;
begin
  select * into offer from market.offer o where o.id = match_offer.offer_id and o.status = 'published';
  if offer.id is null or offer.offer_kind is null then
    delete from market.match m where m.offer_id = match_offer.offer_id;
    return;
  end if;
  select e.embedding, e.model, m.match_floor into vector
  from market.offer_embedding e join market.embedding_model m on m.model = e.model
  where e.offer_id = offer.id and to_jsonb(e.model) = market.setting('embedding_model');
  for candidate in
    select a.id, j.score, j.reasons, (1 - (e.embedding operator(public.<=>) vector.embedding))::real as similarity
    from market.ask a
    left join market.ask_embedding e on e.ask_id = a.id and e.model = vector.model
    cross join lateral market.judge(a, offer,
      (1 - (e.embedding operator(public.<=>) vector.embedding))::real, vector.match_floor) as j
    where a.status = 'active' and a.watch_enabled and a.read_at is not null
      and a.ask_kind = any (array(select k.ask_kind from market.ask_kind k where offer.offer_kind = any (k.answered_by)))
      and a.domain = offer.domain
      and a.account_id is distinct from offer.account_id
    -- In the order of ids, so that two offers that meet at the same asks lock them in the same order.
    order by a.id
  loop
    -- Judged again under its lock: the ask may have changed since.
    select * into ask from market.ask a where a.id = candidate.id and a.status = 'active' for no key update;
    continue when ask.id is null;
    select * into verdict from market.judge(ask, offer, candidate.similarity, vector.match_floor);
    continue when not found;
    perform market.store_match(ask.id, offer.id, verdict.score, verdict.reasons);
    answered := array_append(answered, ask.id);
  end loop;
  delete from market.match m where m.offer_id = offer.id and m.ask_id <> all (coalesce(answered, '{}'));
end
$$;
comment on function market.match_offer(uuid) is 'Holds one offer against every ask that watches for its kind and subject.';
--! EndIncluded market/matching.sql

-- The worker's door
--! Included jobs/get_vocabulary.sql
-- What the built-in reader and the instructions to a model are made from: the taxonomy and the words.

create function jobs.get_vocabulary() returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'taxonomy', (
      select jsonb_agg(jsonb_build_object(
        'domain', d.domain,
        'kinds', d.kinds,
        'categories', (
          select coalesce(jsonb_agg(c.category order by c.position), '[]')
          from market.category c
          where c.domain = d.domain)) order by d.position)
      from market.domain d),
    'terms', (
      select coalesce(
        jsonb_agg(jsonb_build_object('term', v.term, 'language', v.language, 'sense', v.sense, 'weight', v.weight) order by v.id),
        '[]')
      from market.vocabulary v))
$$;
comment on function jobs.get_vocabulary() is 'The taxonomy and the words of the market, as the makers of readings take them.';
grant execute on function jobs.get_vocabulary() to souk_worker;
--! EndIncluded jobs/get_vocabulary.sql
--! Included jobs/get_submission.sql
-- What the worker reads: the text of a submission that still waits.

create function market.awaits_reading(submission market.submission) returns boolean
  language sql stable
as $$
  -- An ask is filled in even after its caller was answered, as long as it still has this text.
  select submission.settled_at is null or submission.kind in ('create_ask', 'update_ask') and exists (
    select from market.ask a
    where a.id = submission.target_id and a.read_at is null and a.text = submission.text)
$$;
comment on function market.awaits_reading(market.submission) is 'Whether reading the text of a submission still has an effect.';

create function jobs.get_submission(id uuid) returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('kind', s.kind, 'text', s.text)
  from market.submission s
  where s.id = get_submission.id and market.awaits_reading(s)
$$;
comment on function jobs.get_submission(uuid) is 'kind and text of a submission; null when reading it would have no effect any more.';
grant execute on function jobs.get_submission(uuid) to souk_worker;
--! EndIncluded jobs/get_submission.sql
--! Included jobs/embedding.sql
-- Vectors: what is to be embedded, and keeping what was. A vector that is not one is refused, and words still find.

create function jobs.get_embedding_input(id uuid) returns text
  language sql stable security definer set search_path = ''
as $$
  -- The title twice: it says what the thing is.
  select i.title || E'\n' || i.title || E'\n' || concat_ws(' ', i.category, i.domain) || E'\n' || i.text
  from (
    select o.title, o.category, o.domain, o.text from market.offer o
    where o.id = get_embedding_input.id and o.status = 'published'
    union all
    select coalesce(a.title, ''), a.category, a.domain, a.text from market.ask a
    where a.id = get_embedding_input.id and a.status = 'active') as i
$$;
comment on function jobs.get_embedding_input(uuid) is 'The words of a live offer or an active ask that its vector stands for; null when there is nothing to do.';
grant execute on function jobs.get_embedding_input(uuid) to souk_worker;

create function jobs.store_offer_embedding(id uuid, embedding text, model text) returns boolean
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  vector public.halfvec(512) := market.unit_vector(store_offer_embedding.embedding);
begin
  if vector is not null then
    insert into market.offer_embedding (offer_id, model, embedding)
    select o.id, store_offer_embedding.model, vector from market.offer o
    where o.id = store_offer_embedding.id
    on conflict (offer_id) do update set model = excluded.model, embedding = excluded.embedding;
  end if;
  perform market.match_offer(store_offer_embedding.id);
  return vector is not null;
end
$$;
comment on function jobs.store_offer_embedding(uuid, text, text) is
  'Keeps an offer''s vector and matches the offer; without a right vector (false) it is matched by its words.';
grant execute on function jobs.store_offer_embedding(uuid, text, text) to souk_worker;

create function market.store_ask_embedding(ask_id uuid, embedding text, model text) returns boolean
  language plpgsql volatile
as $$
declare
  vector public.halfvec(512) := market.unit_vector(store_ask_embedding.embedding);
begin
  if vector is null then
    delete from market.ask_embedding e where e.ask_id = store_ask_embedding.ask_id;
    return false;
  end if;
  insert into market.ask_embedding (ask_id, model, embedding)
  values (store_ask_embedding.ask_id, store_ask_embedding.model, vector)
  on conflict on constraint ask_embedding_pkey do update set model = excluded.model, embedding = excluded.embedding;
  return true;
end
$$;
comment on function market.store_ask_embedding(uuid, text, text) is 'Keeps an ask''s vector; false when it is not a right one, and the ask goes without.';

create function jobs.store_ask_embedding(id uuid, embedding text, model text) returns boolean
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  stored boolean := exists (select from market.ask a where a.id = store_ask_embedding.id)
    and market.store_ask_embedding(store_ask_embedding.id, store_ask_embedding.embedding, store_ask_embedding.model);
begin
  perform market.match_ask(store_ask_embedding.id);
  return stored;
end
$$;
comment on function jobs.store_ask_embedding(uuid, text, text) is 'Keeps an ask''s vector and matches the ask.';
grant execute on function jobs.store_ask_embedding(uuid, text, text) to souk_worker;

create function jobs.use_embedding_model(model text) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into market.embedding_model (model) values (use_embedding_model.model) on conflict do nothing;
  if market.setting('embedding_model') <> to_jsonb(use_embedding_model.model) then
    update market.setting s set value = to_jsonb(use_embedding_model.model) where s.name = 'embedding_model';
  end if;
  -- Whatever was embedded by another model is embedded again in the background; until then it is found by its words.
  perform market.enqueue('embed_offer', o.id)
  from market.offer o left join market.offer_embedding e on e.offer_id = o.id
  where o.status = 'published' and e.model is distinct from use_embedding_model.model;
  perform market.enqueue('embed_ask', a.id)
  from market.ask a left join market.ask_embedding e on e.ask_id = a.id
  where a.status = 'active' and a.read_at is not null and e.model is distinct from use_embedding_model.model;
end
$$;
comment on function jobs.use_embedding_model(text) is 'Puts a model in force, and has everything embedded that has no vector of it.';
grant execute on function jobs.use_embedding_model(text) to souk_worker;
--! EndIncluded jobs/embedding.sql
--! Included jobs/finish_reading.sql
-- A text has been read: publish, change, preview or refuse, and settle the submission, all in one transaction. Its
-- caller is told by a notification, and a key replays what is settled here.

create function jobs.finish_reading(id uuid, reading jsonb, embedding text default null, model text default null)
  returns boolean
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  submission market.submission;
  outcome record;
begin
  select * into submission from market.submission s where s.id = finish_reading.id for update;
  if submission.id is null or not market.awaits_reading(submission) then
    return false;
  end if;
  -- Whatever the removal of an agent meets half way is not published.
  if exists (select from market.agent a where a.id = submission.agent_id and a.removed_at is not null) then
    perform market.settle(submission.id, 401, jsonb_build_object('code', 'unauthorized', 'detail', 'This agent was removed.'));
    return true;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    outcome := market.finish_ask(submission, finish_reading.reading, finish_reading.embedding, finish_reading.model);
  else
    outcome := market.finish_offer(submission, finish_reading.reading);
  end if;
  perform market.settle(submission.id, outcome.status, outcome.body);
  return true;
end
$$;
comment on function jobs.finish_reading(uuid, jsonb, text, text) is
  'Settles a submission by its grounded reading (for an ask with its vector, where there is one); false when it was settled before.';
grant execute on function jobs.finish_reading(uuid, jsonb, text, text) to souk_worker;

create function market.settle(id uuid, status integer, body jsonb) returns void
  language plpgsql volatile
as $$
begin
  update market.submission s set settled_at = clock_timestamp(), status = settle.status, body = settle.body
  where s.id = settle.id and s.settled_at is null;
  perform pg_notify('submission', settle.id::text);
end
$$;
comment on function market.settle(uuid, integer, jsonb) is 'Writes down the answer of a submission, the first one for good, and wakes whoever waits for it.';

create function market.finish_offer(submission market.submission, reading jsonb, out status integer, out body jsonb)
  language plpgsql volatile
as $$
declare
  read market.offer := market.read_offer(submission.text, reading);
  current market.offer;
begin
  read.warnings := market.image_warnings(submission.images);
  if submission.kind = 'preview_offer' then
    status := 200;
    body := market.understood(read) || jsonb_build_object('questions', market.questions(read.missing_fields, read.language));
    return;
  end if;
  if 'contact' = any (read.missing_fields) then
    status := 400;
    body := jsonb_build_object('code', 'missing_contact',
      'detail', 'The text names no way to reach the publisher. Ask the person for a phone number, an e-mail address or a link, put it into the text and send it again.',
      'errors', jsonb_build_array(jsonb_build_object('pointer', '/text', 'detail', 'Add a phone number, an e-mail address or a link.')));
    return;
  end if;

  if submission.kind = 'update_offer' then
    update market.offer o set
      text = read.text, images = submission.images, language = read.language, title = read.title,
      domain = read.domain, category = read.category, offer_kind = read.offer_kind,
      price_hundredths = read.price_hundredths, price_currency = read.price_currency, price_period = read.price_period,
      location_text = read.location_text, metadata = read.metadata, contact = read.contact, extraction = read.extraction,
      missing_fields = read.missing_fields, warnings = read.warnings, reviewed = false
    where o.id = submission.target_id and o.status in ('published', 'archived', 'pending_review')
    returning * into current;
    if not found then
      status := 409;
      body := jsonb_build_object('code', 'invalid_state',
        'detail', 'This offer was taken down by moderation while its new text was being read, so it cannot be changed.');
      return;
    end if;
    status := 200;
  else
    insert into market.offer (id, account_id, agent_id, origin_ask_id, status, text, images, language, title,
      domain, category, offer_kind, price_hundredths, price_currency, price_period, location_text,
      metadata, contact, extraction, missing_fields, warnings, published_at)
    select submission.target_id, submission.account_id, submission.agent_id, submission.origin_ask_id,
      m.status, read.text, submission.images, read.language, read.title,
      read.domain, read.category, read.offer_kind, read.price_hundredths, read.price_currency, read.price_period,
      read.location_text, read.metadata, read.contact, read.extraction, read.missing_fields, read.warnings,
      case m.status when 'published' then now() end
    from (select case when market.setting('pre_moderation')::boolean then 'pending_review' else 'published' end as status) as m
    returning * into current;
    status := 201;
  end if;
  body := jsonb_build_object('offer_id', current.id, 'status', current.status) || market.understood(current);
end
$$;
comment on function market.finish_offer(market.submission, jsonb) is
  'Publishes, changes or previews an offer by its reading, or refuses it for want of a contact: the answer''s status and body.';

create function market.finish_ask(submission market.submission, reading jsonb, embedding text, model text,
  out status integer, out body jsonb)
  language plpgsql volatile
as $$
declare
  ask market.ask;
begin
  update market.ask a set
    text = submission.text, language = read.language, title = read.title, domain = read.domain, category = read.category,
    ask_kind = read.ask_kind, criteria = read.criteria, price_max_hundredths = read.price_max_hundredths,
    price_currency = read.price_currency, read_at = now(), updated_at = now()
  from market.read_ask(submission.text, finish_ask.reading) as read
  where a.id = submission.target_id
  returning a.* into ask;
  perform market.store_ask_embedding(ask.id, finish_ask.embedding, finish_ask.model);
  -- Matched here and not by a job of its own, so that whoever reads the matches right after the answer finds them.
  perform market.match_ask(ask.id);
  status := case submission.kind when 'create_ask' then 201 else 200 end;
  body := market.ask_document(ask);
end
$$;
comment on function market.finish_ask(market.submission, jsonb, text, text) is
  'Fills in an ask by its reading and matches it: the answer''s status and body.';

create function market.read_ask(text text, reading jsonb) returns market.ask
  language plpgsql stable
as $$
declare
  ask market.ask;
  price jsonb := reading -> 'price';
  place jsonb := reading -> 'location';
begin
  ask.language := reading ->> 'language';
  ask.title := left(reading -> 'title' ->> 'value', 120);
  if not market.states_title(read_ask.text, ask.title) then
    ask.title := left(btrim(regexp_replace(split_part(btrim(read_ask.text), E'\n', 1), '\s+', ' ', 'g')), 120);
  end if;
  select d.domain into ask.domain from market.domain d where d.domain = reading -> 'domain' ->> 'value';
  select c.category into ask.category from market.category c
  where c.domain = ask.domain and c.category = reading -> 'category' ->> 'value';
  select k.ask_kind into ask.ask_kind from market.ask_kind k where k.ask_kind = reading -> 'ask_kind' ->> 'value';
  if not market.is_quoted(read_ask.text, price)
    or not coalesce(market.states_amount(price ->> 'quote', (price -> 'value' ->> 'max')::numeric), true)
    or not coalesce(market.states_amount(price ->> 'quote', (price -> 'value' ->> 'min')::numeric), true) then
    price := null;
  end if;
  if not market.is_quoted(read_ask.text, place)
    or position(market.fold(place -> 'value' ->> 'text') in market.fold(place ->> 'quote')) = 0 then
    place := null;
  end if;
  ask.price_max_hundredths := round((price -> 'value' ->> 'max')::numeric * 100);
  ask.price_currency := price -> 'value' ->> 'currency';
  ask.criteria := jsonb_build_object(
    'keywords', (select coalesce(jsonb_agg(k), '[]') from jsonb_array_elements(coalesce(reading -> 'keywords', '[]')) as k
      where market.states_title(read_ask.text, k #>> '{}')),
    'must', (select coalesce(jsonb_agg(m -> 'value'), '[]') from jsonb_array_elements(coalesce(reading -> 'must', '[]')) as m
      where market.is_quoted(read_ask.text, m)),
    'exclude', (select coalesce(jsonb_agg(m -> 'value'), '[]') from jsonb_array_elements(coalesce(reading -> 'exclude', '[]')) as m
      where market.is_quoted(read_ask.text, m)),
    'price', jsonb_strip_nulls(price -> 'value'),
    'location', jsonb_strip_nulls(place -> 'value'),
    'condition', case when market.is_quoted(read_ask.text, reading -> 'condition') then reading -> 'condition' -> 'value' end,
    'attributes', (select coalesce(jsonb_object_agg(a -> 'value' ->> 'name', a -> 'value' -> 'value'), '{}')
      from jsonb_array_elements(coalesce(reading -> 'attributes', '[]')) as a where market.is_quoted(read_ask.text, a)));
  return ask;
end
$$;
comment on function market.read_ask(text, jsonb) is 'What of a grounded reading counts: an ask with every column that the text decides, and nothing else set.';
--! EndIncluded jobs/finish_reading.sql
--! Included market/withdraw.sql
-- A text that was not read in time. An offer is then not published, and its key is free again; an ask stands with what is
-- known, and is filled in when its text has been read.

create function market.withdraw(id uuid) returns void
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  submission market.submission;
  ask market.ask;
begin
  select * into submission from market.submission s where s.id = withdraw.id and s.settled_at is null for update;
  if not found then
    return;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    update market.ask a set text = submission.text, read_at = null, updated_at = now()
    where a.id = submission.target_id
    returning * into ask;
    perform market.settle(submission.id, case submission.kind when 'create_ask' then 201 else 200 end,
      market.ask_document(ask));
  else
    delete from market.idempotency_key k where k.submission_id = submission.id;
    perform market.settle(submission.id, 503, jsonb_build_object('code', 'service_unavailable', 'retry_after', 5,
      'detail', 'The text could not be read in time, and nothing was published. Send it again in a few seconds.'));
  end if;
end
$$;
comment on function market.withdraw(uuid) is 'Settles a submission that was not read in time; does nothing when it is settled.';
--! EndIncluded market/withdraw.sql
--! Included jobs/upkeep.sql
-- What the worker's clock does. Each in bounded batches, so that no lock is long.

create function jobs.forget_keys() returns integer
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  forgotten integer;
begin
  delete from market.idempotency_key k
  where (k.agent_id, k.key) in (
    select o.agent_id, o.key from market.idempotency_key o
    where o.created_at <= now() - interval '24 hours' limit 10000);
  get diagnostics forgotten = row_count;
  delete from market.submission s
  where s.id in (
    select o.id from market.submission o
    where o.created_at <= now() - interval '24 hours' and o.settled_at is not null limit 10000);
  delete from market.call c
  where c.id in (select o.id from market.call o where o.called_at <= now() - interval '1 day' limit 50000);
  return forgotten;
end
$$;
comment on function jobs.forget_keys() is 'Forgets idempotency keys, settled submissions and counted calls of more than 24 hours ago; gives how many keys.';
grant execute on function jobs.forget_keys() to souk_worker;

create function jobs.sweep_submissions() returns integer
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  swept integer;
begin
  -- Whoever waited has long been answered: a key must not stay in flight because a job was lost.
  with stuck as (
    select s.id from market.submission s
    where s.settled_at is null and s.created_at <= now() - interval '10 minutes'
    limit 1000 for update skip locked
  )
  select count(market.withdraw(stuck.id)) into swept from stuck;
  -- An ask that was answered before its text was read is read still.
  perform market.enqueue('read_submission', s.id)
  from market.submission s join market.ask a on a.id = s.target_id and a.read_at is null and a.text = s.text
  where s.settled_at is not null
  limit 1000;
  return swept;
end
$$;
comment on function jobs.sweep_submissions() is 'Settles submissions that nobody reads any more, freeing their keys; gives how many.';
grant execute on function jobs.sweep_submissions() to souk_worker;
--! EndIncluded jobs/upkeep.sql

-- The HTTP layer's door
--! Included api/connect_agent.sql
-- An agent makes itself. It acts for a provisional account until a person approves; creation is capped per address.

create function market.clean_name(name text) returns text
  language sql immutable
as $$
  -- Control, bidirectional and zero-width characters would let a name pretend to be other words on the approval page.
  select coalesce(nullif(btrim(regexp_replace(normalize(name, NFC),
    '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\U000E0000-\U000E007F]', '', 'g')), ''),
    'Unnamed agent')
$$;
comment on function market.clean_name(text) is 'What an agent calls itself, without characters that cannot be seen.';

create function api.connect_agent(
  name text, token_hash bytea, secret_hash bytea, code text, address text, connections_per_hour integer
) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  scope text := 'address:' || connect_agent.address;
  figures jsonb;
  declined jsonb;
  cleaned text := market.clean_name(connect_agent.name);
  agent market.agent;
  account_id uuid;
begin
  if char_length(cleaned) > 80 then
    perform market.fail_fields('[{"pointer": "/name", "detail": "A name has 1 to 80 characters."}]');
  end if;
  perform market.lock_window(scope, 'connect');
  figures := market.window_figures(scope, 'connect', connect_agent.connections_per_hour);
  -- Three people of one address who said "Not mine" in a day end its connecting for a day.
  declined := market.window_figures(scope, 'decline', 3, '1 day');
  if (declined ->> 'remaining')::integer = 0 then
    figures := declined;
  end if;
  if (figures ->> 'remaining')::integer = 0 then
    perform market.fail(429, 'rate_limited',
      'Too many agents were created from this address. Reuse the token you already hold, or wait before you create another agent.',
      jsonb_build_object('retry_after', greatest((figures ->> 'resets_in')::integer, 1)));
  end if;
  insert into market.call (scope, action) values (scope, 'connect');

  insert into market.account default values returning id into account_id;
  insert into market.agent (account_id, name, token_hash)
  values (account_id, cleaned, connect_agent.token_hash) returning * into agent;
  insert into market.connection (agent_id, secret_hash, code, address)
  values (agent.id, connect_agent.secret_hash, connect_agent.code, connect_agent.address);
  return jsonb_build_object(
    'agent_id', agent.id,
    'connection', jsonb_build_object('code', connect_agent.code, 'expires_in', 1800),
    'summary', 'Keep agent_token secret: it is shown only now. Give connection.url to the person you act for, tell them the code, and do not open the link yourself. They approve once they see the same code there. You can search and read at once; GET /v1/me tells when you may publish.');
end
$$;
comment on function api.connect_agent(text, bytea, bytea, text, text, integer) is
  'Creates an agent with a provisional account and a connection link. Needs no entering. 429 when the address made too many.';
grant execute on function api.connect_agent(text, bytea, bytea, text, text, integer) to souk_api;
--! EndIncluded api/connect_agent.sql
--! Included api/connection.sql
-- The page behind a connection link. Looking changes nothing; approving is one atomic update, and whoever is first is
-- the person the agent acts for. These need no entering: the secret in the link is what admits.

create function market.usable_connection(secret_hash bytea) returns market.connection
  language plpgsql volatile
as $$
declare
  connection market.connection;
begin
  -- The agent's row first, as a removal locks it: approving and removing wait for each other.
  perform from market.agent a join market.connection c on c.agent_id = a.id
  where c.secret_hash = usable_connection.secret_hash for update of a;
  select * into connection from market.connection c where c.secret_hash = usable_connection.secret_hash for update;
  perform market.check_connection(connection);
  return connection;
end
$$;
comment on function market.usable_connection(bytea) is 'The connection of a link, locked, or the refusal that says why it cannot be used.';

create function market.check_connection(connection market.connection) returns void
  language plpgsql stable
as $$
begin
  if connection.agent_id is null then
    perform market.fail(404, 'not_found', 'There is no such link. Check that it was copied whole.');
  elsif connection.approved_at is not null then
    perform market.fail(409, 'connection_already_used', 'This link was already used: someone approved this agent. A link works once.');
  elsif connection.declined_at is not null or connection.expires_at <= now() then
    perform market.fail(410, 'connection_expired', 'This link no longer works. Ask your agent to connect again for a new one.');
  end if;
end
$$;
comment on function market.check_connection(market.connection) is 'Refuses a link that is unknown (404), used (409) or over (410).';

create function api.get_connection(secret_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  connection market.connection;
begin
  select * into connection from market.connection c where c.secret_hash = get_connection.secret_hash;
  perform market.check_connection(connection);
  return (
    select jsonb_build_object(
      'agent_name', a.name, 'code', connection.code,
      'requested_at', market.utc(connection.created_at),
      'requested_minutes_ago', floor(extract(epoch from now() - connection.created_at) / 60)::integer,
      'expires_in', ceil(extract(epoch from connection.expires_at - now()))::integer)
    from market.agent a where a.id = connection.agent_id);
end
$$;
comment on function api.get_connection(bytea) is
  'What the approval page shows: agent_name, code, requested_at, expires_in (seconds); 404, 409 or 410 otherwise. Changes nothing.';
grant execute on function api.get_connection(bytea) to souk_api;

create function api.approve_connection(secret_hash bytea, session_hash bytea, new_session_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  connection market.connection := market.usable_connection(approve_connection.secret_hash);
  agent market.agent;
  person uuid := market.find_session(approve_connection.session_hash);
begin
  select * into agent from market.agent a where a.id = connection.agent_id;
  update market.connection c set approved_at = now() where c.agent_id = connection.agent_id;
  if person is null then
    update market.account a set claimed_at = now() where a.id = agent.account_id;
    insert into market.session (account_id, secret_hash) values (agent.account_id, approve_connection.new_session_hash);
    update market.agent a set connected_at = now() where a.id = agent.id;
  else
    perform from market.account a where a.id = person for update;
    if (select count(*) from market.agent a
        where a.account_id = person and a.removed_at is null and a.connected_at is not null) >= 25 then
      perform market.fail(409, 'invalid_state', 'Your account has 25 agents, which is the most. Remove one you no longer use, then open the link again.');
    end if;
    update market.agent a set connected_at = now(), account_id = person where a.id = agent.id;
    delete from market.account a where a.id = agent.account_id and a.claimed_at is null;
  end if;
  return jsonb_build_object('agent_name', agent.name, 'agent_id', agent.id, 'new_session', person is null);
end
$$;
comment on function api.approve_connection(bytea, bytea, bytea) is
  'Approves: the agent acts for the person with this session, or for a new account that the new session signs in. Gives agent_id, agent_name, new_session; 404, 409 or 410 otherwise.';
grant execute on function api.approve_connection(bytea, bytea, bytea) to souk_api;

create function api.decline_connection(secret_hash bytea) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
declare
  connection market.connection := market.usable_connection(decline_connection.secret_hash);
begin
  insert into market.call (scope, action) values ('address:' || connection.address, 'decline');
  -- Its link dies with it.
  update market.agent a set removed_at = now() where a.id = connection.agent_id;
  return '{}';
end
$$;
comment on function api.decline_connection(bytea) is '"Not mine": ends the link and the agent''s token; 404, 409 or 410 when the link is not open.';
grant execute on function api.decline_connection(bytea) to souk_api;
--! EndIncluded api/connection.sql
--! Included api/remove_agent.sql
-- Removing an agent takes effect at once: its next call is refused.

create function api.remove_own_agent() returns jsonb
  language plpgsql volatile
as $$
begin
  update market.agent a set removed_at = now() where a.id = market.agent_id() and a.removed_at is null;
  return '{}';
end
$$;
comment on function api.remove_own_agent() is 'An agent removes itself.';
grant execute on function api.remove_own_agent() to souk_api;

create function api.remove_agent(agent_id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  update market.agent a set removed_at = coalesce(a.removed_at, now())
  where a.id = remove_agent.agent_id and a.account_id = market.account_id() and market.agent_id() is null;
  if not found then
    perform market.fail(404, 'not_found', 'You have no such agent.');
  end if;
  return '{}';
end
$$;
comment on function api.remove_agent(uuid) is 'A person removes an agent of the account; 404 when it is not theirs.';
grant execute on function api.remove_agent(uuid) to souk_api;
--! EndIncluded api/remove_agent.sql
--! Included api/get_taxonomy.sql
-- The vocabulary that clients may rely on. Public.

create function api.get_taxonomy() returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return jsonb_build_object(
    'domains', (
      select jsonb_agg(jsonb_build_object(
        'domain', d.domain, 'offer_kinds', to_jsonb(d.kinds),
        'categories', (select jsonb_agg(c.category order by c.position) from market.category c where c.domain = d.domain))
        order by d.position)
      from market.domain d),
    'ask_kinds', (
      select jsonb_agg(jsonb_build_object('ask_kind', k.ask_kind, 'answered_by', to_jsonb(k.answered_by)) order by k.ask_kind)
      from market.ask_kind k));
end
$$;
comment on function api.get_taxonomy() is 'Domains with their kinds and categories, and which kinds of offer answer an ask. Needs no entering.';
grant execute on function api.get_taxonomy() to souk_api;
--! EndIncluded api/get_taxonomy.sql
--! Included api/get_me.sql
-- One document that lets an agent rebuild its whole situation. The person's e-mail and phone are never in it.

create function api.get_me(base_url text, link_key bytea) returns jsonb
  language plpgsql stable
as $$
declare
  agent market.agent;
  account market.account;
  connected boolean := market.connected();
  acts_for text;
begin
  select a.id, a.account_id, a.name, null::bytea, a.created_at, a.connected_at, a.removed_at into agent
  from market.agent a where a.id = market.agent_id();
  select * into account from market.account a where a.id = market.account_id();
  acts_for := coalesce(account.display_name, 'the person who approved me');
  return jsonb_build_object(
    'id', account.id,
    'display_name', coalesce(account.display_name, ''),
    'agent', jsonb_build_object('id', agent.id, 'name', agent.name, 'connected', connected),
    'account', jsonb_build_object(
      'connected', connected,
      'verified', market.verified_methods(),
      'available_methods', market.methods(true),
      'unavailable_methods', market.methods(false),
      'published_offers', (select p.lifetime from market.publisher p where p.account_id = account.id),
      'member_since', market.utc(account.created_at),
      'profile_url', get_me.base_url || '/settings'),
    'permissions', (
      select jsonb_object_agg(p.name, jsonb_build_object('allowed', connected or not p.needs_approval)
        || case when p.needs_approval and not connected then jsonb_build_object('accepted_methods', '[]'::jsonb,
          'summary', 'A person has to approve this agent first, through the connection link.') else '{}' end)
      from (values ('search_offers', false), ('read_offers', false), ('read_matches', false),
        ('start_verification', false), ('report_offer', false),
        ('publish_offer', true), ('create_ask', true), ('manage_offers', true), ('manage_asks', true)) as p (name, needs_approval)),
    'limits', (
      select jsonb_object_agg(l.action, market.own_figures(l.action))
      from (values ('publish_offer'), ('create_ask'), ('preview_offer')) as l (action)),
    'pending_verifications', (
      select coalesce(jsonb_agg(market.verification_document(v, get_me.base_url, get_me.link_key) order by v.id), '[]')
      from market.verification v
      where v.account_id = account.id and v.status = 'pending' and v.expires_at > now()),
    'activity', jsonb_build_object(
      'asks_active', (select count(*) from market.ask a where a.account_id = account.id and a.status = 'active'),
      'offers_published', (select count(*) from market.offer o where o.account_id = account.id and o.status = 'published'),
      'offers_pending_review', (select count(*) from market.offer o where o.account_id = account.id and o.status = 'pending_review')),
    'next', case
      when not connected then jsonb_build_array(
        jsonb_build_object('summary', 'Ask the person to open the connection link, compare the code and approve. Then read this document again.', 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'Meanwhile you can search.', 'method', 'POST', 'path', '/v1/offers/search'))
      else jsonb_build_array(
        jsonb_build_object('summary', format('Tell the person: "I now act for %s. If that is not you, tell me to disconnect."', acts_for), 'method', 'GET', 'path', '/v1/me'),
        jsonb_build_object('summary', 'Publish what the person offers, in their own words.', 'method', 'POST', 'path', '/v1/offers'),
        jsonb_build_object('summary', 'State what the person wants, and read what matches.', 'method', 'POST', 'path', '/v1/asks'),
        jsonb_build_object('summary', 'If the person did not mean to connect you, disconnect.', 'method', 'DELETE', 'path', '/v1/me/agent')) end);
end
$$;
comment on function api.get_me(text, bytea) is 'Me: account, permissions, limits, open verifications, activity and what to do next.';
grant execute on function api.get_me(text, bytea) to souk_api;
--! EndIncluded api/get_me.sql
--! Included api/verification.sql
-- An agent asks that its person proves a sign-in method; the person does so on a page, so no secret passes the agent.

create function api.start_verification(method text, base_url text, link_key bytea) returns jsonb
  language plpgsql volatile
as $$
declare
  verification market.verification;
  started boolean := false;
  new_id uuid := market.uuid_v7();
begin
  if not exists (select from market.sign_in_method m where m.method = start_verification.method and m.available) then
    perform market.fail(400, 'unknown_method',
      case when market.methods(true) = '[]' then 'No sign-in method is offered at present; nothing you do requires one.'
        else 'This sign-in method is not offered. Choose one of options.' end,
      jsonb_build_object('options', market.methods(true)));
  end if;
  if exists (select from market.proved_method p
      where p.account_id = market.account_id() and p.method = start_verification.method) then
    -- Proved already: there is nothing to wait for.
    return jsonb_build_object('status', 200, 'body', jsonb_build_object(
      'id', coalesce((select v.id from market.verification v where v.account_id = market.account_id()
        and v.method = start_verification.method and v.status = 'completed' order by v.id desc limit 1), new_id),
      'method', start_verification.method, 'status', 'completed', 'expires_in', 0,
      'summary', 'The account has proved this method already.'));
  end if;
  update market.verification v set status = 'expired'
  where v.agent_id = market.agent_id() and v.method = start_verification.method and v.status = 'pending' and v.expires_at <= now();
  insert into market.verification (id, account_id, agent_id, method, secret_hash)
  values (new_id, market.account_id(), market.agent_id(), start_verification.method,
    sha256(convert_to(market.verification_secret(link_key, new_id), 'UTF8')))
  on conflict do nothing;
  started := found;
  select * into verification from market.verification v
  where v.agent_id = market.agent_id() and v.method = start_verification.method and v.status = 'pending';
  return jsonb_build_object('status', case when started then 201 else 200 end,
    'body', market.verification_document(verification, start_verification.base_url, start_verification.link_key));
end
$$;
comment on function api.start_verification(text, text, bytea) is
  'Verification: 201 with a new link, 200 with the same one while pending, 200 completed when proved already; 400 unknown_method.';
grant execute on function api.start_verification(text, text, bytea) to souk_api;

create function api.get_verification(id uuid, base_url text, link_key bytea) returns jsonb
  language plpgsql stable
as $$
declare
  verification market.verification;
begin
  select * into verification from market.verification v
  where v.id = get_verification.id and v.account_id = market.account_id();
  if not found then
    perform market.fail(404, 'not_found', 'You have no such verification.');
  end if;
  return market.verification_document(verification, get_verification.base_url, get_verification.link_key);
end
$$;
comment on function api.get_verification(uuid, text, bytea) is 'A verification of the account acted for; 404 otherwise.';
grant execute on function api.get_verification(uuid, text, bytea) to souk_api;
--! EndIncluded api/verification.sql
--! Included api/check_call.sql
-- A request whose body could not be parsed still learns first what stands in its way: who it is, whether it may, and its
-- figures. Only such a request costs this statement.

create function api.check_call(permission text, action text) returns jsonb
  language plpgsql volatile
as $$
declare
  headers jsonb := case when check_call.action is null then '{}' else market.rate_headers(market.own_figures(check_call.action)) end;
begin
  if check_call.permission is not null then
    perform market.require_connected(check_call.permission, headers);
  end if;
  return headers;
end
$$;
comment on function api.check_call(text, text) is 'The headers that a refusal of this action carries; 403 when the permission is missing.';
grant execute on function api.check_call(text, text) to souk_api;
--! EndIncluded api/check_call.sql
--! Included api/submit_offer.sql
-- Publishing from plain text: checked, counted, written down and given to the worker, in one statement. What the text
-- says is read by the worker; the answer is the submission's.

create function market.text_errors(text text) returns jsonb
  language sql immutable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', '/text', 'detail', e.detail)), '[]')
  from (values
    (case when btrim(text, E' \t\r\n') = '' then 'The text is empty.' end),
    (case when char_length(normalize(text, NFC)) > 4000 then 'A text may have at most 4,000 characters.' end),
    (market.contains_secret(text))) as e (detail)
  where e.detail is not null
$$;
comment on function market.text_errors(text) is 'What is wrong with a text before it is read: [{pointer, detail}].';
grant execute on function market.text_errors(text) to souk_agent;

create function market.submission_errors(body jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return case when body ? 'text' then market.text_errors(body ->> 'text') else '[]' end
    || case when body ? 'images' then market.image_errors(body -> 'images') else '[]' end
    || case when body ->> 'origin_ask_id' is not null and not exists (
        select from market.ask a
        where a.id::text = lower(body ->> 'origin_ask_id') and a.account_id = market.account_id())
      then '[{"pointer": "/origin_ask_id", "detail": "This is not the id of one of your asks. Leave it out, or send an id that GET /v1/asks lists."}]'
      else '[]' end;
end
$$;
comment on function market.submission_errors(jsonb) is 'What is wrong with an OfferSubmission of the right shape: [{pointer, detail}].';
grant execute on function market.submission_errors(jsonb) to souk_agent;

create function market.submit(kind text, action text, body jsonb, idempotency_key text, request_hash bytea, errors jsonb, target_id uuid)
  returns jsonb
  language plpgsql volatile
as $$
declare
  admission jsonb;
  submission_id uuid := market.uuid_v7();
begin
  admission := market.admit(submit.action, submit.idempotency_key, submit.request_hash, submit.errors);
  if admission ? 'status' then
    return admission;
  end if;
  if submit.kind = 'create_ask' then
    insert into market.ask (id, account_id, agent_id, text, watch_enabled)
    values (submit.target_id, market.account_id(), market.agent_id(), normalize(body ->> 'text', NFC),
      coalesce((body ->> 'watch_enabled')::boolean, true));
  end if;
  insert into market.submission (id, kind, account_id, agent_id, target_id, origin_ask_id, text, images)
  values (submission_id, submit.kind, market.account_id(), market.agent_id(), submit.target_id,
    (body ->> 'origin_ask_id')::uuid, normalize(body ->> 'text', NFC), market.image_links(coalesce(body -> 'images', '[]')));
  perform market.note_activity();
  if submit.idempotency_key is not null then
    perform market.hold_answer(submit.idempotency_key, submission_id);
  end if;
  return admission || jsonb_build_object('submission', submission_id);
end
$$;
comment on function market.submit(text, text, jsonb, text, bytea, jsonb, uuid) is
  'Admits a text and has it read: {submission, headers}, or {status, body, headers} when a key replays.';
grant execute on function market.submit(text, text, jsonb, text, bytea, jsonb, uuid) to souk_agent;

create function api.submit_offer(body jsonb, idempotency_key text, request_hash bytea, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
begin
  perform market.require_connected('publish_offer', market.rate_headers(market.own_figures('publish_offer')));
  return market.submit('publish_offer', 'publish_offer', body, submit_offer.idempotency_key, submit_offer.request_hash,
    case when errors = '[]' then market.submission_errors(body) else errors end, market.uuid_v7());
end
$$;
comment on function api.submit_offer(jsonb, text, bytea, jsonb) is
  'Takes an OfferSubmission: {submission, headers} to wait for, or a replay. errors: what the edge found wrong with the body.';
grant execute on function api.submit_offer(jsonb, text, bytea, jsonb) to souk_api;

create function api.preview_offer(body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
begin
  return market.submit('preview_offer', 'preview_offer', body, null, null,
    case when errors = '[]' then market.submission_errors(body) else errors end, null);
end
$$;
comment on function api.preview_offer(jsonb, jsonb) is 'Takes a text to be read and not published: {submission, headers}.';
grant execute on function api.preview_offer(jsonb, jsonb) to souk_api;
--! EndIncluded api/submit_offer.sql
--! Included api/submission.sql
-- Waiting for a text to be read.

create function market.answer_of(submission_id uuid) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('status', s.status, 'body', s.body)
  from market.submission s
  where s.id = answer_of.submission_id and s.agent_id = market.agent_id() and s.settled_at is not null
$$;
comment on function market.answer_of(uuid) is 'The settled answer of one of the caller''s submissions, else null.';
grant execute on function market.answer_of(uuid) to souk_agent;

create function api.get_answer(submission_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return coalesce(market.answer_of(get_answer.submission_id), '{}');
end
$$;
comment on function api.get_answer(uuid) is 'status and body of a submission''s answer; {} while it is being read.';
grant execute on function api.get_answer(uuid) to souk_api;

create function api.withdraw_submission(submission_id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (select from market.submission s where s.id = withdraw_submission.submission_id and s.agent_id = market.agent_id()) then
    perform market.withdraw(withdraw_submission.submission_id);
  end if;
  return coalesce(market.answer_of(withdraw_submission.submission_id), '{}');
end
$$;
comment on function api.withdraw_submission(uuid) is
  'The deadline passed: cancels what is not yet decided, and gives the answer, which may have been decided in the meantime.';
grant execute on function api.withdraw_submission(uuid) to souk_api;
--! EndIncluded api/submission.sql
--! Included api/offers.sql
-- One offer, the caller's own offers, and what their owner may do with them.

create function market.own_offer(id uuid) returns market.offer
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  select * into offer from market.offer o where o.id = own_offer.id and o.account_id = market.account_id() for update;
  if not found then
    perform market.fail(404, 'not_found', 'You have no such offer.');
  end if;
  return offer;
end
$$;
comment on function market.own_offer(uuid) is 'An offer of the account acted for, locked; 404 otherwise.';
grant execute on function market.own_offer(uuid) to souk_agent, souk_person;

create function api.get_offer(id uuid) returns jsonb
  language plpgsql stable
as $$
declare
  offer market.offer;
begin
  select * into offer from market.offer o where o.id = get_offer.id;
  if not found then
    perform market.fail(404, 'not_found', 'There is no such offer, or it is not visible to you.');
  end if;
  if offer.status <> 'published' then
    return market.owner_offer(offer);
  end if;
  return market.search_result(offer)
    || jsonb_build_object('status', offer.status, 'domain', offer.domain, 'category', offer.category,
      'offer_kind', offer.offer_kind, 'updated_at', market.utc(offer.updated_at))
    || case when offer.account_id = market.account_id() then jsonb_build_object('owner', market.owner_offer(offer)) else '{}' end;
end
$$;
comment on function api.get_offer(uuid) is
  'A published offer for anyone (with owner for its owner), an unpublished one for its owner; 404 otherwise.';
grant execute on function api.get_offer(uuid) to souk_api;

create function api.list_offers(status text, "limit" integer, cursor text) returns jsonb
  language plpgsql stable
as $$
declare
  list constant text := 'offers ' || coalesce(status, '');
  after uuid := (market.position_of(cursor, list) ->> 'id')::uuid;
  results jsonb;
  last_id uuid;
  more boolean;
begin
  select coalesce(jsonb_agg(market.owner_offer(p.offer) order by p.id desc) filter (where p.n <= list_offers.limit), '[]'),
    (array_agg(p.id order by p.id desc) filter (where p.n <= list_offers.limit))[list_offers.limit], count(*) > list_offers.limit
  into results, last_id, more
  from (
    select o as offer, o.id, row_number() over (order by o.id desc) as n from market.offer o
    where o.account_id = market.account_id()
      and (list_offers.status is null or o.status = list_offers.status)
      and (after is null or o.id < after)
    order by o.id desc limit list_offers.limit + 1) as p;
  return jsonb_build_object('results', results,
    'page', market.page(jsonb_build_object('list', list, 'id', last_id), more));
end
$$;
comment on function api.list_offers(text, integer, text) is 'The account''s own offers as OwnerOffers, newest first.';
grant execute on function api.list_offers(text, integer, text) to souk_api;

create function api.update_offer(id uuid, body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform market.require_connected('manage_offers', market.rate_headers(market.own_figures('publish_offer')));
  offer := market.own_offer(update_offer.id);
  if offer.status not in ('published', 'archived', 'pending_review') then
    perform market.fail(409, 'invalid_state', format('This offer is %s, so it cannot be changed.', offer.status));
  end if;
  return market.submit('update_offer', 'publish_offer',
    -- Always read anew, since what is published must stand in the text that is shown.
    jsonb_build_object('text', offer.text, 'images', to_jsonb(offer.images)) || body, null, null,
    case when errors = '[]' then market.submission_errors(body) else errors end, offer.id);
end
$$;
comment on function api.update_offer(uuid, jsonb, jsonb) is
  'Takes a new text or images of an own offer, to be read like a new one; counts as publishing. {submission, headers}.';
grant execute on function api.update_offer(uuid, jsonb, jsonb) to souk_api;

create function api.archive_offer(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform market.require_connected('manage_offers');
  offer := market.own_offer(archive_offer.id);
  if offer.status <> 'archived' then
    update market.offer o set status = 'archived' where o.id = offer.id returning * into offer;
  end if;
  return market.owner_offer(offer);
end
$$;
comment on function api.archive_offer(uuid) is 'Takes an own offer down; an archived one stays as it is. 409 invalid_state for a removed one.';
grant execute on function api.archive_offer(uuid) to souk_api;

create function api.republish_offer(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform market.require_connected('manage_offers');
  offer := market.own_offer(republish_offer.id);
  if offer.status <> 'published' then
    if offer.status = 'archived' then
      perform market.admit('publish_offer', null, null, '[]');
    end if;
    update market.offer o set status = 'published' where o.id = offer.id returning * into offer;
  end if;
  return market.owner_offer(offer);
end
$$;
comment on function api.republish_offer(uuid) is 'Puts an own archived offer up again, which counts as publishing; a published one stays as it is. 409 invalid_state for a removed one.';
grant execute on function api.republish_offer(uuid) to souk_api;

create function api.report_offer(id uuid, reason text, comment text) returns jsonb
  language plpgsql volatile
as $$
begin
  if not exists (select from market.offer o where o.id = report_offer.id and o.status = 'published') then
    perform market.fail(404, 'not_found', 'There is no such offer, or it is not visible to you.');
  end if;
  insert into market.report (offer_id, account_id, agent_id, reason, comment)
  values (report_offer.id, market.account_id(), market.agent_id(), report_offer.reason, nullif(btrim(report_offer.comment), ''))
  on conflict do nothing;
  return jsonb_build_object('offer_id', report_offer.id, 'status', 'received',
    'summary', 'A moderator will look at this offer. Reporting it again changes nothing.');
end
$$;
comment on function api.report_offer(uuid, text, text) is 'Puts a published offer before the moderators, once an account.';
grant execute on function api.report_offer(uuid, text, text) to souk_api;
--! EndIncluded api/offers.sql
--! Included api/asks.sql
-- Asks: stating what somebody wants, and what becomes of it.

create function market.own_ask(id uuid) returns market.ask
  language plpgsql stable
as $$
declare
  ask market.ask;
begin
  select * into ask from market.ask a where a.id = own_ask.id and a.account_id = market.account_id();
  if not found then
    perform market.fail(404, 'not_found', 'You have no such ask.');
  end if;
  return ask;
end
$$;
comment on function market.own_ask(uuid) is 'An ask of the account acted for; 404 otherwise.';
grant execute on function market.own_ask(uuid) to souk_agent, souk_person;

create function api.create_ask(body jsonb, idempotency_key text, request_hash bytea, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
begin
  perform market.require_connected('create_ask', market.rate_headers(market.own_figures('create_ask')));
  return market.submit('create_ask', 'create_ask', body, create_ask.idempotency_key, create_ask.request_hash,
    case when errors = '[]' then market.text_errors(body ->> 'text') else errors end, market.uuid_v7());
end
$$;
comment on function api.create_ask(jsonb, text, bytea, jsonb) is 'Takes an AskCreate: {submission, headers} to wait for, or a replay.';
grant execute on function api.create_ask(jsonb, text, bytea, jsonb) to souk_api;

create function api.get_ask(id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return market.ask_document(market.own_ask(get_ask.id));
end
$$;
comment on function api.get_ask(uuid) is 'An own ask; 404 otherwise.';
grant execute on function api.get_ask(uuid) to souk_api;

create function api.list_asks(status text, "limit" integer, cursor text) returns jsonb
  language plpgsql stable
as $$
declare
  list constant text := 'asks ' || coalesce(status, '');
  after uuid := (market.position_of(cursor, list) ->> 'id')::uuid;
  results jsonb;
  last_id uuid;
  more boolean;
begin
  select coalesce(jsonb_agg(market.ask_document(p.ask) order by p.id desc) filter (where p.n <= list_asks.limit), '[]'),
    (array_agg(p.id order by p.id desc) filter (where p.n <= list_asks.limit))[list_asks.limit], count(*) > list_asks.limit
  into results, last_id, more
  from (
    select a as ask, a.id, row_number() over (order by a.id desc) as n from market.ask a
    where a.account_id = market.account_id()
      and (list_asks.status is null or a.status = list_asks.status)
      and (after is null or a.id < after)
    order by a.id desc limit list_asks.limit + 1) as p;
  return jsonb_build_object('results', results,
    'page', market.page(jsonb_build_object('list', list, 'id', last_id), more));
end
$$;
comment on function api.list_asks(text, integer, text) is 'The account''s own asks, newest first.';
grant execute on function api.list_asks(text, integer, text) to souk_api;

create function api.update_ask(id uuid, body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile
as $$
declare
  ask market.ask;
begin
  perform market.require_connected('manage_asks', market.rate_headers(market.own_figures('create_ask')));
  ask := market.own_ask(update_ask.id);
  if errors <> '[]' then
    perform market.fail_fields(errors);
  end if;
  if body ? 'watch_enabled' then
    update market.ask a set watch_enabled = (body ->> 'watch_enabled')::boolean, updated_at = now()
    where a.id = ask.id returning * into ask;
  end if;
  if body ? 'text' then
    return market.submit('update_ask', 'create_ask', body, null, null, market.text_errors(body ->> 'text'), ask.id);
  end if;
  return jsonb_build_object('status', 200, 'headers', market.rate_headers(market.own_figures('create_ask')),
    'body', market.ask_document(ask));
end
$$;
comment on function api.update_ask(uuid, jsonb, jsonb) is
  'Changes watch_enabled at once; a new text is read like a new ask''s, counts like one, and keeps the id. {submission, headers}, or the answer.';
grant execute on function api.update_ask(uuid, jsonb, jsonb) to souk_api;

create function market.set_ask_status(id uuid, status text) returns jsonb
  language plpgsql volatile
as $$
declare
  ask market.ask;
begin
  perform market.require_connected('manage_asks');
  ask := market.own_ask(set_ask_status.id);
  if ask.status <> set_ask_status.status then
    update market.ask a set status = set_ask_status.status, updated_at = now() where a.id = ask.id returning * into ask;
  end if;
  return market.ask_document(ask);
end
$$;
comment on function market.set_ask_status(uuid, text) is 'Moves an own ask; one that is there already stays. 409 invalid_state when the move is not allowed.';
grant execute on function market.set_ask_status(uuid, text) to souk_agent, souk_person;

create function api.archive_ask(id uuid) returns jsonb
  language plpgsql volatile
as $$ begin return market.set_ask_status(archive_ask.id, 'archived'); end $$;
comment on function api.archive_ask(uuid) is 'Puts an own ask away.';
create function api.fulfill_ask(id uuid) returns jsonb
  language plpgsql volatile
as $$ begin return market.set_ask_status(fulfill_ask.id, 'fulfilled'); end $$;
comment on function api.fulfill_ask(uuid) is 'Marks an own ask as answered.';
create function api.reopen_ask(id uuid) returns jsonb
  language plpgsql volatile
as $$ begin return market.set_ask_status(reopen_ask.id, 'active'); end $$;
comment on function api.reopen_ask(uuid) is 'Makes an own ask active again.';
grant execute on function api.archive_ask(uuid), api.fulfill_ask(uuid), api.reopen_ask(uuid) to souk_api;

create function api.list_matches(id uuid, since text, "limit" integer, cursor text) returns jsonb
  language plpgsql stable
as $$
declare
  ask market.ask := market.own_ask(list_matches.id);
  list constant text := 'matches ' || ask.id;
  after jsonb := market.position_of(cursor, list);
  -- Every cursor of this list also carries how far it had seen, which is what since compares.
  seen bigint := (market.position_of(since, list) ->> 'sequence')::bigint;
  newest bigint;
  results jsonb;
  last record;
  more boolean;
begin
  select coalesce((after ->> 'sequence')::bigint, max(m.sequence), 0) into newest from market.match m where m.ask_id = ask.id;
  with page as (
    select m.score, m.offer_id, m.first_matched_at, m.reasons, o as offer,
      row_number() over (order by m.score desc, m.offer_id) as n
    from market.match m join market.offer o on o.id = m.offer_id
    where m.ask_id = ask.id and o.status = 'published' and o.account_id is distinct from ask.account_id
      and (seen is null or m.sequence > seen) and m.sequence <= newest
      and (after is null or (-m.score, m.offer_id) > (-(after ->> 'score')::real, (after ->> 'id')::uuid))
    order by m.score desc, m.offer_id limit list_matches.limit + 1
  )
  select coalesce(jsonb_agg(market.search_result(p.offer) || jsonb_build_object(
        'score', round(p.score::numeric, 4), 'rank', coalesce((after ->> 'rank')::integer, 0) + p.n,
        'match', jsonb_build_object('first_matched_at', market.utc(p.first_matched_at), 'reasons', p.reasons))
      order by p.n) filter (where p.n <= list_matches.limit), '[]'),
    max(p.n) > list_matches.limit
  into results, more from page p;
  select (results -> -1 ->> 'id')::uuid as id, (results -> -1 ->> 'rank')::integer as rank,
    (select m.score from market.match m where m.ask_id = ask.id and m.offer_id = (results -> -1 ->> 'id')::uuid) as score
  into last;
  return jsonb_build_object(
    'ask_id', ask.id, 'status', ask.status, 'watch_enabled', ask.watch_enabled, 'results', results,
    'since', market.cursor_of(jsonb_build_object('list', list, 'sequence', newest)),
    'page', market.page(jsonb_build_object('list', list, 'sequence', newest, 'id', last.id, 'score', last.score, 'rank', last.rank),
      coalesce(more, false)),
    'next', case
      when ask.ask_kind in ('sell', 'lease_out') then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing matches an ask to sell or to let. Publish an offer, with origin_ask_id set to this ask.',
        'method', 'POST', 'path', '/v1/offers'))
      when ask.read_at is null then jsonb_build_array(jsonb_build_object(
        'summary', 'The text of this ask is still being read. Look again in a minute.',
        'method', 'GET', 'path', '/v1/asks/' || ask.id || '/matches'))
      when ask.ask_kind is null or ask.domain is null then jsonb_build_array(jsonb_build_object(
        'summary', 'The text does not say clearly what is wanted. Send a clearer one.',
        'method', 'PATCH', 'path', '/v1/asks/' || ask.id))
      when results = '[]' then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing new matches. Look again later with the since of this answer.',
        'method', 'GET', 'path', '/v1/asks/' || ask.id || '/matches'))
      else jsonb_build_array(jsonb_build_object(
        'summary', 'Show the person what matches. When one of them is taken, mark the ask as fulfilled.',
        'method', 'POST', 'path', '/v1/asks/' || ask.id || '/fulfill')) end);
end
$$;
comment on function api.list_matches(uuid, text, integer, text) is
  'The live offers that answer an own ask, best first, each with the reasons; since: only what matched after that answer.';
grant execute on function api.list_matches(uuid, text, integer, text) to souk_api;
--! EndIncluded api/asks.sql
--! Included api/search_offers.sql
-- The answer to a search.

create function market.allowed_values(request jsonb) returns jsonb
  language sql stable
as $$
  -- A filter that names what the taxonomy does not know is a mistake, not an empty result.
  select coalesce(jsonb_agg(jsonb_build_object('pointer', '/filters/' || f.name,
    'detail', format('%s is not a known %s. Allowed: %s.', quote_ident(left(v.value, 60)), f.name, array_to_string(f.allowed, ', ')))), '[]')
  from (values
    ('domain', array(select d.domain from market.domain d order by d.position)),
    ('category', array(select distinct c.category from market.category c order by 1)),
    ('offer_kind', array['sale', 'rental', 'service_offer', 'project_hire', 'dating', 'friendship'])) as f (name, allowed),
  lateral unnest(market.text_array(request -> 'filters' -> f.name)) as v (value)
  where v.value <> all (f.allowed)
$$;
comment on function market.allowed_values(jsonb) is 'What is unknown in the classification filters of a search: [{pointer, detail}].';
grant execute on function market.allowed_values(jsonb), market.text_array(jsonb) to souk_agent;

create function api.search_offers(request jsonb, embedding text, model text, notices jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  if market.agent_id() is null then
    perform market.fail(401, 'unauthorized', 'Call as an agent.');
  end if;
  return market.answer_search(request, embedding, model, notices);
end
$$;
comment on function api.search_offers(jsonb, text, text, jsonb) is
  'SearchResponse for a search body; embedding: the query''s vector by that model, or null, and then notices say why.';
grant execute on function api.search_offers(jsonb, text, text, jsonb) to souk_api;

create function market.answer_search(request jsonb, embedding text, model text, notices jsonb) returns jsonb
  language plpgsql stable security definer set search_path = ''
as $$
declare
  query text := btrim(normalize(coalesce(request ->> 'query', ''), NFC));
  filters jsonb := coalesce(request -> 'filters', '{}');
  sort text := coalesce(request ->> 'sort', 'relevance');
  size integer := coalesce((request ->> 'limit')::integer, 10);
  -- A cursor belongs to the search it came from.
  list text := 'search ' || md5((request - 'cursor' - 'limit' - 'detail')::text);
  after jsonb := market.position_of(request ->> 'cursor', list);
  errors jsonb := market.allowed_values(request);
  as_of timestamptz := coalesce((after ->> 'as_of')::timestamptz, now());
  vector public.halfvec := case when market.setting('embedding_model') = to_jsonb(model) then market.unit_vector(embedding) end;
  before integer := coalesce((after ->> 'rank')::integer, 0);
  skip integer := case when query <> '' then before else 0 end;
  results jsonb;
  last record;
  more boolean;
begin
  if market.account_id() is null then
    perform market.fail(401, 'unauthorized', 'Call as an agent.');
  end if;
  if jsonb_array_length(errors) > 0 then
    perform market.fail_fields(errors);
  end if;
  if query = '' and filters = '{}' then
    perform market.fail_fields('[{"pointer": "/query", "detail": "Say what to look for: a query, a filter, or both."}]');
  end if;

  -- A browsed list goes on after the last key; a ranked one is short, and goes on after the last rank.
  with ranked as (
    select s.offer_id, s.score, null::numeric as sort_key
    from market.search_offers(query, filters, vector, model, as_of, market.account_id(), 200) as s
    where query <> '' and sort = 'relevance'
    union all
    select s.offer_id, s.score, case sort when 'newest' then extract(epoch from o.published_at) else o.price_hundredths end
    from market.search_offers(query, filters, vector, model, as_of, market.account_id(), 1000) as s
    join market.offer o on o.id = s.offer_id
    where query <> '' and sort <> 'relevance' and (sort = 'newest' or o.price_hundredths is not null)
    union all
    select b.offer_id, 0, b.sort_key
    from market.browse_offers(filters, as_of, market.account_id(), case sort when 'relevance' then 'newest' else sort end,
      after, size + 1) as b
    where query = ''
  ), ordered as (
    select r.offer_id, r.score, row_number() over (order by
      case sort when 'relevance' then r.score end desc,
      case sort when 'price_asc' then r.sort_key end,
      case when sort <> 'price_asc' then r.sort_key end desc,
      case sort when 'price_asc' then r.offer_id end,
      r.offer_id desc) as n
    from ranked r
  ), page as (
    select p.n, p.score, o as offer
    from ordered p join market.offer o on o.id = p.offer_id
    where p.n > skip and p.n <= skip + size + 1
  )
  select
    coalesce(jsonb_agg(market.search_result(p.offer) || jsonb_build_object(
        'score', round(p.score::numeric, 4), 'rank', before - skip + p.n)
      order by p.n) filter (where p.n <= skip + size), '[]'),
    coalesce(max(p.n) > skip + size, false)
  into results, more from page p;
  if request ->> 'detail' = 'compact' then
    select coalesce(jsonb_agg(r || jsonb_build_object('metadata', null,
      'document', (r -> 'document') || jsonb_build_object('description', left(r -> 'document' ->> 'description', 200))) order by n), '[]')
    into results from jsonb_array_elements(results) with ordinality as t (r, n);
  end if;
  select o.id, o.published_at, o.price_hundredths into last
  from market.offer o where o.id = (results -> -1 ->> 'id')::uuid;

  return jsonb_build_object(
    'type', 'results', 'query', coalesce(request ->> 'query', ''),
    'classification', null,
    'results', results,
    'page', market.page(jsonb_build_object('list', list, 'as_of', as_of, 'id', last.id, 'time', last.published_at,
      'price', last.price_hundredths, 'rank', results -> -1 -> 'rank'), more),
    'notices', notices,
    'next', case when results = '[]' and after is null then jsonb_build_array(jsonb_build_object(
        'summary', 'Nothing is offered yet. State what the person wants as an ask, and read its matches later.',
        'method', 'POST', 'path', '/v1/asks'))
      when results = '[]' then '[]'
      else jsonb_build_array(jsonb_build_object(
        'summary', 'Read one offer in full before the person decides.',
        'method', 'GET', 'path', '/v1/offers/' || (results -> 0 ->> 'id'))) end);
end
$$;
comment on function market.answer_search(jsonb, text, text, jsonb) is
  'The SearchResponse. Runs as its owner, since search operators are not leakproof; market.passes states who may see what.';
grant execute on function market.answer_search(jsonb, text, text, jsonb) to souk_agent;
--! EndIncluded api/search_offers.sql

reset role;
--! EndIncluded index.sql
