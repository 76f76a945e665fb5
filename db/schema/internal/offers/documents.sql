-- Offers and asks as JSON documents for clients.
--
-- Functions that PostgreSQL cannot inline are in PL/pgSQL, which keeps its plans for the session. PostgreSQL plans an
-- SQL function anew in each statement that calls it. Measured reads of one offer per second: 3,100 in SQL, 7,300 in
-- PL/pgSQL.

create or replace function internal.utc(moment timestamptz) returns text
  language sql stable parallel safe
as $$ select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;
comment on function internal.utc(timestamptz) is 'Returns a time in RFC 3339 format, in UTC with Z.';
grant execute on function internal.utc(timestamptz) to souk_agent, souk_person;

create or replace function internal.utc_month(moment timestamptz) returns text
  language sql stable parallel safe
as $$ select to_char(moment at time zone 'UTC', 'YYYY-MM') $$;
comment on function internal.utc_month(timestamptz) is 'Returns the month of a time in UTC, as YYYY-MM.';
grant execute on function internal.utc_month(timestamptz) to souk_agent, souk_person;

create or replace function internal.build_publisher(stats market.account_stats) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_build_object(
      'verified', exists (select from market.proved_method m where m.account_id = a.id),
      'member_since', internal.utc_month(a.created_at),
      'last_active', internal.utc_month(stats.last_active_at),
      'offers', jsonb_build_object('active', stats.active,
        -- Offers removed from earlier accounts of the person count, too.
        'lifetime', stats.lifetime + cardinality(a.prior_removals),
        'removed', stats.removed + cardinality(a.prior_removals)))
    from market.account a where a.id = stats.account_id);
end
$$;
comment on function internal.build_publisher(market.account_stats) is
  'Builds the public record of an account (Publisher), without its identity.';
grant execute on function internal.build_publisher(market.account_stats) to souk_agent, souk_person;

create or replace function internal.publisher_document(account_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(p.publisher, internal.build_publisher(p))
    from market.account_stats p where p.account_id = publisher_document.account_id);
end
$$;
comment on function internal.publisher_document(uuid) is
  'Returns the public record of an account (Publisher); null when the account no longer exists.';
grant execute on function internal.publisher_document(uuid) to souk_agent, souk_person;

create or replace function internal.sent_text(offer market.offer) returns text
  language sql immutable
as $$ select coalesce(offer.sent_text, offer.text) $$;
comment on function internal.sent_text(market.offer) is
  'Returns the text of an offer as it was sent. Only for its owner, moderators and checks: all others get offer.text.';
grant execute on function internal.sent_text(market.offer) to souk_agent, souk_person;

create or replace function internal.offer_preview(offer market.offer) returns jsonb
  language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'headline', offer.title,
    -- A list shows many of these, so only the beginning of each text is cleaned.
    'snippet', left(internal.visible_sentence(left(offer.text, 600)), 200),
    'price_label', offer.metadata -> 'pricing' -> 'label',
    'location_label', offer.location_text))
$$;
comment on function internal.offer_preview(market.offer) is
  'Returns content.preview of an offer: {headline, snippet, price_label, location_label}, without unknown members.';
grant execute on function internal.offer_preview(market.offer) to souk_agent, souk_person;

create or replace function internal.image_list(images text[]) returns jsonb
  language plpgsql immutable
as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('url', i.url) order by i.n), '[]')
    from unnest(images) with ordinality as i (url, n));
end
$$;
comment on function internal.image_list(text[]) is 'Returns image links as content.images: [{url}].';
grant execute on function internal.image_list(text[]) to souk_agent, souk_person;

create or replace function internal.clean_words(words text) returns text
  language plpgsql immutable
as $$
begin
  -- Most words have no other characters than these, and to check this is faster than to clean them.
  return case when words ~ '[^\t\n\r -~]' then internal.visible_text(words) else words end;
end
$$;
comment on function internal.clean_words(text) is
  'Returns words of an offer without invisible characters, also if they were stored by SQL and never cleaned.';
grant execute on function internal.clean_words(text) to souk_agent, souk_person;

create or replace function internal.addresses_agents(offer market.offer) returns jsonb
  language sql immutable
as $$ select case when offer.sent_text is null then jsonb '{}' else jsonb '{"addresses_agents": true}' end $$;
comment on function internal.addresses_agents(market.offer) is
  'Returns {addresses_agents: true} for an offer that has passages addressed to software, and {} for all others.';
grant execute on function internal.addresses_agents(market.offer) to souk_agent, souk_person;

create or replace function internal.build_offer_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
declare
  shown market.offer := offer;
begin
  shown.title := coalesce(nullif(internal.clean_words(offer.title), ''), offer.title);
  shown.text := internal.clean_words(offer.text);
  return jsonb_build_object(
    'id', offer.id,
    'document', jsonb_build_object('title', shown.title, 'description', shown.text,
      'location', offer.location_text, 'language', offer.language),
    'metadata', nullif(offer.metadata, '{}'),
    'content', jsonb_build_object(
      'preview', internal.offer_preview(shown),
      'contact', offer.contact,
      'images', internal.image_list(offer.images)),
    'reviewed', offer.reviewed)
    || case when offer.published_at is null then '{}'
      else jsonb_build_object('posted', to_char(offer.published_at at time zone 'UTC', 'YYYY-MM-DD')) end
    || internal.addresses_agents(offer);
end
$$;
comment on function internal.build_offer_document(market.offer) is
  'Builds search.document.document (or open_document): a SearchResult without publisher, score and rank.';
grant execute on function internal.build_offer_document(market.offer) to souk_agent, souk_person;

