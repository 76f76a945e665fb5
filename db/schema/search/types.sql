-- Types that the functions of this schema share.

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
  searcher uuid,
  hidden uuid[],
  sandbox_id uuid,
  near tsquery,
  latitude double precision,
  longitude double precision,
  radius_km double precision
);

comment on type search.search_filter is
  'The hard filters of a search in the form that the planner can use; null: no such filter. Prices in hundredths. '
  'hidden: accounts whose offers nobody finds. sandbox_id: the sandbox that is searched in place of the market. near: '
  'the cells of the globe within radius_km of a point.';
