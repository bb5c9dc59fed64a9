-- Devices by day in UTC, when their app first reported its version: counted beside the telemetry, in the same batches.
create table usage.app_versions (
  tenant_id text not null,
  day date not null,
  product_id text not null,
  -- '' when the app did not report it.
  app_version text not null,
  platform text not null,
  devices bigint not null,
  primary key (tenant_id, day, product_id, app_version, platform)
) with (fillfactor = 80);

-- Installs on trial by day in UTC: when they were first seen, and when a license was first activated in place of an install
-- that was on trial or past it.
create table usage.trial_days (
  tenant_id text not null,
  day date not null,
  product_id text not null,
  started bigint not null,
  converted bigint not null,
  primary key (tenant_id, day, product_id)
) with (fillfactor = 80);
