-- Conversations, messages, proposals and agreements as JSON documents, as one side sees them.

create or replace function internal.deal_offer(conversation market.conversation) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  offer market.offer;
  visibility text;
begin
  select o.* into offer
  from market.conversation c join market.offer o on o.id = c.offer_id
  where c.id = conversation.id and internal.visible_account_id() in (c.publisher_id, c.inquirer_id);
  visibility := internal.contact_visibility(offer);
  if not internal.sees_contact(offer.id, offer.account_id, visibility) then
    offer := internal.withheld_offer(offer, visibility);
  end if;
  return jsonb_strip_nulls(jsonb_build_object('id', offer.id,
    'title', coalesce(conversation.offer_title, offer.title), 'status', offer.status,
    'price_label', coalesce(conversation.offer_price, offer.metadata -> 'pricing' ->> 'label'),
    'web_url', internal.web_url(offer.id, offer.sandbox_id)));
end
$$;
comment on function internal.deal_offer(market.conversation) is
  'Returns the offer of a conversation of the caller: {id, title, status, price_label, web_url}, also when it is not '
  'published, and without its contact where that is withheld.';
grant execute on function internal.deal_offer(market.conversation) to souk_agent, souk_person;

create or replace function internal.deal_title(conversation market.conversation) returns text
  language sql stable
as $$
  select coalesce(conversation.offer_title,
    (select internal.without_contact(o.title, o) from market.offer o where o.id = conversation.offer_id))
$$;
comment on function internal.deal_title(market.conversation) is
  'Returns the title of the offer of a conversation without contacts, for mails to one of its sides.';

create or replace function internal.message_document(message market.message, role text) returns jsonb
  language sql stable
as $$
  select jsonb_build_object('id', message.id, 'from', case message.sender when role then 'me' else 'counterpart' end,
    'text', message.text, 'created_at', internal.utc(message.created_at))
    || case when message.addresses_agents then jsonb '{"addresses_agents": true}' else jsonb '{}' end
$$;
comment on function internal.message_document(market.message, text) is
  'Returns a message as one side sees it (Message).';
grant execute on function internal.message_document(market.message, text) to souk_agent, souk_person;

create or replace function internal.message_list(messages market.message[], most integer, role text) returns jsonb
  language plpgsql stable
as $$
declare
  shown constant market.message[] := messages[:most];
begin
  return jsonb_build_object(
    'results', (
      select coalesce(jsonb_agg(internal.message_document(shown[n], role) order by n), '[]')
      from generate_series(1, cardinality(shown)) as n),
    'has_more', cardinality(messages) > most,
    'notices', internal.notices_about((
      select coalesce(jsonb_agg(jsonb_build_object('addresses_agents', m.addresses_agents)), '[]')
      from unnest(shown) as m)));
end
$$;
comment on function internal.message_list(market.message[], integer, text) is
  'Returns messages as one side sees them: {results, has_more, notices}. has_more: whether there are more than `most`, '
  'which are left out.';
grant execute on function internal.message_list(market.message[], integer, text) to souk_agent, souk_person;

create or replace function internal.conversation_list(id uuid) returns text
  language sql immutable
as $$ select 'conversation ' || conversation_list.id $$;
comment on function internal.conversation_list(uuid) is
  'Returns the name by which cursors of a conversation are known.';
grant execute on function internal.conversation_list(uuid) to souk_agent, souk_person;

create or replace function internal.conversation_cursor(id uuid, moment timestamptz) returns text
  language sql stable
as $$
  select internal.cursor_of(jsonb_build_object('list', internal.conversation_list(conversation_cursor.id),
    'time', conversation_cursor.moment))
$$;
comment on function internal.conversation_cursor(uuid, timestamptz) is
  'Returns the cursor of what happened in a conversation up to this moment. Whatever happens later is marked with a '
  'later time, because it waits for the lock of the conversation.';
grant execute on function internal.conversation_cursor(uuid, timestamptz) to souk_agent, souk_person;

