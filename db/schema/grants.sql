-- Each function of schema api is for the HTTP layer, and each of schema jobs for the worker. The rights on everything
-- else stand beside it.

grant execute on all functions in schema api to souk_api;
grant execute on all functions in schema jobs to souk_worker;
