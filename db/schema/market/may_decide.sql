-- Who may not decide: nobody in the own case, and nobody on an appeal against what they took down. Where there is only one
-- moderator, a look by the same one is better than none.

create or replace function market.decision_obstacle(offer_id uuid, account_id uuid) returns text
  language plpgsql stable
as $$
begin
  if not exists (select from market.moderator m where m.account_id <> market.moderator_id()) then
    return null;
  elsif decision_obstacle.account_id = market.moderator_id() then
    return 'It is your own, so another moderator decides.';
  elsif exists (select from market.review_case c
      where c.offer_id = decision_obstacle.offer_id and c.closed_at is null and 'appeal' = any (c.causes))
    and market.moderator_id() = (select d.moderator_id from market.decision d
      where d.offer_id = decision_obstacle.offer_id and d.action = 'remove' order by d.id desc limit 1)
  then
    return 'You took this offer down, so another moderator decides on the appeal.';
  end if;
  return null;
end
$$;
comment on function market.decision_obstacle(uuid, uuid) is
  'Why the acting moderator may not decide about an account, or an offer of it; null when nothing is in the way.';

create or replace function market.check_may_decide(offer_id uuid, account_id uuid) returns void
  language plpgsql stable
as $$
declare
  obstacle text := market.decision_obstacle(check_may_decide.offer_id, check_may_decide.account_id);
begin
  if obstacle is not null then
    perform market.fail(409, 'invalid_state', obstacle);
  end if;
end
$$;
comment on function market.check_may_decide(uuid, uuid) is 'Refuses with 409 a moderator who may not decide about an account, or an offer of it.';

grant execute on function market.decision_obstacle(uuid, uuid), market.check_may_decide(uuid, uuid) to souk_moderator;
