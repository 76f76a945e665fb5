-- The terms of a query, and what in an offer matches each of them. The reader says which words a query has, what is
-- meant by a misspelt one, and which of them only modify the thing. Here they become lexemes, because the lexemes of
-- offers are made in SQL, too: by the same folding, parser, stemmers and labels.

create or replace function search.as_written(phrase text) returns jsonb
  language sql immutable parallel safe
as $$ select jsonb_build_array(jsonb_build_object('said', phrase)) $$;
comment on function search.as_written(text) is
  'Returns a phrase as search.query_terms takes it: nothing is corrected, and nothing is a modifier.';

create or replace function search.query_terms(said jsonb, language text default null)
  returns table (forms tsquery, titled tsquery, classes tsquery, words text[], weight real, is_modifier boolean,
    n integer)
  language plpgsql stable
as $$
declare
  languages text[] := case when query_terms.language = any (reading.languages()) then array[query_terms.language, 'en']
    else reading.languages() end;
  written constant text := (select string_agg(s ->> 'said', ' ' order by s.n)
    from jsonb_array_elements(said) with ordinality as s (s, n));
  meant constant text := (select string_agg(coalesce(s ->> 'meant', s ->> 'said'), ' ' order by s.n)
    from jsonb_array_elements(said) with ordinality as s (s, n));
begin
  -- A term is a concept with all words that name it ("washing machine"), or one word that names no concept. Its forms
  -- are the concept, or the word and its stems in each language, because the language of a query is not known for sure.
  -- Its classes are the categories that the lexicon has for its words; a match by class counts less. At most 16
  -- words count.
  return query
  with words as materialized (
    select w.lexeme as word, min(s.s ->> 'meant') as meant, bool_and(s.s ? 'is_modifier') as is_modifier,
      min(s.n * 1000 + w.positions[1]) as n
    from jsonb_array_elements(said) with ordinality as s (s, n)
    cross join lateral unnest(to_tsvector('simple', reading.plain_words(s.s ->> 'said'))) as w
    group by 1 order by 4 limit 16
  ), stems as materialized (
    select w.word, l.language, s.lexeme
    from words w cross join unnest(reading.languages()) as l (language)
    cross join lateral unnest(reading.stem(w.word, l.language) || reading.stem(w.meant, l.language)) as s (lexeme)
  ), vectors as materialized (
    select l.language,
      reading.stems(reading.plain_words(concat_ws(' ', meant, written)), l.language) as vector
    from unnest(languages) as l (language)
  ), named as materialized (
    select s.concept, s.language, s.lexemes
    from vectors t join reading.label s on s.type = 'thing' and s.language = t.language
      and s.lexemes && tsvector_to_array(t.vector) and t.vector @@ s.needle
    -- A query that names a make or model must not find others of the same kind, so it matches by its word and not by
    -- this concept.
    where s.concept not like '%\_model'
  ), covered as materialized (
    select c.concept, array_agg(distinct st.word) as words, min(w.n) as n, bool_and(w.is_modifier) as is_modifier,
      -- Words that name the concept alone, unlike "machine" in "washing machine".
      array_agg(distinct st.word) filter (where cardinality(c.lexemes) = 1) as alone
    from named c join stems st on st.language = c.language and st.lexeme = any (c.lexemes)
    join words w on w.word = st.word
    group by c.concept
  ), heads as (
    -- Heads of compounds in the language of the query. In a language without compounds a word has none: the English
    -- word "sharing" does not name a ring.
    select distinct w.word, w.n, h.concept
    from words w
    cross join unnest(reading.compound_languages()) as l (language)
    cross join lateral unnest(reading.compound_heads(w.word, l.language)) as h (concept)
    where not exists (select from covered c where w.word = any (c.words))
      and coalesce(l.language = query_terms.language, true)
  ), alternatives as (
    select w.word, w.n, w.is_modifier,
      array(select distinct s.lexeme from stems s where s.word = w.word union select w.word union select w.meant
        where w.meant is not null) as forms,
      array(
        select distinct v.concept from reading.label v
        -- Weight 2 is for words that name a thing, and not only hint at it.
        where v.form in (w.word, rtrim(w.word, 's'), w.meant) and v.type = 'category' and v.weight >= 2
          and (v.language is null or v.language = any (languages))) as classes,
      -- Stop words count little, and so do words that say how something is wanted ("looking", "cheap").
      exists (
        select from unnest(languages) as l (language)
        where reading.stem(w.word, l.language) = '{}') as stops,
      exists (
        select from reading.label v
        where v.form = w.word and (v.type in ('ask_kind', 'offer_kind', 'condition', 'feature')
          or v.concept = 'small_number')) as hints
    from words w
  ), terms as (
    select array['concept/' || c.concept]
        -- Also a category, if all its offers have this concept.
        || array(
          select k.concept from reading.broader b join reading.concept k on k.concept = b.concept
          where b.broader = c.concept and k.type = 'category')
        || array(select distinct f from alternatives a, unnest(a.forms) as f where a.word = any (c.alone)) as forms,
      search.any_lexeme(
        array(select distinct k from alternatives a, unnest(a.classes) as k where a.word = any (c.words))) as classes,
      c.words,
      -- A name within a longer name counts less: "bike" in "electric bike".
      case when exists (
        select from covered o
        where o.words @> c.words and (cardinality(o.words) > cardinality(c.words)
          or exists (select from reading.broader b where b.concept = o.concept and b.broader = c.concept)))
        then 1.0 else 2.0 end as weight,
      c.is_modifier, c.n
    from covered c
    union all
    select array(select 'concept/' || h.concept from heads h where h.word = a.word) || a.forms,
      search.any_lexeme(a.classes), array[a.word],
      case when a.classes <> '{}' or exists (select from heads h where h.word = a.word) then 2.0
        when a.stops then 0.0
        when a.hints or a.word ~ '^[0-9]{1,2}$' then 0.4
        else 1.0 end, a.is_modifier, a.n
    from alternatives a
    where not exists (select from covered c where a.word = any (c.words))
  )
  select search.any_lexeme(t.forms), search.any_lexeme(t.forms, ':A'), t.classes, t.words,
    case when t.weight = 0 then 0.2 else t.weight end::real, t.is_modifier, t.n::integer
  from terms t
  -- Stop words are kept only if there is nothing else.
  where t.weight > 0 or not exists (select from terms o where o.weight > 0)
  order by t.n, t.weight desc limit 16;
end
$$;
comment on function search.query_terms(jsonb, text) is
  'Returns the terms of words [{said, meant, is_modifier}] in a language (null: unknown). forms: a query for the term; '
  'titled: the same in titles; classes: a query for its categories; words: its words; weight: how much it counts; '
  'is_modifier: whether its words only tell what the thing is for; n: its position.';
