create table market.sign_in_method (
  method text constraint sign_in_method_pkey primary key,
  available boolean not null default false,
  position smallint not null,
  origin text not null default 'operator',
  constraint sign_in_method_known check (method in ('google', 'apple', 'email')),
  constraint sign_in_method_origin_known check (origin in ('shipped', 'operator'))
);

create policy "everyone reads the sign-in methods" on market.sign_in_method for select to souk_agent, souk_person
  using (true);

comment on table market.sign_in_method is 'One row is one sign-in method.';
comment on column market.sign_in_method.available is 'Whether the operator has configured the provider of the method.';
grant select on market.sign_in_method to souk_agent, souk_person;
