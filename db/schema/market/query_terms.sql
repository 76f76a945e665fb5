-- Words of a query, and what in an offer answers them.

create or replace function market.any_lexeme(lexemes text[], labels text default '') returns tsquery
  language plpgsql immutable
as $$
begin
  return (
    select string_agg('''' || replace(replace(l, '\', '\\'), '''', '''''') || '''' || labels, ' | ')::tsquery
    from unnest(lexemes) as l);
end
$$;
comment on function market.any_lexeme(text[], text) is 'A tsquery for any of the lexemes; labels: where, as in '':A'' for titles.';

create or replace function market.stemmers() returns text[]
  language sql immutable parallel safe
as $$ select array['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'] $$;
comment on function market.stemmers() is 'The languages of the market.';

create or replace function market.stem(word text, language text) returns text[]
  language sql immutable parallel safe
as $$
  select case language
    when 'de' then ts_lexize('pg_catalog.german_stem', word)
    when 'en' then ts_lexize('pg_catalog.english_stem', word)
    when 'es' then ts_lexize('pg_catalog.spanish_stem', word)
    when 'fr' then ts_lexize('pg_catalog.french_stem', word)
    when 'it' then ts_lexize('pg_catalog.italian_stem', word)
    when 'nl' then ts_lexize('pg_catalog.dutch_stem', word)
    when 'pt' then ts_lexize('pg_catalog.portuguese_stem', word)
    else array[word]
  end
$$;
comment on function market.stem(text, text) is 'The stem of a folded word in a language of the market; an empty array for a stop word.';

create or replace function market.query_terms(query text, language text default null, corrections jsonb default '{}')
  returns table (forms tsquery, titled tsquery, classes tsquery, words text[], weight real, n integer)
  language plpgsql stable
as $$
declare
  languages text[] := case when query_terms.language = any (market.stemmers()) then array[query_terms.language, 'en'] else market.stemmers() end;
begin
  -- A term is a concept with all words that name it ("washing machine"), or a word of none. Its forms: the concept, or the
  -- words with their stems in each language, since nobody says which one a query is in. Its classes: the categories that
  -- the vocabulary knows its words for, which say less. At most 16 words count.
  return query
  with words as materialized (
    select w.lexeme as word, query_terms.corrections ->> w.lexeme as meant, min(w.positions[1]) as n
    from unnest(to_tsvector('simple', market.fold(query))) as w
    group by 1, 2 order by 3 limit 16
  ), stems as materialized (
    select w.word, l.language, s.lexeme
    from words w cross join unnest(market.stemmers()) as l (language)
    cross join lateral unnest(market.stem(w.word, l.language) || market.stem(w.meant, l.language)) as s (lexeme)
  ), said as materialized (
    select l.language, to_tsvector(market.search_config(l.language),
      market.fold((select string_agg(coalesce(w.meant, w.word), ' ' order by w.n) from words w)))
      || to_tsvector(market.search_config(l.language), market.fold(query)) as vector
    from unnest(languages) as l (language)
  ), named as materialized (
    select s.concept, s.language, s.lexemes
    from said t join market.synonym s on s.language = t.language and s.lexemes && tsvector_to_array(t.vector) and t.vector @@ s.needle
    -- Who names a make wants that make; others of the kind are something else.
    where s.concept not like '%\_model'
  ), covered as materialized (
    select c.concept, array_agg(distinct st.word) as words, min(w.n) as n,
      -- Words that name it alone, as "machine" in "washing machine" does not.
      array_agg(distinct st.word) filter (where cardinality(c.lexemes) = 1) as alone
    from named c join stems st on st.language = c.language and st.lexeme = any (c.lexemes) join words w on w.word = st.word
    group by c.concept
  ), heads as (
    -- German and Dutch compounds, unless the query is surely in another language: "sharing" is no ring.
    select distinct w.word, w.n, h.concept
    from words w cross join lateral unnest(market.compound_heads(w.word, 'de') || market.compound_heads(w.word, 'nl')) as h (concept)
    where not exists (select from covered c where w.word = any (c.words))
      and coalesce(query_terms.language in ('de', 'nl'), true)
  ), alternatives as (
    select w.word, w.n, w.meant,
      array(select distinct s.lexeme from stems s where s.word = w.word union select w.word union select w.meant where w.meant is not null) as forms,
      array(
        select distinct substr(v.sense, 10) from market.vocabulary v
        -- 2: the vocabulary's weight for words that name a thing, above those that only hint at it.
        where v.term in (w.word, rtrim(w.word, 's'), w.meant) and v.sense like 'category:%' and v.weight >= 2
          and (v.language is null or v.language = any (languages))) as classes,
      -- Words that are stop words somewhere tell little, and so do those that say how it is wanted ("looking", "cheap").
      exists (
        select from unnest(languages) as l (language)
        where market.stem(w.word, l.language) = '{}') as stops,
      exists (
        select from market.vocabulary v
        where v.term = w.word and v.sense ~ '^(ask_kind|kind|condition|feature):') as hints
    from words w
  ), terms as (
    select array['concept/' || c.concept]
        -- A category that holds nothing else.
        || array(select b.concept from market.broader_concept b where b.broader = c.concept and b.concept like '%/%')
        || array(select distinct f from alternatives a, unnest(a.forms) as f where a.word = any (c.alone)) as forms,
      market.any_lexeme(array(select distinct k from alternatives a, unnest(a.classes) as k where a.word = any (c.words))) as classes,
      c.words,
      -- A name within a longer one says less: "bike" in "electric bike".
      case when exists (
        select from covered o
        where o.words @> c.words and (cardinality(o.words) > cardinality(c.words)
          or exists (select from market.broader_concept b where b.concept = o.concept and b.broader = c.concept))) then 1.0 else 2.0 end as weight,
      c.n
    from covered c
    union all
    select array(select 'concept/' || h.concept from heads h where h.word = a.word) || a.forms,
      market.any_lexeme(a.classes), array[a.word],
      case when a.classes <> '{}' or exists (select from heads h where h.word = a.word) then 2.0
        when a.stops then 0.0 when a.hints or a.word ~ '^([0-9]{1,2}|two|three|four|five|six|zwei|drei|vier|deux|trois|quatre|dos|tres|cuatro|due|tre|quattro|dois|duas|twee|drie|dwa|dwie|trzy)$' then 0.4 else 1.0 end, a.n
    from alternatives a
    where not exists (select from covered c where a.word = any (c.words))
  )
  select market.any_lexeme(t.forms), market.any_lexeme(t.forms, ':A'), t.classes, t.words, case when t.weight = 0 then 0.2 else t.weight end::real, t.n::integer
  from terms t
  -- Stop words are kept only when there is nothing else.
  where t.weight > 0 or not exists (select from terms o where o.weight > 0)
  order by t.n, t.weight desc limit 16;
end
$$;
comment on function market.query_terms(text, text, jsonb) is
  'The terms of a query, best known in its language (null: any) and with misspelt words corrected: what in an offer is each, what is it in a title, what only lies in its category, its words, how much it counts, and its place.';

create or replace function market.phrase_query(phrase text, language text) returns tsquery
  language plpgsql stable
as $$
begin
  return (
    select string_agg('(' || t.forms::text || ')', ' & ')::tsquery
    from market.query_terms(phrase, phrase_query.language) as t where t.forms is not null);
end
$$;
comment on function market.phrase_query(text, text) is 'A tsquery for every word of a phrase, in its forms, or for what it names by another word.';

create or replace function market.must_query(phrases jsonb, language text) returns tsquery
  language plpgsql stable
as $$
begin
  return (
    select string_agg('(' || q.phrase::text || ')', ' & ')::tsquery
    from jsonb_array_elements_text(phrases) as p (words)
    cross join lateral (select market.phrase_query(p.words, must_query.language) as phrase) as q);
end
$$;
comment on function market.must_query(jsonb, text) is 'A tsquery for all of several phrases; null when there is none.';

create or replace function market.exclude_query(phrases jsonb, language text) returns tsquery
  language plpgsql stable
as $$
declare
  no constant text := '(no|not|without|kein|keine|keinen|ohne|nicht|pas|sans|sin|sem|senza|niente|geen|zonder|bez)';
begin
  -- "no agents" in an offer says that there are none.
  return (
    select string_agg(format('(%s) & !(%s <-> (%s))', q.phrase, no, market.any_lexeme(w.words)), ' | ')::tsquery
    from jsonb_array_elements_text(phrases) as p (words)
    cross join lateral (select market.phrase_query(p.words, exclude_query.language) as phrase) as q
    cross join lateral (
      select array(select distinct s.lexeme from unnest(to_tsvector('simple', market.fold(p.words))) as l
        cross join unnest(market.stemmers()) as spoken
        cross join unnest(array[l.lexeme] || market.stem(l.lexeme, spoken)) as s (lexeme)) as words) as w
    where q.phrase is not null);
end
$$;
comment on function market.exclude_query(jsonb, text) is 'A tsquery for any of several phrases, unless it is said that there is none; null when there is none.';

create or replace function market.subject_query(keywords jsonb, title text, language text) returns tsquery
  language plpgsql stable
as $$
begin
  -- One of the things that are named, whole: of "piano lessons" neither other lessons nor a piano. The title knows the whole
  -- names of which the keywords may be parts.
  return (
    select coalesce(string_agg(t.forms::text, ' | ') filter (where t.weight >= 2),
      string_agg(t.forms::text, ' | ') filter (where t.weight >= 1), string_agg(t.forms::text, ' | '))::tsquery
    from (select string_agg(k, ' ') as words from jsonb_array_elements_text(keywords) as k) as k
    cross join lateral market.query_terms(concat_ws(' ', title, k.words), subject_query.language) as t
    where t.words && tsvector_to_array(to_tsvector('simple', market.fold(k.words))));
end
$$;
comment on function market.subject_query(jsonb, text, text) is
  'Any of the things that the keywords of an ask name, by whatever word; its title tells longer names. Null when there are none.';

create or replace function market.place_query(place text) returns tsquery
  language plpgsql stable
as $$
begin
  if place is null then
    return null;
  end if;
  -- Every word, but for "in" and the like; a country by its name in any language or by its code, a continent by its countries.
  return (
    with words as (
      select w.lexeme as word,
        array(
          select 'country/' || lower(substr(v.sense, 9)) from market.vocabulary v
          where v.term = w.lexeme and v.sense like 'country:%'
          union all select 'country/' || w.lexeme where w.lexeme ~ '^[a-z]{2}$'
          union all select 'country/' || c from market.wide_place p, unnest(p.countries) as c where p.term = w.lexeme) as countries,
        exists (
          select from unnest(market.stemmers()) as l (language)
          where to_tsvector(market.search_config(l.language), w.lexeme) = '') as stops
      from unnest(to_tsvector('simple', market.fold(place))) as w
    )
    select coalesce(string_agg('(' || market.any_lexeme(w.word || w.countries)::text || ')', ' & '), '')::tsquery
    from words w where not w.stops or not exists (select from words o where not o.stops));
end
$$;
comment on function market.place_query(text) is 'A place as people write it, as a query of market.offer.place; one that holds no word matches nothing.';

create or replace function market.either_place(text text, place text, city text) returns tsquery
  language plpgsql stable
as $$
declare
  folded text := market.fold(text);
  written text := market.fold(place);
  other text;
  -- As it is written, too: a town that people count to a city is also a town of its own.
  wanted tsquery := coalesce(market.place_query(city) || market.place_query(place), market.place_query(place));
begin
  -- "London or Manchester": a town that follows the one that was read will do as well.
  other := substring(substr(folded, position(written in folded) + length(written))
    from '^\s*(?:/|,|,?\s(?:or|oder|bzw|ou|o|of|lub)\s)\s*([[:alpha:]-]+)');
  return coalesce(wanted || (
    select market.place_query(case when v.sense like 'city:%' then split_part(v.sense, '/', 2) else v.term end)
    from market.vocabulary v
    -- 2: the weight of names that are nothing but places.
    where v.term = other and v.sense ~ '^(place|city):' and v.weight >= 2
    order by v.sense limit 1), wanted);
end
$$;
comment on function market.either_place(text, text, text) is
  'The place of an ask as a query of market.offer.place: its city, else the place as written, or a town named as another choice.';
