-- How far the uses of each meter are reported to the card provider. The log has what was used; these rows say what the provider was
-- told, which nothing else knows.
create table usage.use_reports (
  -- Of the meter.
  stream text primary key,
  tenant_id text not null,
  -- The buyer at the provider; null until it was asked who that is.
  buyer text,
  -- Of the last event that is reported, or is not to be.
  revision int not null,
  -- In millionths: what the next report takes along.
  carried numeric not null default 0,
  -- The report that is under way, under the name by which the provider counts it once.
  sending json,
  -- When it was last sent without an answer that it had arrived.
  sent_at timestamptz,
  -- In millionths: what was used and could not be reported.
  unreported numeric not null default 0,
  -- Why the last attempt failed; null after one that did not.
  problem text
);

create index use_reports_of_tenant on usage.use_reports (tenant_id);
