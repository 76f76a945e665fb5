-- Sandboxes, in which developers test their agents against the real service. A test agent is approved at once, and sees
-- and is seen by the agents of its sandbox only. It needs no person, so its costs are limited here: the number of test
-- agents, and of their texts. Providers that charge for their work do none for it. When the market is full, a sandbox
-- of those who have most ends early, so that nobody keeps all others out.
--
-- A row belongs to the sandbox of its account (sandbox_id). A query of offers or asks that may be others' states which
-- it wants: the market's (sandbox_id is null), or those of the sandbox of the caller or of the row at hand. The
-- policies of market.offer and search.document say it for callers, search.is_listed for searches, and
-- search.is_eligible for matches.

create or replace function internal.set_sandbox() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  new.sandbox_id := (select a.sandbox_id from market.account a where a.id = new.account_id);
  return new;
end
$$;
comment on function internal.set_sandbox() is 'Gives a new offer or ask the sandbox of its account.';

create or replace function internal.end_idle_sandbox(address text, kept uuid) returns boolean
  language plpgsql volatile
as $$
declare
  callers_region constant text := internal.region_of(internal.network_of(end_idle_sandbox.address));
  callers_site constant text := internal.site_of(internal.network_of(end_idle_sandbox.address));
  most record;
begin
  -- The region that has most, and in it the site that has most. The caller gives way only to somebody who
  -- has fewer, so two sites do not end each other's in turn.
  select p.*, coalesce(sum(p.of_site) filter (where p.region = callers_region) over (), 0) as own_region,
    coalesce(sum(p.of_site) filter (where p.site = callers_site) over (), 0) as own_site
  into most
  from (
    select r.region, r.site, count(*) as of_site, array_agg(r.sandbox_id) as sandboxes,
      sum(count(*)) over (partition by r.region) as of_region
    from (
      select internal.region_of(c.address) as region, internal.site_of(c.address) as site, a.sandbox_id
      from market.sandbox s join market.agent a on a.sandbox_id = s.id
      join market.connection c on c.agent_id = a.id
      where s.expires_at > clock_timestamp()) as r
    group by r.region, r.site) as p
  order by p.of_region desc, p.of_site desc, p.region, p.site limit 1;
  if not (most.own_region < most.of_region
      or most.region = callers_region and most.own_site < most.of_site) then
    return false;
  end if;
  -- A sandbox in which somebody writes just now is locked, and not idle. What was counted shows when an agent was last
  -- at work: agent.used_at knows only the day.
  update market.sandbox s set expires_at = clock_timestamp()
  where s.id = (
    select o.id from market.sandbox o
    where o.id = any (most.sandboxes) and o.expires_at > clock_timestamp()
      and o.id is distinct from end_idle_sandbox.kept
    order by (
      select max(greatest(a.created_at, (select max(h.called_at) from market.rate_limit_hit h
        where h.scope = 'agent:' || a.id)))
      from market.agent a where a.sandbox_id = o.id), o.id
    limit 1 for no key update skip locked);
  return found;
end
$$;
comment on function internal.end_idle_sandbox(text, uuid) is
  'Ends a sandbox early, in favour of a test agent that connects from an address: of the region and site that have '
  'most test agents, the one that is idle for longest, but not `kept`. Returns false, and ends none, when the address '
  'has as many.';

create or replace function internal.join_sandbox(sandbox_id text, address text) returns market.sandbox
  language plpgsql volatile
as $$
declare
  -- Enough for both sides of a trade and some others.
  of_one_sandbox constant integer := 10;
  -- A site is one person or one company, which may test several agents at a time.
  of_one_site constant integer := 20;
  of_all constant integer := internal.setting('sandbox_agents')::integer;
  -- Those of ended sandboxes wait a minute or two for their deletion. More than this many would slow it down.
  ending constant integer := 100;
  site constant text := internal.site_of(internal.network_of(join_sandbox.address));
  sandbox market.sandbox;
  agents record;
  refused text;
