create table ledger (
  ledger_id text not null,
  identified_at timestamptz not null,
  primary key (ledger_id)
);

create table tenants (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null unique,
  status text not null,
  plan text not null,
  created_at timestamptz not null,
  primary key (stream)
);

create table client_keys (
  tenant_id text not null,
  kind text not null,
  revision int not null,
  key_hash text not null unique,
  display_key text not null,
  issued_at timestamptz not null,
  primary key (tenant_id, kind)
);

create table members (
  stream text not null,
  revision int not null,
  state jsonb not null,
  member_id text not null unique,
  tenant_id text not null,
  subject_id text not null,
  status text not null,
  role text not null,
  created_at timestamptz not null,
  primary key (stream)
);
create index members_of_tenant on members (tenant_id, created_at);
create index members_by_subject on members (tenant_id, subject_id);

create table custom_roles (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null unique,
  primary key (stream)
);

create table sign_in_providers (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null unique,
  primary key (stream)
);

create table scim (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null unique,
  primary key (stream)
);

create table products (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null,
  product_id text not null,
  client_settings_since timestamptz not null,
  created_at timestamptz not null,
  revalidate_after_seconds int not null,
  lease_seconds int not null,
  free_tier_enabled boolean not null,
  trial_duration_days int,
  components_at_least int,
  show_seat_holders boolean not null,
  lease_holder boolean not null,
  device_mails text[],
  key_sharing json,
  expiring_days int[],
  key_recovery boolean not null,
  key_period int not null,
  primary key (stream),
  unique (tenant_id, product_id)
);
create index products_by_age on products (tenant_id, created_at desc, product_id desc);
create index products_with_sharing_rules on products (tenant_id, product_id) where key_sharing is not null;
create index products_with_notices on products (tenant_id, product_id) where expiring_days is not null;

create table key_types (
  tenant_id text not null,
  product_id text not null,
  key_type_id text not null,
  entitlements text[] not null,
  fallback_entitlements text[] not null,
  entitlement_values json,
  meters json,
  primary key (tenant_id, product_id, key_type_id)
);

create table product_releases (
  tenant_id text not null,
  product_id text not null,
  revision int not null,
  releases json not null,
  primary key (tenant_id, product_id)
);

create table tokens (
  stream text not null,
  revision int not null,
  state jsonb not null,
  token_hash text not null unique,
  token_id text not null unique,
  tenant_id text not null,
  member_id text,
  created_at timestamptz not null,
  primary key (stream)
);
create index tokens_of_tenant on tokens (tenant_id, created_at desc, token_id desc);
create index tokens_of_member on tokens (member_id) where member_id is not null;

create table logins (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null,
  primary key (stream)
);

create table webhooks (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null unique,
  paused text[] not null,
  expiring boolean not null,
  ordered text[] not null,
  primary key (stream)
);

create table resellers (
  stream text not null,
  revision int not null,
  state jsonb not null,
  reseller_id text not null unique,
  tenant_id text not null,
  status text not null,
  created_at timestamptz not null,
  primary key (stream)
);
create index resellers_of_tenant on resellers (tenant_id, created_at desc, reseller_id desc);

create table reseller_licenses (
  license_id text not null,
  reseller_id text not null,
  product_id text not null,
  key_type_id text not null,
  taken_at timestamptz not null,
  returned boolean not null,
  primary key (license_id)
);
create index licenses_of_reseller on reseller_licenses (reseller_id);
create index licenses_by_taking on reseller_licenses (taken_at) where not returned;

create table customers (
  stream text not null,
  revision int not null,
  state jsonb not null,
  customer_id text not null unique,
  tenant_id text not null,
  subject_id text not null,
  created_at timestamptz not null,
  merged_into text,
  reseller_id text,
  overrides jsonb,
  shared_meters jsonb,
  primary key (stream)
);
create index customers_by_age on customers (tenant_id, created_at desc, customer_id desc);
create index customers_erased on customers (tenant_id, created_at desc, customer_id desc) where state->>'erasedAt' is not null;
create index customers_of_subject on customers (tenant_id, subject_id);
create index customers_of_reseller on customers (reseller_id, created_at desc, customer_id desc) where reseller_id is not null;
create index customers_merged on customers (merged_into) where merged_into is not null;

create table customer_notes (
  note_id text not null,
  customer_id text not null,
  tenant_id text not null,
  subject_id text not null,
  text text,
  actor text not null,
  at timestamptz not null,
  primary key (note_id)
);
create index notes_of_customer on customer_notes (customer_id, at desc, note_id desc) where text is not null;
create index notes_of_subject on customer_notes (tenant_id, subject_id) where text is not null;

