-- A refusal is an exception that src/problem.ts turns into a Problem: SQLSTATE PT + status, the code as message, the
-- sentence as detail, further members as JSON in the hint. Any other error is a bug, and answered as a 500.

create or replace function internal.raise_problem(status integer, code text, detail text, extra jsonb default '{}')
  returns void
  language plpgsql volatile
as $$
begin
  raise exception using
    errcode = 'PT' || raise_problem.status,
    message = raise_problem.code,
    detail = raise_problem.detail,
    hint = raise_problem.extra::text;
end
$$;
comment on function internal.raise_problem(integer, text, text, jsonb) is
  'Refuses the request: status and code of the contract, a sentence fit to be read aloud, and further members of the '
  'Problem (headers apart, under "headers").';
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
  'Refuses with 400 bad_request and the given errors: [{pointer, detail}].';
grant execute on function internal.raise_field_problems(jsonb, jsonb) to souk_api, souk_agent, souk_person;
