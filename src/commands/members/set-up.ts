import type { ClientBase } from 'pg'
import { inTransaction } from '../../../projections/database/transaction.ts'
import { deleteCredentials, findCredentials, writeCredentials } from '../../access/credentials.ts'
import { sameMailbox } from '../../access/fingerprint.ts'
import { useLink } from '../../access/links.ts'
import type { NewPasskey } from '../../access/passkey-ceremony.ts'
import { addPasskey, deletePasskey, listPasskeys } from '../../access/passkeys.ts'
import { hashPassword, problemOfPassword } from '../../access/password.ts'
import { endSessionsOf } from '../../access/sessions.ts'
import { newTotpSecret, totpStep } from '../../access/totp.ts'
import type { Ports } from '../../ports.ts'
import { momentOf } from '../origin.ts'

/** The member who sets up how they sign in, with a one-time link or from a session. */
export type SettingUp = {
  memberId: string
  tenantId: string
  email: string
  /** With a link, all earlier credentials are replaced and every session ends. */
  linkHash?: string | undefined
  /** The session that stays when the others end. */
  sessionHash?: string | undefined
}

export type SetUp = { done: true } | { done: false; problem: SetUpProblem; message: string }
type SetUpProblem = 'password' | 'code' | 'link' | 'passkey'

const refused = (problem: SetUpProblem, message: string): SetUp => ({ done: false, problem, message })
const linkIsUsed = refused('link', 'This link was already used. Ask for a new one.')

/** @param enrolment distinguishes this attempt to connect an authenticator app from the member's others */
const totpNameOf = (memberId: string, enrolment: string): string => `member-totp.${memberId}.${enrolment}`

/** The secret for an authenticator app. It stays the same during one attempt. */
export function beginTotp(
  ports: Ports<'secrets'>,
  { tenantId, memberId }: Pick<SettingUp, 'tenantId' | 'memberId'>,
  enrolment: string,
): Promise<string> {
  return ports.secrets.keep(tenantId, totpNameOf(memberId, enrolment), newTotpSecret())
}

/**
 * Sets a password and an authenticator app; the code proves that the app holds the secret. All other sessions
 * end.
 */
export async function setUpPassword(
  ports: Ports<'db' | 'fingerprint' | 'now' | 'secrets'>,
  who: SettingUp,
  chosen: { password: string; code: string; enrolment: string },
): Promise<SetUp> {
  const { db, secrets, fingerprint } = ports
  const { memberId, tenantId, email } = who
  const message = problemOfPassword(chosen.password, email)
  if (message !== undefined) return refused('password', message)
  const totpName = totpNameOf(memberId, chosen.enrolment)
  const now = ports.now()
  const step = totpStep(await secrets.open(tenantId, totpName), chosen.code, now)
  if (step === undefined)
    return refused('code', 'This code is wrong. Check that the clock of your device is correct.')
  const passwordHash = await hashPassword(chosen.password)
  const emailIndex = fingerprint('email', sameMailbox(email))
  const before = await findCredentials(db, memberId)
  const done = await inTransaction(db, async (client) => {
    if (!(await consumeLink(client, who, now))) return false
    const written = { memberId, tenantId, emailIndex, passwordHash, totpName, totpLastStep: step }
    await writeCredentials(client, written)
    await endSessionsOf(client, memberId, now, who.sessionHash)
    return true
  })
  if (!done) return linkIsUsed
  if (before?.totpName && before.totpName !== totpName) await secrets.destroy(tenantId, before.totpName)
  return { done: true }
}

/** Adds a passkey. With a link, it replaces all earlier credentials. */
export async function setUpPasskey(
  ports: Ports<'db' | 'now'>,
  who: SettingUp,
  passkey: NewPasskey,
  name: string,
): Promise<SetUp> {
  const now = ports.now()
  const { memberId } = who
  const createdAt = momentOf(ports)
  const outcome = await inTransaction(ports.db, async (client) => {
    if (!(await consumeLink(client, who, now))) return linkIsUsed
    if (!(await addPasskey(client, { ...passkey, memberId, name, createdAt }))) throw new PasskeyTaken()
    if (who.linkHash !== undefined) await endSessionsOf(client, memberId, now)
    return { done: true } as const
  }).catch((error: unknown) => {
    if (error instanceof PasskeyTaken) return refused('passkey', 'This passkey is already registered.')
    throw error
  })
  return outcome
}

/** Rolls back the transaction. */
class PasskeyTaken extends Error {}

/**
 * Uses the link, if any, which deletes the earlier credentials. @returns false when the link was used
 * meanwhile
 */
async function consumeLink(
  client: ClientBase,
  { linkHash, memberId }: SettingUp,
  now: Date,
): Promise<boolean> {
  if (linkHash === undefined) return true
  if (!(await useLink(client, linkHash, now))) return false
  await deleteCredentials(client, memberId)
  return true
}

/** @returns false for the member's last credential, which stays */
export async function removePasskey(
  ports: Ports<'db'>,
  memberId: string,
  credentialId: string,
): Promise<boolean> {
  return inTransaction(ports.db, async (client) => {
    // Of two concurrent removals of the last two credentials, the second waits here and then finds the last
    // one.
    const { rowCount } = await client.query(
      'select from vault.member_passkeys where member_id = $1 for update',
      [memberId],
    )
    const { rowCount: passwords } = await client.query(
      'select from vault.member_credentials where member_id = $1 and password_hash is not null',
      [memberId],
    )
    if ((rowCount ?? 0) + (passwords ?? 0) <= 1) return false
    return deletePasskey(client, memberId, credentialId)
  })
}

/** The credentials that a member can sign in with. */
export async function signInMethods(ports: Ports<'db'>, memberId: string) {
  const credentials = await findCredentials(ports.db, memberId)
  const passkeys = await listPasskeys(ports.db, memberId)
  return { password: credentials?.passwordHash != null, passkeys }
}
