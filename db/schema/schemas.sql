-- What each schema is for, and who may name its objects; what may be done with them stands beside each.

comment on schema market is 'The tables of the market: structure, constraints, policies and triggers.';
comment on schema internal is 'What functions share: claims, problems, locks, settings, limits, the audit log.';
comment on schema reading is
  'What the extractor knows (words, places, examples), and what of an extraction a text states.';
comment on schema search is 'Finding and matching: query terms, filters, candidates, ranking.';
comment on schema api is 'One function an endpoint: what the HTTP layer may call, and nothing else.';
comment on schema jobs is 'What the worker may call. Every function is idempotent, since jobs run at least once.';
comment on schema admin is
  'What moderators see and decide, in their words: exactly what the GraphQL under /admin shows.';
comment on schema inspect is
  'For whoever has to find out what is wrong: views that answer a question of an incident in one select, and '
  'inspect.check().';

grant usage on schema api, internal to souk_api;
grant usage on schema api, internal, reading, search, market to souk_agent, souk_person;
grant usage on schema admin, internal, reading, search, market to souk_moderator;
grant usage on schema jobs to souk_worker;
grant usage on schema inspect, internal, reading, search, market to souk_dba;
-- For inspect.state() alone, the figures of /metrics.
grant usage on schema inspect to souk_api, souk_worker;
