-- The digest: which matches are new to a person, and the key of the link that switches it off.
--
-- A match is new if it is of a transaction that the last digest had not seen (as in api/list_matches.sql). So
-- a match whose transaction commits late is neither missed nor sent twice. Unlike a cursor, a digest needs
-- no time for the case of a crash: what it has seen is in the write-ahead log before its own row.

create or replace function internal.new_matches(digest market.digest, until pg_snapshot)
  returns table (ask_id uuid, offer_id uuid)
  language plpgsql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  seen pg_snapshot := digest.seen;
  since timestamptz := greatest(digest.changed_at, now() - interval '30 days');
  -- Far more than a mail names. One statement looks for those of 200 people (jobs.enqueue_digests). Asks are looked
  -- through, and not the events of matches, because a person may have millions of events of offers that are gone.
  max_asks constant integer := 10000;
  max_matches constant integer := 2000;
  hidden constant uuid[] := internal.accounts_being_hidden();
  ask uuid;
  left_to_find integer := max_matches;
  more integer;
begin
  -- A snapshot from the future comes from before a restored backup. Then the time decides.
  if pg_snapshot_xmax(seen) > pg_snapshot_xmax(pg_current_snapshot()) then
    seen := null;
    since := greatest(since, digest.sent_at);
  end if;
  for ask in
    select a.id from market.ask a
    where a.account_id = digest.account_id and a.status = 'active' and a.watch_enabled order by a.id desc limit max_asks
  loop
    return query
      select m.ask_id, m.offer_id
      from market.match m join market.offer o on o.id = m.offer_id
      where m.ask_id = ask and m.xid >= coalesce(pg_snapshot_xmin(seen), '0') and m.first_matched_at >= since
        and not coalesce(pg_visible_in_snapshot(m.xid, seen), false) and pg_visible_in_snapshot(m.xid, until)
        and o.status = 'published' and (o.account_id = any (hidden)) is not true
      limit left_to_find;
    get diagnostics more = row_count;
    left_to_find := left_to_find - more;
    exit when left_to_find <= 0;
  end loop;
end
$$;
comment on function internal.new_matches(market.digest, pg_snapshot) is
  'Returns the matches that no digest has sent, up to a snapshot: of active asks that watch, the newest first, with '
  'published offers. At most 2,000.';

create or replace function internal.unread_conversations(digest market.digest) returns setof market.conversation
  language sql stable
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
  -- The last digest missed a message that was written before it and committed after it. So the last minute is read
  -- again: a message may be told twice, and none is left out.
  with told as (
    select greatest(digest.changed_at, now() - interval '30 days', digest.told_at - interval '1 minute') as until)
  select (s.c).* from (
    (select c from market.conversation c, told t
      where c.publisher_id = digest.account_id and c.active_at > t.until and c.publisher_unread > 0
      order by c.active_at desc limit 100)
    union all
    (select c from market.conversation c, told t
      where c.inquirer_id = digest.account_id and c.active_at > t.until and c.inquirer_unread > 0
      order by c.active_at desc limit 100)) as s
  order by (s.c).active_at desc, (s.c).id
$$;
comment on function internal.unread_conversations(market.digest) is
  'Returns the conversations in which something is unread and something happened since the last digest, the latest '
  'first, at most 200.';

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
    perform internal.raise_problem(404, 'not_found', 'stop_link_broken');
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
