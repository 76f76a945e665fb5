-- The invariants of OAuth: how tokens come about, and how long requests and clients without one are kept. Constraints
-- of market.oauth_grant ensure that only hashes are stored, and that a grant has its agent.

create or replace function inspect.check_oauth(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  return query
  select 'code_follows_an_approval', 'agent ' || g.agent_id, 'it has an authorization code, and nobody approved it'
  from market.oauth_grant g
  join market.agent a on a.id = g.agent_id
  where inspect.is_within(g.ctid, 'market.oauth_grant', check_oauth.low, check_oauth.high)
    and g.code_hash is not null and a.connected_at is null and a.disconnected_at is null;

  return query
  select 'refresh_token_follows_a_code', 'agent ' || g.agent_id,
    case when g.code_used_at is null then 'it has a refresh token, and no code was used'
      else format('its code was used at %s, and expired at %s', g.code_used_at, g.code_expires_at) end
  from market.oauth_grant g
  where inspect.is_within(g.ctid, 'market.oauth_grant', check_oauth.low, check_oauth.high)
    and g.family_hash is not null and (g.code_used_at < g.code_expires_at) is not true;

  return query
  select 'access_token_expires', 'agent ' || g.agent_id,
    case when g.family_hash is null then 'it has an access token, and never had a refresh token'
      else 'its access token works until ' || coalesce(a.token_expires_at::text, 'the agent is removed') end
  from market.oauth_grant g
  join market.agent a on a.id = g.agent_id
  where inspect.is_within(g.ctid, 'market.oauth_grant', check_oauth.low, check_oauth.high)
    and a.token_hash is not null
    and (g.family_hash is null or a.token_expires_at is null
      or a.token_expires_at > clock_timestamp() + interval '1 hour');

  return query
  select 'grant_has_its_client', 'agent ' || g.agent_id,
    case when c.id is null then 'there is no client ' || g.client_id
      else 'it has tokens, and client ' || g.client_id || ' counts as unfinished' end
  from market.oauth_grant g
  left join market.oauth_client c on c.id = internal.registered_id(g.client_id)
  where inspect.is_within(g.ctid, 'market.oauth_grant', check_oauth.low, check_oauth.high)
    and internal.registered_id(g.client_id) is not null
    and (c.id is null or c.finished_at is null and g.family_hash is not null);

  -- jobs.purge_oauth deletes both after a day, but skips rows that are locked. So allow two hours more. The two indexes
  -- on unfinished rows find the oldest.
  return query
  select 'oauth_is_purged_in_time', o.object, o.detail from (
    (select 'requests for authorization' as object, 'the oldest is of ' || g.created_at as detail
      from market.oauth_grant g
      where g.family_hash is null and g.created_at < now() - interval '26 hours' order by g.created_at limit 1)
    union all
    (select 'clients', 'the oldest is of ' || c.created_at from market.oauth_client c
      where c.finished_at is null and c.created_at < now() - interval '26 hours'
        -- A client waits for the end of its last request.
        and not exists (select from market.oauth_grant g where g.client_id = c.id::text)
      order by c.created_at limit 1)) as o;
end
$$;
comment on function inspect.check_oauth(double precision, double precision) is
  'Checks requests, codes and tokens of OAuth, and its clients.';
