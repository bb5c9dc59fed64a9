import { findMembers, type KnownMember } from '../../../projections/members.ts'
import type { Allowance } from '../../access/attempts.ts'
import {
  type Credentials,
  findCredentials,
  findCredentialsByEmail,
  giveBackTotpStep,
  takeTotpStep,
} from '../../access/credentials.ts'
import { sameMailbox } from '../../access/fingerprint.ts'
import { isKnownDevice } from '../../access/known-devices.ts'
import {
  checkPasskey,
  type PresentedPasskey,
  parsePresented,
  type RelyingParty,
} from '../../access/passkey-ceremony.ts'
import { findPasskey, type Passkey, usePasskey } from '../../access/passkeys.ts'
import { passwordFits } from '../../access/password.ts'
import { totpStep } from '../../access/totp.ts'
import { callerOf } from '../../limits/address.ts'
import type { Ports } from '../../ports.ts'
import { momentOf } from '../origin.ts'

/** `no_match` does not say what did not match: the address, the tenant, the password or the code. */
export type SignIn =
  | {
      outcome: 'signed_in'
      known: KnownMember
      /** Makes the code usable again when the session cannot begin. A passkey signs a new challenge each time. */
      giveBack?: () => Promise<void>
      /** The period of the code that was used. */
      codeStep?: number
    }
  /** `tried`: whose account it was, which no answer may reveal. */
  | { outcome: 'no_match'; tried?: KnownMember }
  | { outcome: 'wait'; retryAfterSeconds: number }

const noMatch: SignIn = { outcome: 'no_match' }

/** Where a sign-in attempt comes from; `deviceHash` is the hash of the browser's cookie, if it has one. */
export type Caller = { address: string; deviceHash: string | undefined }

/** Sized for an office behind one address. */
const perAddress: Allowance = { burst: 20, intervalMs: 30_000 }
/** Sized for one person who tries several passwords: at an address, in a known browser, or in a session. */
const perPerson: Allowance = { burst: 8, intervalMs: 180_000 }
/** For all unknown callers of one account together, from any number of addresses. */
const perAccount: Allowance = { burst: 60, intervalMs: 60_000 }

type Bucket = { bucket: string; allowance: Allowance }

/**
 * Signs in with a password and a code. The same look-ups and the same password hash are made whether or not
 * the member exists, so that neither the answer nor its time reveals it.
 * @param asked the tenant is needed only if the address belongs to members of several tenants
 */
export async function signInWithPassword(
  ports: Ports<'attempts' | 'db' | 'fingerprint' | 'now' | 'secrets'>,
  input: { email: string; tenantId: string | undefined; password: string; code: string },
  caller: Caller,
): Promise<SignIn> {
  const emailIndex = ports.fingerprint('email', sameMailbox(input.email))
  const found = await findCredentialsByEmail(ports.db, emailIndex)
  const known = await findMembers(
    ports.db,
    found.map(({ memberId }) => memberId),
  )
  const meant = known.filter(
    ({ member }) => input.tenantId === undefined || member.tenantId === input.tenantId,
  )
  const [only] = meant.length === 1 ? meant : []
  // The limit applies to the entered address and tenant, not to the member found, so that the wait does not
  // reveal whether the member exists.
  const account = `${emailIndex} ${input.tenantId ?? ''}`
  const buckets = await bucketsOf(ports, caller, only?.member.memberId ?? '', account)
  const attempt = await ports.attempts.take(buckets)
  if (!attempt.allowed) return { outcome: 'wait', retryAfterSeconds: attempt.retryAfterSeconds }
  const credentials = only && found.find(({ memberId }) => memberId === only.member.memberId)
  const step = await takeCode(ports, credentials, input.password, input.code)
  if (!only) return noMatch
  if (step === undefined) return { outcome: 'no_match', tried: only }
  await resetLimits(ports, buckets)
  const giveBack = () => giveBackTotpStep(ports.db, only.member.memberId, step)
  return { outcome: 'signed_in', known: only, giveBack, codeStep: step }
}

/**
 * Verifies in a session that it is still the same person. Others cannot use up the session's attempts. The code that the session was
 * signed in with is accepted while it is valid, because that sign-in is a proof no older than the code; it opens no other session.
 */
export async function proveWithPassword(
  ports: Ports<'attempts' | 'db' | 'now' | 'secrets'>,
  { memberId, sessionHash, signedInWith }: InSession & { signedInWith: number | undefined },
  proof: { password: string; code: string },
): Promise<SignIn> {
  const buckets = [{ bucket: `sign-in session ${sessionHash}`, allowance: perPerson }]
  const attempt = await ports.attempts.take(buckets)
  if (!attempt.allowed) return { outcome: 'wait', retryAfterSeconds: attempt.retryAfterSeconds }
  const credentials = await findCredentials(ports.db, memberId)
  const [known] = await findMembers(ports.db, [memberId])
  const step = await takeCode(ports, credentials, proof.password, proof.code, signedInWith)
  if (!known) return noMatch
  if (step === undefined) return { outcome: 'no_match', tried: known }
  await resetLimits(ports, buckets)
  return { outcome: 'signed_in', known }
}

