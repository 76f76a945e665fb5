-- Enter migration here

set local role souk_owner;

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
  language plpgsql volatile security definer set search_path = ''
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

-- Functions beside tables whose text changed (as db/schema has them)

drop function if exists market.expected_rows(text,tsquery,market.conditions);

drop function if exists market.live_offers();

CREATE OR REPLACE FUNCTION market.lock_sign_in(flow_hash bytea, subject_hash bytea)
 RETURNS market.sign_in
 LANGUAGE plpgsql
AS $function$
declare
  attempt market.sign_in;
  accounts uuid[];
begin
  -- One subject at a time: a new person who finishes in two tabs becomes one account.
  perform pg_advisory_xact_lock(hashtextextended('subject ' || encode(lock_sign_in.subject_hash, 'hex'), 0));
  -- The account that a method is added to, and the one that the subject proves: nobody else can make it prove another.
  accounts := array(
    select s.account_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash and s.account_id is not null
    union
    select p.account_id from market.sign_in s
    join market.proved_method p on p.method = s.method and p.subject_hash = lock_sign_in.subject_hash
    where s.flow_hash = lock_sign_in.flow_hash
    order by 1);
  perform market.lock_sessions(o.account_id) from unnest(accounts) as o (account_id);
  -- The strongest lock: a verification that is being started refers to the account, and waits or is waited for.
  perform from market.account a where a.id = any (accounts) order by a.id for update;
  perform from market.verification v
  where v.account_id = any (accounts) and v.status = 'pending'
    or v.id = (select s.verification_id from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash)
  order by v.id for update;
  select * into attempt from market.sign_in s where s.flow_hash = lock_sign_in.flow_hash for update;
  return attempt;
end
$function$;
comment on function market.lock_sign_in(bytea,bytea) is 'The attempt of a browser, locked, after its subject, the accounts of both and their verifications; nulls when there is none.';

CREATE OR REPLACE FUNCTION market.complete_sign_in(attempt market.sign_in, subject_hash bytea, email text, name text, session_hash bytea, new_session_hash bytea)
 RETURNS jsonb
 LANGUAGE plpgsql
AS $function$
declare
  verification market.verification;
  session record := market.find_session(complete_sign_in.session_hash);
  -- Locked by market.lock_sign_in, as attempt.account_id and the verification are.
  holder uuid := (select p.account_id from market.proved_method p
    where p.method = attempt.method and p.subject_hash = complete_sign_in.subject_hash);
  known constant boolean := holder is not null;
  account market.account;
begin
  if attempt.verification_id is not null then
    select * into verification from market.verification v where v.id = attempt.verification_id;
    perform market.check_verification(verification, attempt.account_id, complete_sign_in.session_hash);
  elsif attempt.purpose = 'add' and session.account_id is distinct from attempt.account_id then
    -- On a shared computer the next person would add a method of theirs to this account.
    perform market.fail(409, 'invalid_state', 'You signed out, or changed to another account, after you began. Sign in and start again.');
  end if;
  if attempt.purpose = 'add' then
    perform market.refuse_stale_sign_in(attempt.account_id, session.signed_in_at);
  end if;
  if attempt.purpose = 'add' and holder <> attempt.account_id then
    perform market.fail(409, 'invalid_state', format(
      'This %s sign-in belongs to another account. Sign in with it there and remove it from that account, or use another one here. Accounts are never merged.',
      market.method_name(attempt.method)));
  end if;

  if coalesce(attempt.account_id, holder) is null then
    insert into market.account (display_name, claimed_at)
    values (left(market.visible_name(complete_sign_in.name), 80), now()) returning * into account;
  else
    select * into account from market.account a where a.id = coalesce(attempt.account_id, holder);
    update market.account a set claimed_at = now() where a.id = account.id and a.claimed_at is null;
  end if;
  if known then
    update market.proved_method p set email = complete_sign_in.email
    where p.account_id = account.id and p.method = attempt.method
      and p.email is distinct from complete_sign_in.email;
  else
    insert into market.proved_method (account_id, method, subject_hash, email)
    values (account.id, attempt.method, complete_sign_in.subject_hash, complete_sign_in.email)
    on conflict do nothing;
    if not found then
      perform market.fail(409, 'invalid_state', format(
        'Your account has another %s sign-in already. Remove that one first, or go on using it.', market.method_name(attempt.method)));
    end if;
  end if;
  update market.verification v set status = 'completed'
  where v.account_id = account.id and v.method = attempt.method and v.status = 'pending' and v.expires_at > now();

  -- A secret that this browser had before it signed in is worth nothing afterwards; nor is any that came before the
  -- account's first method, since nobody proved anything then. In one order, whosever they are.
  delete from market.session s
  where s.id in (
    select o.id from market.session o
    where o.secret_hash = complete_sign_in.session_hash
      or o.account_id = account.id and not known and not exists (
        select from market.proved_method p where p.account_id = account.id and p.method <> attempt.method)
    order by o.id for update);
  insert into market.session (account_id, secret_hash, signed_in_at)
  values (account.id, complete_sign_in.new_session_hash, now());
  update market.sign_in s set finished_at = now(), email = null where s.id = attempt.id;
  return jsonb_build_object(
    'label', market.account_label(account.id),
    'display_name', account.display_name,
    'new_account', attempt.account_id is null and holder is null,
    'purpose', attempt.purpose,
    'added', not known);
