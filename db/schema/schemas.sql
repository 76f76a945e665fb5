-- The schemas: what each is for, and which roles may use it. Rights on an object are granted beside the object.
-- graphile-worker creates its schema itself (queue.sql).

create schema market;
create schema internal;
create schema reading;
create schema search;
create schema api;
create schema jobs;
create schema admin;
create schema inspect;
create schema graphile_migrate;

comment on schema market is 'The tables of the market: structure, constraints, policies and triggers.';
comment on schema internal is
  'Functions that other functions share: claims, problems, locks, settings, rate limits, the audit log.';
comment on schema reading is
  'What the extractor knows (words, places, examples), and the grounding: which parts of an extraction the text '
  'states.';
comment on schema search is 'Search and matching: query terms, filters, candidates, ranking.';
comment on schema api is 'One function for each endpoint. The HTTP layer may call these functions and nothing else.';
comment on schema jobs is
  'Functions that the worker may call. Every function is idempotent, since jobs run at least once.';
comment on schema admin is
  'Views and functions for moderators. Their GraphQL shows this schema with these comments, except for what only pages '
  'call (pages.sql).';
comment on schema inspect is
  'For people who investigate an incident: each view answers one question with one select, and inspect.check() checks '
  'the invariants.';

-- The pages of moderators are called by the same login (admin/pages.sql).
grant usage on schema api, admin, internal to souk_api;
grant usage on schema api, internal, reading, search, market to souk_agent, souk_person;
grant usage on schema admin, internal, reading, search, market to souk_moderator;
grant usage on schema jobs to souk_worker;
grant usage on schema inspect, internal, reading, search, market to souk_dba;
-- Only for inspect.state(), the figures of /metrics.
grant usage on schema inspect to souk_api, souk_worker;
