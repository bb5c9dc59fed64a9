import { inTransaction } from '../../../projections/database/transaction.ts'
import { findListedMember, findMembers, type KnownMember } from '../../../projections/members.ts'
import { deleteIdentity, findIdentity, linkIdentity } from '../../access/member-identities.ts'
import { type LoggedOut, logoutTokenMs } from '../../access/openid/logout-token.ts'
import type { Verified } from '../../access/openid/openid.ts'
import { endSessionsAt } from '../../access/sessions.ts'
import { sha256 } from '../../credentials/sha256.ts'
import { GivenRole } from '../../domain/members/roles.ts'
import { Refusal } from '../../domain/refusal.ts'
import { mappingTo, roleBy, vouchedEmail } from '../../domain/sign-in-providers/claims.ts'
import { isOfCustomers, type SignInProvider } from '../../domain/sign-in-providers/provider.ts'
import type { Ports } from '../../ports.ts'
import { customerIdentityOf } from '../customers/provider-sign-in.ts'
import type { Origin } from '../origin.ts'
import { addMember, changeRole, findMemberByEmail } from './members.ts'

type At = { tenantId: string; provider: SignInProvider }

/** Why a person whom the provider knows is not signed in. For the log: no page says it. */
type NotAdmitted = 'no_role' | 'deactivated' | 'email_not_vouched_for' | 'no_member' | 'linked_otherwise'

export type ProviderSignIn =
  | { outcome: 'signed_in'; known: KnownMember; identity: string }
  | { outcome: 'refused'; reason: NotAdmitted }

const refused = (reason: NotAdmitted): ProviderSignIn => ({ outcome: 'refused', reason })

/** The keyed hash of what an issuer calls a person. Members are linked to it, never to an address. */
export const identityOf = (
  { fingerprint }: Ports<'fingerprint'>,
  { tenantId, provider }: At,
  subject: string,
): string => fingerprint('identity', JSON.stringify([tenantId, provider.issuer, subject]))

type SignInPorts = Ports<'db' | 'execute' | 'fingerprint' | 'ledger' | 'now' | 'subjects'>

/**
 * The member that a person of a provider is: linked before, or found once by an email address that the provider may vouch for,
 * or new where the provider gives a role. Each step may be repeated: after a crash, the next sign-in goes on.
 * @throws Refusal when the ledger refuses a change
 */
export async function signInWithProvider(
  ports: SignInPorts,
  at: At,
  { subject, claims }: Pick<Verified, 'subject' | 'claims'>,
  requestId: string,
): Promise<ProviderSignIn> {
  const { tenantId, provider } = at
  const origin: Origin = { requestId, actor: 'system:sign-in' }
  const mapping = mappingTo(GivenRole, provider)
  const role = roleBy(mapping, claims)
  if (role === null) return refused('no_role')
  const identity = identityOf(ports, at, subject)
  let linked = await linkedMember(ports, tenantId, identity)
  if (linked === 'deactivated') return refused('deactivated')
  if (!linked) {
    const email = vouchedEmail(provider, claims)
    if (email === undefined) return refused('email_not_vouched_for')
    const memberId = await memberByEmail(
      ports,
      tenantId,
      email,
      role === 'kept' ? mapping.defaultRole : role,
      origin,
    )
    if (memberId === undefined) return refused('no_member')
    const link = { identity, memberId, tenantId, issuer: provider.issuer }
    if (!(await linkIdentity(ports.db, link, ports.now()))) return refused('linked_otherwise')
    linked = await linkedMember(ports, tenantId, identity)
    if (!linked || linked === 'deactivated') return refused('no_member')
  }
  await follow(ports, linked, role, origin)
  return signedIn(ports, linked.member.memberId, identity)
}

/** @returns the member whose link this is. A link whose member was removed is forgotten. */
async function linkedMember(
  ports: Ports<'db'>,
  tenantId: string,
  identity: string,
): Promise<KnownMember | 'deactivated' | undefined> {
  const memberId = await findIdentity(ports.db, identity)
  if (memberId === undefined) return undefined
  const [known] = await findMembers(ports.db, [memberId])
  if (known) return known
  if (await findListedMember(ports.db, tenantId, memberId)) return 'deactivated'
  await deleteIdentity(ports.db, identity)
  return undefined
}

async function memberByEmail(
  ports: SignInPorts,
  tenantId: string,
  email: string,
  first: GivenRole | null,
  origin: Origin,
): Promise<string | undefined> {
  const found = await findMemberByEmail(ports, tenantId, email)
  // A provider of the vendor makes no person of a reseller one of the vendor's.
  if (found) return found.role === 'reseller' ? undefined : found.memberId
  if (first === null) return undefined
  try {
    return await addMember(ports, { tenantId, role: first, email }, origin)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'member_exists') throw error
    const racing = await findMemberByEmail(ports, tenantId, email)
    return racing?.role === 'reseller' ? undefined : racing?.memberId
  }
}

/** Changes the role to that of the claims. The last owner stays one, whatever the claims say. */
async function follow(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now'>,
  { member }: KnownMember,
  role: GivenRole | 'kept',
  origin: Origin,
): Promise<void> {
  if (role === 'kept' || role === member.role) return
  try {
    await changeRole(ports, member.tenantId, member.memberId, role, origin)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'last_owner') throw error
  }
}

async function signedIn(ports: Ports<'db'>, memberId: string, identity: string): Promise<ProviderSignIn> {
  const [known] = await findMembers(ports.db, [memberId])
  return known ? { outcome: 'signed_in', known, identity } : refused('no_member')
}

/** What the sessions that began at a provider keep of a person. */
const identityAt = (ports: Ports<'fingerprint'>, { tenantId, provider }: At, subject: string): string =>
  isOfCustomers(provider)
    ? customerIdentityOf(ports, { tenantId, provider }, subject)
    : identityOf(ports, { tenantId, provider }, subject)

/**
 * Ends the sessions that a provider has ended, whomever it is for.
 * @returns how many; undefined for a token that was used before
 */
export async function logOutByProvider(
  ports: Ports<'db' | 'fingerprint' | 'now'>,
  at: At,
  { jti, subject, sid }: LoggedOut,
): Promise<number | undefined> {
  const { tenantId, provider } = at
  const { providerId, issuer } = provider
  const now = ports.now()
  const sessions = {
    tenantId,
    providerId,
    identity: subject === undefined ? undefined : identityAt(ports, at, subject),
    sidHash: sid === undefined ? undefined : sha256(sid),
  }
  const token = {
    hash: sha256(JSON.stringify([tenantId, issuer, jti])),
    until: new Date(now.getTime() + logoutTokenMs),
  }
  return inTransaction(ports.db, (client) => endSessionsAt(client, sessions, token, now))
}
