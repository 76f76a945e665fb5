-- Turns the words of an ask or a filter into queries over offers: the subject, what must be there, what must not, and
-- the place.

create or replace function search.phrase_query(phrase text, language text) returns tsquery
  language plpgsql stable
as $$
begin
  return (
    select string_agg('(' || t.forms::text || ')', ' & ')::tsquery
    from search.query_terms(search.as_written(phrase), phrase_query.language) as t where t.forms is not null);
end
$$;
comment on function search.phrase_query(text, text) is
  'Returns a tsquery for all words of a phrase, each in its inflected forms or by a synonym.';

create or replace function search.must_query(phrases jsonb, language text) returns tsquery
  language plpgsql stable
as $$
begin
  return (
    select string_agg('(' || q.phrase::text || ')', ' & ')::tsquery
    from jsonb_array_elements_text(phrases) as p (words)
    cross join lateral (select search.phrase_query(p.words, must_query.language) as phrase) as q);
end
$$;
comment on function search.must_query(jsonb, text) is
  'Returns a tsquery for all of several phrases; null when there are none.';

create or replace function search.exclude_query(phrases jsonb, language text, wanted tsquery) returns tsquery
  language plpgsql stable
as $$
declare
  no constant text := '(no|not|without|kein|keine|keinen|ohne|nicht|pas|sans|sin|sem|senza|niente|geen|zonder|bez)';
  things constant text[] := search.things_in(wanted);
begin
  -- An offer that says "no agents" does not contain the excluded thing.
  return (
    select string_agg(format('(%s) & !(%s <-> (%s))', concat_ws(' | ', q.phrase, o.others), no,
      search.any_lexeme(w.words)), ' | ')::tsquery
    from jsonb_array_elements_text(phrases) as p (words)
    -- Without "offset 0", PostgreSQL would make each query twice, because it is used twice.
    cross join lateral (select search.phrase_query(p.words, exclude_query.language) as named offset 0) as n
    -- "A console, but no Xbox" excludes one of the things that are wanted. What names them all would exclude them all,
    -- so only the words themselves count.
    cross join lateral (
      select case when search.things_in(n.named) && things
        then nullif(plainto_tsquery('simple', reading.plain_words(p.words)), '') else n.named end as phrase) as q
    cross join lateral (
      select array(select distinct s.lexeme from unnest(to_tsvector('simple', reading.plain_words(p.words))) as l
        cross join unnest(reading.languages()) as spoken
        cross join unnest(array[l.lexeme] || reading.stem(l.lexeme, spoken)) as s (lexeme)) as words) as w
    cross join lateral (select search.beside_words(p.words, things) as others) as o
    where q.phrase is not null);
end
$$;
comment on function search.exclude_query(jsonb, text, tsquery) is
  'Returns a tsquery for any of several phrases that no word such as "no" or "without" precedes, where the wanted '
  'things are found by a query; null when there are none.';

create or replace function search.things_in(query tsquery) returns text[]
  language plpgsql immutable
as $$
begin
  return array(
    select distinct f.found[1] from regexp_matches(query::text, 'concept/(\w+)', 'g') as f (found));
end
$$;
comment on function search.things_in(tsquery) is 'Returns the concepts that a query over offers finds.';

create or replace function search.beside_words(phrase text, wanted text[]) returns text
  language plpgsql stable
as $$
declare
  folded constant text := array_to_string(reading.words(phrase), ' ');
begin
  return (
    select string_agg(o.query, ' | ')
    from (
      -- What is "broken" is also what was read to be for parts.
      select distinct '''condition/' || c.condition || '''' as query
      from reading.label l join reading.concept c on c.concept = l.concept
      where l.form = folded and l.type = 'condition'
      -- Without leather, also no Ledersofa: a compound that begins with a word for the same thing or material. The name
      -- of a model is no word for others of its kind.
      union select '''' || l.form || ''':*'
      from reading.label named join reading.label l on l.concept = named.concept
      where named.form = folded and named.type = 'thing' and l.type = 'thing'
        and l.language = any (reading.compound_languages())
        and length(l.form) >= 5 and named.concept <> all (wanted)
        and not exists (select from reading.label m where m.form = folded and m.concept like '%\_model')) as o);
end
$$;
comment on function search.beside_words(text, text[]) is
  'Returns the text of a query for what has an excluded phrase in another way than by its words: by its condition, or '
  'inside of a compound unless that is a wanted thing; null when there is nothing.';

create or replace function search.subject_query(keywords jsonb, title text, language text) returns tsquery
  language plpgsql stable
