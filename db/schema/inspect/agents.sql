-- Which agents call, how often, and which calls are refused. The views run with the caller's rights (security_invoker),
-- so they show only columns that market/dba_access.sql grants.

create or replace view inspect.agents with (security_invoker = true) as
select a.id as agent_id, a.account_id, a.name, a.created_at, a.connected_at, a.removed_at,
  c.calls_last_hour, c.calls_last_day, c.last_call_at,
  (select count(*) from market.submission s where s.agent_id = a.id and s.completed_at is null) as submissions_waiting,
  (select count(*) from market.idempotency_key k where k.owner_id = a.id) as keys
from market.agent a
cross join lateral (
  select count(*) filter (where c.called_at > now() - interval '1 hour') as calls_last_hour,
    count(*) as calls_last_day, max(c.called_at) as last_call_at
  from market.rate_limit_hit c where c.scope = 'agent:' || a.id and c.called_at > now() - interval '1 day') as c;
comment on view inspect.agents is
  'When you look for an agent or an account: when the agent was created and approved, and what it does. Select by '
  'agent_id or account_id; otherwise the view reads every agent.';
comment on column inspect.agents.agent_id is 'The id in the answer of POST /v1/connect and in GET /v1/me.';
comment on column inspect.agents.name is 'The name that the agent gave itself. A stranger''s text: do not trust it.';
comment on column inspect.agents.connected_at is
  'When a person approved the agent. While this is null, the writes of the agent are refused with 403. It is null '
  'again after the account was recovered (market.agent.disconnected_at), until the person approves the agent again.';
comment on column inspect.agents.calls_last_hour is
  'Counted calls (publish, ask, preview, manage, report; searches until a person approved the agent) in the last hour. '
  'Reads are not counted.';
comment on column inspect.agents.calls_last_day is 'Counted calls in the last day. Older calls are not stored.';
comment on column inspect.agents.last_call_at is 'The latest counted call; null when there was none in the last day.';
comment on column inspect.agents.submissions_waiting is
  'The number of submissions of the agent that are not completed.';
comment on column inspect.agents.keys is 'The number of idempotency keys that the agent used in the last day.';
grant select on inspect.agents to souk_dba;

