-- Moderators, and the reasons that they choose from.

create or replace view admin.moderator with (security_invoker) as
  select m.account_id, coalesce(a.display_name, 'Moderator ' || right(m.account_id::text, 4)) as name, m.appointed_at,
    m.appointed_by
  from market.moderator m join market.account a on a.id = m.account_id;
comment on view admin.moderator is E'@primaryKey account_id\nA moderator.';
select internal.copy_comments('admin.moderator', 'market.moderator');
comment on column admin.moderator.name is 'The display name of the account, or a generated name that stays the same.';
grant select on admin.moderator to souk_moderator;

create or replace view admin.reason with (security_invoker) as
  select r.code, r.rank, r.summary, r.sentence from market.reason r;
comment on view admin.reason is
  E'@primaryKey code\nA reason for a report, or for removing an offer or suspending an account.';
select internal.copy_comments('admin.reason', 'market.reason');
comment on column admin.reason.rank is E'@behavior +orderBy\nThe position in lists.';
comment on column admin.reason.sentence is 'What the owner reads when you write no sentence.';
grant select on admin.reason to souk_moderator;

create or replace function admin.viewer() returns admin.moderator
  language plpgsql stable
as $$
begin
  return (select m from admin.moderator m where m.account_id = internal.moderator_id());
end
$$;
comment on function admin.viewer() is 'Returns you, the moderator who calls.';
grant execute on function admin.viewer() to souk_moderator;

create or replace function admin.moderator_sign_in_obstacle(moderator admin.moderator) returns text
  language plpgsql stable
as $$
begin
  return case when moderator.account_id = internal.moderator_id() then internal.sign_in_obstacle() end;
end
$$;
comment on function admin.moderator_sign_in_obstacle(admin.moderator) is
  'What you have to do before you may decide: add_method (prove a way to sign in) or sign_in_again (your last sign-in '
  'was more than 15 minutes ago). Null when you may decide, and for other moderators.';
grant execute on function admin.moderator_sign_in_obstacle(admin.moderator) to souk_moderator;
