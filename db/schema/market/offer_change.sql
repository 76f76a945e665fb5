create table market.offer_change (
  offer_id uuid constraint offer_change_pkey primary key
    constraint offer_change_offer_fkey references market.offer on delete cascade,
  account_id uuid not null constraint offer_change_account_fkey references market.account on delete cascade,
  agent_id uuid constraint offer_change_agent_fkey references market.agent on delete set null,
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
  price_reasons jsonb,
  contact_visibility text not null default 'public',
  withheld_spans jsonb not null default '[]',
  withheld_images text[] not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  rejected_at timestamptz,
  review_reason text constraint offer_change_review_reason_fkey references market.reason on delete restrict,
  review_note text,
  constraint offer_change_category_fkey foreign key (domain, category) references market.category on delete restrict,
  constraint offer_change_offer_kind_fkey foreign key (offer_kind) references market.offer_kind on delete restrict,
  constraint offer_change_domain_fkey foreign key (domain) references market.domain on delete restrict,
  constraint offer_change_text_length check (char_length(text) between 1 and 4000),
  constraint offer_change_sent_text_length check (char_length(sent_text) between 1 and 4000),
  constraint offer_change_sent_text_differs check (sent_text <> text),
  constraint offer_change_contact_visibility_known
    check (contact_visibility in ('public', 'approved', 'agreement')),
  constraint offer_change_images_count check (cardinality(images) <= 16),
  constraint offer_change_language_length check (char_length(language) between 2 and 20),
  constraint offer_change_title_length check (char_length(title) between 1 and 120),
  constraint offer_change_domain_length check (char_length(domain) <= 40),
  constraint offer_change_category_length check (char_length(category) <= 40),
  constraint offer_change_category_has_domain check (category is null or domain is not null),
  constraint offer_change_price_currency_form check (price_currency ~ '^[A-Z]{3}$'),
  constraint offer_change_price_period_known
    check (price_period in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')),
  constraint offer_change_price_unit_known check (price_unit = any (reading.price_units())),
  constraint offer_change_location_text_length check (char_length(location_text) between 1 and 200),
  constraint offer_change_review_note_length check (char_length(review_note) between 1 and 500),
  constraint offer_change_rejected_for_a_reason check ((rejected_at is null) = (review_reason is null))
);
create index offer_change_account_id_idx on market.offer_change (account_id);
create index offer_change_agent_id_idx on market.offer_change (agent_id);
create index offer_change_domain_category_idx on market.offer_change (domain, category);
create index offer_change_offer_kind_idx on market.offer_change (offer_kind);
create index offer_change_review_reason_idx on market.offer_change (review_reason) where review_reason is not null;

create policy "an account sees the changes of its offers" on market.offer_change for select
  to souk_agent, souk_person
  using (account_id = (select internal.visible_account_id()));

comment on table market.offer_change is
  'One row is one change of an approved offer that waits for a moderator, or that a moderator rejected. A change that '
  'a moderator publishes becomes the offer, and its row is deleted. An offer has at most one row: its last change.';
select internal.copy_comments('market.offer_change', 'market.offer',
  '{offer_id,price_reasons,rejected_at,review_reason}');
comment on column market.offer_change.offer_id is 'The offer, which stays as it is until the change is published.';
comment on column market.offer_change.price_reasons is
  'Why the built-in extractor took its price. They move to reading.price_reason when the change is published.';
comment on column market.offer_change.rejected_at is 'When a moderator rejected the change; null while it waits.';
comment on column market.offer_change.review_reason is 'Code of the reason for which a moderator rejected the change.';
grant select on market.offer_change to souk_agent, souk_person;
