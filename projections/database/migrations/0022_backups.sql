-- Backups that the installation has made on schedule, and how they ended. One without an end is running, or was cut off.
create table operations.backups (
  id uuid primary key,
  started_at timestamptz not null,
  ended_at timestamptz,
  file text not null,
  bytes bigint,
  events bigint,
  problem text
);
create index backups_by_age on operations.backups (started_at desc);
