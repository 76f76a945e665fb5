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

create or replace function internal.site_of(network text) returns text
  language sql immutable
as $$
  select network(
    set_masklen(site_of.network::inet, case family(site_of.network::inet) when 4 then 24 else 48 end))::text
$$;
comment on function internal.site_of(text) is
  'Returns the site of a network (internal.network_of), within which one person easily changes the address: IPv4 /24, '
  'IPv6 /48. Used where addresses must be of different people.';

create or replace function internal.region_of(network text) returns text
  language sql immutable
as $$
  select network(
    set_masklen(region_of.network::inet, case family(region_of.network::inet) when 4 then 16 else 32 end))::text
$$;
comment on function internal.region_of(text) is
  'Returns the region of a network (internal.network_of), IPv4 /16 or IPv6 /32: about one provider, which gives a '
  'customer several sites. Used where the sites of one provider together must not keep all others out.';
