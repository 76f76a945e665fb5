-- The types that functions of this schema share.

create type search.search_filter as (
  as_of timestamptz,
  domains text[],
  categories text[],
  kinds text[],
  price_min bigint,
  price_max bigint,
  currency text,
  period text,
  place tsquery,
  filters jsonb,
  searcher uuid
);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on type search.search_filter is
  'The hard filters of a search as the planner can use them: null where there is none. Prices in hundredths.';
