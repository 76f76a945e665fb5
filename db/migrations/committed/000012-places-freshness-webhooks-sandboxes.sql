--! Previous: sha1:4c535d12229417058e9b82563abe7aa370eab776
--! Hash: sha1:46421ab58d5b97539c4f65e990b16679192dd5d9
--! Message: places-freshness-webhooks-sandboxes

-- Enter migration here
set local role souk_owner;
set local check_function_bodies = off;

-- Freshness of offers. Offers from before count as confirmed by the upgrade, so nothing is archived by surprise. A
-- default that is the same for all rows changes only the catalogue, so the table is not rewritten.
alter table market.offer add column confirmed_at timestamptz not null default now();
alter table market.offer add column stale_at timestamptz;
alter table market.offer add column expired_at timestamptz;
-- The new columns are null everywhere. Looking through a million offers for these takes about a second.
-- squawk-ignore constraint-missing-not-valid
alter table market.offer add constraint offer_stale_is_published check (stale_at is null or status = 'published');
-- squawk-ignore constraint-missing-not-valid
alter table market.offer add constraint offer_expired_is_archived check (expired_at is null or status = 'archived');
--! Included internal/freshness.sql
-- Freshness: how long ago the owner said that an offer is available. An offer that nobody confirms or changes becomes
-- stale, and later it is archived (jobs.age_offers). Its owner can republish it.

create or replace function internal.offer_lifetime(
  out stale_after interval, out archived_after interval, out warned_before interval
)
  language plpgsql stable
as $$
declare
  days constant integer := coalesce(internal.setting('offer_lifetime_days')::integer, 0);
begin
  -- Sixty days, as the contract says. Where offers live shorter than its ninety, a third of the life is left, too.
  stale_after :=
    case days when 0 then interval '60 days' else least(interval '60 days', interval '1 day' * days * 2 / 3)
    end;
  archived_after := case when days > 0 then interval '1 day' * days end;
  -- An offer that is older than its lifetime when the operator shortens it is not archived on the day of its warning.
  warned_before := case when days > 0 then least(interval '30 days', interval '1 day' * days / 3) end;
end
$$;
comment on function internal.offer_lifetime() is
  'Returns the ages since the last confirmation at which an offer becomes stale and at which it is archived (null: '
  'never), and how long it is stale before it is archived, at the least.';
grant execute on function internal.offer_lifetime() to souk_agent, souk_person;

create or replace function internal.refresh_confirmation() returns trigger
  language plpgsql volatile
as $$
begin
  if new.status = 'published' then
    new.confirmed_at := now();
  end if;
  new.stale_at := null;
  if new.status <> 'archived' then
    new.expired_at := null;
  end if;
  return new;
end
$$;
comment on function internal.refresh_confirmation() is
  'Makes an offer fresh when it is published, changed or confirmed.';
grant execute on function internal.refresh_confirmation() to souk_agent, souk_person, souk_moderator;

create or replace function internal.freshness_sentence(offer market.offer) returns text
  language plpgsql stable
as $$
declare
  life record;
begin
  if offer.expired_at is not null then
    return 'Nobody said for a long time that this offer is still available, so it was taken down. If it is available, '
      'republish it.';
  elsif offer.stale_at is null then
    return null;
  end if;
  life := internal.offer_lifetime();
  return 'This offer is live, but nobody has said for a long time that it is still available, so others come first. '
    || 'If it is available, confirm it; if not, archive it.'
    || coalesce(' Without an answer it is taken down on ' || to_char(greatest(offer.confirmed_at + life.archived_after,
      offer.stale_at + life.warned_before) at time zone 'UTC', 'YYYY-MM-DD') || '.', '');
end
$$;
comment on function internal.freshness_sentence(market.offer) is
  'Returns what the owner of a stale or expired offer is told to do; null for any other offer.';
grant execute on function internal.freshness_sentence(market.offer) to souk_agent, souk_person;
--! EndIncluded internal/freshness.sql
create trigger refresh_confirmation before update on market.offer for each row
  when (old.status <> new.status or old.text <> new.text or old.images <> new.images
    or old.confirmed_at <> new.confirmed_at)
  execute function internal.refresh_confirmation();
create trigger note_stale after update on market.offer for each row
  when (old.stale_at is null and new.stale_at is not null and new.account_id is not null)
  execute function internal.note_event('offer.stale', 'offer_id=id');
alter table market.event drop constraint event_type_known;
-- Events are kept for 30 days, and those that exist pass the old check.
-- squawk-ignore constraint-missing-not-valid
alter table market.event add constraint event_type_known check (type in ('match.created', 'match.withdrawn', 'ask.read',
  'offer.reviewed', 'offer.removed', 'offer.restored', 'offer.appeal_decided', 'offer.stale', 'offer.archived',
  'verification.completed', 'verification.expired', 'agent.connected', 'agent.removed', 'account.suspended',
  'account.reinstated', 'webhook.disabled'));
--! Included market/digest.sql
-- One row is one person's choice about the digest, the mail with new matches. Who never chose has no row, and gets
-- none.

create table market.digest (
  account_id uuid constraint digest_pkey primary key
    constraint digest_account_fkey references market.account on delete cascade,
  enabled boolean not null,
  changed_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  sent_at timestamptz,
  seen pg_snapshot,
  mail_id uuid,
  mail_until pg_snapshot,
  constraint digest_mail_has_end check ((mail_id is null) = (mail_until is null))
);
-- For jobs.enqueue_digests.
create index digest_due_at_idx on market.digest (due_at) where enabled;

alter table market.digest enable row level security;
alter table market.digest force row level security;
create policy "the owner sees all" on market.digest to souk_owner using (true) with check (true);
create policy "a person sees its own choice" on market.digest for select to souk_person
  using (account_id = (select internal.account_id()));
create policy "a person makes its own choice" on market.digest for insert to souk_person
  with check (account_id = (select internal.account_id()));
create policy "a person changes its own choice" on market.digest for update to souk_person
  using (account_id = (select internal.account_id())) with check (account_id = (select internal.account_id()));

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.digest is 'One row is one person''s choice whether new matches come by mail.';
comment on column market.digest.account_id is 'The account of the person.';
comment on column market.digest.enabled is 'Whether the person wants the digest.';
comment on column market.digest.changed_at is
  'When the person last switched it on or off. Earlier matches are not told.';
comment on column market.digest.due_at is 'When it is next looked whether there are new matches.';
comment on column market.digest.sent_at is 'When the mail server last took a digest; null when it never did.';
comment on column market.digest.seen is
  'The transactions whose matches were told (as in a cursor of the feed of events); null for none.';
comment on column market.digest.mail_id is
  'The mail that is being sent, part of its Message-ID; null when none is. A second attempt sends the same mail.';
comment on column market.digest.mail_until is 'The transactions whose matches are in the mail that is being sent.';
grant select (account_id, enabled, changed_at, sent_at), insert (account_id, enabled),
  update (enabled, changed_at, due_at)
  on market.digest to souk_person;
--! EndIncluded market/digest.sql
create policy "a dba reads all" on market.digest for select to souk_dba using (true);
-- Sandboxes
--! Included market/sandbox.sql
-- One row is one sandbox: a market of its own for test agents, which see only each other. It ends after a day, and
-- everything of it is deleted (jobs/purge_sandboxes.sql).
--
-- The accounts, agents, offers and asks of a sandbox have its id in sandbox_id. In the market it is null, so a row of
-- the market is found by `sandbox_id is null`, as the indexes of the market say (market/offer.sql, market/ask.sql).

create table market.sandbox (
  id uuid default gen_random_uuid() constraint sandbox_pkey primary key,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '24 hours',
  submissions integer not null default 0,
  constraint sandbox_submissions_not_negative check (submissions >= 0)
);
create index sandbox_expires_at_idx on market.sandbox (expires_at);

alter table market.sandbox enable row level security;
alter table market.sandbox force row level security;
create policy "the owner sees all" on market.sandbox to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.sandbox is 'One row is one sandbox, in which test agents see only each other for a day.';
comment on column market.sandbox.id is
  'UUIDv4, which nobody can guess: whoever knows it may connect an agent to the sandbox.';
comment on column market.sandbox.created_at is 'When the first agent of the sandbox connected.';
comment on column market.sandbox.expires_at is 'When the tokens of its agents end, and all of it is deleted.';
comment on column market.sandbox.submissions is
  'Number of texts that its agents have sent, and of offers republished (internal.count_sandbox_submission).';
