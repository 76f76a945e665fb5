-- Enter migration here

set local role souk_owner;

-- Functions beside tables whose text changed (as db/schema has them)

CREATE OR REPLACE FUNCTION market.file_concepts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  -- What belongs to nobody any more is not found.
  new.concepts := case when new.account_id is null then '' else market.concept_vector(new.title, new.text, new.language) end;
  return new;
end
$function$;
comment on function market.file_concepts() is 'Files an offer under what it names.';

reset role;