end
$function$;
comment on function market.complete_sign_in(market.sign_in,bytea,text,text,bytea,bytea) is 'Ends a locked, open attempt whose subject was proved: label, display_name, new_account, purpose, added. An account''s first method ends its other sessions. 401 (sign_in_again when a method is added long after signing in), 404, 409 or 410 as its verification or another account is in the way.';

CREATE OR REPLACE FUNCTION market.passes(offer market.offer, c market.conditions)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select offer.status = 'published' and offer.published_at <= c.as_of
    and (c.domains is null or offer.domain = any (c.domains))
    and (c.categories is null or offer.category = any (c.categories))
    and (c.kinds is null or offer.offer_kind = any (c.kinds))
    and (c.price_min is null or offer.price_hundredths >= c.price_min)
    and (c.price_max is null or offer.price_hundredths <= c.price_max)
    and (c.currency is null or offer.price_currency = c.currency or offer.price_hundredths = 0)
    and (c.period is null or offer.price_period = c.period)
    and (c.place is null or offer.facets @@ c.place)
    and (c.filters ->> 'posted_since' is null
      or offer.published_at >= (c.filters ->> 'posted_since')::date::timestamp at time zone 'UTC')
    and (c.filters ->> 'reviewed' is null or offer.reviewed = (c.filters ->> 'reviewed')::boolean)
    and (c.filters ->> 'has_images' is null or (cardinality(offer.images) > 0) = (c.filters ->> 'has_images')::boolean)
    and (not coalesce((c.filters ->> 'exclude_own')::boolean, false) or offer.account_id is distinct from c.searcher)
    and (c.filters ->> 'verified_publisher' is null or (c.filters ->> 'verified_publisher')::boolean
      = market.is_verified(offer.account_id))
$function$;
comment on function market.passes(market.offer,market.conditions) is 'Whether an offer is live, as of a moment, and passes every filter that is there.';

CREATE OR REPLACE FUNCTION market.search_offers(query text, reading jsonb, filters jsonb, embedding halfvec, model text, as_of timestamp with time zone, searcher uuid, depth integer)
 RETURNS TABLE(offer_id uuid, score double precision)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  -- Per term of the query: what is it, what names it in a title, what only lies in its category, how much it counts.
  terms tsquery[];
  titled tsquery[];
  classes tsquery[];
  weights real[];
  whole real;
  every tsquery;
  some_of tsquery;
  -- What was read from the query.
  in_domain text := reading ->> 'domain';
  in_category text := reading ->> 'category';
  of_kind text := reading -> 'offer_kind' ->> 'value';
  at_most bigint := round((reading -> 'price' ->> 'max')::numeric * 100);
  at_least bigint := round((reading -> 'price' ->> 'min')::numeric * 100);
  in_currency text := reading -> 'price' ->> 'currency';
  per text := reading -> 'price' ->> 'period';
  there tsquery := market.read_place(reading -> 'places');
  countries text[] := array(select p ->> 'country' from jsonb_array_elements(coalesce(reading -> 'places', '[]')) as p where p ? 'country');
  conditions market.conditions := market.conditions_of(filters, as_of, searcher);
  local market.conditions;
  by_words uuid[];
  near public.halfvec := search_offers.embedding;
  floor real;
  share real;
  by_letters boolean;
  -- When fewer have every word, those that have some are looked at, too: two pages.
  enough constant integer := 20;
