--! Previous: sha1:ffdfaad751a4043e9b5e89087091266a62c2035f
--! Hash: sha1:f39d06443f39fe6fcd2a740966e83c52d9fc4710
--! Message: index of labels without a pending list

-- Loading the lexicon leaves its index with a list of thousands of rows that every query compares with each word, until
-- a vacuum, which the embedded database never runs. A search for two thousand words took seven seconds.

set local role souk_owner;

alter index reading.label_lexemes_idx set (fastupdate = off);
select gin_clean_pending_list('reading.label_lexemes_idx');

reset role;
