-- The vocabulary that clients may rely on. Public.

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
  'Domains with their kinds and categories, and which kinds of offer answer an ask. Needs no entering.';
grant execute on function api.get_taxonomy() to souk_api;
