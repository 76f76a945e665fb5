-- Nobody needs temporary objects here, and what does not exist shadows nothing. Only the database's owner can say so.
do $$
begin
  execute format('revoke temporary on database %I from public', current_database());
end
$$;

do $$
begin
  -- Every statement of a request or a job takes milliseconds. PostgreSQL expects far more rows of the functions in them than
  -- there are, and would spend more on compiling them than on running them: publishing an offer takes 19 ms of a processor
  -- with it and 5 without.
  alter role souk_api set jit = off;
  alter role souk_worker set jit = off;
exception when insufficient_privilege then
  raise notice 'souk_api and souk_worker are slow until a superuser runs: alter role souk_api set jit = off; alter role souk_worker set jit = off';
end
$$;

set local role souk_owner;

-- With an empty search_path, types are looked up in the caller's temporary schema first, and what stands there is run as
-- the owner.
do $$
declare
  function regprocedure;
begin
  for function in
    select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname in ('market', 'api', 'jobs', 'admin', 'inspect') and 'search_path=""' = any (p.proconfig)
  loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', function);
  end loop;
end
$$;


-- A change of a row names the request that asked for it, also when a worker carries it out.
alter table market.submission
  add column request_id text default nullif(current_setting('market.request_id', true), ''),
  add constraint submission_request_id_length check (char_length(request_id) between 1 and 100);
comment on column market.submission.request_id is 'The Request-Id of the call that sent it, for the audit log.';
comment on column market.audit_event.request_id is 'The Request-Id of the call that did it, or job and the id of the worker''s job; null for a dba.';
comment on column admin.audit_event.request_id is 'The request that did it, or job and the id of a job; empty for a dba.';

-- One list of reasons, for reports as for decisions.
alter table market.report drop constraint report_reason_known;
alter table market.report add constraint report_reason_fkey foreign key (reason) references market.reason on delete restrict;
create index report_reason_idx on market.report (reason);
comment on table market.reason is 'One row is one reason: for a report, or for taking an offer or an account down.';

-- How far the vectors are is told by one view.
drop view market.embedding_progress;
--!include inspect/embedding.sql

-- Moderators find an account by its mailbox, and people who are appointed are looked for by it.
create index proved_method_email_idx on market.proved_method (email) where email is not null;

-- Why an agent gets 429 tells of caps that moderators set.
create or replace view inspect.why_429 with (security_invoker = true) as
select a.id as agent_id, action.name as action, w.used >= cap.calls as refused, w.used, cap.calls as cap, wait.seconds as next_slot_in,
  clock_timestamp() + wait.seconds * interval '1 second' as next_slot_at,
  t.base, t.factor, t.settled as settled_offers, t.proved as proved_methods, coalesce(t.old, false) as account_is_old,
  t.removed as recent_removals,
  format('%s of %s calls of the last hour are used%s. %s', w.used, cap.calls,
    case when cap.calls = 0 then ', so every call is refused with 429'
      when w.used >= cap.calls then format(', so the next is refused with 429; in %s seconds a slot is free', wait.seconds)
      else ', so the next is admitted' end,
    case when o.cap is null then
      format('The cap: %s + %s x (4 x %s settled offers + 30 x %s proved methods + %s for an account of 30 days), at most %s%s.',
        t.base, t.factor, t.settled, t.proved, case when t.old then 60 else 0 end, 10 * t.base,
        case when t.removed > 0 then format(', halved %s times for offers removed within 30 days, but not below %s', t.removed, t.base / 4) else '' end)
      else format('A moderator set the cap of this account to %s on %s, whatever its record.', o.cap, to_char(o.changed_at at time zone 'UTC', 'YYYY-MM-DD'))
    end) as reason,
  o.changed_at as overridden_at
from market.agent a
cross join (values ('publish_offer'), ('create_ask'), ('preview_offer')) as action (name)
left join market.cap_override o on o.account_id = a.account_id and o.action = action.name
cross join lateral market.call_cap_terms(a.account_id, action.name) as t
cross join lateral market.call_cap(a.account_id, action.name) as cap (calls)
cross join lateral (
  select (market.window_figures('agent:' || a.id, action.name, cap.calls) ->> 'used')::integer as used) as w
cross join lateral (
  select coalesce(market.window_wait('agent:' || a.id, action.name, cap.calls), 0) as seconds) as wait;
comment on column inspect.why_429.next_slot_in is 'Whole seconds until a call is admitted; 0 when one is now, or when the cap is 0.';
comment on column inspect.why_429.overridden_at is 'When a moderator set the cap by hand, which the record then does not change; null when it follows from the record.';


-- Nothing is proved any more while an agent asks for a verification (market.hold_agent).
drop policy "an agent notes that its account proves what it asked for" on market.verification;


create or replace function market.lexemes_of(query tsquery) returns text[]
  language plpgsql immutable parallel safe
  -- A hundred times what PostgreSQL expects of a function: to be read from an index, not computed.
  cost 10000
