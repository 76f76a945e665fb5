-- An upgrade replaces the rows that ship with the software (db/data). It does not replace rows that somebody added,
-- changed or deleted in this database. Triggers on each table of shipped rows maintain its column origin and record
-- deletions in internal.deleted_row. They do not run while an upgrade loads rows, because the upgrade sets
-- market.loading for its transaction.

create or replace function internal.values_of(columns text, document jsonb) returns jsonb
  language sql immutable parallel safe
as $$
  select case when document is not null then coalesce(jsonb_agg(document -> c.name order by c.place), '[]') end
  from string_to_table(columns, ',') with ordinality as c (name, place)
$$;
comment on function internal.values_of(text, jsonb) is
  'Takes column names, separated by commas, and a row as JSON. Returns the values of these columns in the same order; '
  'null if there is no row.';

create or replace function internal.keep_origin() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  this_table constant text := format('%I.%I', tg_table_schema, tg_table_name);
  -- Null before an insert and after a deletion.
  old_key constant jsonb := internal.values_of(tg_argv[0], to_jsonb(old));
  new_key constant jsonb := internal.values_of(tg_argv[0], to_jsonb(new));
begin
  if tg_op = 'UPDATE' and (old_key <> new_key
    or internal.values_of(tg_argv[1], to_jsonb(old)) <> internal.values_of(tg_argv[1], to_jsonb(new)))
  then
    new.origin := 'operator';
  end if;
  if new_key is distinct from old_key then
    insert into internal.deleted_row (table_name, key)
    select this_table, old_key where old_key is not null on conflict do nothing;
    delete from internal.deleted_row d where d.table_name = this_table and d.key_md5 = md5(new_key::text);
  end if;
  return coalesce(new, old);
end
$$;
comment on function internal.keep_origin() is
  'Trigger: when somebody changes a row outside an upgrade, sets its origin to operator; when somebody deletes it, '
  'records the deletion until somebody inserts it again. Arguments: the columns of the key, and the other columns that '
  'an upgrade changes.';

create or replace function internal.remember_truncate() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  execute format(
    'insert into internal.deleted_row (table_name, key)
     select %L, internal.values_of(%L, to_jsonb(t)) from %I.%I as t on conflict do nothing',
    format('%I.%I', tg_table_schema, tg_table_name), tg_argv[0], tg_table_schema, tg_table_name);
  return null;
end
$$;
comment on function internal.remember_truncate() is
  'Trigger: when an operator truncates a table, records the deletion of all its rows. Argument: the columns of the '
  'key.';

create or replace function internal.delete_shipped(target regclass, key text[], gone jsonb) returns text[]
  language plpgsql volatile
as $$
declare
  due jsonb[] := array(select * from jsonb_array_elements(delete_shipped.gone));
  staying jsonb[];
  this_row jsonb;
begin
  -- Usually one statement deletes them all.
  begin
    execute format('delete from %s as t using unnest($1) as g (key) where jsonb_build_array(%s) = g.key', target,
      (select string_agg(format('t.%I', k.name), ', ') from unnest(key) as k (name))) using due;
    return array[]::text[];
  exception when foreign_key_violation or restrict_violation then
    null;
  end;
  loop
    staying := '{}';
    foreach this_row in array due loop
      begin
        execute format('delete from %s as t where %s', target, (
          select string_agg(
            format(case when this_row ->> (k.n - 1)::integer is null then 't.%I is null' else 't.%I = %L' end,
            k.name, this_row ->> (k.n - 1)::integer), ' and ')
          from unnest(key) with ordinality as k (name, n)));
      exception when foreign_key_violation or restrict_violation then
        staying := staying || this_row;
      end;
    end loop;
    -- The rows of a table may refer to each other, so one that stays may be free after others are gone.
    exit when cardinality(staying) in (0, cardinality(due));
    due := staying;
  end loop;
  return array(select array_to_string(array(select * from jsonb_array_elements_text(k.key)), ' ')
    from unnest(staying) as k (key));
end
$$;
comment on function internal.delete_shipped(regclass, text[], jsonb) is
  'Deletes the rows of a table with these keys (arrays of texts), except those to which other rows refer. Returns the '
  'keys of the rows that stay.';
