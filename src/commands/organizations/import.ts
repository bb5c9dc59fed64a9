import { findCustomersByAddress, findCustomersById } from '../../../projections/customers.ts'
import { forEachOf } from '../../async/for-each-of.ts'
import { customers } from '../../domain/customers/customer.ts'
import type { Ports } from '../../ports.ts'
import { type ByAddressPorts, customersOf } from '../customers/by-address.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { type PersonInput, personIdOf } from './people.ts'

/** What an import of organizations uses. */
export type OrganizationImportPorts = ByAddressPorts & Ports<'subjects'>

/** An organization that another system has. */
export type OrganizationRow = {
  /** That system. */
  source: string
  /** Its id there. */
  externalId: string
  email: string
  name: string | null
  metadata: Record<string, string>
  /** Each address once, with one administrator at least. */
  people: readonly PersonInput[]
}

/** `made` is new; `already_there` was imported before, and is left as it is; `erased` was that, and was erased here. */
export type OrganizationOutcome = { customerId: string; status: 'made' | 'already_there' | 'erased' }

/** How many organizations are imported concurrently, each with up to a thousand people. */
const atOnce = 16

/**
 * Imports organizations with their people, whom it sends no invitations. The id of each follows from its id in the other system and it is
 * one append, so that a repeated import finds it, whatever became of it here: nobody who was removed or erased comes back.
 *
 * Where its address is that of one of its people, this person has a customer of their own before: licenses with the address belong to
 * that one, and not to the organization, where others would see them.
 * @returns the outcome of each, in the given order
 * @throws LedgerUnavailable
 */
export async function importOrganizations(
  ports: OrganizationImportPorts,
  tenantId: string,
  rows: readonly OrganizationRow[],
  origin: Origin,
): Promise<OrganizationOutcome[]> {
  const outcomes: OrganizationOutcome[] = []
  await forEachOf([...rows.entries()], atOnce, async ([index, row]) => {
    outcomes[index] = await importOne(ports, tenantId, row, origin)
  })
  return outcomes
}

/** What {@link importOrganizations} would do, without doing it. */
export async function previewOrganizations(
  ports: Ports<'db' | 'deriveId'>,
  tenantId: string,
  rows: readonly OrganizationRow[],
): Promise<OrganizationOutcome[]> {
  const ids = rows.map((row) => customerIdOf(ports, tenantId, row))
  const found = await findCustomersById(ports.db, tenantId, ids)
  return ids.map((customerId) => {
    const customer = found.get(customerId)
    if (customer === undefined) return { customerId, status: 'made' }
    return { customerId, status: customer.erasedAt === null ? 'already_there' : 'erased' }
  })
}

/**
 * The customers who have the addresses of organizations already, and are others than these.
 * @returns the id of one for each organization, undefined where there is none, in the given order
 */
export async function customersWithAddress(
  ports: Ports<'db' | 'deriveId' | 'subjects'>,
  tenantId: string,
  rows: readonly OrganizationRow[],
): Promise<(string | undefined)[]> {
  const subjects: (string | undefined)[] = []
  await forEachOf([...rows.entries()], atOnce, async ([index, { email }]) => {
    subjects[index] = await ports.subjects.findSubject(tenantId, email)
  })
  const known = subjects.flatMap((subjectId) => subjectId ?? [])
  const { found } = await findCustomersByAddress(ports.db, { tenantId }, known)
  return rows.map((row, index) => {
    const customerId = found.get(subjects[index] ?? '')
    return customerId === customerIdOf(ports, tenantId, row) ? undefined : customerId
  })
}

/** The same in every import, and no other organization's. */
const customerIdOf = (
  { deriveId }: Ports<'deriveId'>,
  tenantId: string,
  { source, externalId }: OrganizationRow,
): string => deriveId('cus', tenantId, 'import', source, externalId)

async function importOne(
  ports: OrganizationImportPorts,
  tenantId: string,
  row: OrganizationRow,
  origin: Origin,
): Promise<OrganizationOutcome> {
  const customerId = customerIdOf(ports, tenantId, row)
  const at = momentOf(ports)
  const { state, events, recordedBefore } = await ports.execute(
    customers,
    customerId,
    async ({ status }) => {
      // Before anything of theirs is sealed again.
      if (status !== 'absent') return undefined
      const sealed = await sealedRow(ports, { tenantId, customerId }, row, origin)
      return { type: 'ImportOrganization', customerId, tenantId, ...sealed, metadata: row.metadata, at }
    },
    causeOf(origin, at),
    { run: origin.run },
  )
  if (events.length > 0 || recordedBefore === true) return { customerId, status: 'made' }
  const isErased = state.status === 'present' && state.erasedAt !== null
  return { customerId, status: isErased ? 'erased' : 'already_there' }
}

async function sealedRow(
  ports: OrganizationImportPorts,
  { tenantId, customerId }: { tenantId: string; customerId: string },
  { email, name, people }: OrganizationRow,
  origin: Origin,
) {
  const [customer, ...sealed] = await ports.subjects.sealPeople(tenantId, [
    { email, name },
    ...people.map(({ email: address, name: called = null }) => ({ email: address, name: called })),
  ])
  if (customer === undefined) throw new Error('as many are sealed as were given')
  const itself = sealed.filter(({ subjectId }) => subjectId === customer.subjectId)
  await customersOf(ports, { tenantId }, itself, origin)
  return {
    ...customer,
    people: sealed.map((person, index) => ({
      ...person,
      personId: personIdOf(ports, { tenantId, customerId }, person.subjectId),
      role: people[index]?.role ?? 'member',
    })),
  }
}
