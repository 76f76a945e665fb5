-- The worker's side of webhooks: taking what is due, storing how an attempt ended, and upkeep. Every function locks the
-- webhook before the windows of its limits, and these before its deliveries.

create or replace function jobs.claim_deliveries(webhook_id uuid, prompt_free integer, other_free integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  hook market.webhook;
  free integer;
  most integer;
  claimed_deliveries jsonb;
begin
  select * into hook from market.webhook w where w.id = claim_deliveries.webhook_id for no key update;
  if hook.id is null or hook.disabled_at is not null then
    perform internal.end_deliveries(claim_deliveries.webhook_id);
  end if;
  if hook.id is null or not internal.sends(hook) or hook.resume_at > now() then
    return jsonb '{"is_prompt": true, "deliveries": []}';
  end if;
  -- A prompt receiver gets four at a time. Any other gets one, so that it cannot take all connections.
  free := case when hook.is_prompt then least(4, prompt_free) else least(1, other_free) end;
  if not exists (select from market.webhook_delivery d
    where d.webhook_id = hook.id and d.next_attempt_at <= now() and (d.leased_until is null or d.leased_until <= now()))
  then
    return jsonb_build_object('is_prompt', hook.is_prompt, 'deliveries', jsonb '[]');
  end if;
  most := greatest(0, free - (
    select count(*) from market.webhook_delivery l
    where l.webhook_id = hook.id and l.leased_until > now())::integer);
  if most > 0 then
    most := least(most, internal.deliveries_left(hook));
    if most = 0 then
      perform internal.pause_webhook(hook, (select max(internal.shared_wait(w.scope, 'deliver', w.cap, w.parties))
        from internal.webhook_windows(hook, 'deliver') as w));
    end if;
  end if;
  with due as (
    select d.id, d.next_attempt_at, d.events,
      d.purpose = 'events' and d.attempts = 0 and d.leased_until is null as is_new,
      -- Nobody but the receiver gets this value.
      case when d.purpose = 'challenge' then replace(gen_random_uuid()::text || gen_random_uuid(), '-', '') end
        as challenge
    from market.webhook_delivery d
    where d.webhook_id = hook.id and d.next_attempt_at <= now() and (d.leased_until is null or d.leased_until <= now())
      and (hook.verified_at is not null or d.purpose = 'challenge')
    order by d.next_attempt_at, d.id
    limit 100 * most
    for update),
  placed as (
    select u.*, row_number() over new_ones - 1 as place,
      sum(octet_length(u.events::text)) over new_ones as bytes
    from due u window new_ones as (partition by u.is_new order by u.next_attempt_at, u.id)),
  -- New ones that wait leave together: at most 100 events, and 64 KB and one event. What was sent before stays as it
  -- was, because its receiver may know its id.
  grouped as (
    select (array_agg(p.id order by p.next_attempt_at, p.id))[1] as id, array_agg(p.id) as ids,
      min(p.challenge) as challenge, min(p.next_attempt_at) as due_at
    from placed p
    group by case when p.is_new then concat_ws('.', p.place / 100, p.bytes / 65536) else p.id::text end
    order by due_at, id limit most),
  joined as (
    delete from market.webhook_delivery d using grouped g where d.id = any (g.ids) and d.id <> g.id),
  claimed as (
    update market.webhook_delivery d set leased_until = now() + interval '1 minute',
      challenge_hash = sha256(convert_to(g.challenge, 'UTF8')),
      events = (select jsonb_agg(e.event order by u.next_attempt_at, u.id, e.n)
        from due u cross join jsonb_array_elements(u.events) with ordinality as e (event, n) where u.id = any (g.ids))
    from grouped g where d.id = g.id returning d.*, g.challenge),
  counted as (
    insert into market.rate_limit_hit (scope, action, parties)
    select w.scope, 'deliver', w.parties from claimed c cross join internal.webhook_windows(hook, 'deliver') as w)
  select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'attempt', c.attempts + 1,
    'url', hook.url, 'encrypted_secret', hook.encrypted_secret, 'is_challenge', c.challenge is not null,
    'body', jsonb_build_object('events', case when c.challenge is null then c.events
      else jsonb_set(c.events, '{0,data,challenge}', to_jsonb(c.challenge)) end)::text) order by c.id), '[]')
  into claimed_deliveries from claimed c;
  if claimed_deliveries <> '[]' then
    perform internal.make_durable();
  end if;
  return jsonb_build_object('is_prompt', hook.is_prompt, 'is_full', free <= 0, 'deliveries', claimed_deliveries);
end
$$;
comment on function jobs.claim_deliveries(uuid, integer, integer) is
  'Takes a webhook''s due deliveries for a minute, at most as many as the worker has free connections for prompt '
  'receivers or for others, and as the limits of the hour leave. Returns {is_prompt, is_full, deliveries}; is_full '
  'when the worker has none free.';

create or replace function jobs.admit_address(delivery_id uuid, address text) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  hook market.webhook;
  counted record;
  wait integer;
