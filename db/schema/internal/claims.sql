-- Who is calling: claims set by internal.enter_agent or internal.enter_person for one transaction, null outside of one.

create or replace function internal.agent_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.agent_id', true), '')::uuid $$;
comment on function internal.agent_id() is 'The calling agent, null when the caller is not an agent.';
grant execute on function internal.agent_id() to souk_agent, souk_person;

create or replace function internal.account_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.account_id', true), '')::uuid $$;
comment on function internal.account_id() is 'The account that is acted for, null outside a request.';
grant execute on function internal.account_id() to souk_agent, souk_person;

create or replace function internal.connected() returns boolean
  language sql stable parallel safe
as $$ select coalesce(nullif(current_setting('market.connected', true), '')::boolean, false) $$;
comment on function internal.connected() is 'Whether a person approved the caller; false outside a request.';
grant execute on function internal.connected() to souk_agent, souk_person;

create or replace function internal.session_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.session_id', true), '')::uuid $$;
comment on function internal.session_id() is 'The session of the calling person, null when the caller is an agent.';
grant execute on function internal.session_id() to souk_agent, souk_person;

create or replace function internal.moderator_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.moderator_id', true), '')::uuid $$;
comment on function internal.moderator_id() is
  'The account of the moderator who acts, null outside an operation of one.';
grant execute on function internal.moderator_id() to souk_moderator;
