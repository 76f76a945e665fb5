-- Which addresses count as one.

create or replace function internal.network_of(address text) returns text
  language sql immutable
as $$
  -- An IPv6 customer has a /64 at least, so that is one address; IPv4 in IPv6 clothes is IPv4.
  select case when family(a.address) = 4 then host(a.address)
    else network(set_masklen(a.address, 64))::text end
  -- PostgreSQL writes every IPv4-mapped address with dots, however it came.
  from (select regexp_replace(host(regexp_replace(network_of.address, '%.*$', '')::inet), '^::ffff:(?=\d+\.)', '')::inet
    as address) as a
$$;
comment on function internal.network_of(text) is 'The network that counts as one address: IPv4 /32, IPv6 /64.';
