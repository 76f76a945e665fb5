-- What to ask the person about a text that leaves something unclear, in the language of the text where we speak it.

create table reading.question (
  field text not null,
  language text not null,
  question text not null,
  constraint question_pkey primary key (field, language),
  constraint question_field_length check (char_length(field) between 1 and 40),
  constraint question_language_length check (char_length(language) between 2 and 20),
  constraint question_question_length check (char_length(question) between 1 and 300)
);

alter table reading.question enable row level security;
alter table reading.question force row level security;
create policy "the owner sees all" on reading.question to souk_owner using (true) with check (true);

insert into reading.question (field, language, question) values
  ('contact', 'en', 'How can people reach you: by phone, e-mail or a link?'),
  ('price', 'en', 'What does it cost, and in which currency?'),
  ('location', 'en', 'Where is it?'),
  ('offer_kind', 'en', 'Is it for sale, for rent, a service, a job, or a meeting?'),
  ('category', 'en', 'What exactly is it?'),
  ('domain', 'en', 'What is it about?'),
  ('contact', 'de', 'Wie sind Sie erreichbar: per Telefon, E-Mail oder Link?'),
  ('price', 'de', 'Was kostet es, und in welcher Währung?'),
  ('location', 'de', 'Wo ist es?'),
  ('offer_kind', 'de', 'Wird es verkauft, vermietet, ist es eine Dienstleistung, eine Stelle oder ein Treffen?'),
  ('category', 'de', 'Was genau ist es?'),
  ('domain', 'de', 'Worum geht es?'),
  ('contact', 'fr', 'Comment vous joindre : par téléphone, e-mail ou lien ?'),
  ('price', 'fr', 'Combien cela coûte-t-il, et dans quelle monnaie ?'),
  ('location', 'fr', 'Où cela se trouve-t-il ?'),
  ('offer_kind', 'fr', 'Est-ce à vendre, à louer, un service, un emploi ou une rencontre ?'),
  ('category', 'fr', 'Qu''est-ce exactement ?'),
  ('domain', 'fr', 'De quoi s''agit-il ?'),
  ('contact', 'es', '¿Cómo se le puede contactar: por teléfono, correo o enlace?'),
  ('price', 'es', '¿Cuánto cuesta y en qué moneda?'),
  ('location', 'es', '¿Dónde está?'),
  ('offer_kind', 'es', '¿Se vende, se alquila, es un servicio, un empleo o un encuentro?'),
  ('category', 'es', '¿Qué es exactamente?'),
  ('domain', 'es', '¿De qué se trata?'),
  ('contact', 'it', 'Come si può contattarla: telefono, e-mail o link?'),
  ('price', 'it', 'Quanto costa, e in quale valuta?'),
  ('location', 'it', 'Dove si trova?'),
  ('offer_kind', 'it', 'È in vendita, in affitto, un servizio, un lavoro o un incontro?'),
  ('category', 'it', 'Che cos''è esattamente?'),
  ('domain', 'it', 'Di che cosa si tratta?'),
  ('contact', 'pt', 'Como pode ser contactado: por telefone, e-mail ou link?'),
  ('price', 'pt', 'Quanto custa, e em que moeda?'),
  ('location', 'pt', 'Onde fica?'),
  ('offer_kind', 'pt', 'É para vender, alugar, um serviço, um emprego ou um encontro?'),
  ('category', 'pt', 'O que é exatamente?'),
  ('domain', 'pt', 'De que se trata?'),
  ('contact', 'nl', 'Hoe bent u bereikbaar: per telefoon, e-mail of link?'),
  ('price', 'nl', 'Wat kost het, en in welke valuta?'),
  ('location', 'nl', 'Waar is het?'),
  ('offer_kind', 'nl', 'Is het te koop, te huur, een dienst, een baan of een ontmoeting?'),
  ('category', 'nl', 'Wat is het precies?'),
  ('domain', 'nl', 'Waar gaat het over?'),
  ('contact', 'pl', 'Jak można się z Państwem skontaktować: telefon, e-mail czy link?'),
  ('price', 'pl', 'Ile to kosztuje i w jakiej walucie?'),
  ('location', 'pl', 'Gdzie to jest?'),
  ('offer_kind', 'pl', 'Czy to sprzedaż, wynajem, usługa, praca czy spotkanie?'),
  ('category', 'pl', 'Co to dokładnie jest?'),
  ('domain', 'pl', 'Czego to dotyczy?');

create policy "a dba reads all" on reading.question for select to souk_dba using (true);

-- Reloaded: grants and comments from here on are loaded again whenever a file of db/schema changes.

comment on table reading.question is 'One row is one question about a field, in one language.';
comment on column reading.question.field is 'A member of missing_fields.';
comment on column reading.question.language is 'BCP 47.';
comment on column reading.question.question is 'The question, for the person.';
grant select on reading.question to souk_dba;

create or replace function reading.questions(missing_fields text[], language text) returns jsonb
  language sql stable
as $$
  select coalesce(jsonb_agg(coalesce(own.question, english.question) order by f.n), '[]')
  from unnest(missing_fields) with ordinality as f (field, n)
  left join reading.question own on own.field = f.field and own.language = split_part(questions.language, '-', 1)
  join reading.question english on english.field = f.field and english.language = 'en'
$$;
comment on function reading.questions(text[], text) is 'One question for each missing field, in the language of the text or in English.';
