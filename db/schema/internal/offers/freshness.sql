-- Freshness: how long ago the owner said that an offer is available. An offer that nobody confirms or changes becomes
-- stale, and later it is archived (jobs.age_offers). Its owner can republish it.

create or replace function internal.offer_lifetime(
  out stale_after interval, out archived_after interval, out warned_before interval
)
  language plpgsql stable
as $$
declare
  days constant integer := coalesce(internal.setting('offer_lifetime_days')::integer, 0);
begin
  -- After sixty days of ninety. A shorter lifetime leaves a third, too.
  stale_after :=
    case days when 0 then interval '60 days' else least(interval '60 days', interval '1 day' * days * 2 / 3)
    end;
  archived_after := case when days > 0 then interval '1 day' * days end;
  -- An offer that is older than its lifetime when the operator shortens it is not archived on the day of its warning.
  warned_before := case when days > 0 then least(interval '30 days', interval '1 day' * days / 3) end;
end
$$;
comment on function internal.offer_lifetime() is
  'Returns the ages since the last confirmation at which an offer becomes stale and at which it is archived (null: '
  'never), and how long it is stale before it is archived, at the least.';
grant execute on function internal.offer_lifetime() to souk_agent, souk_person;

create or replace function internal.refresh_confirmation() returns trigger
  language plpgsql volatile
as $$
begin
  if new.status = 'published' then
    new.confirmed_at := now();
  end if;
  new.stale_at := null;
  if new.status <> 'archived' then
    new.expired_at := null;
  end if;
  return new;
end
$$;
comment on function internal.refresh_confirmation() is
  'Makes an offer fresh when it is published, changed or confirmed.';
grant execute on function internal.refresh_confirmation() to souk_agent, souk_person, souk_moderator;

create or replace function internal.freshness_sentence(offer market.offer) returns text
  language plpgsql stable
as $$
declare
  life record;
begin
  if offer.expired_at is not null then
    return internal.sentence('offer_expired');
  elsif offer.stale_at is null then
    return null;
  end if;
  life := internal.offer_lifetime();
  return case when life.archived_after is null then internal.sentence('offer_stale')
    else internal.sentence('offer_stale_until', jsonb_build_object('until',
      to_char(greatest(offer.confirmed_at + life.archived_after, offer.stale_at + life.warned_before)
        at time zone 'UTC', 'YYYY-MM-DD'))) end;
end
$$;
comment on function internal.freshness_sentence(market.offer) is
  'Returns what the owner of a stale or expired offer should do; null for any other offer.';
grant execute on function internal.freshness_sentence(market.offer) to souk_agent, souk_person;
