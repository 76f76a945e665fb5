-- How an offer becomes a row of search.document, and the triggers that keep the row. Whoever changes what strangers may
-- find or see of an offer changes search.document_of, and nothing else.

create or replace function search.words_of(title text, text text, language text, category text, concepts tsvector)
  returns tsvector
  language plpgsql immutable
as $$
declare
  heading constant text := reading.plain_words(title);
  body constant text := reading.plain_words(reading.plain_text(text));
begin
  return setweight(to_tsvector('simple', heading), 'A') || setweight(reading.stems(heading, language), 'A')
    -- The category is one lexeme with a slash. No word of a text gives such a lexeme. search.query_terms looks for it.
    || coalesce(('''' || category || ''':1B')::tsvector, '')
    || concepts
    || setweight(to_tsvector('simple', body), 'C') || setweight(reading.stems(body, language), 'C')
    || setweight(to_tsvector('simple', reading.signs(heading)), 'A')
    || setweight(to_tsvector('simple', reading.signs(body)), 'C');
end
$$;
comment on function search.words_of(text, text, text, text, tsvector) is
  'Returns search.document.words for title, text, language, "domain/category" and concepts of an offer.';

create or replace function search.document_of(offer market.offer) returns search.document
  language plpgsql stable
as $$
declare
  location jsonb;
  point jsonb;
  d search.document;
begin
  if offer.status is distinct from 'published' then
    return null;
  end if;
  d.contact_visibility := internal.contact_visibility(offer);
  if d.contact_visibility <> 'public' then
    d.open_document := internal.build_offer_document(offer);
    offer := internal.withheld_offer(offer, d.contact_visibility);
  end if;
  location := coalesce(offer.metadata -> 'location', '{}');
  point := search.sound_point(location -> 'point');
  d.id := offer.id;
  d.account_id := offer.account_id;
  d.sandbox_id := offer.sandbox_id;
  d.published_at := offer.published_at;
  d.is_stale := offer.stale_at is not null;
  d.domain := offer.domain;
  d.category := offer.category;
  d.offer_kind := offer.offer_kind;
  -- The price of a unit is not compared with that of a whole, so no list, filter or match knows it.
  d.price_thousandths := case when offer.price_unit is null then offer.price_thousandths end;
  d.price_currency := offer.price_currency;
  d.price_period := offer.price_period;
  d.location_text := offer.location_text;
  d.city := location ->> 'city';
  d.country := location ->> 'country';
  d.is_remote := location @> '{"remote": true}';
  d.latitude := (point ->> 'lat')::double precision;
  d.longitude := (point ->> 'lon')::double precision;
  d.condition := offer.metadata ->> 'condition';
  d.facet_values := array[d.category, d.offer_kind,
    search.price_range(d.price_thousandths, d.price_currency, d.price_period), d.condition,
    coalesce(d.city, location ->> 'region', d.country)];
  d.facets := search.facets_of(d, location ->> 'region', offer.reviewed, cardinality(offer.images) > 0);
  d.words := search.words_of(offer.title, offer.text, offer.language, offer.domain || '/' || offer.category,
    -- "Not broken" excludes what was read as for parts, whatever its words.
    offer.concepts || array_to_tsvector(array_remove(array['condition/' || d.condition], null)));
  select e.model, e.embedding into d.model, d.embedding from market.offer_embedding e where e.offer_id = offer.id;
  d.document := internal.build_offer_document(offer);
  return d;
end
$$;
comment on function search.document_of(market.offer) is
  'Returns the row of search.document for an offer; null unless it is published.';

create or replace function search.store_document(offer market.offer) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  d constant search.document := search.document_of(offer);
begin
  if d.id is null then
    delete from search.document s where s.id = offer.id;
    return found;
  end if;
  insert into search.document as s select d.*
  on conflict on constraint document_pkey do update set
    account_id = excluded.account_id, sandbox_id = excluded.sandbox_id, published_at = excluded.published_at,
    is_stale = excluded.is_stale, domain = excluded.domain, category = excluded.category,
    offer_kind = excluded.offer_kind, price_thousandths = excluded.price_thousandths,
    price_currency = excluded.price_currency, price_period = excluded.price_period,
    location_text = excluded.location_text, city = excluded.city, country = excluded.country,
    is_remote = excluded.is_remote, latitude = excluded.latitude, longitude = excluded.longitude,
    condition = excluded.condition, model = excluded.model, facet_values = excluded.facet_values,
    embedding = excluded.embedding, contact_visibility = excluded.contact_visibility,
    -- An equal value is kept as it is stored: PostgreSQL compares what is stored, and would take the same words, before
    -- they are compressed, for a change that every index must know.
    facets = case when s.facets = excluded.facets then s.facets else excluded.facets end,
    words = case when s.words = excluded.words then s.words else excluded.words end,
    document = case when s.document = excluded.document then s.document else excluded.document end,
    open_document = case when s.open_document = excluded.open_document then s.open_document
      else excluded.open_document end
  where s is distinct from excluded;
  return found;
end
$$;
comment on function search.store_document(market.offer) is
  'Makes the row of search.document for an offer what it should be, and returns whether it was something else. The '
  'caller has locked the offer.';

create or replace function search.keep_document() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    delete from search.document d where d.id = old.id;
  else
    perform search.store_document(new);
  end if;
  return null;
end
$$;
comment on function search.keep_document() is
  'Keeps the document of an offer that is added, changed or deleted, no matter which role changed it.';

create or replace function search.keep_document_vector() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update search.document d set model = new.model, embedding = new.embedding
  where d.id = coalesce(new.offer_id, old.offer_id);
  return null;
end
$$;
comment on function search.keep_document_vector() is
  'Copies the vector of an offer to its document when it is stored, and removes it there when it is deleted.';
