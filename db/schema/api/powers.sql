-- What an agent may do alone, as its person decides on the approval page and in the settings.

create or replace function api.get_powers(agent_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  if not exists (select from market.agent a where a.id = get_powers.agent_id) then
    perform internal.raise_problem(404, 'not_found', 'no_own_agent');
  end if;
  return jsonb_build_object('agent_id', get_powers.agent_id, 'powers', internal.powers_document(get_powers.agent_id));
end
$$;
comment on function api.get_powers(uuid) is
  'Returns the powers of an agent of the account. Raises 404 for any other id.';

create or replace function api.set_powers(agent_id uuid, powers jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.require_recent_sign_in();
  perform internal.set_powers(set_powers.agent_id, set_powers.powers);
  return jsonb_build_object('agent_id', set_powers.agent_id, 'powers', internal.powers_document(set_powers.agent_id));
end
$$;
comment on function api.set_powers(uuid, jsonb) is
  'Sets powers of an agent of the person''s account: [{power, allowed, ceiling {amount, amount_24h, currency}}]. Those '
  'that are not named stay. Raises 400 for a power that makes no sense, 401 with sign_in_again, and 404 for any other '
  'id.';
