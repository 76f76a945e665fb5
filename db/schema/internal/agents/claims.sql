-- The caller's claims. internal.enter_agent, enter_person and enter_moderator set them for one transaction. Without
-- these calls the claims are null.

create or replace function internal.agent_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.agent_id', true), '')::uuid $$;
comment on function internal.agent_id() is 'The id of the calling agent; null when the caller is not an agent.';
grant execute on function internal.agent_id() to souk_agent, souk_person;

create or replace function internal.account_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.account_id', true), '')::uuid $$;
comment on function internal.account_id() is 'The id of the account that the caller acts for; null outside a request.';
grant execute on function internal.account_id() to souk_agent, souk_person;

create or replace function internal.visible_account_id() returns uuid
  language sql stable parallel safe
as $$
  select case when current_setting('market.disconnected', true) is distinct from 'true' then internal.account_id() end
$$;
comment on function internal.visible_account_id() is
  'The id of the account whose rows the caller may read: the one that it acts for; null outside a request, and for an '
  'agent of a claimed account that the person has not approved: policies compare with this, so it reads nothing.';
grant execute on function internal.visible_account_id() to souk_agent, souk_person;

create or replace function internal.connected() returns boolean
  language sql stable parallel safe
as $$ select coalesce(nullif(current_setting('market.connected', true), '')::boolean, false) $$;
comment on function internal.connected() is 'Whether a person has approved the caller; false outside a request.';
grant execute on function internal.connected() to souk_agent, souk_person;

create or replace function internal.sandbox_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.sandbox_id', true), '')::uuid $$;
comment on function internal.sandbox_id() is
  'The sandbox of the calling test agent; null for every other caller, and outside a request.';
grant execute on function internal.sandbox_id() to souk_agent, souk_person;

-- The API calls it in the statement of the request, whose rights are checked before the caller has entered.
create or replace function internal.turns() returns text
  language plpgsql stable parallel safe security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when coalesce(current_setting('market.session_id', true), '') = ''
      and (not internal.connected() or internal.sandbox_id() is not null) then 'shared'
    when exists (select from market.proved_method m where m.account_id = internal.account_id())
      or exists (select from market.moderator m where m.account_id = internal.account_id()) then 'own'
    else 'unproved' end;
end
$$;
comment on function internal.turns() is
  'Whose turns the caller takes in fair use. own: its own, as a person who proved a sign-in method or is a moderator, '
  'or an agent that such a person approved. unproved: its own, while few of its site do, as every other person and '
  'approved agent; a script can approve its own agents in browsers of its own. shared: those of its site, as agents '
  'that nobody approved and test agents, of which anybody can have any number (src/database/callers.ts).';
grant execute on function internal.turns() to souk_api, souk_agent;

create or replace function internal.session_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.session_id', true), '')::uuid $$;
comment on function internal.session_id() is
  'The id of the calling person''s session; null when the caller is an agent.';
grant execute on function internal.session_id() to souk_agent, souk_person;

create or replace function internal.moderator_id() returns uuid
  language sql stable parallel safe
as $$ select nullif(current_setting('market.moderator_id', true), '')::uuid $$;
comment on function internal.moderator_id() is
  'The account id of the calling moderator; null outside a moderator''s operation.';
grant execute on function internal.moderator_id() to souk_moderator;
