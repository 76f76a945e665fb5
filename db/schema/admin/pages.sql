-- The pages for moderators (src/admin). One function returns what a page shows; what a button does is one function,
-- too, most of them shared with GraphQL. Like those of schema api, they are called by the API's login in a statement
-- that first enters as the moderator. The tag `@behavior -*` keeps what serves only pages out of GraphQL.

create or replace function admin.page_viewer() returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('account_id', internal.moderator_id(), 'sign_in_obstacle', internal.sign_in_obstacle(),
    'name', (select m.name from admin.moderator m where m.account_id = internal.moderator_id()));
end
$$;
comment on function admin.page_viewer() is
  E'@behavior -*\nReturns the moderator who calls, with what they have to do before they may decide.';

create or replace function admin.page_reasons() returns jsonb
  language plpgsql stable
as $$ begin return (select jsonb_agg(to_jsonb(r) order by r.rank) from admin.reason r); end $$;
comment on function admin.page_reasons() is E'@behavior -*\nReturns the reasons that a moderator chooses from.';

create or replace function admin.page_decisions(offer_id uuid, account_id uuid) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select coalesce(jsonb_agg(to_jsonb(d) || jsonb_build_object('moderator', m.name) order by d.id desc), '[]')
    from (
      select d.* from admin.decision d
      where d.offer_id = page_decisions.offer_id or d.account_id = page_decisions.account_id
      order by d.id desc limit 50) as d
    left join admin.moderator m on m.account_id = d.moderator_id);
end
$$;
comment on function admin.page_decisions(uuid, uuid) is
  E'@behavior -*\nReturns the latest 50 decisions on an offer or, if that is null, on an account.';

create or replace function admin.page_rows(entries jsonb, page_size integer) returns jsonb
  language plpgsql immutable
as $$
begin
  return jsonb_build_object('rows', coalesce(entries, '[]') - page_size,
    'next', case when jsonb_array_length(entries) > page_size then entries -> (page_size - 1) -> 'cursor' end);
end
$$;
comment on function admin.page_rows(jsonb, integer) is
  E'@behavior -*\nReturns a page of the rows found, of which there is one more if there is a next page: {rows, next}. '
  'Each row has the cursor of what follows it.';
grant execute on function
  admin.page_viewer(), admin.page_reasons(), admin.page_decisions(uuid, uuid), admin.page_rows(jsonb, integer)
  to souk_moderator;

create or replace function admin.show_queue(queue text, after text) returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  list constant text := 'cases';
  last_seen constant jsonb := internal.position_of(show_queue.after, list, 'after');
begin
  return jsonb_build_object('viewer', admin.page_viewer(),
    'queues', (select coalesce(jsonb_agg(to_jsonb(q)), '[]') from admin.queue q),
    'cases', admin.page_rows((
      select jsonb_agg(to_jsonb(c) || jsonb_build_object('holder', m.name, 'status', o.status) || to_jsonb(v)
          || jsonb_build_object('cursor', internal.cursor_of(jsonb_build_object(
            'list', list, 'rank', c.reports, 'time', c.opened_at, 'id', c.offer_id)))
        order by c.reports desc, c.opened_at, c.offer_id)
      from (
        select c.* from admin.review_case c
        where (show_queue.queue is null or c.queue = show_queue.queue)
          and (last_seen is null or (-c.reports, c.opened_at, c.offer_id)
            > (-(last_seen ->> 'rank')::integer, (last_seen ->> 'time')::timestamptz, (last_seen ->> 'id')::uuid))
        order by c.reports desc, c.opened_at, c.offer_id limit 26) as c
      left join admin.moderator m on m.account_id = c.held_by
      left join admin.offer o on o.id = c.offer_id
      left join admin.offer_change w on w.offer_id = o.id and w.rejected_at is null
      -- The moderator has to look at the change while it waits, otherwise at the offer.
      cross join lateral (
        select w.offer_id is not null as changed,
          case when w.offer_id is null then o.title else w.title end as title,
          case when w.offer_id is null then o.price else w.price end as price,
          case when w.offer_id is null then o.location else w.location end as location,
          left(regexp_replace(case when w.offer_id is null then o.text else w.text end, '\s+', ' ', 'g'), 220)
            as snippet) as v), 25));
end
$$;
comment on function admin.show_queue(text, text) is
  E'@behavior -*\nReturns the page of the cases of a queue, or of all if it is null: most reported first, then oldest.';

