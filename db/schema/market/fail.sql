-- A refusal is an exception that src/problem.ts turns into a Problem: SQLSTATE PT + status, the code as message, the
-- sentence as detail, further members as JSON in the hint. Any other error is a bug, and answered as a 500.

create or replace function market.fail(status integer, code text, detail text, extra jsonb default '{}') returns void
  language plpgsql volatile
as $$
begin
  raise exception using
    errcode = 'PT' || fail.status,
    message = fail.code,
    detail = fail.detail,
    hint = fail.extra::text;
end
$$;
comment on function market.fail(integer, text, text, jsonb) is
  'Refuses the request: status and code of the contract, a sentence fit to be read aloud, and further members of the Problem (headers apart, under "headers").';
grant execute on function market.fail(integer, text, text, jsonb) to souk_api, souk_agent, souk_person, souk_moderator;
