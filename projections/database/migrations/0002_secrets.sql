-- Values that must be shown or used again later. Each has a key of its own, so that deleting its row destroys it.
create table vault.secrets (
  tenant_id text not null,
  name text not null,
  wrapped bytea not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, name)
);