--! EndIncluded market/sandbox.sql
create policy "a dba reads all" on market.sandbox for select to souk_dba using (true);
-- Every row is of the market, so the foreign keys have nothing to check and the indexes have nothing to contain.
alter table market.account add column sandbox_id uuid
  -- squawk-ignore adding-foreign-key-constraint
  constraint account_sandbox_fkey references market.sandbox on delete restrict;
alter table market.agent add column sandbox_id uuid
  -- squawk-ignore adding-foreign-key-constraint
  constraint agent_sandbox_fkey references market.sandbox on delete restrict;
alter table market.offer add column sandbox_id uuid
  -- squawk-ignore adding-foreign-key-constraint
  constraint offer_sandbox_fkey references market.sandbox on delete restrict;
alter table market.ask add column sandbox_id uuid
  -- squawk-ignore adding-foreign-key-constraint
  constraint ask_sandbox_fkey references market.sandbox on delete restrict;
-- squawk-ignore require-concurrent-index-creation
create index account_sandbox_id_idx on market.account (sandbox_id) where sandbox_id is not null;
-- squawk-ignore require-concurrent-index-creation
create index agent_sandbox_id_idx on market.agent (sandbox_id) where sandbox_id is not null;
-- squawk-ignore require-concurrent-index-creation
create index offer_sandbox_id_idx on market.offer (sandbox_id) where sandbox_id is not null;
-- squawk-ignore require-concurrent-index-creation
create index ask_sandbox_id_idx on market.ask (sandbox_id) where sandbox_id is not null;

-- For jobs.age_offers.
-- squawk-ignore require-concurrent-index-creation
create index offer_fresh_idx on market.offer (confirmed_at)
  where status = 'published' and stale_at is null and sandbox_id is null;
-- squawk-ignore require-concurrent-index-creation
create index offer_stale_idx on market.offer (confirmed_at)
  where status = 'published' and stale_at is not null and sandbox_id is null;

-- The indexes of the market are made anew without the rows of sandboxes. Searches go on meanwhile with the old ones:
-- only the last step keeps readers out, and takes no time.
-- squawk-ignore require-concurrent-index-creation
create index offer_published_market_idx on market.offer (published_at desc, id desc)
  where status = 'published' and sandbox_id is null;
-- squawk-ignore require-concurrent-index-creation
create index offer_published_by_price_market_idx on market.offer (price_hundredths, id)
  where status = 'published' and sandbox_id is null;
-- squawk-ignore require-concurrent-index-creation
create index offer_published_by_domain_price_market_idx on market.offer (domain, price_hundredths, id)
  where status = 'published' and sandbox_id is null;
-- squawk-ignore require-concurrent-index-creation
create index offer_search_market_idx on market.offer using gin (search, facets) with (fastupdate = off)
where status = 'published' and sandbox_id is null;
-- squawk-ignore require-concurrent-index-creation
create index ask_words_market_idx on market.ask
  using gin (search.lexemes_of(keywords_query), search.lexemes_of(place_query))
  with (fastupdate = off) where status = 'active' and sandbox_id is null;
-- squawk-ignore require-concurrent-index-creation
create index ask_active_market_idx on market.ask (id) where status = 'active' and sandbox_id is null;
-- squawk-ignore require-concurrent-index-deletion
drop index market.offer_published_idx, market.offer_published_by_price_idx, market.offer_published_by_domain_price_idx,
  market.offer_search_idx, market.ask_words_idx, market.ask_active_idx;
alter index market.offer_published_market_idx rename to offer_published_idx;
alter index market.offer_published_by_price_market_idx rename to offer_published_by_price_idx;
alter index market.offer_published_by_domain_price_market_idx rename to offer_published_by_domain_price_idx;
alter index market.offer_search_market_idx rename to offer_search_idx;
alter index market.ask_words_market_idx rename to ask_words_idx;
alter index market.ask_active_market_idx rename to ask_active_idx;

-- A vector in a sandbox is in a column of its own, so the indexes of the vectors need not be made anew. Processes of
-- the previous release read vectors only through functions. To check the rows takes a moment, because it reads no
-- vector.
alter table market.offer_embedding add column sandbox_embedding public.halfvec(512);
alter table market.ask_embedding add column sandbox_embedding public.halfvec(512);
-- squawk-ignore ban-drop-not-null
alter table market.offer_embedding alter column embedding drop not null;
-- squawk-ignore ban-drop-not-null
alter table market.ask_embedding alter column embedding drop not null;
-- squawk-ignore constraint-missing-not-valid
alter table market.offer_embedding add constraint offer_embedding_one_vector
  check ((embedding is null) <> (sandbox_embedding is null));
-- squawk-ignore constraint-missing-not-valid
alter table market.ask_embedding add constraint ask_embedding_one_vector
  check ((embedding is null) <> (sandbox_embedding is null));

--! Included internal/claims.sql
-- The caller's claims. internal.enter_agent, enter_person and enter_moderator set them for one transaction. Without
-- these calls the claims are null.

create or replace function internal.agent_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.agent_id', true), '')::uuid $$;
comment on function internal.agent_id() is 'The id of the calling agent; null when the caller is not an agent.';
grant execute on function internal.agent_id() to souk_agent, souk_person;

create or replace function internal.account_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.account_id', true), '')::uuid $$;
comment on function internal.account_id() is 'The id of the account that the caller acts for; null outside a request.';
grant execute on function internal.account_id() to souk_agent, souk_person;

create or replace function internal.visible_account_id() returns uuid
  language sql stable parallel safe
as $$
  select case when current_setting('market.disconnected', true) is distinct from 'true' then internal.account_id() end
$$;
comment on function internal.visible_account_id() is
  'The id of the account whose rows the caller may read: the one that it acts for; null for an agent that is '
  'disconnected until a person approves it again, and outside a request.';
grant execute on function internal.visible_account_id() to souk_agent, souk_person;

create or replace function internal.connected() returns boolean
  language sql stable parallel safe
as $$ select coalesce(nullif(current_setting('market.connected', true), '')::boolean, false) $$;
comment on function internal.connected() is 'Whether a person has approved the caller; false outside a request.';
grant execute on function internal.connected() to souk_agent, souk_person;

create or replace function internal.sandbox_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.sandbox_id', true), '')::uuid $$;
comment on function internal.sandbox_id() is
  'The sandbox of the calling test agent; null for every other caller, and outside a request.';
grant execute on function internal.sandbox_id() to souk_agent, souk_person;

create or replace function internal.session_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.session_id', true), '')::uuid $$;
comment on function internal.session_id() is
  'The id of the calling person''s session; null when the caller is an agent.';
grant execute on function internal.session_id() to souk_agent, souk_person;

create or replace function internal.moderator_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.moderator_id', true), '')::uuid $$;
comment on function internal.moderator_id() is
  'The account id of the calling moderator; null outside a moderator''s operation.';
grant execute on function internal.moderator_id() to souk_moderator;
--! EndIncluded internal/claims.sql
drop policy "everyone sees published offers, and an account sees its own" on market.offer;
create policy "everyone sees published offers, and an account sees its own" on market.offer for select
  to souk_agent, souk_person
  using (status = 'published' and sandbox_id is not distinct from (select internal.sandbox_id())
    and (account_id = any ((select internal.accounts_being_hidden())::uuid[])) is not true
    or account_id = (select internal.visible_account_id()));

--! Included internal/sandbox.sql
-- Sandboxes, in which developers test their agents against the real service. A test agent is approved at once, and sees
-- and is seen by the agents of its sandbox only. It needs no person, so what it may cost is limited here: the number of
-- test agents, and of the texts that they send. Providers that charge for their work do none for it.
--
-- A row belongs to the sandbox of its account (sandbox_id). Who reads offers or asks that may be of others states which
-- it wants: those of the market (sandbox_id is null), or those of the sandbox of the caller or of the row at hand. The
-- policies of market.offer say it for callers, search.matches_filter and search.sandbox_offers for searches, and
-- search.is_eligible for matches.

create or replace function internal.set_sandbox() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  new.sandbox_id := (select a.sandbox_id from market.account a where a.id = new.account_id);
  return new;
end
$$;
comment on function internal.set_sandbox() is 'Gives a new offer or ask the sandbox of its account.';

create or replace function internal.join_sandbox(sandbox_id text, address text) returns market.sandbox
  language plpgsql volatile
as $$
declare
  -- Enough for both sides of a trade and some others.
  of_one_sandbox constant integer := 10;
  -- A site is one person or one company, which may test several agents at a time.
  of_one_site constant integer := 20;
  of_all constant integer := internal.setting('sandbox_agents')::integer;
  site constant text := internal.site_of(internal.network_of(join_sandbox.address));
  sandbox market.sandbox;
  agents record;
