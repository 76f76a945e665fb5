-- The words of a conversation are erased when they are old, and those of a side when its account is deleted. The title
-- and the price of the offer, the dates and the statuses stay.

create or replace function internal.erase_words(conversations uuid[], roles text[]) returns void
  language plpgsql volatile
as $$
begin
  update market.message m set text = null
  where m.conversation_id = any (conversations) and m.sender = any (roles) and m.text is not null;
  update market.proposal p set terms = (p.terms - 'note') #- '{handover,place}'
  where p.conversation_id = any (conversations) and p.sender = any (roles)
    and (p.terms ? 'note' or p.terms -> 'handover' ? 'place');
end
$$;
comment on function internal.erase_words(uuid[], text[]) is
  'Erases what these sides wrote in conversations: messages, notes and places.';

create or replace function internal.erase_conversations(erased uuid) returns boolean
  language plpgsql volatile
as $$
declare
  batch constant integer := 200;
  own market.conversation;
  number integer := 0;
begin
  -- In the order of all ids, as the deletion of the other side does.
  for own in
    select * from market.conversation c
    where c.id = any (array(
      (select p.id from market.conversation p where p.publisher_id = erased order by p.id limit batch)
      union all
      (select i.id from market.conversation i where i.inquirer_id = erased order by i.id limit batch)
      order by 1 limit batch))
    order by c.id for no key update
  loop
    perform internal.erase_side(own, case own.publisher_id when erased then 'publisher' else 'inquirer' end);
    number := number + 1;
  end loop;
  return number < batch;
end
$$;
comment on function internal.erase_conversations(uuid) is
  'Takes an account out of its next conversations, and erases what it wrote there. Returns whether none may be left.';

create or replace function internal.erase_side(conversation market.conversation, role text) returns void
  language plpgsql volatile
as $$
begin
  if conversation.status = 'open' then
    perform internal.end_deals(array[conversation.id]);
    perform internal.moved_by('market');
    perform internal.note_deal(conversation, 'conversation.closed', '{publisher,inquirer}');
  end if;
  perform internal.erase_words(array[conversation.id], array[role]);
  -- While the conversation is locked, so that the deletion of the agents finds nothing to change here.
  update market.proposal p set agent_id = null
  where p.conversation_id = conversation.id and p.sender = erase_side.role and p.agent_id is not null;
  update market.agreement a set
    payer_agent_id = case when a.payer <> erase_side.role then a.payer_agent_id end,
    publisher_contact = case erase_side.role when 'inquirer' then a.publisher_contact end,
    inquirer_contact = case erase_side.role when 'publisher' then a.inquirer_contact end
  where a.conversation_id = conversation.id;
  -- One update: a second one of the same row would lock the account of the other side, whose deletion may wait for this
  -- conversation.
  update market.conversation c set
    status = 'closed',
    closed_by = coalesce(c.closed_by, 'market'),
    active_at = case c.status when 'open' then clock_timestamp() else c.active_at end,
    publisher_id = case erase_side.role when 'inquirer' then c.publisher_id end,
    inquirer_id = case erase_side.role when 'publisher' then c.inquirer_id end,
    inquirer_contact = case erase_side.role when 'publisher' then c.inquirer_contact end,
    offer_title = case erase_side.role when 'publisher' then o.title else c.offer_title end,
    offer_price = case erase_side.role when 'publisher' then o.metadata -> 'pricing' ->> 'label'
      else c.offer_price end
  -- The other side keeps no contact.
  from (select (internal.withheld_offer(f, 'agreement')).* from market.offer f where f.id = conversation.offer_id) as o
  where c.id = conversation.id and o.id = c.offer_id;
  -- Moderators have nothing to decide about what is erased.
  update market.conversation_report r set completed_at = now()
  where r.conversation_id = conversation.id and r.completed_at is null;
  -- Nobody is left to read it.
  delete from market.conversation c where c.id = conversation.id and c.publisher_id is null and c.inquirer_id is null;
end
$$;
comment on function internal.erase_side(market.conversation, text) is
  'Takes an account that is being deleted out of a conversation, with its words and contacts.';
