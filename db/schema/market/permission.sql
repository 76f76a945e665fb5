create table market.permission (
  permission text constraint permission_pkey primary key,
  needs_approval boolean not null,
  writes boolean not null,
  summary text not null,
  detail text not null,
  origin text not null default 'operator',
  needs_method boolean not null default false,
  power text,
  constraint permission_form check (permission ~ '^[a-z_]{1,40}$'),
  constraint permission_length check (char_length(permission) <= 40),
  constraint permission_summary_length check (char_length(summary) between 1 and 300),
  constraint permission_detail_length check (char_length(detail) between 1 and 500),
  constraint permission_power_known check (power in ('publish', 'ask', 'converse', 'agree')),
  constraint permission_origin_known check (origin in ('shipped', 'operator'))
);

create policy "everyone reads the permissions" on market.permission for select to souk_agent, souk_person using (true);

comment on table market.permission is
  'One row is one permission, as GET /v1/me lists them: what it requires, and what a caller without it reads.';
comment on column market.permission.needs_approval is
  'Whether an agent gets the permission only when a person approves the agent.';
comment on column market.permission.writes is
  'Whether the permission is to change something. It is then refused while the account is suspended.';
comment on column market.permission.summary is 'The summary in GET /v1/me for an agent that nobody has approved.';
comment on column market.permission.detail is
  'The detail of the problem when an agent that nobody has approved calls an endpoint that needs the permission.';
comment on column market.permission.needs_method is
  'Whether a person in the browser gets the permission only when the account has proved a sign-in method. Calls with a '
  'session have no hourly limit, so without this rule a script could approve its own agent and go on with the session.';
comment on column market.permission.power is
  'The power that an agent needs (market.power); null for a permission that no person can take away.';
grant select on market.permission to souk_agent, souk_person, souk_dba;
