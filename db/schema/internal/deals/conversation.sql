-- Who is in a conversation, who may write in it, and how it opens and closes.

create or replace function internal.own_role(conversation market.conversation) returns text
  language sql stable
as $$
  select case internal.visible_account_id()
    when conversation.publisher_id then 'publisher' when conversation.inquirer_id then 'inquirer' end
$$;
comment on function internal.own_role(market.conversation) is
  'Returns the side of the caller: publisher, inquirer, or null.';
grant execute on function internal.own_role(market.conversation) to souk_agent, souk_person;

create or replace function internal.other_role(role text) returns text
  language sql immutable
as $$ select case role when 'publisher' then 'inquirer' else 'publisher' end $$;
comment on function internal.other_role(text) is 'Returns the other side.';
grant execute on function internal.other_role(text) to souk_agent, souk_person;

create or replace function internal.other_account(conversation market.conversation) returns uuid
  language sql stable
as $$
  select case internal.own_role(conversation) when 'publisher' then conversation.inquirer_id
    else conversation.publisher_id end
$$;
comment on function internal.other_account(market.conversation) is
  'Returns the account of the other side; null when it was deleted.';
grant execute on function internal.other_account(market.conversation) to souk_agent, souk_person;

create or replace function internal.lock_accounts(ids uuid[]) returns void
  language plpgsql volatile
as $$
begin
  -- Everything that decides about a deal waits for the accounts of both sides: a suspension, a deletion, a removal of
  -- an agent, and a change of the offer.
  perform from market.account a where a.id = any (lock_accounts.ids) order by a.id for no key update;
  perform internal.lock_caller();
end
$$;
comment on function internal.lock_accounts(uuid[]) is
  'Locks accounts, in the order of their ids, and the calling agent until the transaction ends. Call it before any '
  'other lock. Raises 401 when the caller''s account or agent was removed.';

create or replace function internal.own_conversation(id uuid) returns market.conversation
  language plpgsql stable
as $$
declare
  conversation market.conversation;
begin
  select * into conversation from market.conversation c
  where c.id = own_conversation.id and internal.visible_account_id() in (c.publisher_id, c.inquirer_id);
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_conversation');
  end if;
  return conversation;
end
$$;
comment on function internal.own_conversation(uuid) is
  'Returns a conversation of the caller''s account. Raises 404 when it has no such conversation.';
grant execute on function internal.own_conversation(uuid) to souk_agent, souk_person;

create or replace function internal.lock_conversation(id uuid, of_both boolean default true) returns market.conversation
  language plpgsql volatile
as $$
declare
  conversation market.conversation;
begin
  select * into conversation from market.conversation c
  where c.id = lock_conversation.id and internal.visible_account_id() in (c.publisher_id, c.inquirer_id);
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_conversation');
  end if;
  if lock_conversation.of_both then
    perform internal.lock_accounts(array[conversation.publisher_id, conversation.inquirer_id]);
  else
    perform internal.lock_caller();
    -- A second update of the conversation locks it, too, and its deletion may wait for the conversation.
    perform from market.account a where a.id = internal.other_account(conversation) for key share;
  end if;
  select * into conversation from market.conversation c where c.id = lock_conversation.id for no key update;
  return conversation;
end
$$;
comment on function internal.lock_conversation(uuid, boolean) is
  'Locks the accounts of both sides, or only the caller''s, and then a conversation of the caller''s account, and '
  'returns it. Raises 404 when the account has no such conversation.';

create or replace function internal.is_stopped(conversation market.conversation) returns boolean
  language plpgsql stable
as $$
begin
  -- The other side learns of a block as little as of a suspension: both look like a conversation that it closed.
  return (select count(*) from market.account a
      where a.id in (conversation.publisher_id, conversation.inquirer_id) and a.suspended_at is null) < 2
    or exists (select from market.block b
      where (b.account_id, b.blocked_id) in ((conversation.publisher_id, conversation.inquirer_id),
        (conversation.inquirer_id, conversation.publisher_id)));
end
$$;
comment on function internal.is_stopped(market.conversation) is
  'Returns whether nothing can be sent in a conversation: an account of it is suspended or deleted, or has blocked the '
  'other.';