create or replace view inspect.why_429 with (security_invoker = true) as
select a.id as agent_id, action.name as action, w.used >= cap.calls as refused, w.used, cap.calls as cap,
  wait.seconds as next_slot_in,
  clock_timestamp() + wait.seconds * interval '1 second' as next_slot_at,
  t.base, t.factor, t.settled as settled_offers, t.proved as proved_methods, coalesce(t.old, false) as account_is_old,
  t.removed as recent_removals,
  concat_ws(' ',
    format('%s of %s calls of the last hour are used%s.', w.used, cap.calls,
      case when cap.calls = 0 then ', so every call is refused with 429 until the cap changes'
        when w.used >= cap.calls then
          format(', so the next is refused with 429; in %s seconds a slot is free', wait.seconds)
        else ', so the next is admitted' end),
    case when o.cap is null and t.factor = 0 then format('The cap: %s for every account.', t.base)
    when o.cap is null then format(
      'The cap: %s + %s x (4 x %s settled offers + 30 x %s proved methods + %s for an account of 30 days), at most '
      '%s%s.',
        t.base, t.factor, t.settled, t.proved, case when t.old then 60 else 0 end, 10 * t.base,
        case when t.removed > 0 then format(', halved %s times for offers removed within 30 days, but not below %s',
          t.removed, t.base / 4) else '' end)
      else format('The cap: a moderator set it at %s UTC, in place of what the record gives.',
        to_char(o.changed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')) end,
    case when p.suspended_at is not null then format(
      'The account is suspended by moderation since %s UTC: what it writes is refused with 409 before any cap is '
      'looked at.',
      to_char(p.suspended_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')) end) as reason,
  o.changed_at as overridden_at, p.suspended_at is not null as account_suspended
from market.agent a
join market.account p on p.id = a.account_id
cross join (select l.action as name from internal.limited_actions() as l) as action
left join market.cap_override o on o.account_id = a.account_id and o.action = action.name
cross join lateral internal.rate_limit_terms(a.account_id, action.name) as t
cross join lateral internal.rate_limit(a.account_id, action.name) as cap (calls)
cross join lateral (
  select (internal.window_usage('agent:' || a.id, action.name, cap.calls) ->> 'used')::integer as used) as w
cross join lateral (
  select case when cap.calls > 0 then coalesce(internal.window_wait('agent:' || a.id, action.name, cap.calls), 0) end
    as seconds) as wait
-- The searches of other agents are not counted.
where action.name <> 'search_offers' or a.connected_at is null or a.sandbox_id is not null or o.cap is not null;
comment on view inspect.why_429 is
  'When an agent gets rate_limited (429): one row for each action, with its usage, its cap, the terms of the cap, and '
  'when the next call is admitted. Select by agent_id. For a 429 of POST /v1/connect see inspect.windows: its limit is '
  'for a network address and not for an agent.';
comment on column inspect.why_429.action is
  'publish_offer (counts updates and republishing too), create_ask (counts updates too), preview_offer, manage '
  '(archiving, republishing, reopening, fulfilling, changes of watch_enabled), report_offer or search_offers (if the '
  'agent''s searches are counted). Each has its own window.';
comment on column inspect.why_429.refused is 'Whether a call would be refused now.';
comment on column inspect.why_429.used is 'Calls admitted in the last hour. Refused and replayed calls do not count.';
comment on column inspect.why_429.cap is 'Allowed calls an hour, from internal.rate_limit.';
comment on column inspect.why_429.next_slot_in is
  'Whole seconds until a call is admitted: 0 when calls are admitted now; null when the cap is 0, so that no call is '
  'ever admitted.';
comment on column inspect.why_429.next_slot_at is
  'The time at which the next call is admitted; null when the cap is 0.';
comment on column inspect.why_429.base is 'The cap of a new account. The other terms are added to it.';
comment on column inspect.why_429.factor is
  'The factor for the terms that are added to the base: 1 for publish_offer, 2 for create_ask and preview_offer, 0 for '
  'the others, whose cap is the base.';
comment on column inspect.why_429.settled_offers is
  'Offers published at least 72 hours ago and not removed; at most 60 count.';
comment on column inspect.why_429.proved_methods is 'The number of sign-in methods that the account has proved.';
comment on column inspect.why_429.account_is_old is 'Whether the account is 30 days old.';
comment on column inspect.why_429.recent_removals is
  'Offers that moderation removed in the last 30 days, at most 10. Each halves the cap.';
comment on column inspect.why_429.reason is 'The whole explanation in sentences that can be sent on.';
comment on column inspect.why_429.overridden_at is
  'When a moderator set the cap; null when the cap is computed from the terms.';
comment on column inspect.why_429.account_suspended is
  'Whether the account is suspended. Its writes are then refused with 409, not 429.';
grant select on inspect.why_429 to souk_dba;

create or replace view inspect.windows with (security_invoker = true) as
select c.scope, c.action,
  count(*) filter (where c.called_at > now() - interval '1 hour') as used_last_hour, count(*) as used_last_day,
  min(c.called_at) filter (where c.called_at > now() - interval '1 hour') + interval '1 hour' as next_leaves_at,
  max(c.called_at) as last_call_at
from market.rate_limit_hit c
where c.called_at > now() - interval '1 day'
group by c.scope, c.action;
comment on view inspect.windows is
  'When the load is unusual, or POST /v1/connect answers 429: every rolling window with a call in the last day. To see '
  'the busiest first, add order by used_last_hour desc. A network is blocked after CONNECTIONS_PER_HOUR calls of '
  'connect in an hour (an IPv6 site, /48, after ten times as many), or six of decline in a day.';
comment on column inspect.windows.scope is
  'agent:<id>; account:<id> for embed_query, and for a person''s calls where a moderator set a cap for the account; '
  'address:<network> for connect, decline, sign_in_mail and wrong codes, address:<site> (IPv4 /24, IPv6 /48) for '
  'sign_in_mail and, of IPv6, connect, and address:<region> (IPv4 /16, IPv6 /32) for sign_in_mail; sign_in:<network or '
  'IPv6 site>; refuser:<hash> for decline, so that a browser or network counts once; mailbox:<hash>, '
  'mailbox_at:<hash>, service, and browser:<hash> for a browser that the mailbox knows, for sign_in_mail; '
  'mailbox:<hash> and service for wrong codes; embed:<id of an offer or ask> for embed; account:<id>, sandbox:<id>, '
  'host:<receiving host> and network:<its network> for challenge, test_webhook and deliver.';
comment on column inspect.windows.action is
  'publish_offer, create_ask, preview_offer, manage, report_offer, search_offers, connect, decline, sign_in, '
  'sign_in_mail, wrong_code_6, wrong_code_9 and wrong_code_12 (by the digits of the code), embed_query (a new query '
  'whose vector was bought), embed (a request for a vector that has not succeeded), challenge, test_webhook or deliver '
  '(what was sent to webhooks).';
comment on column inspect.windows.used_last_hour is 'Calls in the last hour.';
comment on column inspect.windows.used_last_day is 'Calls in the last day.';
comment on column inspect.windows.next_leaves_at is
  'When the oldest call of the last hour stops counting; null when there was none.';
grant select on inspect.windows to souk_dba;
