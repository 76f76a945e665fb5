-- Rows have the numbers of their transactions, so that readers miss none (horizon.sql). A dump that is restored on a
-- server that has counted less far brings numbers that are still to come there: rows with them are not to be read yet,
-- and become new on the later day when the server has counted so far. So everything becomes the work of a transaction
-- of long ago. What happened after a cursor was given is new all the same, by its time.

create or replace function internal.renumber() returns integer
  language plpgsql volatile
as $$
declare
  -- The first number that PostgreSQL gives.
  long_ago constant xid8 := '3'::xid8;
  present constant xid8 := pg_snapshot_xmax(pg_current_snapshot());
  renumbered integer := 0;
  changed integer;
begin
  update market.event e set xid = long_ago where e.xid >= present;
  get diagnostics changed = row_count;
  renumbered := renumbered + changed;
  update market.match m set xid = long_ago where m.xid >= present;
  get diagnostics changed = row_count;
  renumbered := renumbered + changed;
  -- What a digest has sent, its time says.
  update market.digest d set seen = null, changed_at = greatest(d.changed_at, d.sent_at)
  where pg_snapshot_xmax(d.seen) > present;
  get diagnostics changed = row_count;
  renumbered := renumbered + changed;
  update market.digest d set mail_id = null, mail_until = null, mail_at = null
  where pg_snapshot_xmax(d.mail_until) > present;
  -- No replica of the former server follows this one.
  delete from internal.recent_write w where w.xid >= present;
  delete from internal.numbering;
  insert into internal.numbering (server) select c.system_identifier from pg_control_system() as c;
  return renumbered;
end
$$;
comment on function internal.renumber() is
  'Makes everything whose transaction has a number that is still to come the work of a transaction of long ago, and '
  'notes this server. Returns the number of rows.';
