-- How people say what they want: texts by which the built-in reader learns to tell the kinds of ask apart, and the kinds of
-- work. What single words say stands in market.vocabulary; here it is the turn of the sentence ("two strong people and a
-- truck, Saturday").

create table market.ask_example (
  id bigint generated always as identity constraint ask_example_pkey primary key,
  ask_kind text not null,
  category text,
  text text not null constraint ask_example_text_key unique,
  constraint ask_example_kind_fkey foreign key (ask_kind) references market.ask_kind on delete cascade,
  constraint ask_example_kind_length check (char_length(ask_kind) <= 40),
  constraint ask_example_category_form check (category ~ '^[a-z_]{1,40}/[a-z_]{1,40}$'),
  constraint ask_example_category_length check (char_length(category) <= 81),
  constraint ask_example_text_length check (char_length(text) between 8 and 400)
);
create index ask_example_kind_idx on market.ask_example (ask_kind);
comment on table market.ask_example is
  'One row is one text and the kind of ask it is. The built-in reader learns from all of them at its start and within a minute of a change; add what it got wrong, in several wordings and about several things.';
comment on column market.ask_example.id is 'Tells rows apart.';
comment on column market.ask_example.ask_kind is 'What its author wants.';
comment on column market.ask_example.category is 'Of works and of company: DOMAIN/CATEGORY under which an offer that answers is filed; null to teach the kind alone.';
comment on column market.ask_example.text is 'The ask, as somebody would write it; nobody real, and no contact.';

alter table market.ask_example enable row level security;
alter table market.ask_example force row level security;
create policy "the owner sees all" on market.ask_example to souk_owner using (true) with check (true);
create trigger note_change after insert or update or delete or truncate on market.ask_example
  for each statement execute function market.note_vocabulary_change();
