-- Appeals: when an owner may appeal, and the state of an appeal.

create or replace function internal.review_appeal() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.open_case(new.offer_id, array['appeal']);
  return null;
end
$$;
comment on function internal.review_appeal() is 'Opens a case for the offer of a new appeal.';

create or replace function internal.is_appealable(offer market.offer) returns boolean
  language plpgsql stable
as $$
begin
  return offer.status = 'removed' and not exists (
    select from market.appeal a where a.offer_id = offer.id and a.removed_at = offer.removed_at);
end
$$;
comment on function internal.is_appealable(market.offer) is
  'Returns whether the owner may appeal: the offer is removed, and this removal has not been appealed yet.';
grant execute on function internal.is_appealable(market.offer) to souk_agent, souk_person;

create or replace function internal.appeal_document(offer market.offer) returns jsonb
  language plpgsql stable
as $$
begin
  return (
    select jsonb_build_object('status', case when a.decided_at is null then 'waiting' else 'declined' end,
      'created_at', internal.utc(a.created_at), 'decided_at', internal.utc(a.decided_at))
    from market.appeal a where a.offer_id = offer.id and a.removed_at = offer.removed_at);
end
$$;
comment on function internal.appeal_document(market.offer) is
  'Returns the state of the appeal against an offer''s present removal: {status, created_at, decided_at}; null when '
  'there is no appeal.';
grant execute on function internal.appeal_document(market.offer) to souk_agent, souk_person;