begin
  -- One after another, so that parallel calls do not exceed the limits. Who waited here compares with the clock: what
  -- another call has ended meanwhile ended after this transaction began.
  perform internal.lock_window('sandbox', 'connect');
  if of_all = 0 then
    perform internal.raise_field_problems('[{"pointer": "/sandbox", "detail": "sandboxes_off"}]');
  elsif join_sandbox.sandbox_id is not null then
    -- The lock makes a deletion of the sandbox skip it (jobs.purge_sandboxes).
    select * into sandbox from market.sandbox s
    where s.id::text = internal.lower_case(join_sandbox.sandbox_id) and s.expires_at > clock_timestamp() for share;
    if not found then
      perform internal.raise_field_problems('[{"pointer": "/sandbox_id", "detail": "no_sandbox"}]');
    end if;
  end if;
  select count(*) as stored, count(*) filter (where s.expires_at > clock_timestamp()) as in_market,
    count(*) filter (where internal.site_of(c.address) = site and s.expires_at > clock_timestamp()) as of_site,
    count(*) filter (where a.sandbox_id = sandbox.id) as of_sandbox
  into agents
  from market.sandbox s join market.agent a on a.sandbox_id = s.id join market.connection c on c.agent_id = a.id;
  if agents.of_sandbox >= of_one_sandbox then
    perform internal.raise_field_problems(jsonb_build_array(jsonb_build_object('pointer', '/sandbox_id',
      'detail', 'agents_of_sandbox', 'params', jsonb_build_object('most', of_one_sandbox))));
  end if;
  refused := case when agents.of_site >= of_one_site then 'sandboxes_of_network'
    when agents.stored >= of_all + ending then 'sandboxes_of_market'
    when agents.in_market >= of_all and not internal.end_idle_sandbox(join_sandbox.address, sandbox.id)
      then 'sandboxes_of_market' end;
  if refused is not null then
    perform internal.raise_problem(429, 'rate_limited', refused,
      jsonb_build_object('most', case refused when 'sandboxes_of_network' then of_one_site else of_all end),
      jsonb_build_object('retry_after', (
        select greatest(ceil(extract(epoch from min(s.expires_at) - clock_timestamp())), 60)::integer
        from market.sandbox s)));
  end if;
  if sandbox.id is null then
    insert into market.sandbox default values returning * into sandbox;
  end if;
  return sandbox;
end
$$;
comment on function internal.join_sandbox(text, text) is
  'Returns the sandbox for a new test agent that connects from an address: the one with this id, or a new one (null). '
  'Raises 400 when there is no such sandbox, when it has ten agents, or when the market has no sandboxes, and 429 when '
  'the site of the address has twenty test agents, or the market as many as the setting sandbox_agents allows and none '
  'of them gives way (internal.end_idle_sandbox).';

create or replace function internal.count_sandbox_submission(headers jsonb) returns void
  language plpgsql volatile
as $$
declare
  -- A sandbox's cost: at most this many texts have to be read, compared and deleted.
  max_texts constant integer := 200;
begin
  if internal.sandbox_id() is null then
    return;
  end if;
  update market.sandbox s set submissions = s.submissions + 1
  where s.id = internal.sandbox_id() and s.submissions < max_texts;
  if not found then
    perform internal.raise_problem(409, 'invalid_state',
      'texts_of_sandbox', jsonb_build_object('most', max_texts), extra => jsonb_build_object('headers', headers));
  end if;
end
$$;
comment on function internal.count_sandbox_submission(jsonb) is
  'Counts a text that a test agent sends. Raises 409 invalid_state beyond the 200th of its sandbox. Does nothing for '
  'callers in the market.';

create or replace function internal.is_of_sandbox(id uuid) returns boolean
  language plpgsql stable
as $$
begin
  return exists (
    select from market.offer o where o.id = is_of_sandbox.id and o.sandbox_id is not null
    union all select from market.ask a where a.id = is_of_sandbox.id and a.sandbox_id is not null);
end
$$;
comment on function internal.is_of_sandbox(uuid) is 'Returns whether an offer or ask belongs to a sandbox.';
