-- What others see of an offer whose contact is withheld: its words with […] in place of what the reader found in them
-- (market.offer.withheld_spans). Words are shown, found, compared and embedded as they are here.

create or replace function internal.without_numbers(words text, contact jsonb) returns text
  language plpgsql immutable
as $$
declare
  dialled text;
begin
  if words !~ '[0-9][^\n]{0,9}[0-9]' then
    return words;
  end if;
  -- The last six digits identify a number, in any grouping and with any digits before them.
  select string_agg('\+?([0-9][^0-9\n]{0,3}){0,9}' || regexp_replace(d.digits, '([0-9])(?=.)',
    '\1[^0-9\\n]{0,3}', 'g'), '|')
  into dialled
  from (
    select distinct right(regexp_replace(m.method ->> 'value', '[^0-9]', '', 'g'), 6) as digits
    from jsonb_path_query(contact, '$.**.methods[*]') as m (method)
    where internal.contact_form(m.method ->> 'type') = 'number') as d
  where length(d.digits) >= 5;
  return coalesce(regexp_replace(words, dialled, '[…]', 'g'), words);
end
$$;
comment on function internal.without_numbers(text, jsonb) is
  'Returns words of an offer with […] in place of the numbers of its contact, however they are written.';
grant execute on function internal.without_numbers(text, jsonb) to souk_agent, souk_person;

create or replace function internal.withheld_text(offer market.offer) returns text
  language plpgsql immutable
as $$
begin
  return internal.without_numbers(case when offer.withheld_spans = '[]' then offer.text
    else reading.hide_spans(internal.sent_text(offer), offer.withheld_spans) end, offer.contact);
end
$$;
comment on function internal.withheld_text(market.offer) is 'Returns the text of an offer without its contacts.';
grant execute on function internal.withheld_text(market.offer) to souk_agent, souk_person;

create or replace function internal.contact_passages(offer market.offer) returns text[]
  language plpgsql immutable
as $$
declare
  sent constant text := internal.sent_text(offer);
begin
  return array(
    select substr(sent, s.start + 1, s."end" - s.start)
    from jsonb_to_recordset(offer.withheld_spans) as s (start integer, "end" integer)
    -- A longer passage is addressed to software, and no title or label has one.
    where s."end" - s.start <= 320
    union
    select c.quote #>> '{}' from jsonb_path_query(offer.extraction, '$.contact[*].quote') as c (quote)
    union
    -- Without scheme, "www." and the slash at the end.
    select rtrim(regexp_replace(m.method ->> 'value', '^https?://(www\.)?', '', 'i'), '/')
    from jsonb_path_query(offer.contact, '$.**.methods[*]') as m (method)
    where internal.contact_form(m.method ->> 'type') <> 'number');
end
$$;
comment on function internal.contact_passages(market.offer) is
  'Returns the passages of an offer that state a contact, and its contacts in the form in which links have them.';
grant execute on function internal.contact_passages(market.offer) to souk_agent, souk_person;

create or replace function internal.without_contact(words text, offer market.offer) returns text
  language plpgsql immutable
as $$
declare
  plain constant text := internal.lower_case(words);
  -- Few words have the beginning of a contact.
  passages constant text[] := array(
    select p.passage from unnest(internal.contact_passages(offer)) as p (passage)
    where strpos(plain, left(internal.lower_case(p.passage), 2)) > 0
    -- One may be a part of another.
    order by length(p.passage) desc);
  hidden text := words;
  passage text;
begin
  -- So many only stand in words that are made to cost time.
  if cardinality(passages) > 20 then
    return '[…]';
  end if;
  foreach passage in array passages loop
    -- Titles and labels are tidied, so the marks between the words of a passage may differ.
    hidden := coalesce(regexp_replace(hidden collate "C", (
      select '(https?://)?(www\.)?[@+]?\m' || string_agg(w.word, '[^[:alnum:]]{1,4}' order by w.n) || '\M/?'
      from regexp_split_to_table(passage collate "C", '[^[:alnum:]]+') with ordinality as w (word, n)
      where w.word <> ''),
      '[…]', 'gi'), hidden);
    -- They are also cut, perhaps inside a contact.
    for n in reverse least(length(passage), length(hidden)) .. 4 loop
      if right(internal.lower_case(hidden), n) = left(internal.lower_case(passage), n) then
        hidden := left(hidden, - n) || '[…]';
        exit;
      end if;
    end loop;
  end loop;
  return internal.without_numbers(hidden, offer.contact);
