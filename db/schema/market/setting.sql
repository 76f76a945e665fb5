-- The operator's switches: one row a switch.

create table market.setting (
  name text constraint setting_pkey primary key,
  value jsonb not null,
  summary text not null,
  constraint setting_name_length check (char_length(name) between 1 and 60),
  constraint setting_summary_length check (char_length(summary) between 1 and 300)
);
comment on table market.setting is 'The operator''s switches, one row a switch; change a value with update.';
comment on column market.setting.name is 'The switch.';
comment on column market.setting.value is 'Its value.';
comment on column market.setting.summary is 'What it does.';

alter table market.setting enable row level security;
alter table market.setting force row level security;
create policy "the owner sees all" on market.setting to souk_owner using (true) with check (true);
create policy "everyone reads the switches" on market.setting for select to souk_agent, souk_person using (true);
grant select on market.setting to souk_agent, souk_person;

insert into market.setting (name, value, summary) values
  ('pre_moderation', 'false', 'When true, a new offer waits as pending_review until a moderator publishes it. What was published once stays so when it changes.'),
  ('embedding_model', '"builtin-hash-1"', 'The model in force: only its vectors are compared. Set by the worker at its start.');

create or replace function market.setting(name text) returns jsonb
  language plpgsql stable
as $$ begin return (select s.value from market.setting s where s.name = setting.name); end $$;
comment on function market.setting(text) is 'The value of a switch.';
grant execute on function market.setting(text) to souk_agent, souk_person;
