import { findAddressOfPerson } from '../../../projections/licenses/of-person.ts'
import { listOrganizationsOfPerson } from '../../../projections/people.ts'
import {
  findCustomerIdentity,
  hasSignedInAt,
  linkCustomerIdentity,
} from '../../access/customer-identities.ts'
import type { Verified } from '../../access/openid/openid.ts'
import { OrganizationRole } from '../../domain/organizations/events.ts'
import { Refusal } from '../../domain/refusal.ts'
import { isInDomains, mappingTo, roleBy, vouchedEmail } from '../../domain/sign-in-providers/claims.ts'
import type { ProviderOfCustomers } from '../../domain/sign-in-providers/provider.ts'
import type { Ports } from '../../ports.ts'
import { addPeople, changePersonRole, type PeoplePorts, type Place } from '../organizations/people.ts'
import type { Origin } from '../origin.ts'

type At = { tenantId: string; provider: ProviderOfCustomers }

/** Why a person whom the provider knows is not signed in. For the log: no page says it. */
type NotAdmitted = 'no_role' | 'email_not_vouched_for' | 'not_added' | 'no_access'

export type CustomerSignIn =
  | { outcome: 'signed_in'; subjectId: string; identity: string }
  | { outcome: 'refused'; reason: NotAdmitted }

const refused = (reason: NotAdmitted): CustomerSignIn => ({ outcome: 'refused', reason })

/** The keyed hash of what an issuer calls a person, for the customers that the provider is for. */
export const customerIdentityOf = (
  { fingerprint }: Ports<'fingerprint'>,
  { tenantId, provider: { issuer, audience } }: At,
  subject: string,
): string =>
  fingerprint('customer identity', JSON.stringify([tenantId, issuer, audience.customerId, subject]))

type SignInPorts = PeoplePorts & Ports<'fingerprint'>

/**
 * The person that a customer of a provider is: linked before, or the one with an email address that the provider may vouch for.
 * The provider of an organization adds a person to it at their first sign-in alone: who was removed since does not come back. Each
 * step may be repeated: after a crash, the next sign-in goes on. Nobody is signed in to whom a link would not be mailed.
 * @throws Refusal when the ledger refuses a change
 */
export async function signInCustomer(
  ports: SignInPorts,
  at: At,
  { subject, claims }: Pick<Verified, 'subject' | 'claims'>,
  requestId: string,
): Promise<CustomerSignIn> {
  const { tenantId, provider } = at
  const origin: Origin = { requestId, actor: 'system:sign-in' }
  const mapping = mappingTo(OrganizationRole, provider)
  const role = roleBy(mapping, claims)
  if (role === null) return refused('no_role')
  const identity = customerIdentityOf(ports, at, subject)
  let subjectId = await findCustomerIdentity(ports.db, tenantId, identity)
  const isFirst = subjectId === undefined
  if (isFirst) {
    const email = vouchedEmail(provider, claims)
    if (email === undefined) return refused('email_not_vouched_for')
    const first = role === 'kept' ? mapping.defaultRole : role
    if (!(await addedAtFirst(ports, at, { email, role: first }, origin))) return refused('not_added')
    subjectId = await ports.subjects.findSubject(tenantId, email)
  }
  if (subjectId === undefined || !(await isReached(ports, at, subjectId))) return refused('no_access')
  const link = { identity, tenantId, issuer: provider.issuer, ...provider.audience, subjectId }
  // Of two sign-ins at the same moment, with two addresses, one has linked its person.
  if (isFirst && (await linkCustomerIdentity(ports.db, link, ports.now())) !== subjectId)
    return refused('no_access')
  if (role !== 'kept') await follow(ports, at, { subjectId, role }, origin)
  return { outcome: 'signed_in', subjectId, identity }
}

/**
 * Adds a person to the organization of the provider, unless they have signed in there before.
 * @returns false when the organization does not take them
 */
async function addedAtFirst(
  ports: SignInPorts,
  { tenantId, provider: { issuer, audience } }: At,
  { email, role }: { email: string; role: OrganizationRole | null },
  origin: Origin,
): Promise<boolean> {
  const { customerId } = audience
  if (customerId === null || role === null) return true
  const subjectId = await ports.subjects.findSubject(tenantId, email)
  if (subjectId !== undefined && (await hasSignedInAt(ports.db, { tenantId, issuer, customerId, subjectId })))
    return true
  const place: Place = { tenantId, customerId }
  return done(addPeople(ports, place, [{ email, role }], undefined, origin))
}

/** Whether a link would be mailed to the person, at an address of the domains that the provider may vouch for. */
async function isReached(
  { db, subjects }: Ports<'db' | 'subjects'>,
  { tenantId, provider: { domains } }: At,
  subjectId: string,
): Promise<boolean> {
  const sealed = await findAddressOfPerson(db, tenantId, subjectId)
  const [person] = sealed ? await subjects.openPeople(tenantId, [sealed]) : []
  return person?.email != null && isInDomains(domains, person.email)
}

/** Changes the role to that of the claims. The last administrator stays one, whatever the claims say. */
async function follow(
  ports: PeoplePorts,
  { tenantId, provider }: At,
  { subjectId, role }: { subjectId: string; role: OrganizationRole },
  origin: Origin,
): Promise<void> {
  const organizations = await listOrganizationsOfPerson(ports.db, tenantId, subjectId)
  const found = organizations.find(({ customerId }) => customerId === provider.audience.customerId)
  if (!found || found.role === role) return
  const { customerId, personId } = found
  await done(changePersonRole(ports, { tenantId, customerId }, { personId, role }, origin))
}

const expected: ReadonlySet<string> = new Set([
  'customer_not_found',
  'last_administrator',
  'not_an_organization',
  'person_not_found',
  'too_many_people',
])

/** Whether a change of the organization was made; false when its rules refuse it. */
async function done(change: Promise<unknown>): Promise<boolean> {
  try {
    await change
    return true
  } catch (error) {
    if (!(error instanceof Refusal) || !expected.has(error.code)) throw error
    return false
  }
}