create table people (
  person_id text not null,
  customer_id text not null,
  tenant_id text not null,
  subject_id text not null,
  email text not null,
  name text,
  role text not null,
  added_at timestamptz not null,
  invited_at timestamptz,
  language text,
  mailed_at timestamptz,
  removed boolean not null,
  revision int not null,
  primary key (person_id)
);
create index people_of_customer on people (customer_id, added_at desc, person_id desc);
create index people_of_subject on people (tenant_id, subject_id) where not removed;
create index people_invited on people (invited_at) where invited_at is not null and mailed_at is null and not removed;

create table licenses (
  license_id text not null,
  tenant_id text not null,
  product_id text not null,
  key_type_id text not null,
  revision int not null,
  key_hash text not null,
  display_key text not null,
  quantity int not null,
  device_limit int,
  seats_used int not null,
  expires_at timestamptz,
  starts_with json,
  on_expiry text not null,
  grace_seconds int,
  ends_at timestamptz,
  end_set_at timestamptz,
  ended_at timestamptz,
  noticed_end timestamptz,
  noticed_days int,
  taken_back_at timestamptz,
  suspended_at timestamptz,
  suspended_reason text,
  key_mail_asked_at timestamptz,
  freed_by_customer_at json not null,
  device_subjects json not null,
  floating json,
  last_fence int not null,
  named json,
  relays json not null,
  borrowed json,
  exhausted_at timestamptz,
  sharing json,
  files_by_day json,
  files_until timestamptz,
  former_key_files_until timestamptz,
  withdrawn_until timestamptz,
  revoked_at timestamptz,
  revoked_reason text,
  revoked_cause text,
  refunded_at timestamptz,
  refunded_payments json not null,
  sale_through int not null,
  sold json,
  subject_id text,
  email text,
  name text,
  customer_id text,
  linked_by text,
  merged_from text,
  former_customers text[],
  source text not null,
  sale_id text,
  test boolean not null,
  metadata json not null,
  created_at timestamptz not null,
  renewed_at timestamptz,
  updates_until timestamptz,
  updates_paid_at timestamptz,
  primary key (license_id)
) with (fillfactor = 85);
create index licenses_of_product on licenses (tenant_id, product_id, created_at desc, license_id desc);
create index licenses_of_subject on licenses (tenant_id, subject_id, created_at desc, license_id desc) where subject_id is not null;
create index licenses_of_customer on licenses (customer_id, created_at desc, license_id desc) where customer_id is not null;
create index licenses_of_former_customers on licenses using gin (former_customers) where former_customers is not null;
create index licenses_moved on licenses (merged_from) where merged_from is not null;
create index licenses_with_withdrawn_files on licenses (tenant_id, product_id, withdrawn_until) where withdrawn_until is not null;
create index licenses_with_floating_seats on licenses (tenant_id, product_id) where floating is not null;
create index licenses_to_link on licenses (tenant_id, created_at, license_id) where customer_id is null and linked_by is null and email is not null and not test;
create index licenses_open_ends on licenses (ends_at) where revoked_at is null and ends_at is not null and ended_at is distinct from ends_at;
create index licenses_by_expiry on licenses (tenant_id, product_id, expires_at, noticed_end, noticed_days, end_set_at) where expires_at is not null and revoked_at is null and suspended_at is null;
create index licenses_by_age on licenses (tenant_id, created_at desc, license_id desc, expires_at);
create index licenses_by_source on licenses (tenant_id, source, created_at desc, license_id desc);
create index licenses_shared on licenses (tenant_id, created_at desc, license_id desc) where sharing->>'openSince' is not null;
create index licenses_for_tests on licenses (tenant_id, created_at desc, license_id desc) where test;
create index licenses_by_status on licenses (tenant_id, (
  case
    when revoked_at is not null then 'revoked'
    when suspended_at is not null then 'suspended'
    when ended_at = ends_at then case on_expiry when 'fallback' then 'fallback' else 'expired' end
    else 'active'
  end), created_at desc, license_id desc);
create index licenses_by_product_and_status on licenses (tenant_id, product_id, (
  case
    when revoked_at is not null then 'revoked'
    when suspended_at is not null then 'suspended'
    when ended_at = ends_at then case on_expiry when 'fallback' then 'fallback' else 'expired' end
    else 'active'
  end), key_type_id, created_at);

