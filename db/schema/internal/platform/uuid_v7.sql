-- Ids are UUIDv7 (RFC 9562, section 5.7): 48 bits of milliseconds, then random bits. PostgreSQL has uuidv7() only since
-- version 18.

create or replace function internal.uuid_v7() returns uuid
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
comment on function internal.uuid_v7() is 'Returns a new UUIDv7, which sorts by the time of its creation.';
grant execute on function internal.uuid_v7() to souk_agent, souk_person, souk_moderator;

create or replace function internal.first_uuid_v7(moment timestamptz) returns uuid
  language sql stable parallel safe
as $$
  -- The moment is clamped to the range of 48 bits of milliseconds, which is from 1970 to the year 10889.
  select rpad(lpad(to_hex((extract(epoch from least(greatest(moment, 'epoch'), '9999-12-31')) * 1000)::bigint), 12,
    '0'), 32, '0')::uuid
$$;
comment on function internal.first_uuid_v7(timestamptz) is
  'Returns the lowest UUIDv7 of a millisecond. It sorts before every id made in this millisecond or later, and after '
  'every id made earlier.';
grant execute on function internal.first_uuid_v7(timestamptz) to souk_agent, souk_person, souk_moderator, souk_dba;
