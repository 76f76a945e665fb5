-- Who may be appointed as a moderator.

create or replace function internal.check_appointment() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from market.account a where a.id = new.account_id and a.suspended_at is not null) then
    perform internal.raise_problem(409, 'invalid_state', 'moderator_suspended');
  end if;
  -- The first-start link appoints the first moderator, so an appointment ends it.
  delete from market.moderator_link;
  return new;
end
$$;
comment on function internal.check_appointment() is
  'Refuses (409) to appoint a person whose account is suspended, and deletes the first-start link.';
