-- The Merkle tree over the ledger's own events. It is computed from the log, and the same log gives the same tree again, so no
-- backup and no copy takes it along.
create schema notary;

-- One row: how far the tree reaches. It changes together with the tiles.
create table notary.tree (
  only_row boolean primary key default true check (only_row),
  size bigint not null,
  -- The hashes of the complete subtrees of which the tree consists, from left to right, 32 bytes each.
  edge bytea not null,
  -- The event of the last leaf, after which the next events are read.
  last_stream text,
  last_revision bigint,
  last_event_id text
);

-- Hashes of subtrees with 256^level leaves, 256 in a full tile. The last tile of a level grows; a full one never changes.
create table notary.tiles (
  level int not null,
  index bigint not null,
  hashes bytea not null,
  -- At level 0: the event of the first leaf. A leaf is found by it, in any event store.
  first_stream text,
  first_revision bigint,
  primary key (level, index)
);
-- Hashes cannot be compressed.
alter table notary.tiles alter column hashes set storage external;

-- One row: the last signed checkpoint.
create table notary.checkpoint (
  only_row boolean primary key default true check (only_row),
  size bigint not null,
  root bytea not null,
  note text not null,
  signed_at timestamptz not null
);
