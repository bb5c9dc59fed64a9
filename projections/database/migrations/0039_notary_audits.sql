-- Scheduled comparisons of the log with the tree, and how they ended. One without an end is running, or was cut off.
create table notary.audits (
  id uuid primary key,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- What was compared, and what was found; null when it could not be done.
  report jsonb,
  -- Why it could not be done.
  failure text
);
create index audits_by_age on notary.audits (started_at desc);