/** A member's session. */
export type InSession = { memberId: string; sessionHash: string }

/** The browser's response and the challenge that it had to sign; undefined when no challenge was left. */
export type Presented = { credential: string; challenge: string | undefined }

/** Signs in with a passkey, which identifies its member. */
export async function signInWithPasskey(
  ports: Ports<'attempts' | 'db' | 'now'>,
  party: RelyingParty,
  presented: Presented,
  caller: Caller,
): Promise<SignIn> {
  const credential = parsePresented(presented.credential)
  const passkey = credential && (await findPasskey(ports.db, credential.id))
  const buckets = await bucketsOf(ports, caller, passkey?.memberId ?? '')
  return passkeyFits(ports, party, { ...presented, credential, passkey }, buckets)
}

/** Verifies in a session with a passkey of the session's member. */
export async function proveWithPasskey(
  ports: Ports<'attempts' | 'db' | 'now'>,
  party: RelyingParty,
  { memberId, sessionHash }: InSession,
  presented: Presented,
): Promise<SignIn> {
  const credential = parsePresented(presented.credential)
  const found = credential && (await findPasskey(ports.db, credential.id))
  const passkey = found?.memberId === memberId ? found : undefined
  const buckets = [{ bucket: `sign-in session ${sessionHash}`, allowance: perPerson }]
  return passkeyFits(ports, party, { ...presented, credential, passkey }, buckets)
}

async function passkeyFits(
  ports: Ports<'attempts' | 'db' | 'now'>,
  party: RelyingParty,
  { credential, challenge, passkey }: Parsed,
  buckets: readonly Bucket[],
): Promise<SignIn> {
  const attempt = await ports.attempts.take(buckets)
  if (!attempt.allowed) return { outcome: 'wait', retryAfterSeconds: attempt.retryAfterSeconds }
  if (!credential || !passkey || challenge === undefined) return noMatch
  const counter = await checkPasskey(party, credential, passkey, challenge)
  const [known] = await findMembers(ports.db, [passkey.memberId])
  if (!known) return noMatch
  if (counter === undefined) return { outcome: 'no_match', tried: known }
  if (!(await usePasskey(ports.db, passkey.credentialId, counter, momentOf(ports)))) return noMatch
  await resetLimits(ports, buckets)
  return { outcome: 'signed_in', known }
}

type Parsed = {
  credential: PresentedPasskey | undefined
  challenge: string | undefined
  passkey: Passkey | undefined
}

/**
 * The buckets that an attempt is counted in. A browser in which the member has signed in before has attempts
 * of its own, which others cannot use up. Unknown callers are limited by address, by address and account, and
 * together by account.
 * @param account for a password; a passkey cannot be guessed
 */
async function bucketsOf(
  { db, now }: Ports<'db' | 'now'>,
  { address, deviceHash }: Caller,
  memberId: string,
  account?: string,
): Promise<Bucket[]> {
  if (await isKnownDevice(db, deviceHash, now(), memberId))
    return [{ bucket: `sign-in device ${deviceHash} ${memberId}`, allowance: perPerson }]
  const from = callerOf(address)
  const ofAddress = { bucket: `sign-in address ${from}`, allowance: perAddress }
  if (account === undefined) return [ofAddress]
  return [
    ofAddress,
    { bucket: `sign-in address ${from} account ${account}`, allowance: perPerson },
    { bucket: `sign-in account ${account}`, allowance: perAccount },
  ]
}

/** A success resets the person's own attempts, and returns the one taken from shared buckets. */
async function resetLimits({ attempts }: Ports<'attempts'>, buckets: readonly Bucket[]): Promise<void> {
  for (const { bucket, allowance } of buckets) {
    if (allowance === perPerson) await attempts.forgive(bucket)
    else if (allowance === perAccount) await attempts.giveBack(bucket, allowance)
  }
}

/**
 * A code is used up only if the password is right too.
 * @param again the period of a used code that is accepted once more
 * @returns the period of the code; undefined when the password or the code does not fit
 */
async function takeCode(
  ports: Ports<'db' | 'now' | 'secrets'>,
  credentials: Credentials | undefined,
  password: string,
  code: string,
  again?: number,
): Promise<number | undefined> {
  const { db, secrets } = ports
  const fits = await passwordFits(credentials?.passwordHash ?? null, password)
  const secret = await secrets.open(credentials?.tenantId ?? '', credentials?.totpName ?? '')
  const step = totpStep(secret, code, ports.now())
  if (!credentials || !fits || step === undefined) return undefined
  return step === again || (await takeTotpStep(db, credentials.memberId, step)) ? step : undefined
}
