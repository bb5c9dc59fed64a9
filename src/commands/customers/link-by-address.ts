import { countLicensesToLink, listLicensesToLink } from '../../../projections/licenses/to-link.ts'
import { forEachOf } from '../../async/for-each-of.ts'
import { licenses } from '../../domain/licenses/license.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { atOnce, type ByAddressPorts, customersOf } from './by-address.ts'

/** How many licenses are linked by one request: as many as take a few seconds. */
export const mostLinked = 500

/**
 * Links licenses to the customers with their holders' addresses: the oldest ones that have a holder and no customer, unless a person
 * unlinked them from one. It does so whether or not the workspace wants that for new licenses. Repeating it goes on with those
 * that are left, also after a crash.
 * @returns how many it has linked, and how many are left
 * @throws LedgerUnavailable
 */
export async function linkByAddress(
  ports: ByAddressPorts,
  tenantId: string,
  origin: Origin,
): Promise<{ linked: number; left: number }> {
  const entries = await listLicensesToLink(ports.db, tenantId, mostLinked)
  const holders = entries.flatMap(({ license }) => license.holder ?? [])
  const found = await customersOf(ports, { tenantId }, holders, origin)
  let linked = 0
  await forEachOf(entries, atOnce, async (entry) => {
    const { licenseId, holder } = entry.license
    const customerId = holder && found.get(holder.subjectId)
    if (!customerId) return
    const at = momentOf(ports)
    const command = { type: 'LinkCustomer', customerId, byAddress: true, at } as const
    const { events } = await ports.execute(licenses, licenseId, command, causeOf(origin, at), {
      loaded: stateOf(entry),
    })
    linked += events.length
  })
  return { linked, left: await countLicensesToLink(ports.db, tenantId) }
}
