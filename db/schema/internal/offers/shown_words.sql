-- What a person who is not signed in sees of an offer: its words and image links without the contact that the reader
-- found. The page removes whatever else looks like a contact (src/pages/offer/contacts.ts).

create or replace function internal.contact_pattern(offer market.offer) returns text
  language sql immutable
as $$
  with said as (
    select c.quote #>> '{}' as passage from jsonb_path_query(offer.extraction, '$.contact[*].quote') as c (quote)
    union
    -- Without scheme, "www." and the slash at the end. The pattern below allows them again.
    select rtrim(regexp_replace(internal.lower_case(m.method ->> 'value'), '^https?://(www\.)?', ''), '/')
    from jsonb_path_query(offer.contact, '$.**.methods[*]') as m (method)
    where internal.contact_form(m.method ->> 'type') <> 'number'
  ), dialled as (
    -- The last six digits identify the number. The pattern below allows any grouping, and the digits before them.
    select distinct right(d.digits, 6) as digits
    from jsonb_path_query(offer.contact, '$.**.methods[*]') as m (method),
      lateral (select regexp_replace(m.method ->> 'value', '[^0-9]', '', 'g') as digits) as d
    where internal.contact_form(m.method ->> 'type') = 'number' and length(d.digits) >= 5
  )
  select string_agg(p.pattern, '|') from (
    select '(https?://)?(www\.)?'
      || regexp_replace(regexp_replace(s.passage, '([^0-9A-Za-z' || internal.white_space() || '])', '\\\1', 'g'),
        '[' || internal.white_space() || ']+', '[' || internal.white_space() || ']+', 'g')
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
  hidden constant text :=
    coalesce(regexp_replace(words collate "C", internal.contact_pattern(offer), '[…]', 'gi'), words);
  quote text;
begin
  -- Titles and labels are cut, and the cut may be inside a contact. So the beginning of a contact at the end is hidden,
  -- too.
  for quote in select internal.lower_case(c #>> '{}')
    from jsonb_path_query(offer.extraction, '$.contact[*].quote') as c loop
    for n in reverse least(length(quote), length(hidden)) .. 4 loop
      if right(internal.lower_case(hidden), n) = left(quote, n) then
        return left(hidden, - n) || '[…]';
      end if;
    end loop;
  end loop;
  return hidden;
end
$$;
comment on function internal.without_contact(text, market.offer) is
  'Returns words of an offer with […] in place of each passage that the reader took for its contact.';

create or replace function internal.shown_words(words text, offer market.offer, signed_in boolean) returns text
  language sql immutable
as $$ select case when signed_in then words else internal.without_contact(words, offer) end $$;
comment on function internal.shown_words(text, market.offer, boolean) is
  'Returns words of an offer: as they are for a person who is signed in, and without contacts for all others.';

create or replace function internal.contact_marks(offer market.offer) returns table (mark text, is_number boolean)
  language sql immutable
as $$
  select m.mark, m.is_number
  from (
    select internal.lower_case(c.quote #>> '{}') as mark, false as is_number
    from jsonb_path_query(offer.extraction, '$.contact[*].quote') as c (quote)
    union
    select case internal.contact_form(m.method ->> 'type')
        when 'address' then internal.lower_case(m.method ->> 'value')
        when 'link' then
          split_part(regexp_replace(internal.lower_case(m.method ->> 'value'), '^https?://(www\.)?', ''), '/', 1)
        -- The last six digits, however they are grouped.
        else right(regexp_replace(m.method ->> 'value', '[^0-9]', '', 'g'), 6) end,
      internal.contact_form(m.method ->> 'type') = 'number'
    from jsonb_path_query(offer.contact, '$.**.methods[*]') as m (method)) as m
  where length(m.mark) >= 4
$$;
comment on function internal.contact_marks(market.offer) is
  'Returns what gives an offer''s contact away when the link of an image contains it: addresses, hosts and passages in '
  'lower case, and digits.';

create or replace function internal.shown_images(offer market.offer, signed_in boolean) returns jsonb
  language sql immutable
as $$
  -- A link to a picture may lead to the publisher's own site, or contain an address. Links are long and many, and
  -- anybody may open the page, so they are not searched by a regular expression.
  with marks as materialized (select m.mark, m.is_number from internal.contact_marks(offer) as m where not signed_in),
  links as materialized (
    select i.url, i.n, replace(internal.lower_case(i.url), '%40', '@') as plain,
      regexp_replace(i.url, '[^0-9]', '', 'g') as digits
    from unnest(offer.images) with ordinality as i (url, n))
  select internal.image_list(array(
    select l.url from links l
    where not exists (
      select from marks m where strpos(case when m.is_number then l.digits else l.plain end, m.mark) > 0)
    order by l.n))
$$;
comment on function internal.shown_images(market.offer, boolean) is
  'Returns the image links of an offer as content.images: all for a person who is signed in, and for all others those '
  'without a contact.';
