-- Publishes, changes or previews an offer from the extractions of its text, or refuses it when it has no contact. With
-- what is published or changed, it stores why the built-in extractor took its price.

create or replace function internal.complete_offer(
  submission market.submission, extractions jsonb, addressed jsonb, withheld jsonb, out status integer, out body jsonb
)
  language plpgsql volatile
as $$
declare
  read market.offer := reading.ground_offer(submission.text, extractions, addressed);
  -- The built-in extraction is the last one.
  reasons constant jsonb := extractions -> -1 -> 'price_reasons';
  contrary constant text := internal.contrary_offer(submission, extractions, addressed);
  current market.offer;
  waits boolean := false;
  several constant boolean := coalesce((extractions -> -1 ->> 'several')::boolean, false);
  -- Only the built-in reader knows the places of a name.
  which_place constant text := case when read.metadata -> 'location' -> 'point' is null then (
    select string_agg(p.place, '; ' order by p.n)
    from jsonb_array_elements_text(extractions -> -1 -> 'which_place') with ordinality as p (place, n)) end;
  -- What the agent should know about the text.
  noticed text[] := array[]::text[];
begin
  if contrary = 'certain' then
    status := 400;
    body := internal.reads_as_other('ask');
    return;
  elsif contrary = 'doubtful' then
    read := internal.in_doubt(read);
    noticed := array[internal.sentence('may_read_as_ask')];
  end if;
  if reading.says_only_contact(submission.text, read.extraction -> 'contact') then
    status := 400;
    body := internal.nothing_offered();
    return;
  end if;
  if several then
    noticed := noticed || internal.sentence('several_things');
  end if;
  if which_place is not null then
    noticed := noticed || internal.sentence('which_place', jsonb_build_object('places', which_place));
  end if;
  read.images := submission.images;
  read.withheld_spans := coalesce(complete_offer.withheld -> 'spans', '[]');
  read.withheld_images := array(select jsonb_array_elements_text(complete_offer.withheld -> 'images'));
  read.warnings := noticed || internal.offer_warnings(read);
  if submission.kind = 'preview_offer' then
    status := 200;
    body := internal.understood_document(read) || internal.hidden_passages(submission.text, addressed)
      || jsonb_build_object('questions', reading.questions(
        read.missing_fields
        || case when reading.lacks_country_code(read.contact) then array['country_code'] else '{}' end
        || case when several then array['several'] else '{}' end
        || case when which_place is null then '{}' else array['which_place'] end,
        read.language, internal.link_of_handle(submission.text), which_place));
    body := internal.with_comparison(body, read, submission.account_id);
    return;
  elsif not internal.lock_good_standing(submission.account_id) then
    status := 409;
    body := jsonb_build_object('code', 'invalid_state', 'account_status', 'suspended',
      'detail', internal.sentence('suspended_while_reading'));
    return;
  elsif 'contact' = any (read.missing_fields) then
    status := 400;
    body := internal.missing_contact(read.sent_text is not null, internal.link_of_handle(read.text));
    return;
  elsif submission.kind = 'update_offer' then
    select * into current from market.offer o
    where o.id = submission.target_id and o.account_id = submission.account_id
      and o.status in ('published', 'archived', 'pending_review') for no key update;
    if not found then
      status := 409;
      body := jsonb_build_object('code', 'invalid_state', 'detail', internal.sentence('removed_while_reading'));
      return;
    elsif internal.read_other_text(submission) then
      return;
    end if;
    status := 200;
    read.contact_visibility := current.contact_visibility;
    if submission.contact_visibility is not null and submission.created_at >= current.visibility_chosen_at then
      read.contact_visibility := submission.contact_visibility;
      read.visibility_chosen_at := submission.created_at;
    end if;
    read.images := coalesce((internal.changed_since(submission)).images, read.images);
    -- The change that sent the other images has looked at them.
    read.withheld_images := read.withheld_images || current.withheld_images;
    read.warnings := noticed || internal.offer_warnings(read);
    waits := internal.must_wait(current, read);
    current := internal.change_offer(current, read, waits, submission.agent_id, reasons);
  else
    status := 201;
    read.contact_visibility := coalesce(submission.contact_visibility,
      internal.default_contact_visibility(submission.account_id));
    current := internal.insert_offer(submission, read, reasons);
  end if;
  perform internal.review_published_offer(current);
  body := internal.published_document(current)
    || internal.hidden_passages(submission.text, addressed)
    || case when waits then jsonb_build_object('review', internal.sentence('change_waiting')) else '{}' end;
  if submission.kind = 'publish_offer' then
    body := internal.with_comparison(body, current, submission.account_id);
  end if;
end
$$;
comment on function internal.complete_offer(market.submission, jsonb, jsonb, jsonb) is
  'Publishes, changes or previews the offer of a submission from its extractions, with what is withheld with its '
  'contact ({spans, images}); returns status and body of the response. The status is 400 when the text certainly asks '
  '(reads_as_ask) or has no contact (missing_contact), and 409 when the account is suspended or the offer was removed '
  'in the meantime. The status is null when another text has to be read first (internal.read_other_text).';

