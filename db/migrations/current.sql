-- What words mean, for the built-in embedder. A worker learns it when it starts.

set local role souk_owner;

--!include reading/meaning.sql

-- Meanings depend on the broader concepts, too.
create trigger note_change after insert or update or delete or truncate on reading.broader
  for each statement execute function reading.note_change();

reset role;
