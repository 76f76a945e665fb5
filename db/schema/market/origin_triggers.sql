-- Tables of shipped rows: triggers record which rows an operator added, changed or deleted
-- (internal/platform/origin.sql). They do not fire while an upgrade loads rows.

do $$
declare
  shipped record;
begin
  for shipped in
    -- The table, the columns of its key, and the other columns that an upgrade changes.
    select * from (values
      ('market.offer_kind', 'offer_kind', 'position'),
      ('market.domain', 'domain', 'kinds,position'),
      ('market.category', 'domain,category', 'position'),
      ('market.ask_kind', 'ask_kind', 'answered_by'),
      ('market.permission', 'permission', 'needs_approval,writes,needs_method,summary,detail'),
      ('market.reason', 'code', 'rank,summary,sentence'),
      ('market.setting', 'name', 'summary,least,most'),
      ('market.sign_in_method', 'method', 'position'),
      ('market.embedding_model', 'model', 'min_similarity,match_min_similarity,similarity_weight'),
      ('market.ranking', 'ranking',
        'in_title,in_text,in_category,density,modifier,place,price,same_category,same_domain,other_domain,same_kind,'
        'other_kind,match_base,match_similarity,match_category,match_words,match_place,match_other_place,match_price,'
        'match_other_condition,match_musts,match_attributes,match_other_attributes'),
      ('market.invariant', 'invariant', 'sampled,summary,remedy'),
      ('reading.concept', 'concept', 'type,domain,category,offer_kind,ask_kind,condition'),
      ('reading.broader', 'concept,broader', ''),
      ('reading.example', 'text', 'offer_kind,ask_kind,domain,category,language'),
      ('reading.label', 'concept,language,form', 'weight,is_prefix'),
      ('reading.place', 'place', 'kind,name,country,region,city,population,latitude,longitude'),
      ('reading.place_member', 'place,country', ''),
      ('reading.place_name', 'place,name', 'language,form'),
      ('reading.question', 'field,language', 'question')
    ) as s (name, key, updated)
  loop
    execute format(
      $create$
        create trigger keep_origin before insert or update or delete on %1$s
          for each row when (current_setting('market.loading', true) is distinct from 'on')
          execute function internal.keep_origin(%2$L, %3$L);
        create trigger remember_truncate before truncate on %1$s
          for each statement when (current_setting('market.loading', true) is distinct from 'on')
          execute function internal.remember_truncate(%2$L);
      $create$, shipped.name, shipped.key, shipped.updated);
  end loop;
end
$$;
