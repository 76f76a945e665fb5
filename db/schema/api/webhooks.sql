-- Webhooks: adding, listing, deleting, challenging and testing them. The rules of sending are in
-- internal/feed/webhook.sql.

create or replace function api.create_webhook(
  url text, types jsonb, encrypted_secret text, private_allowed boolean
) returns jsonb
  language plpgsql volatile
as $$
declare
  webhook_id uuid;
  admitted jsonb;
  most integer;
begin
  perform internal.require_permission('manage_webhooks', internal.rate_limit_headers(internal.own_usage('manage')));
  if internal.agent_id() is null then
    perform internal.lock_own_account();
  else
    -- The removal of an agent deletes its webhooks, so it must see this one.
    perform internal.lock_own_agent();
  end if;
  admitted := internal.admit('manage', null, null, case
    when create_webhook.url !~ '^https://' and not (private_allowed and create_webhook.url ~ '^http://') then
      jsonb_build_array(jsonb_build_object('pointer', '/url',
        'detail', 'webhook_url_unencrypted'))
    when not private_allowed and internal.names_private_host(create_webhook.url) then
      jsonb_build_array(jsonb_build_object('pointer', '/url', 'detail', 'webhook_url_private'))
    else '[]' end);
  if create_webhook.encrypted_secret is null then
    perform internal.raise_problem(409, 'invalid_state', 'webhooks_off');
  end if;
  most := internal.admit_webhook();
  if most is not null then
    -- Returned and not raised, because the call was admitted, so it counts.
    return admitted || jsonb_build_object('status', 409, 'body', jsonb_build_object('code', 'invalid_state',
      'detail', internal.sentence('too_many_webhooks', jsonb_build_object('most', most))));
  end if;
  webhook_id := internal.uuid_v7();
  insert into market.webhook (id, account_id, agent_id, url, types, encrypted_secret)
  values (webhook_id, internal.account_id(), internal.agent_id(), create_webhook.url,
    case when jsonb_typeof(create_webhook.types) = 'array'
      then array(select distinct t.type from jsonb_array_elements_text(create_webhook.types) as t (type)) end,
    create_webhook.encrypted_secret);
  perform internal.queue_probe(webhook_id, 'challenge');
  return admitted || jsonb_build_object('status', 201, 'body', internal.webhook_document(webhook_id) - 'deliveries'
    || jsonb_build_object('next', jsonb_build_array(
      jsonb_build_object('method', 'GET', 'path', '/v1/webhooks', 'summary', internal.sentence('next_challenge')),
      jsonb_build_object('method', 'POST', 'path', '/v1/webhooks/' || webhook_id || '/challenge',
        'summary', internal.sentence('next_challenge_again')))));
end
$$;
comment on function api.create_webhook(text, jsonb, text, boolean) is
  'Adds a webhook, sends its address a challenge, and returns the response without the secret. types: null for all. '
  'private_allowed: also http. Returns 409 when the account has as many as it may have, and raises 409 when the '
  'operator set no keys, and 429 after too many challenges.';

create or replace function api.list_webhooks() returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('webhooks', (
    select coalesce(jsonb_agg(internal.webhook_document(w.id) order by w.id), '[]')
    from market.webhook w where w.account_id = internal.visible_account_id()));
end
$$;
comment on function api.list_webhooks() is
  'Returns the webhooks of the account, each with its latest 20 deliveries of the last seven days.';

create or replace function api.delete_webhook(id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  -- Also while the account is suspended, when events are still sent.
  perform internal.require_connected('manage_webhooks');
  perform internal.delete_own_webhook(delete_webhook.id);
  return jsonb '{}';
end
$$;
comment on function api.delete_webhook(uuid) is
  'Deletes an own webhook; its waiting deliveries are not sent. Raises 403 when nobody approved the agent, and 404 for '
  'any other id.';

create or replace function api.challenge_webhook(id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  return internal.probe_webhook(challenge_webhook.id, 'challenge');
end
$$;
comment on function api.challenge_webhook(uuid) is
  'Sends an own unverified webhook another challenge, once. Raises 404 for any other id, 409 when it is verified or '
  'disabled, and 429 after too many.';

create or replace function api.test_webhook(id uuid) returns jsonb
  language plpgsql volatile
as $$
begin
  return internal.probe_webhook(test_webhook.id, 'test');
end
$$;
comment on function api.test_webhook(uuid) is
  'Sends the event webhook.test to an own webhook, once. Raises 404 for any other id, and 409 when it is unverified or '
  'disabled.';
