-- For a request whose body cannot be parsed. The API reports a missing token or permission before it reports the error
-- in the body, and the response needs the rate limit headers. Only such requests execute this extra statement.

create or replace function api.check_call(permission text, action text) returns jsonb
  language plpgsql volatile
as $$
declare
  headers jsonb := case when check_call.action is null then '{}'
    else internal.rate_limit_headers(internal.own_usage(check_call.action)) end;
begin
  if check_call.permission is not null then
    perform internal.require_permission(check_call.permission, headers);
  elsif check_call.action = 'preview_offer' then
    perform internal.require_method('publish_offer', headers);
  end if;
  return headers;
end
$$;
comment on function api.check_call(text, text) is
  'Returns the rate limit headers for a refusal of this action. Raises 403 when the caller lacks the permission, and '
  '409 when it writes and the account is suspended.';
