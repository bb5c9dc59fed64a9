-- What the operator has ordered of this installation. It is of this installation alone: no copy takes it along.
create schema operations;

-- One row while the ledger is frozen.
create table operations.freeze (
  only_row boolean primary key default true check (only_row),
  began_at timestamptz not null default clock_timestamp(),
  -- Since when no process can append any more; null until that is known.
  holds_since timestamptz,
  actor text not null,
  reason text
);

-- The connections by which processes say that they may append. One that is gone while its row is here was lost, and its
-- process may have had an append under way.
create table operations.appenders (
  id uuid primary key,
  pid int not null,
  started_at timestamptz not null
);
