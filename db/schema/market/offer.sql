create table market.offer (
  id uuid default internal.uuid_v7() constraint offer_pkey primary key,
  account_id uuid constraint offer_account_fkey references market.account on delete set null,
  agent_id uuid constraint offer_agent_fkey references market.agent on delete set null,
  origin_ask_id uuid,
  status text not null,
  text text not null,
  sent_text text,
  images text[] not null default '{}',
  language text,
  title text not null,
  domain text,
  category text,
  offer_kind text,
  price_thousandths bigint,
  price_currency text,
  price_period text,
  price_unit text,
  location_text text,
  metadata jsonb not null default '{}',
  contact jsonb not null default '{}',
  extraction jsonb not null default '{}',
  missing_fields text[] not null default '{}',
  warnings text[] not null default '{}',
  reviewed boolean not null default false,
  review_note text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  published_at timestamptz,
  removed_at timestamptz,
  review_reason text constraint offer_review_reason_fkey references market.reason on delete restrict,
  suspended_at timestamptz,
  concepts tsvector not null default '',
  confirmed_at timestamptz not null default now(),
  stale_at timestamptz,
  expired_at timestamptz,
  contact_visibility text not null default 'public',
  visibility_chosen_at timestamptz not null default now(),
  withheld_spans jsonb not null default '[]',
  withheld_images text[] not null default '{}',
  sandbox_id uuid constraint offer_sandbox_fkey references market.sandbox on delete restrict,
  constraint offer_category_fkey foreign key (domain, category) references market.category on delete restrict,
  constraint offer_offer_kind_fkey foreign key (offer_kind) references market.offer_kind on delete restrict,
  constraint offer_domain_fkey foreign key (domain) references market.domain on delete restrict,
  constraint offer_status_known
    check (status in ('pending_review', 'published', 'rejected', 'archived', 'removed')),
  constraint offer_text_length check (char_length(text) between 1 and 4000),
  constraint offer_sent_text_length check (char_length(sent_text) between 1 and 4000),
  constraint offer_sent_text_differs check (sent_text <> text),
  constraint offer_contact_visibility_known check (contact_visibility in ('public', 'approved', 'agreement')),
  constraint offer_images_count check (cardinality(images) <= 16),
  constraint offer_language_length check (char_length(language) between 2 and 20),
  constraint offer_title_length check (char_length(title) between 1 and 120),
  constraint offer_domain_length check (char_length(domain) <= 40),
  constraint offer_category_length check (char_length(category) <= 40),
  constraint offer_category_has_domain check (category is null or domain is not null),
  constraint offer_price_currency_form check (price_currency ~ '^[A-Z]{3}$'),
  constraint offer_price_period_known
    check (price_period in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')),
  constraint offer_price_unit_known check (price_unit = any (reading.price_units())),
  constraint offer_location_text_length check (char_length(location_text) between 1 and 200),
  constraint offer_review_note_length check (char_length(review_note) between 1 and 500),
  constraint offer_suspended_is_archived check (suspended_at is null or status = 'archived'),
  constraint offer_published_has_day check (status <> 'published' or published_at is not null),
  constraint offer_removed_has_time check (status <> 'removed' or removed_at is not null),
  constraint offer_stale_is_published check (stale_at is null or status = 'published'),
  constraint offer_expired_is_archived check (expired_at is null or status = 'archived')
);
-- What is found is found in search.document. These indexes are for the lists of owners, moderators and jobs.
-- For lists of an account's own offers, and for counting offers in rate limits.
create index offer_account_id_idx on market.offer (account_id, id desc);
create index offer_account_status_id_idx on market.offer (account_id, status, id desc);
create index offer_account_status_idx on market.offer (account_id, status, published_at);
create index offer_agent_id_idx on market.offer (agent_id);
create index offer_offer_kind_idx on market.offer (offer_kind);
create index offer_domain_category_idx on market.offer (domain, category);
-- Moderators search offers by words.
create index offer_text_idx on market.offer
  using gin (to_tsvector('simple', reading.plain_words(coalesce(sent_text, text))));
create index offer_review_reason_idx on market.offer (review_reason) where review_reason is not null;
create index offer_suspended_idx on market.offer (account_id) where suspended_at is not null;
-- For jobs.age_offers: which offers become stale next, and which stale ones are archived next.
create index offer_fresh_idx on market.offer (confirmed_at)
  where status = 'published' and stale_at is null and sandbox_id is null;
create index offer_stale_idx on market.offer (stale_at)
  where status = 'published' and stale_at is not null and sandbox_id is null;
create index offer_sandbox_id_idx on market.offer (sandbox_id) where sandbox_id is not null;

create policy "everyone sees published offers, and an account sees its own" on market.offer for select
  to souk_agent, souk_person
  using (status = 'published' and sandbox_id is not distinct from (select internal.sandbox_id())
    and (account_id = any ((select internal.accounts_being_hidden())::uuid[])) is not true
    or account_id = (select internal.visible_account_id()));
create policy "a connected caller changes the status of offers of its account" on market.offer for update
  to souk_agent, souk_person
  using (account_id = (select internal.account_id()) and (select internal.connected()))
  with check (account_id = (select internal.account_id()));

comment on table market.offer is 'One row is one offer, with its text and what was extracted from it.';
comment on column market.offer.account_id is 'The account that owns the offer; null when the account no longer exists.';
comment on column market.offer.origin_ask_id is 'The ask from which the offer came, when the request named one.';
comment on column market.offer.status is 'pending_review, published, rejected, archived or removed.';
comment on column market.offer.text is
  'The text as everybody sees it: NFC, without invisible characters, with […] in place of each passage that is '
  'addressed to software. Whatever is shown or found is made of this column, without contacts where they are withheld.';
comment on column market.offer.sent_text is
  'The text as sent, for its owner and moderators, if it has passages that are addressed to software; otherwise null.';
comment on column market.offer.images is 'Links to images. This service never fetches them.';
comment on column market.offer.title is 'Title made of words of the text.';
comment on column market.offer.domain is 'Domain of the taxonomy; null when the extractor is not confident.';
comment on column market.offer.category is 'Category of the domain; null when the extractor is not confident.';
comment on column market.offer.offer_kind is 'sale, rental, service_offer, project_hire, dating or friendship.';
comment on column market.offer.price_thousandths is
  'Asking price in thousandths of the major unit, as some currencies have three decimals. Comparisons of bigint are '
  'exact and leakproof.';
comment on column market.offer.price_period is
  'The period of the price: one_time, hour, day, week, month, year or project.';
comment on column market.offer.price_unit is
  'What the price is for, if it is that of a unit (reading.price_units); null: the price of the whole. A price of a '
  'unit is never compared with one of a whole.';
comment on column market.offer.location_text is 'The place as the text names it.';
comment on column market.offer.metadata is
  'pricing, location, space, features, condition, attributes. Each is absent when the text does not state it.';
comment on column market.offer.contact is 'The person or organization to contact, and how (schema_version 2).';
comment on column market.offer.contact_visibility is
  'Who sees the contact: public, approved or agreement (internal/offers/contact_visibility.sql).';
comment on column market.offer.visibility_chosen_at is
  'When the request that chose it arrived: one that arrived earlier and is read later does not count.';
comment on column market.offer.withheld_spans is
  'Which passages of the text as sent are not shown where the contact is withheld: [{start, end}] in code points, in '
  'order. They state a number, address, handle or link, or are addressed to software.';
comment on column market.offer.withheld_images is 'The image links that give a contact away.';
comment on column market.offer.extraction is
  'For each field the value, its quote with start and end in code points (zero-based, end exclusive), the basis and '
  'the confidence.';
comment on column market.offer.missing_fields is 'Fields that the text left unclear.';
comment on column market.offer.warnings is 'Warnings for the agent, as sentences.';
comment on column market.offer.reviewed is 'Whether a moderator looked at the offer and kept it.';
comment on column market.offer.review_note is 'A moderator''s sentence for the owner.';
comment on column market.offer.review_reason is
  'Code of the reason for which a moderator removed or rejected the offer.';
comment on column market.offer.suspended_at is
  'When it was archived because its account was suspended; it is published again when the account is reinstated.';
comment on column market.offer.concepts is
  'Lexemes of the concepts of which the offer contains a synonym (reading.label). A trigger maintains them.';
comment on column market.offer.confirmed_at is
  'When the owner last said that it is available: by publishing, changing or confirming it.';
comment on column market.offer.stale_at is
  'When a published offer became stale, because nobody had confirmed or changed it for long; null while it is fresh.';
comment on column market.offer.expired_at is 'When it was archived because nobody had confirmed it; otherwise null.';
grant select on market.offer to souk_agent, souk_person;
grant update (status, confirmed_at) on market.offer to souk_agent, souk_person;
