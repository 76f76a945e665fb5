-- How many sign-in messages may be sent to a mailbox, for a network, a site, a region and in all, how long a code is,
-- how many wrong codes may be entered, and when a code or link stops working. A link cannot be guessed, so it is never
-- refused because of others' wrong codes.

create or replace function internal.counted_mailbox(email text) returns text
  language sql immutable
as $$
  -- Mail for name+tag@ arrives at name@ (RFC 5233). Gmail has two domains, and ignores dots.
  select case when a.domain in ('gmail.com', 'googlemail.com') then replace(a.name, '.', '') || '@gmail.com'
    else a.name || '@' || a.domain end
  from (select split_part(split_part(counted_mailbox.email, '@', 1), '+', 1) as name,
    split_part(counted_mailbox.email, '@', 2) as domain) as a
$$;
comment on function internal.counted_mailbox(text) is
  'Returns the mailbox in which mail for an address (internal.mailbox_of) arrives, for counting. Whose account it is, '
  'the exact address decides.';

create or replace function internal.share_of_rest(scope text, cap integer, span interval, part integer) returns integer
  language sql volatile
as $$
  select greatest(ceil((share_of_rest.cap - count(*))::numeric / share_of_rest.part), 1)::integer
  from market.rate_limit_hit h
  where h.scope = share_of_rest.scope and h.action = 'sign_in_mail'
    and h.called_at > clock_timestamp() - share_of_rest.span
$$;
comment on function internal.share_of_rest(text, integer, interval, integer) is
  'Returns how many messages one of many callers may have of a window that all share: this part of what is left in it, '
  'so 10 for a tenth, and at least one. The fuller the window, the fewer; the last are for those who had none.';

create or replace function internal.sign_in_mail_windows(email text, address text, browser_hash bytea)
  returns table (scope text, cap integer, span interval)
  language plpgsql volatile
as $$
declare
  network constant text := internal.network_of(sign_in_mail_windows.address);
  site constant text := internal.site_of(network);
  region constant text := internal.region_of(network);
  counted constant text := internal.counted_mailbox(sign_in_mail_windows.email);
  mailbox constant text := 'mailbox:' || internal.mark_of(counted);
  mailbox_at constant text := 'mailbox_at:' || internal.mark_of(counted || ' ' || region);
  strangers constant integer := internal.setting('sign_in_mails_of_strangers')::integer;
begin
  -- A browser that signed in to this mailbox before has windows of its own, which no stranger can use up.
  if internal.is_known_browser(sign_in_mail_windows.browser_hash, sign_in_mail_windows.email) then
    return query select
      'browser:'
      || internal.mark_of(encode(sign_in_mail_windows.browser_hash, 'hex') || ' ' || sign_in_mail_windows.email),
      internal.setting('sign_in_mails_of_browser')::integer, interval '1 hour';
    return;
  end if;
  -- The windows of the mailbox and of the service are shared, so that a few regions cannot use one up. Of the thousand
  -- messages of the service, an attacker with one region gets 91, with ten regions 619, and with 54 regions all. Until
  -- then a caller from another region still gets one. Of the twenty messages of a mailbox, one region gets five, and
  -- nine regions get all. Then the owner waits, or uses another method or a browser that the mailbox knows. A reserve
  -- for new regions would not help, because the attacker's tenth region would take it. Receiving domains have no
  -- window, because an attacker who filled it would shut out all people of that domain.
  return query values
    (mailbox_at, internal.share_of_rest(mailbox, 20, interval '1 hour', 3), interval '1 hour'),
    (mailbox_at, internal.share_of_rest(mailbox, 60, interval '1 day', 3), interval '1 day'),
    (mailbox, 20, interval '1 hour'),
    (mailbox, 60, interval '1 day'),
    -- The windows of a network and a site limit the number of guesses, since each message allows five.
    ('address:' || network, 20, interval '1 hour'),
    ('address:' || site, least(internal.setting('sign_in_mails_of_site')::integer,
      internal.share_of_rest('service', strangers, interval '1 hour', 15)), interval '1 hour'),
    ('address:' || region, internal.share_of_rest('service', strangers, interval '1 hour', 10), interval '1 hour'),
    ('service', strangers, interval '1 hour');
end
$$;
comment on function internal.sign_in_mail_windows(text, text, bytea) is
  'Returns the rate limit windows in which a sign-in message counts: for a browser that the mailbox knows, its own (an '
  'hour); otherwise mailbox, and mailbox and region together (an hour, and a day), and network, site, region and whole '
  'service (an hour each). The limits of sites and regions depend on what is left of the shared windows.';

create or replace function internal.count_sign_in_mail(email text, address text, browser_hash bytea) returns void
  language plpgsql volatile
as $$
declare
  scopes constant text[] := array(select distinct w.scope from internal.sign_in_mail_windows(
    count_sign_in_mail.email, count_sign_in_mail.address, count_sign_in_mail.browser_hash) as w order by 1);
  wait integer;
begin
  perform internal.lock_window(s.scope, 'sign_in_mail') from unnest(scopes) as s (scope);
  -- Only now nobody else changes what is left of a window.
  wait := (select max(internal.window_wait(w.scope, 'sign_in_mail', w.cap, w.span))
    from internal.sign_in_mail_windows(
      count_sign_in_mail.email, count_sign_in_mail.address, count_sign_in_mail.browser_hash) as w);
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited',
      'too_many_mails', jsonb_build_object('minutes', ceil(wait / 60.0)),
      extra => jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action) select s.scope, 'sign_in_mail' from unnest(scopes) as s (scope);
