-- How the people of the dashboard prove who they are. Nothing of it stands in the log, and no rebuild touches it.

-- A member has a password together with time-based codes, or passkeys, or both.
create table vault.member_credentials (
  member_id text primary key,
  tenant_id text not null,
  -- HMAC of the address, so that a member is found by it without the address being here.
  email_index text not null,
  password_hash text,
  -- The name in vault.secrets under which the codes' secret is sealed.
  totp_name text,
  -- The last time step of which a code was taken: it and earlier ones are not taken again.
  totp_last_step bigint,
  check ((password_hash is null) = (totp_name is null))
);
create index member_credentials_by_email on vault.member_credentials (email_index);

create table vault.member_passkeys (
  credential_id text primary key,
  member_id text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index passkeys_of_member on vault.member_passkeys (member_id);

-- One-time links with which a member sets up how they sign in. Only the hash of what the link holds.
create table vault.member_links (
  link_hash text primary key,
  member_id text not null,
  tenant_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index links_of_member on vault.member_links (member_id);

-- Sessions by the hash of what the cookie holds. One that has ended stays until it would have expired, so that a
-- request that was on its way when it ended cannot bring it back.
create table vault.sessions (
  session_hash text primary key,
  member_id text,
  tenant_id text,
  data jsonb not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  ended_at timestamptz,
  wrong_codes int not null default 0
);
create index sessions_of_member on vault.sessions (member_id) where ended_at is null;
create index sessions_by_age on vault.sessions (created_at);

-- How much of an allowance has been used up, as the moment at which all of it will be there again.
create table vault.attempts (
  bucket text primary key,
  full_again_at timestamptz not null
);

-- Programs that wait to be signed in by a member. Both codes are hashes.
create table vault.login_requests (
  device_code_hash text primary key,
  user_code_index text not null unique,
  client_name text not null,
  scopes text[] not null,
  address text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_polled_at timestamptz
);

-- When each token was last used: written in batches, like the counts.
create table usage.token_use (
  token_id text primary key,
  last_used_at timestamptz not null
);
