-- Lists are read page by page. A cursor is opaque to clients and holds the sort key of the last row on the page.

create or replace function internal.cursor_of(place jsonb) returns text
  language plpgsql immutable parallel safe
as $$
begin
  return translate(encode(convert_to(place::text, 'UTF8'), 'base64'), E'+/=\n', '-_');
end
$$;
comment on function internal.cursor_of(jsonb) is 'Returns a position in a list as an opaque cursor (base64url).';
grant execute on function internal.cursor_of(jsonb) to souk_agent, souk_person, souk_moderator;

create or replace function internal.position_of(cursor text, list text, member text default 'cursor') returns jsonb
  language plpgsql stable
as $$
declare
  place jsonb;
begin
  if cursor is null then
    return null;
  end if;
  begin
    place := convert_from(decode(
      translate(cursor, '-_', '+/') || repeat('=', (4 - length(cursor) % 4) % 4), 'base64'), 'UTF8')::jsonb;
    -- A client may forge a cursor. These casts check that each member has the type that the lists expect.
    perform (place ->> 'id')::uuid, (place ->> 'score')::real,
      (place ->> 'rank')::integer, (place ->> 'is_stale')::boolean,
      (place ->> 'price')::bigint, (place ->> 'km')::double precision, (place ->> 'time')::timestamptz,
      (place ->> 'as_of')::timestamptz, (place ->> 'seen_at')::timestamptz,
      internal.beyond(place ->> 'seen'), internal.beyond(place ->> 'until');
    -- No client reads a list this far, and beyond it sums of ranks would overflow.
    if (place ->> 'rank')::integer not between 0 and 1000000 then
      place := null;
    end if;
  exception when others then
    place := null;
  end;
  if jsonb_typeof(place) is distinct from 'object' or place ->> 'list' is distinct from position_of.list then
    perform internal.raise_field_problems(
      jsonb_build_array(jsonb_build_object('pointer', '/' || member, 'detail', case member
      when 'since' then
        'since_of_other_list'
      when 'after' then
        'after_is_no_cursor'
      else 'cursor_of_other_list' end)));
  end if;
  return place;
end
$$;
comment on function internal.position_of(text, text, text) is
  'Returns the position that a cursor of this list holds; null without a cursor. Raises 400 for a cursor of another '
  'list. The name of the list contains every parameter that must be the same on all pages.';
grant execute on function internal.position_of(text, text, text) to souk_agent, souk_person, souk_moderator;

create or replace function internal.page(cursor jsonb, more boolean) returns jsonb
  language plpgsql immutable parallel safe
as $$
begin
  return jsonb_build_object('next_cursor', case when more then to_jsonb(internal.cursor_of(cursor)) else 'null' end,
    'has_more', more);
end
$$;
comment on function internal.page(jsonb, boolean) is 'Returns the page member of an answer: {next_cursor, has_more}.';
grant execute on function internal.page(jsonb, boolean) to souk_agent, souk_person;
