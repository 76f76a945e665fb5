-- The digest: which matches are new to a person, and the key of the link that switches it off.
--
-- A match is new if its event came from a transaction that the last digest had not seen (as in api/list_events.sql). So
-- a match whose transaction commits late is neither missed nor sent twice. Unlike a cursor, a digest needs
-- no time for the case of a crash: what it has seen is in the write-ahead log before its own row.

create or replace function internal.new_matches(digest market.digest, until pg_snapshot)
  returns table (ask_id uuid, offer_id uuid)
  language plpgsql stable
  -- The planner's statistics lack the newest events, so it would expect few of them and sort all. Without a sort it
  -- uses event_account_id_idx, which has their order, and stops when there are enough.
  set enable_sort = off
as $$
declare
  seen pg_snapshot := digest.seen;
  since timestamptz := greatest(digest.changed_at, now() - interval '30 days');
  -- Far more than a mail names. One person may have millions, and one statement looks for those of 200 people
  -- (jobs.enqueue_digests).
  max_events constant integer := 2000;
  hidden constant uuid[] := internal.accounts_being_hidden();
begin
  -- A snapshot from the future comes from before a restored backup. Then the time decides.
  if pg_snapshot_xmax(seen) > pg_snapshot_xmax(pg_current_snapshot()) then
    seen := null;
    since := greatest(since, digest.sent_at);
  end if;
  return query
    select distinct m.ask_id, m.offer_id
    from (
      select n.type, n.data, n.xid from market.event n
      where n.account_id = digest.account_id and n.occurred_at >= since
        and n.xid >= coalesce(pg_snapshot_xmin(seen), '0') and n.xid < pg_snapshot_xmax(until)
      order by n.xid desc, n.id desc limit max_events) as e
    join market.match m on m.ask_id = (e.data ->> 'ask_id')::uuid and m.offer_id = (e.data ->> 'offer_id')::uuid
    join market.ask a on a.id = m.ask_id
    join market.offer o on o.id = m.offer_id
    where e.type = 'match.created' and not coalesce(pg_visible_in_snapshot(e.xid, seen), false)
      and pg_visible_in_snapshot(e.xid, until)
      and a.account_id = digest.account_id and a.status = 'active' and a.watch_enabled
      and o.status = 'published' and (o.account_id = any (hidden)) is not true;
end
$$;
comment on function internal.new_matches(market.digest, pg_snapshot) is
  'Returns the matches that no digest has sent, up to a snapshot: of active asks that watch, with published offers, '
  'among the newest 2,000 events of the account.';

create or replace function internal.stop_key(account_id uuid) returns text
  language plpgsql volatile
as $$
begin
  -- 128 bits, which nobody guesses.
  return internal.mark_of('stop digest ' || account_id);
end
$$;
comment on function internal.stop_key(uuid) is
  'Returns the key in a digest''s link, which proves that the link was made here for this account. It is computed and '
  'not stored, so the link of every mail works.';

create or replace function internal.check_stop_key(account_id uuid, key_hash bytea) returns void
  language plpgsql volatile
as $$
begin
  if check_stop_key.key_hash is distinct from sha256(convert_to(internal.stop_key(check_stop_key.account_id), 'UTF8'))
    or not exists (select from market.account a where a.id = check_stop_key.account_id) then
    perform internal.raise_problem(404, 'not_found',
      'This link does not work. Copy it whole from the mail, or switch the mail off in the settings, under "Alerts".');
  end if;
end
$$;
comment on function internal.check_stop_key(uuid, bytea) is
  'Raises 404 unless the hash is that of the key in a digest''s link for this account, and the account exists.';

create or replace function internal.own_digest() returns jsonb
  language plpgsql stable
as $$
begin
  return (select jsonb_build_object('enabled', d.enabled, 'changed_at', internal.utc(d.changed_at),
      'sent_at', internal.utc(d.sent_at))
    from market.digest d where d.account_id = internal.account_id());
end
$$;
comment on function internal.own_digest() is
  'Returns the calling person''s choice about the digest: {enabled, changed_at, sent_at}; null when there is none.';
grant execute on function internal.own_digest() to souk_person;
