-- Which browsers are known to a mailbox, because they signed in to it before. A known browser gets nothing but messages
-- that are counted apart from those of strangers.

create or replace function internal.is_known_browser(browser_hash bytea, email text) returns boolean
  language sql stable
as $$
  select exists (select from market.known_browser k
    where k.secret_hash = is_known_browser.browser_hash
      and k.subject_hash = internal.subject_hash('email', is_known_browser.email))
$$;
comment on function internal.is_known_browser(bytea, text) is
  'Returns whether the browser whose cookie has this SHA-256 has signed in to a mailbox that is still proved.';

create or replace function internal.remember_browser(browser_hash bytea, new_browser_hash bytea, subject_hash bytea)
  returns void
  language plpgsql volatile
as $$
declare
  -- More browsers than a person uses, and more mailboxes than the persons of one browser have. Without a bound,
  -- somebody could store any number of rows.
  of_mailbox constant integer := 10;
  of_browser constant integer := 10;
begin
  if remember_browser.new_browser_hash is null then
    return;
  end if;
  -- The browser gets a new secret. Somebody who planted the old cookie in this browser does not know the new one. The
  -- other mailboxes that knew the browser know it by the new secret, too. Rows that another transaction has locked are
  -- about to be deleted.
  with former as materialized (
    select k.ctid as place, row_number() over (order by k.seen_at desc) as n
    from (
      select k.ctid, k.seen_at from market.known_browser k
      where k.secret_hash = remember_browser.browser_hash and k.subject_hash <> remember_browser.subject_hash
      order by k.subject_hash for update skip locked) as k)
  update market.known_browser k set secret_hash = remember_browser.new_browser_hash
  from former f where k.ctid = f.place and f.n < of_browser;
  delete from market.known_browser k where k.ctid = any (array(
    select o.ctid from market.known_browser o
    where o.secret_hash = remember_browser.browser_hash for update skip locked));
  insert into market.known_browser (secret_hash, subject_hash)
  values (remember_browser.new_browser_hash, remember_browser.subject_hash)
  on conflict on constraint known_browser_pkey do update set seen_at = now();
  delete from market.known_browser k where k.ctid = any (array(
    select o.ctid from market.known_browser o
    where o.method = 'email' and o.subject_hash = remember_browser.subject_hash
    order by o.seen_at desc, o.secret_hash = remember_browser.new_browser_hash desc
    offset of_mailbox for update skip locked));
end
$$;
comment on function internal.remember_browser(bytea, bytea, bytea) is
  'Notes that a browser has signed in to a mailbox, and gives it a new secret for this and for the nine other '
  'mailboxes in which it signed in last. The caller holds the lock of the subject (internal.lock_sign_in). A mailbox '
  'knows its ten newest browsers. A null new_browser_hash notes nothing.';
