-- How well an offer answers an ask, and why.

create or replace function search.score_match(
  ask market.ask, offer search.document, similarity real, floor real, weight market.ranking
)
  returns table (score real, reasons jsonb)
  language plpgsql stable
as $$
declare
  metadata constant jsonb := offer.document -> 'metadata';
  by_category text;
  by_words text;
  by_place text := search.place_verdict(ask, offer);
  by_price text;
  by_condition text;
  by_musts text;
  by_attributes text;
  -- Without a vector an offer is not near, so only words and category decide.
  near boolean := coalesce(similarity >= floor, false);
  very_near boolean := coalesce(similarity >= 1.5 * floor, false);
begin
  by_category := case
    when ask.category is null or offer.category is null then 'unknown'
    -- The categories of the domain community overlap, so there the kind decides.
    when offer.domain = 'community' and ask.domain = 'community' and offer.category <> ask.category then 'unknown'
    when (ask.domain, ask.category) = (offer.domain, offer.category) then 'met'
    else 'violated' end;
  by_words := case
    when ask.keywords_query is null then null
    when offer.words @@ ask.keywords_query then 'met'
    else 'violated' end;
  -- The subject: in the same category, a shared word or a near vector is enough. In another category both are needed.
  if (case by_category
    when 'met' then coalesce(by_words, 'met') = 'violated' and not near
    when 'unknown' then coalesce(by_words, 'violated') = 'violated' and not very_near
    -- People do not sort things into categories as exactly as the taxonomy does. So an offer with a near vector and the
    -- ask's words in its title counts as the same thing.
    else coalesce(by_words, 'violated') = 'violated' or ask.domain is distinct from offer.domain
      or not (very_near
        or near and offer.words @@ search.any_lexeme(search.lexemes_of(ask.keywords_query), ':A')) end) then
    return;
  end if;

  by_price := case
    when ask.price_max_thousandths is null and ask.criteria -> 'price' ->> 'min' is null
      and ask.criteria -> 'price' -> 'unit' is null then null
    when offer.price_thousandths is null or ask.criteria -> 'price' -> 'unit' is not null
      or search.is_foreign_money(ask, offer) then 'unknown'
    when offer.price_thousandths = 0 then 'met'
    when offer.price_period <> ask.criteria -> 'price' ->> 'period' then 'unknown'
    else 'met' end;
  by_condition := case
    when ask.criteria ->> 'condition' is null then null
    when offer.condition is null then 'unknown'
    when offer.condition = ask.criteria ->> 'condition' then 'met'
    else 'violated' end;

  -- The text of an offer may omit something that is true of it, so missing words are unknown and not violated.
  by_musts :=
    case when ask.must_query is null then null when offer.words @@ ask.must_query then 'met' else 'unknown' end;
  if ask.criteria -> 'attributes' <> '{}' then
    by_attributes := (
      select case when bool_or(f.value <> w.value) then 'violated'
        when bool_and(coalesce(f.value = w.value, false)) then 'met' else 'unknown' end
      from (select w.name, reading.fold(w.value) as value
        from jsonb_each_text(ask.criteria -> 'attributes') as w (name, value)) as w
      cross join lateral (select reading.fold(metadata -> 'attributes' ->> w.name) as value) as f);
  end if;

  -- Above the floor the similarity still ranks: it counts in full only at one and a half times the floor.
  score := greatest(0, least(1, weight.match_base
    + weight.match_similarity * least(greatest(coalesce(similarity, 0), 0) / greatest(least(1.5 * floor, 1), 0.1), 1)
    + case by_category when 'met' then weight.match_category else 0 end
    + case by_words when 'met' then weight.match_words else 0 end
    + case by_place when 'met' then weight.match_place when 'violated' then weight.match_other_place else 0 end
    + case by_price when 'met' then weight.match_price else 0 end
    + case by_condition when 'violated' then weight.match_other_condition else 0 end
    + case by_musts when 'met' then weight.match_musts else 0 end
    + case by_attributes
      when 'met' then weight.match_attributes when 'violated' then weight.match_other_attributes else 0 end))::real;
  -- This is one expression and not a query over nine rows, because starting such a query took half of the time of
  -- scoring a match.
  reasons := to_jsonb(array_remove(array[
    jsonb_build_object('criterion', 'kind', 'verdict', 'met', 'wanted', ask.ask_kind, 'found', offer.offer_kind),
    jsonb_build_object('criterion', 'category', 'verdict', by_category,
      'wanted', concat_ws('/', ask.domain, ask.category), 'found', concat_ws('/', offer.domain, offer.category)),
    case when by_words is not null then jsonb_build_object('criterion', 'keywords', 'verdict', by_words,
      'wanted', ask.criteria -> 'keywords', 'found', offer.document -> 'document' ->> 'title') end,
    case when by_price is not null then jsonb_build_object('criterion', 'price', 'verdict', by_price,
      'wanted', ask.criteria -> 'price', 'found', metadata -> 'pricing' -> 'label') end,
    case when by_place is not null then jsonb_build_object('criterion', 'location', 'verdict', by_place,
      'wanted', coalesce(ask.criteria -> 'near', ask.criteria -> 'location' -> 'text'),
      'found', offer.location_text) end,
    case when by_condition is not null then jsonb_build_object('criterion', 'condition', 'verdict', by_condition,
      'wanted', ask.criteria -> 'condition', 'found', offer.condition) end,
    case when ask.exclude_query is not null then jsonb_build_object('criterion', 'exclude', 'verdict', 'met',
      'wanted', ask.criteria -> 'exclude', 'found', null) end,
    case when by_musts is not null then jsonb_build_object('criterion', 'must', 'verdict', by_musts,
      'wanted', ask.criteria -> 'must', 'found', null) end,
    case when by_attributes is not null then jsonb_build_object('criterion', 'attributes', 'verdict', by_attributes,
      'wanted', ask.criteria -> 'attributes', 'found', metadata -> 'attributes') end], null));
  return next;
end
$$;
comment on function search.score_match(market.ask, search.document, real, real, market.ranking) is
  'Returns the score (0 to 1) of an eligible offer (search.is_eligible) for an ask, and the verdict on each criterion; '
  'no row when the offer is about something else. `similarity` is that of the vectors (null: none), `floor` the lowest '
  'that counts as near.';
