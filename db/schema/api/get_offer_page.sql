-- What the page of an offer shows to whoever has the link. Only a person with a session is told the contact. For
-- others, what the reader took for it is taken out of the words, too. The page takes out whatever else looks like a
-- contact (src/pages/offer/contacts.ts).

create or replace function internal.contact_pattern(offer market.offer) returns text
  language sql immutable
as $$
  with said as (
    select c.quote #>> '{}' as passage from jsonb_path_query(offer.extraction, '$.contact[*].quote') as c (quote)
    union
    -- With or without scheme, "www." and the slash at the end.
    select rtrim(regexp_replace(m.method ->> 'value', '^https?://(www\.)?', '', 'i'), '/')
    from jsonb_path_query(offer.contact, '$.**.methods[*]') as m (method)
    where m.method ->> 'type' in ('email', 'url')
  ), dialled as (
    -- The last six digits, however they are grouped, and those before them.
    select distinct right(d.digits, 6) as digits
    from jsonb_path_query(offer.contact, '$.**.methods[*]') as m (method),
      lateral (select regexp_replace(m.method ->> 'value', '[^0-9]', '', 'g') as digits) as d
    where m.method ->> 'type' in ('phone', 'sms', 'whatsapp') and length(d.digits) >= 5
  )
  select string_agg(p.pattern, '|') from (
    select '(https?://)?(www\.)?'
      || regexp_replace(regexp_replace(s.passage, '([^[:alnum:][:space:]])', '\\\1', 'g'), '\s+', '\\s+', 'g')
    from said s where s.passage <> ''
    union all
    select '\+?([0-9][^0-9\n]{0,3}){0,9}' || regexp_replace(d.digits, '([0-9])(?=.)', '\1[^0-9\\n]{0,3}', 'g')
    from dialled d) as p (pattern)
$$;
comment on function internal.contact_pattern(market.offer) is
  'Returns a regular expression for the passages that state a contact of an offer, also where they are written in '
  'another way; null if there are none.';

create or replace function internal.without_contact(words text, offer market.offer) returns text
  language plpgsql immutable
as $$
declare
  hidden constant text := coalesce(regexp_replace(words, internal.contact_pattern(offer), '[…]', 'gi'), words);
  quote text;
