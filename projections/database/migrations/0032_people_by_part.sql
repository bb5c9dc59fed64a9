-- A person is found by any part of their name or address: keyed hashes of its trigrams, in the row that erasure deletes.
alter table vault.subject_keys add column trigrams int[] not null default '{}';
-- Whether the trigrams are those of everything that is known of the person. The rows of earlier versions are filled.
alter table vault.subject_keys add column fully_indexed boolean not null default false;
create index subject_keys_by_trigram on vault.subject_keys using gin (trigrams) with (gin_pending_list_limit = 256);
create index subject_keys_to_index on vault.subject_keys (tenant_id, subject_id) where not fully_indexed;