begin
  select w.* into hook from market.webhook w
  where w.id = (select d.webhook_id from market.webhook_delivery d where d.id = admit_address.delivery_id)
  for no key update;
  select n.* into counted from market.webhook_delivery d
  cross join internal.network_window(hook, case d.purpose when 'challenge' then 'challenge' else 'deliver' end,
    admit_address.address) as n
  where d.id = admit_address.delivery_id;
  if hook.id is null or counted is null then
    return false;
  end if;
  perform internal.lock_window(counted.scope, counted.action);
  wait := internal.shared_wait(counted.scope, counted.action, counted.cap, counted.parties);
  if wait is null then
    insert into market.rate_limit_hit (scope, action, parties) values (counted.scope, counted.action, counted.parties);
    return true;
  end if;
  update market.webhook_delivery d set next_attempt_at = now() + wait * interval '1 second', leased_until = null
  where d.id = admit_address.delivery_id and d.next_attempt_at is not null;
  perform internal.pause_webhook(hook, wait);
  return false;
end
$$;
comment on function jobs.admit_address(uuid, text) is
  'Counts a delivery for the network of the address that it is connected to, and returns whether it may be sent. If '
  'not, it waits, and no attempt was made.';

create or replace function jobs.end_attempt(
  delivery_id uuid, attempt integer, status integer, error text, took_ms integer, retry_after integer, answer text
) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  hook market.webhook;
  delivery market.webhook_delivery;
  next_at timestamptz;
  resumes_at timestamptz;
  arrived constant boolean := end_attempt.status between 200 and 299 and end_attempt.error is null;
  accepted boolean;
  -- A receiver may ask for at most a day, like the longest delay of the schedule.
  pause constant interval := case when end_attempt.retry_after is not null
    then least(end_attempt.retry_after, 86400) * interval '1 second' end;
begin
  select w.* into hook from market.webhook w
  where w.id = (select d.webhook_id from market.webhook_delivery d where d.id = end_attempt.delivery_id)
  for no key update;
  -- Nothing is found if it was deleted, or if the lease ended and another worker has stored this attempt.
  select d.* into delivery from market.webhook_delivery d
  where d.id = end_attempt.delivery_id and d.attempts = end_attempt.attempt - 1 and d.next_attempt_at is not null
  for update;
  if hook.id is null or delivery.id is null then
    return;
  end if;
  accepted := arrived and (delivery.purpose <> 'challenge'
    or coalesce(sha256(convert_to(end_attempt.answer, 'UTF8')) = delivery.challenge_hash, false));
  -- A test or challenge shows how the receiver is now, so it is not repeated.
  if not accepted and delivery.purpose = 'events' then
    next_at := now() + greatest(internal.attempt_delay(end_attempt.attempt + 1), pause);
  end if;
  -- Attempts under way at the same time end in any order. The longest pause that a receiver asked for holds for all.
  resumes_at := case when not accepted and pause is not null then greatest(hook.resume_at, now() + pause)
    when hook.resume_at > now() then hook.resume_at end;
  update market.webhook_delivery d set attempts = end_attempt.attempt, next_attempt_at = next_at, leased_until = null,
    attempted_at = now(), delivered_at = case when accepted then now() end,
    -- A status has three digits, but a receiver may send 099.
    last_status = case when end_attempt.status between 100 and 999 then end_attempt.status end,
    last_error = case when not accepted
      then coalesce(left(end_attempt.error, 300), case when arrived
        then 'The receiver did not answer the challenge with its value.' end,
        format('The receiver answered %s.', end_attempt.status)) end
  where d.id = delivery.id;
  update market.webhook w set is_prompt = accepted and end_attempt.took_ms < 1000, resume_at = resumes_at,
    verified_at = case when accepted and delivery.purpose = 'challenge' then now() else w.verified_at end
  where w.id = hook.id and (delivery.purpose = 'challenge'
    or (w.is_prompt, w.resume_at) is distinct from (accepted and end_attempt.took_ms < 1000, resumes_at));
  if end_attempt.status = 410 then
    perform internal.disable_webhook(hook.id, 'gone');
  elsif not accepted and internal.attempt_delay(end_attempt.attempt + 1) is null then
    perform internal.disable_webhook(hook.id, 'failed');
  elsif next_at is not null then
    perform internal.enqueue_webhook(hook.id, next_at);
  end if;
  -- Deliveries queued in the meantime wait for the pause, too.
  if not accepted and pause is not null and hook.disabled_at is null and end_attempt.status <> 410 then
    perform internal.enqueue_webhook(hook.id, resumes_at);
  end if;
end
$$;
comment on function jobs.end_attempt(uuid, integer, integer, text, integer, integer, text) is
  'Stores how an attempt ended, and decides what follows: nothing more, another attempt, or disabling the webhook. '
  'status: null without a response. error: the reason, in words for the person. took_ms: how long it took. '
  'retry_after: seconds that the receiver asked for, or null. answer: the value with which it answered a challenge, or '
  'null. Repeated, it does nothing.';

create or replace function jobs.sweep_deliveries() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  swept integer;
begin
  -- Late by a minute: its worker has died, its job has failed, or its agent was disconnected and is back.
  perform internal.enqueue_webhook(w.id) from market.webhook w
  where (w.resume_at is null or w.resume_at <= now()) and internal.sends(w)
    and exists (select from market.webhook_delivery d
      where d.webhook_id = w.id and d.next_attempt_at < now() - interval '1 minute'
        and (d.leased_until is null or d.leased_until <= now()));
  get diagnostics swept = row_count;
  return swept;
end
$$;
comment on function jobs.sweep_deliveries() is
  'Enqueues jobs for webhooks whose deliveries are late; returns the number of webhooks.';
