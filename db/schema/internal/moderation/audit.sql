-- Triggers on the tables that people and moderators change (market/audit_triggers.sql) write the audit log with this
-- function.

create or replace function internal.audit() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was jsonb := case when tg_op in ('UPDATE', 'DELETE') then to_jsonb(old) end;
  becomes jsonb := case when tg_op in ('INSERT', 'UPDATE') then to_jsonb(new) end;
  subject uuid := coalesce(becomes ->> 'account_id', was ->> 'account_id',
    case when tg_table_name = 'account' then coalesce(becomes ->> 'id', was ->> 'id') end)::uuid;
  status text := case when tg_op = 'INSERT' or was -> 'status' <> becomes -> 'status' then becomes ->> 'status' end;
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
  -- change, internal.apply_standing sets hiding, internal.resume_record sets prior_removals, jobs.refresh_concepts sets
  -- concepts, search is generated from concepts, jobs.build_documents sets document, facets, the place in metadata and
  -- what follows from it, jobs.age_offers sets stale_at, and the access tokens of OAuth take turns by themselves.
  derived constant text[] := array['updated_at', 'hiding', 'prior_removals', 'concepts', 'search', 'document', 'facets',
    'facet_values', 'metadata', 'latitude', 'longitude', 'stale_at', 'token_hash', 'token_expires_at'];
begin
  -- Sandboxes are not logged: all of a sandbox is gone after a day, and nobody has a right in it.
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
  from unnest(tg_argv) as c (name) where coalesce(was -> c.name, 'null') <> coalesce(becomes -> c.name, 'null');
  insert into market.audit_event (actor_type, account_id, agent_id, sql_role, action, table_name, row_id,
    subject_account_id, before, after, request_id)
  values (actor, case when login = 'souk_api' then coalesce(account, subject) else account end, agent,
    case actor when 'dba' then session_user else login end,
    case
      when tg_op = 'TRUNCATE' then tg_table_name || '.truncated'
      -- Only the approval of a change gives an offer another text or other images in a moderator's name.
      when tg_table_name = 'offer' and tg_op = 'UPDATE' and moderator is not null
        and (was -> 'text', was -> 'images') <> (becomes -> 'text', becomes -> 'images') then 'offer.change_published'
      when tg_table_name = 'offer_change' and tg_op = 'UPDATE' then 'offer_change.rejected'
      when tg_table_name = 'offer' and status = 'published' and was ->> 'status' = 'removed' then 'offer.restored'
      when tg_table_name = 'offer' and status is not null then 'offer.' || status
      when tg_table_name = 'offer' and not (was ->> 'reviewed')::boolean
        and (becomes ->> 'reviewed')::boolean then 'offer.kept'
      when tg_table_name = 'offer' and was -> 'confirmed_at' <> becomes -> 'confirmed_at'
        and (was -> 'text', was -> 'images') = (becomes -> 'text', becomes -> 'images') then 'offer.confirmed'
      when tg_table_name = 'ask' and tg_op = 'UPDATE' and status is not null
        then 'ask.' || case status when 'active' then 'reopened' else status end
      when tg_table_name = 'agent' and was ->> 'removed_at' is null
        and becomes ->> 'removed_at' is not null then 'agent.removed'
      when tg_table_name = 'agent' and was ->> 'connected_at' is null
        and becomes ->> 'connected_at' is not null then 'agent.connected'
      when tg_table_name = 'agent' and was ->> 'disconnected_at' is null
        and becomes ->> 'disconnected_at' is not null then 'agent.disconnected'
      when tg_table_name = 'account' and was -> 'recovered_at' <> becomes -> 'recovered_at' then 'account.recovered'
      when tg_table_name = 'account' and was ->> 'suspended_at' is null
        and becomes ->> 'suspended_at' is not null then 'account.suspended'
      when tg_table_name = 'account' and was ->> 'suspended_at' is not null
        and becomes ->> 'suspended_at' is null then 'account.reinstated'
      when tg_table_name = 'account' and was ->> 'claimed_at' is null
        and becomes ->> 'claimed_at' is not null then 'account.claimed'
      when tg_table_name in ('account', 'profile') and tg_op <> 'DELETE' then 'profile.updated'
      when tg_table_name = 'appeal' and was ->> 'decided_at' is null and becomes ->> 'decided_at' is not null
        and tg_op = 'UPDATE'
        then 'appeal.decided'
      when tg_table_name = 'review_case' and tg_op = 'UPDATE'
        then 'review_case.' || case when becomes ->> 'held_by' is null then 'released' else 'claimed' end
      when tg_table_name = 'proved_method' then case tg_op when 'DELETE' then 'method.removed' else 'method.proved' end
      else tg_table_name || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.updated' else '.deleted' end
    end,
    tg_table_name,
    case when tg_op = 'TRUNCATE' then 'all' else
      coalesce(becomes ->> 'id', was ->> 'id', becomes ->> 'method', was ->> 'method', becomes ->> 'name',
        was ->> 'name',
        becomes ->> 'action', was ->> 'action', becomes ->> 'offer_id', was ->> 'offer_id', subject::text) end,
    subject,
    case when was is not null then before end, case when becomes is not null then after end,
    case when actor <> 'dba' then nullif(current_setting('market.request_id', true), '') end);
  return null;
end
$$;
comment on function internal.audit() is
  'Writes one change into the audit log. The trigger''s arguments are the columns whose values the log may hold. A '
  'column with text that a person wrote must never be among them.';
