-- The mails that tell a person what waits for their confirmation. Only titles of offers are a stranger's words in them.

create or replace function jobs.get_confirmation_notice(id uuid) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('email', m.email, 'up_to', n.id,
    'confirmations', jsonb_build_array(internal.told_confirmation(n)))
  from market.confirmation n
  join market.digest d on d.account_id = n.account_id and d.enabled
  cross join lateral internal.notice_email(n.account_id) as m (email)
  where n.id = get_confirmation_notice.id and n.status = 'pending' and n.expires_at > now()
    and n.notified_at is null and m.email is not null
$$;
comment on function jobs.get_confirmation_notice(uuid) is
  'Returns {email, up_to, confirmations: [{id, title}]} for the mail about a confirmation; null when it is decided, '
  'has expired, was told, or the person has switched mail off.';

create or replace function jobs.get_confirmation_list(account_id uuid) returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object('email', m.email, 'up_to', w.up_to, 'confirmations', w.confirmations)
  from market.digest d
  cross join lateral internal.notice_email(d.account_id) as m (email)
  cross join lateral (
    select jsonb_agg(internal.told_confirmation(n) order by n.id) as confirmations, max(n.id::text)::uuid as up_to,
      coalesce(bool_or(n.notified_at is null), false) as has_news
    from (select * from market.confirmation c
      where c.account_id = d.account_id and c.status = 'pending' and c.expires_at > now()
      order by c.id limit 50) as n) as w
  where d.account_id = get_confirmation_list.account_id and d.enabled and m.email is not null and w.has_news
$$;
comment on function jobs.get_confirmation_list(uuid) is
  'Returns {email, up_to, confirmations: [{id, title}]} for the mail that lists what an account has to confirm, the '
  'oldest first, at most 50; null when all of it was told, or the person has switched mail off.';

create or replace function jobs.mark_confirmation_notice(id uuid, up_to uuid) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  update market.confirmation n set notified_at = now()
  where n.id = mark_confirmation_notice.id and n.id = up_to and n.notified_at is null
$$;
comment on function jobs.mark_confirmation_notice(uuid, uuid) is 'Notes that the mail about a confirmation was sent.';

create or replace function jobs.mark_confirmation_list(account_id uuid, up_to uuid) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  update market.confirmation n set notified_at = now()
  where n.account_id = mark_confirmation_list.account_id and n.status = 'pending' and n.id <= up_to
    and n.notified_at is null
$$;
comment on function jobs.mark_confirmation_list(uuid, uuid) is
  'Notes that the mail that lists the confirmations of an account was sent: those up to an id.';
