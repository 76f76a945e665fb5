-- Conversations without their words: how far they are, and for whom they wait.

create or replace view inspect.conversations with (security_invoker = true) as
select c.id as conversation_id, c.offer_id, o.status as offer_status, c.publisher_id, c.inquirer_id, c.sandbox_id,
  c.status, c.closed_by, m.messages, n.proposals, n.made, c.publisher_unread, c.inquirer_unread, w.pending, w.waits_for,
  now() - w.since as waiting, w.ends_at, r.reports, c.created_at, c.active_at
from market.conversation c
join market.offer o on o.id = c.offer_id
cross join lateral (select count(*) as messages from market.message m where m.conversation_id = c.id) as m
cross join lateral (
  select count(*) as proposals, count(*) filter (where a.status = 'made') as made
  from market.proposal p left join market.agreement a on a.proposal_id = p.id where p.conversation_id = c.id) as n
cross join lateral (
  select count(*) as reports from market.conversation_report r
  where r.conversation_id = c.id and r.completed_at is null) as r
left join lateral (
  select 'proposal' as pending, array[case p.sender when 'publisher' then 'inquirer' else 'publisher' end] as waits_for,
    p.created_at as since, p.expires_at as ends_at
  from market.proposal p where p.conversation_id = c.id and p.status = 'pending'
  union all
  select 'agreement' as pending, array_remove(array[case when a.publisher_agreed_at is null then 'publisher' end,
    case when a.inquirer_agreed_at is null then 'inquirer' end], null), a.created_at, a.expires_at
  from market.agreement a where a.conversation_id = c.id and a.status = 'awaiting'
  limit 1) as w on true;
comment on view inspect.conversations is
  'When somebody says that a deal does not go on: each conversation without its words, what is pending in it, for whom '
  'it waits and since when. Select by conversation_id, offer_id, publisher_id or inquirer_id.';
select internal.copy_comments('inspect.conversations', 'market.conversation');
comment on column inspect.conversations.conversation_id is 'The id that GET /v1/conversations shows.';
comment on column inspect.conversations.offer_status is
  'The status of the offer. Nothing can be agreed on while it is not published.';
comment on column inspect.conversations.messages is 'Messages of both sides, also those whose text was erased.';
comment on column inspect.conversations.proposals is 'Proposals of both sides.';
comment on column inspect.conversations.made is 'Agreements that were made.';
comment on column inspect.conversations.pending is 'proposal, or agreement (an accepted proposal); null for nothing.';
comment on column inspect.conversations.waits_for is
  'The sides that have to answer the proposal, or whose persons have to confirm the agreement.';
comment on column inspect.conversations.waiting is 'How long it has waited for them.';
comment on column inspect.conversations.ends_at is
  'When what is pending expires. jobs.expire_deals notes it within a minute.';
comment on column inspect.conversations.reports is 'Reports that a moderator has not settled.';
grant select on inspect.conversations to souk_dba;
