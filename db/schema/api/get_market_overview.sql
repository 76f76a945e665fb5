-- What the home page shows of the market, if the operator wants it (setting show_market): how much there is, and the
-- newest titles. Anybody sees the home page, so it leaves out more than the search does: offers that wait for a
-- moderator, titles that name a contact, and people who look for people.

create or replace function api.get_market_overview() returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- Counting stops at this number, so that the page costs the same in a large market. The page then says "more than".
  max_count constant integer := 10000;
  hidden constant uuid[] := internal.accounts_being_hidden();
begin
  if internal.setting('show_market') is distinct from jsonb 'true' then
    return jsonb '{"shown": false}';
  end if;
  return jsonb_build_object(
    'shown', true,
    'most', max_count,
    'offers', (
      select count(*) from (
        select from search.document d
        where d.sandbox_id is null and (d.account_id = any (hidden)) is not true
        limit max_count + 1) as n),
    'asks', (
      select count(*) from (
        select from market.ask a
        where a.status = 'active' and a.sandbox_id is null and (a.account_id = any (hidden)) is not true
        limit max_count + 1) as n),
    'newest', (
      select coalesce(jsonb_agg(n.title order by n.published_at desc, n.id desc), '[]')
      from (
        select o.id, d.document -> 'document' ->> 'title' as title, o.published_at
        from (
          -- At most this many are looked at, even if none of them may be shown.
          select d.id, d.document from search.document d where d.sandbox_id is null order by d.published_at desc
            limit 100) as d
        join market.offer o on o.id = d.id
        where (o.account_id = any (hidden)) is not true
          and o.offer_kind is distinct from 'dating' and o.offer_kind is distinct from 'friendship'
          and not internal.names_contact(o.title, o.contact)
          and not exists (select from market.review_case c where c.offer_id = o.id and c.closed_at is null)
        order by o.published_at desc, o.id desc limit 6) as n));
end
$$;
comment on function api.get_market_overview() is
  'Returns what the home page shows: shown (the setting show_market), and if true the numbers of offers and asks, each '
  'at most `most` + 1, and the newest titles, at most six. Needs no claims.';
