-- How an ask becomes a row of search.ask, and the triggers that keep the row.

create or replace function search.ask_of(ask market.ask) returns search.ask
  language plpgsql stable
as $$
declare
  a search.ask;
begin
  -- An ask without a domain or a kind matches nothing: no answer is better than a wrong one.
  if ask.status is distinct from 'active' or ask.read_at is null or ask.domain is null or ask.ask_kind is null then
    return null;
  end if;
  a.id := ask.id;
  a.account_id := ask.account_id;
  a.sandbox_id := ask.sandbox_id;
  a.domain := ask.domain;
  a.category := ask.category;
  a.ask_kind := ask.ask_kind;
  a.watch_enabled := ask.watch_enabled;
  a.words := search.lexemes_of(ask.keywords_query);
  a.places := search.lexemes_of(ask.place_query);
  select e.model, e.embedding into a.model, a.embedding from market.ask_embedding e where e.ask_id = ask.id;
  return a;
end
$$;
comment on function search.ask_of(market.ask) is
  'Returns the row of search.ask for an ask; null unless it is active, and was read, and may match something.';

create or replace function search.store_ask(ask market.ask) returns boolean
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  a constant search.ask := search.ask_of(ask);
begin
  if a.id is null then
    delete from search.ask s where s.id = ask.id;
    return found;
  end if;
  insert into search.ask as s select a.*
  on conflict on constraint ask_pkey do update set
    account_id = excluded.account_id, sandbox_id = excluded.sandbox_id, domain = excluded.domain,
    category = excluded.category, ask_kind = excluded.ask_kind, watch_enabled = excluded.watch_enabled,
    model = excluded.model,
    -- As in search.store_document: what is equal is kept as it is stored.
    words = case when s.words = excluded.words then s.words else excluded.words end,
    places = case when s.places = excluded.places then s.places else excluded.places end,
    embedding = case when s.model = excluded.model
        and s.embedding operator(public.=) excluded.embedding then s.embedding else excluded.embedding end
  where s is distinct from excluded;
  return found;
end
$$;
comment on function search.store_ask(market.ask) is
  'Makes the row of search.ask for an ask what it should be, and returns whether it was something else. The caller has '
  'locked the ask.';

create or replace function search.keep_ask() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    delete from search.ask a where a.id = old.id;
  else
    perform search.store_ask(new);
  end if;
  return null;
end
$$;
comment on function search.keep_ask() is
  'Keeps the row of search.ask for an ask that is added, changed or deleted, no matter which role changed it.';

create or replace function search.keep_ask_vector() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update search.ask a set model = new.model, embedding = new.embedding
  where a.id = coalesce(new.ask_id, old.ask_id);
  return null;
end
$$;
comment on function search.keep_ask_vector() is
  'Copies the vector of an ask to its row of search.ask when it is stored, and removes it there when it is deleted.';
