import type { FastifyReply, FastifyRequest } from 'fastify'
import { listOrganizationsOfPerson, type OrganizationOfPerson } from '../../../projections/people.ts'
import { isId } from '../../credentials/id.ts'
import type { OrganizationRole } from '../../domain/organizations/events.ts'
import { plainText } from '../../domain/plain-text.ts'
import { notFound } from '../../http/problem.ts'
import type { PortalContext } from '../context.ts'
import { type Customer, type Visit, visitOf } from '../visit.ts'

/** An organization, as one of its people sees it. */
export type ShownOrganization = {
  customerId: string
  /** Its name, else the address of its buyer; null once that person was erased. */
  name: string | null
  /** The person who looks at it. */
  personId: string
  role: OrganizationRole
}

/** The organizations that a person is in. */
export async function organizationsOf(
  { db, subjects }: PortalContext['ports'],
  tenantId: string,
  { subjectId }: Customer,
): Promise<ShownOrganization[]> {
  const found = await listOrganizationsOfPerson(db, tenantId, subjectId)
  const named = await subjects.openPeople(tenantId, found)
  return found.map((one, index) => shown(one, named[index]))
}

const shown = (
  { customerId, personId, role }: OrganizationOfPerson,
  named: { email: string | null; name: string | null } | undefined,
): ShownOrganization => ({ customerId, personId, role, name: plainNameOf(named) ?? named?.email ?? null })

/** The name of a person without what does not show: names are in attributes, too, which the templates leave as they are. */
export const plainNameOf = (person: { name: string | null } | undefined): string | null =>
  person?.name ? plainText(person.name) : null

export type OrganizationRequest = FastifyRequest<{
  Params: { tenantId: string; id: string; person?: string }
}>

export type FoundOrganization = { visit: Visit; customer: Customer; organization: ShownOrganization }

/**
 * The organization of a request, if the signed-in person is in it. A visitor is led to the sign-in page.
 * @param role who may see this: everybody in it, or only its administrators
 * @returns undefined when the reply was sent
 * @throws Problem 404 for an organization of others, just as for one that does not exist, and for what only administrators see
 */
export async function organizationOf(
  ports: PortalContext['ports'],
  request: OrganizationRequest,
  reply: FastifyReply,
  role: OrganizationRole = 'administrator',
): Promise<FoundOrganization | undefined> {
  const visit = visitOf(request)
  const { tenantId, customer } = visit
  if (!customer) {
    await reply.redirect(`${visit.home}/sign-in`, 303)
    return undefined
  }
  const { id } = request.params
  const theirs = isId('cus', id) ? await organizationsOf(ports, tenantId, customer) : []
  const organization = theirs.find(({ customerId }) => customerId === id)
  if (!organization || (role === 'administrator' && organization.role !== role)) throw notFound('page')
  return { visit, customer, organization }
}
