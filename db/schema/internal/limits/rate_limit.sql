-- How many calls an hour each agent of an account may make. The limit rises with settled offers, proved methods and the
-- age of the account. It falls with removed offers. The limits of `manage`, `report_offer` and `search_offers` are the
-- same for all.
-- Calls are counted in rate_limit_window.sql.

create or replace function internal.limited_actions() returns table (action text, place integer)
  language sql immutable
as $$
  values ('publish_offer', 1), ('create_ask', 2), ('preview_offer', 3), ('manage', 4), ('report_offer', 5),
    ('search_offers', 6), ('converse', 7)
$$;
comment on function internal.limited_actions() is
  'Returns the actions with an hourly limit, in the order in which they are shown: publish_offer (also changing and '
  'republishing), create_ask (also changing the text), preview_offer, manage (archiving, republishing, reopening, '
  'fulfilling, and changing watch_enabled), report_offer search_offers (internal/limits/search_limit.sql), and '
  'converse (messages and proposals).';
grant execute on function internal.limited_actions() to souk_agent, souk_person, souk_moderator, souk_dba;

create or replace function internal.rate_limit_terms(account_id uuid, action text)
  returns table (base integer, factor integer, settled integer, proved integer, old boolean, removed integer)
  language sql stable
as $$
  -- Offers cost the attention of people, but asks and previews cost only machine time. So for asks and previews every
  -- term is twice as high. A good record does not raise the limits of the others, because nobody needs more of
  -- those calls.
  select s.value::integer,
    case rate_limit_terms.action when 'publish_offer' then 1 when 'create_ask' then 2 when 'preview_offer' then 2
      else 0 end,
    t.settled, t.proved, t.old, t.removed
  from market.setting s
  cross join (
    select
      (select count(*)::integer from (
        select from market.offer o
        where o.account_id = rate_limit_terms.account_id and o.status in ('published', 'archived')
          and o.published_at <= now() - interval '72 hours'
        limit 60) as settled) as settled,
      (select count(*)::integer from market.proved_method m where m.account_id = rate_limit_terms.account_id)
        as proved,
      (select a.created_at <= now() - interval '30 days' from market.account a
        where a.id = rate_limit_terms.account_id) as old,
      (select count(*)::integer from (
        select from market.offer o
        where o.account_id = rate_limit_terms.account_id and o.status = 'removed'
          and o.removed_at > now() - interval '30 days'
        union all
        -- From earlier accounts of the person.
        select from market.account a
        join market.offer o on o.id = any (a.prior_removals)
        where a.id = rate_limit_terms.account_id and o.status = 'removed'
          and o.removed_at > now() - interval '30 days'
        limit 10) as removals) as removed
    -- Computed once for all actions, and once however often a query names a term.
    offset 0) as t
  where s.name = rate_limit_terms.action || '_cap'
$$;
comment on function internal.rate_limit_terms(uuid, text) is
  'Returns the terms of a rate limit: base and factor of the action (0: only the base counts), settled offers '
  '(published at least 72 hours ago and not removed; at most 60 count), proved methods, whether the account is 30 days '
  'old, and offers removed in the last 30 days, also from the person''s earlier accounts (at most 10 count).';
grant execute on function internal.rate_limit_terms(uuid, text) to souk_dba;

-- Plain SQL, which PostgreSQL makes a part of the query that calls it, so that the limits and the calls of all actions
-- are one query (internal.own_usages).
create or replace function internal.rate_limits(account_id uuid, action text default null)
  returns table (limited text, cap integer, overridden boolean)
  language sql stable rows 6
as $$
  select l.action, coalesce(o.cap, case t.factor when 0 then t.base else greatest(
    least(t.base + t.factor * (4 * t.settled + 30 * t.proved + case when t.old then 60 else 0 end), 10 * t.base)
    / 2 ^ t.removed,
    t.base / 4)::integer end), o.cap is not null
  from internal.limited_actions() as l
  cross join lateral internal.rate_limit_terms(rate_limits.account_id, l.action) as t
  left join market.cap_override o on o.account_id = rate_limits.account_id and o.action = l.action
  where l.action = coalesce(rate_limits.action, l.action)
$$;
comment on function internal.rate_limits(uuid, text) is
  'Returns the allowed calls an hour for each action, or for one, and whether a moderator set them for the account. '
  'Only functions that run as the owner call it.';

create or replace function internal.rate_limit(account_id uuid, action text) returns integer
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select l.cap from internal.rate_limits(rate_limit.account_id, rate_limit.action) as l);
end
$$;
comment on function internal.rate_limit(uuid, text) is
  'Returns the allowed calls an hour: base + 4 x min(settled offers, 60) + 30 x proved methods + 60 after 30 days, at '
  'most 10 x base. Each removal in the last 30 days halves the limit, but not below base / 4. The terms added to the '
  'base are doubled for asks and previews; the limits of the other actions are their base. The base is a setting. A '
  'limit that a moderator set for the account replaces the result.';
grant execute on function internal.rate_limit(uuid, text) to souk_agent, souk_person, souk_dba, souk_moderator;
