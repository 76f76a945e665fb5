-- What the classifiers and the embedder of the built-in reader have learned, and why it took an offer's price.

create or replace view inspect.classifier_weights with (security_invoker = true) as
select c.name as classifier, s.class, f.feature,
  -- A signed byte: values from 128 on stand for -128 to -1.
  ((case when s.byte > 127 then s.byte - 256 else s.byte end) / 10.0)::numeric(4, 1) as weight
-- The concatenation decompresses the weights once here, so that get_byte does not do so for each byte.
from (select name, classes, features, weights || ''::bytea as weights from reading.classifier offset 0) as c
cross join lateral unnest(c.features) with ordinality as f (feature, n)
cross join lateral (
  select k.class, get_byte(c.weights, ((f.n - 1) * cardinality(c.classes) + k.n - 1)::integer) as byte
  from unnest(c.classes) with ordinality as k (class, n)
  offset 0) as s
where s.byte <> 0;
comment on view inspect.classifier_weights is
  'When texts are read wrong: which features count for and against each class. For example, the features of asks to '
  'rent: where classifier = ''ask_kind'' and class = ''rent'' order by weight desc. To correct a classifier, add '
  'examples to reading.example, and a worker trains on them within a minute.';
comment on column inspect.classifier_weights.classifier is
  'What the classifier decides: ask_kind, offer_kind, a group of categories such as goods, or a passage such as price '
  'or place.';
comment on column inspect.classifier_weights.class is
  'The kind, DOMAIN/CATEGORY or role; "score" where one of several passages is chosen.';
comment on column inspect.classifier_weights.feature is
  'The feature that a text may have: a word, two words, or a fact about the text.';
comment on column inspect.classifier_weights.weight is
  'The log weight of the feature for the class. A negative weight counts against the class.';
grant select on inspect.classifier_weights to souk_dba;

create or replace view inspect.word_meanings with (security_invoker = true) as
select w.word, (get_byte(m.weights, (w.n - 1)::integer) / 80.0)::numeric(4, 2) as says,
  m.topics[get_byte(m.parts, p.at) + 256 * get_byte(m.parts, p.at + 1) + 1] as topic,
  (get_byte(m.parts, p.at + 2) / 160.0)::numeric(4, 2) as weight
-- The concatenations decompress the bytes once here, so that get_byte does not do so for each byte.
from (select topics, words, weights || ''::bytea as weights, counts || ''::bytea as counts, parts || ''::bytea as parts
  from reading.meaning offset 0) as m
cross join lateral (
  select u.word, u.n, get_byte(m.counts, (u.n - 1)::integer) as parts,
    sum(get_byte(m.counts, (u.n - 1)::integer)) over (order by u.n) as parts_so_far
  from unnest(m.words) with ordinality as u (word, n)
  offset 0) as w
cross join lateral (
  select 3 * (w.parts_so_far - k)::integer as at from generate_series(1, w.parts) as k) as p;
comment on view inspect.word_meanings is
  'When a search finds something by its vector that is not related, or misses something that is: what each word means '
  'to the built-in embedder. For example: where word = ''pram'' order by weight desc. To correct a meaning, add a '
  'label to reading.label or examples to reading.example, and a worker learns from them within a minute.';
comment on column inspect.word_meanings.word is 'The word or phrase, folded.';
comment on column inspect.word_meanings.says is 'How much the word counts in the vector of a text.';
comment on column inspect.word_meanings.topic is
  'A topic that the word is about: a concept, DOMAIN/CATEGORY or DOMAIN.';
comment on column inspect.word_meanings.weight is 'How much the topic counts in the meaning of the word.';
grant select on inspect.word_meanings to souk_dba;

create or replace function inspect.price_reasons(offer uuid)
  returns table (candidate integer, amount numeric, currency text, chance numeric, feature text, weight numeric)
  language sql stable
as $$
  select c.candidate::integer, (c.reason ->> 'amount')::numeric, c.reason ->> 'currency',
    (c.reason ->> 'chance')::numeric, f.reason ->> 'feature', (f.reason ->> 'weight')::numeric
  from reading.price_reason r
  cross join lateral jsonb_array_elements(r.candidates) with ordinality as c (reason, candidate)
  left join lateral jsonb_array_elements(c.reason -> 'features') with ordinality as f (reason, place) on true
  where r.offer_id = price_reasons.offer
  order by c.candidate, f.place
$$;
comment on function inspect.price_reasons(uuid) is
  'When an offer has a wrong price: which passages of its text the built-in extractor considered, most probable first, '
  'how probable each was, and the features that said most for it (positive) or against it (negative). A candidate '
  'without an amount is a statement such as "free". For example: select * from '
  'inspect.price_reasons(''0199c0de-0000-7000-8000-000000000000'') where candidate = 1. If a model read another price, '
  'the offer has the model''s price. To correct the extractor, add the text with marks to reading.example, and a '
  'worker trains on it within a minute. There is no row if the text has no number and no such statement.';
grant execute on function inspect.price_reasons(uuid) to souk_dba;
