-- The number of the last batch of counts that each process has written: a batch whose answer was lost is sent again, and
-- is not added twice.
create table usage.writers (
  id uuid primary key,
  batch bigint not null,
  written_at timestamptz not null default now()
);
