-- Proposals of a conversation, and what becomes of them.

create or replace function api.propose(id uuid, body jsonb, idempotency_key text, request_hash bytea, errors jsonb)
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
  admission jsonb;
  wrapped constant jsonb := jsonb_build_object('proposal', body - 'contact') || jsonb_strip_nulls(
    jsonb_build_object('contact', body -> 'contact'));
begin
  perform internal.require_permission('converse', internal.rate_limit_headers(internal.own_usage('converse')));
  conversation := internal.lock_conversation(propose.id);
  admission := internal.admit('converse', propose.idempotency_key, propose.request_hash, case when errors = '[]'
    then internal.unwrapped_errors(internal.word_errors(wrapped, false)
      || internal.proposal_errors(wrapped -> 'proposal')) else errors end);
  if admission ? 'status' then
    return admission;
  end if;
  conversation := internal.require_open(conversation, admission -> 'headers');
  perform internal.write_in(conversation, wrapped, admission -> 'headers');
  return internal.keep_answer(propose.idempotency_key, admission, 201, (
    select internal.proposal_document(p, internal.own_role(conversation))
    from market.proposal p where p.conversation_id = conversation.id and p.status = 'pending'));
end
$$;
comment on function api.propose(uuid, jsonb, text, bytea, jsonb) is
  'Proposes all terms of a deal in a conversation of the account, in place of the pending proposal. Returns {status, '
  'body, headers}. Raises 404 for any other id, and 409 invalid_state when the conversation is closed, the offer is '
  'not published, or an agreement awaits somebody.';

create or replace function api.accept_proposal(id uuid, proposal_id uuid, body jsonb, errors jsonb) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
  proposal market.proposal;
begin
  perform internal.require_permission('agree');
  conversation := internal.lock_conversation(accept_proposal.id);
  proposal := internal.proposal_of(conversation, accept_proposal.proposal_id);
  if errors <> '[]' then
    perform internal.raise_field_problems(errors);
  end if;
  if internal.require_pending(proposal, 'accepted', false) then
    perform internal.admit('manage', null, null, internal.word_errors(coalesce(body, '{}'), false));
    conversation := internal.require_open(conversation);
    conversation := internal.need_contact(conversation, body ->> 'contact', '{}');
    perform internal.accept(conversation, proposal);
  end if;
  return internal.conversation_document(internal.own_conversation(conversation.id));
end
$$;
comment on function api.accept_proposal(uuid, uuid, jsonb, jsonb) is
  'Accepts the pending proposal of the other side. Returns the Conversation, whose agreement is made, or awaits a '
  'person. Accepted already: returns it as it is. Raises 404 for any other id, and 409 invalid_state for a proposal '
  'with another status.';

create or replace function api.decline_proposal(id uuid, proposal_id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$ begin return internal.answer_proposal(id, proposal_id, 'declined'); end $$;
comment on function api.decline_proposal(uuid, uuid) is 'Declines the pending proposal of the other side.';

create or replace function api.withdraw_proposal(id uuid, proposal_id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$ begin return internal.answer_proposal(id, proposal_id, 'withdrawn'); end $$;
comment on function api.withdraw_proposal(uuid, uuid) is 'Withdraws an own pending proposal.';

create or replace function api.list_proposals(id uuid) returns jsonb
  language plpgsql stable
as $$
declare
  offer market.offer;
begin
  select * into offer from market.offer o
  where o.id = list_proposals.id and o.account_id = internal.visible_account_id();
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_own_offer');
  end if;
  return internal.pending_proposals(offer);
end
$$;
comment on function api.list_proposals(uuid) is
  'Returns the pending proposals for an own offer (internal.pending_proposals). Raises 404 for any other id.';
