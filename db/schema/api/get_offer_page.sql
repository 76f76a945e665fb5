-- An offer's page, for anybody with the link. Only a person with a session sees the contact, and only where it is not
-- withheld.

create or replace function api.get_offer_page(id uuid, session_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  session constant record := internal.find_session(get_offer_page.session_hash);
  signed_in constant boolean := session.account_id is not null;
  offer market.offer;
  own boolean;
  visibility text;
  sees boolean;
begin
  -- An offer whose account was deleted belongs to nobody.
  select * into offer from market.offer o
  where o.id = get_offer_page.id and o.sandbox_id is null and o.account_id is not null;
  own := coalesce(offer.account_id = session.account_id, false);
  if offer.id is null or not own and (offer.status <> 'published'
      or coalesce(offer.account_id = any (internal.accounts_being_hidden()), false)) then
    perform internal.raise_problem(404, 'not_found', 'offer_not_shown');
  end if;
  if signed_in then
    perform set_config('market.account_id', session.account_id::text, true);
  end if;
  visibility := internal.contact_visibility(offer);
  sees := signed_in and internal.sees_contact(offer.id, offer.account_id, visibility);
  if not sees then
    offer := internal.withheld_offer(offer, visibility);
  end if;
  return jsonb_build_object(
    'signed_in', signed_in,
    'sees_contact', sees,
    'contact_visibility', visibility,
    'title', offer.title,
    'text', case when own then internal.sent_text(offer) else offer.text end,
    'addresses_agents', offer.sent_text is not null,
    'price', offer.metadata -> 'pricing' ->> 'label',
    'location', offer.location_text,
    'language', offer.language,
    'offer_kind', offer.offer_kind,
    'pricing', (offer.metadata -> 'pricing') - 'label',
    'place', (offer.metadata -> 'location') - 'text',
    'condition', offer.metadata -> 'condition',
    'images', internal.image_list(offer.images),
    'published_at', internal.utc(offer.published_at),
    'confirmed_at', internal.utc(offer.confirmed_at),
    'publisher', internal.publisher_document(offer.account_id),
    'contact', case when sees and offer.contact ? 'methods' then offer.contact end,
    'owner', case when own then internal.owner_offer_document(offer) end,
    'reasons', case when signed_in and not own then internal.report_reasons() end,
    'indexed', offer.status = 'published' and internal.setting('index_offers') = jsonb 'true');
end
$$;
comment on function api.get_offer_page(uuid, bytea) is
  'Returns what the page of an offer shows: signed_in, sees_contact, contact_visibility, title, text, '
  'addresses_agents, price and location as stated, language, offer_kind, pricing, place, condition, images, '
  'published_at, confirmed_at, publisher, and indexed (the setting index_offers). With the session of a person who '
  'sees it, contact, and for other people''s offers the reasons for a report; for the owner, owner (OwnerOffer). '
  'Without the contact, […] stands in the words for what the reader took for one. Raises 404 unless the offer is '
  'published, or the person''s own.';