create or replace function internal.with_comparison(body jsonb, offer market.offer, account_id uuid) returns jsonb
  language plpgsql stable
as $$
declare
  compared constant jsonb := search.comparison(offer, with_comparison.account_id, internal.sandbox_id());
  guidance constant jsonb := compared -> 'price_guidance';
  warnings constant text[] := array_remove(array[
    case when compared ? 'own_offer_id' then
      internal.sentence('offer_again', jsonb_build_object('id', compared -> 'own_offer_id')) end,
    case when compared ? 'is_far_below' then internal.sentence('price_far_below', jsonb_build_object(
      'low', guidance -> 'low', 'high', guidance -> 'high', 'currency', guidance -> 'currency')) end], null);
begin
  return body
    || case when guidance is null then '{}' else jsonb_build_object('price_guidance', guidance) end
    || case when warnings = '{}' then '{}'
      else jsonb_build_object('warnings', coalesce(body -> 'warnings', '[]') || to_jsonb(warnings)) end;
end
$$;
comment on function internal.with_comparison(jsonb, market.offer, uuid) is
  'Returns the response to an offer or a preview with what live offers of the same thing say about it '
  '(search.comparison). That is true now, so it is not stored.';

create or replace function internal.offer_warnings(offer market.offer) returns text[]
  language plpgsql stable
as $$
begin
  return internal.image_warnings(offer.images)
    || case when offer.sent_text is null then '{}' else array[internal.sentence('passages_hidden')] end
    || case when reading.lacks_country_code(offer.contact) then array[internal.sentence('country_code_unknown')]
      else '{}' end;
end
$$;
comment on function internal.offer_warnings(market.offer) is
  'Returns the warnings for the agent that sent an offer: about image links, about passages that others do not see, '
  'and about a phone number whose country is not known.';

create or replace function internal.nothing_offered() returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('code', 'bad_request', 'detail', internal.sentence('nothing_offered'),
    'errors',
    jsonb_build_array(jsonb_build_object('pointer', '/text', 'detail', internal.sentence('text_needs_offer'))));
end
$$;
comment on function internal.nothing_offered() is
  'Returns the problem of a text that says only how to reach the publisher (reading.says_only_contact).';

