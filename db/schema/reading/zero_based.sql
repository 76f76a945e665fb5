-- Offsets in extractions counted from 1 once. This function goes one release after the last that has such workers.

create or replace function reading.zero_based(extraction jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  return case jsonb_typeof(extraction)
    when 'array' then (
      select coalesce(jsonb_agg(reading.zero_based(e.value) order by e.n), '[]')
      from jsonb_array_elements(extraction) with ordinality as e (value, n))
    when 'object' then (
      select coalesce(jsonb_object_agg(e.key, case
        when e.key in ('start', 'end') and extraction ? 'quote' and jsonb_typeof(e.value) = 'number'
        then to_jsonb(e.value::numeric - 1) else reading.zero_based(e.value) end), '{}')
      from jsonb_each(extraction) as e)
    else extraction end;
end
$$;
comment on function reading.zero_based(jsonb) is
  'Returns an extraction whose offsets counted from 1 with offsets that count from 0. Used by a migration, and for '
  'workers of the previous release.';
