-- What is wrong with words that one side sends to the other: as of the texts of offers, and no contact from an account
-- that nobody can hold to account.

create or replace function internal.word_errors(body jsonb, first boolean) returns jsonb
  language plpgsql stable
as $$
declare
  is_unproved constant boolean := internal.sandbox_id() is null
    and not exists (select from market.proved_method m where m.account_id = internal.account_id());
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('pointer', w.pointer, 'detail', e.detail) order by w.n), '[]')
    from (values
      (1, '/text', body ->> 'text', 2000, word_errors.first),
      (2, '/proposal/note', body #>> '{proposal,note}', 1000, true),
      (3, '/proposal/handover/place', body #>> '{proposal,handover,place}', 200, true),
      (4, '/contact', body ->> 'contact', 200, false)) as w (n, pointer, words, longest, is_public)
    cross join lateral (select case
      when coalesce(internal.visible_sentence(w.words), '') = '' then 'words_empty'
      when char_length(internal.visible_text(w.words)) > w.longest then 'words_too_long'
      when w.is_public and is_unproved and internal.names_contact(w.words, '{}') then 'words_with_contact'
      else internal.contains_secret(w.words) end as detail) as e
    where w.words is not null and e.detail is not null);
end
$$;
comment on function internal.word_errors(jsonb, boolean) is
  'Returns what is wrong with the words in a body {text, proposal {note, handover {place}}, contact}: [{pointer, '
  'detail}]. first: whether the text is the first message of the account in the conversation, which has no contact '
  'until the account has a proved method.';

create or replace function internal.is_first_message(conversation_id uuid, role text) returns boolean
  language plpgsql stable
as $$
begin
  return not exists (
    select from market.message m
    where m.conversation_id = is_first_message.conversation_id and m.sender = is_first_message.role);
end
$$;
comment on function internal.is_first_message(uuid, text) is
  'Returns whether a side has not written in a conversation yet.';
grant execute on function internal.is_first_message(uuid, text) to souk_agent, souk_person;
