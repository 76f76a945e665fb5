-- Whether a text says that it is something else than what it was sent as.

create or replace function reading.contradicts(sent_as text, text text, extractions jsonb, addressed jsonb) returns text
  language plpgsql stable
as $$
declare
  field constant jsonb := reading.choose_field('reads_as', reading.without_spans(contradicts.text, addressed),
    extractions);
  other constant text := field ->> 'value';
  percent constant numeric := (field ->> 'confidence')::numeric * 100;
begin
  return case
    when other is null or other = sent_as then null
    when percent >= internal.setting('certain_' || other)::numeric then 'certain'
    when percent >= internal.setting('doubtful_ask')::numeric then 'doubtful' end;
end
$$;
comment on function reading.contradicts(text, text, jsonb, jsonb) is
  'Returns whether a text that was sent as an offer asks, or one sent as an ask offers (`sent_as`: offer or ask): '
  'certain, doubtful or null. The first extraction counts that says what the text reads as.';
