create table market.ask (
  id uuid default internal.uuid_v7() constraint ask_pkey primary key,
  account_id uuid not null constraint ask_account_fkey references market.account on delete cascade,
  agent_id uuid constraint ask_agent_fkey references market.agent on delete set null,
  status text not null default 'active',
  text text not null,
  watch_enabled boolean not null default true,
  language text,
  title text,
  domain text,
  category text,
  ask_kind text,
  criteria jsonb not null default '{}',
  keywords_query tsquery,
  exclude_query tsquery,
  place_query tsquery,
  price_max_thousandths bigint,
  price_currency text,
  read_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  must_query tsquery,
  sandbox_id uuid constraint ask_sandbox_fkey references market.sandbox on delete restrict,
  latitude double precision,
  longitude double precision,
  radius_km real,
  constraint ask_category_fkey foreign key (domain, category) references market.category on delete restrict,
  constraint ask_domain_fkey foreign key (domain) references market.domain on delete restrict,
  constraint ask_kind_fkey foreign key (ask_kind) references market.ask_kind on delete restrict,
  constraint ask_status_known check (status in ('active', 'fulfilled', 'archived')),
  constraint ask_text_length check (char_length(text) between 1 and 4000),
  constraint ask_language_length check (char_length(language) between 2 and 20),
  constraint ask_title_length check (char_length(title) between 1 and 120),
  constraint ask_domain_length check (char_length(domain) <= 40),
  constraint ask_category_length check (char_length(category) <= 40),
  constraint ask_category_has_domain check (category is null or domain is not null),
  constraint ask_kind_length check (char_length(ask_kind) <= 40),
  constraint ask_price_currency_form check (price_currency ~ '^[A-Z]{3}$'),
  constraint ask_near_whole check (num_nonnulls(latitude, longitude, radius_km) in (0, 3))
);
create index ask_account_id_idx on market.ask (account_id, id desc);
create index ask_account_status_idx on market.ask (account_id, status, id desc);
create index ask_agent_id_idx on market.ask (agent_id);
create index ask_domain_category_idx on market.ask (domain, category);
create index ask_kind_idx on market.ask (ask_kind);
-- Asks whose text has not been extracted yet, to find them and to count those of an account that come first.
create index ask_unread_idx on market.ask (account_id, id) where read_at is null;
-- Used to count the asks of the market.
create index ask_active_idx on market.ask (id) where status = 'active' and sandbox_id is null;
create index ask_sandbox_id_idx on market.ask (sandbox_id) where sandbox_id is not null;
-- Moderators search asks by words.
create index ask_text_idx on market.ask using gin (to_tsvector('simple', reading.plain_words(text)));

create policy "an account sees its own asks" on market.ask for select to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));
create policy "a connected caller creates asks for its account" on market.ask for insert to souk_agent, souk_person
  with check (account_id = (select internal.account_id()) and agent_id is not distinct from (select internal.agent_id())
    and status = 'active' and (select internal.connected()));
create policy "a connected caller changes asks of its account" on market.ask for update to souk_agent, souk_person
  using (account_id = (select internal.account_id()) and (select internal.connected()))
  with check (account_id = (select internal.account_id()));

comment on table market.ask is 'One row is one ask: a statement of what an account wants.';
comment on column market.ask.status is 'active, fulfilled or archived.';
comment on column market.ask.text is 'The text as sent, NFC, without invisible characters.';
comment on column market.ask.watch_enabled is 'Whether offers that are published later are matched too.';
comment on column market.ask.title is 'Title extracted from the text; null before the extraction.';
comment on column market.ask.domain is 'Domain of the taxonomy that a matching offer would have.';
comment on column market.ask.ask_kind is
  'buy, rent, sell, lease_out, hire, offer_service, dating, friendship or general.';
comment on column market.ask.criteria is
  'Extracted from the text: keywords, must, exclude, price, location, condition, attributes.';
comment on column market.ask.keywords_query is
  'Finds offers that contain any of the keywords or of their synonyms. It is stored, because every new offer is '
  'compared with it.';
comment on column market.ask.exclude_query is
  'Finds offers that contain any of the excluded phrases, except where the offer''s text negates the phrase.';
comment on column market.ask.place_query is
  'Finds offers by place: in the city of the ask or in an alternative town that the text names. When no city is known, '
  'the place as the text names it is used. When the text states a distance from a town, the cells of the globe around '
  'that town.';
comment on column market.ask.price_max_thousandths is 'The highest accepted price in thousandths of the major unit.';
comment on column market.ask.read_at is 'When the present text was extracted; null before the extraction.';
comment on column market.ask.must_query is 'Finds offers that contain all required phrases ("must").';
comment on column market.ask.latitude is
  'Degrees north of the town around which the ask looks (criteria.near); null when the text states no distance.';
comment on column market.ask.longitude is 'Degrees east of that town.';
comment on column market.ask.radius_km is 'How far from that town an offer may be.';
grant select on market.ask to souk_agent, souk_person;
grant insert (id, account_id, agent_id, text, watch_enabled) on market.ask to souk_agent, souk_person;
grant update (status, watch_enabled, updated_at) on market.ask to souk_agent, souk_person;
