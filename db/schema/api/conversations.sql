-- Conversations about offers: opening, reading, writing, closing, blocking, reporting.

create or replace function api.open_conversation(
  id uuid, body jsonb, idempotency_key text, request_hash bytea, errors jsonb
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  publisher uuid;
  admission jsonb;
  conversation market.conversation;
  opened boolean;
begin
  perform internal.require_permission('converse', internal.rate_limit_headers(internal.own_usage('converse')));
  if errors <> '[]' then
    perform internal.raise_field_problems(errors, internal.rate_limit_headers(internal.own_usage('converse')));
  end if;
  publisher := internal.publisher_of(open_conversation.id);
  perform internal.lock_accounts(array[publisher, internal.account_id()]);
  admission := internal.admit('converse', open_conversation.idempotency_key, open_conversation.request_hash,
    internal.word_errors(body, true) || internal.proposal_errors(body -> 'proposal') || internal.ask_errors(body));
  if admission ? 'status' then
    return admission;
  end if;
  select * into conversation from market.conversation c
  where c.offer_id = open_conversation.id and c.inquirer_id = internal.account_id() for no key update;
  opened := not found;
  if opened then
    conversation := internal.create_conversation(open_conversation.id, publisher, (body ->> 'origin_ask_id')::uuid,
      admission -> 'headers');
  elsif body ? 'text' or body ? 'proposal' or conversation.closed_by in ('inquirer', 'market')
      and not internal.is_stopped(conversation) then
    conversation := internal.require_open(conversation, admission -> 'headers');
  end if;
  perform internal.write_in(conversation, body, admission -> 'headers');
  return internal.keep_answer(open_conversation.idempotency_key, admission, case when opened then 201 else 200 end,
    internal.conversation_document(internal.own_conversation(conversation.id)));
end
$$;
comment on function api.open_conversation(uuid, jsonb, text, bytea, jsonb) is
  'Opens a conversation about a published offer of another account, or returns the one that is there, and adds a text '
  'and a proposal. Returns {status, body, headers}. Raises 409 invalid_state for an own offer, one that is not '
  'published, and a conversation that the other side closed.';

create or replace function api.list_conversations(status text, offer_id uuid, page_size integer, cursor text)
  returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
  set enable_sort = off
as $$
declare
  own constant uuid := internal.visible_account_id();
  list constant text := concat_ws(' ', 'conversations', list_conversations.status, list_conversations.offer_id);
  place constant jsonb := internal.position_of(cursor, list);
  before_time constant timestamptz := coalesce((place ->> 'time')::timestamptz, 'infinity');
  before_id constant uuid := coalesce((place ->> 'id')::uuid, repeat('f', 32)::uuid);
  statuses constant text[] := case when list_conversations.status is null then '{open,closed}'
    else array[list_conversations.status] end;
  found market.conversation[];
begin
  -- Each branch, for each status, reads one index from its beginning, and no more rows than a page has.
  if list_conversations.offer_id is null then
    found := array(
      select sides.c from unnest(statuses) as s (status)
      cross join lateral (
        (select c from market.conversation c
          where c.publisher_id = own and c.status = s.status and (c.active_at, c.id) < (before_time, before_id)
          order by c.active_at desc, c.id desc limit page_size + 1)
        union all
        (select c from market.conversation c
          where c.inquirer_id = own and c.status = s.status and (c.active_at, c.id) < (before_time, before_id)
          order by c.active_at desc, c.id desc limit page_size + 1)) as sides
      order by (sides.c).active_at desc, (sides.c).id desc limit page_size + 1);
  else
    found := array(
      select sides.c from unnest(statuses) as s (status)
      cross join lateral (
        (select c from market.conversation c
          where c.publisher_id = own and c.offer_id = list_conversations.offer_id and c.status = s.status
            and (c.active_at, c.id) < (before_time, before_id)
          order by c.active_at desc, c.id desc limit page_size + 1)
        union all
        (select c from market.conversation c
          where c.inquirer_id = own and c.offer_id = list_conversations.offer_id and c.status = s.status
            and (c.active_at, c.id) < (before_time, before_id))) as sides
      order by (sides.c).active_at desc, (sides.c).id desc limit page_size + 1);
  end if;
  return jsonb_build_object(
    'results', (
      select coalesce(jsonb_agg(internal.conversation_document(found[n]) order by n), '[]')
      from generate_series(1, least(cardinality(found), page_size)) as n),
    'page', internal.page(jsonb_build_object('list', list, 'time', (found[page_size]).active_at,
      'id', (found[page_size]).id), cardinality(found) > page_size))
    || coalesce((
      select jsonb_build_object('proposals', internal.pending_proposals(o)) from market.offer o
      where o.id = list_conversations.offer_id and o.account_id = own and list_conversations.cursor is null), '{}');
end
$$;
comment on function api.list_conversations(text, uuid, integer, text) is
  'Returns a page of the account''s conversations, latest activity first: all, or those with a status, or about an '
  'offer. The first page about an own offer also has `proposals`: what api.list_proposals returns.';

create or replace function api.get_conversation(id uuid, after text default null, wait integer default 0) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  -- The messages that are shown at once.
  most constant integer := 30;
  conversation constant market.conversation := internal.own_conversation(get_conversation.id);
  role constant text := internal.own_role(conversation);
  seen constant timestamptz := (internal.position_of(get_conversation.after,
    internal.conversation_list(conversation.id), 'after') ->> 'time')::timestamptz;
  is_news constant boolean := case when seen is not null then conversation.active_at > seen
    when role = 'publisher' then conversation.publisher_unread > 0 else conversation.inquirer_unread > 0 end;
  found market.message[];
begin
  if seen is null then
    found := array(
      select n.m from (
        select m from market.message m where m.conversation_id = conversation.id order by m.id desc limit most) as n
      order by (n.m).id);
  else
    found := array(
      select m from market.message m
      where m.conversation_id = conversation.id and m.id >= internal.first_uuid_v7(seen) and m.created_at > seen
      order by m.id limit most + 1);
  end if;
  return internal.conversation_document(conversation)
    || jsonb_build_object('messages', internal.message_list(found, most, role))
    || case when cardinality(found) > most
      then jsonb_build_object('cursor', internal.conversation_cursor(conversation.id, (found[most]).created_at))
      else '{}' end
    || case when get_conversation.wait > 0
      and not is_news then jsonb_build_object('waits', internal.event_waits(pg_current_snapshot()))
      else '{}' end;
end
$$;
comment on function api.get_conversation(uuid, text, integer) is
  'Returns a conversation of the account with its last 30 messages, or with the first 30 that came after the cursor '
  '`after` of an earlier answer. With wait above 0 and nothing new also `waits`, as api.list_events. Raises 404 for '
  'any other id.';

create or replace function api.get_conversation_page(id uuid, before uuid) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  -- As many as a person reads on a phone.
  size constant integer := 30;
  conversation constant market.conversation := internal.own_conversation(get_conversation_page.id);
  role constant text := internal.own_role(conversation);
  found constant market.message[] := array(
    select m from market.message m
    where m.conversation_id = conversation.id
      and (get_conversation_page.before is null or m.id < get_conversation_page.before)
    order by m.id desc limit size + 1);
begin
  return jsonb_build_object(
    'conversation', internal.conversation_document(conversation),
    'messages', (
      select coalesce(jsonb_agg(internal.message_document(found[n], role) order by n desc), '[]')
      from generate_series(1, least(cardinality(found), size)) as n),
    'has_older', cardinality(found) > size,
    'up_to', greatest(
      (select m.id from market.message m where m.conversation_id = conversation.id order by m.id desc limit 1),
      (select p.id from market.proposal p where p.conversation_id = conversation.id order by p.id desc limit 1)),
    'can_write', internal.can_write(conversation.id),
    'blocked', exists (select from market.block b
      where b.account_id = internal.visible_account_id() and b.blocked_id = internal.other_account(conversation)),
    'agreement_from', (
      select case p.sender when role then 'me' else 'counterpart' end
      from market.agreement a join market.proposal p on p.id = a.proposal_id
      where a.conversation_id = conversation.id order by a.id desc limit 1),
    'own_contact', case role when 'inquirer' then conversation.inquirer_contact end,
    'reasons', internal.report_reasons());
end
$$;
comment on function api.get_conversation_page(uuid, uuid) is
  'Returns what the page of a conversation shows: conversation, its 30 latest messages (or those before the message '
  '`before`), oldest first, has_older, up_to (for api.read_conversation), can_write, blocked (by the account itself), '
  'agreement_from (who proposed the latest agreement), own_contact (of an inquirer), and reasons for a report. Raises '
  '404 for any other id.';

create or replace function api.list_messages(id uuid, after uuid, page_size integer) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  conversation constant market.conversation := internal.own_conversation(list_messages.id);
begin
  return internal.message_list(array(
    select m from market.message m
    where m.conversation_id = conversation.id and m.id > coalesce(list_messages.after, repeat('0', 32)::uuid)
    order by m.id limit page_size + 1), page_size, internal.own_role(conversation));
end
$$;
comment on function api.list_messages(uuid, uuid, integer) is
  'Returns messages of a conversation of the account, oldest first, after the message `after`: {results, has_more, '
  'notices}. Raises 404 for any other id.';

create or replace function api.continue_conversation(
  id uuid, body jsonb, idempotency_key text, request_hash bytea, errors jsonb
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
  admission jsonb;
begin
  perform internal.require_permission('converse', internal.rate_limit_headers(internal.own_usage('converse')));
  conversation := internal.lock_conversation(continue_conversation.id);
  admission := internal.admit('converse', continue_conversation.idempotency_key, continue_conversation.request_hash,
    case when errors = '[]' then internal.word_errors(body,
      internal.is_first_message(conversation.id, internal.own_role(conversation)))
      || internal.proposal_errors(body -> 'proposal') else errors end);
  if admission ? 'status' then
    return admission;
  end if;
  conversation := internal.require_open(conversation, admission -> 'headers');
  perform internal.write_in(conversation, body, admission -> 'headers');
  return internal.keep_answer(continue_conversation.idempotency_key, admission, 200,
    internal.conversation_document(internal.own_conversation(conversation.id)));
end
$$;
comment on function api.continue_conversation(uuid, jsonb, text, bytea, jsonb) is
  'Adds a text, a proposal or both to a conversation of the account, in one step. Returns {status, body, headers}, '
  'with the Conversation as body. Raises 404 for any other id, and 409 invalid_state for a conversation that the other '
  'side closed.';

create or replace function api.send_message(
  id uuid, body jsonb, idempotency_key text, request_hash bytea, errors jsonb
) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
  admission jsonb;
  message market.message;
begin
  perform internal.require_permission('converse', internal.rate_limit_headers(internal.own_usage('converse')));
  conversation := internal.lock_conversation(send_message.id, false);
  admission := internal.admit('converse', send_message.idempotency_key, send_message.request_hash,
    case when errors = '[]' then internal.word_errors(body,
      internal.is_first_message(conversation.id, internal.own_role(conversation))) else errors end);
  if admission ? 'status' then
    return admission;
  end if;
  conversation := internal.require_open(conversation, admission -> 'headers');
  message := internal.add_message(conversation, body ->> 'text', body ? 'addresses_agents');
  perform internal.keep_contact(conversation, body ->> 'contact');
  return internal.keep_answer(send_message.idempotency_key, admission, 201,
    internal.message_document(message, internal.own_role(conversation)));
end
$$;
comment on function api.send_message(uuid, jsonb, text, bytea, jsonb) is
  'Adds a message to a conversation of the account. Returns {status, body, headers}. Raises 404 for any other id, and '
  '409 invalid_state for a conversation that the other side closed.';

create or replace function api.read_conversation(id uuid, up_to uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
begin
  perform internal.require_permission('converse');
  conversation := internal.lock_conversation(read_conversation.id, false);
  perform internal.mark_read(conversation, read_conversation.up_to);
  return internal.conversation_document(internal.own_conversation(conversation.id));
end
$$;
comment on function api.read_conversation(uuid, uuid) is
  'Notes that the account has read a conversation up to a message or proposal. Raises 404 for any other id.';

create or replace function api.close_conversation(id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
begin
  perform internal.require_permission('converse');
  conversation := internal.lock_conversation(close_conversation.id);
  perform internal.admit('manage', null, null, '[]');
  if conversation.status = 'open' then
    conversation := internal.close_conversation(conversation, internal.own_role(conversation));
  end if;
  return internal.conversation_document(conversation);
end
$$;
comment on function api.close_conversation(uuid) is
  'Closes a conversation of the account, and with it what is pending; a closed one stays as it is. Raises 404 for any '
  'other id.';

create or replace function api.block_conversation(id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
begin
  perform internal.require_permission('converse');
  conversation := internal.lock_conversation(block_conversation.id);
  perform internal.admit('manage', null, null, '[]');
  perform internal.block(conversation);
  return internal.conversation_document(internal.own_conversation(conversation.id));
end
$$;
comment on function api.block_conversation(uuid) is
  'Blocks the other account of a conversation, for all offers of both, and closes their conversations. Raises 404 for '
  'any other id.';

create or replace function api.unblock(id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.unblock(unblock.id);
  return jsonb '{}';
end
$$;
comment on function api.unblock(uuid) is
  'Undoes the block that was made in this conversation. Raises 404 when there is none.';

create or replace function api.list_blocks() returns jsonb
  language plpgsql stable
as $$ begin return internal.own_blocks(); end $$;
comment on function api.list_blocks() is 'Returns whom the account has blocked, by the conversations in which it did.';

create or replace function api.report_conversation(id uuid, reason text, comment text) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  errors constant jsonb := internal.report_errors(report_conversation.reason, report_conversation.comment);
  conversation market.conversation;
begin
  perform internal.require_permission('report_offer');
  if errors <> '[]' then
    perform internal.raise_field_problems(errors);
  end if;
  conversation := internal.lock_conversation(report_conversation.id, false);
  perform internal.admit('report_offer', null, null, '[]');
  perform internal.report_conversation(conversation, report_conversation.reason,
    nullif(btrim(report_conversation.comment), ''));
  return jsonb_build_object('conversation_id', conversation.id, 'status', 'received', 'summary',
    internal.sentence(case when internal.sandbox_id() is null then 'conversation_reported'
      else 'report_in_sandbox' end));
end
$$;
comment on function api.report_conversation(uuid, text, text) is
  'Reports a conversation of the account to the moderators, who may then read it. Raises 404 for any other id, and 429 '
  'beyond the limit of report_offer.';
