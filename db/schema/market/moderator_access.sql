-- A moderator's rights, table by table. Moderators use only the views and functions of schema admin, which run
-- with these rights. Nothing is granted that these views and functions do not need. The policies are just `true`,
-- because only internal.enter_moderator enters the role. A condition here would keep text searches and number
-- comparisons from using their indexes.

do $$
declare
  seen text;
begin
  -- Of a proved method, the grants below show that it is proved, but not the e-mail address.
  foreach seen in array '{account,account_stats,agent,appeal,ask,audit_event,cap_override,decision,moderator,offer,'
    'offer_change,proved_method,reason,report,review_case,setting}'::text[] loop
    execute format('create policy "a moderator sees all" on market.%I for select to souk_moderator using (true)', seen);
  end loop;
end
$$;

create policy "a moderator sees reported conversations" on market.conversation for select to souk_moderator
  using (exists (select from market.conversation_report r where r.conversation_id = id and r.completed_at is null));
create policy "a moderator sees open reports of conversations" on market.conversation_report for select
  to souk_moderator using (completed_at is null);
create policy "a moderator suspends and reinstates accounts" on market.account for update to souk_moderator using (true)
  with check (true);
create policy "a moderator removes agents" on market.agent for update to souk_moderator
  using (true) with check (removed_at is not null);
create policy "a moderator decides on offers" on market.offer for update to souk_moderator using (true)
  with check (true);
create policy "a moderator completes reports" on market.report for update to souk_moderator
  using (true) with check (completed_at is not null);
create policy "a moderator decides on appeals" on market.appeal for update to souk_moderator
  using (true) with check (decided_at is not null);
create policy "a moderator claims and closes cases" on market.review_case for update to souk_moderator using (true)
  with check (true);
create policy "a moderator decides in the moderator's own name" on market.decision for insert to souk_moderator
  with check (moderator_id = (select internal.moderator_id()));
create policy "a moderator sets caps in the moderator's own name" on market.cap_override for insert to souk_moderator
  with check (changed_by = (select internal.moderator_id()));
create policy "a moderator changes caps in the moderator's own name" on market.cap_override for update to souk_moderator
  using (true) with check (changed_by = (select internal.moderator_id()));
create policy "a moderator removes caps" on market.cap_override for delete to souk_moderator using (true);
create policy "a moderator changes settings in the moderator's own name" on market.setting for update
  to souk_moderator
  using (jsonb_typeof(value) = 'boolean' or min is not null or choices is not null)
  with check (changed_by = (select internal.moderator_id()));

grant select on market.account, market.offer, market.offer_change, market.ask, market.report, market.account_stats,
  market.review_case, market.moderator, market.reason, market.setting, market.audit_event to souk_moderator;
grant update (suspended_at, suspension_reason, suspension_note) on market.account to souk_moderator;
grant select (id, account_id, name, created_at, connected_at, removed_at, disconnected_at, sandbox_id),
  update (removed_at)
  on market.agent to souk_moderator;
grant update (status, reviewed, review_reason, review_note) on market.offer to souk_moderator;
grant update (completed_at) on market.report to souk_moderator;
grant select, update (decided_at) on market.appeal to souk_moderator;
grant select (account_id, method) on market.proved_method to souk_moderator;
grant update (causes, reports, closed_at, held_by, held_until) on market.review_case to souk_moderator;
grant select, insert (moderator_id, action, offer_id, account_id, agent_id, reason, sentence) on market.decision
  to souk_moderator;
grant select, insert, update (cap, changed_by, changed_at), delete on market.cap_override to souk_moderator;
grant select (id, offer_id, publisher_id, inquirer_id, status, closed_by, created_at, active_at) on market.conversation
  to souk_moderator;
grant select on market.conversation_report to souk_moderator;
grant update (value, changed_by, changed_at) on market.setting to souk_moderator;
