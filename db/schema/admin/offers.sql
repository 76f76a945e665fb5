-- Offers as moderators see them, with their reports, appeals and history.

create or replace view admin.offer with (security_invoker) as
  select o.id, o.account_id, o.agent_id, o.status, o.title, coalesce(o.sent_text, o.text) as text, o.images, o.language,
    o.domain, o.category,
    o.offer_kind,
    o.metadata -> 'pricing' ->> 'label' as price, o.location_text as location, o.metadata, o.contact, o.extraction,
    o.missing_fields, o.warnings, o.reviewed, o.review_reason, o.review_note, o.created_at,
    greatest(o.updated_at, c.created_at) as updated_at, o.published_at, o.removed_at, o.suspended_at
  from market.offer o left join market.offer_change c on c.offer_id = o.id
  where o.sandbox_id is null;
comment on view admin.offer is
  E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName '
  'offers\n@foreignKey (agent_id) references admin.agent (id)|@fieldName agent|@foreignFieldName offers\n'
  'An offer of any status.';
select internal.copy_comments('admin.offer', 'market.offer');
comment on column admin.offer.account_id is
  E'@behavior +filterBy\nThe account that owns the offer; null when the account no longer exists.';
comment on column admin.offer.agent_id is E'@behavior +filterBy\nThe agent that published the offer.';
comment on column admin.offer.text is 'The text as sent, also what is addressed to software, which others do not see.';
comment on column admin.offer.price is 'The price in the words of the text.';
comment on column admin.offer.location is 'The place as the text names it.';
comment on column admin.offer.updated_at is
  'When the offer, or its change that waits, last changed. A decision includes the value that the moderator saw, and '
  'raises 409 when the offer has changed since.';
grant select on admin.offer to souk_moderator;

create or replace function admin.offer_obstacle(offer admin.offer) returns text
  language plpgsql stable
as $$ begin return internal.decision_obstacle(offer.id, offer.account_id); end $$;
comment on function admin.offer_obstacle(admin.offer) is
  'The reason why you may not decide on the offer, as a sentence; null when you may.';
grant execute on function admin.offer_obstacle(admin.offer) to souk_moderator;

create or replace view admin.offer_change with (security_invoker) as
  select c.offer_id, c.agent_id, c.title, coalesce(c.sent_text, c.text) as text, c.images, c.language, c.domain,
    c.category, c.offer_kind,
    c.metadata -> 'pricing' ->> 'label' as price, c.location_text as location, c.metadata, c.contact, c.extraction,
    c.missing_fields, c.warnings, c.created_at, c.rejected_at, c.review_reason, c.review_note
  from market.offer_change c;
comment on view admin.offer_change is
  E'@primaryKey offer_id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName '
  'change\nThe last change of an offer, if it waits for a decision (publishOffer or rejectOffer) or was rejected. The '
  'offer itself is what everyone sees.';
select internal.copy_comments('admin.offer_change', 'market.offer_change');
comment on column admin.offer_change.text is 'The text as sent, also what is addressed to software.';
comment on column admin.offer_change.price is 'The price in the words of the text.';
comment on column admin.offer_change.location is 'The place as the text names it.';
grant select on admin.offer_change to souk_moderator;

create or replace view admin.report with (security_invoker) as
  select r.id, r.offer_id, r.account_id, r.agent_id, r.reason, r.comment, r.created_at, r.completed_at
  from market.report r;
comment on view admin.report is
  E'@primaryKey id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName reports\n'
  '@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName reports\n'
  'A report: an account asks the moderators to look at an offer.';
select internal.copy_comments('admin.report', 'market.report');
comment on column admin.report.offer_id is E'@behavior +filterBy\nThe reported offer.';
comment on column admin.report.account_id is
  E'@behavior +filterBy\nThe account that reported; null when it was deleted, and for an agent that its person has not '
  'connected.';
comment on column admin.report.completed_at is 'When a decision completed the report; null while it waits.';
grant select on admin.report to souk_moderator;

create or replace view admin.appeal with (security_invoker) as
  select a.offer_id, a.removed_at, a.account_id, a.agent_id, a.comment, a.created_at, a.decided_at from market.appeal a;
comment on view admin.appeal is
  E'@primaryKey offer_id,removed_at\n@foreignKey (offer_id) references admin.offer (id)|@fieldName '
  'offer|@foreignFieldName appeals\nAn appeal: the owner of a removed offer asks for a decision of another moderator.';
select internal.copy_comments('admin.appeal', 'market.appeal');
comment on column admin.appeal.offer_id is E'@behavior +filterBy\nThe removed offer.';
grant select on admin.appeal to souk_moderator;

create or replace view admin.decision with (security_invoker) as
  select d.id, d.moderator_id, d.action, d.offer_id, d.account_id, d.agent_id, d.conversation_id, d.reason, d.sentence,
    d.created_at
  from market.decision d;
comment on view admin.decision is
  E'@primaryKey id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName decisions\n'
  '@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName decisions\n'
  '@foreignKey (moderator_id) references admin.moderator (account_id)|@fieldName moderator|@foreignFieldName '
  'decisions\nA decision of a moderator.';
select internal.copy_comments('admin.decision', 'market.decision');
comment on column admin.decision.moderator_id is
  E'@behavior +filterBy\nThe moderator; null when the account no longer exists.';
comment on column admin.decision.action is
  'keep, remove, restore, uphold, publish, reject; suspend, reinstate, remove_agent, override_cap; settle, '
  'remove_message.';
comment on column admin.decision.offer_id is
  E'@behavior +filterBy\nThe offer that was decided on; null for accounts and agents.';
comment on column admin.decision.account_id is
  E'@behavior +filterBy\nThe account that was decided on, or that owns the offer or agent.';
grant select on admin.decision to souk_moderator;

create or replace function admin.offer_similar(offer admin.offer) returns setof admin.offer
  language plpgsql stable rows 8
as $$
begin
  return query
    select o.* from internal.similar_offers(offer.id) with ordinality as s (id, place) join admin.offer o on o.id = s.id
    order by s.place;
end
$$;
comment on function admin.offer_similar(admin.offer) is
  E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection '
  '+typeField:resource:list\nUp to eight similar offers, most similar first. Only offers that are or were published '
  'can be compared.';
grant execute on function admin.offer_similar(admin.offer) to souk_moderator;
