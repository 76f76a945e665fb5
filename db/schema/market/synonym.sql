-- What is called differently and is the same: a concept with its words in each language. An offer's concepts are found
-- when it is written, so that a search for a couch is one lexeme, and the language of the offer tells a Dutch "bank" from
-- an English one.

create table market.synonym (
  concept text not null,
  language text not null,
  term text not null,
  lexemes text[] not null generated always as (
    tsvector_to_array(to_tsvector(market.search_config(language), market.fold(term)))) stored,
  needle tsquery not null generated always as (
    phraseto_tsquery(market.search_config(language), market.fold(term))) stored,
  constraint synonym_pkey primary key (concept, language, term),
  constraint synonym_concept_form check (concept ~ '^[a-z0-9_]{1,40}$'),
  constraint synonym_concept_length check (char_length(concept) <= 40),
  constraint synonym_language_form check (language ~ '^[a-z]{2}$'),
  constraint synonym_language_length check (char_length(language) = 2),
  constraint synonym_term_length check (char_length(term) between 2 and 80)
);
create index synonym_lexemes_idx on market.synonym using gin (lexemes);
create index synonym_folded_term_idx on market.synonym (market.fold(term), language);
comment on table market.synonym is
  'One row is one word or phrase for a concept in a language. Offers are filed under their concepts as they are published or changed; after a change here: update market.offer set title = title.';
comment on column market.synonym.concept is 'The name of what is meant.';
comment on column market.synonym.language is 'ISO 639-1.';
comment on column market.synonym.term is 'The word or phrase; its inflected forms need no row where PostgreSQL has a stemmer, nor do compounds that end in it.';
comment on column market.synonym.lexemes is 'The stems of its words.';
comment on column market.synonym.needle is 'Its stems in their order.';

alter table market.synonym enable row level security;
alter table market.synonym force row level security;
create policy "the owner sees all" on market.synonym to souk_owner using (true) with check (true);

create or replace function market.compound_heads(words text, language text) returns text[]
  language plpgsql stable
as $$
begin
  -- German and Dutch write nouns together, with the thing itself last: a Ledersofa is a Sofa. English and the others do not.
  if split_part(compound_heads.language, '-', 1) not in ('de', 'nl') then
    return '{}';
  end if;
  return array(
    select distinct s.concept
    -- 7: a modifier of three letters and a head of four; shorter words are words of their own.
    from (select distinct w.word from regexp_split_to_table(market.fold(words), '[^[:alnum:]]+') as w (word)
      where length(w.word) between 7 and 60) as w
    cross join generate_series(4, length(w.word) - 2) as start
    join market.synonym s on market.fold(s.term) = substr(w.word, start) and s.language = split_part(compound_heads.language, '-', 1)
    where length(w.word) - start + 1 >= 4);
end
$$;
comment on function market.compound_heads(text, text) is 'The concepts that German and Dutch compounds of a text end in.';

create or replace function market.concepts_in(words text, language text) returns text[]
  language plpgsql stable
as $$
declare
  -- English words are understood in every language: brands of things travel with their names.
  languages text[] := array(select distinct l from unnest(array[split_part(concepts_in.language, '-', 1), 'en']) as l);
begin
  return array(
    select distinct s.concept
    from unnest(languages) as l
    cross join lateral (select to_tsvector(market.search_config(l), market.fold(words)) as said) as t
    join market.synonym s on s.language = l and s.lexemes && tsvector_to_array(t.said) and t.said @@ s.needle
    union select unnest(market.compound_heads(words, concepts_in.language)));
end
$$;
comment on function market.concepts_in(text, text) is 'The concepts that a text in a language names.';

create or replace function market.concept_vector(title text, words text, language text) returns tsvector
  language plpgsql stable
as $$
begin
  -- One lexeme a concept, which no word of a text can be: of the weight of the title, or of the text.
  return (
    select coalesce(string_agg(format('''concept/%s'':1%s', c.concept, c.weight), ' '), '')::tsvector
    from (
      select f.concept, min(f.weight) as weight
      from (
        select unnest(market.concepts_in(title, concept_vector.language)) as concept, 'A' as weight
        -- A text tells the thing at its beginning; what comes later is its surroundings ("near the beach").
        union all select unnest(market.concepts_in(left(words, 600), concept_vector.language)), 'C') as f
      group by f.concept) as c);
end
$$;
comment on function market.concept_vector(text, text, text) is 'The concepts of an offer as lexemes.';
