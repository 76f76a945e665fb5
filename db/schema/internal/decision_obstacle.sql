-- Which moderator may not decide. Moderators may not decide about their own account or offer, nor on an appeal against
-- a removal that they made. The rule does not apply when there is only one moderator, because a second look by the same
-- person is better than none.

create or replace function internal.decision_obstacle(offer_id uuid, account_id uuid) returns text
  language plpgsql stable
as $$
begin
  if not exists (select from market.moderator m where m.account_id <> internal.moderator_id()) then
    return null;
  elsif decision_obstacle.account_id = internal.moderator_id() then
    return 'It is your own, so another moderator decides.';
  elsif exists (select from market.review_case c
      where c.offer_id = decision_obstacle.offer_id and c.closed_at is null and 'appeal' = any (c.causes))
    and internal.moderator_id() = (select d.moderator_id from market.decision d
      where d.offer_id = decision_obstacle.offer_id and d.action = 'remove' order by d.id desc limit 1)
  then
    return 'You took this offer down, so another moderator decides on the appeal.';
  end if;
  return null;
end
$$;
comment on function internal.decision_obstacle(uuid, uuid) is
  'Returns a sentence that says why the calling moderator may not decide about an account or its offer; null when the '
  'moderator may.';
grant execute on function internal.decision_obstacle(uuid, uuid) to souk_moderator;

create or replace function internal.check_may_decide(offer_id uuid, account_id uuid) returns void
  language plpgsql stable
as $$
declare
  obstacle text := internal.decision_obstacle(check_may_decide.offer_id, check_may_decide.account_id);
begin
  if obstacle is not null then
    perform internal.raise_problem(409, 'invalid_state', obstacle);
  end if;
end
$$;
comment on function internal.check_may_decide(uuid, uuid) is
  'Raises 409 invalid_state when the calling moderator may not decide about an account or its offer.';
grant execute on function internal.check_may_decide(uuid, uuid) to souk_moderator;
