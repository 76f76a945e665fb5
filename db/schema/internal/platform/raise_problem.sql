-- A refusal is an exception that src/base/problem.ts turns into a Problem: the SQLSTATE is PT and the status, the
-- message is the code, the detail is the sentence, and the hint holds further members as JSON. Any other error is a
-- bug, and the answer is 500. The sentences are in market.sentence, and functions name them. Neither sentence nor
-- members contain personal data, because a server logs them where no superuser has granted what keeps refusals out of
-- its log.

create or replace function internal.sentence(name text, params jsonb default '{}') returns text
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  words text := coalesce((select s.words from market.sentence s where s.name = sentence.name), sentence.name);
  param record;
begin
  for param in select p.key, p.value from jsonb_each_text(sentence.params) as p loop
    words := replace(words, '{' || param.key || '}', coalesce(param.value, ''));
  end loop;
  return words;
end
$$;
comment on function internal.sentence(text, jsonb) is
  'Returns the sentence of this name with the values of its parameters. What is no name is a sentence already, such as '
  'one that the HTTP layer wrote, and is returned as it is.';
grant execute on function internal.sentence(text, jsonb) to souk_api, souk_agent, souk_person, souk_moderator;

create or replace function internal.next_step(sentence text, method text, path text, params jsonb default '{}')
  returns jsonb
  language sql stable
as $$
  select jsonb_build_object('summary', internal.sentence(sentence, params), 'method', next_step.method,
    'path', next_step.path)
$$;
comment on function internal.next_step(text, text, text, jsonb) is
  'Returns a call that the caller should make next, with the sentence of this name: {summary, method, path}.';
grant execute on function internal.next_step(text, text, text, jsonb) to souk_agent, souk_person;

create or replace function internal.raise_problem(
  status integer, code text, sentence text, params jsonb default '{}', extra jsonb default '{}'
) returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  noted constant jsonb := nullif(current_setting('market.headers', true), '')::jsonb;
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
    detail = internal.sentence(raise_problem.sentence, raise_problem.params),
    hint = (raise_problem.extra || case when noted is null then '{}'
      else jsonb_build_object('headers', noted || coalesce(raise_problem.extra -> 'headers', '{}')) end)::text;
end
$$;
comment on function internal.raise_problem(integer, text, text, jsonb, jsonb) is
  'Refuses the request with a status, a code and the sentence of this name, which can be read aloud. `extra` holds '
  'further members of the Problem, and response headers under "headers". The server does not log it.';
grant execute on function internal.raise_problem(integer, text, text, jsonb, jsonb)
  to souk_api, souk_agent, souk_person, souk_moderator;

create or replace function internal.raise_field_problems(errors jsonb, headers jsonb default '{}') returns void
  language plpgsql volatile
as $$
declare
  said constant jsonb := (
    select jsonb_agg(e - 'params'
        || jsonb_build_object('detail', internal.sentence(e ->> 'detail', coalesce(e -> 'params', '{}')))
      order by n)
    from jsonb_array_elements(raise_field_problems.errors) with ordinality as t (e, n));
begin
  perform internal.raise_problem(400, 'bad_request',
    case when jsonb_array_length(said) = 1 then said -> 0 ->> 'detail' else 'several_faults' end,
    jsonb_build_object('count', jsonb_array_length(said), 'faults', (
      select string_agg(e ->> 'detail', ' ' order by n) from jsonb_array_elements(said) with ordinality as t (e, n)
      where n <= 3)),
    jsonb_build_object('errors', said, 'headers', headers));
end
$$;
comment on function internal.raise_field_problems(jsonb, jsonb) is
  'Raises 400 bad_request with the given errors: [{pointer, detail, params}], where detail is the name of a sentence '
  'or a sentence.';
grant execute on function internal.raise_field_problems(jsonb, jsonb)
  to souk_api, souk_agent, souk_person, souk_moderator;
