create table market.setting (
  name text constraint setting_pkey primary key,
  value jsonb not null,
  summary text not null,
  min integer,
  max integer,
  choices text[],
  changed_by uuid,
  changed_at timestamptz,
  origin text not null default 'operator',
  constraint setting_name_length check (char_length(name) between 1 and 60),
  constraint setting_summary_length check (char_length(summary) between 1 and 300),
  constraint setting_bounds check ((min is null) = (max is null) and min <= max),
  constraint setting_is_a_choice check (value #>> '{}' = any (choices)),
  constraint setting_within_bounds
    check (jsonb_typeof(value) <> 'number' or min is null or value::numeric between min and max),
  constraint setting_origin_known check (origin in ('shipped', 'operator'))
);

create policy "everyone reads the settings" on market.setting for select to souk_agent, souk_person using (true);

comment on table market.setting is 'One row is one setting of the operator. Change its value with update.';
comment on column market.setting.min is
  'The smallest number that a moderator may set; null for settings that are not numbers.';
comment on column market.setting.max is
  'The largest number that a moderator may set; null for settings that are not numbers.';
comment on column market.setting.choices is 'The words of which a moderator may set one; null for other settings.';
comment on column market.setting.changed_by is
  'The moderator who last changed the setting; null when no moderator did.';
grant select (name, value, summary) on market.setting to souk_agent, souk_person;
