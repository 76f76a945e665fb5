-- A request whose body could not be parsed still learns first what stands in its way: who it is, whether it may, and
-- its figures. Only such a request costs this statement.

create or replace function api.check_call(permission text, action text) returns jsonb
  language plpgsql volatile
as $$
declare
  headers jsonb := case when check_call.action is null then '{}'
    else internal.rate_limit_headers(internal.own_usage(check_call.action)) end;
begin
  if check_call.permission is not null then
    perform internal.require_permission(check_call.permission, headers);
  end if;
  return headers;
end
$$;
comment on function api.check_call(text, text) is
  'The headers that a refusal of this action carries; 403 when the permission is missing.';
grant execute on function api.check_call(text, text) to souk_api;
