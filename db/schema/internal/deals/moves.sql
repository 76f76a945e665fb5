-- Which moves there are is in market.move. A function that moves something first says who does (internal.moved_by), and
-- the trigger of the table refuses whatever the table of moves does not have.

create or replace function internal.moved_by(mover text) returns void
  language sql volatile
as $$ select set_config('market.mover', moved_by.mover, true) $$;
comment on function internal.moved_by(text) is
  'Says who makes the moves that follow in this transaction (market.move.mover).';

create or replace function internal.check_move() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from market.move m
    where m.machine = tg_table_name and m.to_status = new.status
      and m.from_status = case tg_op when 'INSERT' then '-' else to_jsonb(old) ->> 'status' end
      and m.mover = coalesce(nullif(current_setting('market.mover', true), ''), 'market')) then
    raise exception 'A % does not become % by %.', tg_table_name, new.status, current_setting('market.mover', true)
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;
comment on function internal.check_move() is 'Refuses a new status that market.move does not have.';
