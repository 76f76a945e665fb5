-- The moves of conversations, proposals, agreements and confirmations. internal.check_move refuses every other.

create table market.move (
  machine text not null,
  from_status text not null,
  to_status text not null,
  mover text not null,
  condition text not null,
  origin text not null default 'operator',
  constraint move_pkey primary key (machine, from_status, to_status, mover),
  constraint move_machine_known check (machine in ('conversation', 'proposal', 'agreement', 'confirmation')),
  constraint move_mover_known
    check (mover in ('inquirer', 'proposer', 'counterpart', 'either', 'person', 'clock', 'market')),
  constraint move_from_status_form check (from_status ~ '^(-|[a-z]{1,20})$'),
  constraint move_to_status_form check (to_status ~ '^[a-z]{1,20}$'),
  constraint move_condition_length check (char_length(condition) between 1 and 300),
  constraint move_origin_known check (origin in ('shipped', 'operator'))
);

comment on table market.move is
  'One row is one move that a conversation, proposal, agreement or confirmation can make. The status - is that of one '
  'that is created.';
comment on column market.move.machine is 'The table whose rows make the move.';
comment on column market.move.from_status is 'The status before it; - when the row is created.';
comment on column market.move.to_status is 'The status after it.';
comment on column market.move.mover is
  'Who moves it. inquirer, proposer, counterpart: this side, the one that sent the proposal, and the other one; either '
  'of both; person: the one who is asked; clock: it expired; market: what happened to an offer or account.';
comment on column market.move.condition is 'What has to be true.';
grant select on market.move to souk_dba;
