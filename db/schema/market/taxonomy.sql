-- The taxonomy: the kinds of offer, the domains with their kinds of offer and their categories, and the kinds of offer
-- that match each kind of ask.

create table market.offer_kind (
  offer_kind text constraint offer_kind_pkey primary key,
  position smallint not null,
  origin text not null default 'operator',
  constraint offer_kind_form check (offer_kind ~ '^[a-z_]{1,40}$'),
  constraint offer_kind_origin_known check (origin in ('shipped', 'operator'))
);

create table market.domain (
  domain text constraint domain_pkey primary key,
  kinds text[] not null,
  position smallint not null,
  origin text not null default 'operator',
  constraint domain_domain_form check (domain ~ '^[a-z_]{1,40}$'),
  constraint domain_kinds_count check (cardinality(kinds) > 0),
  constraint domain_origin_known check (origin in ('shipped', 'operator'))
);

create table market.category (
  domain text not null constraint category_domain_fkey references market.domain on delete restrict,
  category text not null,
  position smallint not null,
  origin text not null default 'operator',
  constraint category_pkey primary key (domain, category),
  constraint category_domain_form check (domain ~ '^[a-z_]{1,40}$'),
  constraint category_category_form check (category ~ '^[a-z_]{1,40}$'),
  constraint category_origin_known check (origin in ('shipped', 'operator'))
);

create table market.ask_kind (
  ask_kind text constraint ask_kind_pkey primary key,
  answered_by text[] not null,
  origin text not null default 'operator',
  constraint ask_kind_form check (ask_kind ~ '^[a-z_]{1,40}$'),
  constraint ask_kind_origin_known check (origin in ('shipped', 'operator'))
);

create policy "everyone reads the taxonomy" on market.offer_kind for select to souk_agent, souk_person using (true);
create policy "everyone reads the taxonomy" on market.domain for select to souk_agent, souk_person using (true);
create policy "everyone reads the taxonomy" on market.category for select to souk_agent, souk_person using (true);
create policy "everyone reads the taxonomy" on market.ask_kind for select to souk_agent, souk_person using (true);

comment on table market.offer_kind is 'One row is one kind of offer.';
comment on table market.domain is 'One row is one domain of the taxonomy.';
comment on column market.domain.kinds is 'The kinds of offer that this domain allows; rows of market.offer_kind.';
comment on table market.category is 'One row is one category of a domain.';
comment on column market.category.category is 'The name that clients see, unique within the domain.';
comment on table market.ask_kind is 'One row is one kind of ask, with the kinds of offer that can match it.';
comment on column market.ask_kind.answered_by is
  'The kinds of offer that can match; rows of market.offer_kind. Empty for sell and lease_out: such a text should be '
  'an offer.';
grant select on market.offer_kind, market.domain, market.category, market.ask_kind to souk_agent, souk_person;