begin
  -- Titles and labels are cut to a length, which may be within a contact.
  for quote in select lower(c #>> '{}') from jsonb_path_query(offer.extraction, '$.contact[*].quote') as c loop
    for n in reverse least(length(quote), length(hidden)) .. 4 loop
      if right(lower(hidden), n) = left(quote, n) then
        return left(hidden, - n) || '[…]';
      end if;
    end loop;
  end loop;
  return hidden;
end
$$;
comment on function internal.without_contact(text, market.offer) is
  'Returns words of an offer with […] in place of each passage that states its contact, as far as the reader found it.';

create or replace function internal.shown_words(words text, offer market.offer, signed_in boolean) returns text
  language sql immutable
as $$ select case when signed_in then words else internal.without_contact(words, offer) end $$;
comment on function internal.shown_words(text, market.offer, boolean) is
  'Returns words of an offer as a person who is signed in or not may see them.';

create or replace function internal.contact_marks(offer market.offer) returns table (mark text, is_number boolean)
  language sql immutable
as $$
  select m.mark, m.is_number
  from (
    select lower(c.quote #>> '{}') as mark, false as is_number
    from jsonb_path_query(offer.extraction, '$.contact[*].quote') as c (quote)
    union
    select case m.method ->> 'type'
        when 'email' then lower(m.method ->> 'value')
        when 'url' then split_part(regexp_replace(lower(m.method ->> 'value'), '^https?://(www\.)?', ''), '/', 1)
        -- The last six digits, however they are grouped.
        else right(regexp_replace(m.method ->> 'value', '[^0-9]', '', 'g'), 6) end,
      m.method ->> 'type' not in ('email', 'url')
    from jsonb_path_query(offer.contact, '$.**.methods[*]') as m (method)) as m
  where length(m.mark) >= 4
$$;
comment on function internal.contact_marks(market.offer) is
  'Returns by what a link shows a contact of an offer: addresses, hosts and passages in lower case, and digits.';

create or replace function internal.shown_images(offer market.offer, signed_in boolean) returns jsonb
  language sql immutable
as $$
  -- A link to a picture may lead to the publisher's own site, or contain an address. Links are long and many, and
  -- anybody may open the page, so they are not searched by a regular expression.
  with marks as materialized (select m.mark, m.is_number from internal.contact_marks(offer) as m where not signed_in),
  links as materialized (
    select i.url, i.n, replace(lower(i.url), '%40', '@') as plain, regexp_replace(i.url, '[^0-9]', '', 'g') as digits
    from unnest(offer.images) with ordinality as i (url, n))
  select internal.image_list(array(
    select l.url from links l
    where not exists (
      select from marks m where strpos(case when m.is_number then l.digits else l.plain end, m.mark) > 0)
    order by l.n))
$$;
comment on function internal.shown_images(market.offer, boolean) is
  'Returns the image links of an offer that a person who is signed in or not may see, as content.images.';

create or replace function api.get_offer_page(id uuid, session_hash bytea) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  session constant record := internal.find_session(get_offer_page.session_hash);
  signed_in constant boolean := session.account_id is not null;
  offer market.offer;
  own boolean;
begin
  -- An offer whose account was deleted belongs to nobody.
  select * into offer from market.offer o
  where o.id = get_offer_page.id and o.sandbox_id is null and o.account_id is not null;
  own := coalesce(offer.account_id = session.account_id, false);
  if offer.id is null or not own and (offer.status <> 'published'
      or coalesce(offer.account_id = any (internal.accounts_being_hidden()), false)) then
    perform internal.raise_problem(404, 'not_found',
      'There is no such offer, or it is no longer offered. Ask your agent to look for others.');
  end if;
  return jsonb_build_object(
    'signed_in', signed_in,
    'title', internal.shown_words(offer.title, offer, signed_in),
    'text', internal.shown_words(offer.text, offer, signed_in),
    'price', internal.shown_words(offer.metadata -> 'pricing' ->> 'label', offer, signed_in),
    'location', internal.shown_words(offer.location_text, offer, signed_in),
    'language', offer.language,
    'offer_kind', offer.offer_kind,
    'pricing', (offer.metadata -> 'pricing') - 'label',
    'place', (offer.metadata -> 'location') - 'text',
    'condition', offer.metadata -> 'condition',
    'images', internal.shown_images(offer, signed_in),
    'published_at', internal.utc(offer.published_at),
    'confirmed_at', internal.utc(offer.confirmed_at),
    'publisher', internal.publisher_document(offer.account_id),
    'contact', case when signed_in and offer.contact ? 'methods' then offer.contact end,
    'owner', case when own then internal.owner_offer_document(offer) end,
    'reasons', case when signed_in and not own then (
      select jsonb_agg(jsonb_build_object('code', r.code, 'summary', r.summary) order by r.rank)
      from market.reason r) end,
    'indexed', offer.status = 'published' and internal.setting('index_offers') = jsonb 'true');
end
$$;
comment on function api.get_offer_page(uuid, bytea) is
  'Returns what the page of an offer shows: signed_in, title, text, price and location as stated, language, '
  'offer_kind, pricing, place, condition, images, published_at, confirmed_at, publisher, and indexed (the setting '
  'index_offers). With the session of a person, contact, and for other people''s offers the reasons for a report; for '
  'the owner, owner (OwnerOffer). Without one, […] stands in the words for what the reader took for the contact. '
  'Raises 404 unless the offer is published, or the person''s own.';
grant execute on function api.get_offer_page(uuid, bytea) to souk_api;
