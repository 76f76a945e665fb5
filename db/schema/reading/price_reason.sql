create table reading.price_reason (
  offer_id uuid constraint price_reason_pkey primary key
    constraint price_reason_offer_fkey references market.offer on delete cascade,
  candidates jsonb not null,
  constraint price_reason_candidates_are_array check (jsonb_typeof(candidates) = 'array'),
  constraint price_reason_candidates_length check (octet_length(candidates::text) <= 20000)
);

comment on table reading.price_reason is
  'One row is why the built-in extractor took its price from the text of one offer, as of the last reading of the '
  'text. A model may have read another price, and then its price is the one of the offer. inspect.price_reasons shows '
  'a row.';
comment on column reading.price_reason.candidates is
  'The most probable candidates for the price, most probable first: [{amount, currency, chance, features: [{feature, '
  'weight}]}]. Features contain only words of the training set, so no name, no number and no contact of the text.';
grant select on reading.price_reason to souk_dba;
