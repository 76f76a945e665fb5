-- Appeals: the owner of a removed offer asks for a decision of another moderator.

create or replace function api.appeal_offer(id uuid, comment text) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  -- The owner of a suspended account may appeal, because an appeal is how a mistake becomes known.
  perform internal.require_connected('manage_offers');
  offer := internal.own_offer(appeal_offer.id);
  if offer.status <> 'removed' then
    perform internal.raise_problem(409, 'invalid_state',
      'offer_not_removed', jsonb_build_object('status', offer.status));
  end if;
  insert into market.appeal (offer_id, removed_at, account_id, agent_id, comment)
  values (offer.id, offer.removed_at, offer.account_id, internal.agent_id(), nullif(btrim(appeal_offer.comment), ''))
  on conflict do nothing;
  if not found then
    perform internal.raise_problem(409, 'invalid_state', 'appealed_already');
  end if;
  return internal.owner_offer_document(offer);
end
$$;
comment on function api.appeal_offer(uuid, text) is
  'Appeals against the removal of an own offer, once for each removal. Returns the OwnerOffer. Raises 403 before a '
  'person has approved the agent, 404 for an offer of another account, and 409 invalid_state when the offer is not '
  'removed or the removal was already appealed.';
