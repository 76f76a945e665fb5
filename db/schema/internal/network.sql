-- Which network addresses count as one address.

create or replace function internal.network_of(address text) returns text
  language sql immutable
as $$
  -- An internet provider gives each IPv6 customer at least a /64, so a /64 counts as one address. An IPv4-mapped IPv6
  -- address counts as its IPv4 address.
  select case when family(a.address) = 4 then host(a.address)
    else network(set_masklen(a.address, 64))::text end
  -- PostgreSQL prints every IPv4-mapped address in dotted form, whatever the input looked like.
  from (select regexp_replace(host(regexp_replace(network_of.address, '%.*$', '')::inet), '^::ffff:(?=\d+\.)', '')::inet
    as address) as a
$$;
comment on function internal.network_of(text) is
  'Returns the network of an address that counts as one address: IPv4 /32, IPv6 /64.';
