-- Account stats (market.account_stats). Triggers maintain them, and search results show them beside each offer.

create or replace function internal.create_account_stats() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.account_stats (account_id) values (new.id);
  return new;
end
$$;
comment on function internal.create_account_stats() is 'Creates the account_stats row of a new account.';

create or replace function internal.set_publisher() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  new.publisher := internal.build_publisher(new);
  return new;
end
$$;
comment on function internal.set_publisher() is 'Builds the public record of an account whose stats change.';

create or replace function internal.refresh_publisher() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- set_publisher builds it. If another transaction changes the row at the same time, the one that comes second sees
  -- what the first has committed.
  update market.account_stats p set publisher = null
  where p.account_id = (to_jsonb(case tg_op when 'DELETE' then old else new end) ->> tg_argv[0])::uuid;
  return null;
end
$$;
comment on function internal.refresh_publisher() is
  'Builds an account''s public record again when a row on which it depends has changed. Its argument is the column '
  'with the account''s id.';

create or replace function internal.note_activity() returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  -- Clients see only the month, so one write a day is enough. With more writes, calls would wait for each other's lock
  -- on the row.
  update market.account_stats p set last_active_at = now()
  where p.account_id = internal.visible_account_id() and p.last_active_at < now() - interval '1 day'
$$;
comment on function internal.note_activity() is
  'Stores the time of the last write of the caller''s account in account_stats, at most once a day. Acts of an agent '
  'that sees nothing of the account do not count.';
grant execute on function internal.note_activity() to souk_agent, souk_person;

create or replace function internal.count_offer() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was market.offer := case when tg_op <> 'INSERT' then old end;
  becomes market.offer := case when tg_op <> 'DELETE' then new end;
begin
  update market.account_stats p set
    active = p.active + coalesce((becomes.status = 'published')::integer, 0)
    - coalesce((was.status = 'published')::integer, 0),
    lifetime = p.lifetime + coalesce((becomes.published_at is not null)::integer, 0)
    - coalesce((was.published_at is not null)::integer, 0),
    removed = p.removed + coalesce((becomes.status = 'removed')::integer, 0)
    - coalesce((was.status = 'removed')::integer, 0),
    last_active_at = case when internal.account_id() = p.account_id or tg_op = 'INSERT' then now()
      else p.last_active_at end
  where p.account_id = coalesce(becomes.account_id, was.account_id);
  return null;
end
$$;
comment on function internal.count_offer() is
  'Updates the counts in account_stats when an offer is added, changed or deleted.';
