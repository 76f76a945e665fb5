-- Tables of shipped rows are those with a column origin. Triggers record which rows an operator added, changed or
-- deleted (internal/platform/origin.sql). They do not fire while an upgrade loads rows.

do $$
declare
  shipped record;
begin
  for shipped in
    select c.oid::regclass as name, k.key, coalesce((
        select string_agg(a.attname, ',' order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0
          and a.attname <> all (string_to_array(concat_ws(',', k.key, 'origin', o.kept), ','))), '') as updated
    from pg_class c
    join pg_attribute mark on mark.attrelid = c.oid and mark.attname = 'origin'
    left join (values
      -- The columns that upgrades leave alone; and the key, where it is not the primary key.
      ('market.invariant'::regclass, 'broken,example,checked_at,checked_share,found,found_example', null),
      ('market.setting', 'value,changed_by,changed_at', null),
      ('market.sign_in_method', 'available', null),
      ('reading.example', 'id', 'text'),
      ('reading.label', 'id,type,lexemes,needle', 'concept,language,form')) as o (name, kept, key) on o.name = c.oid
    cross join lateral (
      select coalesce(o.key, string_agg(a.attname, ',' order by p.n)) as key
      from pg_constraint i
      cross join unnest(i.conkey) with ordinality as p (attnum, n)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = p.attnum
      where i.conrelid = c.oid and i.contype = 'p') as k
  loop
    execute format(
      $create$
        create trigger keep_origin before insert or update or delete on %1$s
          for each row when (current_setting('market.loading', true) is distinct from 'on')
          execute function internal.keep_origin(%2$L, %3$L);
        create trigger remember_truncate before truncate on %1$s
          for each statement when (current_setting('market.loading', true) is distinct from 'on')
          execute function internal.remember_truncate(%2$L);
      $create$, shipped.name, shipped.key, shipped.updated);
  end loop;
end
$$;
