-- Webhooks: which events are sent where, and when. The worker only makes the attempts
-- (worker/tasks/deliver_webhook.ts).
--
--   challenge the first delivery, with a value that the receiver has to answer. Anybody can name an address, so nothing
--             else is sent to it before. Events of that time are in the feed only
--   delivery  one event for one webhook, or several that wait. It is written with the event (the trigger
--             queue_deliveries), so none is lost
--   job       deliver_webhook, for one webhook; it takes what is due, and ends before the attempts do
--   lease     a worker that takes a delivery has a minute to say how the attempt ended; then others may take it

create or replace function internal.attempt_delay(attempt integer) returns interval
  language sql immutable parallel safe
as $$
  -- Together more than three days: a receiver that broke on a Friday evening may be mended on Monday.
  select (array['0 seconds', '5 seconds', '5 minutes', '30 minutes', '2 hours', '5 hours', '10 hours', '14 hours',
    '20 hours', '24 hours'])[attempt_delay.attempt]::interval
$$;
comment on function internal.attempt_delay(integer) is
  'Returns the delay before an attempt, counted from 1; null when there is no such attempt.';

create or replace function internal.sends(webhook market.webhook) returns boolean
  language sql stable
as $$
  select webhook.disabled_at is null and (webhook.agent_id is null or exists (
    select from market.agent a
    where a.id = webhook.agent_id and a.account_id = webhook.account_id and a.removed_at is null
      and a.connected_at is not null and a.disconnected_at is null))
$$;
comment on function internal.sends(market.webhook) is
  'Returns whether events are sent: the webhook is not disabled, and the agent that added it acts for the account.';

create or replace function internal.enqueue_webhook(id uuid, run_at timestamptz default null) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without a job key: two transactions that add jobs with the same keys in different orders would wait for each other.
  perform graphile_worker.add_job('deliver_webhook', json_strip_nulls(json_build_object('id', enqueue_webhook.id,
      'traceparent', nullif(current_setting('market.traceparent', true), ''))),
    run_at => enqueue_webhook.run_at, max_attempts => 3,
    -- Texts and vectors first, so that the many jobs of one account's webhooks hold up nobody's publishing.
    priority => 10);
end
$$;
comment on function internal.enqueue_webhook(uuid, timestamptz) is
  'Enqueues a job that sends what is due to a webhook. A job that finds nothing does nothing; jobs.sweep_deliveries '
  'makes up for one that fails permanently.';

create or replace function internal.event_document(id uuid, type text, occurred_at timestamptz, data jsonb)
  returns jsonb
  language sql stable
as $$
  select jsonb_build_object('id', event_document.id, 'type', event_document.type,
    'occurred_at', internal.utc(event_document.occurred_at), 'data', event_document.data)
$$;
comment on function internal.event_document(uuid, text, timestamptz, jsonb) is
  'Returns an event as webhooks, the feed and the export have it.';
grant execute on function internal.event_document(uuid, text, timestamptz, jsonb) to souk_agent, souk_person;

create or replace function internal.queue_deliveries() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  woken uuid[];
begin
  with queued as (
    insert into market.webhook_delivery (webhook_id, events)
    select w.id, jsonb_build_array(internal.event_document(e.id, e.type, e.occurred_at, e.data))
    from added e join market.webhook w on w.account_id = e.account_id
    where internal.sends(w) and w.verified_at is not null and (w.types is null or e.type = any (w.types))
    order by w.id, e.id
    returning webhook_id)
  select array_agg(distinct q.webhook_id) into woken from queued q;
  perform internal.enqueue_webhook(w.id) from unnest(woken) as w (id);
  return null;
end
$$;
comment on function internal.queue_deliveries() is
  'Queues new events for the webhooks of their accounts whose receivers answered a challenge.';

create or replace function internal.webhook_document(webhook_id uuid) returns jsonb
  language sql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
  select jsonb_strip_nulls(jsonb_build_object('id', w.id,
    -- The address may contain a secret of its receiver, which is nothing for the person's other agents.
    'url', case when internal.agent_id() is null or w.agent_id = internal.agent_id() then w.url
      else substring(w.url from '^https?://[^/?#]+') end,
    'types', to_jsonb(w.types),
    'status', case when w.disabled_at is not null then 'disabled' when w.verified_at is null then 'unverified'
      else 'active' end,
    'created_at', internal.utc(w.created_at), 'verified_at', internal.utc(w.verified_at),
    'resume_at', case when w.resume_at > now() then internal.utc(w.resume_at) end, 'disabled_at',
    internal.utc(w.disabled_at),
    'disabled_reason', w.disabled_reason))
    || jsonb_build_object('deliveries', (
      select coalesce(jsonb_agg(d.document order by d.id desc), '[]')
      from (
        select d.id, jsonb_strip_nulls(jsonb_build_object('id', d.id, 'types', (
            select jsonb_agg(distinct e.event -> 'type') from jsonb_array_elements(d.events) as e (event)),
          'events', jsonb_array_length(d.events), 'status',
          case when d.delivered_at is not null then 'delivered' when d.next_attempt_at is null then 'failed'
            else 'waiting' end,
          'created_at', internal.utc(d.created_at), 'attempts', d.attempts,
          'next_attempt_at', internal.utc(d.next_attempt_at), 'response_status', d.last_status,
          'error', d.last_error)) as document
        from market.webhook_delivery d where d.webhook_id = w.id
        -- One screen. inspect.webhooks counts the older ones.
        order by d.id desc limit 20) as d))
  from market.webhook w where w.id = webhook_document.webhook_id