create or replace function internal.proposal_document(proposal market.proposal, role text) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('id', proposal.id,
    'from', case proposal.sender when role then 'me' else 'counterpart' end,
    'status', internal.proposal_status(proposal), 'terms', proposal.terms,
    'offer_changed', internal.proposal_status(proposal) = 'pending' and internal.offer_changed(proposal),
    'expires_at', internal.utc(proposal.expires_at), 'created_at', internal.utc(proposal.created_at));
end
$$;
comment on function internal.proposal_document(market.proposal, text) is
  'Returns a proposal as one side sees it (Proposal).';
grant execute on function internal.proposal_document(market.proposal, text) to souk_agent, souk_person;

create or replace function internal.pending_proposals(offer market.offer) returns jsonb
  language plpgsql stable
as $$
declare
  receives constant boolean := internal.payer_of(offer.offer_kind) = 'inquirer';
begin
  return (
    with pending as (
      select p, c, row_number() over (order by p.price_currency is distinct from offer.price_currency,
        case when receives then - p.price_thousandths else p.price_thousandths end nulls last, p.id) as place
      from market.proposal p join market.conversation c on c.id = p.conversation_id
      where p.offer_id = offer.id and p.status = 'pending' and p.sender = 'inquirer' and p.expires_at > now()
        and c.status = 'open')
    select jsonb_build_object('offer_id', offer.id,
      'results', coalesce(jsonb_agg(internal.proposal_document((d.p)::market.proposal, 'publisher')
        || jsonb_build_object('conversation_id', (d.c).id,
          'counterpart', internal.publisher_document((d.c).inquirer_id)) order by d.place)
        filter (where d.place <= 50), '[]'),
      'next', case when count(*) > 1 then jsonb_build_array(internal.next_step('next_compare', 'GET',
          '/v1/offers/' || offer.id || '/proposals', jsonb_build_object('others', count(*) - 1)))
        else '[]' end)
    from pending d);
end
$$;
comment on function internal.pending_proposals(market.offer) is
  'Returns the pending proposals for an own offer, those in its currency first, and of these the best for its owner: '
  '{offer_id, results: Proposals with conversation_id and counterpart, at most 50, next}.';
grant execute on function internal.pending_proposals(market.offer) to souk_agent, souk_person;

create or replace function internal.agreement_document(agreement market.agreement, role text) returns jsonb
  language plpgsql stable
as $$
declare
  status constant text := internal.agreement_status(agreement);
  confirmation market.confirmation;
begin
  select * into confirmation from market.confirmation n
  where n.agreement_id = agreement.id and n.account_id = internal.visible_account_id();
  return jsonb_build_object('id', agreement.id, 'status', status,
    'reason', coalesce(agreement.reason, case status when 'lapsed' then 'expired' end),
    'terms', (select p.terms from market.proposal p where p.id = agreement.proposal_id),
    'awaiting', case when status <> 'awaiting' then '[]' else (
      select coalesce(jsonb_agg(case s.side when role then 'me' else 'counterpart' end), '[]')
      from (values ('publisher', agreement.publisher_agreed_at), ('inquirer', agreement.inquirer_agreed_at))
        as s (side, agreed_at) where s.agreed_at is null) end,
    'made_at', internal.utc(agreement.made_at))
    || case when confirmation.id is null then '{}'
      else jsonb_build_object('confirmation', internal.confirmation_document(confirmation)) end;
end
$$;
comment on function internal.agreement_document(market.agreement, text) is
  'Returns an agreement as one side sees it (Agreement), with the confirmation that its person is asked for.';
grant execute on function internal.agreement_document(market.agreement, text) to souk_agent, souk_person;

create or replace function internal.conversation_document(conversation market.conversation) returns jsonb
  language plpgsql stable
as $$
declare
  role constant text := internal.own_role(conversation);
  proposal market.proposal;
  agreement market.agreement;
