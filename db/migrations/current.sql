-- Enter migration here

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

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.concepts_in(words text, languages text[], language text)
 RETURNS text[]
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  folded constant text := market.fold(words);
  -- In variables, since the planner would make them anew for each row.
  vectors constant tsvector[] := array(
    select to_tsvector(market.search_config(l.language), folded) from unnest(languages) with ordinality as l (language, n) order by l.n);
  stems constant text[] := array(
    select languages[v.n] || ' ' || s.lexeme
    from unnest(vectors) with ordinality as v (vector, n) cross join unnest(tsvector_to_array(v.vector)) as s (lexeme));
begin
  -- By one stem of each term: by all of them, an index gives every phrase that shares any word.
  return market.compound_heads(words, concepts_in.language) || array(
    select distinct s.concept from market.synonym s
    where (s.language || ' ' || s.lexemes[1]) collate "C" = any (stems)
      and (cardinality(s.lexemes) = 1 or vectors[array_position(languages, s.language)] @@ s.needle)
      -- Of another language only English words and long ones are taken: a short text's language is easily mistaken, and
      -- short words mean something else elsewhere (a Dutch "les").
      and (s.language in (concepts_in.language, 'en') or length(s.term) >= 7));
end
$function$;
comment on function market.concepts_in(text,text[],text) is 'The concepts that a text names in any of some languages, one of which is probably its own (ISO 639-1).';

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

CREATE OR REPLACE FUNCTION market.states_amount(quote text, amount numeric)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  -- A word for thousands or millions behind one number of a range goes for the others, too: "10-12k".
  return (with factor as (
    select 1::numeric as factor
    union all
    select f.factor from (values
      ('¢|cents?|cts?|centimes|centimos|céntimos|centavos|centesimi|p|pence', 0.01),
      ('k|grand|mil|mille|mila|tsd|tausend|duizend|tys|tysi[aą]ce|tysi[eę]cy|thousand', 1000),
      ('lakh|lac', 100000),
      ('m|mln|mio|million|millions|millionen|millones|milioni|milh[oõ]es|miljoen', 1000000)) as f (words, factor)
    where quote ~* ('[0-9]\s*(' || f.words || ')\M')
  )
  -- 1e12: beyond it is no price, and a bigint of hundredths would overflow.
  select amount = 0 and quote !~ '[1-9]'
    or amount <= 1e12 and exists (select from market.stated_numbers(quote) as stated, factor f where stated * f.factor = amount)
    or quote !~ '[0-9]' and coalesce(market.spoken_number(quote) = amount, false));
end
$function$;
comment on function market.states_amount(text,numeric) is 'Whether a quote states an amount: as a number, with k, grand, mil and the like as factors, or in words; no digits for 0.';

CREATE OR REPLACE FUNCTION market.states_contact(quote text, method jsonb)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  -- A number's last digits, without a country code, which the quote need not say: eight, or six of a short number.
  return (with said as (
    select method ->> 'type' as type, method ->> 'value' as value,
      regexp_replace(method ->> 'value', '[^0-9]', '', 'g') as digits
  )
  select case
    -- "anna [@] example.org" is written around harvesters, too.
    when type = 'email' and quote ~ '@' then
      position(lower(value) in regexp_replace(lower(quote), '[][(){}<>[:space:]]', '', 'g')) > 0
    -- Written around harvesters ("kev at example dot com"): every piece has to stand there.
    when type = 'email' then
      value ~ '@' and not exists (
        select from regexp_split_to_table(market.fold(value), '[^[:alnum:]]+') as piece
        where position(piece in market.fold(quote)) = 0)
    when type = 'url' then
      position(rtrim(regexp_replace(lower(value), '^https?://(www\.)?', ''), '/') in lower(quote)) > 0
    when type in ('phone', 'sms', 'whatsapp') then
      length(digits) >= 5 and exists (
        -- A letter O is how some people hide a zero.
        select from (values (quote), (translate(quote, 'oO', '00')), (market.digits_of_words(quote))) as q (words)
        where position(right(digits, greatest(6, least(8, length(digits) - 3)))
          in regexp_replace(q.words, '[^0-9]', '', 'g')) > 0)
    else false
  end
  from said);
end
$function$;
comment on function market.states_contact(text,jsonb) is 'Whether a quote states a way to be reached: an e-mail address or all its pieces, the address of a link, the last digits of a number.';

