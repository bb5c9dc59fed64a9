-- From where the seats of licenses were used, where their product has rules about sharing. Deleted after 30 days.
create table usage.sightings (
  -- In UTC.
  day date not null,
  license_id text not null,
  -- Empty for a validate that names no device.
  device_id text not null,
  -- The keyed hash of a network, which no other day and no other license has.
  network text not null,
  -- Two letters; null where none is known.
  country text,
  primary key (day, license_id, device_id, network)
);

create index sightings_of_license on usage.sightings (license_id, day);
