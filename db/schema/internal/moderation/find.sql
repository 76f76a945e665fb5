-- Searches of moderators: by id, by e-mail address, and for offers that are similar to an offer.

create or replace function internal.similar_offers(offer_id uuid) returns setof uuid
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp rows 8
  -- As in search.nearest_in_index.
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  own market.offer_embedding;
begin
  select * into own from market.offer_embedding e where e.offer_id = similar_offers.offer_id;
  -- The vector is in a variable, because the index can order by the distance to a value, but not to a column of
  -- another row.
  return query
    select d.id from search.document d
    where d.sandbox_id is null and d.model = own.model and d.id <> own.offer_id
    order by d.embedding operator(public.<=>) own.embedding
    limit 8;
end
$$;
comment on function internal.similar_offers(uuid) is
  'Returns the eight published offers whose vectors are nearest to that of an offer, nearest first.';
grant execute on function internal.similar_offers(uuid) to souk_moderator;

create or replace function internal.find_by_id(id uuid) returns setof admin.finding
  language plpgsql stable rows 1
as $$
begin
  return query
    select 'offer', o.id, o.title, o.status, o.created_at, o.id, o.account_id from market.offer o
    where o.id = find_by_id.id and o.sandbox_id is null
    union all select 'account', a.id, coalesce(a.display_name, 'Account without a name'),
      case when a.suspended_at is null then 'in good standing' else 'suspended' end, a.created_at, null::uuid, a.id
      from market.account a where a.id = find_by_id.id and a.sandbox_id is null
    union all select 'agent', a.id, a.name, case when a.removed_at is not null then 'removed'
      when a.disconnected_at is not null then 'disconnected'
      when a.connected_at is null then 'not approved' else 'connected' end,
      a.created_at, null::uuid, a.account_id from market.agent a where a.id = find_by_id.id
      and a.sandbox_id is null
    union all select 'ask', a.id, coalesce(a.title, left(a.text, 120)), a.status, a.created_at, null::uuid, a.account_id
    from market.ask a where a.id = find_by_id.id and a.sandbox_id is null
    union all select 'report', r.id, r.reason, case when r.completed_at is null then 'open' else 'settled' end,
      r.created_at, r.offer_id, r.account_id from market.report r where r.id = find_by_id.id;
end
$$;
comment on function internal.find_by_id(uuid) is
  'Returns the offer, account, agent, ask or report of the market that has this id, for moderators.';
grant execute on function internal.find_by_id(uuid) to souk_moderator;

create or replace function internal.find_by_mailbox(email text) returns setof uuid
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp rows 1
as $$
begin
  -- A moderator who knows an e-mail address, such as from a complaint, can find its account. No moderator can read the
  -- address of an account.
  if internal.moderator_id() is not null then
    return query select distinct p.account_id from market.proved_method p
      where p.email = internal.clean_email(find_by_mailbox.email);
  end if;
end
$$;
comment on function internal.find_by_mailbox(text) is
  'Returns the accounts that proved exactly this e-mail address, for moderators.';
grant execute on function internal.find_by_mailbox(text) to souk_moderator;
