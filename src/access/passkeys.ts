import type { ClientBase, Pool } from 'pg'

export type Passkey = {
  credentialId: string
  memberId: string
  publicKey: Buffer
  counter: number
  transports: string[]
  name: string
  createdAt: string
  lastUsedAt: string | null
}

type Row = Omit<Passkey, 'counter'> & { counter: bigint }

const columns = `credential_id as "credentialId", member_id as "memberId", public_key as "publicKey", counter,
  transports, name, created_at as "createdAt", last_used_at as "lastUsedAt"`

const passkeyFrom = (row: Row): Passkey => ({ ...row, counter: Number(row.counter) })

export async function findPasskey(db: Pool, credentialId: string): Promise<Passkey | undefined> {
  const { rows } = await db.query<Row>(
    `select ${columns} from vault.member_passkeys where credential_id = $1`,
    [credentialId],
  )
  return rows[0] && passkeyFrom(rows[0])
}

/** A member's passkeys, oldest first. */
export async function listPasskeys(db: Pool, memberId: string): Promise<Passkey[]> {
  const { rows } = await db.query<Row>(
    `select ${columns} from vault.member_passkeys where member_id = $1 order by created_at, credential_id`,
    [memberId],
  )
  return rows.map(passkeyFrom)
}

/** Stores a passkey. @returns false when this credential is already registered to any member */
export async function addPasskey(
  db: Pool | ClientBase,
  passkey: Omit<Passkey, 'lastUsedAt'>,
): Promise<boolean> {
  const { credentialId, memberId, publicKey, counter, transports, name, createdAt } = passkey
  const { rowCount } = await db.query(
    `insert into vault.member_passkeys
       (credential_id, member_id, public_key, counter, transports, name, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [credentialId, memberId, publicKey, counter, transports, name, createdAt],
  )
  return rowCount === 1
}

/**
 * Records a use. An authenticator with a counter must increase it, so of two uses with the same counter the
 * second is refused.
 * @returns whether the use is accepted
 */
export async function usePasskey(
  db: Pool,
  credentialId: string,
  counter: number,
  at: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update vault.member_passkeys set counter = $2, last_used_at = $3
     where credential_id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`,
    [credentialId, counter, at],
  )
  return rowCount === 1
}

/** Deletes a member's passkey. @returns whether it existed */
export async function deletePasskey(
  db: ClientBase,
  memberId: string,
  credentialId: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from vault.member_passkeys where member_id = $1 and credential_id = $2',
    [memberId, credentialId],
  )
  return rowCount === 1
}
