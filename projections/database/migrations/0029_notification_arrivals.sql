-- When each provider's notifications of a tenant last arrived, verified and refused: for the person who sets it up. They
-- change nothing, so the log does not hold them.
create table usage.notification_arrivals (
  tenant_id text not null,
  provider text not null,
  verified_at timestamptz,
  refused_at timestamptz,
  primary key (tenant_id, provider)
);
