-- The checks of a submission before its text is extracted.

create or replace function internal.text_errors(text text) returns jsonb
  language plpgsql immutable
as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('pointer', '/text', 'detail', e.detail)), '[]')
  from (values
    (case when coalesce(reading.first_line(text), '') = '' then 'text_empty' end),
    (case when char_length(internal.visible_text(text)) > 4000 then 'text_too_long' end),
    (internal.contains_secret(text))) as e (detail)
  where e.detail is not null);
end
$$;
comment on function internal.text_errors(text) is
  'Returns the errors that a text has before its extraction: [{pointer, detail}].';
grant execute on function internal.text_errors(text) to souk_agent, souk_person;

create or replace function internal.submission_errors(body jsonb) returns jsonb
  language plpgsql stable
as $$
begin
  return case when body ? 'text' then internal.text_errors(body ->> 'text') else jsonb '[]' end
    || case when body ? 'images' then internal.image_errors(body -> 'images') else jsonb '[]' end
    || case when body ->> 'origin_ask_id' is not null and not exists (
        select from market.ask a
        where a.id::text = internal.lower_case(body ->> 'origin_ask_id') and a.account_id = internal.account_id())
      then
      jsonb '[{"pointer": "/origin_ask_id", "detail": "origin_ask_of_others"}]'
      else jsonb '[]' end
    || internal.visibility_errors(body ->> 'contact_visibility');
end
$$;
comment on function internal.submission_errors(jsonb) is
  'Returns the errors of an OfferSubmission that is valid by its JSON schema: [{pointer, detail}].';
grant execute on function internal.submission_errors(jsonb) to souk_agent, souk_person;
