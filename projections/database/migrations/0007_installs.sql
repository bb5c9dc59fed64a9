-- Installs without a license, as their beacons tell of them. Beacons are high-volume facts: counted, not recorded as
-- events, so the log cannot give these rows back. An install is known by an id of its own making and nothing else.
create table usage.installs (
  tenant_id text not null,
  product_id text not null,
  instance_id text not null,
  -- What it said last: trial, free_tier or expired.
  state text not null,
  -- The keyed hash of the machine that it says it is on.
  machine text,
  app_version text,
  sdk_version text,
  platform text,
  sdk text,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- When a license was activated in its place.
  converted_at timestamptz,
  primary key (tenant_id, product_id, instance_id)
) with (fillfactor = 80);

create index installs_of_machine on usage.installs (machine) where machine is not null;
