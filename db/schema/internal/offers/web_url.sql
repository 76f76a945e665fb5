-- The pages that agents can show their persons.

create or replace function internal.web_url(offer_id uuid, sandbox_id uuid) returns text
  language sql stable
as $$
  select case when web_url.sandbox_id is null
    then nullif(current_setting('market.base_url', true), '') || '/offers/' || web_url.offer_id end
$$;
comment on function internal.web_url(uuid, uuid) is
  'Returns the address of an offer''s page; null for an offer of a sandbox, which has none. The API sends the address '
  'at which clients reach it with each call (setting market.base_url); without it, null.';
grant execute on function internal.web_url(uuid, uuid) to souk_agent, souk_person;

create or replace function internal.with_web_url(body jsonb) returns jsonb
  language sql stable
as $$
  select case when body ? 'offer_id' then body || jsonb_strip_nulls(jsonb_build_object(
      'web_url', internal.web_url((body ->> 'offer_id')::uuid, internal.sandbox_id())))
    else body end
$$;
comment on function internal.with_web_url(jsonb) is
  'Adds web_url to a stored response that is about an offer (OfferPublished). It is not stored, because the worker '
  'that stores the response does not know where clients reach the service.';
grant execute on function internal.with_web_url(jsonb) to souk_agent, souk_person;
