--! Previous: sha1:729a7c17982add9413f9a251a9350c34819d288d
--! Hash: sha1:f38a37a8732b1cd0c3cd7cdcc1c289e03e267618
--! Message: similarity in one sum

-- The similarity of an offer counts with its words in one sum, and no model compares only letters any more.

set local role souk_owner;

-- Only the service's own functions, which are loaded with this migration, read these columns of a table of a few rows.
-- squawk-ignore renaming-column
alter table market.embedding_model rename column rrf_weight to similarity_weight;
-- squawk-ignore ban-drop-column
alter table market.embedding_model drop column by_letters;
alter table market.embedding_model drop constraint embedding_model_rrf_weight_range;
-- squawk-ignore constraint-missing-not-valid
alter table market.embedding_model add constraint embedding_model_similarity_weight_range
  check (similarity_weight between 0 and 2);
drop trigger keep_origin on market.embedding_model;
create trigger keep_origin before update or delete on market.embedding_model
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('model', 'min_similarity,match_min_similarity,similarity_weight');

reset role;
