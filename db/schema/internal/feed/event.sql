-- Events are written in the transaction that causes them. So an event is there if, and only if, it happened. How
-- readers miss none is in api/list_events.sql.

create or replace function internal.note_event() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  was jsonb := to_jsonb(new);
begin
  insert into market.event (account_id, type, data)
  values ((was ->> case tg_table_name when 'account' then 'id' else 'account_id' end)::uuid, tg_argv[0],
    (select coalesce(jsonb_object_agg(split_part(m.member, '=', 1), was -> split_part(m.member, '=', 2)), '{}')
      from unnest(tg_argv[1:]) as m (member) where was ->> split_part(m.member, '=', 2) is not null));
  return null;
end
$$;
comment on function internal.note_event() is
  'Writes an event for the account of the row. Arguments of the trigger: the type, and each member of data as '
  'name=column. A column with text that a person wrote must never be among them.';

create or replace function internal.note_new_matches() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.event (account_id, type, data)
  select a.account_id, 'match.created',
    jsonb_build_object('ask_id', m.ask_id, 'offer_id', m.offer_id, 'score', round(m.score::numeric, 4))
  from added m join market.ask a on a.id = m.ask_id
  where a.watch_enabled order by m.score desc, m.offer_id;
  return null;
end
$$;
comment on function internal.note_new_matches() is
  'Writes the event match.created for new matches of asks that watch, best first.';

create or replace function internal.note_lost_matches() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- If the ask was deleted, too, the join does not find it, and no event is written.
  insert into market.event (account_id, type, data)
  select a.account_id, 'match.withdrawn', jsonb_build_object('ask_id', m.ask_id, 'offer_id', m.offer_id)
  from lost m join market.ask a on a.id = m.ask_id
  where a.watch_enabled;
  return null;
end
$$;
comment on function internal.note_lost_matches() is
  'Writes the event match.withdrawn for deleted matches of asks that watch.';

create or replace function internal.note_decided_appeal() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  insert into market.event (account_id, type, data)
  select new.account_id, 'offer.appeal_decided', jsonb_build_object('offer_id', o.id,
    'outcome', case o.status when 'removed' then 'upheld' else 'restored' end)
  from market.offer o where o.id = new.offer_id;
  return null;
end
$$;
comment on function internal.note_decided_appeal() is
  'Writes the event offer.appeal_decided: the removal was upheld, or the offer restored.';

create or replace function internal.event_readers(event market.event) returns uuid[]
  language sql immutable parallel safe
as $$ select array_remove(array[event.account_id, (event.data ->> 'agent_id')::uuid], null) $$;
comment on function internal.event_readers(market.event) is
  'Returns whom an event concerns: its account, and the agent that it is about, which may have belonged to another '
  'account until now and still wait for that account''s events.';

create or replace function internal.wake_readers() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('event', r.reader::text)
  from (select distinct unnest(internal.event_readers(a)) as reader from added a) as r;
  return null;
end
$$;
comment on function internal.wake_readers() is 'Notifies the API processes in which agents wait for these events.';

create or replace function internal.wake_agent() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_notify('event', old.id::text);
  return null;
end
$$;
comment on function internal.wake_agent() is
  'Notifies the API processes in which the agent waits that its token may have ended, or may see other events now. '
  'They read before they answer (src/database/notifications.ts).';

create or replace function internal.token_ends_in() returns double precision
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return (select extract(epoch from a.token_expires_at - now())::double precision
    from market.agent a where a.id = internal.agent_id());
end
$$;
comment on function internal.token_ends_in() is
  'Returns in how many seconds the token of the calling agent ends; null if it does not end by itself.';
grant execute on function internal.token_ends_in() to souk_agent, souk_person;

create or replace function internal.event_waits(present pg_snapshot) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object('snapshot', event_waits.present::text,
    'ends_in', internal.token_ends_in(),
    'readers', to_jsonb(array_remove(array[internal.visible_account_id(), internal.agent_id()], null))));
end
$$;
comment on function internal.event_waits(pg_snapshot) is
  'Returns what a call that waits for an event needs: the snapshot that it has read, the ids under which new events '
  'for the caller are notified (channel event), and in how many seconds the token ends.';
grant execute on function internal.event_waits(pg_snapshot) to souk_agent, souk_person;
