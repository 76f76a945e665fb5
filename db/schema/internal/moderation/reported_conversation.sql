-- Reported conversations. A report puts the offer of the conversation into the moderators' queue. While the report is
-- open, moderators may read the messages. The audit log says which moderator read them.

create or replace function internal.review_conversations(offer_id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from market.conversation_report r join market.conversation c on c.id = r.conversation_id
    where r.completed_at is null and c.offer_id = review_conversations.offer_id) then
    perform internal.open_case(review_conversations.offer_id, array['reported_conversation']);
  else
    perform internal.drop_cause(review_conversations.offer_id, 'reported_conversation');
  end if;
end
$$;
comment on function internal.review_conversations(uuid) is
  'Opens the case of an offer while a report of a conversation about it is open, and otherwise drops this cause.';
grant execute on function internal.review_conversations(uuid) to souk_moderator;

create or replace function internal.review_reported_conversation() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- No conversation is found when the report is deleted with it, and then its offer is deleted, too.
  perform internal.review_conversations(c.offer_id) from market.conversation c
  where c.id = coalesce(new.conversation_id, old.conversation_id);
  return null;
end
$$;
comment on function internal.review_reported_conversation() is
  'Opens a case for the offer of a reported conversation, or drops its cause when the last report is completed.';

create or replace function internal.reported_words(id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
begin
  select * into conversation from market.conversation c
  where c.id = reported_words.id and internal.moderator_id() is not null
    and exists (select from market.conversation_report r where r.conversation_id = c.id and r.completed_at is null);
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_reported_conversation');
  end if;
  insert into market.audit_event (actor_type, account_id, sql_role, action, table_name, row_id, request_id)
  values ('moderator', internal.moderator_id(), 'souk_moderator', 'conversation.read', 'conversation',
    conversation.id::text, nullif(current_setting('market.request_id', true), ''));
  return (
    select coalesce(jsonb_agg(to_jsonb(w) || jsonb_build_object('account_id', case w.sender
      when 'publisher' then conversation.publisher_id else conversation.inquirer_id end) order by w.id), '[]')
    from (
      select * from (
        (select m.id, 'message' as kind, m.sender, m.text, m.created_at from market.message m
          where m.conversation_id = conversation.id order by m.id desc limit 200)
        union all
        (select p.id, 'proposal', p.sender,
          nullif(concat_ws(E'\n', p.terms #>> '{handover,place}', p.terms ->> 'note'), ''), p.created_at
          from market.proposal p where p.conversation_id = conversation.id order by p.id desc limit 200)) as a
      order by a.id desc limit 200) as w);
end
$$;
comment on function internal.reported_words(uuid) is
  'Returns the last 200 messages and proposals of a conversation whose report is open, oldest first: [{id, kind, '
  'sender, text, created_at, account_id}], where the text of a proposal is its place and note. Notes in the audit log '
  'which moderator read them. Raises 404 for any other conversation.';
grant execute on function internal.reported_words(uuid) to souk_moderator;

create or replace function internal.conversation_obstacle(publisher_id uuid, inquirer_id uuid) returns text
  language plpgsql stable
as $$
begin
  return coalesce(internal.decision_obstacle(null, conversation_obstacle.publisher_id),
    internal.decision_obstacle(null, conversation_obstacle.inquirer_id));
end
$$;
comment on function internal.conversation_obstacle(uuid, uuid) is
  'Returns a sentence that says why the calling moderator may not decide about a conversation of these accounts; null '
  'when the moderator may.';
grant execute on function internal.conversation_obstacle(uuid, uuid) to souk_moderator;

create or replace function internal.decide_conversation(id uuid, message_id uuid, note text) returns uuid
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  conversation market.conversation;
  decided uuid;
  author text;
begin
  select * into conversation from market.conversation c
  where c.id = decide_conversation.id and internal.moderator_id() is not null for no key update;
  if not found or not exists (select from market.conversation_report r
    where r.conversation_id = conversation.id and r.completed_at is null) then
    perform internal.raise_problem(404, 'not_found', 'no_reported_conversation');
  elsif char_length(internal.visible_sentence(note)) > 500 then
    perform internal.raise_problem(400, 'bad_request', 'note_too_long');
  end if;
  perform internal.check_may_decide(null, conversation.publisher_id);
  perform internal.check_may_decide(null, conversation.inquirer_id);
  perform internal.lock_case(conversation.offer_id);
  if message_id is null then
    update market.conversation_report r set completed_at = now()
    where r.conversation_id = conversation.id and r.completed_at is null;
  else
    update market.message m set text = null
    where m.conversation_id = conversation.id and m.id = message_id and m.text is not null
    returning m.sender into author;
    if not found then
      update market.proposal p set terms = (p.terms - 'note') #- '{handover,place}'
      where p.conversation_id = conversation.id and p.id = message_id
        and (p.terms ? 'note' or p.terms -> 'handover' ? 'place') returning p.sender into author;
    end if;
    if author is null then
      perform internal.raise_problem(404, 'not_found', 'no_message');
    end if;
  end if;
  insert into market.decision (moderator_id, action, account_id, conversation_id, sentence)
  values (internal.moderator_id(), case when message_id is null then 'settle' else 'remove_message' end,
    case author when 'publisher' then conversation.publisher_id when 'inquirer' then conversation.inquirer_id end,
    conversation.id, internal.visible_sentence(note))
  returning decision.id into decided;
  return decided;
end
$$;
comment on function internal.decide_conversation(uuid, uuid, text) is
  'Completes the open reports of a conversation or, with a message_id, removes the words of this message or proposal, '
  'as the calling moderator. Returns the id of the decision. Raises 400 for a long note, 404 when no report is open or '
  'the words are gone, and 409 when another moderator holds the case of its offer, or the conversation is an own one.';
grant execute on function internal.decide_conversation(uuid, uuid, text) to souk_moderator;
