-- The settings that moderators may change.

create or replace view admin.setting with (security_invoker) as
  select s.name, s.value, s.summary, s.min, s.max, s.choices, s.changed_by, s.changed_at
  from market.setting s
  where jsonb_typeof(s.value) = 'boolean' or s.min is not null or s.choices is not null;
comment on view admin.setting is
  E'@primaryKey name\n@foreignKey (changed_by) references admin.moderator (account_id)|@fieldName changer|@behavior '
  '-backwards\nA setting: a switch, a number within bounds, or one of some words.';
select internal.copy_comments('admin.setting', 'market.setting');
comment on column admin.setting.value is 'true or false, a whole number, or one of the choices.';
comment on column admin.setting.min is 'The smallest allowed number; null for other settings.';
comment on column admin.setting.max is 'The largest allowed number; null for other settings.';
comment on column admin.setting.choices is 'The allowed words; null for other settings.';
grant select on admin.setting to souk_moderator;

create or replace function admin.change_setting(name text, value jsonb, expected_value jsonb) returns admin.setting
  language plpgsql volatile
as $$
declare
  setting market.setting;
begin
  perform internal.require_moderator_sign_in();
  select * into setting from market.setting s where s.name = change_setting.name and exists (
    select from admin.setting a where a.name = s.name) for no key update;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_setting');
  elsif setting.value is distinct from change_setting.expected_value then
    perform internal.raise_problem(409, 'invalid_state', 'setting_changed', jsonb_build_object('value', setting.value));
  elsif setting.choices is not null and (change_setting.value #>> '{}' = any (setting.choices)) is not true then
    perform internal.raise_problem(400, 'bad_request', 'setting_no_choice',
      jsonb_build_object('choices', array_to_string(setting.choices, ', ')));
  elsif jsonb_typeof(change_setting.value) is distinct from jsonb_typeof(setting.value) then
    perform internal.raise_problem(400, 'bad_request', case jsonb_typeof(setting.value)
      when 'boolean' then 'setting_is_boolean' else 'setting_is_number' end);
  elsif setting.min is not null and (change_setting.value::numeric not between setting.min and setting.max
    or change_setting.value::numeric % 1 <> 0) then
    perform internal.raise_problem(400, 'bad_request',
      'setting_out_of_range', jsonb_build_object('min', setting.min, 'max', setting.max));
  end if;
  update market.setting s set value = change_setting.value, changed_by = internal.moderator_id(), changed_at = now()
  where s.name = setting.name;
  return (select s from admin.setting s where s.name = setting.name);
end
$$;
comment on function admin.change_setting(text, jsonb, jsonb) is
  'Changes a setting. Raises 409 when it no longer has the value that you saw, and 400 when the new value is not '
  'allowed.';
grant execute on function admin.change_setting(text, jsonb, jsonb) to souk_moderator;
