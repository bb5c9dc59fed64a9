-- Members who see the portal as one of their customers does, read only. Each row begins as a link that is followed at once.
create table vault.portal_viewings (
  link_hash text primary key,
  -- Of what the cookie holds; null until the link was followed.
  viewing_hash text unique,
  tenant_id text not null,
  member_id text not null,
  -- The member's session of the dashboard, with which it ends.
  session_hash text not null,
  customer_id text not null,
  subject_id text not null,
  created_at timestamptz not null,
  ended_at timestamptz
);
create index portal_viewings_of_session on vault.portal_viewings (session_hash) where ended_at is null;
create index portal_viewings_of_subject on vault.portal_viewings (tenant_id, subject_id);
create index portal_viewings_by_age on vault.portal_viewings (created_at);