begin
  -- One after another, so that parallel calls do not exceed the limits.
  perform internal.lock_window('sandbox', 'connect');
  if of_all = 0 then
    perform internal.raise_field_problems(
      '[{"pointer": "/sandbox", "detail": "This market has no sandboxes. Leave sandbox out to connect to the market '
      'itself."}]');
  elsif join_sandbox.sandbox_id is not null then
    -- The lock makes a deletion of the sandbox skip it (jobs.purge_sandboxes).
    select * into sandbox from market.sandbox s
    where s.id::text = lower(join_sandbox.sandbox_id) and s.expires_at > now() for share;
    if not found then
      perform internal.raise_field_problems(
        '[{"pointer": "/sandbox_id", "detail": "There is no such sandbox: a sandbox ends after 24 hours, or when its '
        'last agent is removed. Leave sandbox_id out to open a new one."}]');
    end if;
  end if;
  select count(*) as in_market, count(*) filter (where internal.site_of(c.address) = site) as of_site,
    count(*) filter (where a.sandbox_id = sandbox.id) as of_sandbox
  into agents
  from market.agent a join market.connection c on c.agent_id = a.id
  where a.sandbox_id is not null;
  if agents.of_sandbox >= of_one_sandbox then
    perform internal.raise_field_problems(format(
      '[{"pointer": "/sandbox_id", "detail": "This sandbox has %s agents, which is the most. Leave sandbox_id out to '
      'open another one."}]', of_one_sandbox)::jsonb);
  elsif agents.of_site >= of_one_site or agents.in_market >= of_all then
    perform internal.raise_problem(429, 'rate_limited', case when agents.of_site >= of_one_site
        then format('Your network has %s test agents, which is the most at a time. Remove those that you no longer '
          'need with DELETE /v1/me/agent: a sandbox without agents is deleted within two minutes. Or wait: a sandbox '
          'ends after 24 hours.', of_one_site)
        else format('This market has %s test agents, which is the most at a time. Wait until a sandbox ends, or '
          'connect to the market itself.', of_all) end,
      jsonb_build_object('retry_after', (
        select greatest(ceil(extract(epoch from min(s.expires_at) - now())), 1)::integer from market.sandbox s)));
  end if;
  if sandbox.id is null then
    insert into market.sandbox default values returning * into sandbox;
  end if;
  return sandbox;
end
$$;
comment on function internal.join_sandbox(text, text) is
  'Returns the sandbox for a new test agent that connects from an address: the one with this id, or a new one (null). '
  'Raises 400 when there is no such sandbox, when it has ten agents, or when the market has no sandboxes, and 429 when '
  'the site of the address has twenty test agents, or the market as many as the setting sandbox_agents allows.';

create or replace function internal.count_sandbox_submission(headers jsonb) returns void
  language plpgsql volatile
as $$
declare
  -- What a sandbox may cost: so many texts are read, and no more have to be compared and deleted.
  most constant integer := 200;
begin
  if internal.sandbox_id() is null then
    return;
  end if;
  update market.sandbox s set submissions = s.submissions + 1
  where s.id = internal.sandbox_id() and s.submissions < most;
  if not found then
    perform internal.raise_problem(409, 'invalid_state',
      format('The agents of this sandbox have sent %s texts, which is the most. Open a new sandbox: POST /v1/connect '
        'with {"sandbox": true}.', most), jsonb_build_object('headers', headers));
  end if;
end
$$;
comment on function internal.count_sandbox_submission(jsonb) is
  'Counts a text that a test agent sends. Raises 409 invalid_state beyond the 200th of its sandbox. Does nothing for '
  'callers in the market.';

create or replace function internal.is_of_sandbox(id uuid) returns boolean
  language plpgsql stable
as $$
begin
  return exists (
    select from market.offer o where o.id = is_of_sandbox.id and o.sandbox_id is not null
    union all select from market.ask a where a.id = is_of_sandbox.id and a.sandbox_id is not null);
end
$$;
comment on function internal.is_of_sandbox(uuid) is 'Returns whether an offer or ask is of a sandbox.';
--! EndIncluded internal/sandbox.sql
--! Included search/embedding.sql
-- Vectors: the text that a vector represents, the check that a vector is valid, and the facets stored with it.

create or replace function search.unit_vector(embedding text) returns public.halfvec
  language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  vector public.halfvec(512);
begin
  if embedding is null then
    return null;
  end if;
  -- The cast refuses any other number of dimensions, NaN and infinity.
  vector := embedding::public.halfvec(512);
  if public.l2_norm(vector) < 0.5 or public.l2_norm(vector) > 1.5 then
    return null;
  end if;
  return vector;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
comment on function search.unit_vector(text) is
  'Returns a vector of 512 finite numbers with about unit length; null for anything else, so that an invalid vector is '
  'never stored or compared.';
grant execute on function search.unit_vector(text) to souk_agent, souk_person;

create or replace function search.place_offer_vector() returns trigger
  language plpgsql volatile
as $$
declare
  offer record;
begin
  select o.facets, o.sandbox_id into offer from market.offer o where o.id = new.offer_id;
  new.facets := case when offer.sandbox_id is null then coalesce(offer.facets, '') else '' end;
  if offer.sandbox_id is not null and new.embedding is not null then
    new.sandbox_embedding := new.embedding;
    new.embedding := null;
  end if;
  return new;
end
$$;
comment on function search.place_offer_vector() is
  'Copies the facets of an offer to its vector when the vector is written. In a sandbox, the vector moves to the '
  'column that no index has, and has no facets, so that no search of the market reads it.';

create or replace function search.place_ask_vector() returns trigger
  language plpgsql volatile
as $$
begin
  if exists (select from market.ask a where a.id = new.ask_id and a.sandbox_id is not null) then
    new.sandbox_embedding := new.embedding;
    new.embedding := null;
  end if;
  return new;
end
$$;
comment on function search.place_ask_vector() is
  'Moves the vector of an ask of a sandbox to the column that no index has.';

create or replace function search.sync_embedding_facets() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.offer_embedding e set facets = new.facets where e.offer_id = new.id and new.sandbox_id is null;
  return null;
end
$$;
comment on function search.sync_embedding_facets() is
  'Copies the facets of a changed offer to its vector, no matter which role changed the offer.';

create or replace function search.embedding_input(offer market.offer) returns text
  language sql stable
as $$
  -- The title stands twice, because it says what the thing is.
  select offer.title || E'\n' || offer.title || E'\n' || concat_ws(' ', offer.category, offer.domain) || E'\n'
    || offer.text
$$;
comment on function search.embedding_input(market.offer) is 'Returns the text of an offer that its vector represents.';

create or replace function search.store_ask_embedding(ask_id uuid, embedding text, model text, input text)
  returns boolean
  language plpgsql volatile
as $$
declare
  vector public.halfvec(512) := search.unit_vector(store_ask_embedding.embedding);
begin
  if vector is null then
    delete from market.ask_embedding e using market.ask a
    where e.ask_id = store_ask_embedding.ask_id and a.id = e.ask_id
      and e.text_hash is distinct from search.text_hash(a.text);
    return false;
  end if;
  insert into market.ask_embedding (ask_id, model, embedding, text_hash)
  values (store_ask_embedding.ask_id, store_ask_embedding.model, vector, search.text_hash(store_ask_embedding.input))
  on conflict on constraint ask_embedding_pkey do update
    set model = excluded.model, embedding = excluded.embedding, sandbox_embedding = excluded.sandbox_embedding,
      text_hash = excluded.text_hash;
  perform search.end_embedding(store_ask_embedding.ask_id);
  return true;
end
$$;
comment on function search.store_ask_embedding(uuid, text, text, text) is
  'Stores the vector of an ask, made from `input`, and returns true. Without a valid vector it returns false, and '
  'deletes a stored one that represents another text.';

create or replace function search.text_hash(input text) returns bytea
  language sql immutable
as $$ select sha256(convert_to(input, 'UTF8')) $$;
comment on function search.text_hash(text) is 'Returns the SHA-256 of a text that a vector represents.';

create or replace function search.may_request_embedding(id uuid) returns boolean
  language sql volatile
as $$
  -- As many requests a day as a job has attempts. A caller who makes a job run again and again, while the provider
  -- answers with invalid vectors, causes no more.
  select internal.window_wait('embed:' || may_request_embedding.id, 'embed', 8, '1 day') is null
