-- What an agent may not agree to alone, its person confirms on a page.

create or replace function internal.confirmation_status(confirmation market.confirmation) returns text
  language sql stable
as $$
  select case when confirmation.status = 'pending' and confirmation.expires_at <= clock_timestamp() then 'expired'
    else confirmation.status end
$$;
comment on function internal.confirmation_status(market.confirmation) is
  'Returns the status of a confirmation by the clock of the database.';
grant execute on function internal.confirmation_status(market.confirmation) to souk_agent, souk_person;

create or replace function internal.confirmation_document(confirmation market.confirmation) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('id', confirmation.id, 'kind', confirmation.kind,
    'status', internal.confirmation_status(confirmation),
    'url', coalesce(current_setting('market.base_url', true), '') || '/confirmations/' || confirmation.id,
    'expires_in', greatest(extract(epoch from confirmation.expires_at - now())::integer, 0),
    'summary', internal.sentence(case internal.confirmation_status(confirmation)
      when 'pending' then 'confirmation_pending' when 'confirmed' then 'confirmation_confirmed'
      when 'refused' then 'confirmation_refused' else 'confirmation_expired' end));
end
$$;
comment on function internal.confirmation_document(market.confirmation) is 'Returns a Confirmation.';
grant execute on function internal.confirmation_document(market.confirmation) to souk_agent, souk_person;

create or replace function internal.pending_confirmations() returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(internal.confirmation_document(n) order by n.id), '[]')
    from (select * from market.confirmation c
      where c.account_id = internal.visible_account_id() and c.status = 'pending' and c.expires_at > now()
      order by c.id limit 50) as n);
end
$$;
comment on function internal.pending_confirmations() is
  'Returns the confirmations that the caller''s person is asked for, the oldest first, at most 50.';
grant execute on function internal.pending_confirmations() to souk_agent, souk_person;

create or replace function internal.waiting_confirmations() returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(internal.confirmation_document(n) || jsonb_build_object('offer', internal.deal_offer(c),
      'terms', p.terms, 'pays', a.payer = internal.own_role(c)) order by n.id), '[]')
    from (select * from market.confirmation o
      where o.account_id = internal.visible_account_id() and o.status = 'pending' and o.expires_at > now()
      order by o.id limit 50) as n
    join market.agreement a on a.id = n.agreement_id
    join market.proposal p on p.id = a.proposal_id
    join market.conversation c on c.id = a.conversation_id);
end
$$;
comment on function internal.waiting_confirmations() is
  'Returns the confirmations that the person is asked for, with what is agreed: offer, terms and pays.';
grant execute on function internal.waiting_confirmations() to souk_agent, souk_person;

create or replace function internal.own_confirmation(id uuid) returns market.confirmation
  language plpgsql stable
as $$
declare
  confirmation market.confirmation;
begin
  select * into confirmation from market.confirmation n
  where n.id = own_confirmation.id and n.account_id = internal.visible_account_id();
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_confirmation');
  end if;
  return confirmation;
end
$$;
comment on function internal.own_confirmation(uuid) is
  'Returns a confirmation of the caller''s account. Raises 404 when it has no such confirmation.';
grant execute on function internal.own_confirmation(uuid) to souk_agent, souk_person;

create or replace function internal.confirmation_page(confirmation market.confirmation) returns jsonb
  language plpgsql stable
as $$
declare
  agreement market.agreement;
  proposal market.proposal;
  conversation market.conversation;
  shown jsonb;
begin
  select * into agreement from market.agreement a where a.id = confirmation.agreement_id;
  select * into proposal from market.proposal p where p.id = agreement.proposal_id;
  select * into conversation from market.conversation c where c.id = agreement.conversation_id;
  shown := jsonb_build_object(
    'offer', internal.deal_offer(conversation),
    'role', internal.own_role(conversation),
    'pays', agreement.payer = internal.own_role(conversation),
    'proposed_by', case proposal.sender when internal.own_role(conversation) then 'me' else 'counterpart' end,
    'terms', proposal.terms,
    'offer_changed', internal.offer_changed(proposal),
    'contact', case internal.own_role(conversation)
      when 'inquirer' then internal.contact_in_words(conversation.inquirer_contact)
      else (select o.contact from market.offer o where o.id = conversation.offer_id) end);
  return shown || jsonb_build_object(
    'confirmation', internal.confirmation_document(confirmation),
    'counterpart', internal.publisher_document(internal.other_account(conversation)),
    'conversation_id', conversation.id,
    'agreement_status', internal.agreement_status(agreement),
    'digest', encode(sha256(convert_to(shown::text, 'UTF8')), 'hex'));
