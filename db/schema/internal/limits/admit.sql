-- Admits or refuses a call of a type that has a rate limit. The checks run in this order:
--   1. The idempotency key. A call with a known key ends here: it gets the stored response, or 409.
--   2. The rate limit (429).
--   3. The errors in the fields (400).
--   4. The number of texts, in a sandbox (409).
-- The call is counted last. So replays, conflicts and refused calls are not counted. Which calls of
-- a person (with a session) have a rate limit is in rate_limit_window.sql.

create or replace function internal.require_slot(scope text, action text, cap integer) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  usage constant jsonb := internal.window_usage(require_slot.scope, require_slot.action, require_slot.cap);
  wait integer;
begin
  if (usage ->> 'remaining')::integer = 0 then
    -- usage was computed a moment earlier, so window_wait may return less than resets_in. Retry-After must never be
    -- less than RateLimit-Reset.
    wait := greatest(internal.window_wait(scope, action, cap), (usage ->> 'resets_in')::integer, 1);
    perform internal.raise_problem(429, 'rate_limited',
      case when cap = 0 then 'limit_is_zero' when internal.agent_id() is null then 'limit_of_account'
        else 'limit_of_agent' end,
      jsonb_build_object('limit', action, 'cap', cap, 'wait', wait),
      jsonb_build_object('retry_after', wait, 'limit', action, 'headers', internal.rate_limit_headers(usage)));
  end if;
  return usage;
end
$$;
comment on function internal.require_slot(text, text, integer) is
  'Returns the usage of a window; raises 429 with its headers when it is full. Whoever then counts a call holds the '
  'lock of the window (internal.lock_window).';

create or replace function internal.admit(
  action text, idempotency_key text, request_hash bytea, errors jsonb
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  agent uuid := internal.agent_id();
  -- An agent's keys belong to the agent. Keys sent in the browser belong to the account.
  owner uuid := coalesce(agent, internal.account_id());
  own record;
  usage jsonb;
  first record;
begin
  if owner is null then
    perform internal.raise_problem(401, 'unauthorized', 'caller_missing');
  end if;

  if admit.idempotency_key is not null then
    perform internal.lock_own_account();
    delete from market.idempotency_key k
    where k.owner_id = owner and k.key = admit.idempotency_key and k.created_at <= now() - interval '24 hours';
    insert into market.idempotency_key (owner_id, key, request_hash)
    values (owner, admit.idempotency_key, admit.request_hash)
    on conflict do nothing;
    if not found then
      usage := internal.own_usage(admit.action);
      select k.request_hash, coalesce(k.status, s.status) as status, coalesce(k.body, s.body) as body into first
      from market.idempotency_key k left join market.submission s on s.id = k.submission_id
      where k.owner_id = owner and k.key = admit.idempotency_key;
      if first.request_hash is distinct from admit.request_hash then
        perform internal.raise_problem(409, 'idempotency_key_reused', 'idempotency_key_reused',
          extra => jsonb_build_object('headers', internal.rate_limit_headers(usage)));
      elsif first.status is null then
        perform internal.raise_problem(409, 'idempotency_in_flight', 'idempotency_in_flight',
          extra => jsonb_build_object('retry_after', 1, 'headers', internal.rate_limit_headers(usage)));
      end if;
      perform internal.make_durable();
      return jsonb_build_object('status', first.status, 'body', internal.with_web_url(first.body),
        'headers', internal.rate_limit_headers(usage) || '{"Idempotency-Replayed": "true"}');
    end if;
  end if;

  own := internal.own_window(admit.action);
  if own.cap is not null then
    perform internal.lock_window(own.scope, admit.action);
    usage := internal.require_slot(own.scope, admit.action, own.cap);
  end if;
  if jsonb_array_length(admit.errors) > 0 then
    perform internal.raise_field_problems(admit.errors, internal.rate_limit_headers(usage));
  end if;
  if admit.action in ('publish_offer', 'create_ask', 'preview_offer') then
    perform internal.count_sandbox_submission(internal.rate_limit_headers(usage));
  end if;
  if own.cap is not null then
    insert into market.rate_limit_hit (scope, action) values (own.scope, admit.action);
    usage := internal.window_usage(own.scope, admit.action, own.cap);
  end if;
  return jsonb_build_object('headers', internal.rate_limit_headers(usage));
end
$$;
comment on function internal.admit(text, text, bytea, jsonb) is
  'Admits a call and counts it, if its caller has a limit. Returns {headers}, or {status, body, headers} to replay the '
  'response to an earlier request with this key. Raises, in this order: 401, 409 for the key, 429 for the rate limit, '
  '400 for `errors`, 409 for a sandbox''s texts.';
grant execute on function internal.admit(text, text, bytea, jsonb) to souk_agent, souk_person;

create or replace function internal.bind_idempotency_key(idempotency_key text, submission_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.idempotency_key k set submission_id = bind_idempotency_key.submission_id
  where k.owner_id = coalesce(internal.agent_id(), internal.account_id())
    and k.key = bind_idempotency_key.idempotency_key and k.submission_id is null
    and exists (select from market.submission s
      where s.id = bind_idempotency_key.submission_id and internal.is_own_submission(s));
end
$$;
comment on function internal.bind_idempotency_key(text, uuid) is
  'Binds the caller''s idempotency key to the submission whose response a repeated request gets.';
grant execute on function internal.bind_idempotency_key(text, uuid) to souk_agent, souk_person;
