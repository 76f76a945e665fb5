-- The caller's own windows: the same figures in GET /v1/me and in the headers. A person in the browser has none.

create or replace function market.own_figures(action text) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if market.account_id() is null then
    perform market.fail(401, 'unauthorized', 'Call with a token or a session.');
  end if;
  return case when market.agent_id() is not null then market.window_figures('agent:' || market.agent_id(), own_figures.action,
    market.call_cap(market.account_id(), own_figures.action)) end;
end
$$;
comment on function market.own_figures(text) is
  'limit, used, remaining and resets_in of the calling agent for an action; null for a person, whose calls are not counted.';
grant execute on function market.own_figures(text) to souk_agent, souk_person;
