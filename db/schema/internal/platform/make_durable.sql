-- What a caller gets as an answer must be on the disk. Most commits are not flushed one by one: not those of the worker
-- (logins.sql), nor the admission of a text, which nobody has an answer to yet. PostgreSQL lets transactions that
-- notify somebody commit one after the other, and would have all wait for each flush. So who tells somebody something
-- flushes.

create or replace function internal.make_durable() returns void
  language plpgsql volatile
as $$
begin
  -- A standby has on its disk what it shows.
  if not pg_is_in_recovery() then
    if current_setting('synchronous_commit') = 'off' then
      perform set_config('synchronous_commit', 'on', true);
    end if;
    -- A transaction that has written nothing is not flushed, so it writes a message that nobody reads.
    perform pg_logical_emit_message(true, 'souk', '');
  end if;
end
$$;
comment on function internal.make_durable() is
  'Makes the commit of this transaction wait until the disk has it, and with it everything that was committed before. '
  'Call it in a transaction that tells a caller or receiver what another transaction did.';
grant execute on function internal.make_durable() to souk_agent, souk_person;
