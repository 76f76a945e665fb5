-- The invariants of sandboxes. Sandboxes are few, so these checks read all of their rows.

create or replace function inspect.check_sandboxes() returns table (invariant text, object text, detail text)
  language plpgsql stable
as $$
begin
  -- From each row of a sandbox to its account, and from each account of a sandbox to its rows.
  return query
  select 'row_is_of_its_accounts_sandbox', r.kind || ' ' || r.id,
    format('it is of %s, and account %s of %s', coalesce('sandbox ' || r.sandbox_id, 'the market'), r.account_id,
      coalesce('sandbox ' || r.of_account, 'the market'))
  from (
    select 'agent' as kind, g.id, g.account_id, g.sandbox_id, a.sandbox_id as of_account
    from market.agent g join market.account a on a.id = g.account_id where g.sandbox_id is not null
    union
    select 'agent', g.id, g.account_id, g.sandbox_id, a.sandbox_id
    from market.account a join market.agent g on g.account_id = a.id where a.sandbox_id is not null
    union
    select 'offer', o.id, o.account_id, o.sandbox_id, a.sandbox_id
    from market.offer o left join market.account a on a.id = o.account_id where o.sandbox_id is not null
    union
    select 'offer', o.id, o.account_id, o.sandbox_id, a.sandbox_id
    from market.account a join market.offer o on o.account_id = a.id where a.sandbox_id is not null
    union
    select 'ask', k.id, k.account_id, k.sandbox_id, a.sandbox_id
    from market.ask k join market.account a on a.id = k.account_id where k.sandbox_id is not null
    union
    select 'ask', k.id, k.account_id, k.sandbox_id, a.sandbox_id
    from market.account a join market.ask k on k.account_id = a.id where a.sandbox_id is not null) as r
  where r.sandbox_id is distinct from r.of_account;

  return query
  select 'sandbox_has_no_person', 'account ' || a.id, format('it is of sandbox %s, and %s', a.sandbox_id, p.detail)
  from market.account a
  cross join lateral (values
    (a.claimed_at is not null, 'a person has claimed it'),
    (exists (select from market.session s where s.account_id = a.id), 'it has a session'),
    (exists (select from market.proved_method m where m.account_id = a.id), 'it has proved a method')) as p (so, detail)
  where a.sandbox_id is not null and p.so;

  return query
  select 'sandbox_is_not_moderated', 'offer ' || o.id, format('it is of sandbox %s, and has a case', o.sandbox_id)
  from market.offer o join market.review_case c on c.offer_id = o.id where o.sandbox_id is not null;
end
$$;
comment on function inspect.check_sandboxes() is
  'Checks that no row ties two sandboxes, or a sandbox and the market, and that no person has to do with one.';
