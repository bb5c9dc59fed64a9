import type { PresentProduct } from '../../../projections/products/queries.ts'
import type { Chosen } from '../../access/browser-activations.ts'
import type { IssuedLicense } from '../../domain/licenses/license.ts'
import { givesSeats, statusAt } from '../../domain/licenses/status.ts'
import type { Ports } from '../../ports.ts'
import { momentOf } from '../origin.ts'
import { openKeptKey } from './keys.ts'
import { keyOfPerson } from './person-seats.ts'

/**
 * The key of a license for an app that a person wants to use it with. Where seats belong to people, it is the person's own key; otherwise
 * it is the kept key, which only the holder can give away, just as it is mailed to the holder alone.
 * @param product that of the license
 * @returns undefined if there is no key to give: the license gives no seats now, the person is not its holder or has no seat, or the key
 *   is not kept
 */
export async function keyForApp(
  ports: Ports<'keptKeys' | 'now' | 'personalKeys'>,
  product: PresentProduct,
  license: IssuedLicense,
  { subjectId, personId }: Pick<Chosen, 'subjectId' | 'personId'>,
): Promise<string | undefined> {
  if (!givesSeats(statusAt(license, momentOf(ports)))) return undefined
  const { tenantId, licenseId, named, holder } = license
  if (named === null)
    return holder?.subjectId === subjectId ? openKeptKey(ports, product, license) : undefined
  const seat = personId === null ? undefined : named.people[personId]
  return personId === null || !seat ? undefined : keyOfPerson(ports, { tenantId, licenseId, personId }, seat)
}
