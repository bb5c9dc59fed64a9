-- Events with a salt have another leaf than an older version computes. The new name ends an older process that still keeps the
-- tree, before the first such event is recorded: otherwise it would sign a tree that the log does not make again.
alter table notary.tree rename column edge to subtrees;
