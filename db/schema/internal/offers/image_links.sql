-- Images are links. The service never fetches them.

create or replace function internal.image_errors(images jsonb) returns jsonb
  language sql immutable
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
