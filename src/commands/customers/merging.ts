import type { CustomerEntry } from '../../../projections/customers.ts'
import { type LicenseToMove, listLicensesToMove } from '../../../projections/merges.ts'
import { forEachOf } from '../../async/for-each-of.ts'
import { customers } from '../../domain/customers/customer.ts'
import { licenses } from '../../domain/licenses/license.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { catchUpWithLog } from '../cross-stream/read-models.ts'
import { withTenantLock } from '../cross-stream/tenant-lock.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { atOnce } from './by-address.ts'
import { requireCustomer } from './customers.ts'

/** How many licenses a request moves itself, in a few seconds; a reaction moves the others. */
const mostMoved = 500

type MergePorts = Ports<'db' | 'execute' | 'ledger' | 'now' | 'untilVisible'>

/**
 * Lets a customer stand for another one: the licenses of that one move to it, also those that it gets later. First the merge is recorded, then each
 * license moves; a reaction goes on after a crash, see `listLicensesToMove`. That no customers are merged in a circle holds because merges of a tenant
 * exclude each other, over all processes.
 * @param customers the one that is merged, and the one that stays
 * @throws Refusal `customer_not_found`, `customer_merged_with_itself`, `customer_merged`, `customer_erased`, `customer_has_meters`
 * @throws LedgerUnavailable
 */
export async function mergeCustomer(
  ports: MergePorts,
  tenantId: string,
  { id, into }: { id: string; into: string },
  origin: Origin,
): Promise<CustomerEntry> {
  if (id === into) throw new Refusal('customer_merged_with_itself')
  await withTenantLock(ports.db, tenantId, 'customer merges', async (proof) => {
    await catchUpWithLog(ports)
    await requireCustomer(ports, tenantId, id)
    const { customer: staying } = await requireCustomer(ports, tenantId, into)
    if (staying.mergedInto !== undefined) throw new Refusal('customer_merged')
    if (staying.erasedAt !== null) throw new Refusal('customer_erased')
    const at = momentOf(ports)
    await ports.execute(customers, id, { type: 'MergeCustomer', into, at }, causeOf(origin, at), {
      proof,
    })
  })
  return moved(ports, tenantId, id, origin)
}

/**
 * Lets a merged customer stand for itself again: the licenses that it had, or got meanwhile, move back, unless a person linked or unlinked them since.
 * Nothing changes for one that is not merged.
 * @throws Refusal `customer_not_found`
 * @throws LedgerUnavailable
 */
export async function unmergeCustomer(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  customerId: string,
  origin: Origin,
): Promise<CustomerEntry> {
  await requireCustomer(ports, tenantId, customerId)
  const at = momentOf(ports)
  await ports.execute(customers, customerId, { type: 'UnmergeCustomer', at }, causeOf(origin, at))
  return moved(ports, tenantId, customerId, origin)
}

async function moved(
  ports: Ports<'db' | 'execute' | 'now'>,
  tenantId: string,
  customerId: string,
  origin: Origin,
): Promise<CustomerEntry> {
  const moving = await listLicensesToMove(ports.db, { customerId, most: mostMoved })
  await forEachOf(moving, atOnce, (license) => moveLicense(ports, license, origin))
  return requireCustomer(ports, tenantId, customerId)
}

/** Moves a license to where the merges of customers lead; nothing changes if it moved or was linked meanwhile. */
export async function moveLicense(
  ports: Ports<'execute' | 'now'>,
  { licenseId, from, customerId }: LicenseToMove,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const command = { type: 'FollowMerge', from, customerId, at } as const
  await ports.execute(licenses, licenseId, command, causeOf(origin, at))
}