create or replace function admin.show_offer(id uuid) returns jsonb
  language plpgsql stable
as $$
declare
  offer admin.offer;
  review jsonb;
begin
  select * into offer from admin.offer o where o.id = show_offer.id;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_offer');
  end if;
  select to_jsonb(c) || jsonb_build_object('holder', m.name) into review
  from admin.review_case c left join admin.moderator m on m.account_id = c.held_by where c.offer_id = offer.id;
  return jsonb_build_object('viewer', admin.page_viewer(), 'reasons', admin.page_reasons(),
    'offer', to_jsonb(offer) || jsonb_build_object(
      'review_case', review,
      'obstacle', internal.decision_obstacle(offer.id, offer.account_id),
      'account', (select to_jsonb(a) from admin.account a where a.id = offer.account_id),
      'agent', (select to_jsonb(a) from admin.agent a where a.id = offer.agent_id),
      'change', (select to_jsonb(c) from admin.offer_change c where c.offer_id = offer.id and c.rejected_at is null),
      'reports', (
        select coalesce(jsonb_agg(to_jsonb(r) order by r.id desc), '[]') from (
          select r.* from admin.report r where r.offer_id = offer.id order by r.id desc limit 50) as r),
      -- The reason in most open reports, else what the market itself detected.
      'likely_reason', coalesce(
        (select mode() within group (order by r.reason) from admin.report r
          where r.offer_id = offer.id and r.completed_at is null),
        case when review -> 'causes' ? 'addresses_agents' then 'addresses_agents' end),
      'appeals', (
        select coalesce(jsonb_agg(to_jsonb(a) order by a.removed_at desc), '[]') from (
          select a.* from admin.appeal a where a.offer_id = offer.id order by a.removed_at desc limit 10) as a),
      'conversations', (
        select coalesce(jsonb_agg(to_jsonb(c) order by c.reported_at), '[]') from (
          select c.id, c.reports, c.reported_at from admin.reported_conversation c where c.offer_id = offer.id
          order by c.reported_at limit 50) as c),
      'decisions', admin.page_decisions(offer.id, null),
      'similar', (
        select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'title', s.title, 'status', s.status,
          'created_at', s.created_at, 'account_id', s.account_id)), '[]') from admin.offer_similar(offer) as s)));
end
$$;
comment on function admin.show_offer(uuid) is
  E'@behavior -*\nReturns the page of an offer, with its pending change. Raises 404 if no offer has this id.';

create or replace function admin.show_account(id uuid, agents_after uuid, offers_after uuid, asks_after uuid)
returns jsonb
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  account admin.account;
  page_size constant integer := 25;
begin
  select * into account from admin.account a where a.id = show_account.id;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_account');
  end if;
  return jsonb_build_object('viewer', admin.page_viewer(), 'reasons', admin.page_reasons(),
    'account', to_jsonb(account) || jsonb_build_object(
      'limits', (select jsonb_agg(to_jsonb(l)) from admin.account_limits(account) as l),
      'decisions', admin.page_decisions(null, account.id),
      'agents', admin.page_rows((
        select jsonb_agg(to_jsonb(a) || jsonb_build_object('cursor', a.id) order by a.id desc) from (
          select a.* from admin.agent a
          where a.account_id = account.id and (agents_after is null or a.id < agents_after)
          order by a.id desc limit page_size + 1) as a), page_size),
      'offers', admin.page_rows((
        select jsonb_agg(to_jsonb(o) || jsonb_build_object('cursor', o.id) order by o.id desc) from (
          select o.id, o.title, o.status, o.created_at, o.reviewed from admin.offer o
          where o.account_id = account.id and (offers_after is null or o.id < offers_after)
          order by o.id desc limit page_size + 1) as o), page_size),
      'asks', admin.page_rows((
        select jsonb_agg(to_jsonb(a) || jsonb_build_object('cursor', a.id) order by a.id desc) from (
          select a.id, coalesce(a.title, a.text) as title, a.status, a.created_at from admin.ask a
          where a.account_id = account.id and (asks_after is null or a.id < asks_after)
          order by a.id desc limit page_size + 1) as a), page_size)));
end
$$;
comment on function admin.show_account(uuid, uuid, uuid, uuid) is
  E'@behavior -*\nReturns the page of an account. Of its agents, offers and asks, those older than the ids given. '
  'Raises 404 when there is no such account.';

