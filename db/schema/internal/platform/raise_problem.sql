-- A refusal is an exception that src/base/problem.ts turns into a Problem: the SQLSTATE is PT and the status, the
-- message is the code, the detail is the sentence, and the hint holds further members as JSON. Any other error is a
-- bug, and the answer is 500. Neither sentence nor members contain personal data, because a server logs them where no
-- superuser has granted what keeps refusals out of its log.

create or replace function internal.raise_problem(status integer, code text, detail text, extra jsonb default '{}')
  returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- PostgreSQL would log each refusal as an error, with all of it, and callers can make as many as they like. The
  -- setting ends with the transaction, as everything that the refused call has done. Only souk_owner has this right
  -- (logins.sql), so callers cannot hide other errors.
  if has_parameter_privilege('log_min_messages', 'set') then
    perform set_config('log_min_messages', 'fatal', true);
  end if;
  raise exception using
    errcode = 'PT' || raise_problem.status,
    message = raise_problem.code,
    detail = raise_problem.detail,
    hint = raise_problem.extra::text;
end
$$;
comment on function internal.raise_problem(integer, text, text, jsonb) is
  'Refuses the request with a status, a code and a sentence suitable to be read aloud. `extra` holds further members '
  'of the Problem, and response headers under "headers". The server does not log it.';
grant execute on function internal.raise_problem(integer, text, text, jsonb)
  to souk_api, souk_agent, souk_person, souk_moderator;

create or replace function internal.raise_field_problems(errors jsonb, headers jsonb default '{}') returns void
  language plpgsql volatile
as $$
begin
  perform internal.raise_problem(400, 'bad_request',
    case when jsonb_array_length(errors) = 1 then errors -> 0 ->> 'detail'
      else format('%s members of the request need fixing: %s', jsonb_array_length(errors),
        (select string_agg(e ->> 'detail', ' ') from jsonb_array_elements(errors) with ordinality as t (e, n)
          where n <= 3)) end,
    jsonb_build_object('errors', errors, 'headers', headers));
end
$$;
comment on function internal.raise_field_problems(jsonb, jsonb) is
  'Raises 400 bad_request with the given errors: [{pointer, detail}].';
grant execute on function internal.raise_field_problems(jsonb, jsonb)
  to souk_api, souk_agent, souk_person, souk_moderator;
