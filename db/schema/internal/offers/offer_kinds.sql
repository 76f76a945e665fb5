-- The kinds in the arrays market.domain.kinds and market.ask_kind.answered_by are rows of market.offer_kind. PostgreSQL
-- has no foreign keys of arrays, so these triggers do the same.

create or replace function internal.check_offer_kinds() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  unknown text;
begin
  select string_agg(k.kind, ', ') into unknown
  from jsonb_array_elements_text(to_jsonb(new) -> tg_argv[0]) as k (kind)
  where not exists (select from market.offer_kind o where o.offer_kind = k.kind);
  if unknown is not null then
    raise exception using errcode = 'foreign_key_violation', schema = tg_table_schema, table = tg_table_name,
      column = tg_argv[0], message = format('%s of %I.%I: market.offer_kind has no %s', tg_argv[0], tg_table_schema,
        tg_table_name, unknown);
  end if;
  return new;
end
$$;
comment on function internal.check_offer_kinds() is
  'Trigger: refuses a row whose array of kinds of offer has an unknown kind. Argument: the column.';

create or replace function internal.keep_used_offer_kind() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from market.domain d where old.offer_kind = any (d.kinds))
    or exists (select from market.ask_kind a where old.offer_kind = any (a.answered_by)) then
    raise exception using errcode = 'foreign_key_violation', schema = 'market', table = 'offer_kind',
      message = format('market.domain or market.ask_kind refers to the kind of offer %s', old.offer_kind);
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;
comment on function internal.keep_used_offer_kind() is
  'Trigger: refuses to delete or rename a kind of offer that a domain or a kind of ask names.';