create table license_keys (
  tenant_id text not null,
  product_id text not null,
  key_hash text not null,
  license_id text not null,
  current boolean not null,
  ending text not null,
  person_id text,
  is_seated boolean,
  primary key (tenant_id, product_id, key_hash)
);
create index license_keys_by_ending on license_keys (tenant_id, ending, license_id desc);
create index license_keys_of_people on license_keys (person_id, license_id) where is_seated;

create table license_metadata (
  tenant_id text not null,
  pair text not null,
  created_at timestamptz not null,
  license_id text not null,
  primary key (license_id, pair)
);
create index licenses_by_metadata on license_metadata (tenant_id, pair, created_at desc, license_id desc);

create table license_numbers (
  license_id text not null,
  tenant_id text not null,
  parts int[] not null,
  primary key (license_id)
);
create index licenses_by_number_part on license_numbers using gin (parts);

create table devices (
  license_id text not null,
  device_id text not null,
  tenant_id text not null,
  instance_id text not null,
  install_id text,
  name text not null,
  platform text,
  identity jsonb,
  former jsonb,
  in_two_places_at timestamptz,
  given_name jsonb,
  files jsonb,
  file_ends_at timestamptz,
  fence int,
  person_id text,
  withdrawn_until timestamptz,
  status text not null,
  activated_at timestamptz not null,
  deactivated_at timestamptz,
  primary key (license_id, device_id)
);
create index devices_by_instance on devices (instance_id, license_id);
create index devices_by_name on devices (license_id, name) where status = 'active';
create index devices_by_identity on devices using gin (identity jsonb_path_ops) where status = 'active' and identity is not null;
create index devices_floating on devices (license_id, device_id) where status = 'active' and fence is not null;
create index devices_by_install on devices (license_id, install_id) where status = 'active' and install_id is not null;
create index devices_with_withdrawn_files on devices (tenant_id, withdrawn_until) where withdrawn_until is not null;
create index devices_by_age on devices (tenant_id, activated_at desc, license_id desc, device_id desc);
create index devices_by_own_id on devices (tenant_id, device_id text_pattern_ops, activated_at desc);
create index devices_by_any_name on devices (tenant_id, lower(name) text_pattern_ops);

create table active_devices (
  tenant_id text not null,
  product_id text not null,
  seated bigint not null,
  active bigint not null,
  primary key (tenant_id, product_id)
);

create table license_history (
  license_id text not null,
  revision int not null,
  event_id uuid not null,
  type text not null,
  data json not null,
  actor text not null,
  request_id text not null,
  causation_id text not null,
  correlation_id text not null,
  at timestamptz not null,
  position bigint not null,
  seats_used int not null,
  slot text,
  moment timestamptz not null,
  primary key (license_id, revision)
);
create index license_history_by_slot on license_history (license_id, slot, revision);
create index license_history_by_request on license_history (request_id);

create table license_days (
  tenant_id text not null,
  day date not null,
  product_id text not null,
  issued int not null,
  renewed int not null,
  primary key (tenant_id, day, product_id)
);

create table license_ends (
  tenant_id text not null,
  expires_on date not null,
  product_id text not null,
  licenses int not null,
  primary key (tenant_id, expires_on, product_id)
);

create table seat_minutes (
  license_id text not null,
  minute timestamptz not null,
  at_start int not null,
  peak int not null,
  at_end int not null,
  primary key (license_id, minute)
);
create index seat_minutes_by_age on seat_minutes (minute);

create table meters (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null,
  product_id text,
  license_id text,
  customer_id text,
  meter text not null,
  unit text not null,
  closes_at timestamptz,
  endless_since timestamptz,
  renewed_at timestamptz,
  primary key (stream)
) with (fillfactor = 70);
create index meters_of_license on meters (license_id, meter);
create index meters_of_product on meters (tenant_id, product_id);
create index meters_of_customer on meters (customer_id, meter);
create index meters_to_close on meters (closes_at) where closes_at is not null;
create index meters_renewed on meters (renewed_at) where renewed_at > endless_since;

create table meter_lines (
  stream text not null,
  revision int not null,
  ordinal int not null,
  kind text not null,
  key text,
  amount text,
  shares json,
  period_starts_at timestamptz,
  period_ends_at timestamptz,
  ends_at timestamptz,
  subject_id text,
  license_id text,
  used_at timestamptz,
  late boolean not null,
  note text,
  at timestamptz not null,
  primary key (stream, revision, ordinal)
);
create index meter_lines_by_key on meter_lines (stream, key) where key is not null;
create index meter_lines_by_time on meter_lines (stream, at);

