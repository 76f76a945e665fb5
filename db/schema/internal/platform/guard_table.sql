-- Every table has row-level security, which binds its owner, too.

create or replace function internal.guard_table(name regclass) returns void
  language plpgsql volatile
as $$
begin
  execute format('alter table %s enable row level security, force row level security', name);
  execute format('create policy "the owner sees all" on %s to souk_owner using (true) with check (true)', name);
end
$$;
comment on function internal.guard_table(regclass) is
  'Turns on row-level security for a new table, with a policy for the functions that run as its owner.';
