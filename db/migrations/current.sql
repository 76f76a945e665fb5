-- Offsets in extractions count code points from 0, and folding depends on no locale.

set local role souk_owner;

-- What is stored of an offer changes, but not the offer: no move, no review, no line in the audit log.
alter table market.offer disable trigger user;

--!include reading/zero_based.sql
update market.offer set extraction = reading.zero_based(extraction) where extraction <> '{}';
-- Answers are kept for a day, for retries.
update market.submission set body = body || jsonb_build_object('extraction', reading.zero_based(body -> 'extraction'))
where body ? 'extraction';

--!include reading/fold.sql
-- Offers whose words fold differently now: their generated columns are computed again.
alter table market.offer enable trigger set_offer_concepts;
alter table market.offer enable trigger sync_embedding_facets;
update market.offer o set title = o.title, text = o.text, location_text = o.location_text
where exists (
  select from unnest(array[o.title, o.text, o.location_text, o.metadata -> 'location' ->> 'city',
    o.metadata -> 'location' ->> 'region']) as w (words)
  where reading.fold(w.words) <> translate(
    replace(replace(replace(
      regexp_replace(normalize(lower(w.words), nfkd), '[\u0300-\u036f]', '', 'g'),
      'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    'łøđðıþ', 'loddit'));
alter table market.offer enable trigger user;
reindex index market.ask_text_idx;
reindex index reading.place_name_idx;
reindex index reading.place_name_name_idx;
