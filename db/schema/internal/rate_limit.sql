-- How many calls an hour each agent of an account may make. The limit rises with settled offers, proved methods and the
-- age of the account. It falls with removed offers.

create or replace function internal.rate_limit_terms(account_id uuid, action text)
  returns table (base integer, factor integer, settled integer, proved integer, old boolean, removed integer)
  language sql stable
as $$
  -- Offers cost the attention of people, but asks and previews cost only machine time. So for asks and previews every
  -- term is twice as high.
  select internal.setting(rate_limit_terms.action || '_cap')::integer,
    case rate_limit_terms.action when 'publish_offer' then 1 else 2 end,
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = rate_limit_terms.account_id and o.status in ('published', 'archived')
        and o.published_at <= now() - interval '72 hours'
      limit 60) as settled),
    (select count(*)::integer from market.proved_method m where m.account_id = rate_limit_terms.account_id),
    (select a.created_at <= now() - interval '30 days' from market.account a where a.id = rate_limit_terms.account_id),
    (select count(*)::integer from (
      select from market.offer o
      where o.account_id = rate_limit_terms.account_id and o.status = 'removed'
        and o.removed_at > now() - interval '30 days'
      limit 10) as removals)
$$;
comment on function internal.rate_limit_terms(uuid, text) is
  'Returns the terms of a rate limit: base and factor of the action, settled offers (published at least 72 hours ago '
  'and not removed; at most 60 count), proved methods, whether the account is 30 days old, and offers removed in the '
  'last 30 days (at most 10 count).';
grant execute on function internal.rate_limit_terms(uuid, text) to souk_dba;

create or replace function internal.rate_limit(account_id uuid, action text) returns integer
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (select o.cap from market.cap_override o
      where o.account_id = rate_limit.account_id and o.action = rate_limit.action),
    (select greatest(
      least(t.base + t.factor * (4 * t.settled + 30 * t.proved + case when t.old then 60 else 0 end), 10 * t.base)
      / 2 ^ t.removed,
      t.base / 4)::integer
    from internal.rate_limit_terms(rate_limit.account_id, rate_limit.action) as t));
end
$$;
comment on function internal.rate_limit(uuid, text) is
  'Returns the allowed calls an hour: base + 4 x min(settled offers, 60) + 30 x proved methods + 60 after 30 days, at '
  'most 10 x base. Each removal in the last 30 days halves the limit, but not below base / 4. The terms added to the '
  'base are doubled for asks and previews. The base is a setting. A limit that a moderator set for the account '
  'replaces the result.';
grant execute on function internal.rate_limit(uuid, text) to souk_agent, souk_person, souk_dba, souk_moderator;