begin
  select m.search_floor, m.search_share, m.by_letters into floor, share, by_letters from market.embedding_model m where m.model = search_offers.model;
  select array_agg(t.forms order by t.n), array_agg(t.titled order by t.n), array_agg(t.classes order by t.n),
    array_agg(t.weight order by t.n), sum(t.weight),
    string_agg('(' || coalesce(t.forms || t.classes, t.forms)::text || ')', ' & ') filter (where t.weight >= 1)::tsquery,
    coalesce(string_agg(coalesce(t.forms || t.classes, t.forms)::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | '))::tsquery
  into terms, titled, classes, weights, whole, every, some_of
  from market.query_terms(coalesce(nullif(reading ->> 'words', ''), query), reading ->> 'language', coalesce(reading -> 'corrections', '{}')) as t;
  -- When nothing has every word, at least what is named has to be there, or lie in its category.
  some_of := coalesce(some_of || market.any_lexeme(array[in_domain || '/' || in_category]), some_of);
  if reading -> 'offer_kind' ->> 'certain' = 'true' then
    conditions.kinds := coalesce(conditions.kinds, array[of_kind]);
  end if;
  if at_most = 0 and conditions.price_max is null then
    -- Who wants it for nothing wants whatever is free.
    conditions.price_max := 0;
    some_of := null;
  end if;
  local := conditions;
  local.place := coalesce(local.place, there);
  by_words := market.worded_candidates(coalesce(every, some_of), local, depth);
  -- A name that nobody knows, and that is there as it is written: what else has its letters is something else.
  if by_letters and cardinality(by_words) > 0 and 2 > all (weights) and in_domain is null then
    near := null;
    share := 0;
  end if;
  if cardinality(by_words) < enough and some_of is distinct from every then
    by_words := by_words || market.worded_candidates(some_of, local, depth);
  end if;
  if cardinality(by_words) < enough and there is not null then
    -- Those of which nobody knows the city.
    by_words := by_words || market.worded_candidates(some_of, conditions, depth);
  end if;

  return query
  with worded as (
    select c.id, row_number() over (order by c.strength desc, c.density desc, c.id desc) as rank
    from (
      select o.id, r.density, r.coverage + least(r.density, 1) * 0.1 + 0.3 * a.place + 0.1 * a.price
        + market.class_agreement(o, in_domain, in_category, of_kind) as strength
      from market.offer o
      -- search || '' is a copy out of the compressed row: each term would unpack it anew, which was half of the ranking.
      cross join lateral (select o.search || '' as search offset 0) as w
      cross join lateral (
        select sum(weights[i] * case when w.search @@ titled[i] then 1 when w.search @@ terms[i] then 0.8
            when w.search @@ classes[i] then 0.25 else 0 end) / whole as coverage,
          sum(ts_rank('{0.1, 0.2, 0.5, 1.0}', w.search, terms[i], 1)) as density
        from generate_subscripts(terms, 1) as i) as r
      cross join lateral (
        select market.place_agreement(o, there, countries) as place,
          market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
      where o.id = any (by_words) and a.place is not null and a.price is not null) as c
  ), similar_to as (
    select n.offer_id as id, row_number() over (order by n.distance
      - 0.5 * market.class_agreement(o, in_domain, in_category, of_kind) - 0.05 * a.price, n.offer_id desc) as rank
    from market.near_candidates(near, search_offers.model, local) as n
    join market.offer o on o.id = n.offer_id
    cross join lateral (select market.price_agreement(o, at_most, at_least, in_currency, per) as price) as a
    where 1 - n.distance >= floor and a.price is not null
  )
  select coalesce(w.id, s.id),
    -- 0 to 1: first in both lists is 1.
    (coalesce(1.0 / (60 + w.rank), 0) + coalesce(share / (60 + s.rank), 0))::double precision / ((1 + coalesce(share, 0)) / 61)
  from worded w full join similar_to s on s.id = w.id;
end
$function$;
comment on function market.search_offers(text,jsonb,jsonb,halfvec,text,timestamp with time zone,uuid,integer) is 'Published offers that pass the filters and answer the query, as it was read, by words or by meaning, with a relevance of 0 to 1. About `depth` by words and 40 by vector.';

CREATE OR REPLACE FUNCTION market.erase_account()
 RETURNS boolean
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  erased uuid := market.account_id();
  -- Each takes some milliseconds, and a statement has five seconds.
  batch constant integer := 200;
  offers uuid[];
  attempts uuid[];
begin
  perform market.lock_sessions(erased);
  -- First the account's own row: what is being published waits for it, or is waited for (jobs.finish_reading).
  perform from market.account a where a.id = erased for update;
  if not found or market.agent_id() is not null then
    perform market.fail(401, 'unauthorized', 'You are not signed in, or this account no longer exists.');
  end if;
  -- Its tokens and sessions are refused by every replica that synchronous_standby_names lists, as with a removed agent.
  perform set_config('synchronous_commit', 'remote_apply', true);
  -- Nobody publishes from here on, however many calls it takes.
  perform from market.agent a where a.account_id = erased order by a.id for update;
  update market.agent a set removed_at = now() where a.account_id = erased and a.removed_at is null;
  -- Then its offers: a vector that is being stored refers to one, and waits or is waited for.
  offers := array(select o.id from market.offer o where o.account_id = erased order by o.id limit batch for update);
  perform from market.ask a where a.account_id = erased order by a.id for update;

  delete from market.idempotency_key k
  where k.owner_id = erased or k.owner_id in (select a.id from market.agent a where a.account_id = erased);
  perform pg_notify('submission', s.id::text) from market.submission s where s.account_id = erased and s.settled_at is null;
  delete from market.submission s where s.account_id = erased;

  -- The rows stay for the reports of others and for what moderation decided; nothing of what a person wrote does.
  update market.offer o set
    status = case when o.status in ('published', 'pending_review') then 'archived' else o.status end,
    title = 'Deleted offer', text = 'The account that published this offer was deleted.',
    language = null, images = '{}', price_hundredths = null, price_currency = null, price_period = null,
    location_text = null, metadata = '{}', contact = '{}', extraction = '{}', missing_fields = '{}', warnings = '{}',
    review_note = null, origin_ask_id = null, agent_id = null, account_id = null
  where o.id = any (offers);
  delete from market.offer_embedding e where e.offer_id = any (offers);
  delete from market.match m where m.offer_id = any (offers);
  if cardinality(offers) = batch then
    return false;
  end if;
  update market.report r set account_id = null, agent_id = null, comment = null where r.account_id = erased;

  -- Attempts follow the verifications that they answer, as when one is finished; with them go those of its mailboxes.
  perform from market.verification v where v.account_id = erased order by v.id for update;
  attempts := array(
    select s.id from market.sign_in s where s.account_id = erased
    union
    select s.id from market.verification v join market.sign_in s on s.verification_id = v.id where v.account_id = erased
    union
    select s.id from market.proved_method p join market.sign_in s on s.email = p.email where p.account_id = erased);
  perform from market.sign_in s where s.id = any (attempts) order by s.id for update;
  delete from market.sign_in s where s.id = any (attempts);
  -- Agents, links, asks, profile, methods, sessions and verifications go with it.
  delete from market.account a where a.id = erased;
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$function$;
comment on function market.erase_account() is 'Ends the account of the person that calls: agents refused, offers archived and emptied, everything else of theirs gone. False while there are more offers: call again.';
grant execute on function market.erase_account() to souk_person;

reset role;