$$;
comment on function internal.webhook_document(uuid) is
  'Returns a webhook with its latest 20 deliveries; null when the caller has no such webhook. An agent reads of a '
  'webhook that it did not add only the scheme and the host.';
grant execute on function internal.webhook_document(uuid) to souk_agent, souk_person;

create or replace function internal.names_private_host(url text) returns boolean
  language plpgsql immutable
as $$
declare
  host constant text := substring(url from '^https?://(\[[^]]+\]|[^/:?#]+)');
  address constant inet := case when host ~ '^\[' then btrim(host, '[]')::inet
    when host ~ '^[0-9]+(\.[0-9]+){3}$' then host::inet end;
begin
  -- Whoever names such a host errs. What a name leads to is judged again at each connection (src/base/safe_fetch.ts).
  return host ~ '(^|\.)(localhost|local|internal)\.?$'
    or (family(address) = 4 and address <<= any (array['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8',
      '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16', '224.0.0.0/3']::inet[]))
    or (family(address) = 6 and not address <<= inet '2000::/3');
end
$$;
comment on function internal.names_private_host(text) is
  'Returns whether the host of an address, written as the URL standard writes it, is no public one by its name or its '
  'IP address.';
grant execute on function internal.names_private_host(text) to souk_agent, souk_person;

create or replace function internal.may_manage(webhook market.webhook) returns boolean
  language sql stable
as $$
  -- To its person, an agent is one of several programs that do not know each other: none ends what another relies on.
  select webhook.account_id = internal.visible_account_id()
    and (internal.agent_id() is null or webhook.agent_id = internal.agent_id())
$$;
comment on function internal.may_manage(market.webhook) is
  'Returns whether the caller may test, challenge and delete a webhook: an agent those that it added, and the person '
  'all of the account.';

create or replace function internal.queue_probe(webhook_id uuid, purpose text) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  hook market.webhook;
begin
  select * into hook from market.webhook w
  where w.id = queue_probe.webhook_id and internal.may_manage(w) for no key update;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_webhook');
  elsif hook.disabled_at is not null then
    perform internal.raise_problem(409, 'invalid_state', 'webhook_disabled');
  elsif (hook.verified_at is null) <> (queue_probe.purpose = 'challenge') then
    perform internal.raise_problem(409, 'invalid_state',
      case when hook.verified_at is null then 'webhook_unverified' else 'webhook_verified' end,
      jsonb_build_object('id', hook.id));
  end if;
  -- While one waits, another one would show nothing more.
  if exists (select from market.webhook_delivery d
    where d.webhook_id = hook.id and d.purpose = queue_probe.purpose and d.purpose <> 'events'
      and d.next_attempt_at is not null)
  then
    return;
  end if;
  perform internal.count_probe(hook, case queue_probe.purpose when 'test' then 'test_webhook' else 'challenge' end);
  insert into market.webhook_delivery (webhook_id, purpose, events)
  values (hook.id, queue_probe.purpose, jsonb_build_array(internal.event_document(internal.uuid_v7(),
    'webhook.' || queue_probe.purpose, now(), jsonb_build_object('webhook_id', hook.id))));
  perform internal.enqueue_webhook(hook.id);
end
$$;
comment on function internal.queue_probe(uuid, text) is
  'Queues a test or a challenge for an own webhook; while one waits, it does nothing. Raises 404 for any other '
  'webhook, 409 when it is disabled, when a test is for an unverified one or a challenge for a verified one, and 429 '
  'after too many.';
grant execute on function internal.queue_probe(uuid, text) to souk_agent, souk_person;

create or replace function internal.probe_webhook(webhook_id uuid, purpose text) returns jsonb
  language plpgsql volatile
as $$
declare
  admitted jsonb;
begin
  perform internal.require_permission('manage_webhooks', internal.rate_limit_headers(internal.own_usage('manage')));
  -- A call that queue_probe refuses is rolled back, so it does not count.
  admitted := internal.admit('manage', null, null, '[]');
  perform internal.queue_probe(probe_webhook.webhook_id, probe_webhook.purpose);
  return admitted || jsonb_build_object('status', 202, 'body', internal.webhook_document(probe_webhook.webhook_id));
end
$$;
comment on function internal.probe_webhook(uuid, text) is
  'Does what api.test_webhook and api.challenge_webhook do (internal.queue_probe), and returns their response.';
grant execute on function internal.probe_webhook(uuid, text) to souk_agent, souk_person;

create or replace function internal.delete_own_webhook(webhook_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from market.webhook w
  where w.id = delete_own_webhook.webhook_id and internal.may_manage(w);
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_webhook');
  end if;
end
$$;
comment on function internal.delete_own_webhook(uuid) is
  'Deletes a webhook that the caller may manage. Raises 404 for any other id.';
grant execute on function internal.delete_own_webhook(uuid) to souk_agent, souk_person;

create or replace function internal.disable_webhook(id uuid, reason text) returns void
  language plpgsql volatile
as $$
begin
  update market.webhook w set disabled_at = now(), disabled_reason = disable_webhook.reason
  where w.id = disable_webhook.id and w.disabled_at is null;
  perform internal.end_deliveries(disable_webhook.id);
end
$$;
comment on function internal.disable_webhook(uuid, text) is
  'Disables a webhook, and gives up its waiting deliveries. A trigger writes the event.';
