-- Sandboxes, in which developers test their agents against the real service. A test agent is approved at once, and sees
-- and is seen by the agents of its sandbox only. It needs no person, so its costs are limited here: the number of test
-- agents, and of their texts. Providers that charge for their work do none for it.
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

create or replace function internal.join_sandbox(sandbox_id text, address text) returns market.sandbox
  language plpgsql volatile
as $$
declare
  -- Enough for both sides of a trade and some others.
  of_one_sandbox constant integer := 10;
  -- A site is one person or one company, which may test several agents at a time.
  of_one_site constant integer := 20;
  of_all constant integer := internal.setting('sandbox_agents')::integer;
  site constant text := internal.site_of(internal.network_of(join_sandbox.address));
  sandbox market.sandbox;
  agents record;
begin
  -- One after another, so that parallel calls do not exceed the limits.
  perform internal.lock_window('sandbox', 'connect');
  if of_all = 0 then
    perform internal.raise_field_problems('[{"pointer": "/sandbox", "detail": "sandboxes_off"}]');
  elsif join_sandbox.sandbox_id is not null then
    -- The lock makes a deletion of the sandbox skip it (jobs.purge_sandboxes).
    select * into sandbox from market.sandbox s
    where s.id::text = internal.lower_case(join_sandbox.sandbox_id) and s.expires_at > now() for share;
    if not found then
      perform internal.raise_field_problems('[{"pointer": "/sandbox_id", "detail": "no_sandbox"}]');
    end if;
  end if;
  select count(*) as in_market, count(*) filter (where internal.site_of(c.address) = site) as of_site,
    count(*) filter (where a.sandbox_id = sandbox.id) as of_sandbox
  into agents
  from market.agent a join market.connection c on c.agent_id = a.id
  where a.sandbox_id is not null;
  if agents.of_sandbox >= of_one_sandbox then
    perform internal.raise_field_problems(jsonb_build_array(jsonb_build_object('pointer', '/sandbox_id',
      'detail', 'agents_of_sandbox', 'params', jsonb_build_object('most', of_one_sandbox))));
  elsif agents.of_site >= of_one_site or agents.in_market >= of_all then
    perform internal.raise_problem(429, 'rate_limited', case when agents.of_site >= of_one_site
        then 'sandboxes_of_network' else 'sandboxes_of_market' end,
      jsonb_build_object('most', case when agents.of_site >= of_one_site then of_one_site else of_all end),
      jsonb_build_object('retry_after', (
        select greatest(ceil(extract(epoch from min(s.expires_at) - now())), 1)::integer from market.sandbox s)));
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
  'the site of the address has twenty test agents, or the market as many as the setting sandbox_agents allows.';

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
