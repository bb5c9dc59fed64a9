-- What relays report of each minute with their renewals. The log cannot give it back: reports would swell it. A minute is reported
-- until an answer has arrived, so the greatest number of each counts, and one that is reported twice counts once.
create table usage.relay_minutes (
  license_id text not null,
  relay_id text not null,
  -- Unix seconds / 60, by the clock of the relay.
  minute int not null,
  -- The most seats in use, how many were taken, and how often none was free.
  peak int not null,
  taken int not null,
  denied int not null,
  primary key (license_id, relay_id, minute)
);
create index relay_minutes_by_age on usage.relay_minutes (minute);
