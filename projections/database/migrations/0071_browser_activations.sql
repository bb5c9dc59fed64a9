-- Apps that wait for a person to choose a license for them in the portal. Both codes are hashes.
create table vault.browser_activations (
  device_code_hash text primary key,
  user_code_index text not null unique,
  tenant_id text not null,
  product_id text not null,
  -- How the app calls its device.
  device_name text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- When the person decided, who that is, and for which license: none when they denied it.
  decided_at timestamptz,
  subject_id text,
  license_id text,
  -- The person of an organization whose own key of the license it is, where seats are of people.
  person_id text
);
