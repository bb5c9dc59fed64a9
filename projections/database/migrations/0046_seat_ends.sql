-- Until when each floating seat lasts. A call of its device moves the end, thousands of times a second, so ends are no
-- events: the log records that a seat was taken, given back or ran out, and cannot give these rows back. A seat without a row
-- lasts for one more period, from when it is first looked at.
create table usage.seat_ends (
  license_id text not null,
  device_id text not null,
  -- Of the seat that the device took last.
  fence int not null,
  seat_seconds int not null,
  -- By the clock of the database, which all processes share.
  ends_at timestamptz not null,
  -- Set once a process has found that the end has passed: after that, no call of the device moves it.
  ended boolean not null default false,
  primary key (license_id, device_id)
) with (fillfactor = 70);

-- When calls of devices could last be answered: no seat runs out because they could not. Without its row, they could not yet.
create table usage.seats_kept (
  one boolean primary key default true check (one),
  kept_at timestamptz not null
);