as $$
begin
  return case when query is null then array['*'] else array(
    select distinct replace(replace(m.lexeme[1], '''''', ''''), '\\', '\')
    from regexp_matches(query::text, '''((?:[^'']|'''')+)''', 'g') as m (lexeme)) end;
end
$$;
comment on function market.lexemes_of(tsquery) is 'The lexemes in a query, whatever stands between them; * for no query.';
grant execute on function market.lexemes_of(tsquery) to souk_agent, souk_person;
-- What a new offer is held against: asks that share a word and the place with it.
create index ask_words_idx on market.ask using gin (market.lexemes_of(keywords_query), market.lexemes_of(place_query))
  with (fastupdate = off) where status = 'active';
drop index market.ask_active_idx;
create index ask_embedding_hnsw_idx on market.ask_embedding using hnsw (embedding public.halfvec_cosine_ops);

create index synonym_first_lexeme_idx on market.synonym ((language || ' ' || lexemes[1]) collate "C");

-- After the index on vectors, which has the settings of hnsw known.
--!include market/matching.sql

comment on column market.synonym.concept is 'The name of what is meant. Names of makes and models are of concepts that end in _model: offers are filed under them, and under what is broader; a query for such a name is for that name.';
comment on table market.broader_concept is 'One row says that whatever is the one is the other, too: an e-bike is a bicycle, and what is filed under vehicles/cars is a car. One step; nothing follows from two.';
comment on column market.broader_concept.concept is 'The narrower concept of market.synonym, or a category as DOMAIN/CATEGORY.';


-- Filters and words in one index.
--!include market/facets.sql
alter table market.offer add column facets tsvector not null generated always as (
    to_tsvector('simple', market.fold(coalesce(location_text, '') || ' '
      || coalesce(metadata -> 'location' ->> 'city', '') || ' '
      || coalesce(metadata -> 'location' ->> 'region', '')))
    || array_to_tsvector(array_remove(array['country/' || lower(metadata -> 'location' ->> 'country'),
      'domain/' || domain, 'category/' || category, 'kind/' || offer_kind, 'price/' || market.price_step(price_hundredths),
      'price/' || price_currency || '/' || market.price_step(price_hundredths)] || market.eras_of(published_at), null))) stored;
comment on column market.offer.facets is 'What filters ask for, as lexemes: words of the place, country, domain, category, kind, about what it costs, and when it was published.';
comment on column market.offer.place is 'Words of the place, to compare one offer by; offers are found by market.offer.facets.';
drop index market.offer_search_idx;
drop index market.offer_place_idx;
create index offer_search_idx on market.offer using gin (search, facets) with (fastupdate = off) where status = 'published';

-- The same facets beside the vectors; the graph is built once, after them.
alter table market.offer_embedding add column facets tsvector not null default '';
comment on column market.offer_embedding.facets is 'Those of the offer, kept by triggers: of the thousands of vectors that a filtered search compares, the offers of most need not be read.';
drop index market.offer_embedding_hnsw_idx;
update market.offer_embedding e set facets = o.facets from market.offer o where o.id = e.offer_id;
create index offer_embedding_hnsw_idx on market.offer_embedding using hnsw (embedding public.halfvec_cosine_ops);
create index offer_embedding_facets_idx on market.offer_embedding using gin (facets) with (fastupdate = off);
create function market.copy_facets() returns trigger
  language plpgsql volatile
as $$
begin
  new.facets := coalesce((select o.facets from market.offer o where o.id = new.offer_id), '');
  return new;
end
$$;
comment on function market.copy_facets() is 'Gives a vector the facets of its offer.';
create trigger copy_facets before insert or update on market.offer_embedding
  for each row execute function market.copy_facets();
create function market.pass_facets_on() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.offer_embedding e set facets = new.facets where e.offer_id = new.id;
  return null;
end
$$;
comment on function market.pass_facets_on() is 'Gives the facets of a changed offer to its vector, whoever changed it.';
create trigger pass_facets_on after update on market.offer
  for each row when (old.facets is distinct from new.facets) execute function market.pass_facets_on();

-- Settings of hnsw can be named once its library is there.
select '[1]'::public.halfvec is not null;
--!include market/candidates.sql

-- A model of letters knows no more of a name than words do.
alter table market.embedding_model add column by_letters boolean not null default false;
comment on column market.embedding_model.by_letters is 'Whether it knows a word by its letters alone: of a name that words find it then knows no more than they.';
update market.embedding_model set by_letters = true where model = 'builtin-hash-1';


--!include market/ask_example.sql
--!include market/ask_example_data.sql
grant select on market.ask_example to souk_dba;
create policy "a dba reads all" on market.ask_example for select to souk_dba using (true);
comment on table market.vocabulary_change is 'One row: when the vocabulary, the examples or the taxonomy last changed, so that workers read with what holds now.';

reset role;
