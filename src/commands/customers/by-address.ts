import { type CustomersOf, findCustomersByAddress } from '../../../projections/customers.ts'
import { forEachOf } from '../../async/for-each-of.ts'
import { customers } from '../../domain/customers/customer.ts'
import type { Holder } from '../../domain/licenses/events.ts'
import type { Owned } from '../../domain/licenses/link.ts'
import { noStream } from '../../ledger/execute.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'

const noCustomer: Owned = { customerId: null }

/** How many streams are written concurrently. */
export const atOnce = 64

/** What finding customers by their addresses uses. */
export type ByAddressPorts = Ports<'db' | 'deriveId' | 'execute' | 'now'>

/**
 * The customer that a license of this holder belongs to: the oldest one with the holder's address, or a new one; none where
 * the workspace has switched that off, and for a license without an address.
 *
 * Never two are made for one address: the id of a new customer follows from its person, whom the vault has once for each address
 * of a tenant, so that its stream can be begun only once. A crash after that leaves a customer without licenses, whom the next
 * attempt finds. Only a request that adds a customer with this address at the same moment makes another one, as it asks for.
 */
export async function customerByAddress(
  ports: ByAddressPorts,
  tenantId: string,
  holder: Holder | null,
  origin: Origin,
): Promise<Owned> {
  return holder === null ? noCustomer : (await customersByAddress(ports, tenantId, [holder], origin))(holder)
}

/** The same for many licenses: one query finds all customers that are there. */
export async function customersByAddress(
  ports: ByAddressPorts,
  tenantId: string,
  holders: readonly Holder[],
  origin: Origin,
): Promise<(holder: Holder | null) => Owned> {
  const { isOn, found } = await findCustomersByAddress(ports.db, { tenantId }, holders.map(idIn))
  if (!isOn) return () => noCustomer
  const customers = await withMissing(ports, { tenantId }, holders, found, origin)
  return (holder) => {
    const customerId = holder && customers.get(holder.subjectId)
    return customerId ? { customerId, byAddress: true } : noCustomer
  }
}

const idIn = ({ subjectId }: Holder): string => subjectId

/**
 * The customers of people, by the ids of the people, whether or not the workspace wants licenses to belong to them. Those of a
 * reseller are others than the vendor's with the same address, and are made for this reseller alone.
 * @returns none for a person who was erased
 */
export async function customersOf(
  ports: ByAddressPorts,
  whose: CustomersOf,
  holders: readonly Holder[],
  origin: Origin,
): Promise<ReadonlyMap<string, string>> {
  const { found } = await findCustomersByAddress(ports.db, whose, holders.map(idIn))
  return withMissing(ports, whose, holders, found, origin)
}

async function withMissing(
  ports: ByAddressPorts,
  whose: CustomersOf,
  holders: readonly Holder[],
  found: ReadonlyMap<string, string>,
  origin: Origin,
): Promise<ReadonlyMap<string, string>> {
  const customers = new Map(found)
  const missing = new Map(holders.map((holder) => [holder.subjectId, holder]))
  for (const subjectId of found.keys()) missing.delete(subjectId)
  await forEachOf([...missing.values()], atOnce, async (holder) => {
    const customerId = await makeCustomer(ports, whose, holder, origin)
    if (customerId !== undefined) customers.set(holder.subjectId, customerId)
  })
  return customers
}

/** @returns undefined for a person who was erased */
async function makeCustomer(
  ports: ByAddressPorts,
  { tenantId, resellerId = null }: CustomersOf,
  { subjectId, email, name }: Holder,
  origin: Origin,
): Promise<string | undefined> {
  if (email === null) return undefined
  const customerId = ports.deriveId('cus', tenantId, subjectId, ...(resellerId === null ? [] : [resellerId]))
  const at = momentOf(ports)
  const customer = { customerId, tenantId, subjectId, ...(resellerId !== null && { resellerId }) }
  const { state } = await ports.execute(
    customers,
    customerId,
    ({ status }) =>
      status === 'absent'
        ? { type: 'CreateCustomer', ...customer, email, name, metadata: {}, at }
        : undefined,
    causeOf(origin, at),
    // The license is recorded later in the log, and its caller waits for that.
    { loaded: noStream(customers), waits: false },
  )
  return state.status === 'present' && state.erasedAt === null ? customerId : undefined
}
