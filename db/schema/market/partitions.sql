-- Creates the partitions of the audit log and of the events for now and for what comes next; jobs create the later
-- ones. Each partition gets the column comments of the table.

do $$
declare
  part record;
begin
  perform jobs.keep_audit_partitions(), jobs.keep_event_partitions();
  for part in
    select i.inhrelid::regclass as name, a.attname as column, col_description(i.inhparent, a.attnum) as comment
    from pg_catalog.pg_inherits i join pg_catalog.pg_attribute a on a.attrelid = i.inhparent
    where i.inhparent in ('market.audit_event'::regclass, 'market.event'::regclass)
      and a.attnum > 0 and not a.attisdropped
      and col_description(i.inhrelid, a.attnum) is distinct from col_description(i.inhparent, a.attnum)
  loop
    execute format('comment on column %s.%I is %L', part.name, part.column, part.comment);
  end loop;
end
$$;