create or replace function admin.show_settings() returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('viewer', admin.page_viewer(),
    'settings', (
      select jsonb_agg(to_jsonb(s) || jsonb_build_object('changer', m.name) order by s.name)
      from admin.setting s left join admin.moderator m on m.account_id = s.changed_by),
    'moderators', (select jsonb_agg(to_jsonb(m) order by m.account_id) from admin.moderator m));
end
$$;
comment on function admin.show_settings() is E'@behavior -*\nReturns the page of the settings and of the moderators.';

create or replace function admin.show_search(words text) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('viewer', admin.page_viewer(),
    'found', (select coalesce(jsonb_agg(to_jsonb(f)), '[]') from admin.find(show_search.words) as f));
end
$$;
comment on function admin.show_search(text) is E'@behavior -*\nReturns the page of what a search finds.';

create or replace function admin.show_log(
  about text, account uuid, by uuid, actor text, action text, since date, until date, after uuid
) returns jsonb
  language plpgsql stable
  -- Which index serves depends on the filters that are given.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  begins constant timestamptz := show_log.since::timestamp at time zone 'UTC';
  ends constant timestamptz := (show_log.until + 1)::timestamp at time zone 'UTC';
begin
  return jsonb_build_object('viewer', admin.page_viewer(),
    'events', admin.page_rows((
      select jsonb_agg(to_jsonb(e) || jsonb_build_object('cursor', e.id) order by e.id desc) from (
        select e.* from admin.audit_event e
        where (show_log.about is null or e.row_id = show_log.about)
          and (show_log.account is null or e.subject_account_id = show_log.account)
          and (show_log.by is null or e.account_id = show_log.by)
          and (show_log.actor is null or e.actor_type = show_log.actor)
          and (show_log.action is null or e.action = show_log.action)
          -- The range of ids serves the index, and that of times the choice of partitions. The id of an event may be
          -- made slightly before or after its time.
          and (begins is null or e.at >= begins and e.id >= internal.first_uuid_v7(begins - interval '1 second'))
          and (ends is null or e.at < ends and e.id < internal.first_uuid_v7(ends + interval '1 second'))
          and (show_log.after is null or e.id < show_log.after)
        order by e.id desc limit 51) as e), 50));
end
$$;
comment on function admin.show_log(text, uuid, uuid, text, text, date, date, uuid) is
  E'@behavior -*\nReturns the page of the audit log, newest first: about a row, about what an account owns, by an '
  'account, by a type of actor, of an action, of days in UTC. Null filters nothing.';

create or replace function admin.decide_case(
  id uuid, decision text, expected timestamptz, reports integer, reason text, words text, queue text
) returns jsonb
  language plpgsql volatile
as $$
begin
  if decide_case.decision not in ('keep', 'remove', 'publish', 'reject', 'restore', 'uphold') then
    perform internal.raise_problem(400, 'bad_request', 'decision_unknown');
  end if;
  -- The form sends the reason with every button.
  perform internal.decide_offer(decide_case.id, decide_case.decision, decide_case.expected, decide_case.reports,
    case when decide_case.decision in ('remove', 'reject') then decide_case.reason end, decide_case.words);
  return jsonb_build_object('next', (
    select c.offer_id from (
      select c.* from admin.review_case c where c.queue = decide_case.queue
      order by c.reports desc, c.opened_at, c.offer_id limit 10) as c
    join admin.offer o on o.id = c.offer_id
    where c.held_by is null and internal.decision_obstacle(o.id, o.account_id) is null
    order by c.reports desc, c.opened_at, c.offer_id limit 1));
end
$$;
comment on function admin.decide_case(uuid, text, timestamptz, integer, text, text, text) is
  E'@behavior -*\nDecides on an offer, and returns {next}: the offer of the next case of the queue that nobody holds '
  'and that you may decide, or null.';
grant execute on function
  admin.show_queue(text, text), admin.show_offer(uuid), admin.show_account(uuid, uuid, uuid, uuid),
  admin.show_settings(), admin.show_search(text),
  admin.show_log(text, uuid, uuid, text, text, date, date, uuid),
  admin.decide_case(uuid, text, timestamptz, integer, text, text, text),
  -- The buttons of pages that GraphQL has as mutations.
  admin.claim_case(uuid), admin.release_case(uuid),
  admin.suspend_account(uuid, text, text), admin.reinstate_account(uuid, text, timestamptz),
  admin.remove_agent(uuid, text), admin.override_cap(uuid, text, integer, text, integer),
  admin.change_setting(text, jsonb, jsonb)
  to souk_api;
