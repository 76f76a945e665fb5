-- A text that was not read in time. An offer is then not published, and its key is free again; an ask stands with what is
-- known, and is filled in when its text has been read.

create or replace function market.withdraw(id uuid) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  submission market.submission;
  ask market.ask;
begin
  select * into submission from market.submission s where s.id = withdraw.id and s.settled_at is null for update;
  if not found then
    return;
  end if;
  if submission.kind in ('create_ask', 'update_ask') then
    -- Nothing is known yet of the text that stands there now.
    update market.ask a set text = submission.text, read_at = null, updated_at = now(),
      title = null, domain = null, category = null, ask_kind = null, language = null, criteria = '{}',
      keywords_query = null, exclude_query = null, place_query = null, price_max_hundredths = null, price_currency = null
    where a.id = submission.target_id and a.account_id = submission.account_id
    returning * into ask;
    delete from market.match m where m.ask_id = ask.id;
    perform market.settle(submission.id, case submission.kind when 'create_ask' then 201 else 200 end,
      market.ask_document(ask));
  else
    delete from market.idempotency_key k where k.submission_id = submission.id;
    perform market.settle(submission.id, 503, jsonb_build_object('code', 'service_unavailable', 'retry_after', 5,
      'detail', 'The text could not be read in time, and nothing was published. Send it again in a few seconds.'));
  end if;
end
$$;
comment on function market.withdraw(uuid) is 'Settles a submission that was not read in time; does nothing when it is settled.';
