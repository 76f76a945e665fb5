-- The digest: at most one mail a day with the new matches and what is unread in conversations, to a proved address of a
-- person who switched it on.
--
-- A mail is stored before it is sent, with its id and its end (market.digest.mail_id, mail_until). If an attempt fails,
-- or the worker dies before it notes that the mail server took the mail, the next attempt sends the same mail with the
-- same Message-ID, so that mail programs show it once.

create or replace function jobs.enqueue_digests() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off
as $$
declare
  -- The search for new matches takes some tenths of a millisecond each, so a batch takes well under a second.
  batch constant integer := 200;
  present constant pg_snapshot := pg_current_snapshot();
  digest market.digest;
  has_news boolean;
  looked integer := 0;
begin
  for digest in
    select * from market.digest d where d.enabled and d.due_at <= now() order by d.due_at limit batch
    for update skip locked
  loop
    looked := looked + 1;
    has_news := digest.mail_id is not null or exists (select from internal.new_matches(digest, present))
      or exists (select from internal.unread_conversations(digest));
    -- Events without a new match are not read again.
    update market.digest d
    set due_at = now() + interval '1 hour', seen = case when has_news then d.seen else present end
    where d.account_id = digest.account_id;
    if has_news then
      -- Messages about the account itself go first.
      perform internal.enqueue('send_digest', digest.account_id, 10);
    end if;
  end loop;
  return looked;
end
$$;
comment on function jobs.enqueue_digests() is
  'Looks whether there is something new for up to 200 people whose digest is due, and enqueues their mails. Looks '
  'again after an hour. Returns the number of people; 0 when nothing is left.';

create or replace function jobs.begin_digest(account_id uuid) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  -- As many as a person reads on a phone. The mail says how many more there are.
  max_asks constant integer := 10;
  max_offers constant integer := 5;
  digest market.digest;
  email text := internal.notice_email(begin_digest.account_id);
  asks jsonb;
  conversations jsonb;
begin
  select d.* into digest from market.digest d join market.account a on a.id = d.account_id
  where d.account_id = begin_digest.account_id and d.enabled and a.suspended_at is null
    and coalesce(d.sent_at, '-infinity') <= now() - interval '1 day'
  for update of d;
  if not found or email is null then
    return null;
  end if;
  if digest.mail_id is null
    or pg_snapshot_xmax(digest.mail_until) > pg_snapshot_xmax(pg_current_snapshot()) then
    -- On the disk before the mail leaves: after a crash, a second mail would get another id.
    perform internal.make_durable();
    update market.digest d set mail_id = internal.uuid_v7(), mail_until = pg_current_snapshot(), mail_at = now()
    where d.account_id = digest.account_id returning * into digest;
  end if;
  with due as (
    -- Without contacts that not everybody sees.
    select m.ask_id, d.id, d.document -> 'document' ->> 'title' as title,
      d.document -> 'metadata' -> 'pricing' ->> 'label' as price, d.location_text as location,
      row_number() over (partition by m.ask_id order by m.score desc, d.is_stale, d.id) as n
    from internal.new_matches(digest, digest.mail_until) as w
    join market.match m on m.ask_id = w.ask_id and m.offer_id = w.offer_id
    join search.document d on d.id = m.offer_id
  ), listed as (
    select a.id, coalesce(a.title, left(a.text, 120)) as title, count(*) as found,
      jsonb_agg(jsonb_build_object('id', t.id, 'title', t.title, 'price', t.price, 'location', t.location)
        order by t.n) filter (where t.n <= max_offers) as offers,
      row_number() over (order by a.id desc) as n
    from due t join market.ask a on a.id = t.ask_id
    group by a.id
  )
  select jsonb_agg(jsonb_build_object('title', l.title, 'found', l.found, 'offers', l.offers) order by l.n)
    filter (where l.n <= max_asks)
  into asks from listed l;
  -- Only the title of the offer is a stranger's words. The mail says how many more there are.
  select jsonb_agg(jsonb_build_object('id', u.id, 'title', internal.deal_title(u), 'unread',
    case u.publisher_id when digest.account_id then u.publisher_unread else u.inquirer_unread end)
    order by u.active_at desc, u.id)
  into conversations from internal.unread_conversations(digest) as u;
  if asks is null and conversations is null then
    -- The matching offers were taken down meanwhile, and the messages were read.
    update market.digest d
    set seen = d.mail_until, told_at = d.mail_at, mail_id = null, mail_until = null, mail_at = null
    where d.account_id = digest.account_id;
    return null;
  end if;
  return jsonb_build_object('email', email, 'mail_id', digest.mail_id, 'asks', coalesce(asks, '[]'),
    'conversations', coalesce(conversations, '[]'), 'stop_key', internal.stop_key(digest.account_id));
end
$$;
comment on function jobs.begin_digest(uuid) is
  'Returns {email, mail_id, asks, conversations, stop_key} for an account''s digest; null when nothing is to be sent: '
  'it is switched off, one was sent within a day, the account is suspended, no address is proved, or nothing is new.';

create or replace function jobs.finish_digest(account_id uuid, taken boolean) returns void
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  update market.digest d set due_at = now() + interval '1 day',
    sent_at = case when finish_digest.taken then now() else d.sent_at end,
    seen = case when finish_digest.taken then d.mail_until else d.seen end,
    told_at = case when finish_digest.taken then d.mail_at else d.told_at end,
    mail_id = case when not finish_digest.taken then d.mail_id end,
    mail_until = case when not finish_digest.taken then d.mail_until end,
    mail_at = case when not finish_digest.taken then d.mail_at end
  where d.account_id = finish_digest.account_id and d.mail_id is not null
$$;
comment on function jobs.finish_digest(uuid, boolean) is
  'Notes that the mail server took an account''s digest; or (taken false) that it refused the address, which is tried '
  'again after a day.';
