--! Previous: sha1:65a6a01ba3c14fa5c91c04a5730d1d425f4bb18f
--! Hash: sha1:5e36173e321908b123a476ed2dc55152710e9172
--! Message: offers-matched-again

-- Enter migration here
-- An offer whose kind, category or other fields change is matched again, although its text and title are the same: a
-- model may read the text that the built-in reader read before.
set local role souk_owner;
create or replace trigger refresh_changed_offer after update on market.offer for each row
  when (old.status is distinct from new.status or old.text is distinct from new.text
    or old.title is distinct from new.title or old.metadata is distinct from new.metadata
    or old.language is distinct from new.language or old.domain is distinct from new.domain
    or old.category is distinct from new.category or old.offer_kind is distinct from new.offer_kind)
  execute function internal.refresh_offer();
reset role;
