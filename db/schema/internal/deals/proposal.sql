-- A proposal states all terms of a deal. At most one is pending in a conversation.

create or replace function internal.proposal_status(proposal market.proposal) returns text
  language sql stable
as $$
  select case when proposal.status = 'pending' and proposal.expires_at <= clock_timestamp() then 'expired'
    else proposal.status end
$$;
comment on function internal.proposal_status(market.proposal) is
  'Returns the status of a proposal by the clock of the database, also before jobs.expire_deals has noted that it '
  'expired.';
grant execute on function internal.proposal_status(market.proposal) to souk_agent, souk_person;

create or replace function internal.offer_digest(offer market.offer) returns bytea
  language sql immutable
as $$
  select sha256(convert_to(jsonb_build_array(coalesce(offer.sent_text, offer.text), offer.price_thousandths,
    offer.price_currency, offer.price_period, offer.price_unit)::text, 'UTF8'))
$$;
comment on function internal.offer_digest(market.offer) is
  'Returns the SHA-256 of what a proposal relies on: the text and the price of its offer.';

create or replace function internal.offer_changed(proposal market.proposal) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select internal.offer_digest(o) <> proposal.offer_digest
    from market.conversation c join market.offer o on o.id = c.offer_id where c.id = proposal.conversation_id);
end
$$;
comment on function internal.offer_changed(market.proposal) is
  'Returns whether the text or the price of the offer has changed since the proposal was made.';
grant execute on function internal.offer_changed(market.proposal) to souk_agent, souk_person;

