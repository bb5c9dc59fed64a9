import { findMembers, type KnownMember } from '../../projections/members/queries.ts'
import { type Allowance, type Attempt, callerOfAddress } from '../access/attempts.ts'
import {
  type Credentials,
  findCredentials,
  findCredentialsByEmail,
  takeTotpStep,
} from '../access/credentials.ts'
import { sameMailbox } from '../access/fingerprint.ts'
import { checkPasskey, parsePresented, type RelyingParty } from '../access/passkey-ceremony.ts'
import { findPasskey, usePasskey } from '../access/passkeys.ts'
import { passwordFits } from '../access/password.ts'
import { totpStep } from '../access/totp.ts'
import { momentOf, type Services } from './services.ts'

/** `no_match` never says what did not match: the address, the tenant, the password or the code. */
export type SignIn =
  | { outcome: 'signed_in'; known: KnownMember }
  | { outcome: 'no_match' }
  | { outcome: 'wait'; retryAfterSeconds: number }

const noMatch: SignIn = { outcome: 'no_match' }

/** An office behind one address, and one person who has forgotten which of their passwords it was. */
const perAddress: Allowance = { burst: 20, intervalMs: 30_000 }
const perMailbox: Allowance = { burst: 8, intervalMs: 180_000 }

/**
 * Signs in with a password and a code. Whether or not there is such a member, the same look-ups and the same password
 * hash are made, so that neither the answer nor its time tells.
 * @param asked the tenant is only needed by those whose address is a member of several
 */
export async function signInWithPassword(
  services: Services,
  asked: { email: string; tenantId: string | undefined; password: string; code: string },
  address: string,
): Promise<SignIn> {
  const emailIndex = services.fingerprint('email', sameMailbox(asked.email))
  const bucket = `sign-in mailbox ${emailIndex}`
  const attempt = await takeAttempt(services, address, bucket)
  if (!attempt.allowed) return { outcome: 'wait', retryAfterSeconds: attempt.retryAfterSeconds }
  const found = await findCredentialsByEmail(services.db, emailIndex)
  const known = await findMembers(
    services.db,
    found.map(({ memberId }) => memberId),
  )
  const meant = known.filter(
    ({ member }) => asked.tenantId === undefined || member.tenantId === asked.tenantId,
  )
  const [only] = meant.length === 1 ? meant : []
  const credentials = only && found.find(({ memberId }) => memberId === only.member.memberId)
  const fits = await passwordAndCodeFit(services, credentials, asked.password, asked.code)
  if (!fits || !only) return noMatch
  await services.attempts.forgive(bucket)
  return { outcome: 'signed_in', known: only }
}

/** Proves once more, in a session, that it is still the same person. */
export async function proveWithPassword(
  services: Services,
  memberId: string,
  proof: { password: string; code: string },
  address: string,
): Promise<SignIn> {
  const bucket = `sign-in member ${memberId}`
  const attempt = await takeAttempt(services, address, bucket)
  if (!attempt.allowed) return { outcome: 'wait', retryAfterSeconds: attempt.retryAfterSeconds }
  const credentials = await findCredentials(services.db, memberId)
  const [known] = await findMembers(services.db, [memberId])
  const fits = await passwordAndCodeFit(services, credentials, proof.password, proof.code)
  if (!fits || !known) return noMatch
  await services.attempts.forgive(bucket)
  return { outcome: 'signed_in', known }
}

/**
 * Signs in with a passkey, which says by itself whose it is.
 * @param memberId only this member will do, when given
 */
export async function signInWithPasskey(
  services: Services,
  party: RelyingParty,
  presented: { credential: string; challenge: string; memberId?: string | undefined },
  address: string,
): Promise<SignIn> {
  const attempt = await takeAttempt(services, address)
  if (!attempt.allowed) return { outcome: 'wait', retryAfterSeconds: attempt.retryAfterSeconds }
  const credential = parsePresented(presented.credential)
  const passkey = credential && (await findPasskey(services.db, credential.id))
  if (!credential || !passkey) return noMatch
  if (presented.memberId !== undefined && passkey.memberId !== presented.memberId) return noMatch
  const counter = await checkPasskey(party, credential, passkey, presented.challenge)
  const [known] = await findMembers(services.db, [passkey.memberId])
  if (counter === undefined || !known) return noMatch
  const used = await usePasskey(services.db, passkey.credentialId, counter, momentOf(services))
  return used ? { outcome: 'signed_in', known } : noMatch
}

function takeAttempt(services: Services, address: string, ...buckets: string[]): Promise<Attempt> {
  return services.attempts.take([
    { bucket: `sign-in address ${callerOfAddress(address)}`, allowance: perAddress },
    ...buckets.map((bucket) => ({ bucket, allowance: perMailbox })),
  ])
}

/** A code is used up only together with the right password. */
async function passwordAndCodeFit(
  services: Services,
  credentials: Credentials | undefined,
  password: string,
  code: string,
): Promise<boolean> {
  const { db, secrets } = services
  const fits = await passwordFits(credentials?.passwordHash ?? null, password)
  const secret = await secrets.open(credentials?.tenantId ?? '', credentials?.totpName ?? '')
  const step = totpStep(secret, code, services.now())
  if (!credentials || !fits || step === undefined) return false
  return takeTotpStep(db, credentials.memberId, step)
}
