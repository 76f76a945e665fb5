-- A text has been read: publish, change, preview or refuse, and settle the submission, all in one transaction. Its
-- caller is told by a notification, and a key replays what is settled here.

create or replace function jobs.finish_reading(id uuid, reading jsonb, embedding text default null, model text default null)
  returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
  outcome record;
begin
  -- The account's row first, as market.erase_account locks it: what is deleted meanwhile is not published.
  perform from market.account a
  where a.id = (select s.account_id from market.submission s where s.id = finish_reading.id) for key share;
  select * into submission from market.submission s where s.id = finish_reading.id for update;
  if submission.id is null or not market.awaits_reading(submission) then
    return false;
  end if;
  -- A text is published in the name of whoever sent it, so that is who the audit log names.
  perform set_config('market.account_id', submission.account_id::text, true),
    set_config('market.agent_id', coalesce(submission.agent_id::text, ''), true),
    set_config('market.request_id', coalesce(submission.request_id, ''), true);
  -- Whatever the removal of an agent meets half way is not published; an ask that was answered belongs to the account.
  perform from market.agent a where a.id = submission.agent_id for share;
  if submission.settled_at is null and exists (select from market.agent a where a.id = submission.agent_id and a.removed_at is not null) then
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

create or replace function market.settle(id uuid, status integer, body jsonb) returns void
  language plpgsql volatile
as $$
begin
  update market.submission s set settled_at = clock_timestamp(), status = settle.status, body = settle.body
  where s.id = settle.id and s.settled_at is null;
  perform pg_notify('submission', settle.id::text);
end
$$;
comment on function market.settle(uuid, integer, jsonb) is 'Writes down the answer of a submission, the first one for good, and wakes whoever waits for it.';

create or replace function market.finish_offer(submission market.submission, reading jsonb, out status integer, out body jsonb)
  language plpgsql volatile
as $$
declare
  read market.offer := market.read_offer(submission.text, reading);
  current market.offer;
  addresses_agents boolean := coalesce((reading ->> 'addresses_agents')::boolean, false);
begin
  read.warnings := market.image_warnings(submission.images);
  if submission.kind = 'preview_offer' then
    status := 200;
    body := market.understood(read) || jsonb_build_object('questions', market.questions(read.missing_fields, read.language));
    return;
  end if;
  if not market.hold_standing(submission.account_id) then
    status := 409;
    body := jsonb_build_object('code', 'invalid_state', 'account_status', 'suspended',
      'detail', 'This account was suspended by moderation while the text was being read, so nothing was published.');
    return;
  end if;
  if 'contact' = any (read.missing_fields) then
    status := 400;
    body := jsonb_build_object('code', 'missing_contact',
      'detail', case when addresses_agents
        then 'The text names no way to reach the publisher outside of sentences that address a model, and those are not read: no contact in them counts. Leave them out, say a phone number, an e-mail address or a link that the person gave you in a sentence for people, and send the text again.'
        else 'The text names no way to reach the publisher. Ask the person for a phone number, an e-mail address or a link, put it into the text and send it again.' end,
      'errors', jsonb_build_array(jsonb_build_object('pointer', '/text', 'detail', case when addresses_agents
        then 'Leave out what addresses a model, and add a phone number, an e-mail address or a link in a sentence of its own.'
        else 'Add a phone number, an e-mail address or a link.' end)));
    return;
  end if;

  if submission.kind = 'update_offer' then
    update market.offer o set
      text = read.text, images = submission.images, language = read.language, title = read.title,
      domain = read.domain, category = read.category, offer_kind = read.offer_kind,
      price_hundredths = read.price_hundredths, price_currency = read.price_currency, price_period = read.price_period,
      location_text = read.location_text, metadata = read.metadata, contact = read.contact, extraction = read.extraction,
      missing_fields = read.missing_fields, warnings = read.warnings, reviewed = false
    where o.id = submission.target_id and o.account_id = submission.account_id
      and o.status in ('published', 'archived', 'pending_review')
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
  perform market.review_read_offer(current, addresses_agents);
  body := jsonb_build_object('offer_id', current.id, 'status', current.status) || market.understood(current);
end
$$;
comment on function market.finish_offer(market.submission, jsonb) is
  'Publishes, changes or previews an offer by its reading, or refuses it for want of a contact: the answer''s status and body.';

create or replace function market.finish_ask(submission market.submission, reading jsonb, embedding text, model text,
  out status integer, out body jsonb)
  language plpgsql volatile
as $$
declare
  ask market.ask;
begin
  update market.ask a set
    text = submission.text, language = read.language, title = read.title, domain = read.domain, category = read.category,
    ask_kind = read.ask_kind, criteria = read.criteria, keywords_query = read.keywords_query,
    exclude_query = read.exclude_query, must_query = read.must_query, place_query = read.place_query, price_max_hundredths = read.price_max_hundredths,
    price_currency = read.price_currency, read_at = now(), updated_at = now()
  from market.read_ask(submission.text, finish_ask.reading) as read
  where a.id = submission.target_id and a.account_id = submission.account_id
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

create or replace function market.read_ask(text text, reading jsonb) returns market.ask
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
$$;
comment on function market.read_ask(text, jsonb) is 'What of a grounded reading counts: an ask with every column that the text decides, and nothing else set.';
