-- Decisions on accounts and agents: suspending and reinstating, removing agents, changing rate limits.

create or replace function admin.suspend_account(id uuid, reason text, sentence text default null) returns admin.account
  language plpgsql volatile
as $$
declare
  account market.account := internal.lock_account(suspend_account.id);
  note text := internal.visible_sentence(suspend_account.sentence);
begin
  perform internal.require_moderator_sign_in();
  if account.suspended_at is not null then
    perform internal.raise_problem(409, 'invalid_state', 'account_suspended_already');
  elsif exists (select from market.moderator m where m.account_id = account.id) then
    perform internal.raise_problem(409, 'invalid_state', 'account_of_moderator');
  elsif char_length(note) > 500 then
    perform internal.raise_problem(400, 'bad_request', 'sentence_too_long');
  end if;
  note := coalesce(note, (select r.sentence from market.reason r where r.code = suspend_account.reason));
  if note is null or not exists (select from market.reason r where r.code = suspend_account.reason) then
    perform internal.raise_problem(400, 'bad_request', 'reason_unknown');
  end if;
  update market.account a set suspended_at = now(), suspension_reason = suspend_account.reason, suspension_note = note
  where a.id = account.id;
  perform internal.begin_applying_standing(account.id);
  insert into market.decision (moderator_id, action, account_id, reason, sentence)
  values (internal.moderator_id(), 'suspend', account.id, suspend_account.reason, note);
  return (select a from admin.account a where a.id = account.id);
end
$$;
comment on function admin.suspend_account(uuid, text, text) is
  'Suspends an account. Its agents may read, its writes are refused with the sentence, and its offers are not shown. '
  'Raises 409 for the account of a moderator.';

create or replace function admin.reinstate_account(
  id uuid, note text default null, expected_suspended_at timestamptz default null
) returns admin.account
  language plpgsql volatile
as $$
declare
  account market.account := internal.lock_account(reinstate_account.id);
begin
  if account.suspended_at is null then
    perform internal.raise_problem(409, 'invalid_state', 'account_not_suspended');
  elsif account.suspended_at <> reinstate_account.expected_suspended_at then
    perform internal.raise_problem(409, 'invalid_state', 'account_suspended_anew');
  elsif char_length(reinstate_account.note) > 500 then
    perform internal.raise_problem(400, 'bad_request', 'note_too_long');
  end if;
  perform internal.check_may_decide(null, account.id);
  update market.account a set suspended_at = null, suspension_reason = null, suspension_note = null
  where a.id = account.id;
  perform internal.begin_applying_standing(account.id);
  insert into market.decision (moderator_id, action, account_id, sentence)
  values (internal.moderator_id(), 'reinstate', account.id, internal.visible_sentence(reinstate_account.note));
  return (select a from admin.account a where a.id = account.id);
end
$$;
comment on function admin.reinstate_account(uuid, text, timestamptz) is
  'Ends a suspension. Offers that the suspension archived are published again. The note is for other moderators. If '
  'expectedSuspendedAt is given and the account was suspended anew since, the call raises 409.';

create or replace function admin.remove_agent(id uuid, note text default null) returns admin.agent
  language plpgsql volatile
as $$
declare
  agent admin.agent;
begin
  -- A moderator has no right to read the hash of the token, so the row is read through the view.
  select * into agent from admin.agent a where a.id = remove_agent.id;
  if not found then
    perform internal.raise_problem(404, 'not_found', 'no_agent');
  elsif char_length(remove_agent.note) > 500 then
    perform internal.raise_problem(400, 'bad_request', 'note_too_long');
  end if;
  perform internal.lock_account(agent.account_id);
  perform internal.check_may_decide(null, agent.account_id);
  update market.agent a set removed_at = now() where a.id = agent.id and a.removed_at is null;
  if not found then
    perform internal.raise_problem(409, 'invalid_state', 'agent_removed_already');
  end if;
  insert into market.decision (moderator_id, action, account_id, agent_id, sentence)
  values (internal.moderator_id(), 'remove_agent', agent.account_id, agent.id,
    internal.visible_sentence(remove_agent.note));
  return (select a from admin.agent a where a.id = agent.id);
end
$$;
comment on function admin.remove_agent(uuid, text) is
  'Removes an agent: its token is refused from now on. Its offers and asks stay. The note is for other moderators.';

create or replace function admin.override_cap(
  account_id uuid, action text, cap integer default null, note text default null, expected_cap integer default null
) returns admin.account
  language plpgsql volatile
as $$
declare
  account market.account := internal.lock_account(override_cap.account_id);
  in_force integer;
begin
  if not exists (select from internal.limited_actions() as l where l.action = override_cap.action) then
    perform internal.raise_problem(400, 'bad_request', 'action_unknown',
      jsonb_build_object('actions',
        (select string_agg(l.action, ', ' order by l.place) from internal.limited_actions() as l)));
  elsif override_cap.cap not between 0 and 100000 then
    perform internal.raise_problem(400, 'bad_request', 'cap_out_of_range');
  elsif char_length(override_cap.note) > 400 then
    perform internal.raise_problem(400, 'bad_request', 'cap_note_too_long');
  end if;
  perform internal.check_may_decide(null, account.id);
  in_force := internal.rate_limit(account.id, override_cap.action);
  if in_force <> override_cap.expected_cap then
    perform internal.raise_problem(409, 'invalid_state', 'cap_changed', jsonb_build_object('cap', in_force));
  end if;
  if override_cap.cap is null then
    delete from market.cap_override o where o.account_id = account.id and o.action = override_cap.action;
  else
    insert into market.cap_override (account_id, action, cap, changed_by)
    values (account.id, override_cap.action, override_cap.cap, internal.moderator_id())
    on conflict on constraint cap_override_pkey do update
      set cap = excluded.cap, changed_by = excluded.changed_by, changed_at = now();
  end if;
  insert into market.decision (moderator_id, action, account_id, sentence)
  values (internal.moderator_id(), 'override_cap', account.id, concat_ws(' ',
    format('%s: %s.', override_cap.action, coalesce(override_cap.cap::text, 'by its record')),
    internal.visible_sentence(override_cap.note)));
  return (select a from admin.account a where a.id = account.id);
end
$$;
comment on function admin.override_cap(uuid, text, integer, text, integer) is
  'Sets how often each agent of the account may call an action within an hour, and how often its person may in the '
  'browser. If cap is null, the limit follows from the account stats again. If expectedCap is given and is no longer '
  'the limit in force, the call raises 409.';
grant execute on function
  admin.suspend_account(uuid, text, text),
  admin.reinstate_account(uuid, text, timestamptz),
  admin.remove_agent(uuid, text),
  admin.override_cap(uuid, text, integer, text, integer)
  to souk_moderator;
