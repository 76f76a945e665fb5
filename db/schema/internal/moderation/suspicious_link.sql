-- Links that hide where they lead. A reader cannot judge them, so a moderator does.

create or replace function internal.has_suspicious_link(text text) returns boolean
  language plpgsql immutable
as $$
begin
  -- Every such link has one of these, and most texts have none of them.
  return (strpos(text, ':') > 0 or strpos(text, '/') > 0 or strpos(text, '--') > 0)
    and internal.lower_case(text) collate "C" ~ (
    -- A scheme that runs code or contains a whole page.
    '\m(javascript|data|vbscript|file):[^\s]'
    -- A name before the host, as in https://bank.com@elsewhere.example
    '|https?://[^\s/?#]*@'
    -- A bare IP address, or a host in Punycode, which looks like another host.
    '|https?://(\d{1,3}\.){3}\d{1,3}\M|https?://\[|\mxn--[a-z0-9]'
    -- Link shorteners.
    '|\m(bit\.ly|tinyurl\.com|t\.co|goo\.gl|ow\.ly|is\.gd|v\.gd|buff\.ly'
    '|cutt\.ly|rb\.gy|rebrand\.ly|shorturl\.at|tiny\.cc|t\.ly)/\S'
    -- A program to install.
    '|https?://[^\s?#]+\.(exe|msi|scr|apk|bat|cmd|ps1|jar|dmg)\M');
end
$$;
comment on function internal.has_suspicious_link(text) is
  'Returns whether a text has a link by a shortener, to a bare IP address, in Punycode, with a name before the host, '
  'with a scheme that runs code, or to a program.';
