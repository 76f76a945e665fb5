-- Ids are UUIDv7 (RFC 9562, 5.7): 48 bits of milliseconds, then random bits. PostgreSQL has uuidv7() only from 18 on.

create or replace function market.uuid_v7() returns uuid
  language sql volatile parallel safe
as $$
  select encode(
    set_bit(set_bit(
      overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6
      ), 52, 1), 53, 1),
    'hex')::uuid
$$;
comment on function market.uuid_v7() is 'A new UUIDv7: sorts by the time it was made.';
grant execute on function market.uuid_v7() to souk_agent, souk_person, souk_moderator;
