-- The progress of embedding.

create or replace view inspect.embedding_progress with (security_invoker = true) as
with item as (
  select 'offer' as kind, 'embed_offer' as task, e.model
  from market.offer o left join market.offer_embedding e on e.offer_id = o.id
  where o.status = 'published' and o.sandbox_id is null
  union all
  select 'ask' as kind, 'embed_ask' as task, e.model
  from market.ask a left join market.ask_embedding e on e.ask_id = a.id
  where a.status = 'active' and a.sandbox_id is null and a.read_at is not null
), counted as (
  select i.kind, i.task, count(*) as items,
    count(*) filter (where to_jsonb(i.model) = f.value) as with_vector,
    count(*) filter (where to_jsonb(i.model) <> f.value) as of_another_model,
    count(*) filter (where i.model is null) as without_vector
  from item i cross join (select s.value from market.setting s where s.name = 'embedding_model') as f
  group by i.kind, i.task
)
select c.kind, internal.setting('embedding_model') #>> '{}' as model, c.items, c.with_vector, c.of_another_model,
  c.without_vector,
  round(100.0 * c.with_vector / c.items, 1) as percent, coalesce(q.jobs, 0) as jobs,
  coalesce(q.failed, 0) as jobs_failed,
  q.oldest, q.an_error,
  -- The estimate assumes that each remaining item takes as long as the items so far.
  (select r.moved_at
    + (r.moved_at - r.started_at) * (greatest(r.total - r.done, 0)::double precision / nullif(r.done, 0))
    from market.reembedding r where r.finished_at is null) as expected_at
from counted c
left join (
  -- A change of the embedding model is one job for offers and asks together.
  select t.task, sum(q.jobs) as jobs, coalesce(sum(q.jobs) filter (where q.state = 'permanently failed'), 0) as failed,
    max(q.oldest) as oldest, max(q.an_error) as an_error
  from (values ('embed_offer'), ('embed_ask')) as t (task)
  join inspect.queue q on q.task in (t.task, 'reembed') group by t.task) as q on q.task = c.task;
comment on view inspect.embedding_progress is
  'When searches use words only, or the embedding model was changed: how many published offers and active asks have a '
  'vector of the current model, and which jobs still wait. The view reads every published offer, which takes about a '
  'second for a million.';
comment on column inspect.embedding_progress.kind is 'offer or ask.';
comment on column inspect.embedding_progress.items is 'Published offers, or active asks whose text was extracted.';
comment on column inspect.embedding_progress.with_vector is 'Of these, how many have a vector of the current model.';
comment on column inspect.embedding_progress.of_another_model is
  'How many have only another model''s vector. Until it is replaced, searches find these items by words.';
comment on column inspect.embedding_progress.without_vector is 'How many have no vector. They are found by words.';
comment on column inspect.embedding_progress.percent is 'The percentage with a vector of the current model.';
comment on column inspect.embedding_progress.jobs is
  'Jobs that compute vectors: one for each item, or one reembed job for all missing vectors (market.reembedding). If '
  'there is none although vectors are missing, run jobs.begin_reembedding(model).';
comment on column inspect.embedding_progress.jobs_failed is 'Of these jobs, how many have permanently failed.';
comment on column inspect.embedding_progress.oldest is 'How long the oldest of these jobs has waited.';
comment on column inspect.embedding_progress.an_error is 'The error of one of these jobs.';
comment on column inspect.embedding_progress.expected_at is
  'When a running change of the model should be finished; null before its first batch, and when none is running.';
grant select on inspect.embedding_progress to souk_dba;