end
$$;
comment on function internal.count_sign_in_mail(text, text, bytea) is
  'Counts a sign-in message in its windows (internal.sign_in_mail_windows). Raises 429 when one of them is full.';

create or replace function internal.wrong_code_windows(digits integer, email text, address text)
  returns table (scope text, cap integer, span interval)
  language plpgsql volatile
as $$
declare
  network constant text := 'address:' || internal.network_of(wrong_code_windows.address);
  mailbox constant text := 'mailbox:' || internal.mark_of(wrong_code_windows.email);
begin
  -- The probability that an attacker with any number of networks guesses any code in a day:
  --    6 digits:        100 wrong codes / 10^6  = 1 in 10,000
  --    9 digits:     10,000 wrong codes / 10^9  = 1 in 100,000
  --   12 digits: 10,000,000 wrong codes / 10^12 = 1 in 100,000 (116 a second, more than the messages can be sent)
  -- Together this is 1.2 in 10,000, or once in 23 years of attack without a pause. For one mailbox, to which strangers
  -- have at most 60 messages of five tries a day sent, it is 20 / 10^6 + 300 / 10^9 = 2 in 100,000, or once in 135
  -- years. From one network it is half of that.
  -- Using up a window only makes others' codes longer: a person asks for a new message, or opens the link. The last
  -- window is what the messages of one network allow anyway: 20 an hour of five tries.
  return query
    select l.scope, l.cap, l.span
    from (values
      (6, network, 10, interval '1 day'),
      (6, mailbox, 20, interval '1 day'),
      (6, 'service', 100, interval '1 day'),
      (9, network, 50, interval '1 day'),
      (9, 'service', 10000, interval '1 day'),
      (12, network, 100, interval '1 hour')) as l (digits, scope, cap, span)
    where l.digits = wrong_code_windows.digits;
end
$$;
comment on function internal.wrong_code_windows(integer, text, text) is
  'Returns the rate limit windows in which a wrong code of this length counts, always in the same order: network, '
  'e-mail address, whole service. The action of the windows is wrong_code_<digits>.';

create or replace function internal.code_digits(email text, address text) returns integer
  language plpgsql volatile
as $$
begin
  -- Messages get a longer code when half of a window is used, because the codes sent before stay valid for 15 minutes.
  -- So many people's typos never make anybody's code invalid.
  return coalesce((
    select d.digits from (values (6), (9)) as d (digits)
    where not exists (
      select from internal.wrong_code_windows(d.digits, code_digits.email, code_digits.address) as w
      where internal.window_wait(w.scope, 'wrong_code_' || d.digits, w.cap / 2, w.span) is not null)
    order by d.digits limit 1), 12);
end
$$;
comment on function internal.code_digits(text, text) is
  'Returns how many digits the code of the next message to an e-mail address has when a network asks for it: 6, and 9 '
  'or 12 while many wrong codes are entered.';

create or replace function internal.admit_code(attempt market.sign_in, address text) returns void
  language plpgsql volatile
as $$
declare
  action text := 'wrong_code_' || attempt.code_digits;
  wait integer;
begin
  -- The code is compared only under these locks, so that parallel calls cannot try more codes than a window has left.
  -- All other locks of a sign-in are taken before, so that these are held for a short time.
  perform internal.lock_window(w.scope, action)
  from internal.wrong_code_windows(attempt.code_digits, attempt.email, admit_code.address) as w;
  wait := (select max(internal.window_wait(w.scope, action, w.cap, w.span))
    from internal.wrong_code_windows(attempt.code_digits, attempt.email, admit_code.address) as w);
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited', case when attempt.code_digits < 12
      then 'codes_not_accepted' else 'too_many_wrong_codes' end,
      jsonb_build_object('digits', attempt.code_digits, 'minutes', ceil(wait / 60.0)),
      jsonb_build_object('retry_after', wait));
  end if;
end
$$;
comment on function internal.admit_code(market.sign_in, text) is
  'Raises 429 when too many wrong codes of this length were entered from the network, for the e-mail address or in the '
  'whole service. Keeps the windows locked, so that the caller can count a wrong code (internal.count_wrong_code).';

create or replace function internal.count_wrong_code(attempt market.sign_in, address text) returns void
  language sql volatile
as $$
  insert into market.rate_limit_hit (scope, action)
  select w.scope, 'wrong_code_' || attempt.code_digits
  from internal.wrong_code_windows(attempt.code_digits, attempt.email, count_wrong_code.address) as w;
  update market.sign_in s set tries = s.tries + 1 where s.id = attempt.id
$$;
comment on function internal.count_wrong_code(market.sign_in, text) is
  'Counts a wrong code: as a try of its attempt, and in the windows that internal.admit_code has locked.';

create or replace function internal.check_sign_in_mail(attempt market.sign_in) returns void
  language plpgsql stable
as $$
begin
  if attempt.id is null or attempt.link_hash is null or attempt.finished_at is not null
      or attempt.expires_at <= now() or attempt.tries >= 5 then
    perform internal.raise_problem(410, 'link_expired', 'mail_code_over');
  end if;
end
$$;
comment on function internal.check_sign_in_mail(market.sign_in) is
  'Raises 410 for a mail sign-in attempt that is unknown, finished, expired, or has used its five tries.';
