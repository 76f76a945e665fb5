-- One search over everything. First comes what was most likely meant: an id; a mailbox, whole; a name, whole; the
-- beginning of a name; words of an offer or an ask. Within each, the newest.

create or replace function admin.find(words text) returns setof admin.finding
  language plpgsql stable rows 60
  -- Words that are in many texts are found by going back in time, rare ones by their index: that depends on the words.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  said constant text := btrim(find.words);
  query constant tsquery := websearch_to_tsquery('simple', left(reading.fold(find.words), 200));
  whole constant text := left(lower(said), 80);
  beginning constant text := regexp_replace(whole, '[%_\\]', '\\\&', 'g') || '%';
  a_name constant smallint := 2;
  the_beginning constant smallint := 3;
  the_words constant smallint := 4;
begin
  if said ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return query select * from internal.find_by_id(said::uuid);
    return;
  elsif said = '' then
    return;
  end if;
  -- Ids are UUIDv7: by id is by age.
  return query
    select f.kind, f.id, f.title, f.status, f.at, f.offer_id, f.account_id from (
      select distinct on (c.kind, c.id) c.* from (
        (select 1::smallint as rank, b.*
          from internal.find_by_mailbox(said) as m (account_id), internal.find_by_id(m.account_id) as b)
        union all (select a_name, b.* from (
          select a.id from market.account a where lower(a.display_name) = whole order by a.id desc limit 20) as a,
            internal.find_by_id(a.id) as b)
        union all (select a_name, b.* from (
          select a.id from market.agent a where lower(a.name) = whole order by a.id desc limit 20) as a,
            internal.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.account a where lower(a.display_name) like beginning order by a.id desc
            limit 20) as a, internal.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.agent a where lower(a.name) like beginning order by a.id desc limit 20) as a,
            internal.find_by_id(a.id) as b)
        -- Live and hidden offers have an index each.
        union all (select the_words, b.* from (
          select o.id from market.offer o where o.status = 'published' and o.search @@ query order by o.id desc
            limit 20) as o, internal.find_by_id(o.id) as b)
        union all (select the_words, b.* from (
          select o.id from market.offer o where o.status <> 'published' and o.search @@ query order by o.id desc
            limit 20) as o, internal.find_by_id(o.id) as b)
        union all (select the_words, b.* from (
          select a.id from market.ask a where to_tsvector('simple', reading.fold(a.text)) @@ query order by a.id desc
            limit 20) as a, internal.find_by_id(a.id) as b)
      ) as c order by c.kind, c.id, c.rank) as f
    order by f.rank, f.id desc;
end
$$;
comment on function admin.find(text) is
  E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection '
  '+typeField:resource:list\nThe one thing with this id; else the account with exactly this mailbox, then agents and '
  'people with this name, then those whose name begins so, then offers and asks with these words. Of each kind up to '
  'twenty, the newest first.';
grant execute on function admin.find(text) to souk_moderator;
