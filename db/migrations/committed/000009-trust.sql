--! Previous: sha1:f39d06443f39fe6fcd2a740966e83c52d9fc4710
--! Hash: sha1:b5f8327a8a8d048297c37cb9adf2fc8f20b78bc7
--! Message: trust

-- Codes that are longer while many wrong codes are entered.
set local role souk_owner;

-- The table has the attempts of a day, so checking it takes milliseconds.
alter table market.sign_in add column code_digits smallint not null default 6;
-- squawk-ignore constraint-missing-not-valid
alter table market.sign_in add constraint sign_in_code_digits_known check (code_digits in (6, 9, 12));

-- Keyed hashes.
--! Included market/hash_key.sql
-- One row is the key of the hashes by which the market recognizes what it must not know. There is at most one row.

create table market.hash_key (
  id boolean default true constraint hash_key_pkey primary key,
  -- gen_random_uuid has 122 random bits.
  key bytea not null default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  constraint hash_key_single check (id),
  constraint hash_key_length check (octet_length(key) = 32)
);

alter table market.hash_key enable row level security;
alter table market.hash_key force row level security;
create policy "the owner sees all" on market.hash_key to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.hash_key is
  'One row is the key that the database made for itself. A dump contains it. For what is kept longer than a day, the '
  'operator''s RECORD_KEY takes its place (internal.record_hashes).';
comment on column market.hash_key.id is 'Always true, so that there is one row.';
comment on column market.hash_key.key is '32 random bytes.';
--! EndIncluded market/hash_key.sql

-- What moderation decided about an account outlives it.
--! Included market/kept_record.sql
-- One row is what moderation decided about an account that a sign-in method proved, kept for twelve months after the
-- account was deleted or the method was removed from it. Whoever proves the method again has the record again.

create table market.kept_record (
  method_hash bytea constraint kept_record_pkey primary key,
  removed_offers uuid[] not null default '{}',
  suspended_at timestamptz,
  suspension_reason text constraint kept_record_suspension_reason_fkey references market.reason on delete restrict,
  suspension_note text,
  kept_until timestamptz not null default now() + interval '12 months',
  constraint kept_record_method_hash_is_sha256 check (octet_length(method_hash) = 32),
  constraint kept_record_removed_offers_count check (cardinality(removed_offers) <= 200),
  constraint kept_record_says_something check (suspended_at is not null or cardinality(removed_offers) > 0),
  constraint kept_record_suspension_note_length check (char_length(suspension_note) between 1 and 500),
  constraint kept_record_suspension_whole
    check (suspended_at is not null or (suspension_reason is null and suspension_note is null))
);
-- Used to purge old records.
create index kept_record_kept_until_idx on market.kept_record (kept_until);
-- When an account is reinstated, its suspension is forgotten under all its methods.
create index kept_record_suspended_at_idx on market.kept_record (suspended_at) where suspended_at is not null;
create index kept_record_suspension_reason_idx on market.kept_record (suspension_reason)
  where suspension_reason is not null;

alter table market.kept_record enable row level security;
alter table market.kept_record force row level security;
create policy "the owner sees all" on market.kept_record to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.kept_record is
  'One row is what moderation decided about an account that a sign-in method proved, kept for twelve months after the '
  'account was deleted or the method was removed from it. It names no person and no account.';
comment on column market.kept_record.method_hash is
  'Keyed hash of the method and its subject (internal.record_hashes).';
comment on column market.kept_record.removed_offers is
  'The offers that moderation had removed, at most 200. They are empty if their account was deleted.';
comment on column market.kept_record.suspended_at is
  'When moderation suspended the account; null when it was not suspended.';
comment on column market.kept_record.suspension_reason is 'Code of the reason for the suspension.';
comment on column market.kept_record.suspension_note is 'The reason for the suspension, as a sentence for the owner.';
comment on column market.kept_record.kept_until is 'When the row is deleted.';
--! EndIncluded market/kept_record.sql
-- Checking the default value in a million accounts takes less than a second.
alter table market.account add column prior_removals uuid[] not null default '{}';
-- squawk-ignore constraint-missing-not-valid
alter table market.account add constraint account_prior_removals_count check (cardinality(prior_removals) <= 200);
create policy "a dba reads all" on market.hash_key for select to souk_dba using (true);
create policy "a dba reads all" on market.kept_record for select to souk_dba using (true);
--! Included internal/keyed_hash.sql
-- Keyed hashes: without the key nobody can find out by trying which address or mailbox a hash belongs to.

