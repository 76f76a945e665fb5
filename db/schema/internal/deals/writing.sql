-- What opening a conversation, a message and a proposal have in common.

create or replace function internal.publisher_of(offer_id uuid) returns uuid
  language plpgsql stable
as $$
declare
  offer market.offer;
begin
  select * into offer from market.offer o where o.id = publisher_of.offer_id;
  if not found or offer.account_id is null
    or offer.account_id <> internal.account_id() and (offer.status <> 'published'
      or offer.sandbox_id is distinct from internal.sandbox_id()
      or exists (select from market.account a where a.id = offer.account_id and a.hiding))
    and not exists (select from market.conversation c
      where c.offer_id = offer.id and c.inquirer_id = internal.account_id()) then
    perform internal.raise_problem(404, 'not_found', 'offer_not_visible');
  elsif offer.account_id = internal.account_id() then
    perform internal.raise_problem(409, 'invalid_state', 'conversation_about_own');
  end if;
  return offer.account_id;
end
$$;
comment on function internal.publisher_of(uuid) is
  'Returns the account of an offer that the caller can converse about. Raises 404 when the caller does not see it, and '
  '409 for an own one.';

create or replace function internal.ask_errors(body jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  if body ->> 'origin_ask_id' is not null and not exists (
    select from market.ask a
    where a.id::text = internal.lower_case(body ->> 'origin_ask_id') and a.account_id = internal.account_id()) then
    perform internal.raise_problem(404, 'not_found', 'no_ask');
  end if;
  return jsonb '[]';
end
$$;
comment on function internal.ask_errors(jsonb) is 'Raises 404 when origin_ask_id is no ask of the caller''s account.';

create or replace function internal.require_room(used integer, most integer, oldest timestamptz, headers jsonb)
  returns void
  language plpgsql stable
as $$
declare
  wait constant integer := greatest(ceil(extract(epoch from oldest + interval '1 day' - now())), 1)::integer;
begin
  if used >= most then
    perform internal.raise_problem(429, 'rate_limited', 'conversations_of_day',
      jsonb_build_object('cap', most), jsonb_build_object('retry_after', wait, 'limit', 'open_conversation',
        'headers', headers));
  end if;
end
$$;
comment on function internal.require_room(integer, integer, timestamptz, jsonb) is
  'Raises 429 when the conversations of the last 24 hours, the first of them opened at `oldest`, reach the limit.';

create or replace function internal.create_conversation(
  offer_id uuid, publisher uuid, origin_ask_id uuid, headers jsonb
) returns market.conversation
  language plpgsql volatile
as $$
declare
  day constant uuid := internal.first_uuid_v7(now() - interval '1 day');
  of_account record;
  of_offer record;
  conversation market.conversation;
begin
  perform internal.require_method('converse', headers);
  if (select o.status <> 'published' from market.offer o where o.id = create_conversation.offer_id for share) then
    perform internal.raise_problem(409, 'invalid_state', 'offer_not_for_deals', jsonb_build_object('status',
      (select o.status from market.offer o where o.id = create_conversation.offer_id)));
  end if;
  select count(*)::integer as number, min(c.created_at) as oldest into of_account
  from market.conversation c where c.inquirer_id = internal.account_id() and c.id >= day;
  perform internal.require_room(of_account.number, internal.setting(case
    when exists (select from market.proved_method m where m.account_id = internal.account_id())
      then 'open_conversation_cap' else 'open_conversation_cap_unproved' end)::integer, of_account.oldest, headers);
  select count(*)::integer as number, min(c.created_at) as oldest into of_offer
  from market.conversation c where c.offer_id = create_conversation.offer_id and c.id >= day;
  perform internal.require_room(of_offer.number, internal.setting('offer_conversations')::integer, of_offer.oldest,
    headers);
  conversation.publisher_id := publisher;
  conversation.inquirer_id := internal.account_id();
  if internal.is_stopped(conversation) then
    perform internal.raise_problem(409, 'invalid_state', 'conversation_closed',
      extra => jsonb_build_object('headers', headers));
  end if;
  perform internal.moved_by('inquirer');
  insert into market.conversation (offer_id, publisher_id, inquirer_id, origin_ask_id, sandbox_id)
  values (create_conversation.offer_id, publisher, internal.account_id(), create_conversation.origin_ask_id,
    internal.sandbox_id())
  returning * into conversation;
  perform internal.note_activity();
  perform internal.note_deal(conversation, 'conversation.opened', '{publisher}');
  return conversation;
end
$$;
comment on function internal.create_conversation(uuid, uuid, uuid, jsonb) is
  'Creates the caller''s conversation about an offer. Raises 403 for a person without a proved method, 409 when the '
  'offer is not published or the publisher has blocked the caller, and 429 beyond the limits of a day. Call '
  'internal.lock_accounts first.';

create or replace function internal.keep_contact(conversation market.conversation, contact text) returns void
  language plpgsql volatile
as $$
begin
  if internal.own_role(conversation) = 'inquirer' and contact is not null then
    update market.conversation c set inquirer_contact = internal.visible_sentence(keep_contact.contact)
    where c.id = conversation.id;
  end if;
end
$$;
comment on function internal.keep_contact(market.conversation, text) is
  'Keeps how to reach the inquirer. The contact of a publisher is that of the offer.';

create or replace function internal.write_in(conversation market.conversation, body jsonb, headers jsonb) returns void
  language plpgsql volatile
as $$
begin
  perform internal.keep_contact(conversation, body ->> 'contact');
  if body ? 'text' then
    perform internal.add_message(conversation, body ->> 'text', body ? 'addresses_agents');
  end if;
  if body ? 'proposal' then
    perform internal.require_permission('agree', headers);
    conversation := internal.need_contact(internal.own_conversation(conversation.id), body ->> 'contact', headers);
    perform internal.add_proposal(conversation, body -> 'proposal');
  end if;
end
$$;
comment on function internal.write_in(market.conversation, jsonb, jsonb) is
  'Adds what a body has to an open conversation: {contact, text, proposal}.';

create or replace function internal.unwrapped_errors(errors jsonb) returns jsonb
  language sql immutable
as $$
  select coalesce(jsonb_agg(e || jsonb_build_object('pointer', replace(e ->> 'pointer', '/proposal', ''))), '[]')
  from jsonb_array_elements(unwrapped_errors.errors) as e
$$;
comment on function internal.unwrapped_errors(jsonb) is 'Returns errors of a body whose proposal is the body itself.';

create or replace function internal.keep_answer(idempotency_key text, admission jsonb, status integer, body jsonb)
  returns jsonb
  language plpgsql volatile
as $$
begin
  update market.idempotency_key k set status = keep_answer.status, body = keep_answer.body
  where k.owner_id = coalesce(internal.agent_id(), internal.account_id()) and k.key = keep_answer.idempotency_key;
  return admission || jsonb_build_object('status', keep_answer.status, 'body', keep_answer.body);
end
$$;
comment on function internal.keep_answer(text, jsonb, integer, jsonb) is
  'Returns an answer as {status, body, headers}, and keeps it for a repeated request with the key.';

create or replace function internal.mark_read(conversation market.conversation, up_to uuid) returns void
  language plpgsql volatile
as $$
declare
  role constant text := internal.own_role(conversation);
  others constant integer := (
    select count(*)::integer from (
      select m.id from market.message m
      where m.conversation_id = conversation.id and m.id > mark_read.up_to and m.sender <> role
      union all
      select p.id from market.proposal p
      where p.conversation_id = conversation.id and p.id > mark_read.up_to and p.sender <> role) as o);
begin
  update market.conversation c set
    publisher_unread = case role when 'publisher' then least(c.publisher_unread, others) else c.publisher_unread end,
    inquirer_unread = case role when 'inquirer' then least(c.inquirer_unread, others) else c.inquirer_unread end
  where c.id = conversation.id;
end
$$;
comment on function internal.mark_read(market.conversation, uuid) is
  'Counts as unread only what the other side sent after this message or proposal.';

create or replace function internal.answer_proposal(id uuid, proposal_id uuid, status text) returns jsonb
  language plpgsql volatile
as $$
declare
  conversation market.conversation;
  proposal market.proposal;
begin
  perform internal.require_permission('converse');
  conversation := internal.lock_conversation(answer_proposal.id);
  proposal := internal.proposal_of(conversation, answer_proposal.proposal_id);
  if internal.require_pending(proposal, answer_proposal.status, answer_proposal.status = 'withdrawn') then
    perform internal.admit('manage', null, null, '[]');
    perform internal.end_proposal(conversation, proposal.id, answer_proposal.status);
  end if;
  return internal.conversation_document(internal.own_conversation(conversation.id));
end
$$;
comment on function internal.answer_proposal(uuid, uuid, text) is
  'Declines the proposal of the other side, or withdraws an own one, and returns the Conversation. Repeated, it '
  'changes nothing.';

create or replace function internal.block(conversation market.conversation) returns void
  language plpgsql volatile
as $$
declare
  other constant uuid := internal.other_account(conversation);
  open market.conversation;
begin
  if other is null then
    perform internal.raise_problem(409, 'invalid_state', 'counterpart_gone');
  end if;
  for open in
    select * from market.conversation c
    where c.status = 'open' and ((c.publisher_id, c.inquirer_id) = (internal.account_id(), other)
      or (c.publisher_id, c.inquirer_id) = (other, internal.account_id())) order by c.id for no key update
  loop
    perform internal.close_conversation(open, internal.own_role(open));
  end loop;
  insert into market.block (account_id, blocked_id, conversation_id)
  values (internal.account_id(), other, conversation.id) on conflict do nothing;
end
$$;
comment on function internal.block(market.conversation) is
  'Blocks the other account of a conversation, and closes all conversations with it. Raises 409 when it is deleted.';

create or replace function internal.unblock(conversation_id uuid) returns void
  language plpgsql volatile
as $$
begin
  perform internal.lock_own_account();
  delete from market.block b where b.account_id = internal.account_id() and b.conversation_id = unblock.conversation_id;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_block');
  end if;
end
$$;
comment on function internal.unblock(uuid) is
  'Undoes the block that the account made in this conversation. Raises 404 when there is none.';

create or replace function internal.check_powers(powers jsonb) returns void
  language plpgsql stable
as $$
declare
  wrong constant jsonb := (
    select jsonb_agg(jsonb_build_object('pointer', '/' || coalesce(p ->> 'power', ''), 'detail',
      case when known.is_so then 'ceiling_needed' else 'power_unknown' end))
    from jsonb_array_elements(check_powers.powers) as p
    cross join lateral (select coalesce(p ->> 'power' in ('publish', 'ask', 'converse', 'agree')
      and (p ->> 'allowed' in ('never', 'alone') or p ->> 'power' = 'agree' and p ->> 'allowed' = 'ask_me'), false)
      as is_so) as known
    where not known.is_so or p ->> 'power' = 'agree' and p ->> 'allowed' = 'alone' and not coalesce(
      (p #>> '{ceiling,amount}')::numeric between 0 and 1e12
      and (p #>> '{ceiling,amount_24h}')::numeric between (p #>> '{ceiling,amount}')::numeric and 1e12
      and p #>> '{ceiling,currency}' ~ '^[A-Z]{3}$', false));
begin
  if wrong is not null then
    perform internal.raise_field_problems(wrong);
  end if;
end
$$;
comment on function internal.check_powers(jsonb) is
  'Raises 400 for powers that make no sense, and for a ceiling that is missing or wrong.';

create or replace function internal.store_powers(account_id uuid, agent_id uuid, powers jsonb) returns void
  language plpgsql volatile
as $$
declare
  changed constant market.power[] := array(
    select row(store_powers.agent_id, p ->> 'power', p ->> 'allowed', (c.ceiling ->> 'amount')::numeric * 1000,
      (c.ceiling ->> 'amount_24h')::numeric * 1000, c.ceiling ->> 'currency', now())::market.power
    from jsonb_array_elements(store_powers.powers) as p
    cross join lateral (select case when p ->> 'power' = 'agree' and p ->> 'allowed' = 'alone'
      then p -> 'ceiling' end as ceiling) as c);
  kept constant jsonb := internal.powers_document(store_powers.agent_id);
begin
  insert into market.power as o
  select p.* from unnest(changed) as p
  -- A power that stays the same is not written, and causes no event.
  where not kept @> jsonb_build_array(internal.power_document(p))
  on conflict on constraint power_pkey do update set allowed = excluded.allowed,
    ceiling_thousandths = excluded.ceiling_thousandths, daily_ceiling_thousandths = excluded.daily_ceiling_thousandths,
    ceiling_currency = excluded.ceiling_currency, updated_at = clock_timestamp();
  if found then
    insert into market.event (account_id, type, data)
    values (store_powers.account_id, 'powers.changed', jsonb_build_object('agent_id', store_powers.agent_id));
  end if;
end
$$;
comment on function internal.store_powers(uuid, uuid, jsonb) is
  'Stores powers of an agent of an account, and tells the agents of the account if one has changed. Call '
  'internal.check_powers and lock the account first.';

create or replace function internal.set_powers(agent_id uuid, powers jsonb) returns void
  language plpgsql volatile
as $$
begin
  -- An accept of the agent waits, or has been judged.
  perform internal.lock_accounts(array[internal.account_id()]);
  if internal.session_id() is null or not exists (select from market.agent a
    where a.id = set_powers.agent_id and a.account_id = internal.account_id() and a.removed_at is null) then
    perform internal.raise_problem(404, 'not_found', 'no_own_agent');
  end if;
  perform internal.check_powers(set_powers.powers);
  perform internal.store_powers(internal.account_id(), set_powers.agent_id, set_powers.powers);
end
$$;
comment on function internal.set_powers(uuid, jsonb) is
  'Sets powers of an agent of the calling person''s account. Raises 400 for a ceiling that is missing or wrong, and '
  '404 for any other id.';

create or replace function internal.report_conversation(conversation market.conversation, reason text, comment text)
  returns void
  language plpgsql volatile
as $$
begin
  if conversation.sandbox_id is null then
    insert into market.conversation_report as r (conversation_id, account_id, reason, comment)
    values (conversation.id, internal.account_id(), report_conversation.reason, report_conversation.comment)
    on conflict on constraint conversation_report_pkey do update set reason = excluded.reason,
      comment = excluded.comment, created_at = now(), completed_at = null
    where r.completed_at is not null;
  end if;
end
$$;
comment on function internal.report_conversation(market.conversation, text, text) is
  'Keeps the report of a conversation for the moderators. An account has one open report of a conversation.';
