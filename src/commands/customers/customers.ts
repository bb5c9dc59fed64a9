import { type CustomerEntry, findCustomer } from '../../../projections/customers.ts'
import { type CustomerCommand, customers } from '../../domain/customers/customer.ts'
import { sameJson } from '../../domain/equality.ts'
import { type LicenseCommand, licenses } from '../../domain/licenses/license.ts'
import type { MeterTerms } from '../../domain/meters/terms.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { requireLicense, stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

/**
 * Creates a customer. Two customers may have the same email address, for example two accounts of one person.
 */
export async function createCustomer(
  ports: Ports<'db' | 'execute' | 'newId' | 'now' | 'subjects'>,
  tenantId: string,
  input: {
    email: string
    name: string | null
    metadata: Record<string, string>
    meters?: readonly MeterTerms[] | undefined
    resellerId?: string | undefined
  },
  origin: Origin,
): Promise<CustomerEntry> {
  const customerId = ports.newId('cus')
  const person = await ports.subjects.sealPerson(tenantId, input.email, input.name)
  const { metadata, meters, resellerId } = input
  const whose = resellerId !== undefined && { resellerId }
  const customer = { customerId, tenantId, ...person, metadata, ...whose, meters, at: momentOf(ports) }
  const command = { type: 'CreateCustomer', ...customer } as const
  const { state, events } = await execute(ports, customerId, command, origin)
  // An earlier request of the same run created them, and they may have licenses since.
  if (events.length === 0 || state.status === 'absent') return requireCustomer(ports, tenantId, customerId)
  return { customer: state, licenseIds: [] }
}

/** What to change of a customer; an absent field stays as it is, and a null name is removed. */
export type CustomerChange = {
  email?: string | undefined
  name?: string | null | undefined
  metadata?: Record<string, string> | undefined
  /** All that their licenses share. */
  meters?: readonly MeterTerms[] | undefined
}

/**
 * Changes a customer's email address, name or metadata, and the meters that their licenses share, which also an erased one may have.
 * Their licenses keep the holder that they were issued for.
 * @throws Refusal `customer_not_found`, `customer_erased`
 */
export async function changeCustomer(
  ports: Ports<'db' | 'execute' | 'now' | 'subjects'>,
  tenantId: string,
  customerId: string,
  input: CustomerChange,
  origin: Origin,
): Promise<CustomerEntry> {
  await requireCustomer(ports, tenantId, customerId)
  const at = momentOf(ports)
  await ports.execute(
    customers,
    customerId,
    async (before) => {
      if (before.status === 'absent') throw new Refusal('customer_not_found')
      const { meters } = input
      const onlyMeters = meters && ({ type: 'ReplaceMeters', meters, at } as const)
      if (onlyMeters && sameJson(input, { meters })) return onlyMeters
      const [person] = await ports.subjects.openPeople(tenantId, [before])
      const email = input.email ?? person?.email
      if (typeof email !== 'string') throw new Refusal('customer_erased')
      const name = input.name === undefined ? (person?.name ?? null) : input.name
      const metadata = input.metadata ?? before.metadata
      // Each sealing differs, so what is the same is only seen before it.
      if (sameJson([email, name, metadata], [person?.email, person?.name, before.metadata])) return onlyMeters
      const sealed = await ports.subjects.sealPerson(tenantId, email, name)
      return { type: 'ChangeCustomer', ...sealed, metadata, meters, at }
    },
    causeOf(origin, at),
    { run: origin.run },
  )
  return requireCustomer(ports, tenantId, customerId)
}

/**
 * Links a license to a customer, until it is unlinked. It is decided on the license's stream: of two customers that
 * link it at the same time, one succeeds.
 * @throws Refusal `customer_not_found`, `license_not_found`, `license_of_another_customer`
 */
export async function linkLicense(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  customerId: string,
  licenseId: string,
  origin: Origin,
  reason: string | null = null,
): Promise<CustomerEntry> {
  const command = { type: 'LinkCustomer', customerId, reason, at: momentOf(ports) } as const
  return changeLink(ports, tenantId, licenseId, command, origin)
}

/**
 * Unlinks a license from a customer, whose overrides it loses with the next validate; nothing changes if it has no
 * customer.
 * @throws Refusal `customer_not_found`, `license_not_found`, `license_of_another_customer`
 */
export async function unlinkLicense(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  customerId: string,
  licenseId: string,
  origin: Origin,
): Promise<CustomerEntry> {
  const command = { type: 'UnlinkCustomer', customerId, at: momentOf(ports) } as const
  return changeLink(ports, tenantId, licenseId, command, origin)
}

type LinkCommand = Extract<LicenseCommand, { type: 'LinkCustomer' | 'UnlinkCustomer' }>

async function changeLink(
  ports: Ports<'db' | 'execute'>,
  tenantId: string,
  licenseId: string,
  command: LinkCommand,
  origin: Origin,
): Promise<CustomerEntry> {
  await requireCustomer(ports, tenantId, command.customerId)
  const read = async () => stateOf(await requireLicense(ports, tenantId, licenseId))
  await ports.execute(licenses, licenseId, command, causeOf(origin, command.at), { read })
  return requireCustomer(ports, tenantId, command.customerId)
}

/** @throws Refusal `customer_not_found`, also for a customer of another tenant */
export async function requireCustomer(
  ports: Ports<'db'>,
  tenantId: string,
  customerId: string,
): Promise<CustomerEntry> {
  const entry = await findCustomer(ports.db, tenantId, customerId)
  if (!entry) throw new Refusal('customer_not_found')
  return entry
}

const execute = (ports: Ports<'execute'>, customerId: string, command: CustomerCommand, origin: Origin) =>
  ports.execute(customers, customerId, command, causeOf(origin, command.at), { run: origin.run })
