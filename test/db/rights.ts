/** Queries of the catalogue for who may do what: in full for permissions.txt, and in short for db/README.md. */

/** Roles in the order of columns. souk_owner owns everything, so it has no column. */
const ROLES = `role (name, n) as (values ('souk_api', 1), ('souk_agent', 2), ('souk_person', 3), ('souk_moderator', 4),
  ('souk_worker', 5), ('souk_dba', 6), ('souk_migrator', 7))`;

/**
 * Returns one text: the grants and policies of each table, and who may call each function. Functions that the same roles
 * may call in a whole schema have one line, and functions that only their owner may call have none.
 */
export const MATRIX = `
  with ${ROLES},
  subject as (
    select c.oid,
      -- The names of partitions by time would be others next week.
      case when c.relispartition then regexp_replace(format('%I.%I', n.nspname, c.relname), '_\\d{4}(_\\d{2})+$', '_PERIOD')
        else format('%I.%I', n.nspname, c.relname) end as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^pg_|^information_schema$|^public$' and c.relkind in ('r', 'p', 'v', 'm')
  ), callable as (
    select n.nspname, f.oid::regprocedure::text as name, f.prosecdef, (
      select string_agg(r.name, ', ' order by r.n) from role r where has_function_privilege(r.name, f.oid, 'execute')) as callers
    from pg_proc f join pg_namespace n on n.oid = f.pronamespace
    where n.nspname !~ '^pg_|^information_schema$|^public$'
  ), line (sort, n, part, line) as (
    select 'table ' || name, 0, '', 'table ' || name from subject
    union all
    select 'table ' || s.name, 1, r.n::text, format('  %s: %s', r.name, string_agg(
      case when has_table_privilege(r.name, s.oid, o.operation) then o.operation
        else format('%s (%s)', o.operation, (
          select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a
          where a.attrelid = s.oid and a.attnum > 0 and not a.attisdropped and has_column_privilege(r.name, s.oid, a.attnum, o.operation)))
      end, ', ' order by o.n))
    from subject s, role r,
      (values ('select', 1), ('insert', 2), ('update', 3), ('delete', 4), ('truncate', 5), ('trigger', 6)) as o (operation, n)
    where has_table_privilege(r.name, s.oid, o.operation)
      or o.n <= 3 and has_any_column_privilege(r.name, s.oid, case when o.n <= 3 then o.operation else 'select' end)
    group by s.name, r.n, r.name
    union all
    select 'table ' || s.name, 2, p.policyname, format('  "%s": %s to %s%s%s', p.policyname, lower(p.cmd), array_to_string(p.roles, ', '),
      ' using ' || regexp_replace(p.qual, '\\s+', ' ', 'g'), ' check ' || regexp_replace(p.with_check, '\\s+', ' ', 'g'))
    from subject s join pg_policies p on format('%I.%I', p.schemaname, p.tablename) = s.name
    where p.roles <> '{souk_owner}'
    union all
    select 'functions of ' || nspname, 0, '', format('functions of %s: %s', nspname, min(callers))
    from callable group by nspname having count(distinct coalesce(callers, '')) = 1 and min(callers) is not null
    union all
    select 'function ' || name, 0, '', format('function %s%s: %s', name, case when prosecdef then ' as owner' else '' end, callers)
    from callable
    where callers is not null
      and nspname not in (select nspname from callable group by nspname having count(distinct coalesce(callers, '')) = 1)
  )
  select string_agg(line, E'\\n' order by sort collate "C", n, part collate "C") || E'\\n' as matrix from line`;

/**
 * Returns a Markdown table: a row for each table, and for the views and the functions of each schema; a column for each
 * role.
 */
export const SUMMARY = `
  with ${ROLES},
  operation (name, n) as (values ('select', 1), ('insert', 2), ('update', 3), ('delete', 4)),
  thing (sort, label, kind, oid) as (
    select case n.nspname when 'market' then 1 else 2 end,
      case when c.relkind = 'v' then 'views of ' || n.nspname else n.nspname || '.' || c.relname end, 'relation', c.oid
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname !~ '^pg_|^information_schema$|^public$' and c.relkind in ('r', 'p', 'v', 'm')
      and not c.relispartition
    union all
    select 3, 'functions of ' || n.nspname, 'function', f.oid
    from pg_proc f join pg_namespace n on n.oid = f.pronamespace
    where n.nspname !~ '^pg_|^information_schema$|^public$'
  ), cell as (
    select t.sort, t.label, r.n,
      case t.kind when 'function' then case when bool_and(has_function_privilege(r.name, t.oid, 'execute')) then 'all'
        when bool_or(has_function_privilege(r.name, t.oid, 'execute')) then 'some' end
      else (
        select string_agg(case when o.whole then o.name else o.name || ' some' end, ', ' order by o.n) from (
          select o.name, o.n, bool_and(has_table_privilege(r.name, i.oid, o.name)) as whole
          from operation o, unnest(array_agg(t.oid)) as i (oid)
          group by o.name, o.n
          having bool_or(has_table_privilege(r.name, i.oid, o.name)
            or case when o.name <> 'delete' then has_any_column_privilege(r.name, i.oid, nullif(o.name, 'delete')) end)) as o)
      end as may
    from thing t, role r
    group by t.sort, t.label, t.kind, r.n, r.name
  )
  select '| | ' || (select string_agg(replace(name, 'souk_', ''), ' | ' order by n) from role) || ' |' || E'\\n|---'
    || (select string_agg('|---', '') from role) || '|' || E'\\n'
    || string_agg(line, E'\\n' order by sort, label collate "C") as "table"
  from (
    select sort, label, format('| %s | %s |', label, string_agg(coalesce(may, ''), ' | ' order by n)) as line
    from cell group by sort, label) as l`;