create or replace function internal.can_write(conversation_id uuid) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from market.conversation c
    where c.id = can_write.conversation_id and internal.own_role(c) is not null and not internal.is_stopped(c)
      and (c.status = 'open' or c.closed_by in (internal.own_role(c), 'market')));
end
$$;
comment on function internal.can_write(uuid) is
  'Returns whether the caller may write in a conversation of its account, which may open it again.';
grant execute on function internal.can_write(uuid) to souk_agent, souk_person;

create or replace function internal.require_open(conversation market.conversation, headers jsonb default '{}')
  returns market.conversation
  language plpgsql volatile
as $$
declare
  role constant text := internal.own_role(conversation);
begin
  if exists (select from market.block b
    where b.account_id = internal.account_id() and b.blocked_id = internal.other_account(conversation)) then
    perform internal.raise_problem(409, 'invalid_state', 'conversation_blocked',
      extra => jsonb_build_object('headers', headers));
  elsif internal.is_stopped(conversation)
    or conversation.status = 'closed' and conversation.closed_by not in (role, 'market') then
    perform internal.raise_problem(409, 'invalid_state', 'conversation_closed',
      extra => jsonb_build_object('headers', headers));
  elsif conversation.status = 'closed' then
    perform internal.moved_by('either');
    update market.conversation c set status = 'open', closed_by = null where c.id = conversation.id
    returning * into conversation;
  end if;
  return conversation;
end
$$;
comment on function internal.require_open(market.conversation, jsonb) is
  'Returns a conversation in which the caller may write, and opens one that the caller''s side closed. Raises 409 for '
  'one that the other side closed, and for one with an account that is blocked, suspended or deleted.';

create or replace function internal.close_conversation(conversation market.conversation, closed_by text)
  returns market.conversation
  language plpgsql volatile
as $$
begin
  perform internal.end_deals(array[conversation.id]);
  perform internal.moved_by(case close_conversation.closed_by when 'market' then 'market' else 'either' end);
  update market.conversation c
    set status = 'closed', closed_by = close_conversation.closed_by, active_at = clock_timestamp()
  where c.id = conversation.id and c.status = 'open' returning * into conversation;
  perform internal.note_deal(conversation, 'conversation.closed', '{publisher,inquirer}');
  return conversation;
end
$$;
comment on function internal.close_conversation(market.conversation, text) is
  'Closes an open conversation, and with it what is pending in it.';

create or replace function internal.end_deals(conversations uuid[]) returns void
  language plpgsql volatile
as $$
declare
  ended record;
begin
  perform internal.moved_by('market');
  for ended in
    update market.proposal p set status = 'expired'
    where p.conversation_id = any (end_deals.conversations) and p.status = 'pending' returning p.id, p.conversation_id
  loop
    perform internal.note_deal(c, 'proposal.expired', '{publisher,inquirer}',
      jsonb_build_object('proposal_id', ended.id))
    from market.conversation c where c.id = ended.conversation_id;
  end loop;
  for ended in
    update market.agreement a set status = 'lapsed', reason = 'closed'
    where a.conversation_id = any (end_deals.conversations) and a.status = 'awaiting' returning a.id, a.conversation_id
  loop
    update market.confirmation n set status = 'expired' where n.agreement_id = ended.id and n.status = 'pending';
    perform internal.note_deal(c, 'agreement.lapsed', '{publisher,inquirer}',
      jsonb_build_object('agreement_id', ended.id, 'reason', 'closed'))
    from market.conversation c where c.id = ended.conversation_id;
  end loop;
end
$$;
comment on function internal.end_deals(uuid[]) is
  'Ends what is pending in conversations: the proposal expires, and the agreement that awaits somebody lapses. Made '
  'agreements stay.';

create or replace function internal.live_deals(offers uuid[]) returns uuid[]
  language sql stable
as $$
  select array(
    select c.id from market.conversation c
    where c.offer_id = any (live_deals.offers) and (
      exists (select from market.proposal p where p.conversation_id = c.id and p.status = 'pending')
      or exists (select from market.agreement a where a.conversation_id = c.id and a.status = 'awaiting')))
