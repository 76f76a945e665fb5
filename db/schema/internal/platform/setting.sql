-- The operator's settings (market.setting).

create or replace function internal.setting(name text) returns jsonb
  language plpgsql stable
as $$ begin return (select s.value from market.setting s where s.name = setting.name); end $$;
comment on function internal.setting(text) is 'Returns the value of a setting; null when there is no such setting.';
grant execute on function internal.setting(text) to souk_agent, souk_person, souk_dba, souk_moderator;
