-- Which moderator may not decide. A decision needs a recent sign-in by a proved method, because a session that was left
-- open somewhere must not be enough to take down other people's offers. Moderators may not decide about their own
-- account or offer, nor on an appeal against a removal that they made. With only one moderator, only the rule about the
-- sign-in applies, because a second look by the same person is better than none.

create or replace function internal.sign_in_obstacle() returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  signed_in_at timestamptz := (select s.signed_in_at from market.session s where s.id = internal.session_id());
begin
  if not exists (select from market.sign_in_method m where m.available) then
    -- The operator has configured none, as at the first start on one machine, so nobody could sign in.
    return null;
  elsif not exists (select from market.proved_method p where p.account_id = internal.moderator_id()) then
    return 'add_method';
  elsif internal.needs_sign_in(internal.moderator_id(), signed_in_at) then
    return 'sign_in_again';
  end if;
  return null;
end
$$;
comment on function internal.sign_in_obstacle() is
  'Returns what the calling moderator has to do before deciding: add_method (prove a sign-in method), sign_in_again '
  '(the last sign-in was more than 15 minutes ago), or null: nothing. Always null while no sign-in method is '
  'available.';
grant execute on function internal.sign_in_obstacle() to souk_moderator;

create or replace function internal.require_moderator_sign_in() returns void
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  case internal.sign_in_obstacle()
    when 'add_method' then
      perform internal.raise_problem(403, 'verification_required', 'decision_needs_method',
        extra => jsonb_build_object('accepted_methods', internal.sign_in_methods(true)));
    when 'sign_in_again' then
      perform internal.raise_problem(401, 'unauthorized', 'decision_needs_recent_sign_in',
        extra => '{"sign_in_again": true}');
    else null;
  end case;
end
$$;
comment on function internal.require_moderator_sign_in() is
  'Raises 403 verification_required or 401 (sign_in_again) when the calling moderator has to prove a sign-in method or '
  'to sign in again before deciding (internal.sign_in_obstacle).';
grant execute on function internal.require_moderator_sign_in() to souk_moderator;

create or replace function internal.decision_obstacle(offer_id uuid, account_id uuid) returns text
  language plpgsql stable
as $$
begin
  if not exists (select from market.moderator m where m.account_id <> internal.moderator_id()) then
    return null;
  elsif decision_obstacle.account_id = internal.moderator_id() then
    return internal.sentence('decision_on_own');
  elsif exists (select from market.review_case c
      where c.offer_id = decision_obstacle.offer_id and c.closed_at is null and 'appeal' = any (c.causes))
    and internal.moderator_id() = (select d.moderator_id from market.decision d
      where d.offer_id = decision_obstacle.offer_id and d.action = 'remove' order by d.id desc limit 1)
  then
    return internal.sentence('decision_on_own_removal');
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
  perform internal.require_moderator_sign_in();
  if obstacle is not null then
    perform internal.raise_problem(409, 'invalid_state', obstacle);
  end if;
end
$$;
comment on function internal.check_may_decide(uuid, uuid) is
  'Raises 409 invalid_state when the calling moderator may not decide about an account or its offer, and 401 or 403 '
  'when the moderator has to sign in first.';
grant execute on function internal.check_may_decide(uuid, uuid) to souk_moderator;
