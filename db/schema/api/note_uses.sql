-- The processes of the API tell which tokens were used (src/database/uses.ts), because a call that only reads cannot
-- write it.

create or replace function api.note_uses(token_hashes jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Accurate to a day is enough, and rows that another transaction has locked are noted another time.
  update market.agent a set used_at = now()
  where a.id = any (array(
    select o.id from market.agent o
    where o.token_hash = any (array(
        select decode(h.hash, 'hex') from jsonb_array_elements_text(note_uses.token_hashes) as h (hash)))
      and o.removed_at is null and o.used_at <= now() - interval '1 day'
    order by o.id for no key update skip locked));
  return jsonb '{}';
end
$$;
comment on function api.note_uses(jsonb) is
  'Notes that the tokens with these SHA-256 (an array of hex) were used. A token that is unknown changes nothing.';