create table meter_hours (
  stream text not null,
  license_id text not null,
  at timestamptz not null,
  used numeric not null,
  overage numeric not null,
  primary key (stream, license_id, at)
) with (fillfactor = 70);

create table meter_days (
  stream text not null,
  license_id text not null,
  at timestamptz not null,
  used numeric not null,
  overage numeric not null,
  primary key (stream, license_id, at)
) with (fillfactor = 70);

create table usage_notes (
  stream text not null,
  revision int not null,
  tenant_id text not null,
  license_id text not null,
  customer_id text,
  meter text not null,
  unit text not null,
  slot text not null,
  event json not null,
  event_id uuid not null,
  request_id text not null,
  correlation_id text not null,
  actor text not null,
  position bigint not null,
  primary key (stream, revision)
);
create index usage_notes_by_age on usage_notes (position);
create index usage_notes_of_license on usage_notes (license_id, position);

create table deliveries (
  stream text not null,
  revision int not null,
  state jsonb not null,
  delivery_id text not null unique,
  tenant_id text not null,
  channel text not null,
  event text not null,
  license_id text not null,
  license_revision int not null,
  status text not null,
  next_attempt_at timestamptz,
  place text not null,
  endpoint_id text not null,
  tries int not null,
  bounce text,
  key_until timestamptz,
  replay_id text,
  waits boolean not null,
  created_at timestamptz not null,
  primary key (stream),
  unique (license_id, license_revision, channel, endpoint_id)
) with (fillfactor = 80);
create index deliveries_by_age on deliveries (tenant_id, channel, created_at desc, delivery_id desc);
create index deliveries_due on deliveries (channel, tenant_id, endpoint_id, waits, next_attempt_at) where next_attempt_at is not null;
create index deliveries_in_turn on deliveries (license_id, endpoint_id, license_revision) where place <> 'none';
create index deliveries_by_endpoint on deliveries (tenant_id, endpoint_id, created_at desc, delivery_id desc) where channel = 'webhook';
create index deliveries_replayed on deliveries (replay_id) where replay_id is not null;
create index deliveries_bounced on deliveries (tenant_id, created_at desc, delivery_id desc) where bounce is not null;
create index deliveries_abandoned on deliveries (tenant_id, created_at) where status = 'abandoned';

create table owed_deliveries (
  license_id text not null,
  license_revision int not null,
  channel text not null,
  endpoint_id text not null,
  tenant_id text not null,
  event text not null,
  sequence int,
  event_id uuid not null,
  correlation_id text not null,
  position bigint not null,
  primary key (license_id, license_revision, channel, endpoint_id)
);
create index owed_deliveries_by_age on owed_deliveries (position);

create table delivery_sequences (
  license_id text not null,
  endpoint_id text not null,
  revision int not null,
  sequence int not null,
  primary key (license_id, endpoint_id)
);

create table delivery_endpoints (
  tenant_id text not null,
  revision int not null,
  position bigint not null,
  state json not null,
  primary key (tenant_id)
);

create table public_events (
  tenant_id text not null,
  position bigint not null,
  license_id text not null,
  license_revision int not null,
  event text not null,
  sequence int not null,
  at timestamptz not null,
  primary key (tenant_id, position)
);
create index public_events_by_time on public_events using brin (at);

create table replays (
  stream text not null,
  revision int not null,
  state jsonb not null,
  replay_id text not null unique,
  tenant_id text not null,
  status text not null,
  requested_at timestamptz not null,
  primary key (stream)
);
create index replays_by_age on replays (tenant_id, requested_at desc, replay_id desc);
create index replays_running on replays (requested_at) where status = 'running';

create table integrations (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null,
  provider text not null,
  primary key (stream),
  unique (tenant_id, provider)
);
create index integrations_of_account on integrations ((state->>'accountId')) where provider = 'stripe';

create table sales (
  stream text not null,
  revision int not null,
  state jsonb not null,
  id text not null unique,
  tenant_id text not null,
  provider text not null,
  sale_id text not null,
  product_id text,
  license_id text not null unique,
  status text not null,
  received_at timestamptz not null,
  number_parts int[] not null,
  subject_id text,
  giver_id text,
  license_ids text[] not null,
  open boolean not null,
  primary key (stream)
);
create index sales_of_license on sales using gin (license_ids);
create index sales_by_age on sales (tenant_id, received_at desc, id desc);
create index sales_by_sale_id on sales (tenant_id, lower(sale_id) text_pattern_ops);
create index sales_by_number_part on sales using gin (number_parts);
create index sales_of_subject on sales (tenant_id, subject_id);
create index sales_of_giver on sales (tenant_id, giver_id) where giver_id is not null;
create index sales_of_nobody on sales (tenant_id, received_at desc, id desc) where subject_id is null;
create index sales_parked on sales (tenant_id, received_at desc, id desc) where status = 'parked';
create index sales_open on sales (received_at) where open;

