-- How many sign-in messages may be sent for an e-mail address or a network, and when a code or link stops working.

create or replace function internal.sign_in_mail_windows(email text, address text)
  returns table (scope text, cap integer, span interval)
  language plpgsql stable
as $$
declare
  network text := internal.network_of(sign_in_mail_windows.address);
  mailbox text := encode(internal.subject_hash('email', sign_in_mail_windows.email), 'hex');
begin
  -- The first window keeps one network from using up the messages of an e-mail address: its owner can still request a
  -- message from another network. The other windows limit the number of guesses: each message allows five.
  return query values
    ('mailbox_at:' || substr(encode(sha256(convert_to(mailbox || network, 'UTF8')), 'hex'), 1, 32), 5,
      interval '1 hour'),
    ('address:' || network, 20, interval '1 hour'),
    ('mailbox:' || substr(mailbox, 1, 32), 20, interval '1 hour'),
    ('mailbox:' || substr(mailbox, 1, 32), 60, interval '1 day');
end
$$;
comment on function internal.sign_in_mail_windows(text, text) is
  'Returns the rate limit windows in which a sign-in message counts: e-mail address and network together (an hour), '
  'network (an hour), and e-mail address (an hour, and a day).';

create or replace function internal.count_sign_in_mail(email text, address text) returns void
  language plpgsql volatile
as $$
declare
  scopes text[] := (select array_agg(distinct w.scope order by w.scope)
    from internal.sign_in_mail_windows(count_sign_in_mail.email, count_sign_in_mail.address) as w);
  wait integer;
begin
  perform internal.lock_window(s.scope, 'sign_in_mail') from unnest(scopes) as s (scope);
  wait := (select max(internal.window_wait(w.scope, 'sign_in_mail', w.cap, w.span))
    from internal.sign_in_mail_windows(count_sign_in_mail.email, count_sign_in_mail.address) as w);
  if wait is not null then
    perform internal.raise_problem(429, 'rate_limited',
      format(
        'Too many sign-in messages were asked for. Try again in %s minutes. Until then only a message that this '
        'browser asked for can help, within 15 minutes: a code works only in the browser that asked for it.',
        ceil(wait / 60.0)), jsonb_build_object('retry_after', wait));
  end if;
  insert into market.rate_limit_hit (scope, action) select s.scope, 'sign_in_mail' from unnest(scopes) as s (scope);
end
$$;
comment on function internal.count_sign_in_mail(text, text) is
  'Counts a sign-in message: at most 5 an hour for an e-mail address from one network, 20 an hour for a network, 20 an '
  'hour and 60 a day for an e-mail address. Raises 429 beyond these limits.';

create or replace function internal.check_sign_in_mail(attempt market.sign_in) returns void
  language plpgsql stable
as $$
begin
  if attempt.id is null or attempt.link_hash is null or attempt.finished_at is not null
      or attempt.expires_at <= now() or attempt.tries >= 5 then
    perform internal.raise_problem(410, 'link_expired',
      'This link or code no longer works: each works once, for 15 minutes, and not after five wrong codes. Start '
      'signing in again for a new message.');
  end if;
end
$$;
comment on function internal.check_sign_in_mail(market.sign_in) is
  'Raises 410 for a mail sign-in attempt that is unknown, finished, expired, or has used its five tries.';
