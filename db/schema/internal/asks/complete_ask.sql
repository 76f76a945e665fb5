-- Fills in an ask from the extractions of its text, and matches it in the same transaction.

create or replace function internal.complete_ask(submission market.submission, extractions jsonb, addressed jsonb,
  embedding text, model text,
  out status integer, out body jsonb)
  language plpgsql volatile
as $$
declare
  ask market.ask;
  -- Only the person's own agents read an ask, so nobody needs its passages that give orders to software.
  shown constant text := reading.hide_spans(submission.text, addressed);
begin
  if submission.completed_at is null and not submission.kind_confirmed
    and reading.contradicts('ask', submission.text, extractions, addressed) = 'certain' then
    status := 400;
    body := internal.reads_as_other('offer');
    perform internal.refuse_submission(submission, status, body);
    return;
  end if;
  update market.ask a set
    text = shown, language = read.language, title = read.title, domain = read.domain,
    category = read.category,
    ask_kind = read.ask_kind, criteria = read.criteria, keywords_query = read.keywords_query,
    exclude_query = read.exclude_query, must_query = read.must_query, place_query = read.place_query,
    price_max_thousandths = read.price_max_thousandths,
    price_currency = read.price_currency, latitude = read.latitude, longitude = read.longitude,
    radius_km = read.radius_km, read_at = now(), updated_at = now()
  from reading.ground_ask(submission.text, extractions, addressed) as read
  where a.id = submission.target_id and a.account_id = submission.account_id
  returning a.* into ask;
  -- The vector was made from the text as it was sent. If that had such passages, the job below makes another one.
  perform search.store_ask_embedding(ask.id, case addressed when '[]' then complete_ask.embedding end,
    complete_ask.model, shown);
  -- The ask is matched here and not by a job, so that the caller can read the matches right after the response.
  perform search.match_ask(ask.id);
  if ask.status = 'active' then
    -- Another transaction may match a new offer now. It sees the ask as it was, and this one does not see its offer. So
    -- a job matches the ask again when both are committed. The job also makes the vector, if it is missing.
    perform internal.enqueue('embed_ask', ask.id);
  else
    -- search.match_ask does nothing for an ask that is not active, so its matches belong to the earlier text.
    perform internal.lock_matches(array[ask.id]);
    delete from market.match m where m.ask_id = ask.id;
  end if;
  status := case submission.kind when 'create_ask' then 201 else 200 end;
  body := internal.ask_document(ask) || internal.hidden_passages(submission.text, addressed);
end
$$;
comment on function internal.complete_ask(market.submission, jsonb, jsonb, text, text) is
  'Fills in a submission''s ask from the extractions, stores its vector, and matches it; returns status and body of '
  'the answer. The status is 400 (reads_as_ask) when the text certainly offers. Passages of the text that give orders '
  'to software are not stored: […] stands in their place.';
