-- Messages about an account go to every address that is proved for it. They also go to an address that is being
-- removed, because somebody else may be removing it.

create or replace function internal.notify_addresses(
  account_id uuid, act text, method text default null, sign_in_id uuid default null, agent_name text default null
) returns void
  language plpgsql volatile
as $$
declare
  notice uuid;
begin
  for notice in
    insert into market.notice (email, act, method, sign_in_id, agent_name)
    select distinct p.email, notify_addresses.act, notify_addresses.method, notify_addresses.sign_in_id,
      notify_addresses.agent_name
    from market.proved_method p
    where p.account_id = notify_addresses.account_id and p.email is not null
    returning id
  loop
    perform internal.enqueue('send_account_notice', notice);
  end loop;
end
$$;
comment on function internal.notify_addresses(uuid, text, text, uuid, text) is
  'Stores a message (market.notice) to each address that is proved for an account, and enqueues its sending. Call it '
  'after a method was added, and before one is removed.';
