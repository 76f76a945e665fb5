-- One search over everything: an id, the words of an offer or an ask, the beginning of an agent's or a person's name.

create type admin.finding as (kind text, id uuid, title text, status text, at timestamptz, offer_id uuid, account_id uuid);
comment on type admin.finding is 'Something that a search found.';
comment on column admin.finding.kind is 'offer, account, agent, ask or report.';
comment on column admin.finding.id is 'Its id.';
comment on column admin.finding.title is 'What it is called.';
comment on column admin.finding.status is 'What state it is in.';
comment on column admin.finding.at is 'When it was made.';
comment on column admin.finding.offer_id is 'The offer that it is, or is about.';
comment on column admin.finding.account_id is 'The account that it is, or belongs to.';

create or replace function market.find_by_id(id uuid) returns setof admin.finding
  language plpgsql stable rows 1
as $$
begin
  return query
    select 'offer', o.id, o.title, o.status, o.created_at, o.id, o.account_id from market.offer o where o.id = find_by_id.id
    union all select 'account', a.id, coalesce(a.display_name, 'Account without a name'),
      case when a.suspended_at is null then 'in good standing' else 'suspended' end, a.created_at, null::uuid, a.id from market.account a where a.id = find_by_id.id
    union all select 'agent', a.id, a.name, case when a.removed_at is not null then 'removed' when a.connected_at is null then 'not approved' else 'connected' end,
      a.created_at, null::uuid, a.account_id from market.agent a where a.id = find_by_id.id
    union all select 'ask', a.id, coalesce(a.title, left(a.text, 120)), a.status, a.created_at, null::uuid, a.account_id from market.ask a where a.id = find_by_id.id
    union all select 'report', r.id, r.reason, case when r.settled_at is null then 'open' else 'settled' end, r.created_at, r.offer_id, r.account_id from market.report r where r.id = find_by_id.id;
end
$$;
comment on function market.find_by_id(uuid) is 'What has this id, for moderators.';
grant execute on function market.find_by_id(uuid) to souk_moderator;

create or replace function admin.find(words text) returns setof admin.finding
  language plpgsql stable rows 60
as $$
declare
  folded constant text := left(market.fold(find.words), 200);
  query constant tsquery := websearch_to_tsquery('simple', folded);
  beginning constant text := replace(replace(replace(left(lower(btrim(find.words)), 80), '\', '\\'), '%', '\%'), '_', '\_') || '%';
begin
  if btrim(find.words) ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return query select * from market.find_by_id(btrim(find.words)::uuid);
    return;
  elsif btrim(find.words) = '' then
    return;
  end if;
  return query
    -- Live and hidden offers have an index each.
    (select 'offer', o.id, o.title, o.status, o.created_at, o.id, o.account_id from market.offer o
      where o.status = 'published' and o.search @@ query limit 20)
    union all (select 'offer', o.id, o.title, o.status, o.created_at, o.id, o.account_id from market.offer o
      where o.status <> 'published' and o.search @@ query limit 20)
    union all (select 'ask', a.id, coalesce(a.title, left(a.text, 120)), a.status, a.created_at, null::uuid, a.account_id from market.ask a
      where to_tsvector('simple', market.fold(a.text)) @@ query limit 20)
    union all (select 'account', a.id, a.display_name, case when a.suspended_at is null then 'in good standing' else 'suspended' end, a.created_at, null::uuid, a.id
      from market.account a where lower(a.display_name) like beginning limit 20)
    union all (select 'agent', a.id, a.name, case when a.removed_at is not null then 'removed' when a.connected_at is null then 'not approved' else 'connected' end,
      a.created_at, null::uuid, a.account_id from market.agent a where lower(a.name) like beginning limit 20);
end
$$;
comment on function admin.find(text) is E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection +typeField:resource:list\nUp to twenty each of the offers, asks, accounts and agents with these words, or the one thing with this id.';
grant execute on function admin.find(text) to souk_moderator;
