-- Test notifications of payment providers that had no effect, and why. They change nothing, so the log does not hold them:
-- a row says what a vendor who tests wants to know, for some time and up to some number.
create table usage.ignored_tests (
  tenant_id text not null,
  provider text not null,
  notification_id text not null,
  kind text not null,
  reason text not null,
  detail text,
  times int not null default 1,
  received_at timestamptz not null,
  last_at timestamptz not null,
  primary key (tenant_id, provider, notification_id)
);
create index ignored_tests_by_age on usage.ignored_tests (tenant_id, received_at desc);
