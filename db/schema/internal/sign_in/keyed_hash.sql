-- Keyed hashes: without the key, trying addresses or mailboxes does not reveal which one a hash belongs to.

create or replace function internal.hash_key() returns bytea
  language plpgsql volatile
as $$
begin
  if not exists (select from market.hash_key) then
    insert into market.hash_key default values on conflict do nothing;
  end if;
  return (select k.key from market.hash_key k);
end
$$;
comment on function internal.hash_key() is 'Returns the database''s own key. The first call makes it.';

create or replace function internal.keyed_hash(value bytea, key bytea) returns bytea
  language sql immutable
as $$ select sha256(keyed_hash.key || sha256(keyed_hash.key || keyed_hash.value)) $$;
comment on function internal.keyed_hash(bytea, bytea) is
  'Returns a SHA-256 that only a holder of the key can compute. The key has 32 bytes.';

create or replace function internal.mark_of(value text) returns text
  language plpgsql volatile
as $$
begin
  return left(encode(internal.keyed_hash(convert_to(mark_of.value, 'UTF8'), internal.hash_key()), 'hex'), 32);
end
$$;
comment on function internal.mark_of(text) is
  'Returns the first half of a hash by the database''s own key: a name for a value that nobody may find out by trying, '
  'such as a DBA, who sees the rate limit windows and the locks.';
