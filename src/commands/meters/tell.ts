import { findNextNote } from '../../../projections/meters/notes.ts'
import { type License, licenses } from '../../domain/licenses/license.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { stateOf } from '../licenses/licenses.ts'
import { causeOf, momentOf } from '../origin.ts'

/**
 * Records in the stream of a license what happened to its meters and is not told there yet, one event for each, in the order of each
 * meter. Webhooks, mails and the history follow from these events.
 *
 * Each is recorded once, whoever does it: the revision of the license and what is not told are read in this order from one database,
 * which writes the event of a license and deletes the note in one transaction. So what is read as not told was not recorded at that
 * revision, and an append at it fails once another process has recorded anything.
 * @throws Refusal `license_not_found`; LedgerUnavailable
 */
export async function tellUsage(
  ports: Ports<'db' | 'execute' | 'findLicenseById' | 'findProduct' | 'now'>,
  licenseId: string,
): Promise<void> {
  const read = async () => {
    const found = await ports.findLicenseById(licenseId)
    if (!found) throw new Refusal('license_not_found')
    return stateOf(found)
  }
  for (;;) {
    const first = await findNextNote(ports.db, licenseId)
    if (!first) return
    const { requestId, actor, correlationId, eventId: causationId } = first
    const origin = { requestId, actor, correlationId, causationId }
    const command = async (license: License) => {
      const note = await findNextNote(ports.db, licenseId)
      if (note?.eventId !== first.eventId) return undefined
      const { meter, unit, customerId, revision: meterRevision, event: noted } = note
      const mail = noted.type === 'ThresholdReached' && (await isMailed(ports, license))
      return { type: 'NoteUsage', meter, unit, customerId, meterRevision, noted, mail } as const
    }
    await ports.execute(licenses, licenseId, command, causeOf(origin, momentOf(ports)), { read })
  }
}

/** Whether the customers of the license's product are told of thresholds by mail. */
async function isMailed({ findProduct }: Ports<'findProduct'>, license: License): Promise<boolean> {
  if (license.status === 'absent') return false
  const product = await findProduct(license.tenantId, license.productId)
  return product?.settings.usageNotice ?? false
}