CREATE OR REPLACE FUNCTION market.states_title(text text, title text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  said constant text := market.fold(text);
begin
  return not exists (
    select from regexp_split_to_table(market.fold(title), '[^[:alnum:]]+') as word
    where word <> '' and position(word in said) = 0);
end
$function$;
comment on function market.states_title(text,text) is 'Whether every word of a title stands in the text.';

CREATE OR REPLACE FUNCTION market.image_links(images jsonb)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return (
    select coalesce(array_agg(first.url order by first.n), '{}')
    from (select url, min(n) as n from jsonb_array_elements_text(images) with ordinality as t (url, n) group by url) as first);
end
$function$;
comment on function market.image_links(jsonb) is 'The links in order, duplicates dropped.';
grant execute on function market.image_links(jsonb) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.image_warnings(images text[])
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return case when exists (select from unnest(images) as url where url ~* '^http:')
    then array['An image link uses http; many clients will not show it. Use https.'] else '{}' end;
end
$function$;
comment on function market.image_warnings(text[]) is 'What is not wrong with image links but should be better.';
grant execute on function market.image_warnings(text[]) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.understood(offer market.offer)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return jsonb_build_object(
      'title', offer.title, 'domain', offer.domain, 'category', offer.category, 'offer_kind', offer.offer_kind,
      'extraction', offer.extraction)
    || jsonb_strip_nulls(jsonb_build_object(
      'price', offer.metadata -> 'pricing' -> 'label',
      'location', offer.location_text,
      'contact', (
        select c -> 'quote' from jsonb_array_elements(offer.extraction -> 'contact') with ordinality as t (c, n)
        order by (c -> 'value' ->> 'preferred')::boolean desc, n limit 1)))
    || case when offer.missing_fields <> '{}' then jsonb_build_object('missing_fields', offer.missing_fields) else '{}' end
    || case when offer.warnings <> '{}' then jsonb_build_object('warnings', offer.warnings) else '{}' end;
end
$function$;
comment on function market.understood(market.offer) is 'How a text was understood: the members that OfferPublished and a preview share.';

CREATE OR REPLACE FUNCTION market.query_terms(query text, language text DEFAULT NULL::text, corrections jsonb DEFAULT '{}'::jsonb)
 RETURNS TABLE(forms tsquery, titled tsquery, classes tsquery, words text[], weight real, n integer)
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  languages text[] := case when query_terms.language = any (market.stemmers()) then array[query_terms.language, 'en'] else market.stemmers() end;
begin
  -- A term is a concept with all words that name it ("washing machine"), or a word of none. Its forms: the concept, or the
  -- words with their stems in each language, since nobody says which one a query is in. Its classes: the categories that
  -- the vocabulary knows its words for, which say less. At most 16 words count.
  return query
  with words as materialized (
    select w.lexeme as word, query_terms.corrections ->> w.lexeme as meant, min(w.positions[1]) as n
    from unnest(to_tsvector('simple', market.fold(query))) as w
    group by 1, 2 order by 3 limit 16
  ), stems as materialized (
    select w.word, l.language, s.lexeme
    from words w cross join unnest(market.stemmers()) as l (language)
    cross join lateral unnest(market.stem(w.word, l.language) || market.stem(w.meant, l.language)) as s (lexeme)
  ), said as materialized (
    select l.language, to_tsvector(market.search_config(l.language),
      market.fold((select string_agg(coalesce(w.meant, w.word), ' ' order by w.n) from words w)))
      || to_tsvector(market.search_config(l.language), market.fold(query)) as vector
    from unnest(languages) as l (language)
  ), named as materialized (
    select s.concept, s.language, s.lexemes
    from said t join market.synonym s on s.language = t.language and s.lexemes && tsvector_to_array(t.vector) and t.vector @@ s.needle
    -- Who names a make wants that make; others of the kind are something else.
    where s.concept not like '%\_model'
  ), covered as materialized (
    select c.concept, array_agg(distinct st.word) as words, min(w.n) as n,
      -- Words that name it alone, as "machine" in "washing machine" does not.
      array_agg(distinct st.word) filter (where cardinality(c.lexemes) = 1) as alone
    from named c join stems st on st.language = c.language and st.lexeme = any (c.lexemes) join words w on w.word = st.word
    group by c.concept
  ), heads as (
    -- German and Dutch compounds, whichever language the rest is in.
    select distinct w.word, w.n, h.concept
    from words w cross join lateral unnest(market.compound_heads(w.word, 'de') || market.compound_heads(w.word, 'nl')) as h (concept)
    where not exists (select from covered c where w.word = any (c.words))
  ), alternatives as (
    select w.word, w.n, w.meant,
      array(select distinct s.lexeme from stems s where s.word = w.word union select w.word union select w.meant where w.meant is not null) as forms,
      array(
        select distinct substr(v.sense, 10) from market.vocabulary v
        -- 2: the vocabulary's weight for words that name a thing, above those that only hint at it.
        where v.term in (w.word, rtrim(w.word, 's'), w.meant) and v.sense like 'category:%' and v.weight >= 2
          and (v.language is null or v.language = any (languages))) as classes,
      -- Words that are stop words somewhere tell little, and so do those that say how it is wanted ("looking", "cheap").
      exists (
        select from unnest(languages) as l (language)
        where market.stem(w.word, l.language) = '{}') as stops,
      exists (
        select from market.vocabulary v
        where v.term = w.word and v.sense ~ '^(ask_kind|kind|condition|feature):') as hints
    from words w
  ), terms as (
    select array['concept/' || c.concept]
        -- A category that holds nothing else.
        || array(select b.concept from market.broader_concept b where b.broader = c.concept and b.concept like '%/%')
        || array(select distinct f from alternatives a, unnest(a.forms) as f where a.word = any (c.alone)) as forms,
      market.any_lexeme(array(select distinct k from alternatives a, unnest(a.classes) as k where a.word = any (c.words))) as classes,
      c.words,
      -- A name within a longer one says less: "bike" in "electric bike".
      case when exists (
        select from covered o
        where o.words @> c.words and (cardinality(o.words) > cardinality(c.words)
          or exists (select from market.broader_concept b where b.concept = o.concept and b.broader = c.concept))) then 1.0 else 2.0 end as weight,
      c.n
    from covered c
    union all
    select array(select 'concept/' || h.concept from heads h where h.word = a.word) || a.forms,
      market.any_lexeme(a.classes), array[a.word],
      case when a.classes <> '{}' or exists (select from heads h where h.word = a.word) then 2.0
        when a.stops then 0.0 when a.hints or a.word ~ '^[0-9]{1,2}$' then 0.4 else 1.0 end, a.n
    from alternatives a
    where not exists (select from covered c where a.word = any (c.words))
  )
  select market.any_lexeme(t.forms), market.any_lexeme(t.forms, ':A'), t.classes, t.words, case when t.weight = 0 then 0.2 else t.weight end::real, t.n::integer
  from terms t
  -- Stop words are kept only when there is nothing else.
  where t.weight > 0 or not exists (select from terms o where o.weight > 0)
  order by t.n, t.weight desc limit 16;
end
$function$;
comment on function market.query_terms(text,text,jsonb) is 'The terms of a query, best known in its language (null: any) and with misspelt words corrected: what in an offer is each, what is it in a title, what only lies in its category, its words, how much it counts, and its place.';

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
  floor real;
  share real;
  -- When fewer have every word, those that have some are looked at, too: two pages.
  enough constant integer := 20;
begin
  select m.search_floor, m.search_share into floor, share from market.embedding_model m where m.model = search_offers.model;
  select array_agg(t.forms order by t.n), array_agg(t.titled order by t.n), array_agg(t.classes order by t.n),
    array_agg(t.weight order by t.n), sum(t.weight),
    string_agg('(' || coalesce(t.forms || t.classes, t.forms)::text || ')', ' & ') filter (where t.weight >= 1)::tsquery,
    coalesce(string_agg(coalesce(t.forms || t.classes, t.forms)::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | '))::tsquery
  into terms, titled, classes, weights, whole, every, some_of
  from (
    -- What the thing is for, as the child in "bike for my child", only tells which of the things come first.
    select t.n, t.forms, t.titled, t.classes,
      case when t.words <@ market.text_array(reading -> 'asides') then 0.3 * t.weight else t.weight end::real as weight
    from market.query_terms(coalesce(nullif(reading ->> 'words', ''), query), reading ->> 'language', coalesce(reading -> 'corrections', '{}')) as t) as t;
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
  if cardinality(by_words) < enough then
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
    from market.near_candidates(search_offers.embedding, search_offers.model, local) as n
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

CREATE OR REPLACE FUNCTION market.awaits_reading(submission market.submission)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  -- An ask is filled in even after its caller was answered, as long as it still has this text.
  return submission.settled_at is null or submission.kind in ('create_ask', 'update_ask') and exists (
    select from market.ask a
    where a.id = submission.target_id and a.read_at is null and a.text = submission.text);
end
$function$;
comment on function market.awaits_reading(market.submission) is 'Whether reading the text of a submission still has an effect.';

CREATE OR REPLACE FUNCTION jobs.get_submission(id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return (
    select jsonb_build_object('kind', s.kind, 'text', s.text)
    from market.submission s
    where s.id = get_submission.id and market.awaits_reading(s));
end
$function$;
comment on function jobs.get_submission(uuid) is 'kind and text of a submission; null when reading it would have no effect any more.';
grant execute on function jobs.get_submission(uuid) to souk_worker;

CREATE OR REPLACE FUNCTION jobs.get_embedding_input(id uuid)
 RETURNS text
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  return (
    select market.embedding_input(o) from market.offer o
    where o.id = get_embedding_input.id and o.status = 'published'
    union all
    -- An ask as it stands: it is embedded before it has been read, too.
    select a.text from market.ask a
    where a.id = get_embedding_input.id and a.status = 'active');
end
$function$;
comment on function jobs.get_embedding_input(uuid) is 'The words of a live offer or an active ask that its vector stands for; null when there is nothing to do.';
grant execute on function jobs.get_embedding_input(uuid) to souk_worker;

CREATE OR REPLACE FUNCTION market.read_ask(text text, reading jsonb)
 RETURNS market.ask
 LANGUAGE plpgsql
 STABLE
AS $function$
declare
  ask market.ask;
  price jsonb := reading -> 'price';
  place jsonb := reading -> 'location';
begin
  ask.language := reading ->> 'language';
  ask.title := left(reading -> 'title' ->> 'value', 120);
  if not market.states_title(read_ask.text, ask.title) then
    ask.title := market.first_line(read_ask.text);
  end if;
  select d.domain into ask.domain from market.domain d where d.domain = reading -> 'domain' ->> 'value';
  select c.category into ask.category from market.category c
  where c.domain = ask.domain and c.category = reading -> 'category' ->> 'value';
  select k.ask_kind into ask.ask_kind from market.ask_kind k where k.ask_kind = reading -> 'ask_kind' ->> 'value';
  if not market.is_quoted(read_ask.text, price)
    or price -> 'value' ->> 'max' is not null
      and not market.states_amount(price ->> 'quote', (price -> 'value' ->> 'max')::numeric)
    or price -> 'value' ->> 'min' is not null
      and not market.states_amount(price ->> 'quote', (price -> 'value' ->> 'min')::numeric) then
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
  -- Who looks for a person names no thing that the other would name too.
  ask.keywords_query := case when ask.ask_kind is distinct from 'dating' then
    market.subject_query(ask.criteria -> 'keywords', ask.title, ask.language) end;
  ask.exclude_query := market.exclude_query(ask.criteria -> 'exclude', ask.language);
  ask.must_query := market.must_query(ask.criteria -> 'must', ask.language);
  ask.place_query := market.either_place(read_ask.text, place -> 'value' ->> 'text', place -> 'value' ->> 'city');
  return ask;
end
$function$;
comment on function market.read_ask(text,jsonb) is 'What of a grounded reading counts: an ask with every column that the text decides, and nothing else set.';

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

CREATE OR REPLACE FUNCTION market.text_errors(text text)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/text', 'detail', e.detail)), '[]')
  from (values
    (case when coalesce(market.first_line(text), '') = '' then 'The text is empty.' end),
    (case when char_length(normalize(text, NFC)) > 4000 then 'A text may have at most 4,000 characters.' end),
    (market.contains_secret(text))) as e (detail)
  where e.detail is not null);
end
$function$;
comment on function market.text_errors(text) is 'What is wrong with a text before it is read: [{pointer, detail}].';
grant execute on function market.text_errors(text) to souk_agent, souk_person;

CREATE OR REPLACE FUNCTION market.answer_of(submission_id uuid)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  return (
    select jsonb_build_object('status', s.status, 'body', s.body)
    from market.submission s
    where s.id = answer_of.submission_id and s.settled_at is not null and market.is_own(s));
end
$function$;
comment on function market.answer_of(uuid) is 'The settled answer of one of the caller''s submissions, else null.';
grant execute on function market.answer_of(uuid) to souk_agent, souk_person;

insert into market.broader_concept (concept, broader)
select g.concept, g.broader from (values
  ('{"concept":"android","broader":"phone"}'),
  ('{"concept":"android_model","broader":"android"}'),
  ('{"concept":"android_model","broader":"phone"}'),
  ('{"concept":"boots","broader":"shoes"}'),
  ('{"concept":"boots_model","broader":"boots"}'),
  ('{"concept":"boots_model","broader":"shoes"}'),
  ('{"concept":"camera_model","broader":"camera"}'),
  ('{"concept":"carpet_cleaning","broader":"cleaner"}'),
  ('{"concept":"community/dating","broader":"relationship"}'),
  ('{"concept":"cook","broader":"restaurant"}'),
  ('{"concept":"delivery","broader":"driver"}'),
  ('{"concept":"dining_table","broader":"table"}'),
  ('{"concept":"electric_car_model","broader":"car"}'),
  ('{"concept":"electric_car_model","broader":"electric_car"}'),
  ('{"concept":"electronics/phones","broader":"phone"}'),
  ('{"concept":"electronics/tv","broader":"tv"}'),
  ('{"concept":"estate_car","broader":"car"}'),
  ('{"concept":"estate_car_model","broader":"car"}'),
  ('{"concept":"estate_car_model","broader":"estate_car"}'),
  ('{"concept":"fashion/shoes","broader":"shoes"}'),
  ('{"concept":"folding_bike","broader":"bicycle"}'),
  ('{"concept":"game_evening","broader":"board_games"}'),
  ('{"concept":"game_evening","broader":"friends"}'),
  ('{"concept":"games_console_model","broader":"games_console"}'),
  ('{"concept":"guitar_model","broader":"guitar"}'),
  ('{"concept":"headphones_model","broader":"headphones"}'),
  ('{"concept":"hobbies/books","broader":"book"}'),
  ('{"concept":"hobbies/tickets","broader":"tickets"}'),
  ('{"concept":"hotel_cleaner","broader":"cleaner"}'),
  ('{"concept":"kids_clothes","broader":"child"}'),
  ('{"concept":"kids_clothes","broader":"clothes"}'),
  ('{"concept":"kids_clothes_model","broader":"child"}'),
  ('{"concept":"kids_clothes_model","broader":"clothes"}'),
  ('{"concept":"kids_clothes_model","broader":"kids_clothes"}'),
  ('{"concept":"laptop_model","broader":"computer"}'),
  ('{"concept":"laptop_model","broader":"laptop"}'),
  ('{"concept":"motorcycle_model","broader":"motorcycle"}'),
  ('{"concept":"office_chair_model","broader":"chair"}'),
  ('{"concept":"office_chair_model","broader":"office_chair"}'),
  ('{"concept":"phone_model","broader":"phone"}'),
  ('{"concept":"pram_model","broader":"baby"}'),
  ('{"concept":"pram_model","broader":"pram"}'),
  ('{"concept":"programming_lessons","broader":"tutor"}'),
  ('{"concept":"real_estate/apartments","broader":"flat"}'),
  ('{"concept":"real_estate/houses","broader":"house"}'),
  ('{"concept":"real_estate/land","broader":"land"}'),
  ('{"concept":"real_estate/rooms","broader":"room"}'),
  ('{"concept":"real_estate/vacation","broader":"holiday_home"}'),
  ('{"concept":"roofer","broader":"builder"}'),
  ('{"concept":"scooter","broader":"motorcycle"}'),
  ('{"concept":"services/moving","broader":"movers"}'),
  ('{"concept":"sofa_model","broader":"sofa"}'),
  ('{"concept":"suv","broader":"car"}'),
  ('{"concept":"suv_model","broader":"car"}'),
  ('{"concept":"suv_model","broader":"suv"}'),
  ('{"concept":"tablet_model","broader":"tablet"}'),
  ('{"concept":"vehicles/bicycles","broader":"bicycle"}'),
  ('{"concept":"vehicles/boats","broader":"boat"}'),
  ('{"concept":"vehicles/cars","broader":"car"}'),
  ('{"concept":"vehicles/motorcycles","broader":"motorcycle"}'),
  ('{"concept":"waiter","broader":"restaurant"}'),
  ('{"concept":"wardrobe_model","broader":"wardrobe"}')
) as v (line), lateral jsonb_populate_record(null::market.broader_concept, v.line::jsonb) as g
on conflict do nothing;

delete from market.synonym o using (values
  ('{"concept":"relationship","language":"de","term":"partner"}'),
  ('{"concept":"relationship","language":"de","term":"partnerin"}'),
  ('{"concept":"relationship","language":"en","term":"partner"}'),
  ('{"concept":"relationship","language":"nl","term":"partner"}'),
  ('{"concept":"relationship","language":"pl","term":"partner"}')
) as v (line), lateral jsonb_populate_record(null::market.synonym, v.line::jsonb) as g
where o.concept = g.concept and o.language is not distinct from g.language and o.term is not distinct from g.term;

insert into market.synonym (concept, language, term)
select g.concept, g.language, g.term from (values
  ('{"concept":"accountant","language":"de","term":"steuerhilfe"}'),
  ('{"concept":"accountant","language":"de","term":"steuern"}'),
  ('{"concept":"accountant","language":"en","term":"self assessment"}'),
  ('{"concept":"accountant","language":"en","term":"tax help"}'),
  ('{"concept":"accountant","language":"en","term":"tax returns"}'),
  ('{"concept":"accountant","language":"en","term":"taxes"}'),
  ('{"concept":"accountant","language":"en","term":"vat"}'),
  ('{"concept":"accountant","language":"es","term":"autonomos"}'),
  ('{"concept":"accountant","language":"es","term":"impuestos"}'),
  ('{"concept":"accountant","language":"fr","term":"fiscalite"}'),
  ('{"concept":"accountant","language":"fr","term":"impots"}'),
  ('{"concept":"accountant","language":"it","term":"tasse"}'),
  ('{"concept":"accountant","language":"nl","term":"belasting"}'),
  ('{"concept":"accountant","language":"pl","term":"pit"}'),
  ('{"concept":"accountant","language":"pl","term":"podatki"}'),
  ('{"concept":"accountant","language":"pl","term":"rozliczenie"}'),
  ('{"concept":"accountant","language":"pt","term":"impostos"}'),
  ('{"concept":"android","language":"de","term":"android"}'),
  ('{"concept":"android","language":"en","term":"android phone"}'),
  ('{"concept":"android","language":"en","term":"android"}'),
  ('{"concept":"android","language":"es","term":"android"}'),
  ('{"concept":"android","language":"fr","term":"android"}'),
  ('{"concept":"android","language":"it","term":"android"}'),
  ('{"concept":"android","language":"nl","term":"android"}'),
  ('{"concept":"android","language":"pl","term":"android"}'),
  ('{"concept":"android","language":"pt","term":"android"}'),
  ('{"concept":"android_model","language":"en","term":"fairphone"}'),
  ('{"concept":"android_model","language":"en","term":"google pixel"}'),
  ('{"concept":"android_model","language":"en","term":"huawei"}'),
  ('{"concept":"android_model","language":"en","term":"moto g"}'),
  ('{"concept":"android_model","language":"en","term":"oneplus"}'),
  ('{"concept":"android_model","language":"en","term":"redmi note"}'),
  ('{"concept":"android_model","language":"en","term":"samsung galaxy"}'),
  ('{"concept":"android_model","language":"en","term":"sony xperia"}'),
  ('{"concept":"android_model","language":"en","term":"xiaomi redmi"}'),
  ('{"concept":"appliance_repair","language":"de","term":"hausgeraetereparatur"}'),
  ('{"concept":"appliance_repair","language":"en","term":"dishwasher repair"}'),
  ('{"concept":"appliance_repair","language":"en","term":"oven repair"}'),
  ('{"concept":"appliance_repair","language":"en","term":"washer repair"}'),
  ('{"concept":"appliance_repair","language":"es","term":"reparacion de lavadoras"}'),
  ('{"concept":"armchair","language":"de","term":"fernsehsessel"}'),
  ('{"concept":"armchair","language":"de","term":"lesesessel"}'),
  ('{"concept":"armchair","language":"en","term":"accent chair"}'),
  ('{"concept":"armchair","language":"en","term":"arm chair"}'),
  ('{"concept":"armchair","language":"en","term":"lounge chair"}'),
  ('{"concept":"armchair","language":"en","term":"reading chair"}'),
  ('{"concept":"armchair","language":"en","term":"wingback"}'),
  ('{"concept":"armchair","language":"es","term":"sillon orejero"}'),
  ('{"concept":"armchair","language":"fr","term":"bergere"}'),
  ('{"concept":"armchair","language":"it","term":"poltroncina"}'),
  ('{"concept":"armchair","language":"nl","term":"leesstoel"}'),
  ('{"concept":"armchair","language":"nl","term":"oorfauteuil"}'),
  ('{"concept":"armchair","language":"pl","term":"fotel uszak"}'),
  ('{"concept":"armchair","language":"pt","term":"cadeira de braços"}'),
  ('{"concept":"backpack","language":"de","term":"wanderrucksack"}'),
  ('{"concept":"backpack","language":"en","term":"hiking backpack"}'),
  ('{"concept":"backpack","language":"en","term":"trekking backpack"}'),
  ('{"concept":"backpack","language":"es","term":"mochila de montana"}'),
  ('{"concept":"backpack","language":"fr","term":"sac de randonnee"}'),
  ('{"concept":"backpack","language":"it","term":"zaino da trekking"}'),
  ('{"concept":"backpack","language":"nl","term":"backpack"}'),
  ('{"concept":"backpack","language":"nl","term":"rugtas"}'),
  ('{"concept":"backpack","language":"pl","term":"plecak turystyczny"}'),
  ('{"concept":"backpack","language":"pt","term":"mochila de caminhada"}'),
  ('{"concept":"bike_repair","language":"de","term":"platten"}'),
  ('{"concept":"bike_repair","language":"de","term":"reifenpanne"}'),
  ('{"concept":"bike_repair","language":"en","term":"bike service"}'),
  ('{"concept":"bike_repair","language":"en","term":"brakes bleeding"}'),
  ('{"concept":"bike_repair","language":"en","term":"flat tire"}'),
  ('{"concept":"bike_repair","language":"en","term":"flat tyre"}'),
  ('{"concept":"bike_repair","language":"en","term":"mobile bicycle mechanic"}'),
  ('{"concept":"bike_repair","language":"es","term":"pinchazo"}'),
  ('{"concept":"bike_repair","language":"fr","term":"crevaison"}'),
  ('{"concept":"bike_repair","language":"it","term":"foratura"}'),
  ('{"concept":"bike_repair","language":"nl","term":"lekke band"}'),
  ('{"concept":"bike_repair","language":"pl","term":"przebita opona"}'),
  ('{"concept":"bike_repair","language":"pt","term":"furo no pneu"}'),
  ('{"concept":"boat","language":"de","term":"jolle"}'),
  ('{"concept":"boat","language":"en","term":"sail boat"}'),
  ('{"concept":"boat","language":"en","term":"sailing dinghy"}'),
  ('{"concept":"boat","language":"fr","term":"derive"}'),
  ('{"concept":"boat","language":"pl","term":"lodka"}'),
  ('{"concept":"boat","language":"pt","term":"barco a vela"}'),
  ('{"concept":"boots","language":"de","term":"bergschuhe"}'),
  ('{"concept":"boots","language":"de","term":"wanderstiefel"}'),
  ('{"concept":"boots","language":"en","term":"trekking boots"}'),
  ('{"concept":"boots","language":"en","term":"walking boots"}'),
  ('{"concept":"boots","language":"es","term":"botas de montana"}'),
  ('{"concept":"boots","language":"es","term":"botas de senderismo"}'),
  ('{"concept":"boots","language":"it","term":"scarpe da trekking"}'),
  ('{"concept":"boots","language":"nl","term":"bergschoenen"}'),
  ('{"concept":"boots","language":"pl","term":"buty gorskie"}'),
  ('{"concept":"boots","language":"pt","term":"botas de caminhada"}'),
  ('{"concept":"boots","language":"pt","term":"botas de montanha"}'),
  ('{"concept":"boots_model","language":"en","term":"doc martens"}'),
  ('{"concept":"boots_model","language":"en","term":"dr martens"}'),
  ('{"concept":"camera_model","language":"en","term":"canon 5d"}'),
  ('{"concept":"camera_model","language":"en","term":"canon eos"}'),
  ('{"concept":"camera_model","language":"en","term":"canon r6"}'),
  ('{"concept":"camera_model","language":"en","term":"fuji x"}'),
  ('{"concept":"camera_model","language":"en","term":"fujifilm"}'),
  ('{"concept":"camera_model","language":"en","term":"gopro"}'),
  ('{"concept":"camera_model","language":"en","term":"leica"}'),
  ('{"concept":"camera_model","language":"en","term":"lumix"}'),
  ('{"concept":"camera_model","language":"en","term":"nikon d"}'),
  ('{"concept":"camera_model","language":"en","term":"pentax"}'),
  ('{"concept":"camera_model","language":"en","term":"sony a7"}'),
  ('{"concept":"campervan","language":"en","term":"motor home"}'),
  ('{"concept":"campervan","language":"pl","term":"kampery"}'),
  ('{"concept":"caravan","language":"en","term":"camping trailer"}'),
  ('{"concept":"caravan","language":"en","term":"teardrop trailer"}'),
  ('{"concept":"caravan","language":"nl","term":"sleurhut"}'),
  ('{"concept":"carpenter","language":"de","term":"einbauschrank"}'),
  ('{"concept":"carpenter","language":"en","term":"bespoke furniture"}'),
  ('{"concept":"carpenter","language":"en","term":"fitted wardrobe"}'),
  ('{"concept":"carpenter","language":"es","term":"muebles a medida"}'),
  ('{"concept":"carpenter","language":"fr","term":"meuble sur mesure"}'),
  ('{"concept":"carpenter","language":"it","term":"mobili su misura"}'),
  ('{"concept":"carpenter","language":"pl","term":"meble na wymiar"}'),
  ('{"concept":"carpenter","language":"pt","term":"moveis por medida"}'),
  ('{"concept":"carpet_cleaning","language":"de","term":"polsterreinigung"}'),
  ('{"concept":"carpet_cleaning","language":"de","term":"teppichreinigung"}'),
  ('{"concept":"carpet_cleaning","language":"en","term":"carpet cleaning"}'),
  ('{"concept":"carpet_cleaning","language":"en","term":"rug cleaning"}'),
  ('{"concept":"carpet_cleaning","language":"en","term":"upholstery cleaning"}'),
  ('{"concept":"carpet_cleaning","language":"es","term":"limpieza de alfombras"}'),
  ('{"concept":"carpet_cleaning","language":"es","term":"limpieza de sofas"}'),
  ('{"concept":"carpet_cleaning","language":"fr","term":"nettoyage de canape"}'),
  ('{"concept":"carpet_cleaning","language":"fr","term":"nettoyage de tapis"}'),
  ('{"concept":"carpet_cleaning","language":"it","term":"lavaggio divani"}'),
  ('{"concept":"carpet_cleaning","language":"it","term":"pulizia tappeti"}'),
  ('{"concept":"carpet_cleaning","language":"nl","term":"bankreiniging"}'),
  ('{"concept":"carpet_cleaning","language":"nl","term":"tapijtreiniging"}'),
  ('{"concept":"carpet_cleaning","language":"pl","term":"pranie dywanow"}'),
  ('{"concept":"carpet_cleaning","language":"pl","term":"pranie tapicerki"}'),
  ('{"concept":"carpet_cleaning","language":"pt","term":"limpeza de sofas"}'),
  ('{"concept":"carpet_cleaning","language":"pt","term":"limpeza de tapetes"}'),
  ('{"concept":"cat","language":"en","term":"rescue cat"}'),
  ('{"concept":"cat","language":"es","term":"gatos"}'),
  ('{"concept":"cat","language":"fr","term":"chats"}'),
  ('{"concept":"cat","language":"it","term":"gatti"}'),
  ('{"concept":"cat","language":"nl","term":"katten"}'),
  ('{"concept":"cat","language":"nl","term":"poezen"}'),
  ('{"concept":"cat","language":"pl","term":"koty"}'),
  ('{"concept":"cat","language":"pt","term":"gatos"}'),
  ('{"concept":"child","language":"de","term":"jungen"}'),
  ('{"concept":"child","language":"de","term":"kleinkind"}'),
  ('{"concept":"child","language":"de","term":"maedchen"}'),
  ('{"concept":"child","language":"en","term":"baby boy"}'),
  ('{"concept":"child","language":"en","term":"baby girl"}'),
  ('{"concept":"child","language":"en","term":"boys"}'),
  ('{"concept":"child","language":"en","term":"girls"}'),
  ('{"concept":"child","language":"en","term":"little one"}'),
  ('{"concept":"child","language":"en","term":"toddler"}'),
  ('{"concept":"child","language":"en","term":"year old"}'),
  ('{"concept":"child","language":"en","term":"yrs"}'),
  ('{"concept":"child","language":"es","term":"nina pequena"}'),
  ('{"concept":"child","language":"es","term":"peques"}'),
  ('{"concept":"child","language":"fr","term":"petit garcon"}'),
  ('{"concept":"child","language":"fr","term":"petite fille"}'),
  ('{"concept":"child","language":"it","term":"bimba"}'),
  ('{"concept":"child","language":"it","term":"bimbi"}'),
  ('{"concept":"child","language":"it","term":"bimbo"}'),
  ('{"concept":"child","language":"nl","term":"jongen"}'),
  ('{"concept":"child","language":"nl","term":"kleuter"}'),
  ('{"concept":"child","language":"nl","term":"meisje"}'),
  ('{"concept":"child","language":"nl","term":"peuter"}'),
  ('{"concept":"child","language":"pl","term":"maluch"}'),
  ('{"concept":"child","language":"pt","term":"bebe"}'),
  ('{"concept":"child","language":"pt","term":"menina"}'),
  ('{"concept":"child","language":"pt","term":"menino"}'),
  ('{"concept":"cleaner","language":"de","term":"putzen"}'),
  ('{"concept":"cleaner","language":"de","term":"putzkraft"}'),
  ('{"concept":"cleaner","language":"de","term":"wohnungsreinigung"}'),
  ('{"concept":"cleaner","language":"en","term":"cleaning help"}'),
  ('{"concept":"cleaner","language":"en","term":"end of tenancy cleaning"}'),
  ('{"concept":"cleaner","language":"en","term":"house cleaning"}'),
  ('{"concept":"cleaner","language":"en","term":"office cleaning"}'),
  ('{"concept":"cleaner","language":"es","term":"limpiar"}'),
  ('{"concept":"cleaner","language":"es","term":"limpieza de casa"}'),
  ('{"concept":"cleaner","language":"fr","term":"aide-menagere"}'),
  ('{"concept":"cleaner","language":"fr","term":"menagere"}'),
  ('{"concept":"cleaner","language":"it","term":"pulire"}'),
  ('{"concept":"cleaner","language":"it","term":"pulizia"}'),
  ('{"concept":"cleaner","language":"nl","term":"poetsen"}'),
  ('{"concept":"cleaner","language":"nl","term":"schoonmaken"}'),
  ('{"concept":"cleaner","language":"nl","term":"werkster"}'),
  ('{"concept":"cleaner","language":"pl","term":"sprzatac"}'),
  ('{"concept":"cleaner","language":"pl","term":"sprzatanie mieszkan"}'),
  ('{"concept":"cleaner","language":"pt","term":"limpar"}'),
  ('{"concept":"cleaner","language":"pt","term":"limpeza de casa"}'),
  ('{"concept":"cleaner","language":"pt","term":"passar a ferro"}'),
  ('{"concept":"coat","language":"de","term":"daunenmantel"}'),
  ('{"concept":"coat","language":"de","term":"wintermantel"}'),
  ('{"concept":"coat","language":"en","term":"anorak"}'),
  ('{"concept":"coat","language":"en","term":"down jacket"}'),
  ('{"concept":"coat","language":"en","term":"down sweater"}'),
  ('{"concept":"coat","language":"en","term":"puffer"}'),
  ('{"concept":"coat","language":"en","term":"warm jacket"}'),
  ('{"concept":"coat","language":"en","term":"winter jacket"}'),
  ('{"concept":"coat","language":"es","term":"abrigo de invierno"}'),
  ('{"concept":"coat","language":"es","term":"parka"}'),
  ('{"concept":"coat","language":"fr","term":"manteau d''hiver"}'),
  ('{"concept":"coat","language":"fr","term":"parka"}'),
  ('{"concept":"coat","language":"it","term":"cappotto invernale"}'),
  ('{"concept":"coat","language":"it","term":"parka"}'),
  ('{"concept":"coat","language":"nl","term":"parka"}'),
  ('{"concept":"coat","language":"nl","term":"winterjack"}'),
  ('{"concept":"coat","language":"pl","term":"kurtka zimowa"}'),
  ('{"concept":"coat","language":"pl","term":"plaszcz zimowy"}'),
  ('{"concept":"coat","language":"pt","term":"casaco de inverno"}'),
  ('{"concept":"coat","language":"pt","term":"parka"}'),
  ('{"concept":"coffee_machine","language":"de","term":"espressokocher"}'),
  ('{"concept":"coffee_machine","language":"de","term":"siebtraegermaschine"}'),
  ('{"concept":"coffee_machine","language":"en","term":"barista machine"}'),
  ('{"concept":"coffee_machine","language":"en","term":"coffee grinder"}'),
  ('{"concept":"coffee_machine","language":"en","term":"espresso maker"}'),
  ('{"concept":"coffee_machine","language":"es","term":"cafetera espresso"}'),
  ('{"concept":"coffee_machine","language":"es","term":"maquina de espresso"}'),
  ('{"concept":"coffee_machine","language":"fr","term":"expresso"}'),
  ('{"concept":"coffee_machine","language":"fr","term":"machine expresso"}'),
  ('{"concept":"coffee_machine","language":"it","term":"macchina espresso"}'),
  ('{"concept":"coffee_machine","language":"it","term":"macchina per caffe"}'),
  ('{"concept":"coffee_machine","language":"nl","term":"espressoapparaat"}'),
  ('{"concept":"coffee_machine","language":"nl","term":"koffiezetapparaat"}'),
  ('{"concept":"coffee_machine","language":"nl","term":"koffiezetter"}'),
  ('{"concept":"coffee_machine","language":"pl","term":"ekspres"}'),
  ('{"concept":"coffee_machine","language":"pl","term":"ekspresy"}'),
  ('{"concept":"coffee_machine","language":"pt","term":"maquina de cafe expresso"}'),
  ('{"concept":"computer_repair","language":"de","term":"datenrettung"}'),
  ('{"concept":"computer_repair","language":"de","term":"laptopreparatur"}'),
  ('{"concept":"computer_repair","language":"de","term":"wasserschaden"}'),
  ('{"concept":"computer_repair","language":"en","term":"data recovery"}'),
  ('{"concept":"computer_repair","language":"en","term":"macbook repair"}'),
  ('{"concept":"computer_repair","language":"en","term":"water damage"}'),
  ('{"concept":"computer_repair","language":"nl","term":"laptopreparatie"}'),
  ('{"concept":"computer_repair","language":"pl","term":"naprawa laptopow"}'),
  ('{"concept":"delivery","language":"de","term":"auslieferung"}'),
  ('{"concept":"delivery","language":"de","term":"lieferfahrer"}'),
  ('{"concept":"delivery","language":"en","term":"deliveries"}'),
  ('{"concept":"delivery","language":"en","term":"delivery driver"}'),
  ('{"concept":"delivery","language":"en","term":"delivery drivers"}'),
  ('{"concept":"delivery","language":"en","term":"delivery job"}'),
  ('{"concept":"delivery","language":"es","term":"repartidor"}'),
  ('{"concept":"delivery","language":"fr","term":"livreur"}'),
  ('{"concept":"delivery","language":"it","term":"fattorino"}'),
  ('{"concept":"delivery","language":"nl","term":"bezorger"}'),
  ('{"concept":"delivery","language":"nl","term":"pakketbezorger"}'),
  ('{"concept":"delivery","language":"pl","term":"dostawca"}'),
  ('{"concept":"delivery","language":"pl","term":"dowoz"}'),
  ('{"concept":"delivery","language":"pt","term":"entregas"}'),
  ('{"concept":"delivery","language":"pt","term":"estafetas"}'),
  ('{"concept":"designer","language":"de","term":"illustration"}'),
  ('{"concept":"designer","language":"de","term":"logos"}'),
  ('{"concept":"designer","language":"en","term":"brand identity"}'),
  ('{"concept":"designer","language":"en","term":"corporate identity"}'),
  ('{"concept":"designer","language":"en","term":"illustration"}'),
  ('{"concept":"designer","language":"en","term":"illustrations"}'),
  ('{"concept":"designer","language":"en","term":"packaging design"}'),
  ('{"concept":"designer","language":"es","term":"identidad de marca"}'),
  ('{"concept":"designer","language":"es","term":"ilustracion"}'),
  ('{"concept":"designer","language":"fr","term":"identite visuelle"}'),
  ('{"concept":"designer","language":"fr","term":"illustration"}'),
  ('{"concept":"designer","language":"it","term":"identita visiva"}'),
  ('{"concept":"designer","language":"it","term":"illustrazione"}'),
  ('{"concept":"designer","language":"nl","term":"huisstijl"}'),
  ('{"concept":"designer","language":"nl","term":"illustratie"}'),
  ('{"concept":"designer","language":"pl","term":"ilustracja"}'),
  ('{"concept":"designer","language":"pt","term":"ilustracao"}'),
  ('{"concept":"dining_table","language":"de","term":"esstisch"}'),
  ('{"concept":"dining_table","language":"de","term":"kuechentisch"}'),
  ('{"concept":"dining_table","language":"en","term":"dining table"}'),
  ('{"concept":"dining_table","language":"en","term":"extending table"}'),
  ('{"concept":"dining_table","language":"en","term":"kitchen table"}'),
  ('{"concept":"dining_table","language":"es","term":"mesa de comedor"}'),
  ('{"concept":"dining_table","language":"fr","term":"table a manger"}'),
  ('{"concept":"dining_table","language":"fr","term":"table de salle a manger"}'),
  ('{"concept":"dining_table","language":"it","term":"tavolo da pranzo"}'),
  ('{"concept":"dining_table","language":"nl","term":"eetkamertafel"}'),
  ('{"concept":"dining_table","language":"nl","term":"eettafel"}'),
  ('{"concept":"dining_table","language":"pl","term":"stol do jadalni"}'),
  ('{"concept":"dining_table","language":"pt","term":"mesa de jantar"}'),
  ('{"concept":"dishwasher","language":"de","term":"spueler"}'),
  ('{"concept":"dishwasher","language":"en","term":"dish washer"}'),
  ('{"concept":"dishwasher","language":"es","term":"lava vajillas"}'),
  ('{"concept":"dishwasher","language":"fr","term":"lave vaisselle"}'),
  ('{"concept":"dishwasher","language":"it","term":"lava stoviglie"}'),
  ('{"concept":"dishwasher","language":"nl","term":"vaatwasmachine"}'),
  ('{"concept":"dishwasher","language":"pl","term":"zmywarki"}'),
  ('{"concept":"dishwasher","language":"pt","term":"lava-loica"}'),
  ('{"concept":"dishwasher","language":"pt","term":"maquina de lavar louca"}'),
  ('{"concept":"dog_walker","language":"de","term":"hund ausfuehren"}'),
  ('{"concept":"dog_walker","language":"de","term":"hund betreuen"}'),
  ('{"concept":"dog_walker","language":"en","term":"look after my cat"}'),
  ('{"concept":"dog_walker","language":"en","term":"look after my dog"}'),
  ('{"concept":"dog_walker","language":"en","term":"take the dog out"}'),
  ('{"concept":"dog_walker","language":"en","term":"walk the dog"}'),
  ('{"concept":"dog_walker","language":"en","term":"walks my dog"}'),
  ('{"concept":"dog_walker","language":"es","term":"cuidar gatos"}'),
  ('{"concept":"dog_walker","language":"es","term":"pasear al perro"}'),
  ('{"concept":"dog_walker","language":"fr","term":"garder mon chat"}'),
  ('{"concept":"dog_walker","language":"fr","term":"promener mon chien"}'),
  ('{"concept":"dog_walker","language":"it","term":"portare fuori il cane"}'),
  ('{"concept":"dog_walker","language":"nl","term":"hond uitlaten"}'),
  ('{"concept":"dog_walker","language":"nl","term":"hondenuitlaat"}'),
  ('{"concept":"dog_walker","language":"pl","term":"opieka nad kotem"}'),
  ('{"concept":"dog_walker","language":"pl","term":"wyprowadzanie psa"}'),
  ('{"concept":"dog_walker","language":"pt","term":"cuidar do gato"}'),
  ('{"concept":"dog_walker","language":"pt","term":"passear o cao"}'),
  ('{"concept":"dryer","language":"de","term":"kondenstrockner"}'),
  ('{"concept":"dryer","language":"de","term":"trocknerin"}'),
  ('{"concept":"dryer","language":"en","term":"clothes dryer"}'),
  ('{"concept":"dryer","language":"en","term":"drier"}'),
  ('{"concept":"dryer","language":"en","term":"tumble drier"}'),
  ('{"concept":"dryer","language":"es","term":"secadora de ropa"}'),
  ('{"concept":"dryer","language":"fr","term":"seche linge"}'),
  ('{"concept":"dryer","language":"it","term":"asciuga biancheria"}'),
  ('{"concept":"dryer","language":"nl","term":"droger"}'),
  ('{"concept":"dryer","language":"pl","term":"suszarka do ubran"}'),
  ('{"concept":"dryer","language":"pt","term":"maquina de secar roupa"}'),
  ('{"concept":"electric_car","language":"de","term":"e-autos"}'),
  ('{"concept":"electric_car","language":"de","term":"elektrofahrzeug"}'),
  ('{"concept":"electric_car","language":"de","term":"stromer"}'),
  ('{"concept":"electric_car","language":"en","term":"all-electric"}'),
  ('{"concept":"electric_car","language":"en","term":"fully electric"}'),
  ('{"concept":"electric_car","language":"es","term":"carro electrico"}'),
  ('{"concept":"electric_car","language":"es","term":"vehiculo electrico"}'),
  ('{"concept":"electric_car","language":"fr","term":"vehicule electrique"}'),
  ('{"concept":"electric_car","language":"it","term":"macchina elettrica"}'),
  ('{"concept":"electric_car","language":"nl","term":"elektrisch voertuig"}'),
  ('{"concept":"electric_car","language":"pl","term":"auto elektryczne"}'),
  ('{"concept":"electric_car","language":"pl","term":"elektryk"}'),
  ('{"concept":"electric_car","language":"pt","term":"veiculo eletrico"}'),
  ('{"concept":"electric_car_model","language":"en","term":"bmw i3"}'),
  ('{"concept":"electric_car_model","language":"en","term":"full electric"}'),
  ('{"concept":"electric_car_model","language":"en","term":"id.3"}'),
  ('{"concept":"electric_car_model","language":"en","term":"ioniq"}'),
  ('{"concept":"electric_car_model","language":"en","term":"kona electric"}'),
  ('{"concept":"electric_car_model","language":"en","term":"nissan leaf"}'),
  ('{"concept":"electric_car_model","language":"en","term":"renault zoe"}'),
  ('{"concept":"electric_car_model","language":"en","term":"tesla model"}'),
  ('{"concept":"electric_car_model","language":"en","term":"tesla"}'),
  ('{"concept":"electrician","language":"de","term":"sicherung"}'),
  ('{"concept":"electrician","language":"de","term":"sicherungskasten"}'),
  ('{"concept":"electrician","language":"de","term":"strom"}'),
  ('{"concept":"electrician","language":"en","term":"consumer unit"}'),
  ('{"concept":"electrician","language":"en","term":"eicr"}'),
  ('{"concept":"electrician","language":"en","term":"fuse"}'),
  ('{"concept":"electrician","language":"en","term":"fuses"}'),
  ('{"concept":"electrician","language":"en","term":"landlord certificate"}'),
  ('{"concept":"electrician","language":"en","term":"light fittings"}'),
  ('{"concept":"electrician","language":"en","term":"power cuts"}'),
  ('{"concept":"electrician","language":"en","term":"rewiring"}'),
  ('{"concept":"electrician","language":"es","term":"cuadro electrico"}'),
  ('{"concept":"electrician","language":"es","term":"enchufe"}'),
  ('{"concept":"electrician","language":"es","term":"fusible"}'),
  ('{"concept":"electrician","language":"fr","term":"disjoncteur"}'),
  ('{"concept":"electrician","language":"fr","term":"fusible"}'),
  ('{"concept":"electrician","language":"fr","term":"prise electrique"}'),
  ('{"concept":"electrician","language":"it","term":"presa elettrica"}'),
  ('{"concept":"electrician","language":"it","term":"quadro elettrico"}'),
  ('{"concept":"electrician","language":"it","term":"salvavita"}'),
  ('{"concept":"electrician","language":"nl","term":"meterkast"}'),
  ('{"concept":"electrician","language":"nl","term":"stopcontact"}'),
  ('{"concept":"electrician","language":"nl","term":"zekering"}'),
  ('{"concept":"electrician","language":"pl","term":"bezpiecznik"}'),
  ('{"concept":"electrician","language":"pl","term":"gniazdko"}'),
  ('{"concept":"electrician","language":"pt","term":"disjuntor"}'),
  ('{"concept":"electrician","language":"pt","term":"quadro eletrico"}'),
  ('{"concept":"electrician","language":"pt","term":"tomada"}'),
  ('{"concept":"english","language":"de","term":"englisch"}'),
  ('{"concept":"english","language":"de","term":"englischunterricht"}'),
  ('{"concept":"english","language":"en","term":"business english"}'),
  ('{"concept":"english","language":"en","term":"english"}'),
  ('{"concept":"english","language":"en","term":"ielts"}'),
  ('{"concept":"english","language":"en","term":"toefl"}'),
  ('{"concept":"english","language":"es","term":"ingles"}'),
  ('{"concept":"english","language":"fr","term":"anglais"}'),
  ('{"concept":"english","language":"it","term":"inglese"}'),
  ('{"concept":"english","language":"nl","term":"engels"}'),
  ('{"concept":"english","language":"pl","term":"angielski"}'),
  ('{"concept":"english","language":"pl","term":"angielskiego"}'),
  ('{"concept":"english","language":"pt","term":"ingles"}'),
  ('{"concept":"estate_car","language":"de","term":"kombi"}'),
  ('{"concept":"estate_car","language":"de","term":"kombis"}'),
  ('{"concept":"estate_car","language":"en","term":"estate car"}'),
  ('{"concept":"estate_car","language":"en","term":"estate"}'),
  ('{"concept":"estate_car","language":"en","term":"station wagon"}'),
  ('{"concept":"estate_car","language":"en","term":"tourer"}'),
  ('{"concept":"estate_car","language":"en","term":"wagon"}'),
  ('{"concept":"estate_car","language":"es","term":"coche familiar"}'),
  ('{"concept":"estate_car","language":"es","term":"ranchera"}'),
  ('{"concept":"estate_car","language":"fr","term":"break"}'),
  ('{"concept":"estate_car","language":"it","term":"familiare"}'),
  ('{"concept":"estate_car","language":"it","term":"station wagon"}'),
  ('{"concept":"estate_car","language":"nl","term":"stationcar"}'),
  ('{"concept":"estate_car","language":"nl","term":"stationwagen"}'),
  ('{"concept":"estate_car","language":"pl","term":"kombi"}'),
  ('{"concept":"estate_car","language":"pt","term":"carrinha"}'),
  ('{"concept":"estate_car_model","language":"en","term":"leon st"}'),
  ('{"concept":"estate_car_model","language":"en","term":"octavia estate"}'),
  ('{"concept":"estate_car_model","language":"en","term":"outback"}'),
  ('{"concept":"estate_car_model","language":"en","term":"passat variant"}'),
  ('{"concept":"excavator","language":"en","term":"bobcat"}'),
  ('{"concept":"excavator","language":"en","term":"mini excavator"}'),
  ('{"concept":"excavator","language":"fr","term":"minipelle"}'),
  ('{"concept":"excavator","language":"it","term":"miniescavatore"}'),
  ('{"concept":"excavator","language":"pl","term":"mini koparka"}'),
  ('{"concept":"excavator","language":"pt","term":"mini escavadora"}'),
  ('{"concept":"folding_bike","language":"de","term":"faltrad"}'),
  ('{"concept":"folding_bike","language":"de","term":"klapprad"}'),
  ('{"concept":"folding_bike","language":"en","term":"brompton"}'),
  ('{"concept":"folding_bike","language":"en","term":"foldable bike"}'),
  ('{"concept":"folding_bike","language":"en","term":"folding bicycle"}'),
  ('{"concept":"folding_bike","language":"en","term":"folding bike"}'),
  ('{"concept":"folding_bike","language":"es","term":"bici plegable"}'),
  ('{"concept":"folding_bike","language":"es","term":"bicicleta plegable"}'),
  ('{"concept":"folding_bike","language":"fr","term":"velo pliable"}'),
  ('{"concept":"folding_bike","language":"fr","term":"velo pliant"}'),
  ('{"concept":"folding_bike","language":"it","term":"bici pieghevole"}'),
  ('{"concept":"folding_bike","language":"it","term":"bicicletta pieghevole"}'),
  ('{"concept":"folding_bike","language":"nl","term":"vouwfiets"}'),
  ('{"concept":"folding_bike","language":"pl","term":"rower skladany"}'),
  ('{"concept":"folding_bike","language":"pl","term":"skladak"}'),
  ('{"concept":"folding_bike","language":"pt","term":"bicicleta dobravel"}'),
  ('{"concept":"french","language":"de","term":"franzoesisch"}'),
  ('{"concept":"french","language":"de","term":"franzosisch"}'),
  ('{"concept":"french","language":"en","term":"french"}'),
  ('{"concept":"french","language":"es","term":"frances"}'),
  ('{"concept":"french","language":"fr","term":"francais"}'),
  ('{"concept":"french","language":"it","term":"francese"}'),
  ('{"concept":"french","language":"nl","term":"frans"}'),
  ('{"concept":"french","language":"pl","term":"francuski"}'),
  ('{"concept":"french","language":"pl","term":"francuskiego"}'),
  ('{"concept":"french","language":"pt","term":"frances"}'),
  ('{"concept":"fridge","language":"de","term":"kuehl-gefrierkombination"}'),
  ('{"concept":"fridge","language":"en","term":"mini fridge"}'),
  ('{"concept":"fridge","language":"es","term":"heladera"}'),
  ('{"concept":"fridge","language":"it","term":"frigo"}'),
  ('{"concept":"fridge","language":"nl","term":"koel-vriescombinatie"}'),
  ('{"concept":"fridge","language":"pt","term":"arca"}'),
  ('{"concept":"friends","language":"de","term":"gruppe"}'),
  ('{"concept":"friends","language":"de","term":"leute"}'),
  ('{"concept":"friends","language":"de","term":"neu in der stadt"}'),
  ('{"concept":"friends","language":"en","term":"buddies"}'),
  ('{"concept":"friends","language":"en","term":"company for"}'),
  ('{"concept":"friends","language":"en","term":"group of people"}'),
  ('{"concept":"friends","language":"en","term":"new in town"}'),
  ('{"concept":"friends","language":"en","term":"newcomers"}'),
  ('{"concept":"friends","language":"en","term":"people to"}'),
  ('{"concept":"friends","language":"es","term":"gente"}'),
  ('{"concept":"friends","language":"es","term":"grupo"}'),
  ('{"concept":"friends","language":"fr","term":"copains"}'),
  ('{"concept":"friends","language":"fr","term":"rencontrer des gens"}'),
  ('{"concept":"friends","language":"it","term":"compagnia"}'),
  ('{"concept":"friends","language":"it","term":"gruppo"}'),
  ('{"concept":"friends","language":"nl","term":"groep"}'),
  ('{"concept":"friends","language":"nl","term":"mensen"}'),
  ('{"concept":"friends","language":"nl","term":"nieuwe vrienden"}'),
  ('{"concept":"friends","language":"pl","term":"grupa"}'),
  ('{"concept":"friends","language":"pl","term":"ludzi"}'),
  ('{"concept":"friends","language":"pl","term":"towarzystwo"}'),
  ('{"concept":"friends","language":"pt","term":"companhia"}'),
  ('{"concept":"friends","language":"pt","term":"grupo"}'),
  ('{"concept":"game_evening","language":"de","term":"spieleabend"}'),
  ('{"concept":"game_evening","language":"de","term":"spieleabende"}'),
  ('{"concept":"game_evening","language":"en","term":"board game evenings"}'),
  ('{"concept":"game_evening","language":"en","term":"board game nights"}'),
  ('{"concept":"game_evening","language":"en","term":"game nights"}'),
  ('{"concept":"game_evening","language":"en","term":"games night"}'),
  ('{"concept":"game_evening","language":"en","term":"play board games"}'),
  ('{"concept":"game_evening","language":"es","term":"noche de juegos"}'),
  ('{"concept":"game_evening","language":"es","term":"tardes de juegos"}'),
  ('{"concept":"game_evening","language":"fr","term":"soiree jeux"}'),
  ('{"concept":"game_evening","language":"fr","term":"soirees jeux"}'),
  ('{"concept":"game_evening","language":"it","term":"serata giochi"}'),
  ('{"concept":"game_evening","language":"nl","term":"spelletjesavond"}'),
  ('{"concept":"game_evening","language":"pl","term":"wieczor planszowek"}'),
  ('{"concept":"game_evening","language":"pl","term":"wieczory gier"}'),
  ('{"concept":"game_evening","language":"pt","term":"noite de jogos"}'),
  ('{"concept":"games_console","language":"de","term":"handheld"}'),
  ('{"concept":"games_console","language":"en","term":"handheld console"}'),
  ('{"concept":"games_console","language":"en","term":"retro console"}'),
  ('{"concept":"games_console","language":"es","term":"consola retro"}'),
  ('{"concept":"games_console","language":"fr","term":"console retro"}'),
  ('{"concept":"games_console","language":"it","term":"console portatile"}'),
  ('{"concept":"games_console","language":"nl","term":"spelconsole"}'),
  ('{"concept":"games_console","language":"pl","term":"konsola do gier"}'),
  ('{"concept":"games_console","language":"pt","term":"consola portatil"}'),
  ('{"concept":"games_console_model","language":"en","term":"game boy"}'),
  ('{"concept":"games_console_model","language":"en","term":"nintendo switch"}'),
  ('{"concept":"games_console_model","language":"en","term":"ps3"}'),
  ('{"concept":"games_console_model","language":"en","term":"ps4"}'),
  ('{"concept":"games_console_model","language":"en","term":"steam deck"}'),
  ('{"concept":"games_console_model","language":"en","term":"switch lite"}'),
  ('{"concept":"games_console_model","language":"en","term":"switch oled"}'),
  ('{"concept":"games_console_model","language":"en","term":"wii"}'),
  ('{"concept":"games_console_model","language":"en","term":"xbox series"}'),
  ('{"concept":"games_console_model","language":"en","term":"xbox"}'),
  ('{"concept":"garden_furniture","language":"de","term":"gartenstuehle"}'),
  ('{"concept":"garden_furniture","language":"de","term":"sonnenschirm"}'),
  ('{"concept":"garden_furniture","language":"en","term":"garden chairs"}'),
  ('{"concept":"garden_furniture","language":"en","term":"garden table"}'),
  ('{"concept":"garden_furniture","language":"en","term":"outdoor table"}'),
  ('{"concept":"garden_furniture","language":"en","term":"parasol"}'),
  ('{"concept":"garden_furniture","language":"es","term":"mesa de jardin"}'),
  ('{"concept":"garden_furniture","language":"es","term":"sillas de jardin"}'),
  ('{"concept":"garden_furniture","language":"fr","term":"chaises de jardin"}'),
  ('{"concept":"garden_furniture","language":"fr","term":"table de jardin"}'),
  ('{"concept":"garden_furniture","language":"it","term":"sedie da giardino"}'),
  ('{"concept":"garden_furniture","language":"it","term":"tavolo da giardino"}'),
  ('{"concept":"garden_furniture","language":"nl","term":"tuinstoelen"}'),
  ('{"concept":"garden_furniture","language":"nl","term":"tuintafel"}'),
  ('{"concept":"garden_furniture","language":"pl","term":"krzesla ogrodowe"}'),
  ('{"concept":"garden_furniture","language":"pl","term":"stol ogrodowy"}'),
  ('{"concept":"garden_furniture","language":"pt","term":"cadeiras de jardim"}'),
  ('{"concept":"garden_furniture","language":"pt","term":"mesa de jardim"}'),
  ('{"concept":"gardener","language":"de","term":"hecke schneiden"}'),
  ('{"concept":"gardener","language":"de","term":"rasen maehen"}'),
  ('{"concept":"gardener","language":"en","term":"cut my hedge"}'),
  ('{"concept":"gardener","language":"en","term":"garden work"}'),
  ('{"concept":"gardener","language":"en","term":"hedges"}'),
  ('{"concept":"gardener","language":"en","term":"lawn mowing"}'),
  ('{"concept":"gardener","language":"en","term":"mow the lawn"}'),
  ('{"concept":"gardener","language":"en","term":"pruning"}'),
  ('{"concept":"gardener","language":"es","term":"cortar el cesped"}'),
  ('{"concept":"gardener","language":"es","term":"podar"}'),
  ('{"concept":"gardener","language":"fr","term":"tailler la haie"}'),
  ('{"concept":"gardener","language":"fr","term":"tonte"}'),
  ('{"concept":"gardener","language":"it","term":"tagliare la siepe"}'),
  ('{"concept":"gardener","language":"it","term":"tosaerba"}'),
  ('{"concept":"gardener","language":"nl","term":"gras maaien"}'),
  ('{"concept":"gardener","language":"nl","term":"heg snoeien"}'),
  ('{"concept":"gardener","language":"pl","term":"przyciecie zywoplotu"}'),
  ('{"concept":"gardener","language":"pt","term":"cortar a relva"}'),
  ('{"concept":"gardener","language":"pt","term":"podar"}'),
  ('{"concept":"german","language":"de","term":"deutsch lernen"}'),
  ('{"concept":"german","language":"de","term":"deutschkurs"}'),
  ('{"concept":"german","language":"de","term":"deutschunterricht"}'),
  ('{"concept":"german","language":"en","term":"german"}'),
  ('{"concept":"german","language":"es","term":"aleman"}'),
  ('{"concept":"german","language":"fr","term":"allemand"}'),
  ('{"concept":"german","language":"it","term":"tedesco"}'),
  ('{"concept":"german","language":"nl","term":"duits"}'),
  ('{"concept":"german","language":"pl","term":"niemiecki"}'),
  ('{"concept":"german","language":"pl","term":"niemieckiego"}'),
  ('{"concept":"german","language":"pt","term":"alemao"}'),
  ('{"concept":"guinea_pig","language":"de","term":"hamster"}'),
  ('{"concept":"guinea_pig","language":"de","term":"meerschweinchen"}'),
  ('{"concept":"guinea_pig","language":"en","term":"guinea pig"}'),
  ('{"concept":"guinea_pig","language":"en","term":"guinea pigs"}'),
  ('{"concept":"guinea_pig","language":"en","term":"hamster"}'),
  ('{"concept":"guinea_pig","language":"es","term":"cobaya"}'),
  ('{"concept":"guinea_pig","language":"es","term":"conejillo de indias"}'),
  ('{"concept":"guinea_pig","language":"es","term":"hamster"}'),
  ('{"concept":"guinea_pig","language":"fr","term":"cochon d''inde"}'),
  ('{"concept":"guinea_pig","language":"fr","term":"hamster"}'),
  ('{"concept":"guinea_pig","language":"it","term":"cavia"}'),
  ('{"concept":"guinea_pig","language":"it","term":"criceto"}'),
  ('{"concept":"guinea_pig","language":"it","term":"porcellino d''india"}'),
  ('{"concept":"guinea_pig","language":"nl","term":"cavia"}'),
  ('{"concept":"guinea_pig","language":"nl","term":"hamster"}'),
  ('{"concept":"guinea_pig","language":"pl","term":"chomik"}'),
  ('{"concept":"guinea_pig","language":"pl","term":"swinka morska"}'),
  ('{"concept":"guinea_pig","language":"pt","term":"hamster"}'),
  ('{"concept":"guinea_pig","language":"pt","term":"porquinho-da-india"}'),
  ('{"concept":"guitar_model","language":"en","term":"fender"}'),
  ('{"concept":"guitar_model","language":"en","term":"les paul"}'),
  ('{"concept":"guitar_model","language":"en","term":"strat"}'),
  ('{"concept":"guitar_model","language":"en","term":"stratocaster"}'),
  ('{"concept":"guitar_model","language":"en","term":"telecaster"}'),
  ('{"concept":"guitar_model","language":"en","term":"yamaha fg"}'),
  ('{"concept":"gym","language":"de","term":"kurzhanteln"}'),
  ('{"concept":"gym","language":"en","term":"bench press"}'),
  ('{"concept":"gym","language":"en","term":"kettlebell"}'),
  ('{"concept":"gym","language":"es","term":"banco de pesas"}'),
  ('{"concept":"gym","language":"it","term":"panca"}'),
  ('{"concept":"gym","language":"nl","term":"dumbbells"}'),
  ('{"concept":"gym","language":"pl","term":"ciezary"}'),
  ('{"concept":"gym","language":"pl","term":"lawka do cwiczen"}'),
  ('{"concept":"gym","language":"pt","term":"banco de musculacao"}'),
  ('{"concept":"handyman","language":"de","term":"regal anbringen"}'),
  ('{"concept":"handyman","language":"en","term":"assemble furniture"}'),
  ('{"concept":"handyman","language":"en","term":"flat pack"}'),
  ('{"concept":"handyman","language":"en","term":"hang a tv"}'),
  ('{"concept":"handyman","language":"en","term":"put up shelves"}'),
  ('{"concept":"handyman","language":"es","term":"pequenos arreglos"}'),
  ('{"concept":"handyman","language":"fr","term":"petits travaux"}'),
  ('{"concept":"handyman","language":"it","term":"piccoli lavori"}'),
  ('{"concept":"handyman","language":"nl","term":"kleine klussen"}'),
  ('{"concept":"handyman","language":"pl","term":"drobne naprawy"}'),
  ('{"concept":"handyman","language":"pt","term":"pequenas reparacoes"}'),
  ('{"concept":"headphones","language":"de","term":"ohrstoepsel"}'),
  ('{"concept":"headphones","language":"en","term":"cans"}'),
  ('{"concept":"headphones","language":"en","term":"ear buds"}'),
  ('{"concept":"headphones","language":"en","term":"over-ear headphones"}'),
  ('{"concept":"headphones","language":"fr","term":"casque"}'),
  ('{"concept":"headphones","language":"nl","term":"hoofdtelefoon"}'),
  ('{"concept":"headphones","language":"pl","term":"sluchawki bezprzewodowe"}'),
  ('{"concept":"headphones","language":"pt","term":"headphones"}'),
  ('{"concept":"headphones_model","language":"en","term":"airpods"}'),
  ('{"concept":"headphones_model","language":"en","term":"bose qc"}'),
  ('{"concept":"headphones_model","language":"en","term":"earpods"}'),
  ('{"concept":"headphones_model","language":"en","term":"galaxy buds"}'),
  ('{"concept":"headphones_model","language":"en","term":"sennheiser hd"}'),
  ('{"concept":"headphones_model","language":"en","term":"sony wh"}'),
  ('{"concept":"hens","language":"de","term":"huehner"}'),
  ('{"concept":"hens","language":"de","term":"huehnerstall"}'),
  ('{"concept":"hens","language":"en","term":"chicken coop"}'),
  ('{"concept":"hens","language":"en","term":"chickens"}'),
  ('{"concept":"hens","language":"en","term":"chooks"}'),
  ('{"concept":"hens","language":"en","term":"hen house"}'),
  ('{"concept":"hens","language":"en","term":"hens"}'),
  ('{"concept":"hens","language":"es","term":"gallinas"}'),
  ('{"concept":"hens","language":"es","term":"gallinero"}'),
  ('{"concept":"hens","language":"fr","term":"poulailler"}'),
  ('{"concept":"hens","language":"fr","term":"poules"}'),
  ('{"concept":"hens","language":"it","term":"galline"}'),
  ('{"concept":"hens","language":"it","term":"pollaio"}'),
  ('{"concept":"hens","language":"nl","term":"kippen"}'),
  ('{"concept":"hens","language":"nl","term":"kippenhok"}'),
  ('{"concept":"hens","language":"pl","term":"kurnik"}'),
  ('{"concept":"hens","language":"pl","term":"kury"}'),
  ('{"concept":"hens","language":"pt","term":"galinhas"}'),
  ('{"concept":"hens","language":"pt","term":"galinheiro"}'),
  ('{"concept":"hiking","language":"de","term":"wanderer"}'),
  ('{"concept":"hiking","language":"de","term":"wanderfreunde"}'),
  ('{"concept":"hiking","language":"de","term":"wandern gehen"}'),
  ('{"concept":"hiking","language":"en","term":"hikers"}'),
  ('{"concept":"hiking","language":"en","term":"hiking group"}'),
  ('{"concept":"hiking","language":"en","term":"hiking people"}'),
  ('{"concept":"hiking","language":"en","term":"mountain walks"}'),
  ('{"concept":"hiking","language":"en","term":"rambling"}'),
  ('{"concept":"hiking","language":"en","term":"walking group"}'),
  ('{"concept":"hiking","language":"es","term":"excursion"}'),
  ('{"concept":"hiking","language":"es","term":"montanismo"}'),
  ('{"concept":"hiking","language":"fr","term":"marche en montagne"}'),
  ('{"concept":"hiking","language":"fr","term":"randonneurs"}'),
  ('{"concept":"hiking","language":"it","term":"camminata"}'),
  ('{"concept":"hiking","language":"it","term":"escursioni"}'),
  ('{"concept":"hiking","language":"nl","term":"wandelaars"}'),
  ('{"concept":"hiking","language":"nl","term":"wandelclub"}'),
  ('{"concept":"hiking","language":"pl","term":"w gory"}'),
  ('{"concept":"hiking","language":"pl","term":"wedrowka"}'),
  ('{"concept":"hiking","language":"pl","term":"wycieczek"}'),
  ('{"concept":"hiking","language":"pl","term":"wycieczki"}'),
  ('{"concept":"hiking","language":"pt","term":"caminhantes"}'),
  ('{"concept":"hiking","language":"pt","term":"passeios a pe"}'),
  ('{"concept":"holiday_home","language":"de","term":"berghuette"}'),
  ('{"concept":"holiday_home","language":"de","term":"chalet"}'),
  ('{"concept":"holiday_home","language":"de","term":"ferienhuette"}'),
  ('{"concept":"holiday_home","language":"de","term":"huette"}'),
  ('{"concept":"holiday_home","language":"en","term":"chalet"}'),
  ('{"concept":"holiday_home","language":"en","term":"getaway"}'),
  ('{"concept":"holiday_home","language":"en","term":"holiday villa"}'),
  ('{"concept":"holiday_home","language":"en","term":"holiday"}'),
  ('{"concept":"holiday_home","language":"en","term":"lodge"}'),
  ('{"concept":"holiday_home","language":"en","term":"log cabin"}'),
  ('{"concept":"holiday_home","language":"en","term":"place to stay"}'),
  ('{"concept":"holiday_home","language":"en","term":"self catering"}'),
  ('{"concept":"holiday_home","language":"en","term":"shepherd''s hut"}'),
  ('{"concept":"holiday_home","language":"en","term":"short break"}'),
  ('{"concept":"holiday_home","language":"en","term":"vacation home"}'),
  ('{"concept":"holiday_home","language":"en","term":"weekend away"}'),
  ('{"concept":"holiday_home","language":"es","term":"cabana"}'),
  ('{"concept":"holiday_home","language":"es","term":"escapada"}'),
  ('{"concept":"holiday_home","language":"fr","term":"cabane"}'),
  ('{"concept":"holiday_home","language":"fr","term":"chalet"}'),
  ('{"concept":"holiday_home","language":"fr","term":"villa de vacances"}'),
  ('{"concept":"holiday_home","language":"it","term":"agriturismo"}'),
  ('{"concept":"holiday_home","language":"it","term":"baita"}'),
  ('{"concept":"holiday_home","language":"it","term":"chalet"}'),
  ('{"concept":"holiday_home","language":"it","term":"villa per vacanze"}'),
  ('{"concept":"holiday_home","language":"nl","term":"chalet"}'),
  ('{"concept":"holiday_home","language":"nl","term":"huisje"}'),
  ('{"concept":"holiday_home","language":"nl","term":"vakantiehuisje"}'),
  ('{"concept":"holiday_home","language":"pl","term":"domek nad morzem"}'),
  ('{"concept":"holiday_home","language":"pl","term":"domek w gorach"}'),
  ('{"concept":"holiday_home","language":"pl","term":"domek"}'),
  ('{"concept":"holiday_home","language":"pt","term":"cabana"}'),
  ('{"concept":"holiday_home","language":"pt","term":"casa de praia"}'),
  ('{"concept":"holiday_home","language":"pt","term":"chale"}'),
  ('{"concept":"hotel_cleaner","language":"de","term":"roomboy"}'),
  ('{"concept":"hotel_cleaner","language":"de","term":"zimmermaedchen"}'),
  ('{"concept":"hotel_cleaner","language":"en","term":"chambermaid"}'),
  ('{"concept":"hotel_cleaner","language":"en","term":"housekeeping"}'),
  ('{"concept":"hotel_cleaner","language":"en","term":"room attendant"}'),
  ('{"concept":"hotel_cleaner","language":"en","term":"room attendants"}'),
  ('{"concept":"hotel_cleaner","language":"es","term":"camarera de pisos"}'),
  ('{"concept":"hotel_cleaner","language":"fr","term":"femme de chambre"}'),
  ('{"concept":"hotel_cleaner","language":"it","term":"cameriera ai piani"}'),
  ('{"concept":"hotel_cleaner","language":"nl","term":"kamermeisje"}'),
  ('{"concept":"hotel_cleaner","language":"pl","term":"pokojowka"}'),
  ('{"concept":"hotel_cleaner","language":"pt","term":"camareira"}'),
  ('{"concept":"hotel_cleaner","language":"pt","term":"empregada de andares"}'),
  ('{"concept":"house","language":"de","term":"bauernhaus"}'),
  ('{"concept":"house","language":"de","term":"doppelhaushaelfte"}'),
  ('{"concept":"house","language":"en","term":"bungalows"}'),
  ('{"concept":"house","language":"en","term":"end terrace"}'),
  ('{"concept":"house","language":"en","term":"farmhouse"}'),
  ('{"concept":"house","language":"en","term":"semi-detached"}'),
  ('{"concept":"house","language":"en","term":"terrace"}'),
  ('{"concept":"house","language":"en","term":"terraced"}'),
  ('{"concept":"house","language":"en","term":"weatherboard"}'),
  ('{"concept":"house","language":"es","term":"casa de campo"}'),
  ('{"concept":"house","language":"es","term":"chalet adosado"}'),
  ('{"concept":"house","language":"es","term":"cortijo"}'),
  ('{"concept":"house","language":"fr","term":"fermette"}'),
  ('{"concept":"house","language":"fr","term":"maison de ville"}'),
  ('{"concept":"house","language":"it","term":"casale"}'),
  ('{"concept":"house","language":"it","term":"cascina"}'),
  ('{"concept":"house","language":"it","term":"rustico"}'),
  ('{"concept":"house","language":"nl","term":"boerderij"}'),
  ('{"concept":"house","language":"nl","term":"tussenwoning"}'),
  ('{"concept":"house","language":"pl","term":"blizniak"}'),
  ('{"concept":"house","language":"pl","term":"dom jednorodzinny"}'),
  ('{"concept":"house","language":"pt","term":"casa de campo"}'),
  ('{"concept":"house","language":"pt","term":"quinta"}'),
  ('{"concept":"kayak","language":"de","term":"paddelboot"}'),
  ('{"concept":"kayak","language":"de","term":"stand-up-paddle"}'),
  ('{"concept":"kayak","language":"en","term":"stand up paddle"}'),
  ('{"concept":"kayak","language":"es","term":"paddle surf"}'),
  ('{"concept":"kayak","language":"es","term":"piragua"}'),
  ('{"concept":"kayak","language":"nl","term":"supboard"}'),
  ('{"concept":"kayak","language":"pt","term":"prancha de sup"}'),
  ('{"concept":"kids_clothes","language":"de","term":"kinderkleider"}'),
  ('{"concept":"kids_clothes","language":"de","term":"kinderkleidung"}'),
  ('{"concept":"kids_clothes","language":"en","term":"boys clothes"}'),
  ('{"concept":"kids_clothes","language":"en","term":"children''s clothes"}'),
  ('{"concept":"kids_clothes","language":"en","term":"childrens clothes"}'),
  ('{"concept":"kids_clothes","language":"en","term":"girls clothes"}'),
  ('{"concept":"kids_clothes","language":"en","term":"kids clothes"}'),
  ('{"concept":"kids_clothes","language":"en","term":"toddler clothes"}'),
  ('{"concept":"kids_clothes","language":"es","term":"ropa de nino"}'),
  ('{"concept":"kids_clothes","language":"es","term":"ropa infantil"}'),
  ('{"concept":"kids_clothes","language":"fr","term":"vetements d''enfant"}'),
  ('{"concept":"kids_clothes","language":"fr","term":"vetements enfant"}'),
  ('{"concept":"kids_clothes","language":"it","term":"abbigliamento bambini"}'),
  ('{"concept":"kids_clothes","language":"it","term":"vestiti bambino"}'),
  ('{"concept":"kids_clothes","language":"nl","term":"kinderkleding"}'),
  ('{"concept":"kids_clothes","language":"nl","term":"kinderkleren"}'),
  ('{"concept":"kids_clothes","language":"pl","term":"ubrania dzieciece"}'),
  ('{"concept":"kids_clothes","language":"pl","term":"ubranka"}'),
  ('{"concept":"kids_clothes","language":"pt","term":"roupa de crianca"}'),
  ('{"concept":"kids_clothes_model","language":"en","term":"bin bags of boys"}'),
  ('{"concept":"kids_clothes_model","language":"en","term":"boys'' and unisex clothes"}'),
  ('{"concept":"land","language":"de","term":"baugrund"}'),
  ('{"concept":"land","language":"de","term":"baugrundstuck"}'),
  ('{"concept":"land","language":"de","term":"baugrundstueck"}'),
  ('{"concept":"land","language":"en","term":"building land"}'),
  ('{"concept":"land","language":"es","term":"terreno edificable"}'),
  ('{"concept":"land","language":"fr","term":"terrain a batir"}'),
  ('{"concept":"land","language":"fr","term":"terrain constructible"}'),
  ('{"concept":"land","language":"it","term":"terreno edificabile"}'),
  ('{"concept":"land","language":"nl","term":"bouwkavel"}'),
  ('{"concept":"land","language":"pl","term":"dzialka budowlana"}'),
  ('{"concept":"land","language":"pt","term":"terreno para construcao"}'),
  ('{"concept":"language_exchange","language":"de","term":"sprachpartner"}'),
  ('{"concept":"language_exchange","language":"en","term":"language buddy"}'),
  ('{"concept":"language_exchange","language":"en","term":"language swap"}'),
  ('{"concept":"language_exchange","language":"en","term":"practise german"}'),
  ('{"concept":"language_exchange","language":"en","term":"practise spanish"}'),
  ('{"concept":"language_exchange","language":"en","term":"swap languages"}'),
  ('{"concept":"language_exchange","language":"es","term":"intercambio linguistico"}'),
  ('{"concept":"language_exchange","language":"fr","term":"partenaire linguistique"}'),
  ('{"concept":"language_exchange","language":"it","term":"partner linguistico"}'),
  ('{"concept":"language_exchange","language":"nl","term":"taalpartner"}'),
  ('{"concept":"language_exchange","language":"pl","term":"partner jezykowy"}'),
  ('{"concept":"language_exchange","language":"pt","term":"parceiro de linguas"}'),
  ('{"concept":"language_lessons","language":"de","term":"deutsch lernen"}'),
  ('{"concept":"language_lessons","language":"de","term":"englisch lernen"}'),
  ('{"concept":"language_lessons","language":"de","term":"spanischunterricht"}'),
  ('{"concept":"language_lessons","language":"de","term":"sprachlehrer"}'),
  ('{"concept":"language_lessons","language":"en","term":"conversation lessons"}'),
  ('{"concept":"language_lessons","language":"en","term":"dutch lessons"}'),
  ('{"concept":"language_lessons","language":"en","term":"english coach"}'),
  ('{"concept":"language_lessons","language":"en","term":"english teacher"}'),
  ('{"concept":"language_lessons","language":"en","term":"ielts"}'),
  ('{"concept":"language_lessons","language":"en","term":"italian lessons"}'),
  ('{"concept":"language_lessons","language":"en","term":"language course"}'),
  ('{"concept":"language_lessons","language":"en","term":"learn english"}'),
  ('{"concept":"language_lessons","language":"en","term":"learn european portuguese"}'),
  ('{"concept":"language_lessons","language":"en","term":"learn french"}'),
  ('{"concept":"language_lessons","language":"en","term":"learn german"}'),
  ('{"concept":"language_lessons","language":"en","term":"learn spanish"}'),
  ('{"concept":"language_lessons","language":"en","term":"native teacher"}'),
  ('{"concept":"language_lessons","language":"en","term":"portuguese lessons"}'),
  ('{"concept":"language_lessons","language":"es","term":"clases de frances"}'),
  ('{"concept":"language_lessons","language":"es","term":"clases de portugues"}'),
  ('{"concept":"language_lessons","language":"es","term":"profesor de ingles"}'),
  ('{"concept":"language_lessons","language":"fr","term":"apprendre l''anglais"}'),
  ('{"concept":"language_lessons","language":"fr","term":"apprendre le francais"}'),
  ('{"concept":"language_lessons","language":"fr","term":"conversation en francais"}'),
  ('{"concept":"language_lessons","language":"fr","term":"fle"}'),
  ('{"concept":"language_lessons","language":"fr","term":"prof fle"}'),
  ('{"concept":"language_lessons","language":"it","term":"corso di inglese"}'),
  ('{"concept":"language_lessons","language":"it","term":"lezioni di francese"}'),
  ('{"concept":"language_lessons","language":"it","term":"lezioni di spagnolo"}'),
  ('{"concept":"language_lessons","language":"nl","term":"cursus nederlands"}'),
  ('{"concept":"language_lessons","language":"pl","term":"korepetycje z angielskiego"}'),
  ('{"concept":"language_lessons","language":"pt","term":"aulas de alemao"}'),
  ('{"concept":"language_lessons","language":"pt","term":"explicacoes de ingles"}'),
  ('{"concept":"laptop_model","language":"en","term":"chromebook"}'),
  ('{"concept":"laptop_model","language":"en","term":"dell latitude"}'),
  ('{"concept":"laptop_model","language":"en","term":"dell xps"}'),
  ('{"concept":"laptop_model","language":"en","term":"elitebook"}'),
  ('{"concept":"laptop_model","language":"en","term":"gaming laptop"}'),
  ('{"concept":"laptop_model","language":"en","term":"ideapad"}'),
  ('{"concept":"laptop_model","language":"en","term":"macbook air"}'),
  ('{"concept":"laptop_model","language":"en","term":"macbook pro"}'),
  ('{"concept":"laptop_model","language":"en","term":"macbook"}'),
  ('{"concept":"laptop_model","language":"en","term":"surface laptop"}'),
  ('{"concept":"laptop_model","language":"en","term":"thinkpad"}'),
  ('{"concept":"laptop_model","language":"en","term":"vivobook"}'),
  ('{"concept":"laptop_model","language":"en","term":"zenbook"}'),
  ('{"concept":"laptop_model","language":"en","term":"zephyrus"}'),
  ('{"concept":"lens","language":"de","term":"teleobjektiv"}'),
  ('{"concept":"lens","language":"de","term":"zoomobjektiv"}'),
  ('{"concept":"lens","language":"en","term":"macro lens"}'),
  ('{"concept":"lens","language":"en","term":"portrait lens"}'),
  ('{"concept":"lens","language":"en","term":"telephoto lens"}'),
  ('{"concept":"lens","language":"en","term":"telephoto"}'),
  ('{"concept":"lens","language":"en","term":"zoom lens"}'),
  ('{"concept":"lens","language":"es","term":"teleobjetivo"}'),
  ('{"concept":"lens","language":"fr","term":"teleobjectif"}'),
  ('{"concept":"lens","language":"it","term":"teleobiettivo"}'),
  ('{"concept":"lens","language":"nl","term":"telelens"}'),
  ('{"concept":"lens","language":"pl","term":"teleobiektyw"}'),
  ('{"concept":"lens","language":"pt","term":"teleobjetiva"}'),
  ('{"concept":"locksmith","language":"de","term":"ausgesperrt"}'),
  ('{"concept":"locksmith","language":"de","term":"schluessel verloren"}'),
  ('{"concept":"locksmith","language":"en","term":"locked myself out"}'),
  ('{"concept":"locksmith","language":"en","term":"locked out"}'),
  ('{"concept":"locksmith","language":"en","term":"lost my keys"}'),
  ('{"concept":"locksmith","language":"en","term":"rekeying"}'),
  ('{"concept":"locksmith","language":"es","term":"me quede fuera"}'),
  ('{"concept":"locksmith","language":"fr","term":"porte claquee"}'),
  ('{"concept":"locksmith","language":"it","term":"chiuso fuori"}'),
  ('{"concept":"locksmith","language":"nl","term":"buitengesloten"}'),
  ('{"concept":"locksmith","language":"pl","term":"zatrzasniete drzwi"}'),
  ('{"concept":"locksmith","language":"pt","term":"fechado fora de casa"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"ducati"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"harley davidson"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"honda cb"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"kawasaki ninja"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"ktm duke"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"royal enfield"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"suzuki sv"}'),
  ('{"concept":"motorcycle_model","language":"en","term":"yamaha mt"}'),
  ('{"concept":"mountains","language":"de","term":"alpen"}'),
  ('{"concept":"mountains","language":"de","term":"berge"}'),
  ('{"concept":"mountains","language":"de","term":"bergen"}'),
  ('{"concept":"mountains","language":"de","term":"gebirge"}'),
  ('{"concept":"mountains","language":"de","term":"skigebiet"}'),
  ('{"concept":"mountains","language":"en","term":"alps"}'),
  ('{"concept":"mountains","language":"en","term":"hills"}'),
  ('{"concept":"mountains","language":"en","term":"mountains"}'),
  ('{"concept":"mountains","language":"en","term":"mt"}'),
  ('{"concept":"mountains","language":"en","term":"ski slopes"}'),
  ('{"concept":"mountains","language":"en","term":"ski-in"}'),
  ('{"concept":"mountains","language":"es","term":"montana"}'),
  ('{"concept":"mountains","language":"es","term":"montanas"}'),
  ('{"concept":"mountains","language":"es","term":"sierra"}'),
  ('{"concept":"mountains","language":"fr","term":"alpes"}'),
  ('{"concept":"mountains","language":"fr","term":"montagne"}'),
  ('{"concept":"mountains","language":"fr","term":"montagnes"}'),
  ('{"concept":"mountains","language":"fr","term":"pistes"}'),
  ('{"concept":"mountains","language":"fr","term":"skis aux pieds"}'),
  ('{"concept":"mountains","language":"it","term":"dolomiti"}'),
  ('{"concept":"mountains","language":"it","term":"montagna"}'),
  ('{"concept":"mountains","language":"it","term":"montagne"}'),
  ('{"concept":"mountains","language":"nl","term":"de bergen"}'),
  ('{"concept":"mountains","language":"pl","term":"gorach"}'),
  ('{"concept":"mountains","language":"pl","term":"gory"}'),
  ('{"concept":"mountains","language":"pt","term":"montanha"}'),
  ('{"concept":"mountains","language":"pt","term":"serra"}'),
  ('{"concept":"movers","language":"de","term":"moebeltransport"}'),
  ('{"concept":"movers","language":"de","term":"umziehen"}'),
  ('{"concept":"movers","language":"en","term":"help me move"}'),
  ('{"concept":"movers","language":"en","term":"move flat"}'),
  ('{"concept":"movers","language":"en","term":"move house"}'),
  ('{"concept":"movers","language":"en","term":"moving flat"}'),
  ('{"concept":"movers","language":"en","term":"moving"}'),
  ('{"concept":"movers","language":"es","term":"mudarme"}'),
  ('{"concept":"movers","language":"es","term":"mudarse"}'),
  ('{"concept":"movers","language":"fr","term":"demenager"}'),
  ('{"concept":"movers","language":"it","term":"traslocare"}'),
  ('{"concept":"movers","language":"nl","term":"verhuizen"}'),
  ('{"concept":"movers","language":"pt","term":"mudar de casa"}'),
  ('{"concept":"office","language":"de","term":"arbeitsplatz"}'),
  ('{"concept":"office","language":"de","term":"gemeinschaftsbuero"}'),
  ('{"concept":"office","language":"de","term":"schreibtischplatz"}'),
  ('{"concept":"office","language":"en","term":"co-working"}'),
  ('{"concept":"office","language":"en","term":"desk in a"}'),
  ('{"concept":"office","language":"en","term":"hot desk"}'),
  ('{"concept":"office","language":"en","term":"shared office"}'),
  ('{"concept":"office","language":"en","term":"shared studio"}'),
  ('{"concept":"office","language":"es","term":"puesto de trabajo"}'),
  ('{"concept":"office","language":"fr","term":"bureau partage"}'),
  ('{"concept":"office","language":"fr","term":"poste de travail"}'),
  ('{"concept":"office","language":"it","term":"postazione"}'),
  ('{"concept":"office","language":"it","term":"ufficio condiviso"}'),
  ('{"concept":"office","language":"nl","term":"bureauplek"}'),
  ('{"concept":"office","language":"nl","term":"flexplek"}'),
  ('{"concept":"office","language":"pl","term":"miejsce w biurze"}'),
  ('{"concept":"office","language":"pt","term":"escritorio partilhado"}'),
  ('{"concept":"office","language":"pt","term":"posto de trabalho"}'),
  ('{"concept":"office_chair_model","language":"en","term":"aeron"}'),
  ('{"concept":"office_chair_model","language":"en","term":"herman miller"}'),
  ('{"concept":"office_chair_model","language":"en","term":"steelcase"}'),
  ('{"concept":"one_bedroom","language":"en","term":"1 br"}'),
  ('{"concept":"one_bedroom","language":"en","term":"1bed"}'),
  ('{"concept":"one_bedroom","language":"en","term":"one bed flat"}'),
  ('{"concept":"one_bedroom","language":"en","term":"one-bed"}'),
  ('{"concept":"one_bedroom","language":"es","term":"un dormitorio"}'),
  ('{"concept":"one_bedroom","language":"es","term":"una habitacion"}'),
  ('{"concept":"one_bedroom","language":"nl","term":"eenkamerappartement"}'),
  ('{"concept":"one_bedroom","language":"pl","term":"kawalerka z sypialnia"}'),
  ('{"concept":"online","language":"de","term":"online"}'),
  ('{"concept":"online","language":"de","term":"per video"}'),
  ('{"concept":"online","language":"de","term":"videounterricht"}'),
  ('{"concept":"online","language":"en","term":"by video"}'),
  ('{"concept":"online","language":"en","term":"online"}'),
  ('{"concept":"online","language":"en","term":"remote lessons"}'),
  ('{"concept":"online","language":"en","term":"skype"}'),
  ('{"concept":"online","language":"en","term":"video call"}'),
  ('{"concept":"online","language":"en","term":"zoom"}'),
  ('{"concept":"online","language":"es","term":"en linea"}'),
  ('{"concept":"online","language":"es","term":"online"}'),
  ('{"concept":"online","language":"es","term":"por videollamada"}'),
  ('{"concept":"online","language":"fr","term":"en ligne"}'),
  ('{"concept":"online","language":"fr","term":"par visio"}'),
  ('{"concept":"online","language":"fr","term":"visio"}'),
  ('{"concept":"online","language":"it","term":"online"}'),
  ('{"concept":"online","language":"it","term":"videochiamata"}'),
  ('{"concept":"online","language":"nl","term":"online"}'),
  ('{"concept":"online","language":"nl","term":"via zoom"}'),
  ('{"concept":"online","language":"nl","term":"videobellen"}'),
  ('{"concept":"online","language":"pl","term":"online"}'),
  ('{"concept":"online","language":"pl","term":"przez internet"}'),
  ('{"concept":"online","language":"pl","term":"zdalnie"}'),
  ('{"concept":"online","language":"pt","term":"online"}'),
  ('{"concept":"online","language":"pt","term":"por video"}'),
  ('{"concept":"online","language":"pt","term":"videochamada"}'),
  ('{"concept":"oven","language":"en","term":"gas range"}'),
  ('{"concept":"oven","language":"en","term":"hob"}'),
  ('{"concept":"oven","language":"en","term":"range"}'),
  ('{"concept":"oven","language":"es","term":"fogon"}'),
  ('{"concept":"oven","language":"fr","term":"gaziniere"}'),
  ('{"concept":"oven","language":"it","term":"cucina a gas"}'),
  ('{"concept":"oven","language":"it","term":"fornelli"}'),
  ('{"concept":"oven","language":"nl","term":"gasfornuis"}'),
  ('{"concept":"phone_model","language":"en","term":"big button mobile"}'),
  ('{"concept":"phone_model","language":"en","term":"feature phone"}'),
  ('{"concept":"phone_model","language":"en","term":"iphone"}'),
  ('{"concept":"phone_model","language":"en","term":"nokia 3310"}'),
  ('{"concept":"phone_repair","language":"de","term":"display kaputt"}'),
  ('{"concept":"phone_repair","language":"de","term":"handy reparieren"}'),
  ('{"concept":"phone_repair","language":"en","term":"broken screen"}'),
  ('{"concept":"phone_repair","language":"en","term":"phone screen"}'),
  ('{"concept":"phone_repair","language":"en","term":"smashed screen"}'),
  ('{"concept":"phone_repair","language":"es","term":"pantalla rota"}'),
  ('{"concept":"phone_repair","language":"fr","term":"ecran casse"}'),
  ('{"concept":"phone_repair","language":"it","term":"schermo rotto"}'),
  ('{"concept":"phone_repair","language":"nl","term":"kapot scherm"}'),
  ('{"concept":"phone_repair","language":"pl","term":"zbita szybka"}'),
  ('{"concept":"phone_repair","language":"pl","term":"zbity ekran"}'),
  ('{"concept":"piano","language":"en","term":"electric piano"}'),
  ('{"concept":"piano","language":"en","term":"keyboard piano"}'),
  ('{"concept":"piano","language":"es","term":"piano digital"}'),
  ('{"concept":"piano","language":"es","term":"piano electrico"}'),
  ('{"concept":"piano","language":"fr","term":"piano droit"}'),
  ('{"concept":"piano","language":"fr","term":"piano numerique"}'),
  ('{"concept":"piano","language":"it","term":"pianoforte digitale"}'),
  ('{"concept":"piano","language":"nl","term":"digitale piano"}'),
  ('{"concept":"piano","language":"nl","term":"elektrische piano"}'),
  ('{"concept":"piano","language":"pt","term":"piano digital"}'),
  ('{"concept":"plumber","language":"de","term":"abfluss verstopft"}'),
  ('{"concept":"plumber","language":"de","term":"heizung defekt"}'),
  ('{"concept":"plumber","language":"de","term":"tropfender"}'),
  ('{"concept":"plumber","language":"en","term":"blocked drain"}'),
  ('{"concept":"plumber","language":"en","term":"boiler"}'),
  ('{"concept":"plumber","language":"en","term":"dripping"}'),
  ('{"concept":"plumber","language":"en","term":"radiators"}'),
  ('{"concept":"plumber","language":"en","term":"toilet cistern"}'),
  ('{"concept":"plumber","language":"en","term":"water leak"}'),
  ('{"concept":"plumber","language":"es","term":"caldera"}'),
  ('{"concept":"plumber","language":"es","term":"cisterna"}'),
  ('{"concept":"plumber","language":"es","term":"gotea"}'),
  ('{"concept":"plumber","language":"fr","term":"chasse d''eau"}'),
  ('{"concept":"plumber","language":"fr","term":"chaudiere"}'),
  ('{"concept":"plumber","language":"fr","term":"fuit"}'),
  ('{"concept":"plumber","language":"it","term":"caldaia"}'),
  ('{"concept":"plumber","language":"it","term":"perde"}'),
  ('{"concept":"plumber","language":"nl","term":"cv-ketel"}'),
  ('{"concept":"plumber","language":"nl","term":"lekkende"}'),
  ('{"concept":"plumber","language":"nl","term":"lekt"}'),
  ('{"concept":"plumber","language":"pl","term":"kapie"}'),
  ('{"concept":"plumber","language":"pl","term":"kran cieknie"}'),
  ('{"concept":"plumber","language":"pl","term":"spluczka"}'),
  ('{"concept":"plumber","language":"pt","term":"autoclismo"}'),
  ('{"concept":"plumber","language":"pt","term":"esquentador"}'),
  ('{"concept":"plumber","language":"pt","term":"pinga"}'),
  ('{"concept":"portuguese","language":"de","term":"portugiesisch"}'),
  ('{"concept":"portuguese","language":"en","term":"portuguese"}'),
  ('{"concept":"portuguese","language":"es","term":"portugues"}'),
  ('{"concept":"portuguese","language":"fr","term":"portugais"}'),
  ('{"concept":"portuguese","language":"it","term":"portoghese"}'),
  ('{"concept":"portuguese","language":"nl","term":"portugees"}'),
  ('{"concept":"portuguese","language":"pl","term":"portugalski"}'),
  ('{"concept":"portuguese","language":"pl","term":"portugalskiego"}'),
  ('{"concept":"portuguese","language":"pt","term":"portugues"}'),
  ('{"concept":"pram","language":"de","term":"geschwisterwagen"}'),
  ('{"concept":"pram","language":"de","term":"sportwagen"}'),
  ('{"concept":"pram","language":"en","term":"double buggy"}'),
  ('{"concept":"pram","language":"en","term":"double stroller"}'),
  ('{"concept":"pram","language":"en","term":"pushchairs"}'),
  ('{"concept":"pram","language":"es","term":"carro de bebe"}'),
  ('{"concept":"pram","language":"es","term":"silla gemelar"}'),
  ('{"concept":"pram","language":"fr","term":"poussette canne"}'),
  ('{"concept":"pram","language":"fr","term":"poussette double"}'),
  ('{"concept":"pram","language":"it","term":"passeggino gemellare"}'),
  ('{"concept":"pram","language":"nl","term":"duowagen"}'),
  ('{"concept":"pram","language":"pl","term":"wozek blizniaczy"}'),
  ('{"concept":"pram","language":"pl","term":"wozek spacerowy"}'),
  ('{"concept":"pram","language":"pt","term":"carrinho duplo"}'),
  ('{"concept":"pram_model","language":"en","term":"babyzen yoyo"}'),
  ('{"concept":"pram_model","language":"en","term":"bugaboo"}'),
  ('{"concept":"pram_model","language":"en","term":"city mini"}'),
  ('{"concept":"pram_model","language":"en","term":"cybex priam"}'),
  ('{"concept":"pram_model","language":"en","term":"yoyo"}'),
  ('{"concept":"programming_lessons","language":"de","term":"programmierkurs"}'),
  ('{"concept":"programming_lessons","language":"en","term":"coding classes"}'),
  ('{"concept":"programming_lessons","language":"en","term":"coding lessons"}'),
  ('{"concept":"programming_lessons","language":"en","term":"learn to code"}'),
  ('{"concept":"programming_lessons","language":"en","term":"python lessons"}'),
  ('{"concept":"programming_lessons","language":"en","term":"scratch"}'),
  ('{"concept":"programming_lessons","language":"es","term":"clases de programacion"}'),
  ('{"concept":"programming_lessons","language":"fr","term":"cours de programmation"}'),
  ('{"concept":"programming_lessons","language":"it","term":"corso di programmazione"}'),
  ('{"concept":"programming_lessons","language":"nl","term":"programmeerles"}'),
  ('{"concept":"programming_lessons","language":"pl","term":"kurs programowania"}'),
  ('{"concept":"programming_lessons","language":"pt","term":"aulas de programacao"}'),
  ('{"concept":"relationship","language":"de","term":"ernsthafte beziehung"}'),
  ('{"concept":"relationship","language":"de","term":"feste beziehung"}'),
  ('{"concept":"relationship","language":"de","term":"lebenspartner"}'),
  ('{"concept":"relationship","language":"de","term":"lebenspartnerin"}'),
  ('{"concept":"relationship","language":"de","term":"partnersuche"}'),
  ('{"concept":"relationship","language":"de","term":"single"}'),
  ('{"concept":"relationship","language":"de","term":"suche ihn"}'),
  ('{"concept":"relationship","language":"de","term":"suche sie"}'),
  ('{"concept":"relationship","language":"en","term":"date"}'),
  ('{"concept":"relationship","language":"en","term":"dates"}'),
  ('{"concept":"relationship","language":"en","term":"gay man"}'),
  ('{"concept":"relationship","language":"en","term":"life partner"}'),
  ('{"concept":"relationship","language":"en","term":"looking for a girl"}'),
  ('{"concept":"relationship","language":"en","term":"looking for a guy"}'),
  ('{"concept":"relationship","language":"en","term":"looking for love"}'),
  ('{"concept":"relationship","language":"en","term":"meet a man"}'),
  ('{"concept":"relationship","language":"en","term":"meet a woman"}'),
  ('{"concept":"relationship","language":"en","term":"single"}'),
  ('{"concept":"relationship","language":"en","term":"something lasting"}'),
  ('{"concept":"relationship","language":"en","term":"something serious"}'),
  ('{"concept":"relationship","language":"en","term":"soulmate"}'),
  ('{"concept":"relationship","language":"es","term":"relacion seria"}'),
  ('{"concept":"relationship","language":"es","term":"soltera"}'),
  ('{"concept":"relationship","language":"es","term":"soltero"}'),
  ('{"concept":"relationship","language":"fr","term":"celibataire"}'),
  ('{"concept":"relationship","language":"fr","term":"relation serieuse"}'),
  ('{"concept":"relationship","language":"it","term":"cerca donna"}'),
  ('{"concept":"relationship","language":"it","term":"cerca uomo"}'),
  ('{"concept":"relationship","language":"it","term":"relazione seria"}'),
  ('{"concept":"relationship","language":"it","term":"single"}'),
  ('{"concept":"relationship","language":"nl","term":"levenspartner"}'),
  ('{"concept":"relationship","language":"nl","term":"serieuze relatie"}'),
  ('{"concept":"relationship","language":"nl","term":"vrijgezel"}'),
  ('{"concept":"relationship","language":"pl","term":"powazny zwiazek"}'),
  ('{"concept":"relationship","language":"pl","term":"singiel"}'),
  ('{"concept":"relationship","language":"pl","term":"singielka"}'),
  ('{"concept":"relationship","language":"pt","term":"relacao seria"}'),
  ('{"concept":"relationship","language":"pt","term":"solteira"}'),
  ('{"concept":"relationship","language":"pt","term":"solteiro"}'),
  ('{"concept":"restaurant","language":"de","term":"cafe"}'),
  ('{"concept":"restaurant","language":"de","term":"gastronomie"}'),
  ('{"concept":"restaurant","language":"de","term":"restaurant"}'),
  ('{"concept":"restaurant","language":"en","term":"bistro"}'),
  ('{"concept":"restaurant","language":"en","term":"cafe"}'),
  ('{"concept":"restaurant","language":"en","term":"catering job"}'),
  ('{"concept":"restaurant","language":"en","term":"coffee place"}'),
  ('{"concept":"restaurant","language":"en","term":"coffee shop"}'),
  ('{"concept":"restaurant","language":"en","term":"pub"}'),
  ('{"concept":"restaurant","language":"en","term":"restaurant"}'),
  ('{"concept":"restaurant","language":"es","term":"cafeteria"}'),
  ('{"concept":"restaurant","language":"es","term":"hosteleria"}'),
  ('{"concept":"restaurant","language":"es","term":"restaurante"}'),
  ('{"concept":"restaurant","language":"fr","term":"cafe"}'),
  ('{"concept":"restaurant","language":"fr","term":"restaurant"}'),
  ('{"concept":"restaurant","language":"fr","term":"restauration"}'),
  ('{"concept":"restaurant","language":"it","term":"bar"}'),
  ('{"concept":"restaurant","language":"it","term":"caffetteria"}'),
  ('{"concept":"restaurant","language":"it","term":"ristorante"}'),
  ('{"concept":"restaurant","language":"nl","term":"horeca"}'),
  ('{"concept":"restaurant","language":"nl","term":"restaurant"}'),
  ('{"concept":"restaurant","language":"pl","term":"gastronomia"}'),
  ('{"concept":"restaurant","language":"pl","term":"kawiarnia"}'),
  ('{"concept":"restaurant","language":"pl","term":"restauracja"}'),
  ('{"concept":"restaurant","language":"pt","term":"cafetaria"}'),
  ('{"concept":"restaurant","language":"pt","term":"restauracao"}'),
  ('{"concept":"restaurant","language":"pt","term":"restaurante"}'),
  ('{"concept":"ring","language":"de","term":"goldring"}'),
  ('{"concept":"ring","language":"en","term":"gold ring"}'),
  ('{"concept":"ring","language":"es","term":"anillo de oro"}'),
  ('{"concept":"ring","language":"it","term":"anello d''oro"}'),
  ('{"concept":"ring","language":"it","term":"fede nuziale"}'),
  ('{"concept":"ring","language":"nl","term":"gouden ring"}'),
  ('{"concept":"ring","language":"pt","term":"anel de ouro"}'),
  ('{"concept":"roofer","language":"de","term":"dachdecker"}'),
  ('{"concept":"roofer","language":"de","term":"dachreparatur"}'),
  ('{"concept":"roofer","language":"de","term":"dachrinne"}'),
  ('{"concept":"roofer","language":"en","term":"gutters"}'),
  ('{"concept":"roofer","language":"en","term":"roof leak"}'),
  ('{"concept":"roofer","language":"en","term":"roof leaks"}'),
  ('{"concept":"roofer","language":"en","term":"roof"}'),
  ('{"concept":"roofer","language":"en","term":"roofer"}'),
  ('{"concept":"roofer","language":"es","term":"canalones"}'),
  ('{"concept":"roofer","language":"es","term":"goteras"}'),
  ('{"concept":"roofer","language":"es","term":"techador"}'),
  ('{"concept":"roofer","language":"es","term":"tejado"}'),
  ('{"concept":"roofer","language":"fr","term":"couvreur"}'),
  ('{"concept":"roofer","language":"fr","term":"gouttiere"}'),
  ('{"concept":"roofer","language":"fr","term":"toiture"}'),
  ('{"concept":"roofer","language":"it","term":"grondaie"}'),
  ('{"concept":"roofer","language":"it","term":"lattoniere"}'),
  ('{"concept":"roofer","language":"it","term":"tetto"}'),
  ('{"concept":"roofer","language":"nl","term":"dakdekker"}'),
  ('{"concept":"roofer","language":"nl","term":"dakgoot"}'),
  ('{"concept":"roofer","language":"nl","term":"daklekkage"}'),
  ('{"concept":"roofer","language":"pl","term":"dach"}'),
  ('{"concept":"roofer","language":"pl","term":"dekarz"}'),
  ('{"concept":"roofer","language":"pl","term":"rynny"}'),
  ('{"concept":"roofer","language":"pt","term":"caleiras"}'),
  ('{"concept":"roofer","language":"pt","term":"telhado"}'),
  ('{"concept":"sauna","language":"de","term":"sauna"}'),
  ('{"concept":"sauna","language":"en","term":"sauna"}'),
  ('{"concept":"sauna","language":"en","term":"steam room"}'),
  ('{"concept":"sauna","language":"es","term":"sauna"}'),
  ('{"concept":"sauna","language":"fr","term":"hammam"}'),
  ('{"concept":"sauna","language":"fr","term":"sauna"}'),
  ('{"concept":"sauna","language":"it","term":"sauna"}'),
  ('{"concept":"sauna","language":"nl","term":"sauna"}'),
  ('{"concept":"sauna","language":"pl","term":"sauna"}'),
  ('{"concept":"sauna","language":"pt","term":"sauna"}'),
  ('{"concept":"scaffold","language":"de","term":"geruest"}'),
  ('{"concept":"scaffold","language":"de","term":"rollgeruest"}'),
  ('{"concept":"scaffold","language":"en","term":"scaffold tower"}'),
  ('{"concept":"scaffold","language":"en","term":"scaffold"}'),
  ('{"concept":"scaffold","language":"en","term":"scaffolding"}'),
  ('{"concept":"scaffold","language":"es","term":"andamio"}'),
  ('{"concept":"scaffold","language":"fr","term":"echafaudage"}'),
  ('{"concept":"scaffold","language":"it","term":"ponteggio"}'),
  ('{"concept":"scaffold","language":"it","term":"trabattello"}'),
  ('{"concept":"scaffold","language":"nl","term":"rolsteiger"}'),
  ('{"concept":"scaffold","language":"nl","term":"steiger"}'),
  ('{"concept":"scaffold","language":"pl","term":"rusztowanie"}'),
  ('{"concept":"scaffold","language":"pt","term":"andaime"}'),
  ('{"concept":"scooter","language":"en","term":"125cc"}'),
  ('{"concept":"scooter","language":"en","term":"motor scooter"}'),
  ('{"concept":"scooter","language":"es","term":"moto 125"}'),
  ('{"concept":"scooter","language":"fr","term":"scooter 125"}'),
  ('{"concept":"scooter","language":"it","term":"motociclo 125"}'),
  ('{"concept":"scooter","language":"pt","term":"mota 125"}'),
  ('{"concept":"skis","language":"de","term":"skiset"}'),
  ('{"concept":"skis","language":"de","term":"skiverleih"}'),
  ('{"concept":"skis","language":"en","term":"ski gear"}'),
  ('{"concept":"skis","language":"en","term":"ski hire"}'),
  ('{"concept":"skis","language":"en","term":"ski rental"}'),
  ('{"concept":"skis","language":"es","term":"alquiler de esquis"}'),
  ('{"concept":"skis","language":"fr","term":"location de ski"}'),
  ('{"concept":"skis","language":"it","term":"noleggio sci"}'),
  ('{"concept":"skis","language":"nl","term":"skiverhuur"}'),
  ('{"concept":"skis","language":"pl","term":"wypozyczalnia nart"}'),
  ('{"concept":"skis","language":"pt","term":"aluguer de esquis"}'),
  ('{"concept":"sofa_bed","language":"de","term":"ausziehsofa"}'),
  ('{"concept":"sofa_bed","language":"en","term":"bed settee"}'),
  ('{"concept":"sofa_bed","language":"en","term":"pull-out sofa"}'),
  ('{"concept":"sofa_bed","language":"en","term":"sofabed"}'),
  ('{"concept":"sofa_bed","language":"es","term":"sillon cama"}'),
  ('{"concept":"sofa_bed","language":"fr","term":"banquette-lit"}'),
  ('{"concept":"sofa_bed","language":"fr","term":"canape lit"}'),
  ('{"concept":"sofa_bed","language":"it","term":"divano-letto"}'),
  ('{"concept":"sofa_bed","language":"it","term":"pronto letto"}'),
  ('{"concept":"sofa_bed","language":"pl","term":"sofa z funkcja spania"}'),
  ('{"concept":"sofa_bed","language":"pt","term":"sofa cama"}'),
  ('{"concept":"sofa_bed","language":"pt","term":"sofá-cama"}'),
  ('{"concept":"sofa_model","language":"en","term":"ektorp"}'),
  ('{"concept":"sofa_model","language":"en","term":"klippan"}'),
  ('{"concept":"spanish","language":"de","term":"spanisch"}'),
  ('{"concept":"spanish","language":"en","term":"spanish"}'),
  ('{"concept":"spanish","language":"es","term":"castellano"}'),
  ('{"concept":"spanish","language":"es","term":"espanol"}'),
  ('{"concept":"spanish","language":"fr","term":"espagnol"}'),
  ('{"concept":"spanish","language":"it","term":"spagnolo"}'),
  ('{"concept":"spanish","language":"nl","term":"spaans"}'),
  ('{"concept":"spanish","language":"pl","term":"hiszpanski"}'),
  ('{"concept":"spanish","language":"pl","term":"hiszpanskiego"}'),
  ('{"concept":"spanish","language":"pt","term":"espanhol"}'),
  ('{"concept":"speaker","language":"de","term":"anlage"}'),
  ('{"concept":"speaker","language":"de","term":"beschallung"}'),
  ('{"concept":"speaker","language":"de","term":"stereoanlage"}'),
  ('{"concept":"speaker","language":"en","term":"bluetooth speaker"}'),
  ('{"concept":"speaker","language":"en","term":"hi-fi"}'),
  ('{"concept":"speaker","language":"en","term":"hifi"}'),
  ('{"concept":"speaker","language":"en","term":"pa hire"}'),
  ('{"concept":"speaker","language":"en","term":"pa rental"}'),
  ('{"concept":"speaker","language":"en","term":"party pa"}'),
  ('{"concept":"speaker","language":"en","term":"sound system"}'),
  ('{"concept":"speaker","language":"en","term":"stereo system"}'),
  ('{"concept":"speaker","language":"es","term":"equipo de musica"}'),
  ('{"concept":"speaker","language":"es","term":"equipo de sonido"}'),
  ('{"concept":"speaker","language":"fr","term":"chaine hifi"}'),
  ('{"concept":"speaker","language":"fr","term":"sono"}'),
  ('{"concept":"speaker","language":"fr","term":"sonorisation"}'),
  ('{"concept":"speaker","language":"it","term":"impianto audio"}'),
  ('{"concept":"speaker","language":"it","term":"impianto stereo"}'),
  ('{"concept":"speaker","language":"nl","term":"geluidsinstallatie"}'),
  ('{"concept":"speaker","language":"nl","term":"stereo"}'),
  ('{"concept":"speaker","language":"pl","term":"naglosnienie"}'),
  ('{"concept":"speaker","language":"pl","term":"wieza stereo"}'),
  ('{"concept":"speaker","language":"pt","term":"aparelhagem"}'),
  ('{"concept":"speaker","language":"pt","term":"sistema de som"}'),
  ('{"concept":"storage","language":"de","term":"einlagern"}'),
  ('{"concept":"storage","language":"en","term":"self storage"}'),
  ('{"concept":"storage","language":"en","term":"storage room"}'),
  ('{"concept":"storage","language":"en","term":"store my things"}'),
  ('{"concept":"storage","language":"es","term":"guardamuebles"}'),
  ('{"concept":"storage","language":"pl","term":"skladowanie"}'),
  ('{"concept":"studio","language":"en","term":"bachelor apartment"}'),
  ('{"concept":"studio","language":"fr","term":"studette"}'),
  ('{"concept":"suit","language":"de","term":"hochzeitsanzug"}'),
  ('{"concept":"suit","language":"en","term":"formal wear"}'),
  ('{"concept":"suit","language":"en","term":"tux"}'),
  ('{"concept":"suit","language":"en","term":"two piece suit"}'),
  ('{"concept":"suit","language":"es","term":"traje de boda"}'),
  ('{"concept":"suit","language":"fr","term":"costume de mariage"}'),
  ('{"concept":"suit","language":"it","term":"abito da cerimonia"}'),
  ('{"concept":"suit","language":"it","term":"abito da sposo"}'),
  ('{"concept":"suit","language":"nl","term":"trouwpak"}'),
  ('{"concept":"suit","language":"pl","term":"garnitur slubny"}'),
  ('{"concept":"suit","language":"pt","term":"fato de casamento"}'),
  ('{"concept":"suv","language":"de","term":"gelaendewagen"}'),
  ('{"concept":"suv","language":"de","term":"gelandewagen"}'),
  ('{"concept":"suv","language":"de","term":"suv"}'),
  ('{"concept":"suv","language":"en","term":"4x4"}'),
  ('{"concept":"suv","language":"en","term":"awd"}'),
  ('{"concept":"suv","language":"en","term":"crossover"}'),
  ('{"concept":"suv","language":"en","term":"off-roader"}'),
  ('{"concept":"suv","language":"en","term":"suv"}'),
  ('{"concept":"suv","language":"es","term":"4x4"}'),
  ('{"concept":"suv","language":"es","term":"suv"}'),
  ('{"concept":"suv","language":"es","term":"todoterreno"}'),
  ('{"concept":"suv","language":"fr","term":"4x4"}'),
  ('{"concept":"suv","language":"fr","term":"suv"}'),
  ('{"concept":"suv","language":"it","term":"fuoristrada"}'),
  ('{"concept":"suv","language":"it","term":"suv"}'),
  ('{"concept":"suv","language":"nl","term":"suv"}'),
  ('{"concept":"suv","language":"nl","term":"terreinwagen"}'),
  ('{"concept":"suv","language":"pl","term":"suv"}'),
  ('{"concept":"suv","language":"pl","term":"terenowy"}'),
  ('{"concept":"suv","language":"pt","term":"jipe"}'),
  ('{"concept":"suv","language":"pt","term":"suv"}'),
  ('{"concept":"suv_model","language":"en","term":"hyundai tucson"}'),
  ('{"concept":"suv_model","language":"en","term":"kia sportage"}'),
  ('{"concept":"suv_model","language":"en","term":"mazda cx"}'),
  ('{"concept":"suv_model","language":"en","term":"nissan qashqai"}'),
  ('{"concept":"suv_model","language":"en","term":"subaru outback"}'),
  ('{"concept":"suv_model","language":"en","term":"toyota rav4"}'),
  ('{"concept":"suv_model","language":"en","term":"vw tiguan"}'),
  ('{"concept":"tablet_model","language":"en","term":"galaxy tab"}'),
  ('{"concept":"tablet_model","language":"en","term":"ipad"}'),
  ('{"concept":"tailor","language":"de","term":"kleid aendern"}'),
  ('{"concept":"tailor","language":"de","term":"kuerzen"}'),
  ('{"concept":"tailor","language":"en","term":"hems"}'),
  ('{"concept":"tailor","language":"en","term":"sewing"}'),
  ('{"concept":"tailor","language":"en","term":"shorten trousers"}'),
  ('{"concept":"tailor","language":"en","term":"taken in"}'),
  ('{"concept":"tailor","language":"en","term":"trouser hems"}'),
  ('{"concept":"tailor","language":"es","term":"coser"}'),
  ('{"concept":"tailor","language":"es","term":"dobladillo"}'),
  ('{"concept":"tailor","language":"fr","term":"couture"}'),
  ('{"concept":"tailor","language":"fr","term":"ourlet"}'),
  ('{"concept":"tailor","language":"it","term":"cucire"}'),
  ('{"concept":"tailor","language":"it","term":"orlo"}'),
  ('{"concept":"tailor","language":"nl","term":"inkorten"}'),
  ('{"concept":"tailor","language":"nl","term":"zoom"}'),
  ('{"concept":"tailor","language":"pl","term":"skrocic spodnie"}'),
  ('{"concept":"tailor","language":"pl","term":"szycie"}'),
  ('{"concept":"tailor","language":"pt","term":"bainhas"}'),
  ('{"concept":"tailor","language":"pt","term":"costura"}'),
  ('{"concept":"tiller","language":"de","term":"bodenfraese"}'),
  ('{"concept":"tiller","language":"de","term":"motorhacke"}'),
  ('{"concept":"tiller","language":"en","term":"cultivator"}'),
  ('{"concept":"tiller","language":"en","term":"rotavator"}'),
  ('{"concept":"tiller","language":"en","term":"rototiller"}'),
  ('{"concept":"tiller","language":"en","term":"tiller"}'),
  ('{"concept":"tiller","language":"es","term":"motoazada"}'),
  ('{"concept":"tiller","language":"fr","term":"motobineuse"}'),
  ('{"concept":"tiller","language":"fr","term":"motoculteur"}'),
  ('{"concept":"tiller","language":"it","term":"motozappa"}'),
  ('{"concept":"tiller","language":"nl","term":"grondfrees"}'),
  ('{"concept":"tiller","language":"pl","term":"glebogryzarka"}'),
  ('{"concept":"tiller","language":"pt","term":"motoenxada"}'),
  ('{"concept":"two_bedroom","language":"en","term":"2 br"}'),
  ('{"concept":"two_bedroom","language":"en","term":"two-bed"}'),
  ('{"concept":"two_bedroom","language":"nl","term":"tweekamerappartement"}'),
  ('{"concept":"vacuum","language":"de","term":"akkustaubsauger"}'),
  ('{"concept":"vacuum","language":"de","term":"handstaubsauger"}'),
  ('{"concept":"vacuum","language":"en","term":"cordless vacuum"}'),
  ('{"concept":"vacuum","language":"en","term":"dyson"}'),
  ('{"concept":"vacuum","language":"es","term":"aspiradora sin cable"}'),
  ('{"concept":"vacuum","language":"fr","term":"aspirateur balai"}'),
  ('{"concept":"vacuum","language":"it","term":"scopa elettrica"}'),
  ('{"concept":"vacuum","language":"nl","term":"steelstofzuiger"}'),
  ('{"concept":"vacuum","language":"pl","term":"odkurzacze"}'),
  ('{"concept":"vacuum","language":"pt","term":"aspirador vertical"}'),
  ('{"concept":"van","language":"de","term":"sprinter"}'),
  ('{"concept":"van","language":"en","term":"moving van"}'),
  ('{"concept":"van","language":"en","term":"panel van"}'),
  ('{"concept":"van","language":"en","term":"rental van"}'),
  ('{"concept":"van","language":"es","term":"furgoneta de carga"}'),
  ('{"concept":"van","language":"fr","term":"camion de demenagement"}'),
  ('{"concept":"van","language":"it","term":"furgone cargo"}'),
  ('{"concept":"van","language":"nl","term":"bestelwagen"}'),
  ('{"concept":"van","language":"pl","term":"bus dostawczy"}'),
  ('{"concept":"van","language":"pt","term":"carrinha comercial"}'),
  ('{"concept":"wardrobe_model","language":"en","term":"pax"}'),
  ('{"concept":"warehouse","language":"de","term":"lagerarbeit"}'),
  ('{"concept":"warehouse","language":"de","term":"lagerist"}'),
  ('{"concept":"warehouse","language":"en","term":"logistics"}'),
  ('{"concept":"warehouse","language":"en","term":"packing"}'),
  ('{"concept":"warehouse","language":"en","term":"warehouse job"}'),
  ('{"concept":"warehouse","language":"en","term":"warehouse work"}'),
  ('{"concept":"warehouse","language":"es","term":"logistica"}'),
  ('{"concept":"warehouse","language":"fr","term":"logistique"}'),
  ('{"concept":"warehouse","language":"it","term":"logistica"}'),
  ('{"concept":"warehouse","language":"nl","term":"logistiek"}'),
  ('{"concept":"warehouse","language":"nl","term":"magazijnwerk"}'),
  ('{"concept":"warehouse","language":"pl","term":"magazynie"}'),
  ('{"concept":"warehouse","language":"pl","term":"magazynu"}'),
  ('{"concept":"warehouse","language":"pl","term":"pakowacz"}'),
  ('{"concept":"warehouse","language":"pt","term":"logistica"}'),
  ('{"concept":"web_developer","language":"de","term":"internetseite"}'),
  ('{"concept":"web_developer","language":"de","term":"onlineshop"}'),
  ('{"concept":"web_developer","language":"en","term":"online shop"}'),
  ('{"concept":"web_developer","language":"en","term":"small business website"}'),
  ('{"concept":"web_developer","language":"en","term":"web page"}'),
  ('{"concept":"web_developer","language":"en","term":"web pages"}'),
  ('{"concept":"web_developer","language":"en","term":"webshop"}'),
  ('{"concept":"web_developer","language":"en","term":"woocommerce"}'),
  ('{"concept":"web_developer","language":"en","term":"wordpress site"}'),
  ('{"concept":"web_developer","language":"es","term":"tienda online"}'),
  ('{"concept":"web_developer","language":"fr","term":"boutique en ligne"}'),
  ('{"concept":"web_developer","language":"fr","term":"page web"}'),
  ('{"concept":"web_developer","language":"it","term":"negozio online"}'),
  ('{"concept":"web_developer","language":"nl","term":"webshop"}'),
  ('{"concept":"web_developer","language":"nl","term":"website laten maken"}'),
  ('{"concept":"web_developer","language":"nl","term":"webwinkel"}'),
  ('{"concept":"web_developer","language":"pl","term":"sklep internetowy"}'),
  ('{"concept":"web_developer","language":"pt","term":"loja online"}'),
  ('{"concept":"web_developer","language":"pt","term":"pagina web"}'),
  ('{"concept":"window_cleaner","language":"de","term":"fenster putzen"}'),
  ('{"concept":"window_cleaner","language":"en","term":"clean windows"}'),
  ('{"concept":"window_cleaner","language":"en","term":"windows cleaned"}'),
  ('{"concept":"window_cleaner","language":"es","term":"limpieza de ventanas"}'),
  ('{"concept":"window_cleaner","language":"fr","term":"nettoyage de vitres"}'),
  ('{"concept":"window_cleaner","language":"it","term":"lavavetri"}'),
  ('{"concept":"window_cleaner","language":"pt","term":"limpeza de janelas"}'),
  ('{"concept":"workshop_space","language":"de","term":"atelier"}'),
  ('{"concept":"workshop_space","language":"de","term":"werkstatt"}'),
  ('{"concept":"workshop_space","language":"en","term":"art studio"}'),
  ('{"concept":"workshop_space","language":"en","term":"artist studio"}'),
  ('{"concept":"workshop_space","language":"en","term":"atelier"}'),
  ('{"concept":"workshop_space","language":"en","term":"studio space"}'),
  ('{"concept":"workshop_space","language":"en","term":"workshop space"}'),
  ('{"concept":"workshop_space","language":"en","term":"workshop"}'),
  ('{"concept":"workshop_space","language":"es","term":"estudio de artista"}'),
  ('{"concept":"workshop_space","language":"es","term":"taller"}'),
  ('{"concept":"workshop_space","language":"fr","term":"atelier"}'),
  ('{"concept":"workshop_space","language":"it","term":"atelier"}'),
  ('{"concept":"workshop_space","language":"it","term":"laboratorio"}'),
  ('{"concept":"workshop_space","language":"nl","term":"atelier"}'),
  ('{"concept":"workshop_space","language":"nl","term":"werkplaats"}'),
  ('{"concept":"workshop_space","language":"pl","term":"pracownia"}'),
  ('{"concept":"workshop_space","language":"pl","term":"warsztat"}'),
  ('{"concept":"workshop_space","language":"pt","term":"atelie"}'),
  ('{"concept":"workshop_space","language":"pt","term":"atelier"}'),
  ('{"concept":"workshop_space","language":"pt","term":"oficina"}')
) as v (line), lateral jsonb_populate_record(null::market.synonym, v.line::jsonb) as g
on conflict do nothing;

delete from market.vocabulary o using (values
  ('{"term":"1 bedroom","language":"en","sense":"category:real_estate/apartments","weight":3}'),
  ('{"term":"2 bedroom","language":"en","sense":"category:real_estate/apartments","weight":3}'),
  ('{"term":"greenwich","language":null,"sense":"city:GB/London","weight":1}')
) as v (line), lateral jsonb_populate_record(null::market.vocabulary, v.line::jsonb) as g
where o.term = g.term and o.language is not distinct from g.language and o.sense is not distinct from g.sense and o.weight is not distinct from g.weight;

insert into market.vocabulary (term, language, sense, weight)
select g.term, g.language, g.sense, g.weight from (values
  ('{"term":"1 bedroom","language":"en","sense":"category:real_estate/apartments","weight":2}'),
  ('{"term":"2 bedroom","language":"en","sense":"category:real_estate/apartments","weight":2}'),
  ('{"term":"alcantara lisboa","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"alcobendas","language":null,"sense":"city:ES/Madrid","weight":3}'),
  ('{"term":"almada","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"altrincham","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"amadora","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"amstelveen","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"amsterdam centrum","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"amsterdam zuid","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"areeiro","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"ashton under lyne","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"avenidas novas","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"bagnolet","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"baixa lisboa","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"ballard seattle","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"bee cave","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"bellevue","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"bercy","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"berlin pankow","language":null,"sense":"city:DE/Berlin","weight":3}'),
  ('{"term":"berwyn","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"blackheath","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"bolton","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"bow london","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"brampton","language":null,"sense":"city:CA/Toronto","weight":3}'),
  ('{"term":"bray","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"buda texas","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"burien","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"cais do sodre","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"carlton melbourne","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"cascais","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"cedar park","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"cheadle","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"clichy","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"clontarf dublin","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"co dublin","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"coburg","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"county dublin","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"dahlem","language":null,"sense":"city:DE/Berlin","weight":3}'),
  ('{"term":"dalkey","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"dandenong","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"danforth","language":null,"sense":"city:CA/Toronto","weight":3}'),
  ('{"term":"de jordaan","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"del valle","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"didsbury village","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"diemen","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"drier","language":"en","sense":"category:home_garden/appliances","weight":3}'),
  ('{"term":"dripping springs","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"dun laoghaire dublin","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"eccles","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"eltham","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"evanston","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"falkensee","language":null,"sense":"city:DE/Berlin","weight":3}'),
  ('{"term":"frankston","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"garching","language":null,"sense":"city:DE/München","weight":3}'),
  ('{"term":"georgetown texas","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"getafe","language":null,"sense":"city:ES/Madrid","weight":3}'),
  ('{"term":"getaway","language":"en","sense":"category:real_estate/vacation","weight":3}'),
  ('{"term":"graca","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"gracia barcelona","language":null,"sense":"city:ES/Barcelona","weight":3}'),
  ('{"term":"greenwich","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"greystones","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"hackney wick","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"hale manchester","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"heaton moor","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"hospitalet","language":null,"sense":"city:ES/Barcelona","weight":3}'),
  ('{"term":"hurth","language":null,"sense":"city:DE/Köln","weight":3}'),
  ('{"term":"issy les moulineaux","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"jourdain","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"kirkland","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"kleinmachnow","language":null,"sense":"city:DE/Berlin","weight":3}'),
  ('{"term":"kyle texas","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"lakeway","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"leganes","language":null,"sense":"city:ES/Madrid","weight":3}'),
  ('{"term":"leixlip","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"levallois","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"lincoln square chicago","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"loures","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"lucan","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"manor texas","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"manor tx","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"margem sul","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"markham","language":null,"sense":"city:CA/Toronto","weight":3}'),
  ('{"term":"maynooth","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"mini digger","language":"en","sense":"category:home_garden/tools","weight":3}'),
  ('{"term":"mini excavator","language":"en","sense":"category:home_garden/tools","weight":3}'),
  ('{"term":"minibagger","language":"de","sense":"category:home_garden/tools","weight":3}'),
  ('{"term":"miniescavatore","language":"it","sense":"category:home_garden/tools","weight":3}'),
  ('{"term":"miniexcavadora","language":"es","sense":"category:home_garden/tools","weight":3}'),
  ('{"term":"minikoparka","language":"pl","sense":"category:home_garden/tools","weight":3}'),
  ('{"term":"minipelle","language":"fr","sense":"category:home_garden/tools","weight":3}'),
  ('{"term":"mississauga","language":null,"sense":"city:CA/Toronto","weight":3}'),
  ('{"term":"monza","language":null,"sense":"city:IT/Milano","weight":3}'),
  ('{"term":"mostoles","language":null,"sense":"city:ES/Madrid","weight":3}'),
  ('{"term":"naas","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"naperville","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"ndsm","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"neuilly","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"norderstedt","language":null,"sense":"city:DE/Hamburg","weight":3}'),
  ('{"term":"oak park","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"odivelas","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"oeiras","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"oldham","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"olivais","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"one bedroom","language":"en","sense":"category:real_estate/apartments","weight":2}'),
  ('{"term":"ostia","language":null,"sense":"city:IT/Roma","weight":3}'),
  ('{"term":"oud west","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"paddington","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"pantin","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"parkdale toronto","language":null,"sense":"city:CA/Toronto","weight":3}'),
  ('{"term":"peckham rye","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"pflugerville","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"piaseczno","language":null,"sense":"city:PL/Warszawa","weight":3}'),
  ('{"term":"potsdam","language":null,"sense":"city:DE/Berlin","weight":3}'),
  ('{"term":"pozuelo","language":null,"sense":"city:ES/Madrid","weight":3}'),
  ('{"term":"preston melbourne","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"prestwich manchester","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"pruszkow","language":null,"sense":"city:PL/Warszawa","weight":3}'),
  ('{"term":"queen anne","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"ravenswood chicago","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"redmond","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"renton","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"reservoir melbourne","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"rho","language":null,"sense":"city:IT/Milano","weight":3}'),
  ('{"term":"richmond london","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"richmond victoria","language":null,"sense":"city:AU/Melbourne","weight":3}'),
  ('{"term":"rochdale","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"round rock","language":null,"sense":"city:US/Austin","weight":3}'),
  ('{"term":"sabadell","language":null,"sense":"city:ES/Barcelona","weight":3}'),
  ('{"term":"saint denis","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"salford quays","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"salford","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"sant cugat","language":null,"sense":"city:ES/Barcelona","weight":3}'),
  ('{"term":"schillerkiez","language":null,"sense":"city:DE/Berlin","weight":3}'),
  ('{"term":"sesto san giovanni","language":null,"sense":"city:IT/Milano","weight":3}'),
  ('{"term":"shoreline","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"short break","language":"en","sense":"category:real_estate/vacation","weight":3}'),
  ('{"term":"sintra","language":null,"sense":"city:PT/Lisboa","weight":3}'),
  ('{"term":"skokie","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"slotervaart","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"south shore chicago","language":null,"sense":"city:US/Chicago","weight":3}'),
  ('{"term":"stockport","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"stratford london","language":null,"sense":"city:GB/London","weight":3}'),
  ('{"term":"stretford","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"studio in","language":"en","sense":"category:real_estate/apartments","weight":2}'),
  ('{"term":"studio or","language":"en","sense":"category:real_estate/apartments","weight":2}'),
  ('{"term":"swinton","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"swords","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"tallaght dublin","language":null,"sense":"city:IE/Dublin","weight":3}'),
  ('{"term":"tameside","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"teltow","language":null,"sense":"city:DE/Berlin","weight":3}'),
  ('{"term":"timperley","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"trafford park","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"trafford","language":null,"sense":"city:GB/Manchester","weight":3}'),
  ('{"term":"tukwila","language":null,"sense":"city:US/Seattle","weight":3}'),
  ('{"term":"tumble drier","language":"en","sense":"category:home_garden/appliances","weight":3}'),
  ('{"term":"two bedroom","language":"en","sense":"category:real_estate/apartments","weight":2}'),
  ('{"term":"unterhaching","language":null,"sense":"city:DE/München","weight":3}'),
  ('{"term":"uoft","language":null,"sense":"city:CA/Toronto","weight":3}'),
  ('{"term":"vaugirard","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"vincennes","language":null,"sense":"city:FR/Paris","weight":3}'),
  ('{"term":"watergraafsmeer","language":null,"sense":"city:NL/Amsterdam","weight":3}'),
  ('{"term":"weekend away","language":"en","sense":"category:real_estate/vacation","weight":3}'),
  ('{"term":"yonge eglinton","language":null,"sense":"city:CA/Toronto","weight":3}'),
  ('{"term":"zaandam","language":null,"sense":"city:NL/Amsterdam","weight":3}')
) as v (line), lateral jsonb_populate_record(null::market.vocabulary, v.line::jsonb) as g
on conflict do nothing;

reset role;
