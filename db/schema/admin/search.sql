-- One search over everything. First comes what was most likely meant: an id; a mailbox, whole; a name, whole; the beginning
-- of a name; words of an offer or an ask. Within each, the newest.

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

create or replace function market.find_by_mailbox(email text) returns setof uuid
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp rows 1
as $$
begin
  -- Whoever knows a mailbox, as from a complaint, finds its account; nobody reads a mailbox.
  if market.moderator_id() is not null then
    return query select distinct p.account_id from market.proved_method p
      where p.email = lower(btrim(normalize(find_by_mailbox.email, nfc)));
  end if;
end
$$;
comment on function market.find_by_mailbox(text) is 'The accounts that proved exactly this mailbox, for moderators.';
grant execute on function market.find_by_mailbox(text) to souk_moderator;

create or replace function admin.find(words text) returns setof admin.finding
  language plpgsql stable rows 60
  -- Words that are in many texts are found by going back in time, rare ones by their index: that depends on the words.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  said constant text := btrim(find.words);
  query constant tsquery := websearch_to_tsquery('simple', left(market.fold(find.words), 200));
  whole constant text := left(lower(said), 80);
  beginning constant text := regexp_replace(whole, '[%_\\]', '\\\&', 'g') || '%';
  a_name constant smallint := 2;
  the_beginning constant smallint := 3;
  the_words constant smallint := 4;
begin
  if said ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return query select * from market.find_by_id(said::uuid);
    return;
  elsif said = '' then
    return;
  end if;
  -- Ids are UUIDv7: by id is by age.
  return query
    select f.kind, f.id, f.title, f.status, f.at, f.offer_id, f.account_id from (
      select distinct on (c.kind, c.id) c.* from (
        (select 1::smallint as rank, b.* from market.find_by_mailbox(said) as m (account_id), market.find_by_id(m.account_id) as b)
        union all (select a_name, b.* from (
          select a.id from market.account a where lower(a.display_name) = whole order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        union all (select a_name, b.* from (
          select a.id from market.agent a where lower(a.name) = whole order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.account a where lower(a.display_name) like beginning order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.agent a where lower(a.name) like beginning order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
        -- Live and hidden offers have an index each.
        union all (select the_words, b.* from (
          select o.id from market.offer o where o.status = 'published' and o.search @@ query order by o.id desc limit 20) as o, market.find_by_id(o.id) as b)
        union all (select the_words, b.* from (
          select o.id from market.offer o where o.status <> 'published' and o.search @@ query order by o.id desc limit 20) as o, market.find_by_id(o.id) as b)
        union all (select the_words, b.* from (
          select a.id from market.ask a where to_tsvector('simple', market.fold(a.text)) @@ query order by a.id desc limit 20) as a, market.find_by_id(a.id) as b)
      ) as c order by c.kind, c.id, c.rank) as f
    order by f.rank, f.id desc;
end
$$;
comment on function admin.find(text) is E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection +typeField:resource:list\nThe one thing with this id; else the account with exactly this mailbox, then agents and people with this name, then those whose name begins so, then offers and asks with these words. Of each kind up to twenty, the newest first.';
grant execute on function admin.find(text) to souk_moderator;
