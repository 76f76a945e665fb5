create table market.match (
  ask_id uuid not null constraint match_ask_fkey references market.ask on delete cascade,
  offer_id uuid not null constraint match_offer_fkey references market.offer on delete cascade,
  score real not null,
  reasons jsonb not null,
  first_matched_at timestamptz not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  constraint match_pkey primary key (ask_id, offer_id),
  constraint match_score_range check (score between 0 and 1)
);
create index match_offer_id_idx on market.match (offer_id);
create index match_best_idx on market.match (ask_id, score desc, offer_id);
-- The digest looks for what is new.
create index match_new_idx on market.match (ask_id, xid);

create policy "an account sees the matches of its asks" on market.match for select to souk_agent, souk_person
  using (exists (select from market.ask a where a.id = ask_id));

comment on table market.match is 'One row is one match: an offer that answers an ask, with score and reasons.';
comment on column market.match.score is 'The score, 0 to 1.';
comment on column market.match.reasons is
  'For each criterion the verdict (met, violated or unknown), with the wanted and the found value.';
comment on column market.match.xid is
  'The transaction that found it. The parameter "since" holds the transactions whose matches were read '
  '(api.list_matches).';
grant select on market.match to souk_agent, souk_person;
