-- Changes of approved offers while pre-moderation is on. A change waits in market.offer_change, and the approved
-- version stays visible. A moderator publishes or rejects the change. A later change of the same offer replaces a
-- waiting one.
-- An offer was approved if it was ever published: nothing is published without approval while the switch is on, and
-- earlier offers count as approved. So an offer that is archived, changed and republished appears as it was approved.
-- Turning the switch off publishes nothing: waiting changes and new offers still wait for a moderator, but later
-- changes are published at once.

create or replace function internal.must_wait(offer market.offer, version market.offer) returns boolean
  language plpgsql stable
as $$
begin
  -- The moderator has not seen the text of a new offer yet, so a change of it just replaces it. A change back to the
  -- approved text and images needs no approval.
  return internal.setting('pre_moderation')::boolean and offer.sandbox_id is null and offer.published_at is not null
    and (internal.sent_text(offer), offer.images) is distinct from (internal.sent_text(version), version.images);
end
$$;
comment on function internal.must_wait(market.offer, market.offer) is
  'Returns whether a changed version of an offer must wait for a moderator.';

create or replace function internal.changed_version(change market.offer_change) returns market.offer
  language sql stable
as $$
  select jsonb_populate_record(null::market.offer, to_jsonb(change) || jsonb_build_object(
    'id', change.offer_id, 'status', 'pending_review', 'reviewed', false))
$$;
comment on function internal.changed_version(market.offer_change) is 'Returns the offer that a change would make.';
grant execute on function internal.changed_version(market.offer_change) to souk_agent, souk_person;

create or replace function internal.hold_change(version market.offer, agent_id uuid, price_reasons jsonb) returns void
  language plpgsql volatile
as $$
begin
  delete from market.offer_change c where c.offer_id = version.id;
  insert into market.offer_change (offer_id, account_id, agent_id, text, sent_text, images, language, title, domain,
    category,
    offer_kind, price_thousandths, price_currency, price_period, price_unit, location_text, metadata, contact,
    extraction,
    missing_fields, warnings, price_reasons, contact_visibility, withheld_spans, withheld_images)
  values (version.id, version.account_id, hold_change.agent_id, version.text, version.sent_text, version.images,
    version.language, version.title, version.domain, version.category, version.offer_kind, version.price_thousandths,
    version.price_currency, version.price_period, version.price_unit, version.location_text, version.metadata,
    version.contact,
    version.extraction, version.missing_fields, version.warnings, hold_change.price_reasons,
    version.contact_visibility, version.withheld_spans, version.withheld_images);
end
$$;
comment on function internal.hold_change(market.offer, uuid, jsonb) is
  'Stores a changed version of an offer, which waits for a moderator, in place of an earlier change.';

create or replace function internal.apply_change(version market.offer, price_reasons jsonb) returns market.offer
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  update market.offer o set
    text = version.text, sent_text = version.sent_text, images = version.images, language = version.language,
    title = version.title,
    domain = version.domain, category = version.category, offer_kind = version.offer_kind,
    price_thousandths = version.price_thousandths, price_currency = version.price_currency,
    price_period = version.price_period, price_unit = version.price_unit, location_text = version.location_text,
    metadata = version.metadata,
    contact = version.contact, extraction = version.extraction, missing_fields = version.missing_fields,
    warnings = version.warnings, reviewed = version.reviewed, contact_visibility = version.contact_visibility,
    visibility_chosen_at = coalesce(version.visibility_chosen_at, o.visibility_chosen_at),
    withheld_spans = version.withheld_spans, withheld_images = version.withheld_images
  where o.id = version.id
  returning * into offer;
  delete from market.offer_change c where c.offer_id = offer.id;
  perform internal.store_price_reasons(offer.id, apply_change.price_reasons);
  return offer;
end
$$;
comment on function internal.apply_change(market.offer, jsonb) is
  'Gives an offer the content of a changed version, deletes an earlier change, and returns the offer.';

create or replace function internal.store_price_reasons(offer_id uuid, reasons jsonb) returns void
  language plpgsql volatile
as $$
begin
  delete from reading.price_reason r where r.offer_id = store_price_reasons.offer_id;
  if jsonb_typeof(reasons) = 'array' then
    insert into reading.price_reason (offer_id, candidates) values (store_price_reasons.offer_id, reasons);
  end if;
end
$$;
comment on function internal.store_price_reasons(uuid, jsonb) is
  'Stores why the built-in extractor took an offer''s price, in place of the reasons of an earlier text.';

create or replace function internal.decide_change(offer_id uuid, publish boolean, reason text, sentence text)
  returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  change market.offer_change;
  version market.offer;
begin
  select * into change from market.offer_change c
  where c.offer_id = decide_change.offer_id and c.rejected_at is null;
  if internal.moderator_id() is null or not found then
    perform internal.raise_problem(404, 'not_found', 'no_change_waits');
  elsif publish then
    version := internal.changed_version(change);
    version.reviewed := true;
    perform internal.apply_change(version, change.price_reasons);
  else
    update market.offer_change c set
      rejected_at = now(), review_reason = decide_change.reason, review_note = decide_change.sentence
    where c.offer_id = decide_change.offer_id;
  end if;
end
$$;
comment on function internal.decide_change(uuid, boolean, text, text) is
  'Publishes an offer''s waiting change, which makes the offer reviewed, or rejects it. Call it with the offer locked. '
  'Raises 404 when the caller is not a moderator or no change waits.';
grant execute on function internal.decide_change(uuid, boolean, text, text) to souk_moderator;

create or replace function internal.change_document(offer_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select internal.offer_content_document(internal.changed_version(c))
      || jsonb_build_object('status', case when c.rejected_at is null then 'waiting' else 'rejected' end,
        'review', coalesce(c.review_note, internal.sentence('change_waiting')),
        'created_at', internal.utc(c.created_at))
      || jsonb_strip_nulls(jsonb_build_object('review_reason', c.review_reason))
    from market.offer_change c where c.offer_id = change_document.offer_id);
end
$$;
comment on function internal.change_document(uuid) is
  'Returns the last change of an own offer if it waits for a moderator or was rejected; null otherwise.';
grant execute on function internal.change_document(uuid) to souk_agent, souk_person;