end
$$;
comment on function internal.confirmation_page(market.confirmation) is
  'Returns what the page of a confirmation shows: offer, role, pays, proposed_by, terms, offer_changed, contact (the '
  'one that the other side gets), confirmation, counterpart, conversation_id, agreement_status and digest, which is '
  'another one when any of the first seven has changed.';
grant execute on function internal.confirmation_page(market.confirmation) to souk_agent, souk_person;

create or replace function internal.notify_of_confirmation(confirmation market.confirmation) returns void
  language plpgsql volatile
as $$
declare
  -- A mail for each of five in 24 hours; then one that lists all that wait, which itself is sent once in 24 hours.
  singles constant integer := 5;
  last_list timestamptz;
begin
  if internal.notice_email(confirmation.account_id) is null
    or not exists (select from market.digest d where d.account_id = confirmation.account_id and d.enabled) then
    return;
  elsif (select count(*) from market.confirmation n
      where n.account_id = confirmation.account_id and n.id >= internal.first_uuid_v7(now() - interval '1 day')
        and n.id <> confirmation.id and not n.listed) < singles then
    perform internal.enqueue('send_confirmation_notice', confirmation.id);
    return;
  end if;
  update market.confirmation n set listed = true where n.id = confirmation.id;
  if not exists (select from graphile_worker.jobs j
    where j.key = 'send_confirmation_list:' || confirmation.account_id and j.attempts < j.max_attempts) then
    last_list := (
      select max(n.notified_at) from market.confirmation n
      -- A confirmation is mailed within its 48 hours.
      where n.account_id = confirmation.account_id and n.id >= internal.first_uuid_v7(now() - interval '3 days')
        and n.listed);
    -- Within an hour, more may come.
    perform internal.enqueue('send_confirmation_list', confirmation.account_id,
      run_at => greatest(now() + interval '1 hour', last_list + interval '1 day'));
  end if;
end
$$;
comment on function internal.notify_of_confirmation(market.confirmation) is
  'Enqueues the mail about a new confirmation for a person who has switched mail on: one of its own, or from the sixth '
  'in 24 hours on one that lists all that wait.';

create or replace function internal.told_confirmation(confirmation market.confirmation) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('id', confirmation.id, 'title', internal.deal_title(c))
  from market.agreement a join market.conversation c on c.id = a.conversation_id
  where a.id = confirmation.agreement_id
$$;
comment on function internal.told_confirmation(market.confirmation) is
  'Returns a confirmation as a mail names it: {id, title}, with the title of the offer.';

create or replace function internal.decide(confirmation market.confirmation, confirms boolean) returns void
  language plpgsql volatile
as $$
declare
  agreement market.agreement;
  conversation market.conversation;
  is_publisher boolean;
  made boolean;
begin
  select * into agreement from market.agreement a where a.id = confirmation.agreement_id for no key update;
  select * into conversation from market.conversation c where c.id = agreement.conversation_id;
  is_publisher := internal.own_role(conversation) = 'publisher';
  perform internal.moved_by('person');
  update market.confirmation n set status = case when confirms then 'confirmed' else 'refused' end, decided_at = now()
  where n.id = confirmation.id;
  if confirms then
    made := case when is_publisher then agreement.inquirer_agreed_at else agreement.publisher_agreed_at end is not null;
    update market.agreement a set status = case when made then 'made' else a.status end,
      made_at = case when made then clock_timestamp() end,
      publisher_agreed_at = case when is_publisher then clock_timestamp() else a.publisher_agreed_at end,
      inquirer_agreed_at = case when is_publisher then a.inquirer_agreed_at else clock_timestamp() end
    where a.id = agreement.id returning * into agreement;
    if made then
      perform internal.make_agreement(conversation, agreement);
    end if;
  else
    update market.agreement a set status = 'lapsed', reason = 'refused' where a.id = agreement.id;
    perform internal.moved_by('market');
    update market.confirmation n set status = 'expired' where n.agreement_id = agreement.id and n.status = 'pending';
    perform internal.note_deal(conversation, 'agreement.lapsed', '{publisher,inquirer}',
      jsonb_build_object('agreement_id', agreement.id, 'reason', 'refused'));
  end if;
  perform internal.touch_conversation(conversation, false);
  insert into market.event (account_id, type, data) values (internal.account_id(), 'confirmation.decided',
    jsonb_build_object('confirmation_id', confirmation.id, 'conversation_id', conversation.id,
      'outcome', case when confirms then 'confirmed' else 'refused' end));
end
$$;
comment on function internal.decide(market.confirmation, boolean) is
  'Confirms or refuses an agreement for the side of the calling person. Call internal.lock_conversation first.';