$$;
comment on function internal.live_deals(uuid[]) is
  'Returns the conversations about these offers in which a proposal is pending or an agreement awaits somebody.';

create or replace function internal.lock_deals(offers uuid[]) returns uuid[]
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  live constant uuid[] := internal.live_deals(lock_deals.offers);
begin
  perform from market.conversation c where c.id = any (live) order by c.id for no key update;
  return live;
end
$$;
comment on function internal.lock_deals(uuid[]) is
  'Locks the conversations about these offers in which something is pending, in the order of their ids, and returns '
  'them. Call it before a statement that takes down several offers.';
grant execute on function internal.lock_deals(uuid[]) to souk_moderator;

create or replace function internal.end_offer_deals() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.end_deals(internal.lock_deals(array[new.id]));
  return null;
end
$$;
comment on function internal.end_offer_deals() is 'Ends what is pending about an offer that is no longer published.';

create or replace function internal.note_deal(
  conversation market.conversation, type text, roles text[], more jsonb default '{}'
) returns void
  language plpgsql volatile
as $$
begin
  insert into market.event (account_id, type, data)
  select r.account_id, note_deal.type,
    jsonb_build_object('conversation_id', conversation.id, 'offer_id', conversation.offer_id) || note_deal.more
  from unnest(array[conversation.publisher_id, conversation.inquirer_id], '{publisher,inquirer}'::text[])
    as r (account_id, role)
  where r.role = any (note_deal.roles) and r.account_id is not null
    -- Nothing of a blocked account reaches the one who blocked it.
    and not exists (select from market.block b
      where b.account_id = r.account_id and b.blocked_id = internal.account_id());
end
$$;
comment on function internal.note_deal(market.conversation, text, text[], jsonb) is
  'Writes an event of a conversation for these sides. more: further ids and facts, never a text, price or contact.';

create or replace function internal.add_message(
  conversation market.conversation, words text, addresses_agents boolean
) returns market.message
  language plpgsql volatile
as $$
declare
  message market.message;
begin
  insert into market.message (conversation_id, sender, text, addresses_agents)
  values (conversation.id, internal.own_role(conversation), internal.visible_text(add_message.words),
    add_message.addresses_agents)
  returning * into message;
  perform internal.touch_conversation(conversation, true);
  perform internal.note_deal(conversation, 'message.received', array[internal.other_role(message.sender)],
    jsonb_build_object('message_id', message.id));
  return message;
end
$$;
comment on function internal.add_message(market.conversation, text, boolean) is
  'Adds a message of the caller to a conversation. addresses_agents: whether orders to software were left out.';

create or replace function internal.touch_conversation(conversation market.conversation, adds boolean) returns void
  language plpgsql volatile
as $$
declare
  is_publisher constant boolean := internal.own_role(conversation) = 'publisher';
begin
  -- Whoever writes has seen what came before.
  update market.conversation c set active_at = clock_timestamp(), forgotten_at = null,
    publisher_unread = case when is_publisher then 0 else c.publisher_unread + adds::integer end,
    inquirer_unread = case when is_publisher then c.inquirer_unread + adds::integer else 0 end
  where c.id = conversation.id;
end
$$;
comment on function internal.touch_conversation(market.conversation, boolean) is
  'Notes that the caller did something in a conversation. adds: whether it adds something for the other side to read.';

create or replace function internal.own_blocks() returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('blocks', (
    select coalesce(jsonb_agg(jsonb_build_object('conversation_id', c.id, 'blocked_at', internal.utc(b.created_at),
      'offer', internal.deal_offer(c)) order by b.created_at desc), '[]')
    from market.block b join market.conversation c on c.id = b.conversation_id
    where b.account_id = internal.visible_account_id()));
end
$$;
comment on function internal.own_blocks() is
  'Returns whom the account has blocked, by the conversations in which it did: {blocks: [{conversation_id, blocked_at, '
  'offer}]}.';
grant execute on function internal.own_blocks() to souk_agent, souk_person;
