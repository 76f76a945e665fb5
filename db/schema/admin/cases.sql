-- The review queues: offers that need a decision, and the moderators who claimed them.

create or replace view admin.review_case with (security_invoker) as
  select c.offer_id, c.queue, c.causes, c.reports, c.opened_at,
    h.account_id as held_by, case when h.account_id is not null then c.held_until end as held_until
  from market.review_case c
  -- The claim of a former moderator does not count.
  left join market.moderator h on h.account_id = c.held_by and c.held_until > now()
  where c.closed_at is null;
comment on view admin.review_case is
  E'@primaryKey offer_id\n@foreignKey (offer_id) references admin.offer (id)|@fieldName offer|@foreignFieldName '
  'reviewCase\n@foreignKey (held_by) references admin.moderator (account_id)|@fieldName holder|@foreignFieldName '
  'heldCases\n@behavior +totalCount\nA case: an offer that needs a decision.';
comment on column admin.review_case.offer_id is E'@behavior +orderBy\nThe offer.';
comment on column admin.review_case.queue is
  E'@behavior +filterBy\nThe most urgent of the causes: appeal, pending, reported, reported_conversation, '
  'addresses_agents, suspicious_link, changed, first_offer.';
comment on column admin.review_case.causes is 'Why the offer needs a decision.';
comment on column admin.review_case.reports is
  E'@behavior +orderBy\nNumber of claimed accounts (accounts with a person) that reported the offer since the last '
  'decision.';
comment on column admin.review_case.opened_at is E'@behavior +orderBy\nWhen the case was opened.';
comment on column admin.review_case.held_by is
  'The moderator who claimed the case. Nobody else can decide on it until held_until.';
comment on column admin.review_case.held_until is 'Until when no other moderator can decide on the case.';
grant select on admin.review_case to souk_moderator;

create or replace view admin.queue with (security_invoker) as
  select c.queue as name, count(*)::integer as cases, min(c.opened_at) as oldest
  from market.review_case c where c.closed_at is null
  group by c.queue;
comment on view admin.queue is
  E'@primaryKey name\nA queue, with the number of open cases in it. Empty queues are not listed.';
comment on column admin.queue.name is
  'appeal, pending, reported, reported_conversation, addresses_agents, suspicious_link, changed or first_offer.';
comment on column admin.queue.cases is 'Number of open cases.';
comment on column admin.queue.oldest is 'When the oldest open case was opened.';
grant select on admin.queue to souk_moderator;

create or replace function admin.claim_case(offer_id uuid) returns admin.review_case
  language plpgsql volatile
as $$
declare
  review market.review_case := internal.lock_case(claim_case.offer_id);
begin
  if review.offer_id is null then
    perform internal.raise_problem(404, 'not_found', 'case_not_open');
  end if;
  perform internal.check_may_decide(review.offer_id,
    (select o.account_id from market.offer o where o.id = review.offer_id));
  -- Ten minutes are enough to read an offer and its reports, and a moderator who leaves does not block the case for
  -- long.
  update market.review_case c set held_by = internal.moderator_id(), held_until = now() + interval '10 minutes'
  where c.offer_id = review.offer_id;
  return (select c from admin.review_case c where c.offer_id = review.offer_id);
end
$$;
comment on function admin.claim_case(uuid) is
  'Claims a case for ten minutes, in which nobody else can decide on it. A second call extends the claim to ten '
  'minutes from then. Raises 404 when there is no open case, and 409 when another moderator holds it or you may not '
  'decide on it.';
grant execute on function admin.claim_case(uuid) to souk_moderator;

create or replace function admin.release_case(offer_id uuid) returns admin.review_case
  language plpgsql volatile
as $$
declare
  review market.review_case := internal.lock_case(release_case.offer_id);
begin
  update market.review_case c set held_by = null, held_until = null where c.offer_id = review.offer_id;
  return (select c from admin.review_case c where c.offer_id = review.offer_id);
end
$$;
comment on function admin.release_case(uuid) is 'Releases a claimed case. Raises 409 when another moderator holds it.';
grant execute on function admin.release_case(uuid) to souk_moderator;
