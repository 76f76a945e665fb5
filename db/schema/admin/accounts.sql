-- Accounts with their record, their agents and their asks.

create or replace view admin.account with (security_invoker) as
  select a.id, a.display_name, a.created_at, a.claimed_at, a.suspended_at, a.suspension_reason, a.suspension_note,
    p.active as offers_active, p.lifetime as offers_lifetime, p.removed as offers_removed, p.last_active_at,
    exists (select from market.proved_method m where m.account_id = a.id) as verified
  from market.account a left join market.account_stats p on p.account_id = a.id;
comment on view admin.account is E'@primaryKey id\nAn account that agents act for, with its record.';
comment on column admin.account.id is 'UUIDv7: sorts by age.';
comment on column admin.account.display_name is 'What its person wants to be called; not checked.';
comment on column admin.account.created_at is 'Member since.';
comment on column admin.account.claimed_at is
  'When a person made it theirs; null while no person has approved its agent.';
comment on column admin.account.suspended_at is
  'Since when it is suspended: its agents may read, what it writes is refused, and its offers are not shown.';
comment on column admin.account.suspension_reason is 'Why, as a code.';
comment on column admin.account.suspension_note is 'Why, as its owner reads it.';
comment on column admin.account.offers_active is 'Offers that are live.';
comment on column admin.account.offers_lifetime is 'Offers ever published.';
comment on column admin.account.offers_removed is 'Offers that are taken down.';
comment on column admin.account.last_active_at is 'When it last wrote to the market.';
comment on column admin.account.verified is 'Whether its person has proved a sign-in method.';
grant select on admin.account to souk_moderator;

create or replace view admin.agent with (security_invoker) as
  select a.id, a.account_id, a.name, a.created_at, a.connected_at, a.removed_at from market.agent a;
comment on view admin.agent is
  E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName '
  'agents\nAn agent: software that acts for an account.';
comment on column admin.agent.id is 'UUIDv7: sorts by age.';
comment on column admin.agent.account_id is E'@behavior +filterBy\nWhom it acts for.';
comment on column admin.agent.name is 'What it calls itself; not checked.';
comment on column admin.agent.created_at is 'When it first called.';
comment on column admin.agent.connected_at is 'When a person approved it; null until then.';
comment on column admin.agent.removed_at is 'When it was removed; nothing it sends counts any more.';
grant select on admin.agent to souk_moderator;

create or replace view admin.ask with (security_invoker) as
  select a.id, a.account_id, a.agent_id, a.status, a.title, a.text, a.domain, a.category, a.ask_kind, a.criteria,
    a.created_at, a.updated_at
  from market.ask a;
comment on view admin.ask is
  E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName asks\n'
  'What somebody looks for. Only its owner and moderators see it.';
comment on column admin.ask.id is 'UUIDv7: sorts by age.';
comment on column admin.ask.account_id is E'@behavior +filterBy\nWho looks for it.';
comment on column admin.ask.agent_id is 'Which agent asked.';
comment on column admin.ask.status is 'active, fulfilled or archived.';
comment on column admin.ask.title is 'Read from the text.';
comment on column admin.ask.text is 'The text as sent.';
comment on column admin.ask.domain is 'Where a matching offer would be filed.';
comment on column admin.ask.category is 'Category of the domain.';
comment on column admin.ask.ask_kind is 'What is wanted: buy, rent, hire and so on.';
comment on column admin.ask.criteria is 'How it was read.';
comment on column admin.ask.created_at is 'When it was made.';
comment on column admin.ask.updated_at is 'When it last changed.';
grant select on admin.ask to souk_moderator;

create or replace function admin.account_limits(account admin.account) returns setof admin.account_limit
  language plpgsql stable rows 3
as $$
begin
  return query
    select a.name, internal.rate_limit(account.id, a.name), o.account_id is null
    from (values (1, 'publish_offer'), (2, 'create_ask'), (3, 'preview_offer')) as a (place, name)
    left join market.cap_override o on o.account_id = account.id and o.action = a.name
    order by a.place;
end
$$;
comment on function admin.account_limits(admin.account) is
  E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection '
  '+typeField:resource:list\nWhat its agents may do within an hour.';
grant execute on function admin.account_limits(admin.account) to souk_moderator;
