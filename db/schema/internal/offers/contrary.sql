-- A text that certainly asks is not published as an offer: whoever looks for the thing would find it, at the budget of
-- the buyer. In doubt it is published without kind and price. The sender may say that it is an offer all the same. An
-- ask whose text certainly offers is refused in the same way.

create or replace function internal.contrary_offer(submission market.submission, extractions jsonb, addressed jsonb)
  returns text
  language plpgsql stable
as $$
declare
  -- With other images, the text stays what it was when it was published.
  is_known constant boolean := submission.kind = 'update_offer' and 'text' <> all (submission.changes);
begin
  if submission.kind_confirmed or is_known and exists (
    select from market.offer o where o.id = submission.target_id and o.offer_kind is not null) then
    return null;
  end if;
  return case reading.contradicts('offer', submission.text, extractions, addressed)
    when 'certain' then case when is_known then 'doubtful' else 'certain' end
    when 'doubtful' then 'doubtful' end;
end
$$;
comment on function internal.contrary_offer(market.submission, jsonb, jsonb) is
  'Returns whether the text of an offer asks for something: certain, doubtful or null.';

create or replace function internal.in_doubt(read market.offer) returns market.offer
  language plpgsql immutable
as $$
begin
  -- A budget is no asking price.
  read.offer_kind := null;
  read.price_thousandths := null;
  read.price_currency := null;
  read.price_period := null;
  read.price_unit := null;
  read.metadata := read.metadata - 'pricing';
  read.extraction := read.extraction - array['price', 'offer_kind'];
  read.missing_fields := reading.missing_fields(read);
  return read;
end
$$;
comment on function internal.in_doubt(market.offer) is
  'Returns an offer that may be an ask: without its kind and its price.';

create or replace function internal.reads_as_other(other text) returns jsonb
  language plpgsql stable
as $$
begin
  return jsonb_build_object('code', 'reads_as_ask',
    'detail', internal.sentence(case reads_as_other.other when 'ask' then 'reads_as_ask' else 'reads_as_offer' end),
    'errors', jsonb_build_array(jsonb_build_object('pointer', '/text', 'detail', internal.sentence(
      case reads_as_other.other when 'ask' then 'text_reads_as_ask' else 'text_reads_as_offer' end))),
    'next', jsonb_build_array(case reads_as_other.other
      when 'ask' then internal.next_step('next_send_as_ask', 'POST', '/v1/asks')
      else internal.next_step('next_send_as_offer', 'POST', '/v1/offers') end));
end
$$;
comment on function internal.reads_as_other(text) is
  'Returns the problem of an offer that asks (other: ask), or of an ask that offers (offer).';
