-- What was done in a person's name: the audit log, as far as it is about the account.

create or replace function api.list_activity("limit" integer, cursor text) returns jsonb
  language plpgsql stable
as $$ begin return internal.own_activity(list_activity.limit, list_activity.cursor); end $$;
comment on function api.list_activity(integer, text) is
  'What was done in the account in the last 12 months, newest first, and by which agent (null: the person, or whom by '
  'names: moderator, job, dba).';
grant execute on function api.list_activity(integer, text) to souk_api;
