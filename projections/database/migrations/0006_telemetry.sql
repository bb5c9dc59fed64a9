-- What devices last said of themselves: written in batches, like the counts.
create table usage.device_telemetry (
  instance_id text primary key,
  license_id text not null,
  app_version text,
  sdk_version text,
  platform text,
  sdk text,
  seen_at timestamptz not null
);
create index device_telemetry_of_license on usage.device_telemetry (license_id);