$$;
comment on function search.may_request_embedding(uuid) is
  'Returns whether another paid request for the vector of an offer or ask may be made now: eight a day may fail.';

create or replace function search.begin_embedding(id uuid, input text, model text, paid boolean) returns boolean
  language plpgsql volatile
as $$
declare
  scope constant text := 'embed:' || begin_embedding.id;
begin
  if exists (
    select e.model, e.text_hash from market.offer_embedding e where e.offer_id = begin_embedding.id
      and (e.model, e.text_hash) = (begin_embedding.model, search.text_hash(begin_embedding.input))
    union all
    select e.model, e.text_hash from market.ask_embedding e where e.ask_id = begin_embedding.id
      and (e.model, e.text_hash) = (begin_embedding.model, search.text_hash(begin_embedding.input)))
  then
    return false;
  end if;
  if paid and internal.is_of_sandbox(begin_embedding.id) then
    -- Test agents act for nobody, so nobody pays for them: they are matched by words.
    return false;
  elsif paid then
    perform internal.lock_window(scope, 'embed');
    if not search.may_request_embedding(begin_embedding.id) then
      return false;
    end if;
    insert into market.rate_limit_hit (scope, action) values (scope, 'embed');
  end if;
  return true;
end
$$;
comment on function search.begin_embedding(uuid, text, text, boolean) is
  'Returns whether the vector of an offer or ask has to be made from `input`: false when it has one of this text and '
  'model. If it is `paid` for, the request is counted until it succeeds: after eight in a day the result is false.';

create or replace function search.end_embedding(id uuid) returns void
  language sql volatile
as $$
  delete from market.rate_limit_hit c where c.scope = 'embed:' || end_embedding.id and c.action = 'embed'
$$;
comment on function search.end_embedding(uuid) is
  'Forgets the counted requests for the vector of an offer or ask, because it has one now.';
--! EndIncluded search/embedding.sql
create trigger set_sandbox before insert on market.offer for each row execute function internal.set_sandbox();
create trigger set_sandbox before insert on market.ask for each row execute function internal.set_sandbox();
drop trigger copy_offer_facets on market.offer_embedding;
create trigger place_vector before insert or update on market.offer_embedding
  for each row execute function search.place_offer_vector();
create trigger place_vector before insert or update on market.ask_embedding for each row
  when (new.embedding is not null) execute function search.place_ask_vector();

-- The type and the functions that make and read it change together.
drop function search.to_search_filter(jsonb, timestamptz, uuid);
alter type search.search_filter add attribute sandbox_id uuid;

-- Places: the point of an offer and the circle of an ask as columns. The facets are set by a trigger from now on, so
-- that new lexemes need no lock while the table is written anew.
alter table market.offer alter column facets drop expression;
alter table market.offer alter column facets set default '';
alter table market.offer add column latitude double precision;
alter table market.offer add column longitude double precision;
alter table market.offer add column facet_values text[];
alter table market.offer alter column facet_values set storage plain;
alter table market.ask add column latitude double precision;
alter table market.ask add column longitude double precision;
alter table market.ask add column radius_km real;
-- Asks are few and short, so they are checked within a moment.
-- squawk-ignore constraint-missing-not-valid
alter table market.ask add constraint ask_near_whole check (num_nonnulls(latitude, longitude, radius_km) in (0, 3));
alter type search.search_filter add attribute near tsquery;
alter type search.search_filter add attribute latitude double precision;
alter type search.search_filter add attribute longitude double precision;
alter type search.search_filter add attribute radius_km double precision;

--! Included search/filter.sql
-- The visibility rule and the hard filters of a search, in one place for all kinds of candidates. Written to be
-- inlined, so that each condition can use an index.

create or replace function search.text_array(filter jsonb) returns text[]
  language plpgsql immutable parallel safe
