-- What a browser has to sign with a passkey: made for one session and one purpose, and deleted by the request that uses it.
create table vault.challenges (
  session_hash text not null,
  purpose text not null,
  -- 16 random bytes at the least.
  challenge text not null check (length(challenge) >= 22),
  expires_at timestamptz not null,
  primary key (session_hash, purpose)
);
create index challenges_by_end on vault.challenges (expires_at);

-- Browsers in which a member has signed in, by the hash of what their cookie holds: strangers do not use up their tries.
create table vault.known_devices (
  device_hash text not null,
  member_id text not null,
  expires_at timestamptz not null,
  primary key (device_hash, member_id)
);
create index known_devices_of_member on vault.known_devices (member_id);
