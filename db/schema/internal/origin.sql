-- An upgrade replaces the rows that ship with the software (db/data). It does not replace rows that somebody added,
-- changed or deleted in this database. Triggers on each table of shipped rows maintain its column origin and record
-- deletions in internal.deleted_row. They do not run while an upgrade loads rows, because the upgrade sets
-- market.loading for its transaction.

create or replace function internal.values_of(columns text, document jsonb) returns jsonb
  language sql immutable parallel safe
as $$
  select coalesce(jsonb_agg(document -> c.name order by c.place), '[]')
  from string_to_table(columns, ',') with ordinality as c (name, place)
$$;
comment on function internal.values_of(text, jsonb) is
  'Takes column names, separated by commas, and a row as JSON. Returns the values of these columns in the same order.';

create or replace function internal.forget_deletion() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from internal.deleted_row d
  where d.table_name = format('%I.%I', tg_table_schema, tg_table_name)
    and d.key_md5 in (select md5(internal.values_of(tg_argv[0], to_jsonb(a))::text) from added as a);
  return null;
end
$$;
comment on function internal.forget_deletion() is
  'Trigger: when an operator inserts a deleted row again, removes the record of its deletion. Argument: the columns of '
  'the key.';

create or replace function internal.keep_origin() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  this_table constant text := format('%I.%I', tg_table_schema, tg_table_name);
  old_row constant jsonb := to_jsonb(old);
  old_key constant jsonb := internal.values_of(tg_argv[0], old_row);
  new_row jsonb;
  new_key jsonb;
begin
  if tg_op = 'UPDATE' then
    new_row := to_jsonb(new);
    new_key := internal.values_of(tg_argv[0], new_row);
    new.origin := case
      when old_key = new_key and internal.values_of(tg_argv[1], old_row) = internal.values_of(tg_argv[1], new_row)
      then old.origin else 'operator' end;
  end if;
  if new_key is distinct from old_key then
    insert into internal.deleted_row (table_name, key) values (this_table, old_key) on conflict do nothing;
    delete from internal.deleted_row d where d.table_name = this_table and d.key_md5 = md5(new_key::text);
  end if;
  return case when tg_op = 'UPDATE' then new else old end;
end
$$;
comment on function internal.keep_origin() is
  'Trigger: when somebody changes a row outside an upgrade, sets its origin to operator; when somebody deletes it, '
  'records the deletion. Arguments: the columns of the key, and the other columns that an upgrade changes.';

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