end
$$;
comment on function internal.without_contact(text, market.offer) is
  'Returns a title or label of an offer with […] in place of each contact that the reader found in the text.';
grant execute on function internal.without_contact(text, market.offer) to souk_agent, souk_person;

create or replace function internal.withheld_metadata(offer market.offer) returns jsonb
  language plpgsql immutable
as $$
begin
  return (
    select coalesce(jsonb_object_agg(m.name, case m.name
      when 'pricing' then m.value
        || jsonb_strip_nulls(jsonb_build_object('label', internal.without_contact(m.value ->> 'label', offer)))
      when 'location' then m.value
        || jsonb_strip_nulls(jsonb_build_object('text', internal.without_contact(m.value ->> 'text', offer)))
      when 'features' then (
        select jsonb_agg(internal.without_contact(f.feature, offer) order by f.n)
        from jsonb_array_elements_text(m.value) with ordinality as f (feature, n))
      when 'attributes' then (
        select jsonb_object_agg(internal.without_contact(a.name, offer), case jsonb_typeof(a.value)
          when 'string' then to_jsonb(internal.without_contact(a.value #>> '{}', offer)) else a.value end)
        from jsonb_each(m.value) as a (name, value))
      else m.value end), '{}')
    from jsonb_each(offer.metadata) as m (name, value));
end
$$;
comment on function internal.withheld_metadata(market.offer) is
  'Returns the metadata of an offer without its contacts.';
grant execute on function internal.withheld_metadata(market.offer) to souk_agent, souk_person;

create or replace function internal.withheld_images(offer market.offer) returns text[]
  language plpgsql immutable
as $$
begin
  return array(
    select i.url from unnest(offer.images) with ordinality as i (url, n)
    where i.url <> all (offer.withheld_images) order by i.n);
end
$$;
comment on function internal.withheld_images(market.offer) is
  'Returns the image links of an offer without those that give a contact away.';
grant execute on function internal.withheld_images(market.offer) to souk_agent, souk_person;

create or replace function internal.withheld_offer(offer market.offer, contact_visibility text) returns market.offer
  language plpgsql immutable
as $$
declare
  shown market.offer := offer;
begin
  shown.title := internal.without_contact(offer.title, offer);
  shown.text := internal.withheld_text(offer);
  shown.location_text := internal.without_contact(offer.location_text, offer);
  shown.metadata := internal.withheld_metadata(offer);
  shown.images := internal.withheld_images(offer);
  shown.contact := jsonb_build_object('schema_version', 2, 'methods', '[]'::jsonb, 'withheld', contact_visibility);
  return shown;
end
$$;
comment on function internal.withheld_offer(market.offer, text) is
  'Returns an offer as those see it from whom its contact is withheld, because only accounts of this visibility see '
  'it.';
grant execute on function internal.withheld_offer(market.offer, text) to souk_agent, souk_person;

create or replace function internal.withheld_reasons(reasons jsonb, document jsonb) returns jsonb
  language plpgsql immutable
as $$
begin
  return (
    select jsonb_agg(case r.reason ->> 'criterion'
      when 'keywords' then r.reason || jsonb_build_object('found', document -> 'document' -> 'title')
      when 'price' then r.reason || jsonb_build_object('found', document -> 'metadata' -> 'pricing' -> 'label')
      when 'location' then r.reason || jsonb_build_object('found', document -> 'document' -> 'location')
      when 'attributes' then r.reason || jsonb_build_object('found', document -> 'metadata' -> 'attributes')
      else r.reason end order by r.n)
    from jsonb_array_elements(reasons) with ordinality as r (reason, n));
end
$$;
comment on function internal.withheld_reasons(jsonb, jsonb) is
  'Returns the reasons of a match with the words of an offer''s document: before they are made again, they may be '
  'those of a time when everybody saw the contact.';
grant execute on function internal.withheld_reasons(jsonb, jsonb) to souk_agent, souk_person;
