import { licenses } from '../../domain/licenses/license.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Ports } from '../../ports.ts'
import { causeOf, momentOf, type Origin } from '../origin.ts'
import { stateOf } from './stream.ts'

/**
 * Records the end of a license's paid period, if it has ended. A license that was renewed or revoked
 * meanwhile, or whose end was recorded by another process, is left unchanged.
 * @throws Refusal `license_not_found`
 */
export async function endPaidPeriod(
  ports: Ports<'execute' | 'findLicenseById' | 'now'>,
  licenseId: string,
  origin: Origin,
): Promise<void> {
  const at = momentOf(ports)
  const read = async () => {
    const found = await ports.findLicenseById(licenseId)
    if (!found) throw new Refusal('license_not_found')
    return stateOf(found)
  }
  await ports.execute(licenses, licenseId, { type: 'EndPaidPeriod', at }, causeOf(origin, at), { read })
}
