-- An account's deletion: what is deleted, what is kept without personal data, and in which order. What moderation
-- decided about the account is kept for twelve months (market.kept_record).

create or replace function internal.erase_account() returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  erased uuid := internal.account_id();
  -- Each offer takes some milliseconds, and each ask, without its matches (internal.few_matches). A statement may take
  -- five seconds.
  batch constant integer := 200;
  -- Each event takes some hundredths of a millisecond. Every call also reads the events that earlier calls have already
  -- emptied.
  logged constant integer := 5000;
  -- Events are only deleted: this number takes half a second.
  max_events constant integer := 20000;
  changed_rows integer;
  offers uuid[];
  asks uuid[];
  attempts uuid[];
  begins boolean;
begin
  perform internal.lock_sessions(erased);
  -- Lock the account's row first: jobs.complete_submission locks it before it publishes, so one of the two waits for
  -- the other.
  perform from market.account a where a.id = erased for update;
  if not found or internal.agent_id() is not null then
    perform internal.raise_problem(401, 'unauthorized', 'own_account_gone');
  end if;
  -- From here on no agent of the account can publish, however many calls the deletion takes.
  perform from market.agent a where a.account_id = erased order by a.id for update;
  update market.agent a set removed_at = now() where a.account_id = erased and a.removed_at is null;
  -- And nobody else sees one of its offers.
  update market.account a set hiding = true where a.id = erased and not a.hiding
  returning a.suspended_at is null into begins;
  -- At the beginning, so that nobody stops the message by stopping the deletion. A suspended account's is hidden
  -- already.
  if begins then
    perform internal.notify_addresses(erased, 'account_deleted');
  end if;
  -- Before the offers are emptied, because the other side keeps their titles.
  if not internal.erase_conversations(erased) then
    return false;
  end if;
  -- Then lock the offers. A transaction that stores a vector locks its offer too, so one of the two waits for the
  -- other.
  offers := internal.few_matches(array(
    select o.id from market.offer o where o.account_id = erased order by o.id limit batch for update));
  asks := internal.few_matches(array(
    select a.id from market.ask a where a.account_id = erased order by a.id limit batch for update));
  perform internal.lock_matches(offers || asks);

  -- Arrays, because PostgreSQL uses no index for `x = a or x in (select ...)`.
  delete from market.rate_limit_hit c
  where c.scope = any (array['account:' || erased]
    || array(select 'agent:' || a.id from market.agent a where a.account_id = erased));
  delete from market.idempotency_key k
  where k.owner_id = any (array[erased] || array(select a.id from market.agent a where a.account_id = erased));
  perform pg_notify('submission', s.id::text) from market.submission s
  where s.account_id = erased and s.completed_at is null;
  delete from market.submission s where s.account_id = erased;
  delete from market.offer_change c where c.account_id = erased;

  -- The removals that internal.keep_record will keep. The next statement takes them from the account.
  update market.account a set prior_removals = (array(
    select o.id from market.offer o where o.id = any (offers) and o.status = 'removed' order by o.removed_at desc)
    || a.prior_removals)[1:200]
  where a.id = erased
    and exists (select from market.offer o where o.id = any (offers) and o.status = 'removed');

  -- The rows stay, because reports of other accounts and moderators' decisions refer to them. Nothing that a person
  -- wrote stays.
  update market.offer o set
    status = case when o.status in ('published', 'pending_review') then 'archived' else o.status end,
    title = 'Deleted offer', text = 'The account that published this offer was deleted.',
    sent_text = null,
    withheld_spans = '[]', withheld_images = '{}', language = null, images = '{}', price_thousandths = null,
    price_currency = null, price_period = null,
    price_unit = null,
    location_text = null, metadata = '{}', contact = '{}', extraction = '{}', missing_fields = '{}', warnings = '{}',
    review_note = null, origin_ask_id = null, agent_id = null, account_id = null
  where o.id = any (offers);
  delete from market.offer_embedding e where e.offer_id = any (offers);
  delete from reading.price_reason r where r.offer_id = any (offers);
  delete from market.match m where m.offer_id = any (offers);
  -- The offers are empty now, so moderators have nothing to decide.
  update market.report r set completed_at = now() where r.offer_id = any (offers) and r.completed_at is null;
  update market.review_case c set closed_at = now(), reports = 0, held_by = null, held_until = null
  where c.offer_id = any (offers) and c.closed_at is null;
  if exists (select from market.offer o where o.account_id = erased) then
    return false;
  end if;
  delete from market.ask a where a.id = any (asks);
  if exists (select from market.ask a where a.account_id = erased) then
    return false;
  end if;
  delete from market.event e
  where e.account_id = erased and (e.id, e.occurred_at) in (
    select o.id, o.occurred_at from market.event o where o.account_id = erased limit max_events);
  get diagnostics changed_rows = row_count;
  if changed_rows = max_events then
    return false;
  end if;
  update market.audit_event e set before = null, after = null
  where (e.id, e.at) in (
    select o.id, o.at from market.audit_event o
    where o.subject_account_id = erased and (o.before is not null or o.after is not null) limit logged);
  get diagnostics changed_rows = row_count;
  if changed_rows = logged then
    return false;
  end if;
  update market.report r set account_id = null, agent_id = null, comment = null where r.account_id = erased;

  -- A sign-in attempt is locked after the verification that it belongs to, as in internal.lock_sign_in. Attempts for
  -- the account's e-mail addresses are deleted too.
  perform from market.verification v where v.account_id = erased order by v.id for update;
  attempts := array(
    select s.id from market.sign_in s where s.account_id = erased
    union
    select s.id from market.verification v join market.sign_in s on s.verification_id = v.id where v.account_id = erased
    union
    select s.id from market.proved_method p join market.sign_in s on s.email = p.email where p.account_id = erased);
  perform from market.sign_in s where s.id = any (attempts) order by s.id for update;
  delete from market.sign_in s where s.id = any (attempts);
  if (select a.suspended_at is not null from market.account a where a.id = erased) then
    perform internal.notify_addresses(erased, 'account_deleted');
  end if;
  -- While the account still exists, because its record is kept under the hashes of its methods (internal.keep_method).
  delete from market.proved_method m where m.account_id = erased;
  perform internal.keep_record(erased);
  -- Agents, links, profile, sessions and verifications are deleted with the account.
  delete from market.account a where a.id = erased;
  delete from market.event e where e.account_id = erased;
  -- Empty also the events that this call has logged.
  update market.audit_event e set before = null, after = null
  where e.subject_account_id = erased and (e.before is not null or e.after is not null);
  return true;
end
$$;
comment on function internal.erase_account() is
  'Deletes the calling person''s account: removes its agents, archives and empties its offers, and deletes all its '
  'other rows. Works in batches: returns false when it must be called again. Raises 401 without a session, or for an '
  'agent.';
grant execute on function internal.erase_account() to souk_person;
