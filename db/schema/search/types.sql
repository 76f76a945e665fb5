-- Types that the functions of this schema share.

create type search.search_filter as (
  as_of timestamptz,
  posted_since timestamptz,
  domains text[],
  categories text[],
  kinds text[],
  price_min bigint,
  price_max bigint,
  currency text,
  period text,
  place tsquery,
  reviewed boolean,
  has_images boolean,
  verified_publisher boolean,
  not_by uuid,
  hidden uuid[],
  sandbox_id uuid,
  near tsquery,
  latitude double precision,
  longitude double precision,
  radius_km double precision,
  excluded tsquery
);

create type search.search_query as (
  terms tsquery[],
  titled tsquery[],
  classes tsquery[],
  weights real[],
  every tsquery,
  some_of tsquery,
  domain text,
  category text,
  kind text,
  kind_is_certain boolean,
  price_max bigint,
  price_min bigint,
  currency text,
  period text,
  place tsquery,
  countries text[]
);

comment on type search.search_filter is
  'The hard filters of a search; null: no such filter. Prices in thousandths. not_by: the account whose offers are '
  'left out. hidden: accounts whose offers nobody finds. sandbox_id: the sandbox that is searched in place of the '
  'market. near: the cells of the globe within radius_km of a point. excluded: words that no offer may have.';

comment on type search.search_query is
  'What was read from a query. For each of its terms (search.query_terms), at the same place of four arrays: what '
  'finds its forms, its forms in a title and its categories, and its weight. every: finds offers that contain every '
  'term; some_of: those that contain one of the things it names. The other columns are values that the query states. '
  'Prices in thousandths.';
