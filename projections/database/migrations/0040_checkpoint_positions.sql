-- Where the last event of a checkpoint is in the event store that it was read from: whether an event is covered is then one comparison.
alter table notary.checkpoints add column last_position bigint;
create index checkpoints_by_position on notary.checkpoints (last_position);
