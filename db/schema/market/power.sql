create table market.power (
  agent_id uuid not null constraint power_agent_fkey references market.agent on delete cascade,
  power text not null,
  allowed text not null,
  ceiling_thousandths bigint,
  daily_ceiling_thousandths bigint,
  ceiling_currency text,
  updated_at timestamptz not null default clock_timestamp(),
  constraint power_pkey primary key (agent_id, power),
  constraint power_known check (power in ('publish', 'ask', 'converse', 'agree')),
  constraint power_allowed_known check (allowed in ('never', 'alone') or power = 'agree' and allowed = 'ask_me'),
  constraint power_ceiling_of_agree check (
    num_nonnulls(ceiling_thousandths, daily_ceiling_thousandths, ceiling_currency)
      = case when power = 'agree' and allowed = 'alone' then 3 else 0 end),
  constraint power_ceiling_range check (ceiling_thousandths between 0 and 1000000000000000
    and daily_ceiling_thousandths between ceiling_thousandths and 1000000000000000),
  constraint power_ceiling_currency_form check (ceiling_currency ~ '^[A-Z]{3}$')
);

create policy "an account sees the powers of its agents" on market.power for select to souk_agent, souk_person
  using (exists (select from market.agent a where a.id = agent_id));

comment on table market.power is
  'One row is what an agent may do alone, where its person has decided it. Without a row an agent may publish, ask and '
  'converse, and its person confirms each agreement (internal.power_of).';
comment on column market.power.power is 'publish, ask, converse or agree.';
comment on column market.power.allowed is 'never, alone, or for agree also ask_me.';
comment on column market.power.ceiling_thousandths is
  'The most that the agent may agree to pay at once, in thousandths of the major unit of ceiling_currency.';
comment on column market.power.ceiling_currency is 'The currency (ISO 4217) of both amounts.';
comment on column market.power.daily_ceiling_thousandths is 'The most in 24 hours.';
grant select on market.power to souk_agent, souk_person, souk_dba;
