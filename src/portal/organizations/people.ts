import type { Keyset } from '../../../projections/page.ts'
import { findPerson, listPeople, type SealedOrganizationPerson } from '../../../projections/people.ts'
import { plainText } from '../../domain/plain-text.ts'
import type { PortalContext } from '../context.ts'

/** A person of an organization; their address and name are null once they were erased. */
export type ShownPerson = Pick<SealedOrganizationPerson, 'personId' | 'role' | 'addedAt' | 'invitedAt'> & {
  email: string | null
  name: string | null
}

type Ports = Pick<PortalContext['ports'], 'db' | 'subjects'>

/** The name of a person without what does not show. */
export const plainNameOf = (person: { name: string | null } | undefined): string | null =>
  person?.name ? plainText(person.name) : null

async function opened(
  { subjects }: Ports,
  tenantId: string,
  sealed: readonly SealedOrganizationPerson[],
): Promise<ShownPerson[]> {
  const people = await subjects.openPeople(tenantId, sealed)
  return sealed.map(({ personId, role, addedAt, invitedAt }, index) => ({
    personId,
    role,
    addedAt,
    invitedAt,
    email: people[index]?.email ?? null,
    // Names in attributes, too, which the templates leave as they are.
    name: plainNameOf(people[index]),
  }))
}

/** A page of the people of an organization, newest first. @param after the id of the last one of the page before */
export async function peoplePage(
  ports: Ports,
  tenantId: string,
  customerId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ people: ShownPerson[]; next: string | null }> {
  const last = after === undefined ? undefined : await findPerson(ports.db, tenantId, customerId, after)
  const keyset: Keyset = {
    after: last && { createdAt: last.addedAt, id: last.personId },
    limit,
    order: 'newest',
  }
  const { items, next } = await listPeople(ports.db, tenantId, customerId, keyset)
  return { people: await opened(ports, tenantId, items), next: next?.id ?? null }
}

/** A person of an organization; undefined for somebody who is not in it. */
export async function findShownPerson(
  ports: Ports,
  tenantId: string,
  customerId: string,
  personId: string,
): Promise<ShownPerson | undefined> {
  const sealed = await findPerson(ports.db, tenantId, customerId, personId)
  const [person] = sealed ? await opened(ports, tenantId, [sealed]) : []
  return person
}
