-- Triggers on the tables that people and moderators change (market/audit_triggers.sql) write the audit log with this
-- function.

create or replace function internal.audit() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was jsonb := case when tg_op in ('UPDATE', 'DELETE') then to_jsonb(old) end;
  becomes jsonb := case when tg_op in ('INSERT', 'UPDATE') then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end,
    case when tg_table_name = 'power' then (
      select a.account_id from market.agent a where a.id = (becomes ->> 'agent_id')::uuid)::text end)::uuid;
  login text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  -- In sessions of these roles, the service sets the claims when it enters a request or a job. In sessions of other
  -- roles, somebody may have set the claims by hand, so they are ignored.
  entered boolean := login in ('souk_api', 'souk_agent', 'souk_person', 'souk_moderator', 'souk_worker');
  moderator uuid := case when entered then nullif(current_setting('market.moderator_id', true), '')::uuid end;
  agent uuid := case
    -- There are no claims yet, because an agent is creating itself.
    when login = 'souk_api' and tg_table_name = 'agent' and tg_op = 'INSERT' then (becomes ->> 'id')::uuid
    when entered then internal.agent_id() end;
  account uuid := coalesce(moderator, case when entered then internal.account_id() end);
  actor text;
  before jsonb;
  after jsonb;
  -- A change of only these columns is not logged, because no person or agent decided it: updated_at is the time of a
  -- change, internal.mark_standing sets hiding, internal.resume_record sets prior_removals, jobs.refresh_concepts sets
  -- concepts, jobs.age_offers sets stale_at, api.note_uses sets used_at, and access tokens of OAuth are replaced
  -- without a decision.
  derived constant text[] := array['updated_at', 'hiding', 'prior_removals', 'concepts', 'stale_at', 'token_hash',
    'token_expires_at', 'used_at'];
begin
  -- Sandboxes are not logged: a sandbox is deleted after a day, and nobody can claim anything from it.
  if coalesce(becomes ->> 'sandbox_id', was ->> 'sandbox_id') is not null or internal.sandbox_id() is not null then
    return null;
  end if;
  if was - derived = becomes - derived then
    return null;
  end if;
  actor := case
    when moderator is not null then 'moderator'
    when agent is not null then 'agent'
    when account is not null then 'person'
    when login = 'souk_worker' then 'job'
    -- There are no claims, because a person acts by the secret of a link and not by a session.
    when login = 'souk_api' then 'person'
    else 'dba' end;
  select jsonb_object_agg(c.name, was -> c.name), jsonb_object_agg(c.name, becomes -> c.name) into before, after
  from unnest(tg_argv[1:]) as c (name) where coalesce(was -> c.name, 'null') <> coalesce(becomes -> c.name, 'null');
  insert into market.audit_event (actor_type, account_id, agent_id, sql_role, action, table_name, row_id,
    subject_account_id, before, after, request_id)
  values (actor, case when login = 'souk_api' then coalesce(account, subject) else account end, agent,
    case actor when 'dba' then session_user else login end,
    replace(tg_argv[0], '{status}', coalesce(becomes ->> 'status', '')),
    tg_table_name,
    case when tg_op = 'TRUNCATE' then 'all' else
      coalesce(becomes ->> 'id', was ->> 'id', becomes ->> 'method', was ->> 'method', becomes ->> 'name',
        was ->> 'name',
        becomes ->> 'action', was ->> 'action', becomes ->> 'offer_id', was ->> 'offer_id',
        case when tg_table_name = 'power' then becomes ->> 'agent_id' end, subject::text) end,
    subject,
    case when was is not null then before end, case when becomes is not null then after end,
    case when actor <> 'dba' then nullif(current_setting('market.request_id', true), '') end);
  return null;
end
$$;
comment on function internal.audit() is
  'Writes one change into the audit log. The trigger''s arguments are the action, and the columns whose values the log '
  'may hold. A column with text that a person wrote must never be among them.';
