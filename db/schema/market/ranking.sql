create table market.ranking (
  ranking text constraint ranking_pkey primary key,
  in_title real not null,
  in_text real not null,
  in_category real not null,
  density real not null,
  modifier real not null,
  place real not null,
  price real not null,
  same_category real not null,
  same_domain real not null,
  other_domain real not null,
  same_kind real not null,
  other_kind real not null,
  match_base real not null,
  match_similarity real not null,
  match_category real not null,
  match_words real not null,
  match_place real not null,
  match_other_place real not null,
  match_price real not null,
  match_other_condition real not null,
  match_musts real not null,
  match_attributes real not null,
  match_other_attributes real not null,
  origin text not null default 'operator',
  constraint ranking_ranking_known check (ranking ~ '^default$'),
  constraint ranking_origin_known check (origin in ('shipped', 'operator'))
);

comment on table market.ranking is
  'The one row has the weights for ranking searches and matches. A search adds them up and divides by the largest '
  'possible sum; a match adds them up.';
comment on column market.ranking.in_title is 'How much a term of the query counts in the title.';
comment on column market.ranking.in_text is 'How much a term counts that is only in the text.';
comment on column market.ranking.in_category is 'How much a term counts that only the category has.';
comment on column market.ranking.density is 'The maximum for how often and how early the terms occur.';
comment on column market.ranking.modifier is
  'The part of a term''s weight that remains if it only describes what is wanted.';
comment on column market.ranking.place is 'How much the place read from the query counts.';
comment on column market.ranking.price is 'How much the price read from the query counts.';
comment on column market.ranking.same_category is 'How much the category read from the query counts.';
comment on column market.ranking.same_domain is 'How much the domain alone counts.';
comment on column market.ranking.other_domain is 'How much another domain counts.';
comment on column market.ranking.same_kind is 'How much the kind read from the query counts.';
comment on column market.ranking.other_kind is
  'How much a thing counts in a search for a service or a job, and the reverse.';
comment on column market.ranking.match_base is 'The score of a match about which nothing more is known.';
comment on column market.ranking.match_similarity is 'How much the similarity of the vectors counts in a match.';
comment on column market.ranking.match_category is 'How much the same category counts in a match.';
comment on column market.ranking.match_words is 'How much shared words count in a match.';
comment on column market.ranking.match_place is 'How much the wanted place counts in a match.';
comment on column market.ranking.match_other_place is 'How much another place counts in a match.';
comment on column market.ranking.match_price is 'How much a price within the limit counts in a match.';
comment on column market.ranking.match_other_condition is 'How much another condition counts in a match.';
comment on column market.ranking.match_musts is 'How much required words count in a match.';
comment on column market.ranking.match_attributes is 'How much equal attributes count in a match.';
comment on column market.ranking.match_other_attributes is 'How much other attributes count in a match.';