create or replace function internal.hash_key() returns bytea
  language plpgsql volatile
as $$
begin
  if not exists (select from market.hash_key) then
    insert into market.hash_key default values on conflict do nothing;
  end if;
  return (select k.key from market.hash_key k);
end
$$;
comment on function internal.hash_key() is 'Returns the database''s own key. The first call makes it.';

create or replace function internal.keyed_hash(value bytea, key bytea) returns bytea
  language sql immutable
as $$ select sha256(keyed_hash.key || sha256(keyed_hash.key || keyed_hash.value)) $$;
comment on function internal.keyed_hash(bytea, bytea) is
  'Returns a SHA-256 that only who has the key can compute. The key has 32 bytes.';
--! EndIncluded internal/keyed_hash.sql
--! Included internal/kept_record.sql
-- What moderation decided about a person outlives the account for twelve months, so that deleting the account and
-- coming back with the same sign-in method does not clear the record. It also outlives the removal of a method, because
-- otherwise the person could make a clean account with that method.

create or replace function internal.use_record_key(key bytea) returns void
  language plpgsql volatile
as $$
begin
  perform set_config('market.record_key', coalesce(encode(use_record_key.key, 'hex'), ''), true);
end
$$;
comment on function internal.use_record_key(bytea) is
  'Takes the operator''s key (a SHA-256 of RECORD_KEY; null when it is not set) for the rest of the transaction.';
grant execute on function internal.use_record_key(bytea) to souk_person;

create or replace function internal.record_hashes(subject_hash bytea) returns bytea[]
  language plpgsql volatile
as $$
declare
  key bytea := decode(nullif(current_setting('market.record_key', true), ''), 'hex');
begin
  -- With the hash of the database's own key, records from before the operator set RECORD_KEY are found, too.
  return array_remove(array[
    internal.keyed_hash(record_hashes.subject_hash, key),
    internal.keyed_hash(record_hashes.subject_hash, internal.hash_key())], null);
end
$$;
comment on function internal.record_hashes(bytea) is
  'Returns the keyed hashes under which the record of a proved subject is kept: the first is the one to write, and all '
  'are to be looked up. The operator''s RECORD_KEY is in no dump. Without it, the key is in the database.';

create or replace function internal.removed_offers(account market.account) returns uuid[]
  language plpgsql stable
as $$
begin
  -- The cap counts ten removals at most. Two hundred are a record that more would not change.
  return (array(
    select o.id from market.offer o where o.account_id = account.id and o.status = 'removed'
    order by o.removed_at desc limit 200) || account.prior_removals)[1:200];
end
$$;
comment on function internal.removed_offers(market.account) is
  'Returns the offers that moderation removed from an account and from its person''s earlier accounts, at most 200.';
grant execute on function internal.removed_offers(market.account) to souk_person;

create or replace function internal.keep_record() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  account market.account;
  hashes bytea[];
  removed_offers uuid[];
begin
  select * into account from market.account a where a.id = old.account_id;
  if not found then
    -- Somebody deleted the account by SQL, with everything that refers to it.
    return old;
  end if;
  hashes := internal.record_hashes(old.subject_hash);
  removed_offers := internal.removed_offers(account);
  -- The account has taken over what was kept before, and its record may have changed since.
  delete from market.kept_record k where k.method_hash = any (hashes);
  if account.suspended_at is not null or cardinality(removed_offers) > 0 then
    insert into market.kept_record (method_hash, removed_offers, suspended_at, suspension_reason, suspension_note)
    values (hashes[1], removed_offers, account.suspended_at, account.suspension_reason, account.suspension_note);
  end if;
  return old;
end
$$;
comment on function internal.keep_record() is
  'Keeps the record of an account under the hash of a sign-in method that is removed from it, if it was suspended or '
  'had offers removed.';