-- Call it with rows of the tables themselves (`internal.search_result_document(d, s) from search.document d left join
-- market.account_stats s on s.account_id = d.account_id`), and not with one that a subquery has passed on. Then
-- PostgreSQL inlines it and reads the columns that it names, and otherwise all long values of the row. It inlines only
-- functions without subqueries. `more` is an argument because adding members to the whole document copies it.
create or replace function internal.search_result_document(
  d search.document, stats market.account_stats, more jsonb default '{}'
) returns jsonb
  language sql stable
as $$
  select case
      when d.open_document is not null and internal.sees_contact(d.id, d.account_id, d.contact_visibility)
        then d.open_document
      else d.document end
    || (jsonb_strip_nulls(jsonb_build_object('publisher', coalesce(stats.publisher, internal.build_publisher(stats)),
      'web_url', internal.web_url(d.id, d.sandbox_id))) || more)
$$;
comment on function internal.search_result_document(search.document, market.account_stats, jsonb) is
  'Returns a published offer as a SearchResult without score and rank, with `more` members, and with its contact if '
  'the caller sees it. stats: those of its account.';
grant execute on function internal.search_result_document(search.document, market.account_stats, jsonb)
  to souk_agent, souk_person;

create or replace function internal.notices_about(results jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return case when jsonb_path_exists(results, '$[*] ? (@.addresses_agents == true)')
    then jsonb_build_array(jsonb_build_object('code', 'addresses_agents',
      'summary', internal.sentence('addresses_agents')))
    else '[]' end;
end
$$;
comment on function internal.notices_about(jsonb) is
  'Returns the notices about offers that were written by others: [{code, summary}].';
grant execute on function internal.notices_about(jsonb) to souk_agent, souk_person;

create or replace function internal.offer_content_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object(
    'title', offer.title,
    'description', internal.sent_text(offer),
    'domain', offer.domain,
    'category', offer.category,
    'offer_kind', offer.offer_kind,
    'metadata', offer.metadata,
    'preview', internal.offer_preview(offer),
    'contact', offer.contact,
    'contact_visibility', internal.contact_visibility(offer),
    'images', internal.image_list(offer.images),
    'missing_fields', to_jsonb(offer.missing_fields))
    || internal.addresses_agents(offer);
end
$$;
comment on function internal.offer_content_document(market.offer) is
  'Returns what the text and the images of an offer say: the members that OwnerOffer and its change share.';
grant execute on function internal.offer_content_document(market.offer) to souk_agent, souk_person;

create or replace function internal.owner_offer_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
declare
  change constant jsonb := internal.change_document(offer.id);
begin
  return internal.offer_content_document(offer) || jsonb_build_object(
    'id', offer.id,
    'status', offer.status,
    'visibility', case offer.status when 'published' then 'public' else 'owner_only' end,
    'review', coalesce(offer.review_note, internal.freshness_sentence(offer), internal.sentence(case offer.status
      when 'published' then 'offer_published'
      when 'pending_review' then 'offer_in_review'
      when 'rejected' then 'offer_rejected'
      when 'removed' then 'offer_removed'
      else case when offer.suspended_at is not null then 'offer_archived_by_suspension'
        when offer.published_at is null then 'offer_archived_unreviewed' else 'offer_archived' end end)),
    'published_at', internal.utc(offer.published_at),
    'confirmed_at', internal.utc(offer.confirmed_at),
    'stale', offer.stale_at is not null,
    'created_at', internal.utc(offer.created_at),
    'updated_at', internal.utc(offer.updated_at))
    || jsonb_strip_nulls(jsonb_build_object('review_reason', offer.review_reason,
      'web_url', internal.web_url(offer.id, offer.sandbox_id)))
    || case when offer.status <> 'removed' then '{}' else jsonb_strip_nulls(jsonb_build_object(
        'appealable', internal.is_appealable(offer), 'appeal', internal.appeal_document(offer))) end
    || case when change is null then '{}' else jsonb_build_object('change', change) end;
end
$$;
comment on function internal.owner_offer_document(market.offer) is
  'Returns an offer as its owner sees it (OwnerOffer).';
grant execute on function internal.owner_offer_document(market.offer) to souk_agent, souk_person;

create or replace function internal.ask_document(ask market.ask) returns jsonb
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
    'created_at', internal.utc(ask.created_at),
    'updated_at', internal.utc(ask.updated_at))
$$;
comment on function internal.ask_document(market.ask) is 'Returns an ask as its owner sees it (Ask).';
grant execute on function internal.ask_document(market.ask) to souk_agent, souk_person;

create or replace function internal.understood_document(offer market.offer) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
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
    || case when offer.missing_fields <> '{}' then jsonb_build_object('missing_fields', offer.missing_fields)
      else '{}' end
    || case when offer.warnings <> '{}' then jsonb_build_object('warnings', offer.warnings) else '{}' end
    || internal.addresses_agents(offer);
end
$$;
comment on function internal.understood_document(market.offer) is
  'Returns how an offer''s text was understood: the members that OfferPublished and a preview share.';

create or replace function internal.published_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('offer_id', offer.id, 'status', offer.status,
    'contact_visibility', internal.contact_visibility(offer)) || internal.understood_document(offer);
end
$$;
comment on function internal.published_document(market.offer) is
  'Returns how the text of an offer that was published or changed was understood (OfferPublished).';

create or replace function internal.matched_offers(ask_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (select coalesce(jsonb_agg(m.offer_id order by m.score desc, m.offer_id), '[]')
    from market.match m where m.ask_id = matched_offers.ask_id);
end
$$;
comment on function internal.matched_offers(uuid) is 'Returns the ids of the offers that match an ask, best first.';
grant execute on function internal.matched_offers(uuid) to souk_person;
