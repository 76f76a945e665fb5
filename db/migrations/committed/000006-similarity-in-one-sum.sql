--! Previous: sha1:729a7c17982add9413f9a251a9350c34819d288d
--! Hash: sha1:be79f601c35d89b87d23f91be47932823999bc46
--! Message: similarity in one sum

-- The similarity of an offer counts with its words in one sum, and no model compares only letters any more.

set local role souk_owner;

alter table market.embedding_model rename column rrf_weight to similarity_weight;
alter table market.embedding_model drop column by_letters;
alter table market.embedding_model drop constraint embedding_model_rrf_weight_range;
alter table market.embedding_model add constraint embedding_model_similarity_weight_range
  check (similarity_weight between 0 and 2);
drop trigger keep_origin on market.embedding_model;
create trigger keep_origin before update or delete on market.embedding_model
  for each row when (current_setting('market.loading', true) is distinct from 'on')
  execute function internal.keep_origin('model', 'min_similarity,match_min_similarity,similarity_weight');

reset role;
