-- An agent's approval: what the functions of the connection page share.

create or replace function internal.lock_connection(secret_hash bytea, session_account uuid) returns market.connection
  language plpgsql volatile
as $$
declare
  connection market.connection;
begin
  -- Lock the agent's account and the session's account first. The deletion of an account uses the same order.
  perform from market.account a
  where a.id in (
    select g.account_id from market.agent g join market.connection c on c.agent_id = g.id
    where c.secret_hash = lock_connection.secret_hash
    union all select lock_connection.session_account)
  order by a.id for update;
  -- Then lock the agent's row, so that an approval and a removal of the agent wait for each other.
  perform from market.agent a join market.connection c on c.agent_id = a.id
  where c.secret_hash = lock_connection.secret_hash for update of a;
  select * into connection from market.connection c where c.secret_hash = lock_connection.secret_hash for update;
  return connection;
end
$$;
comment on function internal.lock_connection(bytea, uuid) is
  'Takes the hash of a link''s secret and the session''s account. Locks the accounts, then the agent, then the '
  'connection, and returns the connection; nulls when there is none.';

create or replace function internal.check_connection(connection market.connection) returns void
  language plpgsql stable
as $$
begin
  if connection.agent_id is null then
    perform internal.raise_problem(404, 'not_found', 'link_unknown');
  elsif exists (select from market.agent a where a.id = connection.agent_id and a.sandbox_id is not null) then
    perform internal.raise_problem(409, 'connection_already_used', 'connection_of_test_agent');
  elsif connection.approved_at is not null then
    perform internal.raise_problem(409, 'connection_already_used', 'connection_used');
  elsif connection.declined_at is not null or connection.expires_at <= now() then
    perform internal.raise_problem(410, 'connection_expired', 'connection_over');
  end if;
end
$$;
comment on function internal.check_connection(market.connection) is
  'Refuses a link that is unknown (404), used (409), or declined or expired (410).';

create or replace function internal.codes_to_pick(connection market.connection) returns jsonb
  language plpgsql volatile
as $$
declare
  letters constant text := 'BCDFGHJKLMNPQRSTVWXZ';
  codes text[] := array[connection.code];
  rest bigint;
  decoy text;
begin
  for n in 1..2 loop
    -- The same each time: if they changed, two looks at the page would show which code stays.
    rest := ('x0' || left(internal.mark_of('decoy ' || n || ' ' || connection.agent_id), 15))::bit(64)::bigint;
    decoy := '';
    for letter in 1..8 loop
      decoy := decoy || substr(letters, (rest % 20)::integer + 1, 1) || case letter when 4 then '-' else '' end;
      rest := rest / 20;
    end loop;
    codes := codes || decoy;
  end loop;
  -- Another order each time, so that nobody who opens the page knows where the code is for the person.
  return (select jsonb_agg(c.code order by gen_random_uuid()) from unnest(codes) as c (code));
end
$$;
comment on function internal.codes_to_pick(market.connection) is
  'Returns the code of a link among two others of the same form, in random order. Only the agent and its person know '
  'which is the one: the others are keyed hashes of the agent''s id.';

create or replace function internal.is_picked(agent_id uuid) returns boolean
  language sql stable
as $$ select not exists (select from market.oauth_grant g where g.agent_id = is_picked.agent_id) $$;
comment on function internal.is_picked(uuid) is
  'Returns whether a person approves the agent by picking its code. A client of OAuth shows none: it has the person''s '
  'browser, and the page says where the browser goes back to.';

create or replace function internal.holdings(account_id uuid) returns jsonb
  language sql stable
  set enable_seqscan = off
as $$
  select nullif(jsonb_build_object(
    'offers', (select count(*) from market.offer o where o.account_id = holdings.account_id),
    'asks', (select count(*) from market.ask k where k.account_id = holdings.account_id)),
    '{"offers": 0, "asks": 0}')
$$;
comment on function internal.holdings(uuid) is
  'Returns how many offers and asks of any status an account has, which every agent of the account reads and may '
  'change: {offers, asks}; null when it has none.';

create or replace function internal.link_is_over() returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from market.connection c
    where c.agent_id = internal.agent_id() and c.approved_at is null
      and (c.mispicked_at is not null or c.expires_at <= now()))
$$;
comment on function internal.link_is_over() is
  'Returns whether the calling agent''s link can no longer approve it, so that it has to connect again.';
grant execute on function internal.link_is_over() to souk_agent, souk_person;

create or replace function internal.account_to_bind(agent_account uuid, session_account uuid) returns uuid
  language plpgsql stable
as $$
begin
  return case
    when account_to_bind.session_account is not null then account_to_bind.session_account
    when exists (select from market.proved_method p where p.account_id = account_to_bind.agent_account)
      then account_to_bind.agent_account
    -- Somebody has claimed the account or has a session for it. The person who approves now has no session, may be
    -- somebody else, and so must not share the account.
    when exists (select from market.account a where a.id = account_to_bind.agent_account and a.claimed_at is not null)
      or exists (select from market.session s where s.account_id = account_to_bind.agent_account) then null
    else account_to_bind.agent_account end;
end
$$;
comment on function internal.account_to_bind(uuid, uuid) is
  'Takes the agent''s account and the account of the visitor''s session (null: no session). Returns the account that '
  'the agent would act for if the visitor approved it now; null when a new account has to be created.';

create or replace function internal.shown_account(account_id uuid, is_new boolean, secret_hash bytea) returns text
  language sql immutable parallel safe
