-- What a search is about, as far as its words and filters agree on it.

create or replace function market.classify_query(query text, filters jsonb) returns jsonb
  language plpgsql stable
as $$
declare
  classes text[];
  domains text[];
begin
  -- The categories that all words naming a thing have in common: "cargo bike" is about bicycles, "bike sofa" about nothing.
  with named as (
    select w.lexeme, substr(v.sense, 10) as class
    from unnest(to_tsvector('simple', market.fold(query))) as w
    -- Two lookups in the index instead of one condition that the planner would try on every word of the vocabulary.
    cross join lateral (select w.lexeme as form union select rtrim(w.lexeme, 's')) as f
    join market.vocabulary v on v.term = f.form and v.sense like 'category:%' and v.weight >= 2
    group by 1, 2
  )
  select array_agg(c.class), array_agg(distinct split_part(c.class, '/', 1)) into classes, domains
  from (
    select n.class from named n group by n.class
    having count(*) = (select count(distinct o.lexeme) from named o)) as c
  where (not filters ? 'domain' or split_part(c.class, '/', 1) = any (market.text_array(filters -> 'domain')))
    and (not filters ? 'category' or split_part(c.class, '/', 2) = any (market.text_array(filters -> 'category')));
  if domains is null and cardinality(market.text_array(filters -> 'domain')) = 1 then
    domains := market.text_array(filters -> 'domain');
  end if;
  if cardinality(domains) is distinct from 1 then
    return null;
  end if;
  return jsonb_build_object(
    'domain', domains[1],
    'category', case when cardinality(classes) = 1 then split_part(classes[1], '/', 2) end,
    'kind', case when cardinality(market.text_array(filters -> 'offer_kind')) = 1
      then (market.text_array(filters -> 'offer_kind'))[1] end);
end
$$;
comment on function market.classify_query(text, jsonb) is
  'domain, category and kind of a search, null where its words and filters do not agree on one; null when nothing is certain.';
