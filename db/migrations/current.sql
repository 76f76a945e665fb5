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

reset role;
