-- What an agent may not agree to alone, and what its person says.

create or replace function api.get_confirmation(id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return internal.confirmation_document(internal.own_confirmation(get_confirmation.id));
end
$$;
comment on function api.get_confirmation(uuid) is 'Returns a confirmation of the account. Raises 404 for any other id.';

create or replace function api.list_confirmations() returns jsonb
  language plpgsql stable
as $$ begin return jsonb_build_object('confirmations', internal.waiting_confirmations()); end $$;
comment on function api.list_confirmations() is
  'Returns what waits for the person: Confirmations with offer, terms and pays, the oldest first, at most 50.';

create or replace function api.get_confirmation_page(id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return internal.confirmation_page(internal.own_confirmation(get_confirmation_page.id));
end
$$;
comment on function api.get_confirmation_page(uuid) is
  'Returns what the page of a confirmation shows (internal.confirmation_page). Raises 404 for any other id.';

create or replace function api.decide_confirmation(id uuid, decision text, digest text) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  confirmation market.confirmation := internal.own_confirmation(decide_confirmation.id);
  wanted constant text := case decision when 'confirm' then 'confirmed' else 'refused' end;
  conversation market.conversation;
begin
  if internal.session_id() is null then
    perform internal.raise_problem(401, 'unauthorized', 'person_needed');
  end if;
  perform internal.require_permission('agree');
  conversation := internal.lock_conversation((
    select a.conversation_id from market.agreement a where a.id = confirmation.agreement_id));
  confirmation := internal.own_confirmation(decide_confirmation.id);
  if internal.confirmation_status(confirmation) = wanted then
    return internal.confirmation_page(confirmation);
  elsif internal.confirmation_status(confirmation) <> 'pending' then
    perform internal.raise_problem(409, 'invalid_state', 'confirmation_not_pending',
      jsonb_build_object('status', internal.confirmation_status(confirmation)));
  elsif wanted = 'confirmed' and internal.is_stopped(conversation) then
    perform internal.raise_problem(409, 'invalid_state', 'conversation_closed');
  elsif wanted = 'confirmed' and internal.confirmation_page(confirmation) ->> 'digest' is distinct from digest then
    perform internal.raise_problem(409, 'invalid_state', 'confirmation_changed');
  end if;
  perform internal.decide(confirmation, wanted = 'confirmed');
  return internal.confirmation_page(internal.own_confirmation(decide_confirmation.id));
end
$$;
comment on function api.decide_confirmation(uuid, text, text) is
  'Confirms or refuses (decision: confirm, refuse) for the calling person. digest: that of the page that the person '
  'saw. Raises 401 for an agent, 404 for any other id, and 409 invalid_state when it is decided, has expired, or shows '
  'something else by now.';
