-- What a reader of a list has read, as a short text for a cursor: which transactions were finished when it read. The
-- matches and events of transactions that end later are returned next time: each once, in whatever order they commit.
--
-- A snapshot of PostgreSQL (pg_snapshot) says this, too, but lists every transaction that was running, and a busy
-- server runs hundreds. A horizon has the numbers at which "still to be read" and "read" take turns: the first one, and
-- then the distance from each to the next. What comes after the last turn is still to be read:
--
--   105,1,4   105 and everything from 110 on is still to be read; all up to 104 and from 106 to 109 is read
--
-- If that is too long, only the transactions of the rows that the reader finds count as read, because of all others
-- there is nothing to read. If it is still too long, the horizon ends early, and the reader gets the rest when older
-- transactions have ended.

create or replace function internal.horizon_of(snapshot pg_snapshot, of_rows xid8[] default null) returns text
  language plpgsql immutable parallel safe
as $$
declare
  -- Two of them fit into a cursor, with everything else that is in it (src/api/schemas/events.ts).
  longest constant integer := 500;
  latest constant bigint := pg_snapshot_xmax(snapshot)::text::bigint;
  running bigint[];
  finished bigint[];
  turns text[];
  lengths integer[];
  kept integer;
begin
  if pg_snapshot_xmin(snapshot) = pg_snapshot_xmax(snapshot) then
    return latest::text;
  end if;
  running := array(select r::text::bigint from pg_snapshot_xip(snapshot) as r) || latest;
  if of_rows is null then
    finished := array(select r + 1 from unnest(running) as r where r < latest except select unnest(running));
  else
    finished := array(select f::text::bigint from unnest(of_rows) as f
      where f >= pg_snapshot_xmin(snapshot) and pg_visible_in_snapshot(f, snapshot));
    running := running || (select max(f) + 1 from unnest(finished) as f);
  end if;
  select array_agg(t.distance order by t.xid), array_agg(t.length::integer order by t.xid) into turns, lengths
  from (
    select d.xid, d.distance, sum(length(d.distance) + 1) over (order by d.xid) - 1 as length
    from (
      select k.xid, (k.xid - lag(k.xid, 1, 0::bigint) over (order by k.xid))::text as distance
      from (
        select k.xid, k.is_read, lag(k.is_read, 1, true) over (order by k.xid) as was_read
        from (
          select r as xid, false as is_read from unnest(running) as r where r is not null
          union
          select f, true from unnest(finished) as f) as k) as k
      where k.is_read <> k.was_read) as d) as t;
  -- The last turn is one to what is still to be read.
  kept := (select max(n) from generate_subscripts(lengths, 1) as n where lengths[n] <= longest and n % 2 = 1);
  return case when kept = cardinality(turns) or of_rows is not null then array_to_string(turns[:kept], ',') end;
end
$$;
comment on function internal.horizon_of(pg_snapshot, xid8[]) is
  'Returns a snapshot as a horizon; null if that is longer than 500 characters. With the transactions of the rows that '
  'the reader finds (the earliest of them, if there are many), what is read of these, in at most 500 characters.';
grant execute on function internal.horizon_of(pg_snapshot, xid8[]) to souk_agent, souk_person;

create or replace function internal.beyond(horizon text) returns int8multirange
  language plpgsql immutable parallel safe
as $$
begin
  return (
    select range_agg(int8range(t.turn, t.next)) from (
      select n, turn, lead(turn) over (order by n) as next from (
        select n, (sum(d::bigint) over (order by n))::bigint as turn
        from string_to_table(horizon, ',') with ordinality as t (d, n)) as t) as t
    where t.n % 2 = 1);
end
$$;
comment on function internal.beyond(text) is
  'Returns the numbers of transactions that are still to be read after a horizon; null for null.';
grant execute on function internal.beyond(text) to souk_agent, souk_person, souk_moderator;