create or replace function internal.resume_record() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  kept market.kept_record;
begin
  for kept in
    select * from market.kept_record k
    where k.method_hash = any (internal.record_hashes(new.subject_hash)) and k.kept_until > now()
  loop
    update market.account a set
      prior_removals = (a.prior_removals || array(
        select o.id from market.offer o
        where o.id = any (kept.removed_offers) and o.id <> all (a.prior_removals) and o.status = 'removed'
          -- The person may have removed the method from this same account and now adds it again.
          and o.account_id is distinct from a.id
        order by o.removed_at desc))[1:200],
      suspended_at = coalesce(a.suspended_at, kept.suspended_at),
      suspension_reason = case when a.suspended_at is null then kept.suspension_reason else a.suspension_reason end,
      suspension_note = case when a.suspended_at is null then kept.suspension_note else a.suspension_note end
    where a.id = new.account_id;
    if kept.suspended_at is not null and not internal.apply_standing(new.account_id, 50) then
      perform internal.enqueue('apply_standing', new.account_id);
    end if;
  end loop;
  return new;
end
$$;
comment on function internal.resume_record() is
  'Gives the account that proves a sign-in method the record that is kept under the hash of the method: its removals, '
  'and its suspension if that was in force.';

create or replace function internal.forget_kept_suspension() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The time identifies the suspension, because it is copied and is exact to a microsecond.
  delete from market.kept_record k where k.suspended_at = old.suspended_at and cardinality(k.removed_offers) = 0;
  update market.kept_record k set suspended_at = null, suspension_reason = null, suspension_note = null
  where k.suspended_at = old.suspended_at;
  return new;
end
$$;
comment on function internal.forget_kept_suspension() is
  'When an account is reinstated: forgets its suspension under the methods that were removed from it, or with which '
  'its person had an earlier account.';
--! EndIncluded internal/kept_record.sql
create trigger forget_kept_suspension after update of suspended_at on market.account
  for each row when (old.suspended_at is not null and new.suspended_at is null)
  execute function internal.forget_kept_suspension();
create trigger keep_record before delete on market.proved_method
  for each row execute function internal.keep_record();
create trigger resume_record after insert on market.proved_method
  for each row execute function internal.resume_record();

-- Changes of approved offers wait for a moderator while pre-moderation is on.

--! Included market/offer_change.sql
-- One row is one change of an offer that waits for a moderator, because pre-moderation is on, or that a moderator has
-- rejected. The offer itself stays as it was approved. The columns are those that a text gives to an offer.

create table market.offer_change (
  offer_id uuid constraint offer_change_pkey primary key
    constraint offer_change_offer_fkey references market.offer on delete cascade,
  account_id uuid not null constraint offer_change_account_fkey references market.account on delete cascade,
  agent_id uuid constraint offer_change_agent_fkey references market.agent on delete set null,
  text text not null,
  images text[] not null default '{}',
  language text,
  title text not null,
  domain text,
  category text,
  offer_kind text,
  price_hundredths bigint,
  price_currency text,
  price_period text,
  location_text text,
  metadata jsonb not null default '{}',
  contact jsonb not null default '{}',
  extraction jsonb not null default '{}',
  missing_fields text[] not null default '{}',
  warnings text[] not null default '{}',
  price_reasons jsonb,
  created_at timestamptz not null default clock_timestamp(),
  rejected_at timestamptz,
  review_reason text constraint offer_change_review_reason_fkey references market.reason on delete restrict,
  review_note text,
  constraint offer_change_category_fkey foreign key (domain, category) references market.category on delete restrict,
  constraint offer_change_offer_kind_fkey foreign key (offer_kind) references market.offer_kind on delete restrict,
  constraint offer_change_domain_fkey foreign key (domain) references market.domain on delete restrict,
  constraint offer_change_text_length check (char_length(text) between 1 and 4000),
  constraint offer_change_images_count check (cardinality(images) <= 16),
  constraint offer_change_language_length check (char_length(language) between 2 and 20),
  constraint offer_change_title_length check (char_length(title) between 1 and 120),
  constraint offer_change_domain_length check (char_length(domain) <= 40),
  constraint offer_change_category_length check (char_length(category) <= 40),
  constraint offer_change_category_has_domain check (category is null or domain is not null),
  constraint offer_change_price_currency_form check (price_currency ~ '^[A-Z]{3}$'),
  constraint offer_change_price_period_known
    check (price_period in ('one_time', 'hour', 'day', 'week', 'month', 'year', 'project')),
  constraint offer_change_location_text_length check (char_length(location_text) between 1 and 200),
  constraint offer_change_review_note_length check (char_length(review_note) between 1 and 500),
  constraint offer_change_rejected_for_a_reason check ((rejected_at is null) = (review_reason is null))
);
create index offer_change_account_id_idx on market.offer_change (account_id);
create index offer_change_agent_id_idx on market.offer_change (agent_id);
create index offer_change_domain_category_idx on market.offer_change (domain, category);
create index offer_change_offer_kind_idx on market.offer_change (offer_kind);
create index offer_change_review_reason_idx on market.offer_change (review_reason) where review_reason is not null;

