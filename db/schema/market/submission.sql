create table market.submission (
  id uuid default internal.uuid_v7() constraint submission_pkey primary key,
  kind text not null,
  account_id uuid not null constraint submission_account_fkey references market.account on delete cascade,
  agent_id uuid constraint submission_agent_fkey references market.agent on delete cascade,
  target_id uuid,
  origin_ask_id uuid,
  text text not null,
  images text[] not null default '{}',
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  status smallint,
  body jsonb,
  request_id text default nullif(current_setting('market.request_id', true), ''),
  model_readings smallint not null default 0,
  changes text[] not null default '{text,images}',
  kind_confirmed boolean not null default false,
  contact_visibility text,
  constraint submission_kind_known
    check (kind in ('publish_offer', 'update_offer', 'preview_offer', 'create_ask', 'update_ask')),
  constraint submission_text_length check (char_length(text) between 1 and 4000),
  constraint submission_images_count check (cardinality(images) <= 16),
  constraint submission_answer_whole check ((completed_at is null) = (status is null)),
  constraint submission_status_form check (status between 200 and 599),
  constraint submission_request_id_length check (char_length(request_id) between 1 and 100),
  constraint submission_model_readings_range check (model_readings between 0 and 2),
  constraint submission_contact_visibility_known check (contact_visibility in ('public', 'approved', 'agreement')),
  constraint submission_changes_known check (changes <@ '{text,images}' and cardinality(changes) between 1 and 2)
);
create index submission_account_id_idx on market.submission (account_id);
create index submission_agent_id_idx on market.submission (agent_id);
-- For jobs.purge_keys.
create index submission_created_at_idx on market.submission (created_at);
-- Used to find submissions that wait too long.
create index submission_created_at_waiting_idx on market.submission (created_at) where completed_at is null;
-- Used to find changes of an offer or ask, of which there are few.
create index submission_target_id_idx on market.submission (target_id);
-- Used to count the texts of an account that wait.
create index submission_account_id_waiting_idx on market.submission (account_id, id) where completed_at is null;

create policy "an agent sees its submissions and those of its account" on market.submission for select to souk_agent
  using (agent_id = (select internal.agent_id()) or account_id = (select internal.visible_account_id()));
create policy "a person sees the submissions of the account" on market.submission for select to souk_person
  using (account_id = (select internal.account_id()));
create policy "a connected caller submits for its account" on market.submission for insert to souk_agent, souk_person
  with check (agent_id is not distinct from (select internal.agent_id()) and account_id = (select internal.account_id())
    and completed_at is null and ((select internal.connected()) or kind = 'preview_offer')
    -- The worker changes the target without checking who sent the submission, so the target must belong to the account
    -- here.
    and (kind <> 'update_offer' or exists (
      select from market.offer o where o.id = target_id and o.account_id = (select internal.account_id())))
    and (kind not in ('create_ask', 'update_ask') or exists (select from market.ask a where a.id = target_id))
    and (origin_ask_id is null or exists (select from market.ask a where a.id = origin_ask_id)));

comment on table market.submission is
  'One row is one text that is being extracted or was extracted in the last day, with the response to its sender.';
comment on column market.submission.id is 'UUIDv7. The worker''s job has only this id as payload.';
comment on column market.submission.kind is
  'What is done with the text: publish_offer, update_offer, preview_offer, create_ask or update_ask.';
comment on column market.submission.target_id is 'The offer or ask that is created or changed.';
comment on column market.submission.origin_ask_id is
  'The caller''s ask from which the offer came, when the request named one.';
comment on column market.submission.text is 'The text, NFC, without invisible characters.';
comment on column market.submission.images is 'Links to images of an offer.';
comment on column market.submission.completed_at is 'When the response was decided; null while the submission waits.';
comment on column market.submission.status is
  'HTTP status of the response; 503 when an offer''s text was not extracted in time.';
comment on column market.submission.body is
  'Body of the response; for a problem, only the members that the database knows.';
comment on column market.submission.request_id is 'The Request-Id of the call that sent the text, for the audit log.';
comment on column market.submission.model_readings is
  'How often the text was sent to a model; at most twice, whatever went wrong.';
comment on column market.submission.changes is
  'Which of text and images the request named. A change takes the other one from the change before.';
comment on column market.submission.kind_confirmed is
  'Whether the sender means an offer, or an ask, also if the text reads as the other one.';
comment on column market.submission.contact_visibility is
  'Who shall see the contact of the offer; null when the request did not say.';
grant select on market.submission to souk_agent, souk_person;
grant insert (id, created_at, kind, account_id, agent_id, target_id, origin_ask_id, text, images, changes,
  kind_confirmed, contact_visibility)
  on market.submission
  to souk_agent, souk_person;
