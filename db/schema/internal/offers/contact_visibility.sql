-- Who sees the contact of an offer. Its owner and moderators always do.
--
--   public     everybody
--   approved   accounts with a proved sign-in method
--   agreement  who has made an agreement on the offer

create or replace function internal.stricter_visibility(one text, other text) returns text
  language sql immutable
as $$
  select case
    when 'agreement' in (one, other) then 'agreement'
    when 'approved' in (one, other) then 'approved'
    else 'public' end
$$;
comment on function internal.stricter_visibility(text, text) is
  'Returns which of two visibilities shows a contact to fewer.';
grant execute on function internal.stricter_visibility(text, text) to souk_agent, souk_person;

create or replace function internal.contact_visibility(offer market.offer) returns text
  language plpgsql stable
as $$
begin
  return internal.stricter_visibility(offer.contact_visibility,
    internal.setting('least_contact_visibility') #>> '{}');
end
$$;
comment on function internal.contact_visibility(market.offer) is
  'Returns who sees the contact of an offer: as its owner chose, or fewer if the operator allows no more.';
grant execute on function internal.contact_visibility(market.offer) to souk_agent, souk_person;

create or replace function internal.default_contact_visibility(account_id uuid) returns text
  language plpgsql stable
as $$
begin
  return internal.stricter_visibility(
    coalesce(
      (select p.contact_visibility from market.profile p where p.account_id = default_contact_visibility.account_id),
      internal.setting('contact_visibility') #>> '{}'),
    internal.setting('least_contact_visibility') #>> '{}');
end
$$;
comment on function internal.default_contact_visibility(uuid) is
  'Returns the visibility of the contact in a new offer of an account that names none: as its person chose, or else as '
  'the operator did.';

create or replace function internal.visibility_errors(contact_visibility text) returns jsonb
  language plpgsql stable
as $$
declare
  least constant text := internal.setting('least_contact_visibility') #>> '{}';
begin
  return case when contact_visibility is null
      or contact_visibility = internal.stricter_visibility(contact_visibility, least) then jsonb '[]'
    else jsonb_build_array(jsonb_build_object('pointer', '/contact_visibility', 'detail', 'contact_visibility_too_open',
      'params', jsonb_build_object('least', least))) end;
end
$$;
comment on function internal.visibility_errors(text) is
  'Returns the error of a visibility that the operator does not allow: [{pointer, detail, params}].';
grant execute on function internal.visibility_errors(text) to souk_agent, souk_person;

create or replace function internal.sees_contact(offer_id uuid, account_id uuid, contact_visibility text)
  returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(sees_contact.account_id = internal.visible_account_id(), false) or case contact_visibility
    when 'public' then true
    when 'approved' then exists (
      select from market.proved_method m where m.account_id = internal.visible_account_id())
    else internal.agreed_on(sees_contact.offer_id) end;
end
$$;
comment on function internal.sees_contact(uuid, uuid, text) is
  'Returns whether the caller sees the contact of an offer of this account and visibility.';
grant execute on function internal.sees_contact(uuid, uuid, text) to souk_agent, souk_person;

create or replace function internal.hide_contacts() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform internal.enqueue('build_documents', '00000000-0000-0000-0000-000000000000', priority => 10);
  return null;
end
$$;
comment on function internal.hide_contacts() is
  'Has all documents made again, because the operator allows contacts to be shown to more or fewer.';

create or replace function internal.change_contact_visibility(offer market.offer, contact_visibility text) returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update market.offer_change c set contact_visibility = change_contact_visibility.contact_visibility
  where c.offer_id = offer.id and c.account_id = internal.account_id()
    and c.contact_visibility <> change_contact_visibility.contact_visibility;
  update market.offer o set contact_visibility = change_contact_visibility.contact_visibility,
    visibility_chosen_at = internal.arrived_at()
  where o.id = offer.id and o.account_id = internal.account_id()
  returning * into strict offer;
  return internal.published_document(offer);
end
$$;
comment on function internal.change_contact_visibility(market.offer, text) is
  'Changes who sees the contact of an own offer, also in a change of it that waits. Returns OfferPublished. Call it '
  'with the offer locked.';
grant execute on function internal.change_contact_visibility(market.offer, text) to souk_agent, souk_person;
