-- Row-level security of all tables. The policies of agents and persons are in the file of the table, those of
-- moderators in moderator_access.sql. A DBA may see any row: dba_access.sql says which columns.

do $$
declare
  this_table regclass;
begin
  for this_table in
    select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and n.nspname in ('market', 'reading', 'search', 'internal')
  loop
    perform internal.guard_table(this_table);
    execute format('create policy "a dba reads all" on %s for select to souk_dba using (true)', this_table);
  end loop;
end
$$;