create or replace function internal.proposal_errors(proposal jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('pointer', '/proposal' || e.pointer, 'detail', e.detail)), '[]')
    from (values
      ('/until', case when (proposal ->> 'until')::date < (proposal ->> 'from')::date then 'until_before_from' end),
      ('/handover/at', case when (proposal #>> '{handover,at}')::timestamptz < now() then 'handover_past' end),
      ('/handover/place', case when proposal #>> '{handover,method}' = 'online'
        and proposal #>> '{handover,place}' is not null then 'online_has_no_place' end)) as e (pointer, detail)
    where e.detail is not null);
end
$$;
comment on function internal.proposal_errors(jsonb) is
  'Returns what is wrong with terms that are valid by their JSON schema: [{pointer, detail}].';

create or replace function internal.need_contact(conversation market.conversation, contact text, headers jsonb)
  returns market.conversation
  language plpgsql volatile
as $$
declare
  known constant text := coalesce(internal.visible_sentence(need_contact.contact), conversation.inquirer_contact,
    (select coalesce(p.contact_phone, p.contact_email) from market.profile p
      where p.account_id = internal.account_id()));
begin
  if internal.own_role(conversation) <> 'inquirer' then
    return conversation;
  elsif known is null then
    perform internal.raise_field_problems('[{"pointer": "/contact", "detail": "contact_needed"}]', headers);
  end if;
  update market.conversation c set inquirer_contact = known
  where c.id = conversation.id and c.inquirer_contact is distinct from known;
  conversation.inquirer_contact := known;
  return conversation;
end
$$;
comment on function internal.need_contact(market.conversation, text, jsonb) is
  'Keeps the contact of an inquirer, who needs one to propose and to accept: the one sent, an earlier one, or that of '
  'its profile. Raises 400 when there is none.';

create or replace function internal.add_proposal(conversation market.conversation, proposal jsonb)
  returns market.proposal
  language plpgsql volatile
as $$
declare
  role constant text := internal.own_role(conversation);
  offer market.offer;
  added market.proposal;
begin
  select * into strict offer from market.offer o where o.id = conversation.offer_id;
  if offer.status <> 'published' then
    perform internal.raise_problem(409, 'invalid_state', 'offer_not_for_deals',
      jsonb_build_object('status', offer.status));
  elsif exists (select from market.agreement a
    where a.conversation_id = conversation.id and internal.agreement_status(a) = 'awaiting') then
    perform internal.raise_problem(409, 'invalid_state', 'agreement_awaited');
  end if;
  perform internal.expire_deals_of(conversation.id);
  -- The counterpart's next proposal counters a pending one, and one's own replaces it.
  perform internal.moved_by(case p.sender when role then 'proposer' else 'counterpart' end)
  from market.proposal p where p.conversation_id = conversation.id and p.status = 'pending';
  update market.proposal p set status = case p.sender when role then 'withdrawn' else 'countered' end
  where p.conversation_id = conversation.id and p.status = 'pending';
  perform internal.moved_by('proposer');
  insert into market.proposal (conversation_id, offer_id, sender, agent_id, by_person, price_thousandths,
    price_currency,
    price_period, terms, offer_digest, expires_at)
  values (conversation.id, offer.id, role, internal.agent_id(), internal.agent_id() is null,
    round((proposal #>> '{price,amount}')::numeric * 1000)::bigint, proposal #>> '{price,currency}',
    proposal #>> '{price,period}', internal.terms_of(proposal), internal.offer_digest(offer),
    clock_timestamp() + coalesce((proposal ->> 'expires_in')::integer, 172800) * interval '1 second')
  returning * into added;
  perform internal.touch_conversation(conversation, true);
  perform internal.note_deal(conversation, 'proposal.received', array[internal.other_role(role)],
    jsonb_build_object('proposal_id', added.id));
  return added;
end
$$;
comment on function internal.add_proposal(market.conversation, jsonb) is
  'Adds the proposal of the caller to a conversation, in place of the pending one. Raises 409 when the offer is not '
  'published, or an agreement awaits somebody. Call internal.lock_conversation first.';

create or replace function internal.terms_of(proposal jsonb) returns jsonb
  language sql immutable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'price', proposal -> 'price', 'from', proposal -> 'from', 'until', proposal -> 'until',
    'handover', jsonb_build_object('method', proposal #> '{handover,method}', 'at', proposal #> '{handover,at}',
      'place', internal.visible_sentence(proposal #>> '{handover,place}')),
    'note', internal.visible_text(proposal ->> 'note')))
$$;
comment on function internal.terms_of(jsonb) is 'Returns the terms of a proposal as they are stored and shown.';

create or replace function internal.proposal_of(conversation market.conversation, proposal_id uuid)
  returns market.proposal
  language plpgsql stable
as $$
declare
  proposal market.proposal;
begin
  select * into proposal from market.proposal p
  where p.id = proposal_of.proposal_id and p.conversation_id = conversation.id;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_proposal');
  end if;
  return proposal;
end
$$;
comment on function internal.proposal_of(market.conversation, uuid) is
  'Returns a proposal of a conversation. Raises 404 when there is none with this id.';

create or replace function internal.require_pending(proposal market.proposal, moves_to text, own boolean)
  returns boolean
  language plpgsql stable
as $$
declare
  role constant text := (
    select internal.own_role(c) from market.conversation c where c.id = proposal.conversation_id);
begin
  if (proposal.sender = role) <> own then
    perform internal.raise_problem(409, 'invalid_state',
      case when own then 'proposal_not_own' else 'proposal_own' end);
  elsif internal.proposal_status(proposal) = moves_to then
    return false;
  elsif internal.proposal_status(proposal) <> 'pending' then
    perform internal.raise_problem(409, 'invalid_state', 'proposal_not_pending',
      jsonb_build_object('status', internal.proposal_status(proposal)));
  end if;
  return true;
end
$$;
comment on function internal.require_pending(market.proposal, text, boolean) is
  'Returns whether a proposal is pending, and false when it has the wanted status already. Raises 409 for any other '
  'status, and for a proposal of the other side (own), or of one''s own.';

create or replace function internal.end_proposal(conversation market.conversation, proposal_id uuid, status text)
  returns void
  language plpgsql volatile
as $$
begin
  perform internal.moved_by(case end_proposal.status when 'withdrawn' then 'proposer' else 'counterpart' end);
  update market.proposal p set status = end_proposal.status where p.id = end_proposal.proposal_id;
  perform internal.touch_conversation(conversation, false);
  perform internal.note_deal(conversation, case end_proposal.status when 'accepted' then 'proposal.accepted'
      when 'declined' then 'proposal.declined' else 'proposal.withdrawn' end, '{publisher,inquirer}',
    jsonb_build_object('proposal_id', end_proposal.proposal_id));
end
$$;
comment on function internal.end_proposal(market.conversation, uuid, text) is
  'Declines, withdraws or accepts a pending proposal, and tells both sides.';

create or replace function internal.expire_deals_of(conversation_id uuid) returns void
  language plpgsql volatile
as $$
declare
  conversation market.conversation;
  ended uuid;
begin
  select * into conversation from market.conversation c where c.id = expire_deals_of.conversation_id;
  perform internal.moved_by('clock');
  for ended in
    update market.proposal p set status = 'expired'
    where p.conversation_id = conversation.id and p.status = 'pending' and p.expires_at <= clock_timestamp()
    returning p.id
  loop
    perform internal.note_deal(conversation, 'proposal.expired', '{publisher,inquirer}',
      jsonb_build_object('proposal_id', ended));
  end loop;
  for ended in
    update market.agreement a set status = 'lapsed', reason = 'expired'
    where a.conversation_id = conversation.id and a.status = 'awaiting' and a.expires_at <= clock_timestamp()
    returning a.id
  loop
    update market.confirmation n set status = 'expired' where n.agreement_id = ended and n.status = 'pending';
    perform internal.note_deal(conversation, 'agreement.lapsed', '{publisher,inquirer}',
      jsonb_build_object('agreement_id', ended, 'reason', 'expired'));
  end loop;
end
$$;
comment on function internal.expire_deals_of(uuid) is
  'Notes in a conversation that is locked what the clock has ended, and tells both sides.';
