-- An account's activity: the events of the audit log that are about the account.

create or replace function api.list_activity(page_size integer, cursor text) returns jsonb
  language plpgsql stable
as $$ begin return internal.own_activity(list_activity.page_size, list_activity.cursor); end $$;
comment on function api.list_activity(integer, text) is
  'Returns a page of the account''s activity of the last 12 months, newest first. Each event has the agent that acted. '
  'When agent is null, "by" names who acted: moderator, job or dba. Without "by", the person acted.';
