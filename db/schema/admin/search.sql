-- One search over everything. The most specific matches come first: an id; a whole e-mail address; a whole name; the
-- beginning of a name; words of an offer or an ask. Among equal matches, the newest come first.

create or replace function admin.find(words text) returns setof admin.finding
  language plpgsql stable rows 60
  -- Frequent words are found fastest by scanning from the newest row, rare words by their index. So the plan depends on
  -- the words.
  set plan_cache_mode = 'force_custom_plan'
as $$
declare
  said constant text := btrim(find.words);
  query constant tsquery := websearch_to_tsquery('simple', left(reading.plain_words(find.words), 200));
  whole constant text := left(reading.fold(said), 80);
  beginning constant text := regexp_replace(whole, '[%_\\]', '\\\&', 'g') || '%';
  a_name constant integer := 2;
  the_beginning constant integer := 3;
  the_words constant integer := 4;
begin
  if internal.lower_case(said) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    return query select * from internal.find_by_id(said::uuid);
    return;
  elsif said = '' then
    return;
  end if;
  -- Ids are UUIDv7, so the order of ids is the order of age.
  return query
    select f.kind, f.id, f.title, f.status, f.at, f.offer_id, f.account_id from (
      select distinct on (c.kind, c.id) c.* from (
        (select 1 as rank, b.*
          from internal.find_by_mailbox(said) as m (account_id), internal.find_by_id(m.account_id) as b)
        union all (select a_name, b.* from (
          select a.id from market.account a where reading.fold(a.display_name) = whole order by a.id desc
            limit 20) as a,
            internal.find_by_id(a.id) as b)
        union all (select a_name, b.* from (
          select a.id from market.agent a where reading.fold(a.name) = whole and a.sandbox_id is null
            order by a.id desc limit 20) as a,
            internal.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.account a where reading.fold(a.display_name) like beginning order by a.id desc
            limit 20) as a, internal.find_by_id(a.id) as b)
        union all (select the_beginning, b.* from (
          select a.id from market.agent a where reading.fold(a.name) like beginning and a.sandbox_id is null
            order by a.id desc limit 20) as a,
            internal.find_by_id(a.id) as b)
        union all (select the_words, b.* from (
          select o.id from market.offer o
          where to_tsvector('simple', reading.plain_words(coalesce(o.sent_text, o.text))) @@ query
            and o.sandbox_id is null
            order by o.id desc limit 20) as o, internal.find_by_id(o.id) as b)
        union all (select the_words, b.* from (
          select a.id from market.ask a
          where to_tsvector('simple', reading.plain_words(a.text)) @@ query and a.sandbox_id is null
            order by a.id desc limit 20) as a, internal.find_by_id(a.id) as b)
      ) as c order by c.kind, c.id, c.rank) as f
    order by f.rank, f.id desc;
end
$$;
comment on function admin.find(text) is
  E'@behavior -queryField:resource:connection +queryField:resource:list -typeField:resource:connection '
  '+typeField:resource:list\nReturns the object with this id. Otherwise returns the account with exactly this e-mail '
  'address, then agents and people with exactly this name, then those whose name begins with it, then offers and asks '
  'with these words. Up to twenty of each kind of match, newest first.';
grant execute on function admin.find(text) to souk_moderator;