begin
  select * into proposal from market.proposal p where p.conversation_id = conversation.id and p.status = 'pending'
    and p.expires_at > now();
  select * into agreement from market.agreement a where a.conversation_id = conversation.id order by a.id desc limit 1;
  return jsonb_build_object('id', conversation.id, 'offer', internal.deal_offer(conversation), 'role', role,
    'status', conversation.status,
    'counterpart', internal.publisher_document(internal.other_account(conversation)),
    'proposal', case when proposal.id is not null then internal.proposal_document(proposal, role) end,
    'agreement', case when agreement.id is not null then internal.agreement_document(agreement, role) end,
    'contact', internal.deal_contact(conversation.id, role),
    'unread', case role when 'publisher' then conversation.publisher_unread else conversation.inquirer_unread end,
    'created_at', internal.utc(conversation.created_at), 'updated_at', internal.utc(conversation.active_at),
    'cursor', internal.conversation_cursor(conversation.id, conversation.active_at),
    'next', internal.deal_steps(conversation, proposal, agreement, role));
end
$$;
comment on function internal.conversation_document(market.conversation) is
  'Returns a conversation as the side of the caller sees it (Conversation).';
grant execute on function internal.conversation_document(market.conversation) to souk_agent, souk_person;

create or replace function internal.contact_in_words(words text) returns jsonb
  language sql immutable
as $$
  select jsonb_build_object('schema_version', 2, 'methods', '[]'::jsonb, 'text', words) where words is not null
$$;
comment on function internal.contact_in_words(text) is
  'Returns the contact of an inquirer as a Contact: {schema_version, methods: [], text}; null for none.';
grant execute on function internal.contact_in_words(text) to souk_agent, souk_person;

create or replace function internal.deal_contact(conversation_id uuid, role text) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select case role when 'inquirer' then a.publisher_contact
      else internal.contact_in_words(a.inquirer_contact) end
    from market.agreement a
    where a.conversation_id = deal_contact.conversation_id and a.status = 'made'
      and case role when 'inquirer' then a.publisher_contact is not null else a.inquirer_contact is not null end
    order by a.id desc limit 1);
end
$$;
comment on function internal.deal_contact(uuid, text) is
  'Returns the contact of the other side of the latest agreement that was made in the last 90 days: of the publisher '
  'that of the offer, of the inquirer {schema_version, methods: [], text}. Null if there is none.';
grant execute on function internal.deal_contact(uuid, text) to souk_agent, souk_person;

create or replace function internal.deal_steps(
  conversation market.conversation, proposal market.proposal, agreement market.agreement, role text
) returns jsonb
  language plpgsql stable
as $$
declare
  path constant text := '/v1/conversations/' || conversation.id;
begin
  if agreement.id is not null and internal.agreement_status(agreement) = 'awaiting' then
    return jsonb_build_array(case when case role when 'publisher' then agreement.publisher_agreed_at
        else agreement.inquirer_agreed_at end is null
      then internal.next_step('next_show_confirmation', 'GET', '/v1/me')
      else internal.next_step('next_await_counterpart', 'GET', '/v1/events?wait=25') end);
  elsif conversation.status = 'closed' then
    return jsonb '[]';
  elsif proposal.id is not null then
    return case proposal.sender when role then jsonb_build_array(
        internal.next_step('next_await_answer', 'GET', '/v1/events?wait=25'),
        internal.next_step('next_withdraw', 'POST', path || '/proposals/' || proposal.id || '/withdraw'))
      else jsonb_build_array(
        internal.next_step('next_accept', 'POST', path || '/proposals/' || proposal.id || '/accept'),
        internal.next_step('next_counter', 'POST', path || '/proposals'),
        internal.next_step('next_decline', 'POST', path || '/proposals/' || proposal.id || '/decline')) end;
  elsif agreement.id is not null and internal.agreement_status(agreement) = 'made' then
    return jsonb_build_array(internal.next_step('next_reach_counterpart', 'GET', path))
      || case role when 'publisher' then jsonb_build_array(internal.next_step('next_archive_gone', 'POST',
        '/v1/offers/' || conversation.offer_id || '/archive')) else '[]' end;
  end if;
  return jsonb_build_array(internal.next_step('next_message', 'POST', path || '/messages'),
    internal.next_step('next_propose', 'POST', path || '/proposals'));
end
$$;
comment on function internal.deal_steps(market.conversation, market.proposal, market.agreement, text) is
  'Returns what a side can do next in a conversation: [{summary, method, path}].';
grant execute on function internal.deal_steps(market.conversation, market.proposal, market.agreement, text)
  to souk_agent, souk_person;
