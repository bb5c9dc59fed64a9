-- A person is found by a keyed hash of their address, and goes by an id that does not follow from it: once this row is
-- gone, nobody can tell what was theirs, not even by trying the address out. Ids that were made before are the hash.
alter table vault.subject_keys add column email_index text;
update vault.subject_keys set email_index = subject_id;
alter table vault.subject_keys alter column email_index set not null;
create unique index subject_keys_by_email on vault.subject_keys (tenant_id, email_index);
