-- The owner says that an offer is still available.

create or replace function api.confirm_offer(id uuid) returns jsonb
  language plpgsql volatile
as $$
declare
  offer market.offer;
begin
  perform internal.require_permission('manage_offers');
  offer := internal.own_offer(confirm_offer.id);
  perform internal.admit('manage', null, null, '[]');
  if offer.status <> 'published' then
    perform internal.raise_problem(409, 'invalid_state',
      case offer.status when 'archived' then 'archived_not_confirmed' else 'nothing_to_confirm' end,
      jsonb_build_object('status', replace(offer.status, '_', ' ')));
  end if;
  update market.offer o set confirmed_at = now() where o.id = offer.id returning * into offer;
  return internal.owner_offer_document(offer);
end
$$;
comment on function api.confirm_offer(uuid) is
  'States that an own published offer is still available, which makes it fresh. Raises 409 invalid_state for one that '
  'is not published.';
