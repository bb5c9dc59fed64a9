-- Who members are at the provider of OpenID Connect that they sign in with.
create table vault.member_identities (
  -- A keyed hash of the tenant, the issuer and what the issuer calls the person.
  identity text primary key,
  member_id text not null,
  tenant_id text not null,
  issuer text not null,
  linked_at timestamptz not null,
  -- Of two accounts at a provider, only one is a member's.
  unique (member_id, issuer)
);

-- Sign-ins that a browser has begun at a provider. The secrets are in the cookie of the browser.
create table vault.provider_sign_ins (
  state_hash text primary key,
  browser_hash text not null,
  tenant_id text not null,
  provider_id text not null,
  -- The session whose member confirms who they are; null for a sign-in.
  session_hash text,
  return_to text not null,
  begun_at timestamptz not null,
  expires_at timestamptz not null
);

create index provider_sign_ins_by_end on vault.provider_sign_ins (expires_at);

-- Logout tokens of providers that were used, so that none is used twice.
create table vault.logout_tokens (
  token_hash text primary key,
  expires_at timestamptz not null
);

create index logout_tokens_by_end on vault.logout_tokens (expires_at);
