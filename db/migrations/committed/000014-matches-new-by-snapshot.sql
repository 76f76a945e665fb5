--! Previous: sha1:a3306cf67f0a5980b8e5a1aa2e0a1427cc138c72
--! Hash: sha1:4a54674c13398bb898e24298eb30a505179d73c1
--! Message: matches-new-by-snapshot

-- New matches are those that a snapshot does not have, as with events. Before, each offer locked all asks that it may answer
-- until it was matched, so that a number could grow in the order of commits, and offers for the same asks waited for each
-- other. Existing matches count as seen by every since that is given from now on.
set local role souk_owner;
alter table market.match add column xid xid8 not null default '3';
alter table market.match alter column xid set default pg_current_xact_id();
reset role;