as $$
  select encode(sha256(shown_account.secret_hash || convert_to(
    case when shown_account.is_new then 'new' else shown_account.account_id::text end, 'UTF8')), 'hex')
$$;
comment on function internal.shown_account(uuid, boolean, bytea) is
  'Returns a hash of the link and the account that the approval page shows. The form sends it back, so that an '
  'approval binds the agent to this account and no other. The hash reveals neither the link nor the account.';

create or replace function internal.check_agent_count(account_id uuid) returns void
  language plpgsql stable
as $$
begin
  if (select count(*) from market.agent a
      where a.account_id = check_agent_count.account_id and a.removed_at is null and a.connected_at is not null) >= 25
  then
    perform internal.raise_problem(409, 'invalid_state', 'too_many_own_agents');
  end if;
end
$$;
comment on function internal.check_agent_count(uuid) is
  'Raises 409 when 25 agents act for an account. The caller has locked the account.';

create or replace function internal.notify_of_approval(agent_id uuid, account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  if internal.notice_email(notify_of_approval.account_id) is not null then
    perform internal.enqueue('send_approval_notice', notify_of_approval.agent_id);
  end if;
end
$$;
comment on function internal.notify_of_approval(uuid, uuid) is
  'Enqueues the message that tells a person that an agent was approved, when an e-mail address of the person is known.';

create or replace function internal.take_reports(agent_id uuid, account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  -- An account has one report for each offer. If it has one, the agent's is deleted.
  delete from market.report r
  where r.agent_id = take_reports.agent_id and r.account_id is distinct from take_reports.account_id and exists (
    select from market.report o where o.offer_id = r.offer_id and o.account_id = take_reports.account_id);
  update market.report r set account_id = take_reports.account_id
  where r.agent_id = take_reports.agent_id and r.account_id is distinct from take_reports.account_id;
end
$$;
comment on function internal.take_reports(uuid, uuid) is
  'Gives an account the reports that an agent made before a person connected it to the account, and no others.';

create or replace function internal.adopt_agent(agent market.agent, account_id uuid) returns void
  language plpgsql volatile
as $$
begin
  update market.agent a set connected_at = now(), account_id = adopt_agent.account_id where a.id = agent.id;
  perform internal.take_reports(agent.id, adopt_agent.account_id);
  if agent.account_id = adopt_agent.account_id then
    return;
  end if;
  -- The agent's unfinished work moves to the new account together with the agent.
  update market.verification v set account_id = adopt_agent.account_id
  -- A completed verification stays with the first account, because it proved a method of that account.
  where v.agent_id = agent.id and v.status <> 'completed';
  update market.verification v set status = 'completed'
  where v.agent_id = agent.id and v.status = 'pending' and v.expires_at > now()
    and exists (select from market.proved_method p where p.account_id = v.account_id and p.method = v.method);
  update market.submission s set account_id = adopt_agent.account_id where s.agent_id = agent.id;
  -- The provisional account stays for now, because a call in progress may still write to it. jobs.purge_keys deletes
  -- it.
end
$$;
comment on function internal.adopt_agent(market.agent, uuid) is
  'Connects an agent to a person''s account, and moves the agent''s verifications, submissions and reports there.';

create or replace function internal.count_decline(connection market.connection, browser_hash bytea, address text)
  returns void
  language plpgsql volatile
as $$
declare
  scope text := 'address:' || connection.address;
  refuser text := internal.site_of(internal.network_of(count_decline.address));
  marks text[];
begin
  -- A program refuses a link as soon as it has it; a person reads the page first. An agent's operator could refuse its
  -- links to block others whose agents have the same address, so refusals from that address do not count.
  if connection.created_at > now() - interval '10 seconds' or count_decline.browser_hash is null
      or coalesce(refuser = internal.site_of(connection.address), true) then
    return;
  end if;
  -- A new cookie costs nothing and a new network little, so only both together make another refuser. The marks are
  -- keyed hashes that also contain the refused address. So they reveal neither who refused, nor that one person refused
  -- links of different addresses. They are deleted after a day.
  marks := array(
    select 'refuser:' || internal.mark_of(scope || ' ' || r.refuser)
    from unnest(array['browser ' || encode(count_decline.browser_hash, 'hex'), 'site ' || refuser]) as r (refuser));
  perform internal.lock_window(scope, 'decline');
  if not exists (select from market.rate_limit_hit c
      where c.scope = any (marks) and c.action = 'decline' and c.called_at > clock_timestamp() - interval '1 day') then
    insert into market.rate_limit_hit (scope, action) select m.scope, 'decline'
    from unnest(scope || marks) as m (scope);
  end if;
end
$$;
comment on function internal.count_decline(market.connection, bytea, text) is
  'Counts a "Not mine" against the address that requested the link: once a day for each browser and each network '
  '(internal.site_of), only when the link is ten seconds old, and not from the network of the link''s own address.';

create or replace function internal.way_back(agent_id uuid) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('redirect_uri', g.redirect_uri, 'state', g.state)
  from market.oauth_grant g
  where g.agent_id = way_back.agent_id and g.code_used_at is null
    and (g.code_expires_at is null or g.code_expires_at > now())
$$;
comment on function internal.way_back(uuid) is
  'Returns where the browser is sent back to with the decision about an agent: {redirect_uri, state}. Null when the '
  'agent did not come by OAuth, or when its client has the code already or can no longer use it.';
