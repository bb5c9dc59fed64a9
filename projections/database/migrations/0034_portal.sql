-- How customers sign in to the portal of their vendor. Nothing of it stands in the log, and no rebuild touches it.

-- Links that are mailed: only the hash of what a link holds, and of the browser that asked for it. An address that no
-- license belongs to gets a row too, without a person, so that both cases take the same work.
create table vault.customer_links (
  link_hash text primary key,
  tenant_id text not null,
  subject_id text,
  browser_hash text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  -- The mail in the mailbox of an installation without a mail server, which goes with the person's data.
  mail_id text
);
create index customer_links_of_subject on vault.customer_links (tenant_id, subject_id) where subject_id is not null;
create index customer_links_by_end on vault.customer_links (expires_at);

-- Sessions by the hash of what the cookie holds.
create table vault.customer_sessions (
  session_hash text primary key,
  tenant_id text not null,
  subject_id text not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  ended_at timestamptz
);
create index customer_sessions_of_subject on vault.customer_sessions (tenant_id, subject_id);
create index customer_sessions_by_age on vault.customer_sessions (created_at);
