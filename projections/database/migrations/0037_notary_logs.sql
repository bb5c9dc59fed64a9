-- The logs for which this database has every checkpoint that was signed. A log that the event store names and this table does
-- not was signed elsewhere, such as before a restore, and must not be continued unasked.
create table notary.logs (
  origin text primary key,
  since timestamptz not null
);

-- No notary has run before this version, so these are empty.
delete from notary.checkpoint;
delete from notary.tree;
delete from notary.tiles;
alter table notary.tree add column origin text not null;
alter table notary.checkpoint add column origin text not null;

-- Checkpoints that were signed, with the last event that each covers: all of the last day, and one an hour before.
create table notary.checkpoints (
  size bigint primary key,
  note text not null,
  signed_at timestamptz not null,
  last_stream text not null,
  last_revision bigint not null
);

-- One row while nothing can be signed.
create table notary.trouble (
  only_row boolean primary key default true check (only_row),
  message text not null,
  since timestamptz not null
);
