-- The invariants of conversations, proposals, agreements and confirmations (see inspect/check.sql).

create or replace function inspect.check_deals(low double precision, high double precision)
  returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  return query
  select 'conversation_is_of_its_offer', 'conversation ' || c.id,
    format('it is of account %s in %s, and the offer of account %s in %s', c.publisher_id,
      coalesce('sandbox ' || c.sandbox_id, 'the market'), o.account_id,
      coalesce('sandbox ' || o.sandbox_id, 'the market'))
  from market.conversation c
  join market.offer o on o.id = c.offer_id
  left join market.account i on i.id = c.inquirer_id
  where inspect.is_within(c.ctid, 'market.conversation', check_deals.low, check_deals.high)
    and (c.publisher_id <> o.account_id or c.sandbox_id is distinct from o.sandbox_id
      or i.id is not null and i.sandbox_id is distinct from c.sandbox_id);

  return query
  select 'unread_is_what_came_since', 'conversation ' || c.id,
    format('%s are unread for the %s, and the other side has sent %s since', s.unread, s.role, n.came)
  from market.conversation c
  cross join lateral (values ('publisher', c.publisher_unread), ('inquirer', c.inquirer_unread)) as s (role, unread)
  cross join lateral (
    select count(*) as came from (
      select m.id, m.sender from market.message m where m.conversation_id = c.id
      union all
      select p.id, p.sender from market.proposal p where p.conversation_id = c.id) as w
    where w.sender <> s.role and w.id > coalesce((
      select max(o.id::text)::uuid from (
        select m.id from market.message m where m.conversation_id = c.id and m.sender = s.role
        union all
        select p.id from market.proposal p where p.conversation_id = c.id and p.sender = s.role) as o),
      repeat('0', 32)::uuid)) as n
  where inspect.is_within(c.ctid, 'market.conversation', check_deals.low, check_deals.high)
    and s.unread > 0 and s.unread > n.came;

  return query
  select 'pending_deal_can_be_made', d.object,
    format('it is %s, the conversation is %s, and the offer is %s', d.status, c.status, o.status)
  from (
    select 'proposal ' || p.id as object, p.status, p.conversation_id from market.proposal p
    where inspect.is_within(p.ctid, 'market.proposal', check_deals.low, check_deals.high) and p.status = 'pending'
    union all
    select 'agreement ' || a.id, a.status, a.conversation_id from market.agreement a
    where inspect.is_within(a.ctid, 'market.agreement', check_deals.low, check_deals.high)
      and a.status = 'awaiting') as d
  join market.conversation c on c.id = d.conversation_id
  join market.offer o on o.id = c.offer_id
  where c.status <> 'open' or o.status <> 'published';

  return query
  select 'agreement_has_accepted_proposal', 'agreement ' || a.id,
    format('proposal %s of conversation %s is %s', p.id, p.conversation_id, p.status)
  from market.agreement a
  join market.proposal p on p.id = a.proposal_id
  where inspect.is_within(a.ctid, 'market.agreement', check_deals.low, check_deals.high)
    and (p.status <> 'accepted' or p.conversation_id <> a.conversation_id)
  union all
  select 'agreement_has_accepted_proposal', 'proposal ' || p.id, 'it is accepted, and there is no agreement'
  from market.proposal p
  where inspect.is_within(p.ctid, 'market.proposal', check_deals.low, check_deals.high)
    and p.status = 'accepted' and not exists (select from market.agreement a where a.proposal_id = p.id);

  return query
  select 'consent_has_confirmation', 'agreement ' || a.id,
    format('the %s has %s, and its confirmation is %s', s.role,
      case when s.agreed_at is null then 'not consented' else 'consented' end, coalesce(n.status, 'missing'))
  from market.agreement a
  join market.conversation c on c.id = a.conversation_id
  cross join lateral (values ('publisher', c.publisher_id, a.publisher_agreed_at),
    ('inquirer', c.inquirer_id, a.inquirer_agreed_at)) as s (role, account_id, agreed_at)
  left join market.confirmation n on n.agreement_id = a.id and n.account_id = s.account_id
  where inspect.is_within(a.ctid, 'market.agreement', check_deals.low, check_deals.high) and s.account_id is not null
    and case
      when n.id is null then s.agreed_at is null
      when n.status = 'pending' then a.status <> 'awaiting' or s.agreed_at is not null
      else (n.status = 'confirmed') <> (s.agreed_at is not null) end;

  return query
  select 'agreement_keeps_to_ceiling', 'agreement ' || a.id,
    format('its agent may agree to %s at once and to %s in 24 hours, and agreed to %s and %s thousandths of %s',
      w.ceiling_thousandths, w.daily_ceiling_thousandths, a.price_thousandths, d.sum, a.price_currency)
  from market.agreement a
  join market.power w on w.agent_id = a.payer_agent_id and w.power = 'agree'
  cross join lateral (
    select sum(o.price_thousandths) as sum from market.agreement o
    where o.payer_agent_id = a.payer_agent_id and o.price_currency = a.price_currency and o.status <> 'lapsed'
      and o.created_at > a.created_at - interval '24 hours' and o.created_at <= a.created_at
      and o.created_at > w.updated_at) as d
  where inspect.is_within(a.ctid, 'market.agreement', check_deals.low, check_deals.high)
    -- What was agreed under an earlier power is not a violation.
    and a.status <> 'lapsed' and w.allowed = 'alone' and a.created_at > w.updated_at
    and (a.price_currency is distinct from w.ceiling_currency or a.price_thousandths > w.ceiling_thousandths
      or d.sum > w.daily_ceiling_thousandths);

  return query
  select 'deal_ends_in_time', e.object, e.detail from (
    (select 'proposal ' || p.id as object, 'it is pending, and expired at ' || p.expires_at as detail
      from market.proposal p where p.status = 'pending' and p.expires_at < now() - interval '15 minutes'
      order by p.expires_at limit 1)
    union all
    (select 'agreement ' || a.id, 'it awaits a side, and expired at ' || a.expires_at from market.agreement a
      where a.status = 'awaiting' and a.expires_at < now() - interval '15 minutes' order by a.expires_at limit 1)
    union all
    (select 'conversation ' || c.id, 'it is open, and account ' || a.id || ' was suspended at ' || a.suspended_at
      from market.account a
      join market.conversation c on c.status = 'open' and (c.publisher_id = a.id or c.inquirer_id = a.id)
      where a.suspended_at < now() - interval '15 minutes' limit 1)) as e;

  return query
  select 'deal_is_forgotten_in_time', f.object, f.detail from (
    (select 'agreement ' || a.id as object, 'it has contacts, and was made at ' || a.made_at as detail
      from market.agreement a
      where (a.publisher_contact is not null or a.inquirer_contact is not null)
        and a.made_at < now() - interval '92 days' order by a.made_at limit 1)
    union all
    (select 'conversation ' || c.id, 'it has words, and the last were written at ' || c.active_at
      from market.conversation c
      where c.forgotten_at is null and c.active_at < now() - interval '25 months'
        and not exists (select from market.proposal p where p.conversation_id = c.id and p.status = 'accepted')
      order by c.active_at limit 1)) as f;
end
$$;
comment on function inspect.check_deals(double precision, double precision) is
  'Checks conversations, proposals, agreements and confirmations.';