as $$
begin
  -- The query asks for one of the named things as a whole: "piano lessons" finds neither other lessons nor pianos.
  -- Keywords may be parts of a longer name, which the title contains.
  return (
    select coalesce(string_agg(t.forms::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | ') filter (where t.weight >= 1), string_agg(t.forms::text, ' | '))::tsquery
    from (select string_agg(k, ' ') as words from jsonb_array_elements_text(keywords) as k) as k
    cross join lateral search.query_terms(search.as_written(concat_ws(' ', title, k.words)), subject_query.language)
      as t
    where t.words && tsvector_to_array(to_tsvector('simple', reading.plain_words(k.words))));
end
$$;
comment on function search.subject_query(jsonb, text, text) is
  'Returns a tsquery for any of the things that the keywords of an ask name, by any synonym; the title completes their '
  'names. Null when there are none.';

create or replace function search.place_query(place text) returns tsquery
  language plpgsql stable
as $$
begin
  if place is null then
    return null;
  end if;
  -- Every word counts, except stop words such as "in". A country is found by its name in any language or by its code,
  -- and a continent by its countries.
  return (
    with words as (
      select w.lexeme as word,
        array(
          select 'country/' || internal.lower_case(coalesce(m.country, n.country))
          from reading.places_named(w.lexeme) as n left join reading.place_member m on m.place = n.place
          where n.kind in ('country', 'world')
          union all select 'country/' || w.lexeme where w.lexeme ~ '^[a-z]{2}$') as countries,
        exists (
          select from unnest(reading.languages()) as l (language)
          where to_tsvector(reading.search_config(l.language), w.lexeme) = '') as stops
      from unnest(to_tsvector('simple', reading.plain_words(place))) as w
    )
    select coalesce(string_agg('(' || search.any_lexeme(w.word || w.countries)::text || ')', ' & '), '')::tsquery
    from words w where not w.stops or not exists (select from words o where not o.stops));
end
$$;
comment on function search.place_query(text) is
  'Returns a query of search.document.facets for a place as people write it; a place without any word matches nothing.';

create or replace function search.town_named(name text) returns text
  language sql stable
as $$
  -- A country is found by its own name.
  select case when n.kind in ('city', 'district') then n.city else town_named.name end
  from reading.places_named(town_named.name) as n
  where n.kind in ('city', 'district', 'country') and n.form = 'name'
  order by n.kind <> 'country', n.population desc nulls last, n.place limit 1
$$;
comment on function search.town_named(text) is
  'Returns the largest town with a name, for a district its town, or the country with that name; null if there is '
  'none.';

create or replace function search.ask_place_query(text text, place text, city text) returns tsquery
  language plpgsql stable
as $$
declare
  folded constant text := reading.fold(text);
  written constant text := reading.fold(place);
  -- The place as written counts too: a town that belongs to a metropolitan area is also a town of its own.
  wanted tsquery := coalesce(search.place_query(city) || search.place_query(place), search.place_query(place));
  -- What stands between two towns of which either will do: "London or Manchester", "no Porto ou em Braga".
  joined constant text := (
    select format('(?:\s*/\s*|,?\s+(?:%s)\s+(?:(?:%s)\s+)?|,\s+)', string_agg(l.form, '|') filter (where
      l.concept = 'conjunction'), string_agg(l.form, '|') filter (where l.concept = 'place_in'))
    from reading.label l where l.concept in ('conjunction', 'place_in') and l.form ~ '^[a-z]+$');
  start constant integer := position(written in folded);
  inside constant text[] := regexp_split_to_array(written, joined);
  beside text[] := array[
    substring(left(folded, start - 1) from '([[:alpha:]-]+)' || joined || '$'),
    substring(substr(folded, start + length(written)) from '^' || joined || '([[:alpha:]-]+)')];
begin
  if place is null then
    return null;
  end if;
  -- "Tyne and Wear" is one place.
  if cardinality(inside) > 1 and search.town_named(written) is null
    and not exists (select from unnest(inside) as i (name) where search.town_named(i.name) is null) then
    beside := beside || inside;
  end if;
  return (
    select string_agg('(' || q.query::text || ')', ' | ')::tsquery
    from (
      select wanted as query
      union
      select search.place_query(search.town_named(b.name)) from unnest(beside) as b (name)) as q
    where q.query is not null);
end
$$;
comment on function search.ask_place_query(text, text, text) is
  'Returns a query of search.document.facets for the place of an ask: its city, the place as written, and the towns '
  'and countries that the text names as alternatives. Null without a place.';

create or replace function search.any_place_query(places jsonb) returns tsquery
  language plpgsql stable
as $$
begin
  return (
    select string_agg('(' || q.place::text || ')', ' | ')::tsquery
    from (
      -- Text and city are mostly the same, so remove duplicates: the planner would estimate twice as many rows for a
      -- condition that is repeated.
      select distinct n.name from jsonb_array_elements(coalesce(places, '[]')) as p
      cross join unnest(array[p ->> 'city', p ->> 'text']) as n (name)) as n
    cross join lateral (select search.place_query(n.name) as place) as q
    where q.place::text <> '');
end
$$;
comment on function search.any_place_query(jsonb) is
  'Returns a query of search.document.facets for any of the places read from a query; null when there is none.';
