-- The worker's side of webhooks: taking what is due, storing how an attempt ended, and upkeep. Every function locks the
-- webhook before its deliveries.

create or replace function jobs.claim_deliveries(webhook_id uuid, prompt_free integer, other_free integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  hook market.webhook;
  free integer;
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
  with due as (
    select d.id from market.webhook_delivery d
    where d.webhook_id = hook.id and d.next_attempt_at <= now() and (d.leased_until is null or d.leased_until <= now())
    order by d.next_attempt_at
    limit greatest(0, free - (
      select count(*) from market.webhook_delivery l
      where l.webhook_id = hook.id and l.leased_until > now()))
    for update),
  claimed as (
    update market.webhook_delivery d set leased_until = now() + interval '1 minute'
    from due where d.id = due.id returning d.*)
  select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'attempt', c.attempts + 1, 'event_id', c.event_id,
    'url', hook.url, 'encrypted_secret', hook.encrypted_secret,
    'body', jsonb_build_object('id', c.event_id, 'type', c.type, 'occurred_at', internal.utc(c.occurred_at),
      'data', c.data)::text) order by c.id), '[]')
  into claimed_deliveries from claimed c;
  if claimed_deliveries <> '[]' then
    perform internal.make_durable();
  end if;
  return jsonb_build_object('is_prompt', hook.is_prompt, 'is_full', free <= 0, 'deliveries', claimed_deliveries);
end
$$;
comment on function jobs.claim_deliveries(uuid, integer, integer) is
  'Takes a webhook''s due deliveries for a minute, at most as many as the worker has free connections for prompt '
  'receivers or for others. Returns {is_prompt, is_full, deliveries}; is_full when the worker has none free.';

create or replace function jobs.end_attempt(
  delivery_id uuid, attempt integer, status integer, error text, took_ms integer, retry_after integer
) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  hook market.webhook;
  delivery market.webhook_delivery;
  next_at timestamptz;
  resumes_at timestamptz;
  accepted constant boolean := end_attempt.status between 200 and 299 and end_attempt.error is null;
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
  -- A test shows how the receiver is now, so it is not repeated.
  if not accepted and delivery.type <> 'webhook.test' then
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
      then coalesce(left(end_attempt.error, 300), format('The receiver answered %s.', end_attempt.status)) end
  where d.id = delivery.id;
  update market.webhook w set is_prompt = accepted and end_attempt.took_ms < 1000, resume_at = resumes_at
  where w.id = hook.id
    and (w.is_prompt, w.resume_at) is distinct from (accepted and end_attempt.took_ms < 1000, resumes_at);
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
comment on function jobs.end_attempt(uuid, integer, integer, text, integer, integer) is
  'Stores how an attempt ended, and decides what follows: nothing more, another attempt, or disabling the webhook. '
  'status: null without a response. error: the reason, in words for the person. took_ms: how long it took. '
  'retry_after: seconds that the receiver asked for, or null. Repeated, it does nothing.';

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
