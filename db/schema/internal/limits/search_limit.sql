-- Which searches are counted: those of agents that no person approved and of test agents, because anybody can have any
-- number of these, and those of an account for which a moderator set a limit. Approved agents are bounded by taking
-- turns (src/database/turns.ts), so their searches write nothing.

create or replace function internal.searches_freely() returns boolean
  language sql stable parallel safe
as $$ select internal.connected() and internal.sandbox_id() is null $$;
comment on function internal.searches_freely() is
  'Whether the searches of the caller are not counted, unless a moderator set a limit: a person, or an agent that a '
  'person approved.';
grant execute on function internal.searches_freely() to souk_agent, souk_person;

create or replace function internal.enter_search() returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  own record;
begin
  if internal.searches_freely() and not exists (
    select from market.cap_override o where o.account_id = internal.account_id() and o.action = 'search_offers') then
    return false;
  elsif current_setting('default_transaction_read_only')::boolean and not pg_is_in_recovery() then
    -- Nothing can be counted in a database that an operator set to read-only, and searches are answered all the same.
    return false;
  elsif current_setting('transaction_read_only')::boolean then
    -- The API then repeats the call where it can be counted (src/database/database.ts).
    raise read_only_sql_transaction using message = 'This search has to be counted.';
  end if;
  own := internal.own_window('search_offers');
  perform internal.note_headers(
    internal.rate_limit_headers(internal.require_slot(own.scope, 'search_offers', own.cap)));
  return true;
end
$$;
comment on function internal.enter_search() is
  'Returns whether the caller''s search has to be counted (internal.count_search). Raises 429 when those of this hour '
  'are used, so that refusing costs little; and read_only_sql_transaction when the transaction could not count it.';
grant execute on function internal.enter_search() to souk_agent, souk_person;

create or replace function internal.count_search() returns void
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- The lock of the window lasts until the transaction ends. So it is taken when the answer is made: searches of one
  -- agent must not hold connections while they wait for each other.
  perform internal.note_headers(internal.admit('search_offers', null, null, '[]') -> 'headers');
exception when disk_full then
  -- Searches are answered on a full disk, too.
  null;
end
$$;
comment on function internal.count_search() is
  'Counts a search that has found its answer. Raises 429 when parallel searches have used the hour meanwhile.';
grant execute on function internal.count_search() to souk_agent, souk_person;
