-- What is wrong with a report of an offer.

create or replace function internal.report_reasons() returns jsonb
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select jsonb_agg(jsonb_build_object('code', r.code, 'summary', r.summary) order by r.rank)
  from market.reason r where internal.account_id() is not null
$$;
comment on function internal.report_reasons() is
  'Returns what a person can choose from in a report: [{code, summary}].';
grant execute on function internal.report_reasons() to souk_agent, souk_person;

create or replace function internal.report_errors(reason text, comment text) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select coalesce(jsonb_agg(e), '[]') from (
    select jsonb_build_object('pointer', '/reason', 'detail', 'report_reason_missing') as e
    where not exists (select from market.reason r where r.code = report_errors.reason)
    union all
    select jsonb_build_object('pointer', '/comment', 'detail', 'comment_too_long')
    where char_length(report_errors.comment) > 1000) as errors);
end
$$;
comment on function internal.report_errors(text, text) is
  'Returns what is wrong with a report: [{pointer, detail}]. Runs as its owner, because callers cannot read the '
  'reasons.';
grant execute on function internal.report_errors(text, text) to souk_agent, souk_person;
