-- The attempts of deliveries that have begun, written before anything is sent. When the process ends before it records the
-- result, the row is what says that the receiver may have seen the attempt. A row is kept for a while after the result is
-- recorded, since a copy of the job may still wait in NATS.
create table vault.begun_attempts (
  delivery_id text primary key,
  -- The last one that has begun. The next begins after the result of this one is recorded.
  attempt int not null,
  started_at timestamptz not null,
  -- By the clock of the database, which all processes share.
  begun_at timestamptz not null default clock_timestamp(),
  -- The process that makes it.
  process_id uuid not null
);
