-- The operator's switches: one row a switch.

create table market.setting (
  name text constraint setting_pkey primary key,
  value jsonb not null,
  summary text not null,
  least integer,
  most integer,
  changed_by uuid,
  changed_at timestamptz,
  origin text not null default 'operator',
  constraint setting_name_length check (char_length(name) between 1 and 60),
  constraint setting_summary_length check (char_length(summary) between 1 and 300),
  constraint setting_bounds check ((least is null) = (most is null) and least <= most),
  constraint setting_within_bounds
    check (jsonb_typeof(value) <> 'number' or least is null or value::numeric between least and most),
  constraint setting_origin_known check (origin in ('shipped', 'operator'))
);

alter table market.setting enable row level security;
alter table market.setting force row level security;
create policy "the owner sees all" on market.setting to souk_owner using (true) with check (true);
create policy "everyone reads the switches" on market.setting for select to souk_agent, souk_person using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table market.setting is 'The operator''s switches, one row a switch; change a value with update.';
comment on column market.setting.name is 'The switch.';
comment on column market.setting.value is 'Its value.';
comment on column market.setting.summary is 'What it does.';
comment on column market.setting.least is 'The least that a moderator may set a number to.';
comment on column market.setting.most is 'The most that a moderator may set a number to.';
comment on column market.setting.changed_by is
  'The moderator who changed it last; null when it was changed in SQL, or never.';
comment on column market.setting.changed_at is 'When a moderator changed it last.';
comment on column market.setting.origin is
  'shipped: an upgrade may change the row. operator: somebody added or changed it here, and upgrades leave it.';
grant select (name, value, summary) on market.setting to souk_agent, souk_person;
