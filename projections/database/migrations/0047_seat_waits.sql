-- Seats that ran out and are not recorded as free yet: few of all. A call of a device changes no column of it.
create index seat_ends_ended on usage.seat_ends (license_id) where ended;

-- Who was refused a floating seat lately, and waits for one. Each time of a refusal moves the end; nothing is kept that has passed.
create table usage.seat_waits (
  license_id text not null,
  -- A hash of what tells the taker from others.
  waiter text not null,
  until timestamptz not null,
  primary key (license_id, waiter)
);

create index seat_waits_by_end on usage.seat_waits (until);
