-- Why a moderator takes something down, and why somebody reports it: the same codes.

create table market.reason (
  code text constraint reason_pkey primary key,
  rank smallint not null,
  summary text not null,
  sentence text not null,
  constraint reason_code_form check (code ~ '^[a-z_]{1,40}$'),
  constraint reason_rank_key unique (rank),
  constraint reason_summary_length check (char_length(summary) between 1 and 120),
  constraint reason_sentence_length check (char_length(sentence) between 1 and 500)
);

insert into market.reason (code, rank, summary, sentence) values
  ('prohibited_item', 1, 'Something that may not be sold here', 'What it offers may not be offered here.'),
  ('scam', 2, 'An attempt to defraud', 'It looks like an attempt to defraud.'),
  ('spam', 3, 'Advertising, or nothing that is offered', 'It does not offer anything in particular.'),
  ('duplicate', 4, 'The same offer is up already', 'The same offer is up already.'),
  ('wrong_category', 5, 'Filed where nobody looks for it', 'It is filed in a category that it does not belong to.'),
  ('personal_data', 6, 'Tells of somebody what they did not publish', 'It contains personal data of somebody else.'),
  ('adult_content', 7, 'Sexual content', 'It contains sexual content, which has no place here.'),
  ('minor_safety', 8, 'Endangers children or young people', 'It could endanger children or young people.'),
  ('hate', 9, 'Hatred of people for what they are', 'It insults people for what they are.'),
  ('counterfeit', 10, 'A fake of a brand', 'It offers a copy of a brand as if it were genuine.'),
  ('addresses_agents', 11, 'Gives orders to the software that reads it', 'It gives orders to the software that reads it. Describe only what is offered.'),
  ('other', 12, 'Anything else; the sentence says what', 'It does not keep the rules of the market.');

alter table market.reason enable row level security;
alter table market.reason force row level security;
create policy "the owner sees all" on market.reason to souk_owner using (true) with check (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.reason is 'One row is one reason: for a report, or for taking an offer or an account down.';
comment on column market.reason.code is 'The code that agents see.';
comment on column market.reason.rank is 'Its place in lists.';
comment on column market.reason.summary is 'What it means, for moderators.';
comment on column market.reason.sentence is 'What the owner reads when the moderator wrote nothing.';
