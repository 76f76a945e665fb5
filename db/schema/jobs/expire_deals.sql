-- Expiry is a fact of the clock for every reader and move. This job notes it, which tells both sides.

create or replace function jobs.expire_deals() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation uuid;
  number integer := 0;
begin
  -- A conversation that another transaction has locked is left to a later run.
  for conversation in
    select c.id from market.conversation c
    where c.id in (
      (select p.conversation_id from market.proposal p where p.status = 'pending' and p.expires_at <= now()
        order by p.expires_at limit 500)
      union
      (select a.conversation_id from market.agreement a where a.status = 'awaiting' and a.expires_at <= now()
        order by a.expires_at limit 500))
    for no key update skip locked
  loop
    perform internal.expire_deals_of(conversation);
    number := number + 1;
  end loop;
  -- Those of suspended accounts, whose other side sees them as closed already.
  for conversation in
    select c.id from market.conversation c
    where c.id in (
      (select o.id from market.account a join market.conversation o on o.publisher_id = a.id and o.status = 'open'
        where a.suspended_at is not null limit 500)
      union
      (select o.id from market.account a join market.conversation o on o.inquirer_id = a.id and o.status = 'open'
        where a.suspended_at is not null limit 500))
    for no key update skip locked
  loop
    perform internal.close_conversation(c, 'market') from market.conversation c where c.id = conversation;
    number := number + 1;
  end loop;
  return number;
end
$$;
comment on function jobs.expire_deals() is
  'Notes proposals and agreements that have expired, and closes the conversations of suspended accounts. Returns how '
  'many conversations it changed.';
