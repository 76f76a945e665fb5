-- A moderators' view, or a table with another table's columns, takes over their comments.

create or replace function internal.copy_comments(target regclass, source regclass, own text[] default '{}')
  returns void
  language plpgsql volatile
as $$
declare
  shared record;
begin
  for shared in
    select c.attname as name, col_description(source, s.attnum) as comment
    from pg_attribute c join pg_attribute s on s.attrelid = source and s.attname = c.attname and s.attnum > 0
    where c.attrelid = target and c.attnum > 0 and not c.attisdropped and c.attname <> all (own)
      and col_description(c.attrelid, c.attnum) is distinct from col_description(s.attrelid, s.attnum)
  loop
    execute format('comment on column %s.%I is %L', target, shared.name, shared.comment);
  end loop;
end
$$;
comment on function internal.copy_comments(regclass, regclass, text[]) is
  'Gives the columns of a table or view the comments of the columns of another that have the same names. `own`: '
  'columns of a table that have a comment of their own. Those of a view are written after the call.';
