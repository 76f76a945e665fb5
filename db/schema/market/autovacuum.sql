-- When autovacuum cleans a table. PostgreSQL waits until a fifth of a table is dead, and plans with statistics of a
-- table that was a tenth smaller. In a large market that is days of changes, through which every scan has to pass. So
-- each table that changes much has a share of its own, and room in its pages if its updates change no indexed column:
-- then the new version of a row lies beside the old one, and no index is touched (HOT). The partitions of events and of
-- the audit log are not here, because they only grow until they are dropped.

do $$
declare
  setting record;
begin
  for setting in
    select * from (values
      ('market.offer', 0.02, null, 'Offers change their status, and their words when their text changes.'),
      ('market.offer_embedding', 0.02, null, 'A vector is written some time after its offer.'),
      ('search.document', 0.02, 75,
        'Offers become stale, and are there no more. A quarter of each page is room for a row that becomes stale: to '
        'enter it in the graph of vectors again is the dearest write of all.'),
      ('search.document', 0.02, null,
        'A document comes and goes with its offer, and every search reads past dead ones.'),
      ('search.ask', 0.02, null, 'So does what an ask looks for.'),
      ('market.ask', 0.02, null, 'An ask is read some time after it was stored, and ends.'),
      ('market.ask_embedding', 0.02, null, 'As that of offers.'),
      ('search.ask', 0.02, null, 'An ask ends, and is there no more.'),
      ('market.match', 0.02, null, 'The matches of an ask or offer are found again after each change.'),
      ('market.conversation', 0.02, null, 'Each message changes its time.'),
      ('market.proposal', 0.02, null, 'A proposal is answered, or expires.'),
      ('market.agreement', 0.02, null, 'An agreement awaits the persons.'),
      ('market.confirmation', 0.02, null, 'A confirmation is decided.'),
      ('market.account_stats', 0.02, 80, 'The counts change with each offer of the account. None is indexed.'),
      ('market.agent', 0.02, null, 'Agents that nobody approves are deleted after a week.'),
      ('market.account', 0.02, null, 'So are their accounts.'),
      ('market.connection', 0.02, null, 'So are their links.'),
      ('market.session', 0.02, null, 'A session is touched every hour, and ends.'),
      ('market.sign_in', 0.02, null, 'Attempts live for a day.'),
      ('market.notice', 0.02, null, 'A message is deleted when it was sent.'),
      ('market.known_browser', 0.02, null, 'Each sign-in by mail replaces a row.'),
      ('market.verification', 0.02, null, 'Requests for a proof live for 30 days.'),
      ('market.oauth_grant', 0.02, 90, 'Each refresh changes its hash.'),
      ('market.oauth_client', 0.02, null, 'Clients that never finish are deleted after a day.'),
      ('market.sandbox', 0.02, null, 'A sandbox lives for a day.'),
      ('market.digest', 0.02, null, 'Each digest sets the time of the next.'),
      ('market.webhook', 0.02, 80, 'Each attempt may change how prompt the receiver is. That is not indexed.'),
      ('market.query_embedding', 0.02, null, 'Vectors of queries live for 30 days.'),
      ('market.review_case', 0.02, null, 'Each report is counted in its case.'),
      ('market.report', 0.02, null, 'Reports are completed with their case.'),
      -- All rows of these are replaced within a day or less.
      ('market.submission', 0.01, null, 'A submission is inserted, completed and deleted within a day.'),
      ('market.idempotency_key', 0.01, null, 'A key lives for a day.'),
      ('market.rate_limit_hit', 0.01, null, 'A counted call lives for a day.'),
      ('market.used_assertion', 0.01, null, 'A used assertion lives for an hour at most.'),
      ('market.webhook_delivery', 0.01, null, 'A delivery changes twice with each attempt, and lives for a week.'),
      ('market.worker_heartbeat', 0.01, 50, 'Each worker writes one every ten seconds.'),
      ('internal.recent_write', 0.01, null, 'A note lives for five minutes.'),
      ('graphile_worker._private_jobs', 0.01, null, 'A job is inserted, locked and deleted within a moment.'))
      as s (of_table, share, fill, reason)
  loop
    execute format('alter table %s set (autovacuum_vacuum_scale_factor = %s, autovacuum_analyze_scale_factor = %2$s%s)',
      setting.of_table::regclass, setting.share, ', fillfactor = ' || setting.fill);
  end loop;
end
$$;