create table sale_days (
  tenant_id text not null,
  day date not null,
  provider text not null,
  product_id text not null,
  currency text not null,
  sales int not null,
  payments int not null,
  paid bigint not null,
  returned bigint not null,
  primary key (tenant_id, day, provider, product_id, currency)
);

create table unmatched_facts (
  id text not null,
  stream text not null,
  tenant_id text not null,
  provider text not null,
  link text not null,
  fact jsonb not null,
  received_at timestamptz not null,
  primary key (id)
);
create index unmatched_facts_of_stream on unmatched_facts (stream);
create index unmatched_facts_by_age on unmatched_facts (tenant_id, received_at desc, id desc);

create table mails (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null,
  product_id text not null,
  primary key (stream),
  unique (tenant_id, product_id)
);

create table wordings (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null unique,
  primary key (stream)
);

create table portals (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null unique,
  settings jsonb not null,
  updated_at timestamptz not null,
  logo_type text,
  logo_hash text,
  added_languages jsonb not null,
  primary key (stream)
);

create table test_purchases (
  stream text not null,
  revision int not null,
  state jsonb not null,
  test_purchase_id text not null unique,
  tenant_id text not null,
  status text not null,
  started_at timestamptz not null,
  primary key (stream)
);
create index test_purchases_running on test_purchases (started_at) where status = 'running';
create index test_purchases_by_age on test_purchases (tenant_id, started_at desc);

create table trials (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null,
  product_id text not null,
  shared boolean not null,
  primary key (stream)
);
create index trials_shared on trials (tenant_id, product_id) where shared;

create table confirmations (
  stream text not null,
  revision int not null,
  state jsonb not null,
  confirmation_id text not null unique,
  tenant_id text not null,
  status text not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  consumed_at timestamptz,
  created_at timestamptz not null,
  primary key (stream)
);
create index confirmations_of_tenant on confirmations (tenant_id, created_at desc, confirmation_id desc);
create index confirmations_pending on confirmations (expires_at) where status = 'pending';
create index confirmations_approved on confirmations (decided_at) where status = 'approved';
create index confirmations_consumed on confirmations (consumed_at) where status = 'consumed';

create table signing_keys (
  tenant_id text not null,
  kid text not null,
  public_key text not null,
  secret_name text not null,
  signs_from timestamptz not null,
  primary key (tenant_id, signs_from)
);

create table prepared_signing_keys (
  tenant_id text not null,
  kid text not null,
  public_key text not null,
  secret_name text not null,
  primary key (tenant_id, kid)
);

create table lease_lengths (
  tenant_id text not null,
  product_id text not null,
  revision int not null,
  seconds int not null,
  since timestamptz not null,
  primary key (tenant_id, product_id, revision)
);

create table subjects (
  stream text not null,
  revision int not null,
  state jsonb not null,
  tenant_id text not null,
  subject_id text not null,
  status text not null,
  begun_at timestamptz not null,
  primary key (stream)
);
create index subjects_erasing on subjects (begun_at) where status = 'erasing';

create table audit (
  position bigint not null,
  event_id uuid not null,
  tenant_id text not null,
  at timestamptz not null,
  actor text not null,
  action text not null,
  target_kind text not null,
  target_id text,
  as_of text,
  operation text,
  confirmation_id text,
  request_id text not null,
  times int not null,
  last_at timestamptz,
  last_position bigint,
  changes json,
  subject_id text,
  address text,
  primary key (position)
);
create index audit_of_tenant on audit (tenant_id, position desc);
create index audit_of_target on audit (tenant_id, target_id, position desc) where target_id is not null;
create index audit_of_actor on audit (tenant_id, actor, position desc);
create index audit_of_kind on audit (tenant_id, target_kind, position desc);
create index audit_by_time on audit (tenant_id, at);
create index audit_of_confirmation on audit (confirmation_id) where action = 'asked';
create index audit_of_view on audit (tenant_id, actor, target_kind, coalesce(target_id, ''), position desc) where action = 'viewed';

create table audit_states (
  stream text not null,
  part text not null,
  tenant_id text not null,
  revision int not null,
  fields json not null,
  primary key (stream, part)
) with (fillfactor = 85);
