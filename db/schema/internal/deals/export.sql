-- The conversations of an account in its export: each with its proposals and agreements, and apart from them the
-- messages, of which one conversation may have many.

create or replace function internal.own_conversations(after uuid, most integer) returns setof market.conversation
  language sql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
  select (s.c).* from (
    (select c from market.conversation c
      where c.publisher_id = internal.account_id() and (after is null or c.id < after)
      order by c.id desc limit most)
    union all
    (select c from market.conversation c
      where c.inquirer_id = internal.account_id() and (after is null or c.id < after)
      order by c.id desc limit most)) as s
  order by (s.c).id desc limit most
$$;
comment on function internal.own_conversations(uuid, integer) is
  'Returns conversations of the account, the newest first, from one on that it has returned.';
grant execute on function internal.own_conversations(uuid, integer) to souk_person;

create or replace function internal.exported_conversation(conversation market.conversation) returns jsonb
  language plpgsql stable
as $$
declare
  role constant text := internal.own_role(conversation);
begin
  return internal.conversation_document(conversation) - '{proposal,agreement,next}'::text[] || jsonb_build_object(
    'own_contact', case role when 'inquirer' then conversation.inquirer_contact end,
    'origin_ask_id', case role when 'inquirer' then conversation.origin_ask_id end,
    'proposals', (
      select coalesce(jsonb_agg(internal.proposal_document(p, role) order by p.id), '[]')
      from market.proposal p where p.conversation_id = conversation.id),
    'agreements', (
      select coalesce(jsonb_agg(internal.agreement_document(a, role) order by a.id), '[]')
      from market.agreement a where a.conversation_id = conversation.id));
end
$$;
comment on function internal.exported_conversation(market.conversation) is
  'Returns a conversation for the export of the side of the caller: with all proposals and agreements.';
grant execute on function internal.exported_conversation(market.conversation) to souk_person;

create or replace function internal.own_messages(size integer, cursor text) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  list constant text := 'export messages';
  place constant jsonb := internal.position_of(cursor, list);
  within uuid := (place ->> 'id')::uuid;
  after uuid := (place ->> 'message')::uuid;
  conversation market.conversation;
  messages market.message[];
  items jsonb := jsonb '[]';
begin
  -- The conversation in which the last piece ended, and then the others one after the other.
  select * into conversation from market.conversation c where c.id = within;
  loop
    if conversation.id is null then
      select * into conversation from internal.own_conversations(within, 1) as c;
      exit when conversation.id is null;
      within := conversation.id;
      after := null;
    end if;
    messages := array(
      select m from market.message m where m.conversation_id = conversation.id and (after is null or m.id > after)
      order by m.id limit size - jsonb_array_length(items));
    items := items || (
      select coalesce(jsonb_agg(jsonb_build_object('conversation_id', conversation.id)
        || internal.message_document(m, internal.own_role(conversation)) order by m.id), '[]')
      from unnest(messages) as m);
    if jsonb_array_length(items) = size then
      return jsonb_build_object('items', items, 'next_cursor', internal.cursor_of(jsonb_build_object('list', list,
        'id', within, 'message', messages[cardinality(messages)].id)));
    end if;
    conversation := null;
  end loop;
  return jsonb_build_object('items', items, 'next_cursor', null);
end
$$;
comment on function internal.own_messages(integer, text) is
  'Returns one piece of the messages in the conversations of the account: {items, next_cursor}.';
grant execute on function internal.own_messages(integer, text) to souk_person;
