-- Rolling windows that strangers share, such as what may be sent to one host. Accounts and addresses cost nothing, so
-- the first caller could use up such a window. Therefore each counted call names its parties, from the largest to the
-- smallest: for example the network of a provider, a site in it, and an account there. A larger party contains the
-- smaller ones. What the others in the larger party have used is subtracted from its share, and a party gets at most
-- three quarters of the rest. So the accounts of one provider leave a quarter of the window to other providers, and
-- each account leaves something to its neighbours.

create or replace function internal.room_of_parties(room integer, used integer[]) returns integer
  language plpgsql immutable
as $$
declare
  left_here integer := greatest(room_of_parties.room, 0);
  own integer;
begin
  foreach own in array room_of_parties.used loop
    -- It has used `own`, and the party around it may use `left_here` more: three quarters of both, less its own.
    -- Rounded up, so that a small window can be used at all.
    left_here := greatest(ceil((3 * left_here - own) / 4.0)::integer, 0);
  end loop;
  return left_here;
end
$$;
comment on function internal.room_of_parties(integer, integer[]) is
  'Returns how many more calls the last of several parties may make. room: what is left of the window. used: what each '
  'party has used, from the largest to the smallest.';

create or replace function internal.shared_room(scope text, action text, cap integer, parties text[]) returns integer
  language plpgsql volatile
as $$
begin
  return (
    with calls as materialized (
      select c.parties from market.rate_limit_hit c
      where c.scope = shared_room.scope and c.action = shared_room.action
        and c.called_at > clock_timestamp() - interval '1 hour')
    select internal.room_of_parties(shared_room.cap - (select count(*) from calls)::integer, array(
      select (select count(*) from calls c where p.party = any (c.parties))::integer
      from unnest(shared_room.parties) with ordinality as p (party, place) order by p.place)));
end
$$;
comment on function internal.shared_room(text, text, integer, text[]) is
  'Returns how many more calls the last of these parties may make in a window of an hour. Without parties, the window '
  'is its own. Whoever then counts a call holds the lock of the window (internal.lock_window).';

create or replace function internal.shared_wait(scope text, action text, cap integer, parties text[]) returns integer
  language plpgsql volatile
as $$
declare
  used integer := 0;
  own integer[] := array_fill(0, array[cardinality(shared_wait.parties)]);
  hit record;
begin
  -- The newest first: there is room as soon as the call leaves that would be one too many.
  for hit in
    select c.called_at, c.parties from market.rate_limit_hit c
    where c.scope = shared_wait.scope and c.action = shared_wait.action
      and c.called_at > clock_timestamp() - interval '1 hour'
    order by c.called_at desc
  loop
    used := used + 1;
    for place in 1 .. cardinality(shared_wait.parties) loop
      own[place] := own[place] + coalesce(shared_wait.parties[place] = any (hit.parties), false)::integer;
    end loop;
    if internal.room_of_parties(shared_wait.cap - used, own) = 0 then
      return greatest(ceil(extract(epoch from hit.called_at + interval '1 hour' - clock_timestamp())), 1)::integer;
    end if;
  end loop;
  return null;
end
$$;
comment on function internal.shared_wait(text, text, integer, text[]) is
  'Returns the whole seconds until the last of these parties may make another call in a window of an hour; null when '
  'it may now.';

create or replace function internal.origins_of(network text) returns text[]
  language sql immutable
as $$
  select array['address:' || internal.region_of(origins_of.network), 'address:' || internal.site_of(origins_of.network)]
$$;
comment on function internal.origins_of(text) is
  'Returns the parties of a network (internal.network_of): its region and its site; with nulls for null.';
