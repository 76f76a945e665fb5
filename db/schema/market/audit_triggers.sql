-- What the audit log has of each table: the changes that are logged, under which name, and the columns whose values it
-- may contain. None of these columns contains text that a person wrote.

do $$
declare
  logged record;
begin
  for logged in
    with audited (name, events, columns) as (values
      -- Every agent comes with a provisional account, so inserts are not logged. A person's claim is an update.
      ('account', '{delete}'::text[], '{claimed_at,suspended_at,suspension_reason,recovered_at}'::text[]),
      ('agent', '{insert,update,delete}', '{account_id,connected_at,removed_at,disconnected_at}'),
      ('appeal', '{insert,update,delete}', '{offer_id,account_id,agent_id,removed_at,decided_at}'),
      ('ask', '{insert,delete}', '{account_id,agent_id,status,watch_enabled,language,domain,category,ask_kind,'
        'price_max_thousandths,price_currency}'),
      -- Only a person's answer is logged: not that a confirmation was created, and not that it expired.
      ('confirmation', '{}', '{account_id,agreement_id,status}'),
      ('cap_override', '{insert,update,delete}', '{action,cap}'),
      ('decision', '{insert,delete}', '{moderator_id,action,offer_id,account_id,agent_id,reason}'),
      ('moderator', '{insert,delete}', '{account_id,appointed_by}'),
      ('offer', '{update,delete}', '{account_id,agent_id,origin_ask_id,status,language,domain,category,offer_kind,'
        'price_thousandths,price_currency,price_period,price_unit,reviewed,published_at,removed_at,review_reason,'
        'suspended_at}'),
      ('offer_change', '{insert,delete}', '{account_id,agent_id,language,domain,category,offer_kind,price_thousandths,'
        'price_currency,price_period,price_unit,rejected_at,review_reason}'),
      ('power', '{}', '{agent_id,power,allowed,ceiling_thousandths,daily_ceiling_thousandths,ceiling_currency}'),
      ('profile', '{delete}', '{}'),
      ('proved_method', '{}', '{method,proved_at}'),
      ('report', '{insert,update,delete}', '{offer_id,account_id,agent_id,reason,completed_at}'),
      ('review_case', '{delete}', '{held_by,held_until}'),
      ('setting', '{}', '{value}'),
      ('webhook', '{insert,delete}', '{account_id,agent_id,disabled_at,disabled_reason}')
    ), act (place, name, event, action, condition) as (
      -- A change is logged as the first act whose condition is true; else as TABLE.created, updated or deleted, if the
      -- event is listed above. {status} is the new status.
      select row_number() over (), a.* from (values
        ('account', 'update', 'account.recovered', 'old.recovered_at is distinct from new.recovered_at'),
        ('account', 'update', 'account.suspended', 'old.suspended_at is null and new.suspended_at is not null'),
        ('account', 'update', 'account.reinstated', 'old.suspended_at is not null and new.suspended_at is null'),
        ('account', 'update', 'account.claimed', 'old.claimed_at is null and new.claimed_at is not null'),
        ('account', 'update', 'profile.updated', 'true'),
        ('agent', 'update', 'agent.removed', 'old.removed_at is null and new.removed_at is not null'),
        ('agent', 'update', 'agent.connected', 'old.connected_at is null and new.connected_at is not null'),
        ('agent', 'update', 'agent.disconnected', 'old.disconnected_at is null and new.disconnected_at is not null'),
        ('appeal', 'update', 'appeal.decided', 'old.decided_at is null and new.decided_at is not null'),
        ('ask', 'update', 'ask.reopened', 'old.status <> new.status and new.status = ''active'''),
        ('ask', 'update', 'ask.{status}', 'old.status <> new.status'),
        -- Not an update that only stores the extraction: the log already has the event of the text itself.
        ('ask', 'update', 'ask.updated', 'old.read_at is not null or new.read_at is null or old.text <> new.text'),
        ('confirmation', 'update', 'confirmation.{status}',
          'old.status = ''pending'' and new.status in (''confirmed'', ''refused'')'),
        -- Not an update that only empties references to a deleted account or agent.
        ('decision', 'update', 'decision.updated',
          'old.action <> new.action or old.offer_id is distinct from new.offer_id '
          'or old.reason is distinct from new.reason or old.sentence is distinct from new.sentence '
          'or old.created_at <> new.created_at or old.moderator_id <> new.moderator_id '
          'or old.account_id <> new.account_id or old.agent_id <> new.agent_id'),
        ('offer', 'insert', 'offer.{status}', 'true'),
        -- Only the approval of a change gives an offer another text or other images in a moderator's name.
        ('offer', 'update', 'offer.change_published', 'current_setting(''market.moderator_id'', true) <> '''' '
          'and (coalesce(old.sent_text, old.text), old.images) <> (coalesce(new.sent_text, new.text), new.images)'),
        ('offer', 'update', 'offer.restored', 'old.status = ''removed'' and new.status = ''published'''),
        ('offer', 'update', 'offer.{status}', 'old.status <> new.status'),
        ('offer', 'update', 'offer.kept', 'not old.reviewed and new.reviewed'),
        ('offer', 'update', 'offer.confirmed', 'old.confirmed_at <> new.confirmed_at '
          'and (coalesce(old.sent_text, old.text), old.images) = (coalesce(new.sent_text, new.text), new.images)'),
        ('offer_change', 'update', 'offer_change.rejected', 'true'),
        ('power', 'insert', 'power.changed', 'true'),
        ('power', 'update', 'power.changed', 'true'),
        ('profile', 'insert', 'profile.updated', 'true'),
        ('profile', 'update', 'profile.updated', 'true'),
        ('proved_method', 'insert', 'method.proved', 'true'),
        ('proved_method', 'update', 'method.proved', 'true'),
        ('proved_method', 'delete', 'method.removed', 'true'),
        -- Other events show when a case opens and closes.
        ('review_case', 'update', 'review_case.released', 'old.closed_at is null and new.closed_at is null '
          'and (old.held_by, old.held_until) is distinct from (new.held_by, new.held_until) and new.held_by is null'),
        ('review_case', 'update', 'review_case.claimed', 'old.closed_at is null and new.closed_at is null '
          'and (old.held_by, old.held_until) is distinct from (new.held_by, new.held_until)'),
        -- Rows that an upgrade loads are not logged, because no person, agent or moderator changed them.
        ('setting', 'insert', 'setting.created', 'current_setting(''market.loading'', true) is distinct from ''on'''),
        ('setting', 'update', 'setting.updated', 'current_setting(''market.loading'', true) is distinct from ''on'''),
        ('setting', 'delete', 'setting.deleted', 'current_setting(''market.loading'', true) is distinct from ''on''')
      ) as a
      union all
      select null, t.name, e.event,
        t.name || case e.event when 'insert' then '.created' when 'update' then '.updated' else '.deleted' end, 'true'
      from audited t cross join unnest(t.events) as e (event)
    )
    select a.name, a.event, a.action, t.columns, concat_ws(' and ', '(' || a.condition || ')',
      string_agg(format('(%s) is not true', a.condition), ' and ') over (
        partition by a.name, a.event order by a.place rows between unbounded preceding and 1 preceding)) as condition
    from act a join audited t on t.name = a.name
    union all
    -- TRUNCATE does not fire the triggers of rows.
    select t.name, 'truncate', t.name || '.truncated', '{}', null from audited t
  loop
    execute format('create trigger %I after %s on market.%I for each %s execute function internal.audit(%s)',
      'audit_' || logged.event || '_' || translate(split_part(logged.action, '.', 2), '{}', ''), logged.event,
      logged.name, coalesce('row when (' || logged.condition || ')', 'statement'),
      (select string_agg(quote_literal(a.argument), ', ')
        from unnest(logged.action || logged.columns) as a (argument)));
  end loop;
end
$$;
