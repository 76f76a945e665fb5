-- Creates the partitions of the audit log for this month and the next; a job creates the later ones. Each partition
-- gets the column comments of the table.

do $$
declare
  part record;
begin
  perform jobs.keep_audit_partitions();
  for part in
    select i.inhrelid::regclass as name, a.attname as column, col_description(i.inhparent, a.attnum) as comment
    from pg_catalog.pg_inherits i join pg_catalog.pg_attribute a on a.attrelid = i.inhparent
    where i.inhparent = 'market.audit_event'::regclass and a.attnum > 0 and not a.attisdropped
      and col_description(i.inhrelid, a.attnum) is distinct from col_description(i.inhparent, a.attnum)
  loop
    execute format('comment on column %s.%I is %L', part.name, part.column, part.comment);
  end loop;
end
$$;
