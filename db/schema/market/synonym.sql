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
create index synonym_first_lexeme_idx on market.synonym ((language || ' ' || lexemes[1]) collate "C");
create index synonym_folded_term_idx on market.synonym (market.fold(term), language);
comment on table market.synonym is
  'One row is one word or phrase for a concept in a language. Offers are filed under their concepts as they are published or changed; after a change here: update market.offer set title = title.';
comment on column market.synonym.concept is 'The name of what is meant. Names of makes and models are of concepts that end in _model: offers are filed under them, and under what is broader; a query for such a name is for that name.';
comment on column market.synonym.language is 'ISO 639-1.';
comment on column market.synonym.term is 'The word or phrase; its inflected forms need no row where PostgreSQL has a stemmer, nor do compounds that end in it. Stop words do not count, so one word and stop words stand for the word alone.';
comment on column market.synonym.lexemes is 'The stems of its words.';
comment on column market.synonym.needle is 'Its stems in their order.';

alter table market.synonym enable row level security;
alter table market.synonym force row level security;
create policy "the owner sees all" on market.synonym to souk_owner using (true) with check (true);

create table market.broader_concept (
  concept text not null,
  broader text not null,
  constraint broader_concept_pkey primary key (concept, broader),
  constraint broader_concept_concept_length check (char_length(concept) between 1 and 40),
  constraint broader_concept_broader_length check (char_length(broader) between 1 and 40),
  constraint broader_concept_is_another check (concept <> broader)
);
comment on table market.broader_concept is 'One row says that whatever is the one is the other, too: an e-bike is a bicycle, and what is filed under vehicles/cars is a car. One step; nothing follows from two.';
comment on column market.broader_concept.concept is 'The narrower concept of market.synonym, or a category as DOMAIN/CATEGORY.';
comment on column market.broader_concept.broader is 'What offers of it are filed under besides.';
alter table market.broader_concept enable row level security;
alter table market.broader_concept force row level security;
create policy "the owner sees all" on market.broader_concept to souk_owner using (true) with check (true);

create or replace function market.compound_heads(words text, language text) returns text[]
  language plpgsql stable
as $$
declare
  endings text[];
begin
  -- German and Dutch write nouns together, with the thing itself last: a Ledersofa is a Sofa. English and the others do not.
  if compound_heads.language is null or compound_heads.language not in ('de', 'nl') then
    return array[]::text[];
  end if;
  endings := array(
    select distinct substr(w.word, start)
    from regexp_split_to_table(market.fold(words), '[^[:alnum:]]+') as w (word)
    -- A modifier of three letters and a head of four at least; shorter words are words of their own.
    cross join lateral generate_series(4, length(w.word) - 3) as start
    where length(w.word) between 7 and 40);
  return array(
    select distinct s.concept from market.synonym s
    where market.fold(s.term) = any (endings) and s.language = compound_heads.language);
end
$$;
comment on function market.compound_heads(text, text) is 'The concepts that German and Dutch compounds of a text end in.';

create or replace function market.concepts_in(words text, languages text[], language text) returns text[]
  language plpgsql stable
as $$
declare
  folded constant text := market.fold(words);
  -- In variables, since the planner would make them anew for each row.
  vectors constant tsvector[] := array(
    select to_tsvector(market.search_config(l.language), folded) from unnest(languages) with ordinality as l (language, n) order by l.n);
  stems constant text[] := array(
    select languages[v.n] || ' ' || s.lexeme
    from unnest(vectors) with ordinality as v (vector, n) cross join unnest(tsvector_to_array(v.vector)) as s (lexeme));
begin
  -- By one stem of each term: by all of them, an index gives every phrase that shares any word.
  return market.compound_heads(words, concepts_in.language) || array(
    select distinct s.concept from market.synonym s
    where (s.language || ' ' || s.lexemes[1]) collate "C" = any (stems)
      and (cardinality(s.lexemes) = 1 or vectors[array_position(languages, s.language)] @@ s.needle)
      -- Of another language only English words and long ones are taken: a short text's language is easily mistaken, and
      -- short words mean something else elsewhere (a Dutch "les").
      and (s.language in (concepts_in.language, 'en') or length(s.term) >= 7));
end
$$;
comment on function market.concepts_in(text, text[], text) is 'The concepts that a text names in any of some languages, one of which is probably its own (ISO 639-1).';

create or replace function market.concept_vector(title text, words text, language text) returns tsvector
  language plpgsql stable
as $$
declare
  spoken text := split_part(concept_vector.language, '-', 1);
begin
  -- One lexeme a concept, which no word of a text can be: of the weight of the title, or of the text.
  return (
    select coalesce(string_agg(format('''concept/%s'':1%s', c.concept, c.weight), ' '), '')::tsvector
    from (
      select n.concept, min(f.weight) as weight
      from (
        select unnest(market.concepts_in(title, array['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl'], spoken)) as concept, 'A' as weight
        -- A text tells the thing at its beginning; what comes later is its surroundings ("near the beach").
        union all select unnest(market.concepts_in(left(words, 600), array[coalesce(nullif(spoken, 'en'), 'de'), 'en'], spoken)), 'C') as f
      cross join lateral (
        select f.concept union all select b.broader from market.broader_concept b where b.concept = f.concept) as n
      group by n.concept) as c);
end
$$;
comment on function market.concept_vector(text, text, text) is 'The concepts of an offer as lexemes.';
