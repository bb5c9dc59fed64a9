-- Requests with an Idempotency-Key. A row is reserved before the request runs, with what the run takes its ids, keys
-- and moment from, and gets the answer afterwards. Both are sealed under a key of the row's own, so that deleting the
-- row destroys them; the request and its key stand here as keyed hashes only.
create table vault.idempotency (
  key_hash bytea primary key,
  tenant_id text not null,
  request_hash bytea not null,
  wrapped bytea not null,
  run bytea not null,
  reply bytea,
  -- Whose turn it is to run, and until when unless it is renewed.
  holder uuid not null,
  leased_until timestamptz not null,
  expires_at timestamptz not null
);
create index idempotency_by_expiry on vault.idempotency (expires_at);
