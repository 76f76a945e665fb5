-- The things that a text names, by any label. They are determined when an offer is written. So a search for a couch
-- is a search for one lexeme, and the language of the offer tells a Dutch "bank" (a sofa) from an English "bank".

create or replace function reading.compound_heads(words text, language text) returns text[]
  language plpgsql stable
as $$
declare
  endings text[];
begin
  -- A compound noun is one word that ends in its head: a Ledersofa is a Sofa. Most languages do not write so.
  if compound_heads.language is null or compound_heads.language <> all (reading.compound_languages()) then
    return array[]::text[];
  end if;
  -- A compound has a modifier of at least three letters and a head of at least four. Shorter words are not compounds.
  -- The endings are computed first, because otherwise the planner reads all labels of the language.
  endings := array(
    select distinct substr(w.word, s.start)
    from unnest(reading.words(words)) as w (word)
    cross join lateral generate_series(1, length(w.word) - 3) as s (start)
    where length(w.word) between 7 and 40 and s.start not in (2, 3));
  return array(
    select distinct h.concept
    from (
      select l.concept, length(l.form) as letters, max(length(l.form)) over (partition by w.word) as longest
      from reading.label l
      join unnest(reading.words(words)) as w (word)
        on length(w.word) between 7 and 40 and right(w.word, length(l.form)) = l.form
          and length(w.word) - length(l.form) not in (1, 2)
      where l.form = any (endings) and l.language = compound_heads.language and l.type = 'thing') as h
    -- Only the longest ending is the head, and a word that names a thing itself has none: a Kinderwagen is not a Wagen.
    where h.letters = h.longest);
end
$$;
comment on function reading.compound_heads(text, text) is
  'Returns the concepts that the compounds of a text end in, and those of words that name a thing themselves; none for '
  'a language that does not write compounds as one word.';

create or replace function reading.concepts_in(words text, languages text[], language text) returns text[]
  language plpgsql stable
as $$
declare
  plain constant text := reading.plain_words(words);
  -- Computed into variables, because the planner would compute them anew for each row.
  vectors constant tsvector[] := array(
    select reading.stems(plain, l.language)
    from unnest(languages) with ordinality as l (language, n) order by l.n);
  stems constant text[] := array(
    select languages[v.n] || ' ' || s.lexeme
    from unnest(vectors) with ordinality as v (vector, n) cross join unnest(tsvector_to_array(v.vector)) as s (lexeme));
begin
  -- Labels are found by their first stem only. An index of all their stems would return every phrase that shares any
  -- word with the text.
  return reading.compound_heads(words, concepts_in.language) || array(
    select distinct l.concept from reading.label l
    where l.type = 'thing' and (l.language || ' ' || l.lexemes[1]) collate "C" = any (stems)
      and (cardinality(l.lexemes) = 1 or vectors[array_position(languages, l.language)] @@ l.needle)
      -- Of forms in other languages, only English ones and long ones count. The language of a short text is often
      -- detected wrongly, and a short word can mean something else in another language (a Dutch "les").
      and (l.language in (concepts_in.language, 'en') or length(l.form) >= 7));
end
$$;
comment on function reading.concepts_in(text, text[], text) is
  'Returns the concepts that a text names in any of `languages`; `language` is the text''s probable own language (ISO '
  '639-1).';

create or replace function reading.concept_vector(title text, words text, language text) returns tsvector
  language plpgsql stable
as $$
declare
  spoken text := split_part(concept_vector.language, '-', 1);
begin
  -- A concept is one lexeme that differs from every word of a text. It has the weight of the title (A) or the text (C).
  return (
    select coalesce(string_agg(format('''concept/%s'':1%s', c.concept, c.weight), ' '), '')::tsvector
    from (
      select n.concept, min(f.weight) as weight
      from (
        select unnest(reading.concepts_in(title, reading.languages(), spoken))
          as concept, 'A' as weight
        -- A text names the thing at its beginning. Its later part often describes the surroundings ("near the beach").
        union all select unnest(
          reading.concepts_in(left(words, 600), array[coalesce(nullif(spoken, 'en'), 'de'), 'en'], spoken)), 'C') as f
      cross join lateral (
        select f.concept union all select b.broader from reading.broader b where b.concept = f.concept) as n
      group by n.concept) as c);
end
$$;
comment on function reading.concept_vector(text, text, text) is
  'Returns the concepts of an offer''s title and text, and their broader concepts, as lexemes.';

create or replace function reading.set_offer_concepts() returns trigger
  language plpgsql volatile
as $$
begin
  -- An offer without an account has no concepts, so searches do not find it.
  new.concepts :=
    case when new.account_id is null then '' else reading.concept_vector(new.title, new.text, new.language) end;
  return new;
end
$$;
comment on function reading.set_offer_concepts() is 'Sets the concepts of an offer from its title, text and language.';
