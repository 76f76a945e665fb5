-- An answer must be on the disk before its caller gets it. Most commits do not wait for a flush: neither the worker's
-- (logins.sql), nor the admission of a text, which has no answer yet. PostgreSQL lets transactions with notifications
-- commit one after the other, so all would wait for each flush. So only a transaction that answers flushes.

create or replace function internal.make_durable() returns void
  language plpgsql volatile
as $$
begin
  -- What a standby shows is on its disk.
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
