-- What must always be so, by name: what is broken when inspect.check() names it, and what to do. Beside each what the
-- worker found last, for /metrics.

create table market.invariant (
  invariant text constraint invariant_pkey primary key,
  summary text not null,
  remedy text not null,
  sampled boolean not null,
  broken integer not null default 0,
  example text,
  checked_at timestamptz,
  constraint invariant_form check (invariant ~ '^[a-z_]{1,60}$'),
  constraint invariant_summary_length check (char_length(summary) between 1 and 300),
  constraint invariant_remedy_length check (char_length(remedy) between 1 and 500),
  constraint invariant_example_length check (char_length(example) <= 300),
  constraint invariant_broken_not_negative check (broken >= 0)
);

alter table market.invariant enable row level security;
alter table market.invariant force row level security;
create policy "the owner sees all" on market.invariant to souk_owner using (true) with check (true);
create policy "a dba reads all" on market.invariant for select to souk_dba using (true);

insert into market.invariant (invariant, sampled, summary, remedy) values
  ('account_has_record', true, 'Every account has a row of market.account_stats.',
    'Insert it: insert into market.account_stats (account_id) values (...), then correct its counts.'),
  ('record_equals_recount', true, 'The counts in market.account_stats equal a count of the account''s offers.',
    'Find who wrote to market.offer with triggers off (session_replication_role). Then set active, lifetime and removed to what detail says.'),
  ('connected_agent_has_person', true, 'An agent that a person approved belongs to an account that a person has claimed.',
    'Half of an approval is there: remove the agent (update market.agent set removed_at = now()), so that its person connects a new one.'),
  ('approval_is_whole', true, 'A connection and its agent agree on whether a person approved.',
    'Remove the agent, so that its person connects a new one.'),
  ('removed_agent_has_no_link', true, 'An agent that was removed has no link that still works.',
    'Decline it: update market.connection set declined_at = now() where agent_id = ...'),
  ('submission_is_counted', false, 'Every text that was admitted is a counted call.',
    'Somebody deleted from market.rate_limit_hit, or internal.admit was passed by: compare the functions with db/schema. The window rights itself within the hour.'),
  ('call_is_past', false, 'No counted call lies in the future, where it would fill a window for longer than an hour.',
    'The clock was set back: delete these calls.'),
  ('window_keeps_to_cap', false, 'No agent has more counted calls within an hour than its cap, or the highest cap there is, allows.',
    'The lock in internal.admit does not hold: compare the function with db/schema.'),
  ('key_has_answer', false, 'Every idempotency key has an answer once its text is settled, and within minutes.',
    'Without a submission: delete the key. Else see submission_is_settled.'),
  ('submission_is_settled', false, 'Every text is settled within minutes, if only by the sweep.',
    'No worker runs, or the sweep fails: see inspect.workers and inspect.jobs. By hand: select jobs.sweep_submissions().'),
  ('submission_has_job', false, 'A text that waits to be read has a job that will read it.',
    'The sweep settles it after ten minutes. By hand at once: select internal.withdraw_submission(id).'),
  ('answer_tells_the_truth', true, 'A text was answered with 201 if, and only if, its offer or ask is there.',
    'The offer is there without a 201: archive it. A 201 without the offer: its agent has to send it again; tell the account.'),
  ('offer_has_contact', true, 'A live offer has a contact that can be reached.',
    'Archive the offer; its owner''s agent sends it again.'),
  ('offer_has_vector', true, 'A live offer has a vector of the model in force, or a job that is making one.',
    'select jobs.use_embedding_model(model) with the model of market.setting: it asks again for all that is missing. Then see inspect.jobs.'),
  ('ask_has_vector', true, 'An active ask has a vector of the model in force, or a job that is making one.',
    'select jobs.use_embedding_model(model) with the model of market.setting: it asks again for all that is missing. Then see inspect.jobs.'),
  ('ask_is_read', false, 'An ask that stands is read within the hour.',
    'Its text is still in market.ask: ask the account''s agent to PATCH it with the same text.'),
  ('match_is_of_a_live_offer', true, 'Only published offers match.', 'Delete the match.'),
  ('match_is_of_a_read_ask', true, 'Only asks that were read match.', 'Delete the match.'),
  ('match_is_of_an_active_ask', true, 'An ask at rest keeps its matches, and gets no new ones.', 'Delete the match.'),
  ('match_is_of_its_kind', true, 'An offer matches only asks that its kind answers.',
    'select search.match_offer(offer_id): judges the offer again.'),
  ('match_is_not_ones_own', true, 'An account''s own offers never match its asks.', 'Delete the match.'),
  ('match_is_within_price', true, 'An offer above the ceiling of an ask, in the same currency and for the same period, does not match it.',
    'select search.match_offer(offer_id): judges the offer again.'),
  ('match_is_not_excluded', true, 'An offer with a word that an ask does not want does not match it.',
    'select search.match_offer(offer_id): judges the offer again.'),
  ('job_is_not_held_by_the_dead', false, 'No job is held for minutes by a worker that has died.',
    'No worker lives that could free it: start one. By hand: select graphile_worker.force_unlock_workers(array[locked_by]).'),
  ('nothing_outlives_its_time', false, 'Keys, answers, counted calls and sign-ins are forgotten a day later, sessions when they end, query vectors after thirty days.',
    'The worker''s clock stands still, or purge_keys fails: see inspect.workers and inspect.jobs.'),
  ('suspended_account_is_hidden', true, 'No offer of a suspended account is live, unless a job is just taking them down.',
    'select jobs.apply_standing(account_id), until it gives true.'),
  ('case_counts_its_reports', false, 'An open case says how many counted reports of its offer wait.',
    'Set review_case.reports to what detail says.'),
  ('open_report_has_case', false, 'A report that waits has an open case.',
    'select internal.open_case(offer_id, array[''reported''], how many counted reports wait).'),
  ('pending_offer_has_case', true, 'An offer that waits for review has an open case.',
    'select internal.open_case(offer_id, array[''pending'']).'),
  ('open_appeal_has_case', true, 'An appeal that waits has an open case.',
    'select internal.open_case(offer_id, array[''appeal'']).'),
  ('reviewed_offer_is_not_down', true, 'What a moderator took down, rejected or has not seen yet is not called reviewed.',
    'Set reviewed to false.'),
  ('extraction_is_quoted', true, 'What was read from the text of an offer stands there, word for word, where the reading says.',
    'Somebody wrote to market.offer past the reader: its agent sends the text again.'),
  ('reference_has_row', true, 'Whatever a row refers to by a foreign key is there.',
    'Somebody wrote or deleted with triggers off (session_replication_role), or a dump was restored in parts. What refers to nothing is deleted; on delete of the constraint says what would have become of it.'),
  ('call_has_agent', true, 'A counted call belongs to an agent that is there.', 'Delete the call.'),
  ('log_has_its_months', false, 'The audit log has a partition for this month and the next.',
    'The worker''s clock stands still, or keep_audit_partitions fails: see inspect.jobs. By hand: select jobs.keep_audit_partitions().'),
  ('log_is_forgotten_in_time', false, 'Events of the audit log are dropped with their month a year later.',
    'The worker''s clock stands still, or keep_audit_partitions fails: see inspect.jobs. By hand: select jobs.keep_audit_partitions().'),
  ('agent_is_forgotten_in_time', false, 'Agents that nobody approved are forgotten 7 days after they last wrote.',
    'The worker''s clock stands still, or purge_agents fails: see inspect.workers and inspect.jobs. By hand: select jobs.purge_agents().'),
  ('examples_are_learned', false, 'Texts are read by what was learned from the words and examples that there are.',
    'No worker runs, or it cannot learn: see inspect.workers and its log.');

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.invariant is 'One row is one rule that holds in every database in order, and how often it was found broken.';
comment on column market.invariant.invariant is 'As inspect.check() names it.';
comment on column market.invariant.summary is 'What must be so.';
comment on column market.invariant.remedy is 'What to do when it is not.';
comment on column market.invariant.sampled is 'Whether a sample is looked at between the nightly checks of everything, because the rows grow with the market.';
comment on column market.invariant.broken is 'How many times it was found broken. Of a sampled one: until a check of everything finds less.';
comment on column market.invariant.example is 'One of the rows that break it.';
comment on column market.invariant.checked_at is 'When the worker last looked, null before the first time.';
grant select on market.invariant to souk_dba;
