-- Rebuilds that were started from the dashboard, and how they ended. One that is not running and has no end was cut off.
create table usage.rebuilds (
  id uuid primary key,
  started_at timestamptz not null,
  ended_at timestamptz,
  events bigint,
  problem text
);
create index rebuilds_by_age on usage.rebuilds (started_at desc);

-- How often somebody was answered 429, by the limit that was hit; written in batches, like the counts.
create table usage.limit_hits (
  tenant_id text not null,
  limit_name text not null,
  hour timestamptz not null,
  hits bigint not null,
  primary key (tenant_id, hour, limit_name)
);
