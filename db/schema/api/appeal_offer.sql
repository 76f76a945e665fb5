-- The owner of an offer that was taken down asks for a second look, by another moderator.

create or replace function api.appeal_offer(id uuid, comment text) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  -- A suspended account may appeal: it is how a mistake comes to light.
  perform internal.require_connected('manage_offers');
  offer := internal.own_offer(appeal_offer.id);
  if offer.status <> 'removed' then
    perform internal.raise_problem(409, 'invalid_state',
      format('This offer is %s; only an offer that moderation took down can be appealed.', offer.status));
  end if;
  insert into market.appeal (offer_id, removed_at, account_id, agent_id, comment)
  values (offer.id, offer.removed_at, offer.account_id, internal.agent_id(), nullif(btrim(appeal_offer.comment), ''))
  on conflict do nothing;
  if not found then
    perform internal.raise_problem(409, 'invalid_state',
      'This removal was appealed already, and an appeal is made once. The offer is still removed; read it again later '
      'to see what was decided.');
  end if;
  return internal.owner_offer_document(offer);
end
$$;
comment on function api.appeal_offer(uuid, text) is
  'Puts the removal of an own offer before another moderator, once; 409 invalid_state when it is not removed or was '
  'appealed already.';
grant execute on function api.appeal_offer(uuid, text) to souk_api;
