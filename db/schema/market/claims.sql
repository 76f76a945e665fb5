-- Who is calling: claims set by market.enter_agent or market.enter_person for one transaction, null outside of one.

create or replace function market.agent_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.agent_id', true), '')::uuid $$;
comment on function market.agent_id() is 'The calling agent, null when the caller is not an agent.';

create or replace function market.account_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.account_id', true), '')::uuid $$;
comment on function market.account_id() is 'The account that is acted for, null outside a request.';

create or replace function market.connected() returns boolean
  language sql stable parallel safe
as $$ select coalesce(nullif(current_setting('market.connected', true), '')::boolean, false) $$;
comment on function market.connected() is 'Whether a person approved the caller; false outside a request.';

create or replace function market.session_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.session_id', true), '')::uuid $$;
comment on function market.session_id() is 'The session of the calling person, null when the caller is an agent.';

grant execute on function market.agent_id(), market.account_id(), market.connected(), market.session_id() to souk_agent, souk_person;
