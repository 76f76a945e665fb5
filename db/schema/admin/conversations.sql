-- Reported conversations. Their words are read by a call, and not with a view, because the audit log has who read them.

create or replace view admin.reported_conversation with (security_invoker) as
  select c.id, c.offer_id, c.publisher_id, c.inquirer_id, c.status, c.closed_by, c.created_at, c.active_at, r.reports,
    r.reported_at
  from (
    select o.conversation_id, count(*)::integer as reports, min(o.created_at) as reported_at
    from market.conversation_report o where o.completed_at is null group by o.conversation_id) as r
  join market.conversation c on c.id = r.conversation_id;
comment on view admin.reported_conversation is
  E'@primaryKey id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName '
  'reportedConversations\nA conversation about an offer that one of its sides reported, until its reports are settled. '
  'readConversation returns its words.';
select internal.copy_comments('admin.reported_conversation', 'market.conversation');
comment on column admin.reported_conversation.offer_id is E'@behavior +filterBy\nThe offer.';
comment on column admin.reported_conversation.reports is 'Number of open reports.';
comment on column admin.reported_conversation.reported_at is 'When the oldest of them was made.';
grant select on admin.reported_conversation to souk_moderator;

create or replace view admin.conversation_report with (security_invoker) as
  select r.conversation_id, r.account_id, r.reason, r.comment, r.created_at
  from market.conversation_report r where r.completed_at is null;
comment on view admin.conversation_report is
  E'@primaryKey conversation_id,account_id\n@foreignKey (conversation_id) references admin.reported_conversation '
  '(id)|@fieldName conversation|@foreignFieldName openReports\nAn open report of a conversation by one of its sides.';
select internal.copy_comments('admin.conversation_report', 'market.conversation_report');
comment on column admin.conversation_report.conversation_id is E'@behavior +filterBy\nThe reported conversation.';
comment on column admin.conversation_report.account_id is 'The side that reported.';
grant select on admin.conversation_report to souk_moderator;

create or replace function admin.read_conversation(id uuid) returns setof admin.conversation_words
  language plpgsql volatile rows 200
as $$
begin
  return query select w.* from jsonb_populate_recordset(null::admin.conversation_words,
    internal.reported_words(read_conversation.id)) as w;
end
$$;
comment on function admin.read_conversation(uuid) is
  'Returns the last 200 messages and proposals of a reported conversation, oldest first. The log has that you read '
  'them. Raises 404 when no report of it is open.';

create or replace function admin.settle_conversation(id uuid, note text default null) returns admin.decision
  language plpgsql volatile
as $$
declare
  decided constant uuid := internal.decide_conversation(settle_conversation.id, null, settle_conversation.note);
begin
  return (select d from admin.decision d where d.id = decided);
end
$$;
comment on function admin.settle_conversation(uuid, text) is
  'Completes the open reports of a conversation: you have removed what had to go, suspended an account, or there is '
  'nothing to do. The note is for other moderators.';

create or replace function admin.remove_message(conversation_id uuid, id uuid, note text default null)
  returns admin.decision
  language plpgsql volatile
as $$
declare
  decided constant uuid := internal.decide_conversation(remove_message.conversation_id, remove_message.id,
    remove_message.note);
begin
  return (select d from admin.decision d where d.id = decided);
end
$$;
comment on function admin.remove_message(uuid, uuid, text) is
  'Removes the words of a message or proposal of a reported conversation, for both sides. The note is for other '
  'moderators.';

create or replace function admin.show_conversation(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  conversation admin.reported_conversation;
begin
  select * into conversation from admin.reported_conversation c where c.id = show_conversation.id;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_reported_conversation');
  end if;
  return jsonb_build_object('viewer', admin.page_viewer(),
    'conversation', to_jsonb(conversation) || jsonb_build_object(
      'obstacle', internal.conversation_obstacle(conversation.publisher_id, conversation.inquirer_id),
      'offer', (select jsonb_build_object('id', o.id, 'title', o.title, 'status', o.status) from admin.offer o
        where o.id = conversation.offer_id),
      'entries', internal.reported_words(conversation.id),
      'reports_open', (select jsonb_agg(to_jsonb(r) order by r.created_at) from admin.conversation_report r
        where r.conversation_id = conversation.id)));
end
$$;
comment on function admin.show_conversation(uuid) is
  E'@behavior -*\nReturns the page of a reported conversation, with its words. The log has that the moderator read '
  'them. Raises 404 when no report of it is open.';
grant execute on function
  admin.read_conversation(uuid), admin.settle_conversation(uuid, text), admin.remove_message(uuid, uuid, text)
  to souk_moderator;
grant execute on function
  admin.show_conversation(uuid), admin.settle_conversation(uuid, text), admin.remove_message(uuid, uuid, text)
  to souk_api;
