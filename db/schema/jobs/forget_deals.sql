-- Words are kept for a year after the last activity in a conversation, and contacts for 90 days after an agreement.

create or replace function jobs.forget_deals() returns integer
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  gone integer;
  forgotten uuid[];
begin
  update market.agreement a set publisher_contact = null, inquirer_contact = null
  where a.id = any (array(
    select o.id from market.agreement o
    where o.made_at <= now() - interval '90 days'
      and (o.publisher_contact is not null or o.inquirer_contact is not null)
    order by o.made_at limit 1000 for update skip locked));
  get diagnostics gone = row_count;
  forgotten := array(
    select c.id from market.conversation c
    where c.forgotten_at is null and c.active_at <= now() - interval '12 months'
      -- A handover may have been agreed for a later day.
      and not exists (select from market.proposal p where p.conversation_id = c.id and p.status = 'accepted'
        and greatest((p.terms #>> '{handover,at}')::timestamptz, (p.terms ->> 'until')::date)
          > now() - interval '12 months')
      -- Until a moderator has decided, at most as long again.
      and (c.active_at <= now() - interval '24 months' or not exists (
        select from market.conversation_report r where r.conversation_id = c.id and r.completed_at is null))
    order by c.active_at limit 200 for update skip locked);
  perform internal.erase_words(forgotten, '{publisher,inquirer}');
  update market.conversation c set forgotten_at = now(), inquirer_contact = null where c.id = any (forgotten);
  return gone + cardinality(forgotten) * 5;
end
$$;
comment on function jobs.forget_deals() is
  'Erases the contacts of agreements after 90 days, and the words of conversations 12 months after their last activity '
  'or handover. A conversation whose report is open keeps its words for up to 24 months. Returns the number of rows, '
  'in which a conversation counts as five.';