alter table market.offer_change enable row level security;
alter table market.offer_change force row level security;
create policy "the owner sees all" on market.offer_change to souk_owner using (true) with check (true);
create policy "an account sees the changes of its offers" on market.offer_change for select
  to souk_agent, souk_person
  using (account_id = (select internal.account_id()));

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.offer_change is
  'One row is one change of an approved offer that waits for a moderator, or that a moderator rejected. A change that '
  'a moderator publishes becomes the offer, and its row is deleted. An offer has at most one row: its last change.';
comment on column market.offer_change.offer_id is 'The offer, which stays as it is until the change is published.';
comment on column market.offer_change.account_id is 'The account that owns the offer.';
comment on column market.offer_change.agent_id is
  'The agent that changed the offer; null when the person did it in the browser.';
comment on column market.offer_change.text is 'The text as sent, NFC.';
comment on column market.offer_change.images is 'Links to images. This service never fetches them.';
comment on column market.offer_change.language is 'Language of the text, BCP 47.';
comment on column market.offer_change.title is 'Title made of words of the text.';
comment on column market.offer_change.domain is 'Domain of the taxonomy; null when the extractor is not confident.';
comment on column market.offer_change.category is 'Category of the domain; null when the extractor is not confident.';
comment on column market.offer_change.offer_kind is 'sale, rental, service_offer, project_hire, dating or friendship.';
comment on column market.offer_change.price_hundredths is 'Asking price in hundredths of the major unit.';
comment on column market.offer_change.price_currency is 'ISO 4217.';
comment on column market.offer_change.price_period is
  'The period or unit of the price: one_time, hour, day, week, month, year or project.';
comment on column market.offer_change.location_text is 'The place as the text names it.';
comment on column market.offer_change.metadata is
  'pricing, location, space, features, condition, attributes. Each is absent when the text does not state it.';
comment on column market.offer_change.contact is 'The contact object of the contract, schema_version 2.';
comment on column market.offer_change.extraction is
  'For each field the value, its quote with start and end in code points (zero-based, end exclusive), the basis and '
  'the confidence.';
comment on column market.offer_change.missing_fields is 'Fields that the text left unclear.';
comment on column market.offer_change.warnings is 'Warnings for the agent, as sentences.';
comment on column market.offer_change.price_reasons is
  'Why the built-in extractor took its price. They move to reading.price_reason when the change is published.';
comment on column market.offer_change.created_at is 'When the change was stored.';
comment on column market.offer_change.rejected_at is 'When a moderator rejected the change; null while it waits.';
comment on column market.offer_change.review_reason is 'Code of the reason for which a moderator rejected the change.';
comment on column market.offer_change.review_note is 'A moderator''s sentence for the owner.';
grant select on market.offer_change to souk_agent, souk_person;
--! EndIncluded market/offer_change.sql

create policy "a moderator sees all changes of offers" on market.offer_change for select to souk_moderator
  using (true);
create policy "a dba reads all" on market.offer_change for select to souk_dba using (true);
create trigger audit after insert or update or delete on market.offer_change
  for each row execute function internal.audit(
  'account_id', 'agent_id', 'language', 'domain', 'category', 'offer_kind', 'price_hundredths', 'price_currency',
  'price_period', 'rejected_at', 'review_reason');
create trigger audit_truncate after truncate on market.offer_change
  for each statement execute function internal.audit();

