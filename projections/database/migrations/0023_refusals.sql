-- Calls of validate and activate that were refused: written in batches, like the counts, and bounded in number. The log
-- does not hold them.

-- For each license, device, call and reason: how often it was refused, and what the newest of these calls said.
create table usage.refusals (
  tenant_id text not null,
  product_id text not null,
  license_id text not null,
  -- The id that the call named: a device's, an instance's, or that of an install; '' when it named none.
  device_id text not null,
  call text not null,
  reason text not null,
  device_name text,
  interface text not null,
  app_version text,
  sdk_version text,
  platform text,
  refused bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (license_id, device_id, call, reason)
) with (fillfactor = 80);
create index refusals_by_age on usage.refusals (tenant_id, last_seen_at desc);
create index refusals_by_end on usage.refusals (last_seen_at);

-- Licenses whose person was erased a short time ago: what another process still had in memory of them is not written.
create table usage.forgotten_refusals (
  license_id text primary key,
  at timestamptz not null
);

-- All refused calls by day, also those with an unknown key.
create table usage.refused_calls (
  tenant_id text not null,
  product_id text not null,
  day timestamptz not null,
  call text not null,
  reason text not null,
  refused bigint not null,
  primary key (tenant_id, day, product_id, call, reason)
);

-- Keys that no license has, by what may be shown of them, which is too little to find out the key.
create table usage.unknown_keys (
  tenant_id text not null,
  product_id text not null,
  day timestamptz not null,
  -- '' for all keys beyond the number that is kept of a day.
  display_key text not null,
  refused bigint not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (tenant_id, product_id, day, display_key)
) with (fillfactor = 80);
create index unknown_keys_by_age on usage.unknown_keys (tenant_id, last_seen_at desc);
create index unknown_keys_by_end on usage.unknown_keys (last_seen_at);
create index unknown_keys_by_display on usage.unknown_keys (tenant_id, display_key);
