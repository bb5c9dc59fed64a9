import type { Keyset } from '../../../projections/page.ts'
import { findPerson, listPeople, type SealedOrganizationPerson } from '../../../projections/people.ts'
import type { Ports } from '../../ports.ts'
import type { Place } from './people.ts'

/** A person of an organization; their address and name are null once they were erased. */
export type OpenedPerson = Omit<SealedOrganizationPerson, 'email'> & { email: string | null }

/** Decrypts people, in the order given. */
export async function openPeople(
  { subjects }: Ports<'subjects'>,
  tenantId: string,
  sealed: readonly SealedOrganizationPerson[],
): Promise<OpenedPerson[]> {
  const people = await subjects.openPeople(tenantId, sealed)
  return sealed.map((person, index) => ({
    ...person,
    email: people[index]?.email ?? null,
    name: people[index]?.name ?? null,
  }))
}

/**
 * A page of the people of an organization, newest first.
 * @param after the id of the last one of the page before; the first page for a person who is not in the organization
 */
export async function peoplePage(
  ports: Ports<'db' | 'subjects'>,
  { tenantId, customerId }: Place,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ people: OpenedPerson[]; next: string | null }> {
  const last = after === undefined ? undefined : await findPerson(ports.db, tenantId, customerId, after)
  const keyset: Keyset = { after: last && { createdAt: last.addedAt, id: last.personId }, limit }
  const { items, next } = await listPeople(ports.db, tenantId, customerId, keyset)
  return { people: await openPeople(ports, tenantId, items), next: next?.id ?? null }
}

/** A person of an organization; undefined for a person who is not in it. */
export async function findOpenedPerson(
  ports: Ports<'db' | 'subjects'>,
  { tenantId, customerId }: Place,
  personId: string,
): Promise<OpenedPerson | undefined> {
  const sealed = await findPerson(ports.db, tenantId, customerId, personId)
  const [person] = sealed ? await openPeople(ports, tenantId, [sealed]) : []
  return person
}
