import type { ClientBase, Pool } from 'pg'

/** A member's password credentials; `totpName` is the vault name of their TOTP secret. */
export type Credentials = {
  memberId: string
  tenantId: string
  passwordHash: string | null
  totpName: string | null
}

export type NewCredentials = {
  memberId: string
  tenantId: string
  emailIndex: string
  passwordHash: string | null
  totpName: string | null
  totpLastStep: number | null
}

const columns = `member_id as "memberId", tenant_id as "tenantId", password_hash as "passwordHash",
  totp_name as "totpName"`

/** Finds the credentials for an email address, in any tenant. */
export async function findCredentialsByEmail(db: Pool, emailIndex: string): Promise<Credentials[]> {
  const { rows } = await db.query<Credentials>({
    name: 'credentials-by-email',
    text: `select ${columns} from vault.member_credentials where email_index = $1 order by member_id`,
    values: [emailIndex],
  })
  return rows
}

export async function findCredentials(db: Pool, memberId: string): Promise<Credentials | undefined> {
  const { rows } = await db.query<Credentials>(
    `select ${columns} from vault.member_credentials where member_id = $1`,
    [memberId],
  )
  return rows[0]
}

/** Replaces a member's credentials except passkeys. */
export async function writeCredentials(db: ClientBase, credentials: NewCredentials): Promise<void> {
  const { memberId, tenantId, emailIndex, passwordHash, totpName, totpLastStep } = credentials
  await db.query(
    `insert into vault.member_credentials
       (member_id, tenant_id, email_index, password_hash, totp_name, totp_last_step)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (member_id) do update set email_index = excluded.email_index,
       password_hash = excluded.password_hash, totp_name = excluded.totp_name,
       totp_last_step = excluded.totp_last_step`,
    [memberId, tenantId, emailIndex, passwordHash, totpName, totpLastStep],
  )
}

/** Lets a member with a password sign in with their present address. */
export async function changeEmailIndex(db: Pool, memberId: string, emailIndex: string): Promise<void> {
  await db.query(
    'update vault.member_credentials set email_index = $2 where member_id = $1 and email_index <> $2',
    [memberId, emailIndex],
  )
}

/**
 * Marks a TOTP time step as used: of two requests with the same code, only one succeeds.
 * @returns whether the step was unused
 */
export async function takeTotpStep(db: Pool, memberId: string, step: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update vault.member_credentials set totp_last_step = $2
     where member_id = $1 and coalesce(totp_last_step, -1) < $2`,
    [memberId, step],
  )
  return rowCount === 1
}

/**
 * Makes a code usable again that was taken for a sign-in which then failed; earlier codes stay used. A later one that was
 * taken meanwhile counts.
 */
export async function giveBackTotpStep(db: Pool, memberId: string, step: number): Promise<void> {
  await db.query(
    `update vault.member_credentials set totp_last_step = $2 - 1 where member_id = $1 and totp_last_step = $2`,
    [memberId, step],
  )
}

/** Deletes a member's password, TOTP, passkeys, identities at providers, and links. */
export async function deleteCredentials(db: Pool | ClientBase, memberId: string): Promise<void> {
  await db.query('delete from vault.member_credentials where member_id = $1', [memberId])
  await db.query('delete from vault.member_passkeys where member_id = $1', [memberId])
  await db.query('delete from vault.member_identities where member_id = $1', [memberId])
  await db.query('delete from vault.member_links where member_id = $1', [memberId])
}