as $$
begin
  return case jsonb_typeof(filter)
    when 'string' then array[filter #>> '{}']
    when 'array' then array(select jsonb_array_elements_text(filter))
  end;
end
$$;
comment on function search.text_array(jsonb) is
  'Returns a string, or an array of strings, as text[]; null when absent.';
grant execute on function search.text_array(jsonb) to souk_agent, souk_person;

create or replace function search.is_verified(account_id uuid) returns boolean
  language plpgsql stable
as $$
begin
  -- This is a function and not a subquery, because PostgreSQL does not inline an SQL function that contains a subquery.
  return exists (select from market.proved_method m where m.account_id = is_verified.account_id);
end
$$;
comment on function search.is_verified(uuid) is 'Returns whether an account has proved a sign-in method.';

create or replace function search.to_search_filter(
  filters jsonb, as_of timestamptz, searcher uuid, sandbox_id uuid default null
)
  returns search.search_filter
  language plpgsql stable
as $$
declare
  price jsonb := coalesce(filters -> 'price', '{}');
begin
  return row(
    as_of, search.text_array(filters -> 'domain'), search.text_array(filters -> 'category'),
    search.text_array(filters -> 'offer_kind'),
    round((price ->> 'min')::numeric * 100), round((price ->> 'max')::numeric * 100), price ->> 'currency',
    price ->> 'period',
    search.place_query(filters ->> 'location'), filters, searcher, internal.accounts_being_hidden(), sandbox_id,
    null, null, null, null
  )::search.search_filter;
end
$$;
comment on function search.to_search_filter(jsonb, timestamptz, uuid, uuid) is
  'Returns the filters of a request as a search_filter, for a moment in time, a searching account, and the sandbox '
  'that is searched (null: the market).';

create or replace function search.posted_since(c search.search_filter) returns timestamptz
  language sql stable
as $$ select (c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC' $$;
comment on function search.posted_since(search.search_filter) is
  'Returns the beginning of the day since which offers must be published; null when that filter is not set.';

create or replace function search.facet_query(c search.search_filter) returns tsquery
  language plpgsql immutable
as $$
begin
  return (
    select string_agg('(' || f.query::text || ')', ' & ')::tsquery
    from (values
      (c.place),
      (c.near),
      (search.any_lexeme(array(select 'domain/' || d from unnest(c.domains) as d))),
      (search.any_lexeme(array(select 'category/' || k from unnest(c.categories) as k))),
      (search.any_lexeme(array(select 'kind/' || k from unnest(c.kinds) as k))),
      (search.price_bucket_query(c.price_min, c.price_max, c.currency))) as f (query)
    where f.query::text <> '');
end
$$;
comment on function search.facet_query(search.search_filter) is
  'Returns the filters that market.offer.facets indexes, without time, as a query that every passing offer matches; '
  'null when there are none.';

create or replace function search.passes_filter(offer market.offer, c search.search_filter) returns boolean
  language sql stable
as $$
  select offer.published_at <= c.as_of
    and (c.hidden is null or (offer.account_id = any (c.hidden)) is not true)
    and (c.domains is null or offer.domain = any (c.domains))
    and (c.categories is null or offer.category = any (c.categories))
    and (c.kinds is null or offer.offer_kind = any (c.kinds))
    and (c.price_min is null or offer.price_hundredths >= c.price_min)
    and (c.price_max is null or offer.price_hundredths <= c.price_max)
    and (c.currency is null or offer.price_currency = c.currency or offer.price_hundredths = 0)
    and (c.period is null or offer.price_period = c.period)
    and (c.place is null or offer.facets @@ c.place)
    and (c.radius_km is null
      or search.distance_km(offer.latitude, offer.longitude, c.latitude, c.longitude) <= c.radius_km)
    and (c.filters ->> 'posted_since' is null or offer.published_at >= search.posted_since(c))
    and (c.filters ->> 'reviewed' is null or offer.reviewed = (c.filters ->> 'reviewed')::boolean)
    and (c.filters ->> 'has_images' is null or (cardinality(offer.images) > 0) = (c.filters ->> 'has_images')::boolean)
    and (not coalesce((c.filters ->> 'exclude_own')::boolean, false) or offer.account_id is distinct from c.searcher)
    and (c.filters ->> 'verified_publisher' is null or (c.filters ->> 'verified_publisher')::boolean
      = search.is_verified(offer.account_id))
$$;
comment on function search.passes_filter(market.offer, search.search_filter) is
  'Returns whether an offer was published by the filter''s moment and passes every filter that is set.';

create or replace function search.matches_filter(offer market.offer, c search.search_filter) returns boolean
  language sql stable
as $$ select offer.status = 'published' and offer.sandbox_id is null and search.passes_filter(offer, c) $$;
comment on function search.matches_filter(market.offer, search.search_filter) is
  'Returns whether an offer is published in the market (search.sandbox_offers: in a sandbox) and passes every filter '
  'that is set.';
--! EndIncluded search/filter.sql
--! Included search/near.sql
-- Distances on the globe, and the cells by which an index finds what is near a point. A cell is a lexeme of
-- market.offer.facets, so one index finds words, places and times together. Core PostgreSQL's indexes of points know
-- only the plane, where one degree of longitude is as long in Oslo as in Nairobi and the 180th meridian is an edge.

create or replace function search.distance_km(
  latitude double precision, longitude double precision, to_latitude double precision, to_longitude double precision
) returns double precision
  language sql immutable parallel safe
as $$
  -- The haversine formula on a globe with the mean radius of the earth, in kilometres. The last factor keeps the sum
  -- from exceeding one by rounding, on the other side of the globe.
  select 2 * 6371.0088 * asin(sqrt((sind((to_latitude - latitude) / 2) ^ 2
    + cosd(latitude) * cosd(to_latitude) * sind((to_longitude - longitude) / 2) ^ 2) * (1 - 1e-15)))
$$;
comment on function search.distance_km(double precision, double precision, double precision, double precision) is
  'Returns the distance of two points in degrees, in kilometres; null without a point.';
grant execute on function search.distance_km(double precision, double precision, double precision, double precision)
  to souk_agent, souk_person;

create or replace function search.sound_point(point jsonb) returns jsonb
  language plpgsql immutable parallel safe
as $$
begin
  -- A model may put anything into its reading.
  if jsonb_typeof(point -> 'lat') = 'number' and jsonb_typeof(point -> 'lon') = 'number' then
    if abs((point ->> 'lat')::numeric) <= 90 and abs((point ->> 'lon')::numeric) <= 180 then
      return jsonb_build_object('lat', point -> 'lat', 'lon', point -> 'lon');
    end if;
  end if;
  return null;
end
$$;
comment on function search.sound_point(jsonb) is
  'Returns {lat, lon} if both are numbers of degrees on the globe, without other members; otherwise null.';

create or replace function search.distance_member(km double precision) returns jsonb
  language plpgsql immutable parallel safe
as $$
begin
  return case when km is null then '{}' else jsonb_build_object('distance_km', round(km::numeric, 1)) end;
end
$$;
comment on function search.distance_member(double precision) is
  'Returns {distance_km}, rounded to a tenth; {} when there is no distance.';
grant execute on function search.distance_member(double precision) to souk_agent, souk_person;

create or replace function search.cells(latitude double precision, longitude double precision) returns text[]
  language sql immutable parallel safe
as $$
  -- A cell of level n is a 2^n-th of 360 degrees wide and high: 20 km at level 11, 78 km at 9, 5,000 km at 3. The
  -- modulo puts 180 degrees east into the cell of 180 degrees west.
  select array(
    select 'cell/' || n || '/' || floor((latitude + 90) * 2 ^ n / 360)::integer || '/'
      || (floor((longitude + 180) * 2 ^ n / 360)::integer % (2 ^ n)::integer)
    from generate_series(3, 11, 2) as n)
$$;
comment on function search.cells(double precision, double precision) is
  'Returns the cells of a point in degrees, one for each level, as lexemes; nulls without a point.';

create or replace function search.cell_query(
  latitude double precision, longitude double precision, radius_km double precision, most integer default 24
) returns tsquery
  language plpgsql immutable parallel safe
as $$
declare
  -- In degrees, a little more than the radius, because of rounding.
  reach constant double precision := degrees(radius_km / 6371.0088) + 1e-6;
  -- The meridians that touch the circle. A circle around a pole crosses all of them.
  aside constant double precision := case when abs(latitude) + reach >= 90 then 180
    else least(180, asind(least(1, sind(reach) / cosd(latitude)))) end;
  level integer := 11;
  size double precision;
  bottom integer;
  top integer;
  west integer;
  east integer;
begin
  -- The smallest cells of which few enough cover the circle.
  loop
    size := 360 / 2 ^ level;
    bottom := floor((greatest(latitude - reach, -90) + 90) / size)::integer;
    top := floor((least(latitude + reach, 90) + 90) / size)::integer;
    west := floor((longitude - aside + 180) / size)::integer;
    east := least(floor((longitude + aside + 180) / size)::integer, west + (2 ^ level)::integer - 1);
    exit when level = 3 or (top - bottom + 1) * (east - west + 1) <= most;
    level := level - 2;
  end loop;
  return (
    select string_agg(format('''cell/%s/%s/%s''', level, y,
      ((x % (2 ^ level)::integer) + (2 ^ level)::integer) % (2 ^ level)::integer), ' | ')::tsquery
    from generate_series(bottom, top) as y, generate_series(west, east) as x);
end
$$;
comment on function search.cell_query(double precision, double precision, double precision, integer) is
  'Returns a query of market.offer.facets that finds all offers within a distance of a point, and others around them.';

create or replace function search.within(c search.search_filter, near jsonb) returns search.search_filter
  language plpgsql immutable
as $$
begin
  c.latitude := (near ->> 'lat')::double precision;
  c.longitude := (near ->> 'lon')::double precision;
  c.radius_km := (near ->> 'radius_km')::double precision;
  c.near := search.cell_query(c.latitude, c.longitude, c.radius_km);
  return c;
end
$$;
comment on function search.within(search.search_filter, jsonb) is
  'Returns a filter for offers within radius_km of the point {lat, lon}.';

create or replace function search.default_radius_km() returns integer
  language sql immutable parallel safe
as $$
  -- A town with its surroundings, from where people come to fetch something.
  select 25
$$;
comment on function search.default_radius_km() is 'Returns the radius where only "near" is said.';

create or replace function search.place_label(town reading.place) returns text
  language plpgsql stable
as $$
begin
  return concat_ws(', ', town.name,
    (select r.name from reading.place r where r.place = town.region and r.name <> town.name), town.country);
end
$$;
comment on function search.place_label(reading.place) is 'Returns a town with its region and its country, as one text.';

create or replace function search.named_point(near jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  place constant text := near ->> 'place';
  -- The towns of that name. The reader of a query has chosen one of them by the rest of the query.
  towns constant reading.place[] := case when place is not null then reading.towns_named(place) end;
  latitude constant double precision := coalesce((near ->> 'lat')::double precision, towns[1].latitude);
  longitude constant double precision := coalesce((near ->> 'lon')::double precision, towns[1].longitude);
  label text;
  others text[];
begin
  if near is null then
    return null;
  elsif place is not null and latitude is null then
    perform internal.raise_field_problems(jsonb_build_array(jsonb_build_object('pointer', '/filters/near/place',
      'detail', case
        when exists (select from reading.places_named(place) as p where p.kind in ('region', 'country', 'world'))
          then format('%s is a region or a country, which has no centre. Send it as filters.location, or send lat and '
            'lon.', quote_ident(left(place, 60)))
        else format('No town with the name %s is known. Check the spelling, name a larger town, or send lat and lon.',
          quote_ident(left(place, 60))) end)));
  end if;
  select search.place_label(t.town) into label
  from (select towns[n] as town, n from generate_subscripts(towns, 1) as n) as t
  -- The gazetteer has single precision.
  where abs((t.town).latitude - latitude) < 0.001 and abs((t.town).longitude - longitude) < 0.001
  order by t.n limit 1;
  -- A town with less than a fiftieth of the inhabitants is hardly ever meant, and more than three names are no help.
  others := array(
    select search.place_label(t.town)
    from (select towns[n] as town, n from generate_subscripts(towns, 1) as n) as t
    where (t.town).population * 50 >= towns[1].population
      and search.distance_km((t.town).latitude, (t.town).longitude, latitude, longitude) > 50
    order by t.n limit 3);
  return near || jsonb_build_object('lat', round(latitude::numeric, 4), 'lon', round(longitude::numeric, 4), 'label',
    coalesce(label, place),
    'others', to_jsonb(others), 'radius_km', coalesce((near ->> 'radius_km')::numeric, search.default_radius_km()));
end
$$;
comment on function search.named_point(jsonb) is
  'Returns filters.near, or what was read from a query, with lat, lon and radius_km; if it names a place, with its '
  'label and other towns of that name. Raises 400 when no town has the name.';

create or replace function search.near_notices(near jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  return case
    when near is null then '[]'
    when near ->> 'lat' is null then jsonb_build_array(jsonb_build_object('code', 'near_unknown',
      'summary', format('The query states a distance ("%s"), but no town that is known, so it was left aside. Name a '
        'town, or send filters.near with lat and lon.', near ->> 'quote')))
    when near ->> 'label' is null then '[]'
    else jsonb_build_array(jsonb_build_object('code', 'near', 'summary', format('Only offers within %s km of %s.%s',
      near ->> 'radius_km', near ->> 'label',
      ' Also called so: ' || nullif((
        select string_agg(o, '; ') from jsonb_array_elements_text(near -> 'others') as o), '')
        || '. Name the region or the country if one of these is meant.'))) end;
end
$$;
comment on function search.near_notices(jsonb) is
  'Returns the notices that say from which town distances are measured, or that none is known.';
--! EndIncluded search/near.sql
--! Included search/offer_facets.sql
-- The lexemes by which filters find an offer (market.offer.facets), and the values that facets count. A trigger keeps
-- them, and not a generated column, because an expression of a generated column cannot change without writing the whole
-- table anew under a lock.

create or replace function search.samples(id uuid) returns text[]
  language sql immutable parallel safe
as $$
  -- Each sample contains a quarter of the one before. The last bytes of a UUIDv7 are random.
  select array(select 'sample/' || level from generate_series(2, 6) as level
    where (get_byte(uuid_send(id), 14) * 256 + get_byte(uuid_send(id), 15)) % (4 ^ level)::integer = 0)
$$;
comment on function search.samples(uuid) is
  'Returns the samples of the market that an offer belongs to, as lexemes: sample/2 has a sixteenth of all offers, '
  'sample/3 a quarter of these, and so on.';

create or replace function search.sample_query(level integer) returns tsquery
  language sql immutable parallel safe
as $$ select ('''sample/' || level || '''')::tsquery $$;
comment on function search.sample_query(integer) is
  'Returns a query of market.offer.facets that finds the offers of a sample (search.samples).';

create or replace function search.offer_facets(offer market.offer) returns tsvector
  language plpgsql immutable
as $$
declare
  location constant jsonb := offer.metadata -> 'location';
begin
  return to_tsvector('simple', reading.fold(coalesce(offer.location_text, '') || ' '
      || coalesce(location ->> 'city', '') || ' ' || coalesce(location ->> 'region', '')))
    -- The country is a lexeme with a prefix, so that no word of a place equals it: the "de" in Rio de Janeiro does not
    -- mean Germany.
    || array_to_tsvector(array_remove(array['country/' || lower(location ->> 'country'),
      'domain/' || offer.domain, 'category/' || offer.category, 'kind/' || offer.offer_kind,
      'price/' || search.price_bucket(offer.price_hundredths),
      'price/' || offer.price_currency || '/' || search.price_bucket(offer.price_hundredths)]
      || search.time_buckets(offer.published_at) || search.cells(offer.latitude, offer.longitude)
      || search.samples(offer.id), null));
end
$$;
comment on function search.offer_facets(market.offer) is
  'Returns market.offer.facets for the other columns of an offer.';

create or replace function search.price_range(hundredths bigint, currency text, period text) returns text
  language plpgsql immutable parallel safe
as $$
declare
  amount constant numeric := hundredths / 100.0;
  -- 1, 10, 100 ...: a range begins at one, two or five of them.
  unit numeric;
  least numeric := 0::numeric;
  most numeric := 10::numeric;
begin
  if hundredths is null then
    return null;
  elsif hundredths <= 0 then
    return 'free';
  elsif amount >= 10 then
    unit := 10 ^ floor(log(amount));
    least := unit * case when amount >= 5 * unit then 5 when amount >= 2 * unit then 2 else 1 end;
    most := unit * case when amount >= 5 * unit then 10 when amount >= 2 * unit then 5 else 2 end;
  end if;
  return concat_ws(' ', trunc(least) || '-' || trunc(most), currency,
    case when period <> 'one_time' then 'per ' || period end);
end
$$;
comment on function search.price_range(bigint, text, text) is
  'Returns the range of a price in hundredths as a facet names it, such as "100-200 EUR" or "500-1000 EUR per month": '
  'from the first amount to just below the second. free: nothing is to be paid.';

create or replace function search.facet_names() returns text[]
  language sql immutable parallel safe
as $$ select array['category', 'offer_kind', 'price', 'condition', 'location'] $$;
comment on function search.facet_names() is 'Returns the names of the facets, in the order of their values.';

create or replace function search.facet_values(offer market.offer) returns text[]
  language plpgsql immutable
as $$
declare
  location constant jsonb := offer.metadata -> 'location';
begin
  return array[offer.category, offer.offer_kind,
    search.price_range(offer.price_hundredths, offer.price_currency, offer.price_period),
    offer.metadata ->> 'condition',
    coalesce(location ->> 'city', location ->> 'region', location ->> 'country')];
end
$$;
comment on function search.facet_values(market.offer) is
  'Returns what facets count of an offer, in the order of search.facet_names: category, kind, price range, condition, '
  'and the most exact of town, region and country. Null where it is unknown.';

create or replace function search.set_offer_facets() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  point constant jsonb := search.sound_point(new.metadata -> 'location' -> 'point');
begin
  new.latitude := (point ->> 'lat')::double precision;
  new.longitude := (point ->> 'lon')::double precision;
  new.facets := search.offer_facets(new);
  new.facet_values := search.facet_values(new);
  return new;
end
$$;
comment on function search.set_offer_facets() is
  'Sets the facets, their values and the point of an offer that is added or changed.';
--! EndIncluded search/offer_facets.sql

-- Offers that are published while the deployment rolls have their facets at once.
create trigger set_offer_facets before insert or update on market.offer
  for each row execute function search.set_offer_facets();
alter table market.offer enable always trigger set_offer_facets;
drop trigger move_offer on market.offer;
create trigger move_offer before update on market.offer for each row
  when (old.concepts = new.concepts and old.document is not distinct from new.document
    and old.facet_values is not distinct from new.facet_values
    and old.confirmed_at = new.confirmed_at and old.stale_at is not distinct from new.stale_at
    or old.status <> new.status
    or old.account_id is distinct from new.account_id
    or (old.title, old.text) <> (new.title, new.text) or old.language is distinct from new.language)
  execute function internal.move_offer();

-- Webhooks.
--! Included market/webhook.sql
-- One row is one webhook: an address to which the market sends the events of an account. internal/webhook.sql has the
-- rules.

create table market.webhook (
  id uuid constraint webhook_pkey primary key default internal.uuid_v7(),
  account_id uuid not null constraint webhook_account_fkey references market.account on delete cascade,
  agent_id uuid constraint webhook_agent_fkey references market.agent on delete cascade,
  url text not null,
  types text[],
  encrypted_secret text not null,
  created_at timestamptz not null default now(),
  is_prompt boolean not null default false,
  resume_at timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  constraint webhook_url_length check (char_length(url) between 8 and 2048),
  constraint webhook_types_number check (cardinality(types) between 1 and 30),
  constraint webhook_encrypted_secret_form check (encrypted_secret ~ '^[0-9a-f]{8}\.[A-Za-z0-9_-]{80,200}$'),
  constraint webhook_encrypted_secret_length check (char_length(encrypted_secret) <= 220),
  constraint webhook_disabled_reason_known check (disabled_reason in ('gone', 'failed')),
  constraint webhook_disabled_complete check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_account_id_idx on market.webhook (account_id);
create index webhook_agent_id_idx on market.webhook (agent_id);

alter table market.webhook enable row level security;
alter table market.webhook force row level security;
create policy "the owner sees all" on market.webhook to souk_owner using (true) with check (true);
create policy "an account sees its webhooks" on market.webhook for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));
create policy "an account adds webhooks" on market.webhook for insert to souk_agent, souk_person
  with check (account_id = (select internal.visible_account_id())
    and agent_id is not distinct from (select internal.agent_id()) and (select internal.connected()));
create policy "a dba reads all" on market.webhook for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.webhook is
  'One row is one webhook: an address to which the market sends the events of an account. It is deleted with the agent '
  'that added it, and with the account.';
comment on column market.webhook.id is 'UUIDv7.';
comment on column market.webhook.account_id is 'The account whose events are sent.';
comment on column market.webhook.agent_id is
  'The agent that added it; null when the person did in the browser. Nothing is sent while this agent is disconnected.';
comment on column market.webhook.url is 'Where the events are sent. A stranger wrote it.';
comment on column market.webhook.types is 'The types of events that are sent; null for all.';
comment on column market.webhook.encrypted_secret is
  'The secret that signs: the id of the key of WEBHOOK_KEYS, a dot, and the text encrypted with it (AES-256-GCM).';
comment on column market.webhook.created_at is 'When it was added.';
comment on column market.webhook.is_prompt is
  'Whether the receiver accepted the last attempt within a second. Until then, its attempts share fewer connections.';
comment on column market.webhook.resume_at is
  'The time before which the receiver wants no other attempt (Retry-After); null when it named none.';
comment on column market.webhook.disabled_at is 'When the market stopped sending; null while it sends.';
comment on column market.webhook.disabled_reason is
  'gone: the receiver answered 410; failed: the last attempt of an event failed.';
grant select (id, account_id, agent_id, url, types, created_at, resume_at, disabled_at, disabled_reason),
  insert (id, account_id, agent_id, url, types, encrypted_secret) on market.webhook to souk_agent, souk_person;
-- The address may contain a secret of the receiver, so a DBA sees only its host (inspect.webhooks).
grant select (id, account_id, agent_id, types, created_at, is_prompt, resume_at, disabled_at, disabled_reason)
  on market.webhook to souk_dba;
--! EndIncluded market/webhook.sql
--! Included market/webhook_delivery.sql
-- One row is one event that is sent to one webhook. It is written in the transaction of the event, so no event is
-- forgotten, and kept for seven days (jobs/webhook.sql).

create table market.webhook_delivery (
  id uuid constraint webhook_delivery_pkey primary key default internal.uuid_v7(),
  webhook_id uuid not null constraint webhook_delivery_webhook_fkey references market.webhook on delete cascade,
  event_id uuid not null,
  type text not null,
  data jsonb not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_attempt_at timestamptz default now(),
  leased_until timestamptz,
  attempted_at timestamptz,
  delivered_at timestamptz,
  last_status integer,
  last_error text,
  constraint webhook_delivery_type_length check (char_length(type) between 1 and 60),
  constraint webhook_delivery_attempts_range check (attempts between 0 and 10),
  constraint webhook_delivery_last_status_range check (last_status between 100 and 999),
  constraint webhook_delivery_last_error_length check (char_length(last_error) between 1 and 300),
  constraint webhook_delivery_delivered_is_over check (delivered_at is null or next_attempt_at is null)
);
-- What to send next to a webhook.
create index webhook_delivery_waiting_idx on market.webhook_delivery (webhook_id, next_attempt_at)
  where next_attempt_at is not null;
-- What was not sent in time (jobs.sweep_deliveries).
create index webhook_delivery_next_attempt_at_idx on market.webhook_delivery (next_attempt_at)
  where next_attempt_at is not null;
-- What is purged.
create index webhook_delivery_over_idx on market.webhook_delivery (created_at) where next_attempt_at is null;
-- The latest of a webhook; also for its deletion.
create index webhook_delivery_webhook_id_idx on market.webhook_delivery (webhook_id, id);

alter table market.webhook_delivery enable row level security;
alter table market.webhook_delivery force row level security;
create policy "the owner sees all" on market.webhook_delivery to souk_owner using (true) with check (true);
create policy "an account sees the deliveries of its webhooks" on market.webhook_delivery for select
  to souk_agent, souk_person
  using (exists (select from market.webhook w where w.id = webhook_id));
create policy "a dba reads all" on market.webhook_delivery for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.webhook_delivery is 'One row is one event that is sent to one webhook. Kept for seven days.';
comment on column market.webhook_delivery.id is 'UUIDv7.';
comment on column market.webhook_delivery.webhook_id is 'The webhook.';
comment on column market.webhook_delivery.event_id is
  'The event (market.event), and the header webhook-id of every attempt.';
comment on column market.webhook_delivery.type is 'The type of the event, or webhook.test.';
comment on column market.webhook_delivery.data is 'The data of the event: ids and facts.';
comment on column market.webhook_delivery.occurred_at is 'When the event happened.';
comment on column market.webhook_delivery.created_at is 'When it was queued.';
comment on column market.webhook_delivery.attempts is 'How many attempts have ended.';
comment on column market.webhook_delivery.next_attempt_at is
  'When it is sent next; null when it was delivered, was given up, or its webhook was disabled.';
comment on column market.webhook_delivery.leased_until is
  'Until when a worker has it. If the worker dies, another sends it after this time.';
comment on column market.webhook_delivery.attempted_at is 'When the last attempt ended.';
comment on column market.webhook_delivery.delivered_at is 'When the receiver accepted it.';
comment on column market.webhook_delivery.last_status is
  'The HTTP status of the last attempt; null when there was none.';
comment on column market.webhook_delivery.last_error is 'Why the last attempt failed; null when it did not.';
grant select on market.webhook_delivery to souk_agent, souk_person, souk_dba;
--! EndIncluded market/webhook_delivery.sql

--! Included internal/webhook.sql
-- Webhooks: which events are sent where, and when. The worker only makes the attempts
-- (worker/tasks/deliver_webhook.ts).
--
--   delivery  one event for one webhook. It is written with the event (the trigger queue_deliveries), so none is lost
--   job       deliver_webhook, for one webhook; it takes what is due, and ends before the attempts do
--   lease     a worker that takes a delivery has a minute to say how the attempt ended; then others may take it

create or replace function internal.most_webhooks() returns integer
  language sql immutable parallel safe
-- The contract: enough for an account's own programs, and a bound for what one event can cause.
as $$ select 5 $$;
comment on function internal.most_webhooks() is 'Returns how many webhooks an account may have.';
grant execute on function internal.most_webhooks() to souk_agent, souk_person;

create or replace function internal.attempt_delay(attempt integer) returns interval
  language sql immutable parallel safe
as $$
  -- The contract. Together more than three days: a receiver that broke on a Friday evening may be mended on Monday.
  select (array['0 seconds', '5 seconds', '5 minutes', '30 minutes', '2 hours', '5 hours', '10 hours', '14 hours',
    '20 hours', '24 hours'])[attempt_delay.attempt]::interval
$$;
comment on function internal.attempt_delay(integer) is
  'Returns the delay before an attempt, counted from 1; null when there is no such attempt.';

create or replace function internal.sends(webhook market.webhook) returns boolean
  language sql stable
as $$
  select webhook.disabled_at is null and (webhook.agent_id is null or exists (
    select from market.agent a
    where a.id = webhook.agent_id and a.account_id = webhook.account_id and a.removed_at is null
      and a.connected_at is not null and a.disconnected_at is null))
$$;
comment on function internal.sends(market.webhook) is
  'Returns whether events are sent: the webhook is not disabled, and the agent that added it acts for the account.';

create or replace function internal.enqueue_webhook(id uuid, run_at timestamptz default null) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without a key: two transactions that add jobs with the same keys in another order would wait for each other.
  perform graphile_worker.add_job('deliver_webhook', json_strip_nulls(json_build_object('id', enqueue_webhook.id,
      'traceparent', nullif(current_setting('market.traceparent', true), ''))),
    run_at => enqueue_webhook.run_at, max_attempts => 3);
end
$$;
comment on function internal.enqueue_webhook(uuid, timestamptz) is
  'Enqueues a job that sends what is due to a webhook. A job that finds nothing does nothing; one that fails for good '
  'is made up for by jobs.sweep_deliveries.';

create or replace function internal.queue_deliveries() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  woken uuid[];
begin
  with queued as (
    insert into market.webhook_delivery (webhook_id, event_id, type, data, occurred_at)
    select w.id, e.id, e.type, e.data, e.occurred_at
    from added e join market.webhook w on w.account_id = e.account_id
    where internal.sends(w) and (w.types is null or e.type = any (w.types))
    order by w.id, e.id
    returning webhook_id)
  select array_agg(distinct q.webhook_id) into woken from queued q;
  perform internal.enqueue_webhook(w.id) from unnest(woken) as w (id);
  return null;
end
$$;
comment on function internal.queue_deliveries() is 'Queues new events for the webhooks of their accounts.';

create or replace function internal.delete_webhooks_of_agent() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from market.webhook w where w.agent_id = new.id;
  return null;
end
$$;
comment on function internal.delete_webhooks_of_agent() is
  'Deletes the webhooks that a removed agent added: its access ends at once, and what is sent there is access, too.';

create or replace function internal.webhook_document(webhook_id uuid) returns jsonb
  language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object('id', w.id, 'url', w.url, 'types', to_jsonb(w.types),
    'created_at', internal.utc(w.created_at), 'disabled_at', internal.utc(w.disabled_at),
    'disabled_reason', w.disabled_reason))
    || jsonb_build_object('deliveries', (
      select coalesce(jsonb_agg(d.document order by d.id desc), '[]')
      from (
        select d.id, jsonb_strip_nulls(jsonb_build_object('event_id', d.event_id, 'type', d.type,
          'status', case when d.delivered_at is not null then 'delivered' when d.next_attempt_at is null then 'failed'
            else 'waiting' end,
          'created_at', internal.utc(d.created_at), 'attempts', d.attempts,
          'next_attempt_at', internal.utc(d.next_attempt_at), 'response_status', d.last_status,
          'error', d.last_error)) as document
        from market.webhook_delivery d where d.webhook_id = w.id
        -- What fits one look. Older ones are counted in inspect.webhooks.
        order by d.id desc limit 20) as d))
  from market.webhook w where w.id = webhook_document.webhook_id
$$;
comment on function internal.webhook_document(uuid) is
  'Returns a webhook with its latest 20 deliveries; null when the caller has no such webhook.';
grant execute on function internal.webhook_document(uuid) to souk_agent, souk_person;

create or replace function internal.queue_test(webhook_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  hook market.webhook;
begin
  select * into hook from market.webhook w
  where w.id = queue_test.webhook_id and w.account_id = internal.visible_account_id() for no key update;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'You have no such webhook. GET /v1/webhooks lists yours.');
  elsif hook.disabled_at is not null then
    perform internal.raise_problem(409, 'invalid_state',
      'This webhook is disabled, so nothing is sent. Mend the receiver, delete the webhook, and add it again.');
  end if;
  -- While a test waits, another would tell nothing more.
  if not exists (select from market.webhook_delivery d
    where d.webhook_id = hook.id and d.type = 'webhook.test' and d.next_attempt_at is not null) then
    insert into market.webhook_delivery (webhook_id, event_id, type, data, occurred_at)
    values (hook.id, internal.uuid_v7(), 'webhook.test', jsonb_build_object('webhook_id', hook.id), now());
    perform internal.enqueue_webhook(hook.id);
  end if;
end
$$;
comment on function internal.queue_test(uuid) is
  'Queues a test event for an own webhook; while one waits, it does nothing. Raises 404 for any other webhook, and 409 '
  'when it is disabled.';
grant execute on function internal.queue_test(uuid) to souk_agent, souk_person;

create or replace function internal.delete_own_webhook(webhook_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from market.webhook w
  where w.id = delete_own_webhook.webhook_id and w.account_id = internal.visible_account_id();
  if not found then
    perform internal.raise_problem(404, 'not_found', 'You have no such webhook. GET /v1/webhooks lists yours.');
  end if;
end
$$;
comment on function internal.delete_own_webhook(uuid) is
  'Deletes a webhook of the caller''s account. Raises 404 for any other id.';
grant execute on function internal.delete_own_webhook(uuid) to souk_agent, souk_person;
--! EndIncluded internal/webhook.sql
create constraint trigger note_write after insert or update or delete on market.webhook deferrable initially deferred
  for each row execute function internal.note_write();
create trigger note_disabled after update on market.webhook for each row
  when (old.disabled_at is null and new.disabled_at is not null)
  execute function internal.note_event('webhook.disabled', 'webhook_id=id', 'reason=disabled_reason');
create trigger queue_deliveries after insert on market.event referencing new table as added
  for each statement execute function internal.queue_deliveries();
create trigger delete_webhooks after update of removed_at on market.agent for each row
  when (old.removed_at is null and new.removed_at is not null)
  execute function internal.delete_webhooks_of_agent();
create trigger audit after insert or delete on market.webhook for each row execute function internal.audit(
  'account_id', 'agent_id', 'disabled_at', 'disabled_reason');
create trigger audit_truncate after truncate on market.webhook for each statement execute function internal.audit();

-- The offers that exist get theirs in batches, while the market goes on. The job's function comes first, because a
-- worker may begin before the code is loaded.
--! Included reading/towns.sql
-- The towns that a person means by a name.

create or replace function reading.towns_named(name text) returns reading.place[]
  language plpgsql stable
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  -- No name of a place has more than five words, and a region or a country follows it: "Paris, Texas".
  words constant text[] := (reading.words(left(name, 200)))[:8];
  towns reading.place[];
begin
  for n in reverse least(cardinality(words), 5) .. 1 loop
    towns := array(
      select p from (
        select p.* from reading.place p where reading.fold(p.name) = any (array[array_to_string(words[:n], ' '),
          array_to_string(words[:n], '-'), array_to_string(words[:n], '''')])
        union
        select p.* from reading.place_name l join reading.place p on p.place = l.place
        where l.form <> 'beside' and reading.fold(l.name) = any (array[array_to_string(words[:n], ' '),
          array_to_string(words[:n], '-'), array_to_string(words[:n], '''')])) as p
      where p.kind in ('city', 'district') and p.latitude is not null
        and case when n = cardinality(words) then true else words[n + 1 :] <@ (
          select coalesce(array_agg(w), '{}')
          from reading.place a
          left join reading.place_name l on l.place = a.place
          cross join lateral unnest(reading.words(concat_ws(' ', a.name, a.country, l.name))) as w
          where a.place in (p.country, p.region, p.city, p.place)) end
      -- A town before a district of the same name.
      order by p.population desc nulls last, p.kind, p.place);
    exit when cardinality(towns) > 0;
  end loop;
  return nullif(towns, '{}');
end
$$;
comment on function reading.towns_named(text) is
  'Returns the towns and districts with a position that a name may mean, the largest first; null when there are none. '
  'Words after the name, such as a region or a country, say which one: "Paris, Texas".';

create or replace function reading.town_point(location jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  towns constant reading.place[] := reading.towns_named(concat_ws(', ', location ->> 'city', location ->> 'country'));
begin
  return case when towns is not null then jsonb_build_object('lat', towns[1].latitude, 'lon', towns[1].longitude) end;
end
$$;
comment on function reading.town_point(jsonb) is
  'Returns the point {lat, lon} of the town of metadata.location; null when it is not known.';
--! EndIncluded reading/towns.sql
--! Included jobs/build_documents.sql
-- Builds what is stored of each offer for those who look for it, in offers from before the columns existed: the
-- document (market.offer.document), the facets with the cells of its place, and the public record of its account. One
-- batch for each job, in the order of the offers' ids. Until then each reader builds the document again
-- (internal.search_result_document), and no search by distance finds the offer.

create or replace function jobs.build_documents(after_offer uuid, size integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  -- Shorter than deadlock_timeout (1 s): if a request has locked one of the offers, this job fails and is retried, and
  -- not the request.
  set lock_timeout = '500ms'
as $$
declare
  batch constant uuid[] := array(
    select o.id from market.offer o where o.id > build_documents.after_offer order by o.id limit build_documents.size);
  built integer;
begin
  -- The triggers build the rest from the metadata. The two other columns are set so that this is no change of the
  -- offer.
  update market.offer o set document = internal.build_offer_document(o), facet_values = search.facet_values(o),
    metadata = case when o.metadata -> 'location' ? 'city' and not o.metadata -> 'location' ? 'point'
      then jsonb_set(o.metadata, '{location}', (o.metadata -> 'location')
        || jsonb_strip_nulls(jsonb_build_object('point', reading.town_point(o.metadata -> 'location'))))
      else o.metadata end
  where o.id = any (batch) and (o.document is null or o.facet_values is null);
  get diagnostics built = row_count;
  update market.account_stats p set publisher = null
  where p.publisher is null and p.account_id in (select o.account_id from market.offer o where o.id = any (batch));
  if cardinality(batch) = build_documents.size then
    -- Offers that agents publish meanwhile are embedded first.
    perform internal.enqueue('build_documents', batch[build_documents.size], priority => 10);
  end if;
  return jsonb_build_object('looked_at', cardinality(batch), 'built', built,
    'finished', cardinality(batch) < build_documents.size);
end
$$;
comment on function jobs.build_documents(uuid, integer) is
  'Builds the missing documents and facets of the next `size` offers after an offer, and enqueues the job for the '
  'offers after them. Returns {looked_at, built, finished}.';
grant execute on function jobs.build_documents(uuid, integer) to souk_worker;
--! EndIncluded jobs/build_documents.sql

reset role;

do $$
begin
  if exists (select from market.offer) then
    perform graphile_worker.add_job('build_documents', '{"id": "00000000-0000-0000-0000-000000000000"}',
      job_key => 'build_documents', max_attempts => 8, priority => 10);
  end if;
end
$$;
