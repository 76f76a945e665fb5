-- What the built-in reader has learned.

create view inspect.classifier_weights with (security_invoker = true) as
select w.classifier, c.classes[n.n] as class, w.feature, w.weights[n.n] as weight
from market.classifier_weight w
join market.classifier c on c.name = w.classifier
cross join lateral generate_subscripts(w.weights, 1) as n (n)
where w.weights[n.n] <> 0;
comment on view inspect.classifier_weights is
  'When texts are read as the wrong kind or category: what speaks for and against it. For example, what makes an ask one to rent: where classifier = ''ask_kind'' and class = ''rent'' order by weight desc. Nothing is mended here: add examples to market.ask_example or market.offer_example, and a worker learns within a minute.';
comment on column inspect.classifier_weights.classifier is 'ask_kind, offer_kind, or what categories it tells apart.';
comment on column inspect.classifier_weights.class is 'The kind, or DOMAIN/CATEGORY.';
comment on column inspect.classifier_weights.feature is 'What a text may have: a word, two words, or a fact about it.';
comment on column inspect.classifier_weights.weight is 'How much it speaks for the class, or against it when negative; a logarithm.';
grant select on inspect.classifier_weights to souk_dba;
