-- How often a license with floating seats refused a device because all its seats were in use, by the minute: written in batches, like the
-- counts, since the log does not hold refused calls.
create table usage.denied_takings (
  license_id text not null,
  minute timestamptz not null,
  denied bigint not null,
  primary key (license_id, minute)
) with (fillfactor = 80);
create index denied_takings_by_age on usage.denied_takings (minute);
