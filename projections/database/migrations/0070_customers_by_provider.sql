-- Who customers are at the provider of OpenID Connect that they sign in to the portal with. A row stays after its person was removed
-- from their organization, so that another sign-in does not add them again; it goes with the person's data.
create table vault.customer_identities (
  -- A keyed hash of the tenant, the issuer, the organization and what the issuer calls the person.
  identity text primary key,
  tenant_id text not null,
  issuer text not null,
  -- The organization whose provider it is; null for the provider of all customers.
  customer_id text,
  subject_id text not null,
  linked_at timestamptz not null
);

create index customer_identities_of_subject on vault.customer_identities (tenant_id, subject_id);

-- The provider that a session of the portal began at; null for one that began with a mailed link.
alter table vault.customer_sessions
  add column provider_id text,
  -- When the provider was added: another one with its id is not meant.
  add column provider_added_at timestamptz,
  add column identity text,
  add column sid_hash text;

create index customer_sessions_at_provider on vault.customer_sessions (tenant_id, provider_id)
  where provider_id is not null and ended_at is null;
