-- How much of each rate limit is spent, told by the processes that share it. Unlogged: after a crash of the database
-- every bucket is full again, which is all that can go wrong with it.
create schema limits;

create unlogged table limits.buckets (
  key text primary key,
  -- When the bucket will be full again, in milliseconds since 1970: GCRA's theoretical arrival time.
  tat double precision not null
) with (fillfactor = 50);

-- Who shares them: each process says every other second that it is there.
create unlogged table limits.processes (
  id uuid primary key,
  seen_at timestamptz not null
);

-- A reaction looks for sealed requests whose confirmation is over.
create index secrets_of_confirmations on vault.secrets (created_at) where name like 'confirmation.%';