create or replace function internal.hidden_passages(text text, spans jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  return case when spans = '[]' then '{}' else jsonb_build_object('hidden_passages', (
    select jsonb_agg(jsonb_build_object('quote', substr(hidden_passages.text, s.start + 1, s."end" - s.start),
      'start', s.start, 'end', s."end") order by s.start)
    from jsonb_to_recordset(spans) as s (start integer, "end" integer))) end;
end
$$;
comment on function internal.hidden_passages(text, jsonb) is
  'Returns {hidden_passages: [{quote, start, end}]} for the spans of a text that are addressed to software; {} '
  'without.';

create or replace function internal.link_of_handle(text text) returns text
  language plpgsql immutable
as $$
declare
  plain constant text := normalize(link_of_handle.text, nfkc);
begin
  -- The name of an app, in Slavic languages in any case, and a handle in one line, with a few words between them:
  -- "Telegram: @jonas", "@jonas bei Telegram", "na Telegramie @jonas". Without "@" a handle stands directly after the
  -- name, and looks like no word: "Telegram: jonas_bikes".
  return (
    select a.link || rtrim(f.parts[1], '.')
    from (values
      ('telegram|tg', 't.me/'), ('instagram|insta|ig', 'instagram.com/'), ('tiktok', 'tiktok.com/@'),
      ('facebook|fb', 'facebook.com/'), ('messenger', 'm.me/'), ('twitter', 'x.com/'), ('threads', 'threads.net/@'),
      ('snapchat|snap', 'snapchat.com/add/'), ('linkedin', 'linkedin.com/in/'), ('youtube', 'youtube.com/@'),
      ('vk|vkontakte', 'vk.com/'), ('github', 'github.com/'), ('bluesky', 'bsky.app/profile/')) as a (names, link),
    (values
      (1, '\m(?:NAMES)(?:a|u|em|ie)?\M[^@\n]{0,30}(?<![[:alnum:]._])@([A-Za-z0-9_][A-Za-z0-9_.-]{1,40})'),
      (2, '(?<![[:alnum:]._])@([A-Za-z0-9_][A-Za-z0-9_.-]{1,40})[^@\n]{0,20}\m(?:NAMES)(?:a|u|em|ie)?\M'),
      (3, '\m(?:NAMES)\M[ :=-]{1,3}([A-Za-z][A-Za-z0-9.]*[0-9_][A-Za-z0-9_.]*)')) as o (n, form),
    lateral regexp_match(plain, replace(o.form, 'NAMES', a.names), 'i') as f (parts)
    where f.parts is not null
    order by o.n, length(f.parts[1]) desc limit 1);
end
$$;
comment on function internal.link_of_handle(text) is
  'Returns the link that a handle of an app stands for, such as t.me/jonas_bikes for "Telegram: @jonas_bikes"; null '
  'when a text names no handle beside an app whose users have links.';

create or replace function internal.missing_contact(addresses_agents boolean, link text) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('code', 'missing_contact',
    'detail', case when addresses_agents then internal.sentence('contact_for_models_only')
      when link is not null then internal.sentence('contact_is_handle', jsonb_build_object('link', link))
      else internal.sentence('contact_missing') end,
    'errors', jsonb_build_array(jsonb_build_object('pointer', '/text',
      'detail', case when addresses_agents then internal.sentence('text_needs_contact_for_people')
        when link is not null then internal.sentence('text_needs_link', jsonb_build_object('link', link))
        else internal.sentence('text_needs_contact') end)));
end
$$;
comment on function internal.missing_contact(boolean, text) is
  'Returns the problem of a text that names no contact, or names one only to software (`addresses_agents`), or only a '
  'handle of an app, which is this link (internal.link_of_handle).';

create or replace function internal.insert_offer(submission market.submission, read market.offer, reasons jsonb)
  returns market.offer
  language plpgsql volatile
as $$
declare
  -- Moderators do not see sandboxes.
  status constant text := case
    when internal.setting('pre_moderation')::boolean and internal.sandbox_id() is null then 'pending_review'
    else 'published' end;
  offer market.offer;
begin
  insert into market.offer (id, account_id, agent_id, origin_ask_id, status, text, sent_text, images, language, title,
    domain, category, offer_kind, price_thousandths, price_currency, price_period, price_unit,
    location_text,
    metadata, contact, extraction, missing_fields, warnings, contact_visibility, withheld_spans, withheld_images,
    published_at)
  values (submission.target_id, submission.account_id, submission.agent_id, submission.origin_ask_id,
    status, read.text, read.sent_text, read.images, read.language, read.title,
    read.domain, read.category, read.offer_kind, read.price_thousandths, read.price_currency, read.price_period,
    read.price_unit,
    read.location_text, read.metadata, read.contact, read.extraction, read.missing_fields, read.warnings,
    read.contact_visibility, read.withheld_spans, read.withheld_images,
    case status when 'published' then now() end)
  returning * into offer;
  perform internal.store_price_reasons(offer.id, insert_offer.reasons);
  return offer;
end
$$;
comment on function internal.insert_offer(market.submission, market.offer, jsonb) is
  'Stores the new offer of a submission as its text was read; returns it. With pre-moderation on it waits for a '
  'moderator, otherwise it is published.';

create or replace function internal.change_offer(
  offer market.offer, read market.offer, waits boolean, agent_id uuid, reasons jsonb
) returns market.offer
  language plpgsql volatile
as $$
begin
  read.id := offer.id;
  read.account_id := offer.account_id;
  read.reviewed := false;
  if change_offer.waits then
    read.status := 'pending_review';
    -- The approved version stays visible, and may show its contact to fewer at once.
    update market.offer o
    set contact_visibility = internal.stricter_visibility(o.contact_visibility, read.contact_visibility)
    where o.id = offer.id and o.contact_visibility
      <> internal.stricter_visibility(o.contact_visibility, read.contact_visibility);
    perform internal.hold_change(read, change_offer.agent_id, change_offer.reasons);
    return read;
  end if;
  offer := internal.apply_change(read, change_offer.reasons);
  if offer.status <> 'pending_review' then
    perform internal.drop_cause(offer.id, 'pending');
  end if;
  return offer;
end
$$;
comment on function internal.change_offer(market.offer, market.offer, boolean, uuid, jsonb) is
  'Changes an offer to what its text was read as, or stores that as a change that waits for a moderator; returns the '
  'changed offer.';

create or replace function internal.read_other_text(submission market.submission) returns boolean
  language plpgsql volatile
as $$
declare
  others record := internal.changed_since(submission);
begin
  if others.text is null then
    return false;
  end if;
  update market.submission s set text = others.text where s.id = submission.id;
  perform internal.enqueue('complete_submission', submission.id);
  return true;
end
$$;
comment on function internal.read_other_text(market.submission) is
  'Enqueues a change of an offer''s images again if another agent''s change of its text has taken effect since it was '
  'admitted, because that text was not read with it. Returns whether it did.';

create or replace function internal.changed_since(submission market.submission, out text text, out images text[])
  language plpgsql stable
as $$
declare
  earlier record;
begin
  for earlier in
    select s.text, s.images, s.changes from market.submission s
    where s.target_id = submission.target_id and s.id < submission.id and s.status = 200
      and s.completed_at > submission.created_at
    order by s.id
  loop
    if 'text' = any (earlier.changes) and 'text' <> all (submission.changes) then
      text := nullif(earlier.text, submission.text);
    end if;
    if 'images' = any (earlier.changes) and 'images' <> all (submission.changes) then
      images := earlier.images;
    end if;
  end loop;
end
$$;
comment on function internal.changed_since(market.submission) is
  'Returns what earlier changes of the same offer, which took effect after a submission was admitted, have made of the '
  'text and the images that the submission does not change; null where nothing differs.';
