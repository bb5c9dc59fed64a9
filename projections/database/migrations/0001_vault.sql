-- What the log cannot give back: keys under which parts of it are sealed. No rebuild touches this schema.
create schema vault;

-- One row. Tells a wrong master key at start, before anything is sealed under it.
create table vault.master_key_check (
  only_row boolean primary key default true check (only_row),
  sealed bytea not null
);

create table vault.subject_keys (
  tenant_id text not null,
  subject_id text not null,
  wrapped bytea not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, subject_id)
);

-- High-volume facts are counted, not recorded as events, so they live outside the read models too.
create schema usage;

create table usage.hourly (
  tenant_id text not null,
  product_id text not null,
  hour timestamptz not null,
  validations bigint not null default 0,
  rejected bigint not null default 0,
  activations bigint not null default 0,
  deactivations bigint not null default 0,
  primary key (tenant_id, product_id, hour)
);
