-- Images are links. The service never fetches them.

create or replace function internal.gives_orders(link text) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Percent-encoding is undone: "%69gnore" is "ignore". An encoded character that is not printable ASCII separates
  -- words.
  decoded constant text := (
    select string_agg(case
        when p.part[1] !~ '^%[0-9A-Fa-f]{2}$' then p.part[1]
        when p.part[1] ~ '^%[2-7]' then chr(get_byte(decode(substr(p.part[1], 2), 'hex'), 0))
        else ' ' end, '' order by p.n)
    from regexp_matches(link, '%[0-9A-Fa-f]{2}|[^%]+|%', 'g') with ordinality as p (part, n));
  said constant text := ' ' || array_to_string(reading.words(decoded), ' ') || ' ';
begin
  return exists (
    select from reading.label l
    -- A file may be called "new-instructions.jpg".
    where l.concept = 'order_words' and cardinality(reading.words(l.form)) >= 3
      and position(' ' || array_to_string(reading.words(l.form), ' ') || ' ' in said) > 0);
end
$$;
comment on function internal.gives_orders(text) is
  'Returns whether the words of a link, decoded, include a phrase of three words or more that gives orders to software '
  '(concept order_words).';
grant execute on function internal.gives_orders(text) to souk_agent, souk_person;

create or replace function internal.image_errors(images jsonb) returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(jsonb_build_object('pointer', '/images/' || (i.n - 1), 'detail', i.wrong) order by i.n),
    '[]')
  from (
    select n, case
        when internal.lower_case(url) ~ '^data:' then
          'image_is_data'
        when internal.lower_case(url) !~ ('^https?://[^' || internal.white_space() || '/?#@:]+(:[0-9]{1,5})?([/?#][^'
            || internal.white_space() || ']*)?$') then
          'image_is_no_link'
        when char_length(url) > 2048 then 'image_link_too_long'
        when internal.gives_orders(url) then 'image_link_gives_orders'
      end as wrong
    from jsonb_array_elements_text(images) with ordinality as t (url, n)) as i
  where i.wrong is not null
$$;
comment on function internal.image_errors(jsonb) is 'Returns what is wrong with image links: [{pointer, detail}].';
grant execute on function internal.image_errors(jsonb) to souk_agent, souk_person;

create or replace function internal.image_links(images jsonb) returns text[]
  language plpgsql immutable
as $$
begin
  return (
    select coalesce(array_agg(first.url order by first.n), '{}')
    from (select url, min(n) as n from jsonb_array_elements_text(images) with ordinality as t (url, n)
      group by url) as first);
end
$$;
comment on function internal.image_links(jsonb) is 'Returns the links as text[] in their order, without duplicates.';
grant execute on function internal.image_links(jsonb) to souk_agent, souk_person;

create or replace function internal.image_warnings(images text[]) returns text[]
  language plpgsql stable
as $$
begin
  return case when exists (select from unnest(images) as url where internal.lower_case(url) ~ '^http:')
    then array[internal.sentence('image_unencrypted')] else '{}' end;
end
$$;
comment on function internal.image_warnings(text[]) is
  'Returns warnings about image links that are allowed but not advisable (http).';
grant execute on function internal.image_warnings(text[]) to souk_agent, souk_person;