-- Used to count the texts of an account that wait (internal.texts_ahead).
-- Few submissions wait at a time, so the index is built in milliseconds.
-- squawk-ignore require-concurrent-index-creation
create index submission_account_id_waiting_idx on market.submission (account_id, id) where completed_at is null;

-- Recovering and leaving accounts: which agents go on, who is told, and how long a session of such an account lasts.

alter table market.account add column recovered_at timestamptz;
alter table market.agent add column disconnected_at timestamptz;
-- The new column is null everywhere.
-- squawk-ignore constraint-missing-not-valid
alter table market.agent add constraint agent_disconnected_or_connected
  check (disconnected_at is null or connected_at is null);

-- Sign-in attempts are kept for a day, so these tables stay small.
alter table market.sign_in
  add column kept_agents uuid[],
  add column left_account_id uuid,
  add column notified_at timestamptz,
  -- squawk-ignore constraint-missing-not-valid, adding-foreign-key-constraint
  add constraint sign_in_left_account_fkey foreign key (left_account_id) references market.account on delete set null,
  -- squawk-ignore constraint-missing-not-valid
  add constraint sign_in_keeps_own_agents check (kept_agents is null or purpose = 'add'),
  -- squawk-ignore constraint-missing-not-valid
  add constraint sign_in_kept_agents_length check (cardinality(kept_agents) <= 25),
  -- squawk-ignore constraint-missing-not-valid
  add constraint sign_in_leaves_by_signing_in check (left_account_id is null or purpose = 'sign_in');
-- squawk-ignore require-concurrent-index-creation
create index sign_in_left_account_id_idx on market.sign_in (left_account_id);

-- Sessions of accounts without a method last as if the browser had only approved an agent.
update market.session s set signed_in_at = null
where s.signed_in_at is not null
  and not exists (select from market.proved_method p where p.account_id = s.account_id);
-- squawk-ignore require-concurrent-index-creation
create index session_expires_at_signed_in_idx on market.session (expires_at) where signed_in_at is not null;
-- squawk-ignore require-concurrent-index-creation
create index session_seen_at_signed_in_idx on market.session (seen_at) where signed_in_at is not null;
-- squawk-ignore require-concurrent-index-creation
create index session_seen_at_approved_idx on market.session (seen_at) where signed_in_at is null;
-- squawk-ignore require-concurrent-index-deletion
drop index market.session_expires_at_idx;
-- squawk-ignore require-concurrent-index-deletion
drop index market.session_seen_at_idx;

create or replace trigger audit after insert or update or delete on market.agent
  for each row execute function internal.audit('account_id', 'connected_at', 'removed_at', 'disconnected_at');
create or replace trigger audit after update or delete on market.account
  for each row execute function internal.audit('claimed_at', 'suspended_at', 'suspension_reason', 'recovered_at');

-- Limits of what a caller costs: a person in the browser needs a proved sign-in method to publish, preview and ask; a
-- text is sent to a model twice at most; a vector is made again only for another text or model.

alter table market.permission add column needs_method boolean not null default false;
drop trigger keep_origin on market.permission;
create trigger keep_origin before update or delete on market.permission
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('permission', 'needs_approval,writes,needs_method,summary,detail');

-- The checks are of new columns, or of a table of a few rows. Looking through the largest table takes about a second.
alter table market.submission add column model_readings smallint not null default 0;
-- squawk-ignore constraint-missing-not-valid
alter table market.submission add constraint submission_model_readings_range check (model_readings between 0 and 2);
alter table market.offer_embedding add column text_hash bytea;
-- squawk-ignore constraint-missing-not-valid
alter table market.offer_embedding add constraint offer_embedding_text_hash_is_sha256
  check (octet_length(text_hash) = 32);
alter table market.ask_embedding add column text_hash bytea;
-- squawk-ignore constraint-missing-not-valid
alter table market.ask_embedding add constraint ask_embedding_text_hash_is_sha256
  check (octet_length(text_hash) = 32);
alter table market.cap_override drop constraint cap_override_action_known;
-- squawk-ignore constraint-missing-not-valid
alter table market.cap_override add constraint cap_override_action_known
  check (action in ('publish_offer', 'create_ask', 'preview_offer', 'manage', 'report_offer'));

reset role;
