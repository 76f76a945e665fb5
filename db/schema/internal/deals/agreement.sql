-- An accepted proposal is an agreement. It is made at once if both sides have consented, and otherwise awaits the
-- confirmation of a person for up to 48 hours.

create or replace function internal.agreement_status(agreement market.agreement) returns text
  language sql stable
as $$
  select case when agreement.status = 'awaiting' and agreement.expires_at <= clock_timestamp() then 'lapsed'
    else agreement.status end
$$;
comment on function internal.agreement_status(market.agreement) is
  'Returns the status of an agreement by the clock of the database.';
grant execute on function internal.agreement_status(market.agreement) to souk_agent, souk_person;

create or replace function internal.payer_of(offer_kind text) returns text
  language sql immutable
as $$ select case offer_kind when 'project_hire' then 'publisher' else 'inquirer' end $$;
comment on function internal.payer_of(text) is 'Returns the side that pays: who hires, otherwise the inquirer.';
grant execute on function internal.payer_of(text) to souk_agent, souk_person;

create or replace function internal.accept(conversation market.conversation, proposal market.proposal)
  returns market.agreement
  language plpgsql volatile
as $$
declare
  offer market.offer;
  agreement market.agreement;
  payer text;
  -- A changed offer is not what the proposer's agent or person has consented to, nor what the accepter may have seen.
  changed constant boolean := internal.offer_changed(proposal);
  proposer_consents boolean;
  accepter_consents boolean;
begin
  select * into strict offer from market.offer o where o.id = conversation.offer_id;
  if offer.status <> 'published' then
    perform internal.raise_problem(409, 'invalid_state', 'offer_not_for_deals',
      jsonb_build_object('status', offer.status));
  end if;
  payer := internal.payer_of(offer.offer_kind);
  proposer_consents := not changed and internal.consents(proposal.agent_id, proposal.by_person,
    payer = proposal.sender, proposal);
  accepter_consents := not changed and internal.consents(internal.agent_id(), internal.agent_id() is null,
    payer <> proposal.sender, proposal);
  perform internal.end_proposal(conversation, proposal.id, 'accepted');
  insert into market.agreement (conversation_id, proposal_id, status, payer, payer_agent_id, price_thousandths,
    price_currency, publisher_agreed_at, inquirer_agreed_at, made_at)
  values (conversation.id, proposal.id, case when proposer_consents and accepter_consents then 'made'
      else 'awaiting' end, payer,
    case when payer = proposal.sender then case when proposer_consents then proposal.agent_id end
      when accepter_consents then internal.agent_id() end,
    proposal.price_thousandths, proposal.price_currency,
    case when case proposal.sender when 'publisher' then proposer_consents else accepter_consents end
      then clock_timestamp() end,
    case when case proposal.sender when 'inquirer' then proposer_consents else accepter_consents end
      then clock_timestamp() end,
    case when proposer_consents and accepter_consents then clock_timestamp() end)
  returning * into agreement;
  if agreement.status = 'made' then
    return internal.make_agreement(conversation, agreement);
  end if;
  perform internal.moved_by('market');
  insert into market.confirmation (account_id, agreement_id, expires_at)
  select s.account_id, agreement.id, agreement.expires_at
  from (values (conversation.publisher_id, agreement.publisher_agreed_at),
    (conversation.inquirer_id, agreement.inquirer_agreed_at)) as s (account_id, agreed_at)
  where s.agreed_at is null and s.account_id is not null;
  perform internal.notify_of_confirmation(n) from market.confirmation n where n.agreement_id = agreement.id;
  perform internal.note_deal(conversation, 'agreement.awaiting', '{publisher,inquirer}',
    jsonb_build_object('agreement_id', agreement.id));
  return agreement;
end
$$;
comment on function internal.accept(market.conversation, market.proposal) is
  'Accepts a pending proposal. The agreement is made if both sides have consented, and otherwise awaits the persons of '
  'those that have not. Raises 409 when the offer is not published. Call internal.lock_conversation first.';

create or replace function internal.make_agreement(conversation market.conversation, agreement market.agreement)
  returns market.agreement
  language plpgsql volatile
as $$
begin
  update market.agreement a set inquirer_contact = conversation.inquirer_contact,
    publisher_contact = (select o.contact from market.offer o where o.id = conversation.offer_id)
  where a.id = agreement.id returning * into agreement;
  perform internal.note_deal(conversation, 'agreement.made', '{publisher,inquirer}',
    jsonb_build_object('agreement_id', agreement.id));
  return agreement;
end
$$;
comment on function internal.make_agreement(market.conversation, market.agreement) is
  'Gives both sides of an agreement that is made the contact of the other one, and tells them.';

create or replace function internal.agreed_on(offer_id uuid) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from market.conversation c join market.agreement a on a.conversation_id = c.id
    where c.offer_id = agreed_on.offer_id and c.inquirer_id = internal.visible_account_id() and a.status = 'made'
      and a.publisher_contact is not null);
end
$$;
comment on function internal.agreed_on(uuid) is
  'Returns whether the caller is the inquirer of an agreement about this offer that was made in the last 90 days.';
grant execute on function internal.agreed_on(uuid) to souk_agent, souk_person;
