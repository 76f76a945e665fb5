-- Accounts with their stats, their agents, asks and rate limits.

create or replace view admin.account with (security_invoker) as
  select a.id, a.display_name, a.created_at, a.claimed_at, a.suspended_at, a.suspension_reason, a.suspension_note,
    p.active as offers_active, p.lifetime as offers_lifetime, p.removed as offers_removed, p.last_active_at,
    exists (select from market.proved_method m where m.account_id = a.id) as verified,
    cardinality(a.prior_removals) as offers_removed_before
  from market.account a left join market.account_stats p on p.account_id = a.id
  where a.sandbox_id is null;
comment on view admin.account is E'@primaryKey id\nAn account that agents act for, with its stats.';
select internal.copy_comments('admin.account', 'market.account');
comment on column admin.account.display_name is 'The name that the person chose; not checked.';
comment on column admin.account.suspended_at is
  'When the account was suspended. Its agents may read, its writes are refused, and its offers are not shown. Null '
  'while it is not suspended.';
comment on column admin.account.offers_active is 'Number of offers that are published now.';
comment on column admin.account.offers_lifetime is 'Number of offers that were ever published.';
comment on column admin.account.offers_removed is 'Number of offers that moderation has removed and not restored.';
comment on column admin.account.last_active_at is 'When the account last wrote to the market.';
comment on column admin.account.verified is 'Whether the person has proved a sign-in method.';
comment on column admin.account.offers_removed_before is
  'Number of offers that moderation removed from earlier accounts of the same person. They count in the caps and in '
  'the publisher''s record. A suspension of an earlier account is in force again, too.';
grant select on admin.account to souk_moderator;

create or replace view admin.agent with (security_invoker) as
  select a.id, a.account_id, a.name, a.created_at, a.connected_at, a.removed_at from market.agent a
  where a.sandbox_id is null;
comment on view admin.agent is
  E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName '
  'agents\nAn agent: software that acts for an account.';
select internal.copy_comments('admin.agent', 'market.agent');
comment on column admin.agent.account_id is E'@behavior +filterBy\nThe account that the agent acts for.';
comment on column admin.agent.name is 'The name that the agent gave itself; not checked.';
comment on column admin.agent.connected_at is
  'When a person approved the agent; null until then, and after the account was recovered, until the person approves '
  'it again.';
grant select on admin.agent to souk_moderator;

create or replace view admin.ask with (security_invoker) as
  select a.id, a.account_id, a.agent_id, a.status, a.title, a.text, a.domain, a.category, a.ask_kind, a.criteria,
    a.created_at, a.updated_at
  from market.ask a
  where a.sandbox_id is null;
comment on view admin.ask is
  E'@primaryKey id\n@foreignKey (account_id) references admin.account (id)|@fieldName account|@foreignFieldName asks\n'
  'An ask: what an account looks for. Only its owner and moderators see it.';
select internal.copy_comments('admin.ask', 'market.ask');
comment on column admin.ask.account_id is E'@behavior +filterBy\nThe account that asks.';
grant select on admin.ask to souk_moderator;

create or replace function admin.account_limits(account admin.account) returns setof admin.account_limit
  language plpgsql stable rows 6
as $$
begin
  return query
    select a.action, internal.rate_limit(account.id, a.action), o.account_id is null
    from internal.limited_actions() as a
    left join market.cap_override o on o.account_id = account.id and o.action = a.action
    order by a.place;
end
$$;
comment on function admin.account_limits(admin.account) is
  E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection '
  '+typeField:resource:list\nThe rate limits of the account: calls that each of its agents may make within an hour.';
grant execute on function admin.account_limits(admin.account) to souk_moderator;
