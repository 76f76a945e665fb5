-- The taxonomy that clients may rely on. It is public.

create or replace function api.get_taxonomy() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'domains', (
      select jsonb_agg(jsonb_build_object(
        'domain', d.domain, 'offer_kinds', to_jsonb(d.kinds),
        'categories',
        (select jsonb_agg(c.category order by c.position) from market.category c where c.domain = d.domain))
        order by d.position)
      from market.domain d),
    'ask_kinds', (
      select jsonb_agg(jsonb_build_object('ask_kind', k.ask_kind, 'answered_by', to_jsonb(k.answered_by))
        order by k.ask_kind)
      from market.ask_kind k));
end
$$;
comment on function api.get_taxonomy() is
  'Returns the domains with their kinds of offer and categories, and the kinds of offer that match each kind of ask. '
  'Needs no claims.';
