-- Keys of licenses that can be mailed to their holder again, sealed under the person's key: erasing the person destroys them.
-- A key is written before the event that issues it. It is settled once the license is seen to have that key and that holder;
-- one that no license has is deleted.
create table vault.kept_keys (
  tenant_id text not null,
  subject_id text not null,
  license_id text not null,
  key_hash text not null,
  product_id text not null,
  sealed text not null,
  settled boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (tenant_id, subject_id, license_id, key_hash)
);
create index kept_keys_of_product on vault.kept_keys (tenant_id, product_id);
create index kept_keys_of_license on vault.kept_keys (license_id);
create index kept_keys_unsettled on vault.kept_keys (created_at) where not settled;
