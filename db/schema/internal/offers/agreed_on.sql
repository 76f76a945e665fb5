create or replace function internal.agreed_on(offer_id uuid) returns boolean
  language sql stable
as $$ select false $$;
comment on function internal.agreed_on(uuid) is
  'Returns whether the calling account is the inquirer of a made agreement on an offer.';
grant execute on function internal.agreed_on(uuid) to souk_agent, souk_person;
