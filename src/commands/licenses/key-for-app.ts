import type { LicenseEntry } from '../../../projections/licenses/queries.ts'
import type { Chosen } from '../../access/browser-activations.ts'
import { givesSeats, statusAt } from '../../domain/licenses/status.ts'
import type { Ports } from '../../ports.ts'
import { momentOf } from '../origin.ts'
import { openKeptKey } from './keys.ts'
import { keyOfPerson } from './person-seats.ts'

/**
 * The key of a license for an app that a person wants to use with it: their own one where seats are of people, else the kept one, of which
 * they have to be the holder, as when it is mailed.
 * @returns undefined where there is none: the license gives no seats now, is somebody else's, the person has no seat, or the key is not kept
 */
export async function keyForApp(
  ports: Ports<'findProduct' | 'keptKeys' | 'now' | 'personalKeys'>,
  { license }: Pick<LicenseEntry, 'license'>,
  { subjectId, personId }: Pick<Chosen, 'subjectId' | 'personId'>,
): Promise<string | undefined> {
  if (!givesSeats(statusAt(license, momentOf(ports)))) return undefined
  const { tenantId, licenseId, productId, named } = license
  if (named !== null) {
    const seat = personId === null ? undefined : named.people[personId]
    return seat && keyOfPerson(ports, { tenantId, licenseId, personId: personId ?? '' }, seat)
  }
  if (license.holder?.subjectId !== subjectId) return undefined
  const product = await ports.findProduct(tenantId, productId)
  return product && openKeptKey(ports, product, license)
}
