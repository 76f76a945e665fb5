-- What an agent may do alone, as its person decided. A person in the browser may do everything.

create or replace function internal.power_of(agent_id uuid, power text) returns market.power
  language plpgsql stable
as $$
declare
  found_power market.power;
begin
  select * into found_power from market.power p where p.agent_id = power_of.agent_id and p.power = power_of.power;
  if not found then
    found_power.agent_id := power_of.agent_id;
    found_power.power := power_of.power;
    found_power.allowed := case power_of.power when 'agree' then 'ask_me' else 'alone' end;
  end if;
  return found_power;
end
$$;
comment on function internal.power_of(uuid, text) is
  'Returns what an agent may do alone: its row, or what counts without one.';
grant execute on function internal.power_of(uuid, text) to souk_agent, souk_person;

create or replace function internal.require_power(power text, headers jsonb default '{}') returns void
  language plpgsql stable
as $$
begin
  if internal.agent_id() is not null and (internal.power_of(internal.agent_id(), require_power.power)).allowed = 'never'
  then
    perform internal.raise_problem(403, 'power_required', 'power_never', extra => jsonb_build_object(
      'headers', headers, 'power', require_power.power,
      'settings_url', coalesce(current_setting('market.base_url', true), '') || '/settings/agents'));
  end if;
end
$$;
comment on function internal.require_power(text, jsonb) is
  'Raises 403 power_required when the person of the calling agent does not let it do this.';
grant execute on function internal.require_power(text, jsonb) to souk_agent, souk_person;

create or replace function internal.ceiling_reaches(power market.power, thousandths bigint, currency text, period text)
  returns boolean
  language plpgsql stable
as $$
begin
  if thousandths is null or coalesce(period, 'one_time') not in ('one_time', 'project')
    or currency is distinct from power.ceiling_currency or thousandths > power.ceiling_thousandths then
    return false;
  end if;
  -- The account of the agent is locked (internal.lock_accounts), so no two agreements fit under the same ceiling.
  return thousandths + (
    select coalesce(sum(a.price_thousandths), 0) from market.agreement a
    where a.payer_agent_id = power.agent_id and a.created_at > clock_timestamp() - interval '24 hours'
      and internal.agreement_status(a) <> 'lapsed' and a.price_currency = power.ceiling_currency)
    <= power.daily_ceiling_thousandths;
end
$$;
comment on function internal.ceiling_reaches(market.power, bigint, text, text) is
  'Returns whether an agent may agree alone to pay this: an amount in the currency of its ceiling, not for each of '
  'several periods, at most the ceiling, and with what it agreed to in the last 24 hours at most the daily ceiling.';

create or replace function internal.consents(agent_id uuid, by_person boolean, pays boolean, proposal market.proposal)
  returns boolean
  language plpgsql volatile
as $$
declare
  agent market.agent;
  power market.power;
begin
  if by_person then
    return true;
  end if;
  -- A removal waits, or is seen.
  select * into agent from market.agent a where a.id = consents.agent_id for share;
  if not found or agent.removed_at is not null or agent.connected_at is null and agent.sandbox_id is null then
    return false;
  elsif agent.sandbox_id is not null then
    return true;
  end if;
  power := internal.power_of(agent.id, 'agree');
  return power.allowed = 'alone' and (not pays or internal.ceiling_reaches(power, proposal.price_thousandths,
    proposal.price_currency, proposal.price_period));
end
$$;
comment on function internal.consents(uuid, boolean, boolean, market.proposal) is
  'Returns whether a side of a proposal has consented: its person did it, or its agent may agree to this alone. pays: '
  'whether this side pays. Call internal.lock_accounts first.';

create or replace function internal.power_document(power market.power) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('power', power.power, 'allowed', power.allowed)
    || case when power.ceiling_currency is null then '{}' else jsonb_build_object('ceiling', jsonb_build_object(
      'amount', power.ceiling_thousandths / 1000.0, 'amount_24h', power.daily_ceiling_thousandths / 1000.0,
      'currency', power.ceiling_currency)) end
$$;
comment on function internal.power_document(market.power) is
  'Returns a power as the settings show it: {power, allowed, ceiling {amount, amount_24h, currency}}.';
grant execute on function internal.power_document(market.power) to souk_agent, souk_person;

create or replace function internal.powers_document(agent_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_agg(internal.power_document(internal.power_of(powers_document.agent_id, p.power)) order by p.n)
    from unnest('{publish,ask,converse,agree}'::text[]) with ordinality as p (power, n));
end
$$;
comment on function internal.powers_document(uuid) is 'Returns all powers of an agent.';
grant execute on function internal.powers_document(uuid) to souk_agent, souk_person;
