-- Conversion between lexemes and tsquery.

create or replace function search.any_lexeme(lexemes text[], labels text default '') returns tsquery
  language plpgsql immutable
as $$
begin
  return (
    select string_agg('''' || replace(replace(l, '\', '\\'), '''', '''''') || '''' || labels, ' | ')::tsquery
    from unnest(lexemes) as l);
end
$$;
comment on function search.any_lexeme(text[], text) is
  'Returns a tsquery for any of the lexemes; `labels` limits where they may stand, such as '':A'' for titles.';

create or replace function search.lexemes_of(query tsquery) returns text[]
  language plpgsql immutable parallel safe
  -- A hundred times PostgreSQL's default for functions, so that the planner reads the value from an index and does not
  -- compute it.
  cost 10000
as $$
begin
  return case when query is null then array['*'] else array(
    select distinct regexp_replace(replace(m.lexeme[1], '''''', ''''), '\\(.)', '\1', 'g')
    from regexp_matches(query::text, '''((?:[^'']|'''')+)''', 'g') as m (lexeme)) end;
end
$$;
comment on function search.lexemes_of(tsquery) is
  'Returns the lexemes of a query, without its operators; {*} for no query.';
grant execute on function search.lexemes_of(tsquery) to souk_agent, souk_person;
